//! Products of elements.

use ndarray::{ArrayViewD, Zip};

use crate::dist::DistTensor;
use crate::layout::Layout;

use super::OpError;
use super::einsum::Labels;
use super::kernel::{Number, with_number};
use super::local::{one_dtype, rebuilt, view};

const OPERANDS: [&str; 2] = ["left operand", "right operand"];

/// The layout of [`mul`]'s result: that of [`einsum_layout`](super::einsum_layout) for equal letters.
///
/// # Errors
///
/// [`OpError`], which says which redistribution is missing.
pub fn mul_layout(a: &Layout, b: &Layout) -> Result<Layout, OpError> {
    let labels = Labels::elementwise(a.ndim());
    labels.pair("mul", [(OPERANDS[0], a), (OPERANDS[1], b)]).layout()
}

/// `a` times `b`, element by element; both have one shape. Local; the layout of the result is
/// [`mul_layout`]. Integers wrap.
///
/// # Errors
///
/// [`OpError`] if layouts, lengths or element types do not go together or the elements are truth values.
pub fn mul(a: &DistTensor, b: &DistTensor) -> Result<DistTensor, OpError> {
    let labels = Labels::elementwise(a.ndim());
    let pair = labels.pair("mul", [(OPERANDS[0], a.layout()), (OPERANDS[1], b.layout())]);
    let (layout, shape) = (pair.layout()?, pair.shape(a.shape(), b.shape())?);
    let dtype = one_dtype("mul", [(OPERANDS[0], a), (OPERANDS[1], b)])?;
    with_number!(dtype, "mul", T => {
        let times = |(a, b): (ArrayViewD<'_, T>, ArrayViewD<'_, T>)| {
            Zip::from(&a).and(&b).map_collect(|&a, &b| a.times(b))
        };
        rebuilt(a, layout, &shape, view::<T>(a)?.zip(view::<T>(b)?).map(times))
    })
}
