//! The flight recorder: each rank's last calls.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::{Call, Operation, Prepared, Stamp};
use crate::base::DType;
use crate::mesh::{Group, Rank};

/// How many calls a rank's ring keeps.
pub const RECORDED_CALLS: usize = 16;

/// One call as the recorder keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// Which of the program's calls it is.
    pub stamp: Stamp,
    /// What it moves; `None` for a call that moves nothing.
    pub movement: Option<Movement>,
    /// How far it has come.
    pub state: CallState,
}

/// What a call moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    /// What is done.
    pub operation: Operation,
    /// Among whom.
    pub group: Group,
    /// The element type.
    pub dtype: DType,
    /// Bytes of all send parts together.
    pub send_bytes: usize,
    /// Bytes of all recv parts together.
    pub recv_bytes: usize,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    /// It moves nothing, so there is nothing to wait for.
    Local,
    /// Some of the group have not called yet.
    Waiting,
    /// All of the group have called and agree.
    Met,
    /// It cannot be done any more.
    Failed,
}

impl CallRecord {
    /// The record of a call just made under a stamp.
    #[must_use]
    pub fn of(call: &Call, stamp: &Stamp) -> Self {
        let movement = Movement {
            operation: call.operation,
            group: call.group.clone(),
            dtype: call.dtype,
            send_bytes: call.send_bytes(),
            recv_bytes: call.recv_bytes(),
        };
        Self { stamp: stamp.clone(), movement: Some(movement), state: CallState::Waiting }
    }

    /// The record of a call that moves nothing.
    #[must_use]
    pub fn local(stamp: &Stamp) -> Self {
        Self { stamp: stamp.clone(), movement: None, state: CallState::Local }
    }
}

/// ``all-gather of f32 among {0, 1} (call 7, step 0, plan 5f…; sends 4 B, receives 8 B; `y`)``.
impl fmt::Display for CallRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stamp { sequence, step, plan, what } = &self.stamp;
        match &self.movement {
            Some(Movement { operation, group, dtype, .. }) => match operation {
                Operation::Barrier => write!(f, "{operation} among {group}")?,
                _ => write!(f, "{operation} of {dtype} among {group}")?,
            },
            None => f.write_str("a call that moves nothing")?,
        }
        write!(f, " (call {sequence}, step {step}")?;
        if *plan != 0 {
            write!(f, ", plan {plan:016x}")?;
        }
        if let Some(Movement { send_bytes, recv_bytes, .. }) = self.movement {
            write!(f, "; sends {send_bytes} B, receives {recv_bytes} B")?;
        }
        if !what.is_empty() {
            write!(f, "; `{what}`")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for CallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CallState::Local => "local",
            CallState::Waiting => "waiting",
            CallState::Met => "met",
            CallState::Failed => "failed",
        })
    }
}

/// The last calls of ranks, oldest first, as they stood when it was taken. Cloning is cheap.
///
/// `Display` writes one line a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording(Arc<[Vec<CallRecord>]>);

impl Recording {
    /// The last calls of a rank, oldest first.
    #[must_use]
    pub fn calls(&self, rank: Rank) -> &[CallRecord] {
        self.0.get(rank).map_or(&[], Vec::as_slice)
    }

    /// How many ranks were recorded: the ranks `0..ranks_len()`.
    #[must_use]
    pub fn ranks_len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<Vec<CallRecord>> for Recording {
    /// Collects the calls of the ranks 0, 1, …
    fn from_iter<I: IntoIterator<Item = Vec<CallRecord>>>(ranks: I) -> Self {
        Self(ranks.into_iter().collect())
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (rank, calls) in self.0.iter().enumerate() {
            for call in calls {
                writeln!(f, "rank {rank}  {:<7}  {call}", call.state)?;
            }
        }
        Ok(())
    }
}

/// A call as a rank's ring keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) stamp: Stamp,
    /// What it moves, and its number on its group; `None` for a call that moves nothing.
    pub(crate) call: Option<(Prepared, u64)>,
}

impl Made {
    /// The record of it, in the state in which it is now.
    pub(crate) fn record(&self, state: CallState) -> CallRecord {
        match &self.call {
            Some((prepared, _)) => {
                CallRecord { state, ..CallRecord::of(prepared.call(), &self.stamp) }
            }
            None => CallRecord::local(&self.stamp),
        }
    }
}

/// One rank's ring of its last calls, oldest first.
#[derive(Debug)]
pub(crate) struct Ring(VecDeque<Made>);

impl Ring {
    pub(crate) fn new() -> Self {
        Self(VecDeque::with_capacity(RECORDED_CALLS))
    }

    /// Takes in a call.
    pub(crate) fn push(&mut self, call: Made) {
        if self.0.len() == RECORDED_CALLS {
            self.0.pop_front();
        }
        self.0.push_back(call);
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Made> {
        self.0.iter()
    }
}
