//! Why a transition cannot be planned.

use crate::base::Reduction;
use crate::layout::LayoutError;

/// A transition that cannot be planned. Equal on every rank, and nothing has moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A layout does not fit the tensor.
    #[error("{side} layout: {error}")]
    Layout {
        /// `source` or `target`.
        side: &'static str,
        /// What does not fit.
        error: LayoutError,
    },
    /// More elements on all ranks together than a machine word counts.
    #[error(
        "a tensor of shape {shape:?} on {ranks} ranks has more elements in all than can be counted"
    )]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
        /// Ranks of both meshes.
        ranks: usize,
    },
    /// Only linear reductions have an adjoint.
    #[error(
        "{reduction} is not linear, so a transition from or to it has no adjoint; only sum and avg have one"
    )]
    NoAdjoint {
        /// The reduction.
        reduction: Reduction,
    },
    /// A plan breaks a promise: a defect of this crate, never of the caller.
    #[error(
        "the plan for {transition} is wrong: {broken}; this is a defect of reshard, please report it"
    )]
    Broken {
        /// The transition.
        transition: String,
        /// Which promise, with numbers.
        broken: String,
    },
}
