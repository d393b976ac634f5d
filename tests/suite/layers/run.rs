//! Runs an operation on every rank of a world and compares each rank's part of the result.

use ndarray::Array2;
use reshard::nn::LayerError;
use reshard::{DistTensor, Element, Error, Layout, Mesh, World};

use crate::naive::Twin;

/// An operand: where it lives, and what its data is drawn from.
pub(super) type Given<'a> = (&'a Twin, u64);

/// Runs an operation on operands whose locals a twin makes. On every rank the result must have the
/// layout that `out` describes; the locals together and the gathered result must be `expected`.
pub(super) fn check<T: Element>(
    given: &[Given<'_>],
    out: &Twin,
    expected: &[f64],
    operation: impl Fn(&[DistTensor]) -> Result<DistTensor, LayerError> + Sync,
) {
    let mesh = Mesh::new(out.axes()).unwrap();
    let layout = Layout::parse(&mesh, out.shape.len(), &out.notation()).unwrap();
    let ran = World::run(mesh.len(), |world| {
        let made = given.iter().map(|&(twin, seed)| tensor::<T>(world, &mesh, twin, seed));
        let result = operation(&made.collect::<Result<Vec<_>, Error>>()?)?;
        assert_eq!((result.layout(), result.shape()), (&layout, &out.shape[..]));
        let full = result.full::<T>()?;
        assert_eq!(full.shape(), out.shape);
        Ok((wide(&result.to_local_vec::<T>()?), full.iter().map(|&e| e.to_f64()).collect()))
    });
    let (locals, full): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
        ran.unwrap_or_else(|error| panic!("{error}: {given:?} -> {out:?}")).into_iter().unzip();
    assert_eq!(out.assemble(&locals), expected, "{given:?} -> {out:?}");
    for (rank, full) in full.iter().enumerate() {
        assert_eq!(full, expected, "on rank {rank}: {given:?} -> {out:?}");
    }
}

/// The tensor whose locals a twin makes.
pub(super) fn tensor<T: Element>(
    world: &World,
    mesh: &Mesh,
    twin: &Twin,
    seed: u64,
) -> Result<DistTensor, Error> {
    let local = twin.locals(seed).swap_remove(world.rank());
    let local: Vec<T> = local.into_iter().map(T::from_f64).collect();
    world.on(mesh).from_local(twin.notation().as_str(), twin.shape.as_slice(), local)
}

pub(super) fn wide<T: Element>(elements: &[T]) -> Vec<f64> {
    elements.iter().map(|&element| element.to_f64()).collect()
}

/// The product of `x` [rows, k] and `w` [k, n], element by element.
pub(super) fn product(x: &[f64], w: &Array2<f64>) -> Vec<f64> {
    let (k, n) = w.dim();
    let rows = x.len().checked_div(k).unwrap_or(0);
    let element = |row: usize, column: usize| (0..k).map(|i| x[row * k + i] * w[[i, column]]).sum();
    (0..rows * n).map(|at| element(at / n, at % n)).collect()
}
