//! The fault campaign: every operation and every rank with every fault, and random calls with one random
//! fault. Every rank gets an error that names the rank at fault, nobody waits longer than the deadline,
//! and the next world is as good as new. A new engine adds one line at the end of this file.

mod single;
mod schedule;
mod random;
mod verdict;
mod lending;

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use reshard::Group;
use reshard::comm::{CommError, Communicator, Operation, threads};

use super::world::{Ended, OPERATIONS, perform, run};

/// Makes a world of so many ranks whose waits end after so long.
pub(crate) type Engine = fn(usize, Duration) -> Vec<Arc<dyn Communicator>>;

/// A deadline that no test is meant to reach.
const FAR: Duration = Duration::from_secs(40);

/// A deadline that tests wait for.
const NEAR: Duration = Duration::from_millis(300);

/// How long after its deadline a wait may end.
const SLACK: Duration = Duration::from_secs(1);

fn connect_threads(world_len: usize, timeout: Duration) -> Vec<Arc<dyn Communicator>> {
    let endpoints = threads::connect(world_len, threads::Options { timeout, warn_after: FAR });
    endpoints.into_iter().map(|endpoint| Arc::new(endpoint) as Arc<dyn Communicator>).collect()
}

/// Opens when all but one of a number of ranks have passed.
struct Gate {
    passed: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    fn new() -> Self {
        Self { passed: Mutex::new(0), changed: Condvar::new() }
    }

    /// Passes when dropped.
    fn pass(&self) -> Passing<'_> {
        Passing(self)
    }

    fn wait_for(&self, ranks_len: usize) {
        let passed = self.passed.lock().unwrap();
        drop(self.changed.wait_while(passed, |passed| *passed < ranks_len).unwrap());
    }
}

struct Passing<'a>(&'a Gate);

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        *self.0.passed.lock().unwrap() += 1;
        self.0.changed.notify_all();
    }
}

/// Ends the rank's closure as a panic of the caller's would.
fn panic_now() -> ! {
    std::panic::resume_unwind(Box::new("out of marbles"))
}

/// The error of a rank that has one.
fn error_of<T>(end: &Ended<T>) -> Option<&CommError> {
    end.as_ref().and_then(|end| end.as_ref().err())
}

/// A world made after another one was closed does all it should.
fn the_next_world_works(engine: Engine, world_len: usize) {
    let group = Group::world(world_len);
    let ends = run(engine(world_len, FAR), |endpoint| {
        for operation in OPERATIONS {
            perform(endpoint, operation, &group)?;
        }
        perform(endpoint, Operation::AllGather, &group)
    });
    for end in ends {
        assert!(end.unwrap().unwrap().as_bytes().iter().all(|&byte| byte == 1));
    }
}

/// Does several things at a time, of which most wait for deadlines, until there are none left.
fn side_by_side<T: Send + Sync>(things: &[T], one: impl Fn(&T) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                while let Some(thing) =
                    things.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    one(thing);
                }
            });
        }
    });
}

macro_rules! campaign {
    ($engine:ident, $connect:path) => {
        mod $engine {
            #[test]
            fn every_operation_every_rank_every_fault() {
                super::single::check($connect);
            }
            #[test]
            fn every_operation_and_a_rank_that_comes_late() {
                super::single::check_late($connect);
            }
            #[test]
            fn random_calls_with_one_fault() {
                super::random::check($connect);
            }
            #[test]
            fn lenders_are_told_who_does_not_read() {
                super::lending::check($connect);
            }
        }
    };
}

campaign!(threads_engine, super::connect_threads);
