//! Worlds and tensors: running ranks, making tensors, redistributing them, and everything that goes
//! wrong on the way.

mod again;
mod background;
mod bytes;
mod closing;
mod environment;
mod faults;
mod handing_out;
mod inferring;
mod into;
mod making;
mod redistributing;
mod running;
mod strided;

use std::time::Duration;

use reshard::{Error, Mesh, World};

/// A deadline that is never reached unless something is wrong.
const FAR: Duration = Duration::from_secs(60);

/// A mesh of the ranks 0, 1, …
fn mesh<const N: usize>(axes: [(&'static str, usize); N]) -> Mesh {
    Mesh::new(axes).unwrap()
}

/// Every rank's own result.
fn each<T: Send>(
    n: usize,
    closure: impl Fn(&World) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    World::builder(n).timeout(FAR).run_each(closure).unwrap()
}

/// What every rank returned; panics unless all did well.
fn run<T: Send>(n: usize, closure: impl Fn(&World) -> Result<T, Error> + Sync) -> Vec<T> {
    World::builder(n).timeout(FAR).run(closure).unwrap()
}

/// The errors of ranks that all have one.
fn errors<T: std::fmt::Debug>(results: Vec<Result<T, Error>>) -> Vec<Error> {
    results.into_iter().map(Result::unwrap_err).collect()
}
