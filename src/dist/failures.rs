//! What went wrong in a world, for the ranks that did not notice.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::comm::{CommError, Departure};
use crate::mesh::Rank;

/// The first error that each rank of a process met in a call.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<Vec<(Rank, CommError)>>);

impl Failures {
    /// Takes in an error that a rank met.
    pub(super) fn record(&self, rank: Rank, error: &CommError) {
        if matches!(error, CommError::Invalid { .. }) {
            return;
        }
        let mut met = self.met();
        if met.iter().all(|&(other, _)| other != rank) {
            met.push((rank, error.clone()));
        }
    }

    /// The error that peers met because this rank returned early or never came, unless it met an error
    /// itself.
    pub(super) fn caused_unnoticed(&self, rank: Rank) -> Option<CommError> {
        let met = self.met();
        if met.iter().any(|&(other, _)| other == rank) {
            return None;
        }
        let blames = |error: &CommError| match error {
            CommError::Departed { rank: gone, departure: Departure::Returned, .. } => *gone == rank,
            CommError::Timeout { missing, .. } => missing.iter().any(|it| it.rank == rank),
            CommError::Unread { missing, .. } => missing.contains(&rank),
            CommError::Departed { .. }
            | CommError::Invalid { .. }
            | CommError::Mismatch { .. }
            | CommError::Deadlock { .. }
            | CommError::Poisoned { .. } => false,
        };
        met.iter().map(|(_, error)| error.root_cause()).find(|error| blames(error)).cloned()
    }

    fn met(&self) -> MutexGuard<'_, Vec<(Rank, CommError)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
