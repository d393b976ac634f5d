//! Why a call could not be done.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{CallFault, CallRecord, Departure, Recording};
use crate::mesh::Rank;

/// Why a call could not be done. Every variant names a rank and a cause.
///
/// [`CommError::Invalid`] is about this rank's own call, of which the peers know nothing. All others
/// close the world: waits end and later calls fail with [`CommError::Poisoned`].
///
/// # Example
///
/// ```
/// use reshard::comm::{Call, CommError, Communicator, Departure, threads};
/// use reshard::Group;
/// use reshard::mem::{Buffer, BufferMut};
///
/// let endpoints = threads::connect(2, threads::Options::default());
/// endpoints[1].leave(Departure::failed("no such file: w1"));
/// let barrier = Call::barrier(&Group::world(2));
/// let error = endpoints[0].submit(barrier, Buffer::empty(), BufferMut::zeroed(0)).unwrap_err();
/// assert_eq!(error.cause_rank(), Some(1));
/// assert_eq!(
///     error.to_string(),
///     "no call can be made any more, because rank 1 failed: no such file: w1"
/// );
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommError {
    /// This rank's own call cannot be; nothing was sent.
    #[error("rank {rank} cannot make the call {call}: {fault}")]
    Invalid {
        /// The rank that made the call.
        rank: Rank,
        /// The call.
        call: Box<CallRecord>,
        /// What is wrong with it.
        fault: Box<CallFault>,
    },
    /// Two ranks that met made calls that do not fit. No target was written.
    #[error(
        "calls differ in {difference}: {}, but {}; ranks of one group make the same calls in the same order",
        sides[0], sides[1]
    )]
    Mismatch {
        /// In what they differ.
        difference: Difference,
        /// Both sides; the second is the odd one where that can be told.
        sides: Box<[Side; 2]>,
        /// Every rank's last calls.
        recording: Recording,
    },
    /// Ranks did not call before the deadline.
    #[error("{waiter} waited {waited:.1?} for {}", list(missing))]
    Timeout {
        /// Who waited.
        waiter: Box<Side>,
        /// How long.
        waited: Duration,
        /// Who did not call: first the ranks that wait for nobody, among them those that the others wait
        /// for in turn.
        missing: Arc<[Missing]>,
        /// Every rank's last calls.
        recording: Recording,
    },
    /// A rank is gone that others need.
    #[error("rank {rank} {departure}{}", need(needed_by.as_deref()))]
    Departed {
        /// Who is gone.
        rank: Rank,
        /// How it ended.
        departure: Departure,
        /// A call that needs it.
        needed_by: Option<Box<Side>>,
        /// Every rank's last calls.
        recording: Recording,
    },
    /// Ranks wait for each other in a circle.
    #[error("ranks wait for each other: {}", chain(blocked))]
    Deadlock {
        /// The ranks and the calls they wait in; each waits for the next, the last for the first.
        blocked: Arc<[Side]>,
        /// Every rank's last calls.
        recording: Recording,
    },
    /// Peers had not read what a rank only lent before its deadline; it took it back.
    #[error(
        "{lender} waited {waited:.1?} until all had read what it lent; ranks that wait for a call take part in it, so {}",
        unread(missing)
    )]
    Unread {
        /// Who lent.
        lender: Box<Side>,
        /// How long it waited.
        waited: Duration,
        /// Who made the call, but did not wait for it.
        missing: Arc<[Rank]>,
        /// Every rank's last calls.
        recording: Recording,
    },
    /// An earlier error has closed the world.
    #[error("no call can be made any more, because {first}")]
    Poisoned {
        /// The error that closed it.
        first: Arc<CommError>,
    },
}

impl CommError {
    /// The rank that the error is about: whose call is wrong or odd, who is gone, who is missing.
    /// `None` for a circle of ranks, none of which is to blame more than another.
    #[must_use]
    pub fn cause_rank(&self) -> Option<Rank> {
        match self {
            CommError::Invalid { rank, .. } | CommError::Departed { rank, .. } => Some(*rank),
            CommError::Mismatch { sides, .. } => Some(sides[1].rank),
            CommError::Timeout { missing, .. } => missing.first().map(|missing| missing.rank),
            CommError::Unread { missing, .. } => missing.first().copied(),
            CommError::Deadlock { .. } => None,
            CommError::Poisoned { first } => first.cause_rank(),
        }
    }

    /// The error that closed the world: itself, or the first one if this only follows from it.
    #[must_use]
    pub fn root_cause(&self) -> &CommError {
        match self {
            CommError::Poisoned { first } => first.root_cause(),
            CommError::Invalid { .. }
            | CommError::Mismatch { .. }
            | CommError::Timeout { .. }
            | CommError::Unread { .. }
            | CommError::Departed { .. }
            | CommError::Deadlock { .. } => self,
        }
    }

    /// Every rank's last calls when the error arose; `None` for a call that was never made.
    #[must_use]
    pub fn recorder(&self) -> Option<&Recording> {
        match self {
            CommError::Invalid { .. } => None,
            CommError::Mismatch { recording, .. }
            | CommError::Timeout { recording, .. }
            | CommError::Unread { recording, .. }
            | CommError::Departed { recording, .. }
            | CommError::Deadlock { recording, .. } => Some(recording),
            CommError::Poisoned { first } => first.recorder(),
        }
    }
}

/// In what two calls differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The operation, its root, reduction or divisor.
    Operation,
    /// The element type.
    DType,
    /// The number of the call.
    Sequence,
    /// The step of the plan.
    Step,
    /// The plan.
    Plan,
    /// How many elements pass from one to the other.
    Count {
        /// Who sends.
        sender: Rank,
        /// Elements it sends.
        sent: usize,
        /// Who receives.
        receiver: Rank,
        /// Elements it expects.
        expected: usize,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Operation => f.write_str("the operation"),
            Difference::DType => f.write_str("the element type"),
            Difference::Sequence => f.write_str("the number of the call"),
            Difference::Step => f.write_str("the step of the plan"),
            Difference::Plan => f.write_str("the plan"),
            Difference::Count { sender, sent, receiver, expected } => write!(
                f,
                "a count (rank {sender} sends {sent} elements to rank {receiver}, which expects {expected})"
            ),
        }
    }
}

/// One rank's side: who, and in which call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The rank.
    pub rank: Rank,
    /// Its call.
    pub call: CallRecord,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} in {}", self.rank, self.call)
    }
}

/// A rank that others wait for, and the last call it made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The rank.
    pub rank: Rank,
    /// Its last call, if it made any.
    pub last: Option<CallRecord>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.last {
            Some(call) => write!(f, "rank {}, which last made {call}", self.rank),
            None => write!(f, "rank {}, which has made no call", self.rank),
        }
    }
}

/// The missing, for a sentence.
pub(crate) fn list(missing: &[Missing]) -> String {
    missing.iter().map(Missing::to_string).collect::<Vec<_>>().join("; ")
}

fn need(side: Option<&Side>) -> String {
    side.map_or_else(String::new, |side| format!("; {side} needs it"))
}

fn unread(missing: &[Rank]) -> String {
    let ranks: Vec<String> = missing.iter().map(Rank::to_string).collect();
    format!("wait for it, or use buffers of the library, on rank {}", ranks.join(", "))
}

fn chain(blocked: &[Side]) -> String {
    let links = blocked.iter().zip(blocked.iter().cycle().skip(1));
    let links = links.map(|(side, next)| format!("{side} waits for rank {}", next.rank));
    links.collect::<Vec<_>>().join("; ")
}
