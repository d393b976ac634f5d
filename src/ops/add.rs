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

/// `x` + `value`, with the value rounded to the element type first. Local; the layout stays. On a partial
/// tensor the value counts once, as in [`add`].
///
/// # Errors
///
/// [`OpError`] if the tensor is partial by another reduction than sum or avg or holds truth values.
pub fn add_scalar(x: &DistTensor, value: f64) -> Result<DistTensor, OpError> {
    let operation = "add_scalar";
    let layout = x.layout();
    super::elementwise_layout(operation, layout, super::Elementwise::Linear)?;
    with_number!(x.dtype(), operation, T => {
        let value = <T as Element>::from_f64(value);
        let counts = counts_at(layout.mesh().clone(), &summed(layout), x.rank());
        let local = view::<T>(x)?.map(|local| match counts {
            true => local.mapv(|element| element.plus(value)),
            false => local.to_owned(),
        });
        rebuilt(x, layout.clone(), x.shape().to_vec(), local)
    })
}
