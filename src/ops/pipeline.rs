//! Chunks of a product's input or output on their way while others are multiplied.

use std::ops::Range;

use ndarray::{Array2, ArrayD};

use crate::base::DType;
use crate::dist::{self, DistTensor, IntoHostArray, Redistribution, World};
use crate::layout::Layout;
use crate::mem::Buffer;
use crate::plan::{PlanOptions, Step, Transition};

use super::OpError;
use super::chunks::{Chunking, Chunks};
use super::kernel::Multiply;
use super::local::{rebuilt, view};
use super::matmul::{Outcome, Weight, rows};

/// Gathers a chunk of the input while the one before is multiplied.
pub(super) fn gather_and_multiply<T: Multiply>(
    carried: &Carried<'_>,
    chunking: &Chunking,
    [x, w]: [&DistTensor; 2],
    (order, outcome): (Weight, &Outcome),
) -> Result<DistTensor, OpError> {
    let weight = view::<T>(w)?;
    let mut y = Rows::<T>::new(x, outcome)?;
    let gather = |chunk| -> Result<Redistribution, OpError> {
        carried.start(chunking, chunk, (x.world(), own_rows(x, chunking.own_rows(chunk))?))
    };
    let mut coming = Some(gather(0)?);
    for chunk in 0..chunking.count() {
        let next = (chunk + 1 < chunking.count()).then(|| gather(chunk + 1)).transpose()?;
        let Some(part) = std::mem::replace(&mut coming, next) else { break };
        let part = part.wait()?;
        if let (Some(part), Some(weight), Some(y)) = (view::<T>(&part)?, &weight, &mut y) {
            let runs = chunking.runs(chunk, inner(part.shape()));
            let runs: Vec<_> = runs.into_iter().map(|(whole, part)| (part, whole)).collect();
            T::product_rows(rows(&part).view(), order.matrix(weight), &runs, y.elements.view_mut());
        }
    }
    rebuilt(x, outcome.layout.clone(), &outcome.shape, y.map(Rows::shaped))
}

/// Multiplies a chunk of the input while the terms of the one before are reduced.
pub(super) fn multiply_and_scatter<T: Multiply>(
    carried: &Carried<'_>,
    chunking: &Chunking,
    [x, w]: [&DistTensor; 2],
    order: Weight,
) -> Result<DistTensor, OpError> {
    let operands = view::<T>(x)?.zip(view::<T>(w)?);
    let mut result = Vec::new();
    let mut take = |part: Redistribution| -> Result<(), OpError> {
        let part = part.wait()?;
        if part.is_here() {
            result.extend_from_slice(
                part.local_buffer()?.as_elements::<T>().map_err(dist::Error::from)?,
            );
        }
        Ok(())
    };
    let mut going = None;
    for chunk in 0..chunking.count() {
        let terms = operands.as_ref().map(|(x, w)| {
            let (inner, w) = (inner(x.shape()), order.matrix(w));
            let runs = chunking.runs(chunk, inner);
            let len = runs.last().map_or(0, |(_, part)| part.end);
            let mut terms = Array2::from_elem((len, w.ncols()), T::from_f64(0.0));
            T::product_rows(rows(x).view(), w, &runs, terms.view_mut());
            terms.into_host_array().buffer().clone()
        });
        let next = carried.start(chunking, chunk, (x.world(), terms))?;
        going.replace(next).map_or(Ok(()), &mut take)?;
    }
    going.map_or(Ok(()), &mut take)?;
    let local = x.is_here().then(|| Buffer::from_vec(result));
    let Carried { to, shape, dtype, .. } = *carried;
    Ok(DistTensor::from_parts(x.world(), to.clone(), shape, dtype, local)?)
}

/// What is redistributed chunk by chunk: the input, or its product.
#[derive(Clone, Copy)]
pub(super) struct Carried<'a> {
    pub from: &'a Layout,
    pub to: &'a Layout,
    pub shape: &'a [usize],
    pub dtype: DType,
}

impl Carried<'_> {
    /// How it is divided; `None` if it has to be carried whole.
    pub(super) fn chunking(
        &self,
        layouts: [&Layout; 2],
        chunks: Chunks,
        world: &World,
    ) -> Option<Chunking> {
        let chunking = Chunking::new(layouts, (self.shape, self.dtype), chunks, world.rank())?;
        // Terms added in other steps may round otherwise.
        let same = !self.from.is_partial() || self.is_reduced_alike(&chunking, world);
        same.then_some(chunking)
    }

    fn is_reduced_alike(&self, chunking: &Chunking, world: &World) -> bool {
        let steps = |from: Layout, to: Layout, shape: &[usize]| {
            let transition = Transition::new(from, to, shape, self.dtype).ok()?;
            let plan = world.plans().plan(&transition, PlanOptions::default()).ok()?;
            let step = |step: &Step| (step.kind(), step.axes().to_vec());
            Some(plan.steps().iter().map(step).collect::<Vec<_>>())
        };
        let whole = steps(self.from.clone(), self.to.clone(), self.shape);
        let part = |chunk| {
            let [from, to] = [self.from, self.to].map(|layout| chunking.layout(layout, chunk).ok());
            steps(from?, to?, &chunking.shape(self.shape, chunk))
        };
        whole.is_some() && (0..chunking.count()).all(|chunk| part(chunk) == whole)
    }

    /// Sends a chunk on its way, of which this rank holds `local`.
    fn start(
        &self,
        chunking: &Chunking,
        chunk: usize,
        (world, local): (&World, Option<Buffer>),
    ) -> Result<Redistribution, OpError> {
        let (from, to) = (chunking.layout(self.from, chunk)?, chunking.layout(self.to, chunk)?);
        let shape = chunking.shape(self.shape, chunk);
        let part = DistTensor::from_parts(world, from, &shape, self.dtype, local)?;
        Ok(part.redistribute_async(to)?)
    }
}

/// This rank's rows of a product, as a matrix.
struct Rows<T> {
    elements: Array2<T>,
    local_shape: Vec<usize>,
}

impl<T: Multiply> Rows<T> {
    /// Zeros; `None` outside the mesh.
    fn new(
        x: &DistTensor,
        Outcome { layout, shape, .. }: &Outcome,
    ) -> Result<Option<Self>, OpError> {
        if !x.is_here() {
            return Ok(None);
        }
        let local_shape = layout.region(shape, x.world().rank())?.local_shape();
        let columns = local_shape.last().copied().unwrap_or(1);
        let rows = local_shape.iter().rev().skip(1).product();
        let elements = Array2::from_elem((rows, columns), T::from_f64(0.0));
        Ok(Some(Self { elements, local_shape }))
    }

    fn shaped(self) -> ArrayD<T> {
        let shaped = self.elements.into_shape_with_order(self.local_shape);
        shaped.expect("rows are the leading dims run through in order")
    }
}

/// A view of some of this rank's rows along dim 0; `None` outside the mesh.
fn own_rows(x: &DistTensor, rows: Range<usize>) -> Result<Option<Buffer>, OpError> {
    if !x.is_here() {
        return Ok(None);
    }
    let row_bytes = x.local_shape()?[1..].iter().product::<usize>() * x.dtype().bytes();
    let local = x.local_buffer()?;
    Ok(Some(local.slice(rows.start * row_bytes..rows.end * row_bytes)))
}

/// How many rows of the matrix [.., k] one row along dim 0 has.
fn inner(local_shape: &[usize]) -> usize {
    local_shape[1..local_shape.len() - 1].iter().product()
}
