//! The feed-forward block of a real model, tensor parallel over one to five ranks, compared with what
//! PyTorch computed.
//!
//! The file `data/minilm_mlp.safetensors` holds weights of the sentence encoder all-MiniLM-L6-v2, what
//! entered the block for six sentences, and what left it:
//!
//! ```text
//! expected = linear(gelu(linear(hidden, intermediate.weight, intermediate.bias)), output.weight, output.bias)
//! ```
//!
//! Every rank takes its part of the weights; the first layer is column parallel, the second row parallel.
//! Run it with `cargo run --release --example minilm_mlp`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use ndarray::ArrayD;
use reshard::nn::{ColumnParallelLinear, Output, RowParallelLinear};
use reshard::plan::Plan;
use reshard::{Error, Mesh, Source, World, ops};
use safetensors::{Dtype, SafeTensors};

/// The sequence is dim 1 of [sentence, token, feature].
const SEQUENCE: isize = 1;
/// How far f32 may be from PyTorch's f32: relative to the largest output, and absolute. The second also
/// tells the exact GELU from its tanh approximation, which is off by 3.6e-3.
const RELATIVE: f32 = 2e-5;
const ABSOLUTE: f32 = 5e-4;

fn main() -> Result<(), Error> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/minilm_mlp.safetensors");
    let block = Block::read(&std::fs::read(path)?)?;
    println!("The feed-forward block of encoder layer 0 of all-MiniLM-L6-v2.");
    println!("  input    hidden               {:?}", block.hidden.shape());
    println!("  weights  intermediate.weight  {:?}, column parallel", block.up_weight.shape());
    println!("           output.weight        {:?}, row parallel", block.down_weight.shape());
    println!("  largest output of PyTorch     {:.4}", largest(block.expected.iter().copied()));
    for ranks in 1..=5 {
        for output in [Output::Replicate, Output::Shard(SEQUENCE)] {
            compare(&block, ranks, output)?;
        }
    }
    println!("\nAll outputs are PyTorch's, within {RELATIVE:e} of the largest.");
    Ok(())
}

/// Runs the block, prints what it took, and asserts that the output is PyTorch's.
fn compare(block: &Block, ranks: usize, output: Output) -> Result<(), Error> {
    let mesh = Mesh::new([("tp", ranks)])?;
    let ran = World::run(ranks, |world| block.run(world, &mesh, output))?;
    let name = match output {
        Output::Replicate => "replicated output",
        Output::Shard(_) => "sequence-parallel output",
        Output::Partial => "partial output",
    };
    println!("\n--- tp={ranks}, {name}");
    let features: Vec<usize> = ran.iter().map(|rank| rank.features).collect();
    println!("hidden features on each rank: {features:?}");
    println!("leaving the block:{}", ran[0].leaving);
    println!("to have it whole:{}", ran[0].gathering);
    let scale = largest(block.expected.iter().copied());
    let off = |rank: &Ran| largest((&rank.whole - &block.expected).into_iter());
    let worst = largest(ran.iter().map(off));
    println!("largest difference from PyTorch: {worst:.2e}, {:.2e} of the largest", worst / scale);
    assert!(worst <= ABSOLUTE, "{worst} is more than {ABSOLUTE}");
    assert!(worst / scale <= RELATIVE, "{worst} of {scale} is more than {RELATIVE}");
    Ok(())
}

/// What a rank has to tell.
struct Ran {
    features: usize,
    leaving: String,
    gathering: String,
    whole: ArrayD<f32>,
}

/// The block's arrays as they are in the file; weights are [out, in].
struct Block {
    hidden: ArrayD<f32>,
    up_weight: ArrayD<f32>,
    up_bias: ArrayD<f32>,
    down_weight: ArrayD<f32>,
    down_bias: ArrayD<f32>,
    expected: ArrayD<f32>,
}

impl Block {
    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let file = SafeTensors::deserialize(bytes).map_err(Error::caller)?;
        let array = |name| array(&file, name);
        Ok(Self {
            hidden: array("hidden")?,
            up_weight: array("intermediate.weight")?,
            up_bias: array("intermediate.bias")?,
            down_weight: array("output.weight")?,
            down_bias: array("output.bias")?,
            expected: array("expected")?,
        })
    }

    /// What every rank does.
    fn run(&self, world: &World, mesh: &Mesh, output: Output) -> Result<Ran, Error> {
        let (on, from) = (world.on(mesh), Source::Everywhere);
        let up = ColumnParallelLinear::distribute(&on, "tp", from, || &self.up_weight)?
            .distribute_bias(&on, from, || &self.up_bias)?;
        let down = RowParallelLinear::distribute(&on, "tp", from, || &self.down_weight)?
            .distribute_bias(&on, from, || &self.down_bias)?
            .with_output(output);

        let x = on.distribute(from, || &self.hidden, "R")?;
        let hidden = ops::gelu(&up.forward(&x)?)?;
        let y = down.forward(&hidden)?;

        Ok(Ran {
            features: hidden.local_shape()?[2],
            leaving: summary(&down.plan(hidden.layout(), hidden.shape())?),
            gathering: summary(&*y.plan_to("R")?),
            whole: y.full::<f32>()?,
        })
    }
}

/// The steps of a plan, one a line, and how near it is to the least possible.
fn summary(plan: &Plan) -> String {
    if plan.steps().is_empty() {
        return " nothing moves".to_owned();
    }
    let mut lines = String::new();
    for step in plan.steps() {
        lines += &format!("\n    {step}");
    }
    match plan.ratio() {
        Some(1.0) => lines + "; no plan moves less",
        Some(_) | None => format!("{lines}; at least {} B must move", plan.bound_bytes()),
    }
}

fn array(file: &SafeTensors<'_>, name: &str) -> Result<ArrayD<f32>, Error> {
    let tensor = file.tensor(name).map_err(Error::caller)?;
    if tensor.dtype() != Dtype::F32 {
        return Err(format!("`{name}` holds {:?}, not f32", tensor.dtype()).into());
    }
    let number = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    let (numbers, _) = tensor.data().as_chunks::<4>();
    Ok(ArrayD::from_shape_vec(tensor.shape(), numbers.iter().map(number).collect())?)
}

fn largest(numbers: impl Iterator<Item = f32>) -> f32 {
    // A NaN is larger than anything: it must not pass for a small difference.
    numbers.map(f32::abs).fold(
        0.0,
        |most, number| {
            if most.is_nan() || number <= most { most } else { number }
        },
    )
}
