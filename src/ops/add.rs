//! Sums of two tensors, and of a tensor and a number.

use ndarray::{ArrayD, ArrayViewD};

use crate::base::{Element, Reduction};
use crate::dist::DistTensor;
use crate::layout::Layout;
use crate::mesh::{Axis, Rank};

use super::OpError;
use super::kernel::{Number, with_number};
use super::local::{one_dtype, rebuilt, view};
use super::pair::{Law, Pair};
use super::role::{Label, Operand};

const ADD: &str = "add";
const OPERANDS: [&str; 2] = ["left operand", "right operand"];

/// The layout of [`add`]'s result. The dims of `b` are the last dims of `a`.
///
/// Along each axis: both replicate; or both cut the same dim alike (one that `b` lacks, `b` replicates);
/// or both are partial by sum or avg, by the same one; or one is partial so and the other, which then
/// counts once, replicates.
///
/// # Errors
///
/// [`OpError`], which says which redistribution is missing.
///
/// # Example
///
/// ```
/// use reshard::{Layout, Mesh, ops};
/// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
/// let y = Layout::parse(&mesh, 3, "dp=S(0), tp=P(sum)")?;
/// let bias = Layout::parse(&mesh, 1, "R, R")?;
/// assert_eq!(ops::add_layout(&y, &bias)?, y);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add_layout(a: &Layout, b: &Layout) -> Result<Layout, OpError> {
    sum_layout(ADD, [(OPERANDS[0], a), (OPERANDS[1], b)])
}

/// `a` + `b`, where the shape of `b` is that of `a` or of its last dims, as a bias has. Local; the layout
/// of the result is [`add_layout`].
///
/// Where one operand holds terms and the other is replicated, the replicated one counts once: of terms
/// that are summed, only those at coordinate 0 get it; of terms that are averaged, all do. Integers wrap.
///
/// # Errors
///
/// [`OpError`] if layouts, lengths or element types do not go together or the elements are truth values.
pub fn add(a: &DistTensor, b: &DistTensor) -> Result<DistTensor, OpError> {
    added(ADD, [(OPERANDS[0], a), (OPERANDS[1], b)])
}

/// `x` + `value`, with the value made an element by [`Element::from_f64`] first. Local; the layout stays. On a partial
/// tensor the value counts once, as in [`add`].
///
/// # Errors
///
/// [`OpError`] if the tensor is partial by another reduction than sum or avg or holds truth values.
pub fn add_scalar(x: &DistTensor, value: f64) -> Result<DistTensor, OpError> {
    let operation = "add_scalar";
    let layout = x.layout();
    super::elementwise_layout(operation, layout, super::Elementwise::Linear)?;
    let whole = Layout::replicated(layout.mesh(), layout.ndim());
    let counts = counting(layout, &whole, x.world().rank()).b;
    with_number!(x.dtype(), operation, T => {
        let value = <T as Element>::from_f64(value);
        let sum = |element: T| if counts { element.plus(value) } else { element };
        rebuilt(x, layout.clone(), x.shape(), view::<T>(x)?.map(|local| local.mapv(sum)))
    })
}

/// The layout rule of a sum, under the name of the operation that adds.
pub(super) fn sum_layout(
    operation: &'static str,
    operands: [(&'static str, &Layout); 2],
) -> Result<Layout, OpError> {
    let labels = suffix_labels(operation, operands.map(|(name, layout)| (name, layout.ndim())))?;
    pair(operation, operands, &labels).layout()
}

/// The sum, under the name of the operation that adds.
pub(super) fn added(
    operation: &'static str,
    [a, b]: [(&'static str, &DistTensor); 2],
) -> Result<DistTensor, OpError> {
    let operands = [a, b].map(|(name, tensor)| (name, tensor.layout()));
    let labels = suffix_labels(operation, operands.map(|(name, layout)| (name, layout.ndim())))?;
    let pair = pair(operation, operands, &labels);
    let (layout, shape) = (pair.layout()?, pair.shape(a.1.shape(), b.1.shape())?);
    let dtype = one_dtype(operation, [a, b])?;
    let (a, b) = (a.1, b.1);
    let counts = counting(a.layout(), b.layout(), a.world().rank());
    with_number!(dtype, operation, T => {
        let locals = view::<T>(a)?.zip(view::<T>(b)?);
        rebuilt(a, layout, &shape, locals.map(|(a, b)| local_sum(&a, &b, counts)))
    })
}

/// Labels of `a`, of which those of `b` are the last.
fn suffix_labels(
    operation: &'static str,
    [(_, a), (operand, b)]: [(&'static str, usize); 2],
) -> Result<Vec<Label>, OpError> {
    if b > a {
        let needed = format!("{a} or fewer");
        return Err(OpError::Ndim { operation, operand, ndim: b, needed });
    }
    Ok((0..).take(a).collect())
}

fn pair<'a>(
    operation: &'static str,
    [(a, a_layout), (b, b_layout)]: [(&'static str, &'a Layout); 2],
    labels: &'a [Label],
) -> Pair<'a> {
    let last = &labels[labels.len() - b_layout.ndim()..];
    Pair {
        operation,
        law: Law::Sum,
        left: Operand { name: a, layout: a_layout, labels },
        right: Operand { name: b, layout: b_layout, labels: last },
        output: labels,
    }
}

/// Which operands a rank adds.
#[derive(Clone, Copy)]
struct Counts {
    a: bool,
    b: bool,
}

/// An operand that is whole along an axis on which the other holds terms of a sum counts at coordinate 0.
fn counting(a: &Layout, b: &Layout, rank: Rank) -> Counts {
    let mesh = a.mesh();
    let Some(coordinate) = mesh.coordinate(rank) else { return Counts { a: false, b: false } };
    let counts = |own: &Layout, other: &Layout| {
        let own = summed(own);
        summed(other).iter().all(|axis| own.contains(axis) || coordinate[axis.index()] == 0)
    };
    Counts { a: counts(a, b), b: counts(b, a) }
}

fn summed(layout: &Layout) -> Vec<Axis> {
    let partial = layout.normal_partial().iter();
    partial.filter(|(_, reduction)| *reduction == Reduction::Sum).map(|&(axis, _)| axis).collect()
}

fn local_sum<T: Number>(a: &ArrayViewD<'_, T>, b: &ArrayViewD<'_, T>, counts: Counts) -> ArrayD<T> {
    let b = b.broadcast(a.raw_dim()).expect("the dims of one are the last dims of the other");
    match (counts.a, counts.b) {
        (true, true) => ndarray::Zip::from(a).and(&b).map_collect(|&a, &b| a.plus(b)),
        (true, false) => a.to_owned(),
        (false, true) => b.to_owned(),
        (false, false) => ArrayD::from_elem(a.raw_dim(), T::from_f64(-0.0)),
    }
}
