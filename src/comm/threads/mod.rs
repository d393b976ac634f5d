//! The communicator for ranks that are threads of one process.
//!
//! Each group has a room, in which the k-th calls of all its members meet. A call publishes its source;
//! once all members have called, each copies or combines straight from its peers' published buffers
//! into its own target, in group order: nothing is packed, nobody waits for the readers of what it gave,
//! and replicas are bit-identical. Large reductions that all members want are shared among them.

mod bell;
mod share;
mod meeting;
mod post;
mod seat;
mod agreed;
mod room;
mod hub;
mod deadlock;
mod deliver;
mod together;
mod wait;
mod lend;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{Call, Prepared};
use super::{CallFault, CommError, Communicator, Departure, Recording, Stamp, Work};
use crate::mem::{Buffer, BufferMut};
use crate::mesh::{Group, Rank};
use hub::{Hub, Place};
use meeting::Brings;
use post::{Bytes, Given, Post};
use seat::Seat;

pub(super) use wait::Waiting;

/// How long ranks wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// After this long, counted from the waiter's entry, a wait fails and closes the world.
    pub timeout: Duration,
    /// After this long a waiting rank warns, through `tracing`, which ranks it misses.
    pub warn_after: Duration,
}

impl Default for Options {
    /// Fails after 300 s, warns after 10 s.
    fn default() -> Self {
        Self { timeout: Duration::from_secs(300), warn_after: Duration::from_secs(10) }
    }
}

/// A new world of `n` ranks: their endpoints, by rank.
///
/// # Example
///
/// ```
/// use reshard::comm::{Call, Communicator, threads};
/// use reshard::mem::{Buffer, BufferMut};
/// use reshard::{DType, Group, Reduction};
///
/// let group = Group::world(3);
/// let endpoints = threads::connect(3, threads::Options::default());
/// std::thread::scope(|scope| {
///     for endpoint in endpoints {
///         let group = &group;
///         scope.spawn(move || {
///             let rank = endpoint.rank();
///             let call = Call::all_reduce(group, DType::I32, Reduction::Sum)
///                 .send_run(rank, 2)
///                 .recv_run(rank, 2);
///             let source = Buffer::from_elements(&[rank as i32, 10]);
///             let work = endpoint.submit(call, source, BufferMut::zeroed(8)).unwrap();
///             let sum = work.wait().unwrap().freeze();
///             assert_eq!(sum.as_elements::<i32>().unwrap(), [3, 30]);
///         });
///     }
/// });
/// ```
#[must_use]
pub fn connect(n: usize, options: Options) -> Vec<Endpoint> {
    let hub = Arc::new(Hub::new(n, options));
    (0..n).map(|rank| Endpoint { rank, hub: Arc::clone(&hub) }).collect()
}

/// One rank's endpoint in a world of threads.
///
/// Dropping it is leaving: as panicked while its thread unwinds, else as returned.
pub struct Endpoint {
    rank: Rank,
    hub: Arc<Hub>,
}

impl Communicator for Endpoint {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn world_len(&self) -> usize {
        self.hub.world_len()
    }

    fn name(&self) -> &'static str {
        "threads"
    }

    fn takes_strided(&self) -> bool {
        true
    }

    fn prepare(
        &self,
        call: Call,
        source_bytes: usize,
        target_bytes: usize,
    ) -> Result<Prepared, CommError> {
        let (rank, world_len) = (self.rank, self.world_len());
        Prepared::new(call, (rank, world_len), (source_bytes, target_bytes), |call| Seat {
            room: self.hub.room(&call.group),
            number: self.hub.next_number(),
            world: Arc::clone(&self.hub.mark),
        })
    }

    fn start(
        &self,
        call: &Prepared,
        stamp: &Stamp,
        source: Buffer,
        mut target: BufferMut,
    ) -> Result<Work, CommError> {
        let seat = self.seat(call, stamp, (source.len_bytes(), target.len_bytes()))?;
        let wanted = Bytes::of_target(&mut target);
        let post = Post::new(call.clone(), stamp.clone(), Given::Published(source), wanted);
        let posted = self.post(seat, post, Brings::Given)?;
        Ok(Waiting::new(posted, target).into())
    }

    fn perform(
        &self,
        call: &Prepared,
        stamp: &Stamp,
        source: &[u8],
        target: &mut [u8],
    ) -> Result<(), CommError> {
        let seat = self.seat(call, stamp, (source.len(), target.len()))?;
        let (given, wanted) = (Given::Lent(Bytes::of(source)), Bytes::of_mut(target));
        let post = Post::new(call.clone(), stamp.clone(), given, wanted);
        lend::perform(self.post(seat, post, Brings::Lent)?, target)
    }

    fn note(&self, stamp: &Stamp) {
        self.hub.note(self.rank, stamp);
    }

    fn next_sequence(&self, scope: &Group) -> u64 {
        self.hub.next_sequence(self.rank, scope)
    }

    fn leave(&self, departure: Departure) {
        self.hub.leave(self.rank, departure);
    }

    fn recorder(&self) -> Recording {
        self.hub.recording()
    }
}

impl Endpoint {
    /// Where a prepared call is made, if it may be made here with buffers of these lengths.
    fn seat<'a>(
        &self,
        call: &'a Prepared,
        stamp: &Stamp,
        (source_bytes, target_bytes): (usize, usize),
    ) -> Result<&'a Seat, CommError> {
        let own =
            |seat: &&Seat| Arc::ptr_eq(&seat.world, &self.hub.mark) && call.rank() == self.rank;
        let Some(seat) = call.engine::<Seat>().filter(own) else {
            return Err(call.invalid(stamp, CallFault::Foreign));
        };
        match call.check_lens(source_bytes, target_bytes) {
            None => Ok(seat),
            Some(fault) => Err(call.invalid(stamp, fault)),
        }
    }

    fn post(&self, seat: &Seat, post: Post, brings: Brings) -> Result<wait::Call, CommError> {
        let position = post.call.position();
        let posted = self.hub.post(&seat.room, (self.rank, position), post, brings)?;
        let place = Place { room: Arc::clone(&seat.room), number: posted.number };
        Ok(wait::Call::new(&self.hub, self.rank, place, posted))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint(threads, rank {} of {})", self.rank, self.world_len())
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.leave(match std::thread::panicking() {
            true => Departure::Panicked { cause: "its thread unwinds".into() },
            false => Departure::Returned,
        });
    }
}
