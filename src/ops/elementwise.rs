//! Functions of single elements.

use ndarray::{ArrayD, ArrayViewD};

use crate::base::{DType, Element, Reduction};
use crate::dist::{self, DistTensor};
use crate::layout::Layout;

use super::OpError;
use super::kernel::{Convert, Gelu, Value, with_element};
use super::local::{rebuilt, view};

const OPERAND: &str = "operand";

/// How a function of single elements treats sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elementwise {
    /// f(a + b) = f(a) + f(b), as when scaling: terms of the operand give terms of the result.
    Linear,
    /// Any other function: its operand must not be partial.
    Nonlinear,
}

/// The layout of the result of a function of single elements: the operand's own.
///
/// `operation` is what messages call it.
///
/// # Errors
///
/// [`OpError::Terms`] if the operand is partial and the function not linear, or the reduction is neither
/// sum nor avg.
///
/// # Example
///
/// ```
/// use reshard::{Layout, Mesh, ops};
/// let mesh = Mesh::new([("tp", 2)])?;
/// let terms = Layout::parse(&mesh, 2, "P(sum)")?;
/// assert_eq!(
///     ops::elementwise_layout("gelu", &terms, ops::Elementwise::Nonlinear).unwrap_err().to_string(),
///     "gelu: the operand is partial by sum along `tp`, and gelu of terms does not give terms of the \
///      result; redistribute the operand to `R` along `tp`, or to `S(dim)` for one of its dims"
/// );
/// # Ok::<(), reshard::LayoutError>(())
/// ```
pub fn elementwise_layout(
    operation: &'static str,
    operand: &Layout,
    kind: Elementwise,
) -> Result<Layout, OpError> {
    let passes = |reduction: Reduction| match kind {
        Elementwise::Linear => reduction.is_linear(),
        Elementwise::Nonlinear => false,
    };
    match operand.normal_partial().iter().find(|&&(_, reduction)| !passes(reduction)) {
        None => Ok(operand.clone()),
        Some(&(axis, reduction)) => Err(OpError::Terms {
            operation,
            operand: OPERAND,
            axis: operand.mesh().name(axis).to_owned(),
            reduction,
        }),
    }
}

/// Applies a function to every element. Local; the layout stays. `operation` is what messages call it.
///
/// # Errors
///
/// [`OpError`] if the layout is partial and the function does not allow it, or the elements are not `T`.
///
/// # Example
///
/// ```
/// use reshard::ops::{self, Elementwise};
/// use reshard::{DistTensor, Error};
/// /// A linear function: it may be applied to terms of a sum before they are reduced.
/// fn halved(x: &DistTensor) -> Result<DistTensor, Error> {
///     Ok(ops::elementwise("halve", Elementwise::Linear, x, |element: f32| 0.5 * element)?)
/// }
/// ```
pub fn elementwise<T: Element>(
    operation: &'static str,
    kind: Elementwise,
    x: &DistTensor,
    function: impl Fn(T) -> T,
) -> Result<DistTensor, OpError> {
    let layout = elementwise_layout(operation, x.layout(), kind)?;
    rebuilt(x, layout, x.shape(), view::<T>(x)?.map(|local| local.mapv(function)))
}

/// The Gaussian error linear unit `x · Φ(x)` in its exact form, with Φ the distribution function of the
/// standard normal, as PyTorch computes it unless told otherwise. Local; the layout stays.
///
/// # Errors
///
/// [`OpError::Terms`] if the tensor is partial, [`OpError::DType`] if its elements are no floats.
pub fn gelu(x: &DistTensor) -> Result<DistTensor, OpError> {
    let (operation, kind) = ("gelu", Elementwise::Nonlinear);
    match x.dtype() {
        DType::F32 => elementwise(operation, kind, x, <f32 as Gelu>::gelu),
        DType::F64 => elementwise(operation, kind, x, <f64 as Gelu>::gelu),
        DType::F16 => elementwise(operation, kind, x, <half::f16 as Gelu>::gelu),
        DType::Bf16 => elementwise(operation, kind, x, <half::bf16 as Gelu>::gelu),
        dtype @ (DType::I8
        | DType::U8
        | DType::I32
        | DType::U32
        | DType::I64
        | DType::U64
        | DType::Bool) => Err(OpError::DType { operation, dtype, remedy: "a float type" }),
    }
}

/// The layout of [`cast`]'s result: the operand's own.
///
/// # Errors
///
/// [`OpError::CastOfTerms`] if the operand is partial and one of the element types is no float: half on
/// each of 4 ranks is 2, but four times 0 is 0.
pub fn cast_layout(operand: &Layout, from: DType, to: DType) -> Result<Layout, OpError> {
    match operand.normal_partial().first() {
        Some(&(axis, reduction)) if from != to && !(from.is_float() && to.is_float()) => {
            let axis = operand.mesh().name(axis).to_owned();
            Err(OpError::CastOfTerms { axis, reduction, from, to })
        }
        Some(_) | None => Ok(operand.clone()),
    }
}

/// The same values in another element type. Local; the layout stays.
///
/// Floats go to the nearest float, and to integers truncated and saturated. Integers keep their low bits
/// and go to the nearest float. Anything but 0 is true. Terms of a partial tensor are rounded one by one.
///
/// # Errors
///
/// [`OpError::CastOfTerms`] as for [`cast_layout`].
pub fn cast(x: &DistTensor, to: DType) -> Result<DistTensor, OpError> {
    let layout = cast_layout(x.layout(), x.dtype(), to)?;
    if x.dtype() == to {
        return Ok(x.clone());
    }
    // By way of `Value`, so that there is code for each type, not for each pair of types.
    let values = with_element!(x.dtype(), T => view::<T>(x)?.map(values));
    with_element!(to, U => {
        let elements = values.map(|(shape, values)| array::<U>(shape, values)).transpose()?;
        rebuilt(x, layout, x.shape(), elements)
    })
}

type Values<'a> = Box<dyn Iterator<Item = Value> + 'a>;

fn values<'a, T: Convert>(local: ArrayViewD<'a, T>) -> (Vec<usize>, Values<'a>) {
    (local.shape().to_vec(), Box::new(local.into_iter().map(|&element| element.value())))
}

fn array<U: Convert>(shape: Vec<usize>, values: Values<'_>) -> Result<ArrayD<U>, OpError> {
    Ok(ArrayD::from_shape_vec(shape, values.map(U::of).collect()).map_err(dist::Error::from)?)
}
