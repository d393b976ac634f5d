//! The communicator for ranks that are threads of one process.
//!
//! A call publishes the source and meets the calls of its peers in a hub that the world shares. Once
//! all members have called, each copies or combines straight from its peers' published buffers into
//! its own target, in group order: nothing is packed, nobody waits for the readers of what it gave,
//! and replicas are bit-identical.

mod hub;
mod meeting;
mod deadlock;
mod wait;
mod deliver;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{Call, validate};
use super::{CallRecord, CommError, Communicator, Departure, Recording, Stamp, Work};
use crate::mem::{Buffer, BufferMut};
use crate::mesh::{Group, Rank};
use hub::Hub;
use wait::Waiting;

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

    fn submit(&self, call: Call, source: Buffer, target: BufferMut) -> Result<Work, CommError> {
        let bytes = (source.len_bytes(), target.len_bytes());
        let valid = validate::validate(&call, self.rank, self.world_len(), bytes);
        let position = valid.map_err(|fault| CommError::Invalid {
            rank: self.rank,
            call: Box::new(CallRecord::of(&call)),
            fault: Box::new(fault),
        })?;
        let ticket = self.hub.post(self.rank, position, call, source)?;
        Ok(Work::new(Waiting::new(Arc::clone(&self.hub), ticket, target)))
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
