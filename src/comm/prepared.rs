//! A call that was checked once and can be made many times.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::validate::validate;
use super::{Call, CallFault, CallRecord, CommError, Direction, Stamp};
use crate::mesh::Rank;

/// A call that a communicator has checked, to be made as often as one likes; see
/// [`Communicator::prepare`](super::Communicator::prepare). Cloning is cheap.
///
/// # Example
///
/// ```
/// use reshard::comm::{Call, Communicator, Stamp, threads};
/// use reshard::mem::{Buffer, BufferMut};
/// use reshard::{DType, Group};
///
/// let group = Group::world(1);
/// let endpoint = threads::connect(1, threads::Options::default()).remove(0);
/// let call = Call::all_gather(&group, DType::U8).send_run(0, 2).recv_counts([2]);
/// let call = endpoint.prepare(call, 2, 2)?;
/// for round in 0..3u8 {
///     let stamp = Stamp::new(endpoint.next_sequence(&group), "again");
///     let source = Buffer::from_elements(&[round, 7]);
///     let target = endpoint.start(&call, &stamp, source, BufferMut::zeroed(2))?.wait()?;
///     assert_eq!(target.as_bytes(), [round, 7]);
/// }
/// # Ok::<(), reshard::comm::CommError>(())
/// ```
#[derive(Clone)]
pub struct Prepared(Arc<Inner>);

struct Inner {
    call: Call,
    rank: Rank,
    position: usize,
    source_bytes: usize,
    target_bytes: usize,
    /// What the communicator wants to find again.
    engine: Box<dyn Any + Send + Sync>,
}

impl Prepared {
    /// Checks the call of `rank` on buffers of so many bytes; `engine` gives what the communicator
    /// wants to find again.
    pub(crate) fn new<E: Any + Send + Sync>(
        call: Call,
        (rank, world_len): (Rank, usize),
        (source_bytes, target_bytes): (usize, usize),
        engine: impl FnOnce(&Call) -> E,
    ) -> Result<Self, CommError> {
        match validate(&call, rank, world_len, (source_bytes, target_bytes)) {
            Ok(position) => {
                let engine = Box::new(engine(&call));
                let inner = Inner { call, rank, position, source_bytes, target_bytes, engine };
                Ok(Self(Arc::new(inner)))
            }
            Err(fault) => Err(CommError::Invalid {
                rank,
                call: Box::new(CallRecord::of(&call, &call.stamp)),
                fault: Box::new(fault),
            }),
        }
    }

    /// The call.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.0.call
    }

    /// The rank that makes it.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.0.rank
    }

    /// The rank's position in the group.
    #[must_use]
    pub fn position(&self) -> usize {
        self.0.position
    }

    /// Bytes of the source with which it can be made.
    #[must_use]
    pub fn source_bytes(&self) -> usize {
        self.0.source_bytes
    }

    /// Bytes of the target with which it can be made.
    #[must_use]
    pub fn target_bytes(&self) -> usize {
        self.0.target_bytes
    }

    pub(crate) fn engine<E: Any>(&self) -> Option<&E> {
        self.0.engine.downcast_ref()
    }

    /// Checks that it is made with buffers of the lengths for which it was prepared.
    pub(crate) fn check_lens(&self, source_bytes: usize, target_bytes: usize) -> Option<CallFault> {
        let differs = |direction, given: usize, prepared: usize| {
            let fault = CallFault::BufferLen { direction, given, prepared };
            (given != prepared).then_some(fault)
        };
        differs(Direction::Send, source_bytes, self.0.source_bytes)
            .or_else(|| differs(Direction::Recv, target_bytes, self.0.target_bytes))
    }

    /// The error of making it so.
    pub(crate) fn invalid(&self, stamp: &Stamp, fault: CallFault) -> CommError {
        CommError::Invalid {
            rank: self.0.rank,
            call: Box::new(CallRecord::of(&self.0.call, stamp)),
            fault: Box::new(fault),
        }
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { call, rank, source_bytes, target_bytes, .. } = &*self.0;
        write!(f, "Prepared(rank {rank}: {call:?} from {source_bytes} B to {target_bytes} B)")
    }
}
