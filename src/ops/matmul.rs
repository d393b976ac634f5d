//! Products with a matrix.

use ndarray::{ArrayD, ArrayView2, ArrayViewD, CowArray, Ix2};

use crate::base::DType;
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
    Weight::InOut.layout(x, w)
}

/// The layout of [`linear`]'s result: that of [`einsum_layout`](super::einsum_layout) for
/// `..mk,nk->..mn`, to which the bias is added as [`add_layout`](super::add_layout) says.
///
/// # Errors
///
/// [`OpError`], which says which redistribution is missing.
pub fn linear_layout(x: &Layout, w: &Layout, bias: Option<&Layout>) -> Result<Layout, OpError> {
    let product = Weight::OutIn.layout(x, w)?;
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
    Weight::InOut.product(x, w)
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
    with_bias(Weight::OutIn.product(x, w)?, bias)
}

/// The product of [`linear`] with its bias.
pub(super) fn with_bias(
    product: DistTensor,
    bias: Option<&DistTensor>,
) -> Result<DistTensor, OpError> {
    match bias {
        Some(bias) => added(LINEAR, [(PRODUCT, &product), (BIAS, bias)]),
        None => Ok(product),
    }
}

/// The order of a weight's dims: that of [`matmul`] or that of [`linear`].
#[derive(Clone, Copy)]
pub(super) enum Weight {
    InOut,
    OutIn,
}

/// What a product will be.
pub(super) struct Outcome {
    pub layout: Layout,
    pub shape: Vec<usize>,
    pub dtype: DType,
}

impl Weight {
    pub(super) const fn operation(self) -> &'static str {
        match self {
            Weight::InOut => MATMUL,
            Weight::OutIn => LINEAR,
        }
    }

    const fn names(self) -> [&'static str; 2] {
        match self {
            Weight::InOut => OPERANDS,
            Weight::OutIn => INPUTS,
        }
    }

    fn labels(self, x_ndim: usize) -> Labels {
        match self {
            Weight::InOut => Labels::matmul(x_ndim),
            Weight::OutIn => Labels::linear(x_ndim),
        }
    }

    fn layout(self, x: &Layout, w: &Layout) -> Result<Layout, OpError> {
        check_ndims(self.operation(), self.names(), [x.ndim(), w.ndim()])?;
        let [left, right] = self.names();
        self.labels(x.ndim()).pair(self.operation(), [(left, x), (right, w)]).layout()
    }

    /// What comes out once `x` is in a layout.
    pub(super) fn outcome(
        self,
        layout: &Layout,
        x: &DistTensor,
        w: &DistTensor,
    ) -> Result<Outcome, OpError> {
        check_ndims(self.operation(), self.names(), [layout.ndim(), w.ndim()])?;
        let ([left, right], labels) = (self.names(), self.labels(layout.ndim()));
        let pair = labels.pair(self.operation(), [(left, layout), (right, w.layout())]);
        let (layout, shape) = (pair.layout()?, pair.shape(x.shape(), w.shape())?);
        let dtype = one_dtype(self.operation(), [(left, x), (right, w)])?;
        Ok(Outcome { layout, shape, dtype })
    }

    pub(super) fn product(self, x: &DistTensor, w: &DistTensor) -> Result<DistTensor, OpError> {
        let Outcome { layout, shape, dtype } = self.outcome(x.layout(), x, w)?;
        with_number!(dtype, self.operation(), T => {
            let locals = view::<T>(x)?.zip(view::<T>(w)?);
            rebuilt(x, layout, &shape, locals.map(|(x, w)| self.local_product(&x, &w)))
        })
    }

    fn local_product<T: Multiply>(self, x: &ArrayViewD<'_, T>, w: &ArrayViewD<'_, T>) -> ArrayD<T> {
        let (x_rows, w) = (rows(x), self.matrix(w));
        let mut shape = x.shape().to_vec();
        *shape.last_mut().expect("the operands' dims are counted") = w.ncols();
        let y = T::product(x_rows.view(), w);
        y.into_shape_with_order(shape).expect("rows are the leading dims run through in order")
    }

    /// A weight as a matrix [k, n].
    pub(super) fn matrix<'a, T>(self, w: &ArrayViewD<'a, T>) -> ArrayView2<'a, T> {
        let w = w.clone().into_dimensionality::<Ix2>().expect("the weight's dims are counted");
        match self {
            Weight::InOut => w,
            Weight::OutIn => w.reversed_axes(),
        }
    }
}

/// An input [.., m, k] as a matrix of all its rows.
pub(super) fn rows<'a, T: Clone>(x: &'a ArrayViewD<'_, T>) -> CowArray<'a, T, Ix2> {
    let (contracted, leading) = x.shape().split_last().expect("the operands' dims are counted");
    let rows: usize = leading.iter().product();
    x.to_shape((rows, *contracted)).expect("rows times columns are all elements")
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
