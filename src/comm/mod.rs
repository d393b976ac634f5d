//! Bytes among the ranks of a group. Nothing here has heard of tensors or layouts.
//!
//! A rank describes its side of a collective as a [`Call`] and submits it to a [`Communicator`]
//! together with the buffer it gives and the buffer it wants filled; the [`Work`] it gets back
//! yields the filled buffer. [`threads`] is the communicator for ranks that are threads.

mod operation;
mod call;
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

    /// Makes a call; never blocks on peers. The work owns source and target until it is done.
    ///
    /// # Communication
    ///
    /// Every member of the group makes the call.
    ///
    /// # Errors
    ///
    /// [`CommError::Invalid`] if the call cannot be, whatever the peers do. Anything else closes the
    /// world.
    fn submit(&self, call: Call, source: Buffer, target: BufferMut) -> Result<Work, CommError>;

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
