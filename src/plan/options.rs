//! What a plan is chosen by.

use crate::base::StableHash;

/// What a plan is chosen by; part of a plan's key.
///
/// # Example
///
/// ```
/// use reshard::plan::{Objective, PlanOptions};
/// assert_eq!(PlanOptions::default().objective(), Objective::Bytes);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanOptions {
    objective: Objective,
}

/// The quantity that a plan makes least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Objective {
    /// The bytes of the busiest rank, sent or received; then launches, then messages.
    #[default]
    Bytes,
}

impl PlanOptions {
    /// The default options with another objective.
    #[must_use]
    pub fn with_objective(self, objective: Objective) -> Self {
        Self { objective }
    }

    /// The quantity that a plan makes least.
    #[must_use]
    pub fn objective(self) -> Objective {
        self.objective
    }

    pub(crate) fn hash(self) -> u64 {
        let name = match self.objective {
            Objective::Bytes => "bytes",
        };
        StableHash::new().text(name).finish()
    }
}
