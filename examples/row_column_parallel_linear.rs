//! Two linear layers that four ranks compute together, and the one communication that they need.
//!
//! The first layer is column parallel: each rank computes some of the hidden features. The second is row
//! parallel: each rank multiplies the features that it has, so all hold terms of the output. What becomes
//! of the terms is the layer author's choice: every rank gets the whole output (an all-reduce), or each
//! gets a slice of the sequence (a reduce-scatter), which is gathered where it is needed (an all-gather).
//!
//! Run it with `cargo run --example row_column_parallel_linear`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use ndarray::{Array1, Array2, ArrayD, Axis};
use reshard::nn::{ColumnParallelLinear, Output, RowParallelLinear};
use reshard::{Error, Mesh, Source, World};

const RANKS: usize = 4;
const SEQUENCE: usize = 6;
const WIDTH: usize = 8;
/// No multiple of the number of ranks: they hold 3, 3, 3 and 1 features.
const HIDDEN: usize = 10;

fn main() -> Result<(), Error> {
    let mesh = Mesh::new([("tp", RANKS)])?;
    println!("{SEQUENCE} tokens of width {WIDTH}, {HIDDEN} hidden features, on the mesh {mesh}\n");
    let expected = unsharded();
    let outputs = World::run(RANKS, |world| {
        let whole = with_output(world, &mesh, Output::Replicate)?;
        let slices = with_output(world, &mesh, Output::Shard(0))?;
        Ok([whole, slices])
    })?;
    for (rank, outputs) in outputs.iter().enumerate() {
        for output in outputs {
            assert_eq!(*output, expected, "on rank {rank}");
        }
    }
    println!("On every rank both outputs equal what one rank computes alone.");
    Ok(())
}

/// Runs both layers; the whole output.
fn with_output(world: &World, mesh: &Mesh, output: Output) -> Result<ArrayD<f32>, Error> {
    let on = world.on(mesh);
    let up = ColumnParallelLinear::distribute(&on, "tp", Source::Everywhere, up_weight)?
        .distribute_bias(&on, Source::Everywhere, up_bias)?;
    let down = RowParallelLinear::distribute(&on, "tp", Source::Everywhere, down_weight)?
        .distribute_bias(&on, Source::Everywhere, down_bias)?
        .with_output(output);

    let x = on.distribute(Source::Everywhere, input, "R")?;
    let hidden = up.forward(&x)?;
    let y = down.forward(&hidden)?;
    let whole = y.redistribute("R")?;

    if world.rank() == 0 {
        println!("Output::{output:?}");
        println!("  x       {}", x.layout());
        println!("  hidden  {}  (column parallel: nothing moves)", hidden.layout());
        println!("  y       {}  (row parallel)\n", y.layout());
        println!("{}\n", indented(&down.plan(hidden.layout(), hidden.shape())?.to_string()));
        println!("  and to have all of y everywhere:\n");
        println!("{}\n", indented(&y.plan_to("R")?.to_string()));
    }
    Ok(whole.local::<f32>()?.to_owned())
}

/// What one rank computes alone. Numbers are small integers, so sums are exact in any order.
fn unsharded() -> ArrayD<f32> {
    let hidden = input().dot(&up_weight().t()) + up_bias().insert_axis(Axis(0));
    let y = hidden.dot(&down_weight().t()) + down_bias().insert_axis(Axis(0));
    y.into_dyn()
}

fn input() -> Array2<f32> {
    numbers(SEQUENCE, WIDTH, 1)
}

/// [out, in], as PyTorch stores it.
fn up_weight() -> Array2<f32> {
    numbers(HIDDEN, WIDTH, 2)
}

fn up_bias() -> Array1<f32> {
    numbers(1, HIDDEN, 3).remove_axis(Axis(0))
}

/// [out, in], as PyTorch stores it.
fn down_weight() -> Array2<f32> {
    numbers(WIDTH, HIDDEN, 4)
}

fn down_bias() -> Array1<f32> {
    numbers(1, WIDTH, 5).remove_axis(Axis(0))
}

fn numbers(rows: usize, columns: usize, seed: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(row, column)| {
        ((7 * row + 3 * column + 5 * seed + row * column) % 9) as f32 - 4.0
    })
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| format!("    {line}").trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}
