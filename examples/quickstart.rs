//! Two layers of a model on four ranks: each says which layout it needs, and no more.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use ndarray::Array2;
use reshard::layout::Placement::{Replicate, Shard};
use reshard::{Error, Mesh, Source, World, ops};

fn main() -> Result<(), Error> {
    let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
    // Threads; under torchrun, mpirun or srun an error for now, never threads by mistake.
    World::run_or_env(4, |world| {
        let on = world.on(&mesh);
        // The same numbers in any layout.
        let x = on.rand::<f32>(7, [6, 8], "dp=S(0), tp=R")?;
        // One rank has the first weight, every rank the second.
        let w1 = on.distribute(Source::Rank(0), || weight(8, 16), [Replicate, Shard(1)])?;
        let w2 = on.distribute(Source::Everywhere, || weight(16, 4), [Replicate, Shard(0)])?;
        let h = ops::gelu(&ops::matmul(&x, &w1)?)?; // column parallel: tp=S(1)
        let y = ops::matmul(&h, &w2)?; // row parallel: tp=P(sum)
        if world.rank() == 0 {
            println!("{}", y.plan_to("dp=S(0), tp=S(0)")?); // reduce-scatter: bytes, bound, peak
        }
        let y = y.redistribute("dp=S(0), tp=S(0)")?;
        println!(
            "rank {} holds rows from {}:\n{}",
            world.rank(),
            y.offset()?[0],
            y.local::<f32>()?
        );
        Ok(())
    })?;
    Ok(())
}

/// Stands in for a file.
fn weight(rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((3 * i + 5 * j) % 7) as f32 / 7.0 - 0.5)
}
