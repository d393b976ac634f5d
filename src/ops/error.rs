//! What can be wrong with the operands of an operation.

use std::fmt;
use std::sync::Arc;

use crate::base::{DType, Reduction};
use crate::dist;
use crate::layout::{LayoutError, Placement};

/// Operands that an operation cannot work on. Equal on every rank unless it stems from [`OpError::Dist`]:
/// it depends on layouts, shapes and element types alone, and nothing has moved.
///
/// An operation never redistributes an operand by itself. A layout that fits no rule is an error that
/// says which redistribution is missing:
///
/// ```
/// use reshard::{Layout, Mesh, ops};
/// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
/// let x = Layout::parse(&mesh, 2, "dp=S(0), tp=S(1)")?;
/// let w = Layout::parse(&mesh, 2, "tp=R")?;
/// assert_eq!(
///     ops::matmul_layout(&x, &w).unwrap_err().to_string(),
///     "matmul: axis `tp` cuts dim 1 of the left operand, contracted, but replicates dim 0 of the right \
///      operand; redistribute the left operand to `R` along `tp`, or the right operand to `S(0)`"
/// );
/// # Ok::<(), reshard::LayoutError>(())
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// The operands live on different meshes.
    #[error(
        "{operation}: the {left} is on mesh {left_mesh} and the {right} on {right_mesh}; redistribute one of them to the other's mesh"
    )]
    Meshes {
        /// The operation.
        operation: &'static str,
        /// What the first operand is called.
        left: &'static str,
        /// Its mesh.
        left_mesh: String,
        /// What the second operand is called.
        right: &'static str,
        /// Its mesh.
        right_mesh: String,
    },
    /// The operands belong to different worlds.
    #[error("{operation}: the {left} and the {right} belong to different worlds; make both in one")]
    Worlds {
        /// The operation.
        operation: &'static str,
        /// What the first operand is called.
        left: &'static str,
        /// What the second operand is called.
        right: &'static str,
    },
    /// Along one axis the layouts of two operands do not go together.
    #[error("{operation}: axis `{axis}` {situation}; redistribute {}", either(remedies, axis))]
    Misplaced {
        /// The operation.
        operation: &'static str,
        /// The axis's name.
        axis: String,
        /// What the axis does to each operand.
        situation: String,
        /// Redistributions of which each makes the operands fit along this axis.
        remedies: Vec<Remedy>,
    },
    /// Dims that belong together are cut in another order of axes, by another law or with other holes.
    #[error(
        "{operation}: dim {left_dim} of the {left} is cut by `{left_cuts}`, but dim {right_dim} of the {right}, which must be cut alike, by `{right_cuts}`; redistribute one of them to the cuts of the other"
    )]
    CutOtherwise {
        /// The operation.
        operation: &'static str,
        /// What the first operand is called.
        left: &'static str,
        /// Its dim.
        left_dim: usize,
        /// The cuts of that dim, major to minor.
        left_cuts: String,
        /// What the second operand is called.
        right: &'static str,
        /// Its dim.
        right_dim: usize,
        /// The cuts of that dim, major to minor.
        right_cuts: String,
    },
    /// The operation on terms does not give terms of the result.
    #[error(
        "{operation}: the {operand} is partial by {reduction} along `{axis}`, and {operation} of terms does not give terms of the result; redistribute the {operand} to `R` along `{axis}`, or to `S(dim)` for one of its dims"
    )]
    Terms {
        /// The operation.
        operation: &'static str,
        /// What the operand is called.
        operand: &'static str,
        /// The axis's name.
        axis: String,
        /// The reduction.
        reduction: Reduction,
    },
    /// An operand has the wrong number of dims.
    #[error("{operation}: the {operand} must have {needed} dims, but has {ndim}")]
    Ndim {
        /// The operation.
        operation: &'static str,
        /// What the operand is called.
        operand: &'static str,
        /// Dims it has.
        ndim: usize,
        /// Dims it should have, in words where a range will do.
        needed: String,
    },
    /// Dims that belong together differ in length.
    #[error(
        "{operation}: dim {left_dim} of the {left} has length {left_len}, but dim {right_dim} of the {right} has length {right_len}; they must agree"
    )]
    Lengths {
        /// The operation.
        operation: &'static str,
        /// What the first operand is called.
        left: &'static str,
        /// Its dim.
        left_dim: usize,
        /// The length of that dim.
        left_len: usize,
        /// What the second operand is called.
        right: &'static str,
        /// Its dim.
        right_dim: usize,
        /// The length of that dim.
        right_len: usize,
    },
    /// The operands have different element types.
    #[error(
        "{operation}: the {left} is {left_dtype} and the {right} {right_dtype}; cast one of them to the other's element type"
    )]
    DTypes {
        /// The operation.
        operation: &'static str,
        /// What the first operand is called.
        left: &'static str,
        /// Its element type.
        left_dtype: DType,
        /// What the second operand is called.
        right: &'static str,
        /// Its element type.
        right_dtype: DType,
    },
    /// The operation is not defined on this element type.
    #[error("{operation}: not defined on {dtype}; cast the tensor to {remedy}")]
    DType {
        /// The operation.
        operation: &'static str,
        /// The element type.
        dtype: DType,
        /// Types that will do.
        remedy: &'static str,
    },
    /// A partial tensor cannot change its element type so, since reducing and casting do not commute.
    #[error(
        "cast: the operand is partial by {reduction} along `{axis}`, and terms cast from {from} to {to} do not reduce to the cast value; redistribute the operand to `R` along `{axis}`, or to `S(dim)` for one of its dims, and cast then"
    )]
    CastOfTerms {
        /// The axis's name.
        axis: String,
        /// The reduction.
        reduction: Reduction,
        /// The element type before.
        from: DType,
        /// The element type asked for.
        to: DType,
    },
    /// A text that pairs no dims.
    #[error(
        "einsum: `{text}` {reason}; write the letters of both operands and the result, such as `mk,kn->mn`"
    )]
    Letters {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The result cannot be laid out.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A tensor could not be read, made or redistributed.
    #[error(transparent)]
    Dist(#[from] dist::Error),
}

/// A redistribution of one operand along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// What the operand is called.
    pub operand: &'static str,
    /// What the axis should do to it.
    pub placement: Placement,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} to `{}`", self.operand, self.placement)
    }
}

fn either(remedies: &[Remedy], axis: &str) -> String {
    let texts: Vec<String> = remedies.iter().map(Remedy::to_string).collect();
    match texts.split_first() {
        Some((first, [])) => format!("{first} along `{axis}`"),
        Some((first, rest)) => format!("{first} along `{axis}`, or {}", rest.join(", or ")),
        None => "one of them".to_owned(),
    }
}

impl From<OpError> for dist::Error {
    /// What stems from this crate keeps its variant.
    fn from(error: OpError) -> Self {
        match error {
            OpError::Layout(error) => error.into(),
            OpError::Dist(error) => error,
            error => Self::Operands(Arc::new(error)),
        }
    }
}
