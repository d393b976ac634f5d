//! Products with a matrix whose communication runs in the background, chunk by chunk of rows.

use crate::dist::{self, DistTensor};
use crate::layout::{IntoLayout, Layout};
use crate::mesh::Mesh;

use super::OpError;
use super::chunks::Chunks;
use super::kernel::with_number;
use super::matmul::{Outcome, Weight, with_bias};
use super::pipeline::{Carried, gather_and_multiply, multiply_and_scatter};

/// `matmul(&x.redistribute(to)?, w)`, with the same result bit for bit, where the next rows of `x` are on
/// their way while those that have come are multiplied.
///
/// Meant for an input whose rows are sharded along an axis that shards the columns of `w`: its rows are
/// gathered. Chunks are of dim 0; where that dim of `x` is not cut in `to` as before or further before,
/// where its cuts have segments or holes, or where one chunk is enough, the whole is redistributed and
/// then multiplied.
///
/// # Communication
///
/// Every rank of both meshes calls this, with equal arguments: a redistribution for each chunk, as
/// [`DistTensor::redistribute_async`]. The bytes are those of the one redistribution, the calls as many
/// times more.
///
/// # Errors
///
/// [`OpError`] as from the two calls.
///
/// # Example
///
/// ```
/// use reshard::ops::{self, Chunks};
/// use reshard::{Mesh, World};
/// let mesh = Mesh::new([("tp", 2)])?;
/// World::run(2, |world| {
///     let on = world.on(&mesh);
///     let x = on.rand::<f32>(1, [6, 8], "S(0)")?;
///     let w = on.rand::<f32>(2, [8, 5], "S(1)")?;
///     let y = ops::gathered_matmul(&x, "R", &w, Chunks::of(3))?;
///     assert_eq!(y.local::<f32>()?, ops::matmul(&x.redistribute("R")?, &w)?.local::<f32>()?);
///     Ok(())
/// })?;
/// # Ok::<(), reshard::Error>(())
/// ```
///
/// # Source
///
/// Wang et al., *Overlap communication with dependent computation via decomposition in large deep
/// learning models*, ASPLOS 2023.
pub fn gathered_matmul(
    x: &DistTensor,
    to: impl IntoLayout,
    w: &DistTensor,
    chunks: Chunks,
) -> Result<DistTensor, OpError> {
    gathered(x, &named(to, x.layout().mesh(), x.ndim())?, w, Pass { order: Weight::InOut, chunks })
}

/// `linear(&x.redistribute(to)?, w, bias)` as [`gathered_matmul`] does it.
///
/// # Communication
///
/// As [`gathered_matmul`].
///
/// # Errors
///
/// [`OpError`] as from the two calls.
pub fn gathered_linear(
    x: &DistTensor,
    to: impl IntoLayout,
    w: &DistTensor,
    bias: Option<&DistTensor>,
    chunks: Chunks,
) -> Result<DistTensor, OpError> {
    let to = named(to, x.layout().mesh(), x.ndim())?;
    let fits = super::linear_layout(&to, w.layout(), bias.map(DistTensor::layout));
    if fits.is_err() {
        return super::linear(&x.redistribute(&to)?, w, bias);
    }
    with_bias(gathered(x, &to, w, Pass { order: Weight::OutIn, chunks })?, bias)
}

/// `matmul(x, w)?.redistribute(to)`, with the same result bit for bit, where rows of the product are on
/// their way while the next ones are multiplied.
///
/// Meant for an `x` whose last dim is sharded along an axis that shards the rows of `w`: the terms are
/// reduced, and each rank keeps its rows of the result. Chunks are of dim 0, and each has rows of every
/// rank. Where that dim is not cut in `to` as before or further, where its cuts have segments or holes,
/// where a chunk's terms would be reduced in other steps than the whole, or where one chunk is enough, the
/// whole is multiplied and then redistributed.
///
/// # Communication
///
/// As [`gathered_matmul`].
///
/// # Errors
///
/// [`OpError`] as from the two calls.
///
/// # Example
///
/// ```
/// use reshard::ops::{self, Chunks};
/// use reshard::{Mesh, World};
/// let mesh = Mesh::new([("tp", 2)])?;
/// World::run(2, |world| {
///     let on = world.on(&mesh);
///     let x = on.rand::<f32>(1, [6, 8], "S(1)")?;
///     let w = on.rand::<f32>(2, [8, 5], "S(0)")?;
///     let y = ops::scattered_matmul(&x, &w, "S(0)", Chunks::of(3))?;
///     assert_eq!(y.local::<f32>()?, ops::matmul(&x, &w)?.redistribute("S(0)")?.local::<f32>()?);
///     Ok(())
/// })?;
/// # Ok::<(), reshard::Error>(())
/// ```
///
/// # Source
///
/// As [`gathered_matmul`].
pub fn scattered_matmul(
    x: &DistTensor,
    w: &DistTensor,
    to: impl IntoLayout,
    chunks: Chunks,
) -> Result<DistTensor, OpError> {
    scattered(x, w, to, Pass { order: Weight::InOut, chunks })
}

/// `linear(x, w, None)?.redistribute(to)` as [`scattered_matmul`] does it. A bias is added to the result:
/// added before, it would have to be reduced too.
///
/// # Communication
///
/// As [`gathered_matmul`].
///
/// # Errors
///
/// [`OpError`] as from the two calls.
pub fn scattered_linear(
    x: &DistTensor,
    w: &DistTensor,
    to: impl IntoLayout,
    chunks: Chunks,
) -> Result<DistTensor, OpError> {
    scattered(x, w, to, Pass { order: Weight::OutIn, chunks })
}

/// How a product is done.
#[derive(Clone, Copy)]
struct Pass {
    order: Weight,
    chunks: Chunks,
}

fn named(to: impl IntoLayout, mesh: &Mesh, ndim: usize) -> Result<Layout, OpError> {
    Ok(to.into_layout(mesh, ndim).map_err(dist::Error::from)?)
}

fn gathered(
    x: &DistTensor,
    to: &Layout,
    w: &DistTensor,
    Pass { order, chunks }: Pass,
) -> Result<DistTensor, OpError> {
    let whole = || order.product(&x.redistribute(to)?, w);
    // What does not fit is told by the calls themselves.
    let Ok(outcome) = order.outcome(to, x, w) else { return whole() };
    let carried = Carried { from: x.layout(), to, shape: x.shape(), dtype: outcome.dtype };
    match carried.chunking([x.layout(), to], chunks, x.world()) {
        None => whole(),
        Some(chunking) => with_number!(outcome.dtype, order.operation(), T => {
            gather_and_multiply::<T>(&carried, &chunking, [x, w], (order, &outcome))
        }),
    }
}

fn scattered(
    x: &DistTensor,
    w: &DistTensor,
    to: impl IntoLayout,
    Pass { order, chunks }: Pass,
) -> Result<DistTensor, OpError> {
    let Outcome { layout, shape, dtype } = order.outcome(x.layout(), x, w)?;
    let to = named(to, layout.mesh(), shape.len())?;
    let carried = Carried { from: &layout, to: &to, shape: &shape, dtype };
    match carried.chunking([&to, &layout], chunks, x.world()) {
        None => Ok(order.product(x, w)?.redistribute(&to)?),
        Some(chunking) => with_number!(dtype, order.operation(), T => {
            multiply_and_scatter::<T>(&carried, &chunking, [x, w], order)
        }),
    }
}
