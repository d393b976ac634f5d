//! What can be wrong with a layout, alone or together with a shape and an element type.

use crate::base::{DType, Reduction};
use crate::mesh::MeshError;

use super::notation::ParseLayoutError;

/// A layout that cannot be, or that does not fit a shape or an element type. Equal on every rank: it
/// depends on the arguments alone, and nothing has moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The text is not in the notation.
    #[error(transparent)]
    Parse(#[from] ParseLayoutError),
    /// An axis is not in the mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A list must have one placement an axis.
    #[error(
        "{given} placements are given for a mesh of {needed} axes ({mesh}); give one an axis, `R` where nothing is cut, or name the axes that do something, as in `dp=S(0)`"
    )]
    PlacementCount {
        /// Placements given.
        given: usize,
        /// Axes of the mesh.
        needed: usize,
        /// The mesh.
        mesh: String,
    },
    /// A placement shards a dim that the tensor does not have.
    #[error("axis `{axis}` shards dim {dim} of a tensor of {ndim} dims")]
    NoSuchDim {
        /// The axis's name.
        axis: String,
        /// The dim asked for.
        dim: isize,
        /// Dims of the tensor.
        ndim: usize,
    },
    /// An axis can do only one thing to a tensor.
    #[error("axis `{axis}` is used twice; an axis cuts one dim or is partial, not both")]
    AxisTwice {
        /// The axis's name.
        axis: String,
    },
    /// Partial axes share one reduction.
    #[error(
        "axes are partial by `{first}` and by `{second}`; partial axes share one reduction, only sum and avg mix"
    )]
    MixedReductions {
        /// The reduction of the first partial axis.
        first: Reduction,
        /// The one that differs.
        second: Reduction,
    },
    /// Pieces are listed one by one.
    #[error("dim {dim} is cut into more than {limit} pieces; cut it by fewer axes")]
    TooManyPieces {
        /// The dim.
        dim: usize,
        /// The most pieces there may be.
        limit: usize,
    },
    /// The tensor has another number of dims than the layout.
    #[error("a layout of {layout} dims does not fit shape {shape:?} of {} dims", shape.len())]
    Ndim {
        /// Dims of the layout.
        layout: usize,
        /// The shape.
        shape: Vec<usize>,
    },
    /// Segments must make up the dim.
    #[error(
        "axis `{axis}` cuts dim {dim} by segments {segments:?}, which sum to {}, but the dim has length {len}",
        sum(segments)
    )]
    SegmentsSum {
        /// The axis's name.
        axis: String,
        /// The dim.
        dim: usize,
        /// Lengths of the segments.
        segments: Vec<usize>,
        /// Length of the dim.
        len: usize,
    },
    /// Units stay whole.
    #[error(
        "axis `{axis}` cuts dim {dim} by units of {unit}, but a piece of length {piece} is no multiple of {unit}"
    )]
    NotAMultiple {
        /// The axis's name.
        axis: String,
        /// The dim.
        dim: usize,
        /// Length of the piece.
        piece: usize,
        /// Elements of a unit.
        unit: usize,
    },
    /// Sizes have one row for each piece.
    #[error(
        "axis `{axis}` cuts dim {dim} by {given} rows of sizes, but the dim comes to it in {needed} pieces; give one row for each"
    )]
    SizesRows {
        /// The axis's name.
        axis: String,
        /// The dim.
        dim: usize,
        /// Rows given.
        given: usize,
        /// Pieces there are.
        needed: usize,
    },
    /// A row of sizes has one length for each coordinate.
    #[error("axis `{axis}` cuts dim {dim} by sizes {sizes:?}, but has {ways} coordinates")]
    SizesLen {
        /// The axis's name.
        axis: String,
        /// The dim.
        dim: usize,
        /// The row.
        sizes: Vec<usize>,
        /// Coordinates of the axis.
        ways: usize,
    },
    /// A row of sizes must make up its piece.
    #[error(
        "axis `{axis}` cuts dim {dim} by sizes {sizes:?}, which sum to {}, but the piece has length {piece}",
        sum(sizes)
    )]
    SizesSum {
        /// The axis's name.
        axis: String,
        /// The dim.
        dim: usize,
        /// The row.
        sizes: Vec<usize>,
        /// Length of the piece.
        piece: usize,
    },
    /// The element type cannot be reduced so.
    #[error("axis `{axis}` is partial by {reduction}, which {dtype} does not have")]
    NoSuchReduction {
        /// The axis's name.
        axis: String,
        /// The reduction.
        reduction: Reduction,
        /// The element type.
        dtype: DType,
    },
    /// More bytes than a machine can address.
    #[error(
        "a tensor of shape {shape:?} and type {dtype} has more bytes than a machine can address"
    )]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: DType,
    },
}

fn sum(lens: &[usize]) -> u128 {
    lens.iter().map(|&len| len as u128).sum()
}
