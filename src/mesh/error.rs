//! What can be wrong with a mesh.

use super::Rank;

/// A mesh or group that cannot be. Equal on every rank: it depends on the arguments alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// An axis has no coordinate.
    #[error("axis `{axis}` has length 0; every axis needs at least one coordinate")]
    EmptyAxis {
        /// The axis's name.
        axis: String,
    },
    /// A name that notation could not tell from punctuation.
    #[error(
        "`{name}` is no axis name; a name is letters, digits and underscores and starts with no digit"
    )]
    AxisName {
        /// The name given.
        name: String,
    },
    /// Two axes share a name.
    #[error("two axes are called `{name}`; names must differ")]
    AxisTwice {
        /// The shared name.
        name: String,
    },
    /// The mesh has no axis of this name.
    #[error("the mesh has no axis `{name}`; its axes are {axes}")]
    UnknownAxis {
        /// The name asked for.
        name: String,
        /// The names there are.
        axes: String,
    },
    /// The rank list does not fill the mesh.
    #[error("axes of lengths {shape:?} need {needed} ranks, but {given} are given")]
    RankCount {
        /// Lengths of the axes.
        shape: Vec<usize>,
        /// Their product.
        needed: usize,
        /// How many ranks were listed.
        given: usize,
    },
    /// More coordinates than a machine word can count.
    #[error("axes of lengths {shape:?} have more coordinates than a machine word counts")]
    TooManyRanks {
        /// Lengths of the axes.
        shape: Vec<usize>,
    },
    /// A rank is listed twice.
    #[error("rank {rank} is listed twice; every rank has one coordinate")]
    RankTwice {
        /// The rank.
        rank: Rank,
    },
    /// The rank is not in the mesh.
    #[error("rank {rank} is not in the mesh of ranks {ranks:?}")]
    NotAMember {
        /// The rank asked for.
        rank: Rank,
        /// The ranks there are.
        ranks: Vec<Rank>,
    },
}
