//! Bytes among the ranks of a group. Nothing here has heard of tensors or layouts.
//!
//! A rank describes its side of a collective as a [`Call`] and submits it to a [`Communicator`]
//! together with the buffer it gives and the buffer it wants filled; the [`Work`] it gets back
//! yields the filled buffer. [`threads`] is the communicator for ranks that are threads.

mod operation;
mod call;
mod prepared;
mod work;
mod departure;
mod error;
mod recorder;
mod flow;
mod validate;
mod check;
pub mod threads;

use std::fmt;

use crate::mem::{Buffer, BufferMut};
use crate::mesh::{Group, Rank};

pub use call::{Call, Part, Stamp};
pub use departure::Departure;
pub use error::{CommError, Difference, Missing, Side};
pub use operation::Operation;
pub use prepared::Prepared;
pub use recorder::{CallRecord, CallState, Movement, RECORDED_CALLS, Recording};
pub use validate::{CallFault, Direction, Peers};
pub use work::Work;

/// One rank's live endpoint.
///
/// Ranks meet by the order of their calls: the k-th call of each member on the same group, the same
/// ranks in the same order, belong together. A rank makes its calls from one thread at a time.
///
/// Every wait ends: with the result, at the deadline, or as soon as it is known that the call cannot
/// be done. Results never depend on timing.
pub trait Communicator: Send + Sync + fmt::Debug {
    /// Who this is.
    fn rank(&self) -> Rank;

    /// How many ranks the world has.
    fn world_len(&self) -> usize;

    /// The kind of communicator, for messages.
    fn name(&self) -> &'static str;

    /// Whether parts may be strided. To a communicator that does not take them, give parts of one
    /// contiguous window each.
    fn takes_strided(&self) -> bool;

    /// Checks a call of this rank, to be made with a source and a target of so many bytes as often as
    /// one likes.
    ///
    /// # Errors
    ///
    /// [`CommError::Invalid`] if the call cannot be, whatever the peers do.
    fn prepare(
        &self,
        call: Call,
        source_bytes: usize,
        target_bytes: usize,
    ) -> Result<Prepared, CommError>;

    /// Makes a prepared call under a stamp of its own; never blocks on peers. The work owns source and
    /// target until it is done. The stamp in the call does not count.
    ///
    /// # Communication
    ///
    /// Every member of the group makes the call.
    ///
    /// # Errors
    ///
    /// [`CommError::Invalid`] if it was prepared elsewhere or for other buffers. Anything else closes
    /// the world.
    fn start(
        &self,
        call: &Prepared,
        stamp: &Stamp,
        source: Buffer,
        target: BufferMut,
    ) -> Result<Work, CommError>;

    /// Checks a call and makes it once, under the stamp that is in it; see [`Communicator::start`].
    ///
    /// # Errors
    ///
    /// As [`Communicator::prepare`] and [`Communicator::start`].
    fn submit(&self, call: Call, source: Buffer, target: BufferMut) -> Result<Work, CommError> {
        let stamp = call.stamp.clone();
        let call = self.prepare(call, source.len_bytes(), target.len_bytes())?;
        self.start(&call, &stamp, source, target)
    }

    /// Makes a prepared call on borrowed memory and waits for it; for engines with tensors of their own.
    ///
    /// Returns only when no peer reads the source or writes the target any more. The target is written
    /// only if the call is done. Unless a communicator knows better, both are copied.
    ///
    /// # Communication
    ///
    /// Every member of the group makes the call, on memory of either kind, and waits for it.
    ///
    /// # Errors
    ///
    /// As [`Communicator::start`] and [`Work::wait`].
    fn perform(
        &self,
        call: &Prepared,
        stamp: &Stamp,
        source: &[u8],
        target: &mut [u8],
    ) -> Result<(), CommError> {
        let (given, wanted) = (Buffer::from_elements(source), BufferMut::from_elements(target));
        let filled = self.start(call, stamp, given, wanted)?.wait()?;
        target.copy_from_slice(filled.as_bytes());
        Ok(())
    }

    /// Records a call that moves nothing, so that it shows among the last calls of this rank.
    fn note(&self, stamp: &Stamp);

    /// The next number of a call among exactly these ranks, counted from 0 by each rank for itself.
    fn next_sequence(&self, scope: &Group) -> u64;

    /// Tells how this rank's closure ended. Peers that wait for it, or will, get an error that names
    /// it and the cause. Only the first departure counts.
    fn leave(&self, departure: Departure);

    /// The last calls of the ranks, as far as this communicator knows them.
    fn recorder(&self) -> Recording;
}
