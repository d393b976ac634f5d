//! What can be wrong with data that a rank gives or asks for.

use crate::base::DType;
use crate::mesh::Rank;

/// Data that a rank gives or asks for, and that does not fit the tensor. No byte has moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A local tensor of the wrong shape.
    #[error(
        "rank {rank} gives a local tensor of shape {given:?}, but of a tensor of shape {shape:?} under {layout} it holds shape {expected:?} at offset {offset:?}"
    )]
    LocalShape {
        /// The rank.
        rank: Rank,
        /// The layout.
        layout: String,
        /// The global shape.
        shape: Vec<usize>,
        /// The local shape that the layout gives this rank.
        expected: Vec<usize>,
        /// Where its first element lies; the global length in dims of which it holds nothing.
        offset: Vec<usize>,
        /// The shape given; a list of elements has one dim.
        given: Vec<usize>,
    },
    /// Local shapes that no global shape explains. Equal on every rank of the mesh.
    #[error(
        "local tensors of shapes {given:?} on the ranks {ranks:?} fit no global shape under {layout}{}; if they are meant so, state them as `S({}; sizes=…)`",
        cut_of(.nearest), .dim
    )]
    LocalShapes {
        /// The layout.
        layout: String,
        /// The ranks of the mesh, by coordinate.
        ranks: Vec<Rank>,
        /// Their local shapes.
        given: Vec<Vec<usize>>,
        /// The first dim whose lengths do not fit.
        dim: usize,
        /// The global shape with as many elements in each dim, and the local shapes it would have; none
        /// if the layout does not fit that shape.
        nearest: Option<(Vec<usize>, Vec<Vec<usize>>)>,
    },
    /// Local tensors that cannot be parts of one tensor. Equal on every rank of the mesh.
    #[error(
        "local tensors cannot be parts of one tensor: the ranks {ranks:?} give {given:?} as dims and element type"
    )]
    LocalKinds {
        /// The ranks of the mesh, by coordinate.
        ranks: Vec<Rank>,
        /// Their numbers of dims and element types.
        given: Vec<(usize, DType)>,
    },
    /// As many elements as the shape needs.
    #[error("{given} elements are given for a tensor of shape {shape:?}, which has {needed}")]
    ElementCount {
        /// The shape.
        shape: Vec<usize>,
        /// Elements given.
        given: usize,
        /// Elements needed.
        needed: usize,
    },
    /// Memory that is not the local tensor of this rank.
    #[error(
        "rank {rank} gives {given} bytes, but of a tensor of {dtype} {shape:?} under {layout} it holds {needed} bytes"
    )]
    ByteCount {
        /// The rank.
        rank: Rank,
        /// The layout.
        layout: String,
        /// The global shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: DType,
        /// Bytes given.
        given: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// A tensor cannot take the elements of another one. Equal on every rank.
    #[error(
        "{out} cannot take the elements of {given}; shape, element type and world have to be equal"
    )]
    OtherTensor {
        /// The tensor to be carried.
        given: String,
        /// The tensor whose elements were to be replaced.
        out: String,
    },
    /// Bytes that are no truth values.
    #[error("a truth value is 0 or 1, but a byte is {byte}")]
    NoTruthValue {
        /// The byte.
        byte: u8,
    },
    /// Elements asked for as another type than theirs.
    #[error("a tensor of {dtype} was asked for as {asked}")]
    WrongType {
        /// The type asked for.
        asked: DType,
        /// The element type.
        dtype: DType,
    },
    /// A rank outside the mesh holds nothing.
    #[error("rank {rank} is not in the mesh {mesh}, so it holds nothing of the tensor")]
    Outside {
        /// The rank.
        rank: Rank,
        /// The mesh.
        mesh: String,
    },
    /// A tensor is made on the mesh that was named. Equal on every rank.
    #[error("the layout {layout} is on the mesh {given}, but the tensor is made on {mesh}")]
    OtherMesh {
        /// The layout.
        layout: String,
        /// Its mesh.
        given: String,
        /// The mesh named.
        mesh: String,
    },
}

impl DataError {
    /// Whether every rank that made the same call has the same error.
    pub(super) fn is_agreed(&self) -> bool {
        match self {
            DataError::LocalShapes { .. }
            | DataError::LocalKinds { .. }
            | DataError::OtherMesh { .. }
            | DataError::OtherTensor { .. } => true,
            DataError::LocalShape { .. }
            | DataError::ElementCount { .. }
            | DataError::ByteCount { .. }
            | DataError::NoTruthValue { .. }
            | DataError::WrongType { .. }
            | DataError::Outside { .. } => false,
        }
    }

    /// The rank that the error is about, where it is about one.
    pub(super) fn rank(&self) -> Option<Rank> {
        match self {
            DataError::LocalShape { rank, .. }
            | DataError::ByteCount { rank, .. }
            | DataError::Outside { rank, .. } => Some(*rank),
            DataError::LocalShapes { .. }
            | DataError::LocalKinds { .. }
            | DataError::ElementCount { .. }
            | DataError::NoTruthValue { .. }
            | DataError::WrongType { .. }
            | DataError::OtherMesh { .. }
            | DataError::OtherTensor { .. } => None,
        }
    }
}

fn cut_of(nearest: &Option<(Vec<usize>, Vec<Vec<usize>>)>) -> String {
    nearest.as_ref().map_or_else(String::new, |(shape, locals)| {
        format!(" (shape {shape:?} would be cut into {locals:?})")
    })
}
