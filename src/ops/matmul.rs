//! Products with a matrix.

use ndarray::{ArrayD, ArrayViewD, Ix2};

use crate::dist::DistTensor;
use crate::layout::Layout;

use super::OpError;
use super::add::{self, added};
use super::einsum::Labels;
use super::kernel::{Multiply, with_number};
use super::local::{one_dtype, rebuilt, view};

const MATMUL: &str = "matmul";
const OPERANDS: [&str; 2] = ["left operand", "right operand"];
const LINEAR: &str = "linear";
const INPUTS: [&str; 2] = ["input", "weight"];

/// The layout of [`matmul`]'s result: that of [`einsum_layout`](super::einsum_layout) for
/// `..mk,kn->..mn`.
///
/// # Errors
///
/// [`OpError`], which says which redistribution is missing.
///
/// # Example
///
/// ```
/// use reshard::{Layout, Mesh, ops};
/// let mesh = Mesh::new([("tp", 4)])?;
/// let x = Layout::parse(&mesh, 2, "S(1)")?;
/// let w = Layout::parse(&mesh, 2, "S(0)")?;
/// assert_eq!(ops::matmul_layout(&x, &w)?, Layout::parse(&mesh, 2, "P(sum)")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn matmul_layout(x: &Layout, w: &Layout) -> Result<Layout, OpError> {
    check_ndims(MATMUL, OPERANDS, [x.ndim(), w.ndim()])?;
    Labels::matmul(x.ndim()).pair(MATMUL, [(OPERANDS[0], x), (OPERANDS[1], w)]).layout()
}

/// The layout of [`linear`]'s result: that of [`einsum_layout`](super::einsum_layout) for
/// `..mk,nk->..mn`, to which the bias is added as [`add_layout`](super::add_layout) says.
///
/// # Errors
///
/// [`OpError`], which says which redistribution is missing.
pub fn linear_layout(x: &Layout, w: &Layout, bias: Option<&Layout>) -> Result<Layout, OpError> {
    check_ndims(LINEAR, INPUTS, [x.ndim(), w.ndim()])?;
    let product =
        Labels::linear(x.ndim()).pair(LINEAR, [(INPUTS[0], x), (INPUTS[1], w)]).layout()?;
    bias.map_or(Ok(product.clone()), |bias| {
        add::sum_layout(LINEAR, [(PRODUCT, &product), (BIAS, bias)])
    })
}

const PRODUCT: &str = "product";
const BIAS: &str = "bias";

/// `x` [.., m, k] times `w` [k, n]: [.., m, n]. Local; the layout of the result is [`matmul_layout`].
///
/// f32 and f64 are multiplied as such, 16-bit floats in f32 and rounded once; integers wrap.
///
/// # Errors
///
/// [`OpError`] if layouts, lengths or element types do not go together or the elements are truth values.
pub fn matmul(x: &DistTensor, w: &DistTensor) -> Result<DistTensor, OpError> {
    check_ndims(MATMUL, OPERANDS, [x.ndim(), w.ndim()])?;
    product(MATMUL, OPERANDS, &Labels::matmul(x.ndim()), [x, w], Weight::InOut)
}

/// `x` `[.., m, k]` times the transpose of `w` `[n, k]`, as PyTorch stores weights, plus a bias `[n]`:
/// [.., m, n]. Local; the layout of the result is [`linear_layout`]. Where the result is partial, a
/// replicated bias counts once.
///
/// Element types as for [`matmul`].
///
/// # Errors
///
/// [`OpError`] if layouts, lengths or element types do not go together or the elements are truth values.
pub fn linear(
    x: &DistTensor,
    w: &DistTensor,
    bias: Option<&DistTensor>,
) -> Result<DistTensor, OpError> {
    // Errors of the bias come before the work.
    linear_layout(x.layout(), w.layout(), bias.map(DistTensor::layout))?;
    let product = product(LINEAR, INPUTS, &Labels::linear(x.ndim()), [x, w], Weight::OutIn)?;
    match bias {
        Some(bias) => added(LINEAR, [(PRODUCT, &product), (BIAS, bias)]),
        None => Ok(product),
    }
}

/// The order of a weight's dims.
#[derive(Clone, Copy)]
enum Weight {
    InOut,
    OutIn,
}

fn product(
    operation: &'static str,
    names: [&'static str; 2],
    labels: &Labels,
    [x, w]: [&DistTensor; 2],
    order: Weight,
) -> Result<DistTensor, OpError> {
    let pair = labels.pair(operation, [(names[0], x.layout()), (names[1], w.layout())]);
    let (layout, shape) = (pair.layout()?, pair.shape(x.shape(), w.shape())?);
    let dtype = one_dtype(operation, [(names[0], x), (names[1], w)])?;
    with_number!(dtype, operation, T => {
        let locals = view::<T>(x)?.zip(view::<T>(w)?);
        rebuilt(x, layout, &shape, locals.map(|(x, w)| local_product(&x, &w, order)))
    })
}

fn local_product<T: Multiply>(
    x: &ArrayViewD<'_, T>,
    w: &ArrayViewD<'_, T>,
    order: Weight,
) -> ArrayD<T> {
    let (contracted, leading) = x.shape().split_last().expect("the operands' dims are counted");
    let rows: usize = leading.iter().product();
    let w = w.view().into_dimensionality::<Ix2>().expect("the weight's dims are counted");
    let w = match order {
        Weight::InOut => w,
        Weight::OutIn => w.reversed_axes(),
    };
    let mut shape = leading.to_vec();
    shape.push(w.ncols());
    let x = x.to_shape((rows, *contracted)).expect("rows times columns are all elements");
    let y = T::product(x.view(), w);
    y.into_shape_with_order(shape).expect("rows are the leading dims run through in order")
}

fn check_ndims(
    operation: &'static str,
    names: [&'static str; 2],
    ndims: [usize; 2],
) -> Result<(), OpError> {
    let wrong = |at: usize, needed: &str| OpError::Ndim {
        operation,
        operand: names[at],
        ndim: ndims[at],
        needed: needed.to_owned(),
    };
    match ndims {
        [0, _] => Err(wrong(0, "1 or more")),
        [_, 2] => Ok(()),
        [_, _] => Err(wrong(1, "2")),
    }
}
