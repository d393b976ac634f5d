//! From a distributed tensor to what this rank holds of it, and back.

use ndarray::{ArrayD, ArrayViewD};

use crate::base::{DType, Element};
use crate::dist::{DistTensor, IntoHostArray};
use crate::layout::Layout;

use super::OpError;

/// What this rank holds; nothing on a rank outside the mesh.
pub(super) fn view<T: Element>(x: &DistTensor) -> Result<Option<ArrayViewD<'_, T>>, OpError> {
    Ok(if x.is_here() { Some(x.local::<T>()?) } else { None })
}

/// The tensor of this layout and shape of which this rank holds `local`, in the world of `like`.
pub(super) fn rebuilt<T: Element>(
    like: &DistTensor,
    layout: Layout,
    shape: &[usize],
    local: Option<ArrayD<T>>,
) -> Result<DistTensor, OpError> {
    let local = local.map(|local| local.into_host_array().buffer().clone());
    Ok(DistTensor::from_parts(like.world(), layout, shape, T::DTYPE, local)?)
}

/// The element type of both operands, which are of one world.
pub(super) fn one_dtype(
    operation: &'static str,
    [(left, a), (right, b)]: [(&'static str, &DistTensor); 2],
) -> Result<DType, OpError> {
    if !a.world().is(b.world()) {
        return Err(OpError::Worlds { operation, left, right });
    }
    let (left_dtype, right_dtype) = (a.dtype(), b.dtype());
    if left_dtype != right_dtype {
        return Err(OpError::DTypes { operation, left, left_dtype, right, right_dtype });
    }
    Ok(left_dtype)
}
