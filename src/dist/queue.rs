//! The order of one rank's calls: those that it waits for, and those that a thread of their own makes.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use super::{Error, LaunchError};
use crate::mesh::Rank;

/// One thing to do; it catches its own panics.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// One rank's calls in the order in which they are made. Jobs run on a thread that the first one starts;
/// whoever calls directly waits until they are done.
pub(super) struct Queue {
    rank: Rank,
    shared: Arc<Shared>,
    state: Mutex<State>,
}

/// What the queue shares with its thread.
#[derive(Default)]
struct Shared {
    /// Jobs that are not done yet.
    pending: Mutex<usize>,
    /// Told whenever a job is done.
    done: Condvar,
    /// Held by whoever makes calls.
    turn: Mutex<()>,
}

#[derive(Default)]
struct State {
    worker: Option<(mpsc::Sender<Job>, JoinHandle<()>)>,
    closed: bool,
    /// The first error that nobody can take any more.
    lost: Option<Error>,
}

impl Queue {
    pub(super) fn new(rank: Rank) -> Self {
        Self { rank, shared: Arc::default(), state: Mutex::default() }
    }

    /// Runs something here and now, after all jobs.
    pub(super) fn in_turn<T>(&self, run: impl FnOnce() -> T) -> T {
        let pending = lock(&self.shared.pending);
        let idle = self.shared.done.wait_while(pending, |pending| *pending > 0);
        drop(idle.unwrap_or_else(PoisonError::into_inner));
        let _turn = lock(&self.shared.turn);
        run()
    }

    /// Takes in a job, to run after all before it. A closed queue runs it here and now: its calls fail.
    pub(super) fn push(&self, job: Job) -> Result<(), Error> {
        let mut state = lock(&self.state);
        if state.closed {
            drop(state);
            self.in_turn(job);
            return Ok(());
        }
        let worker = match state.worker.take() {
            Some(worker) => worker,
            None => self.start()?,
        };
        *lock(&self.shared.pending) += 1;
        let sent = worker.0.send(job);
        state.worker = Some(worker);
        drop(state);
        if let Err(mpsc::SendError(job)) = sent {
            // The thread cannot have ended, but were it so, nothing may hang.
            *lock(&self.shared.pending) -= 1;
            self.in_turn(job);
        }
        Ok(())
    }

    /// Notes the error of a job whose result nobody can take any more.
    pub(super) fn lose(&self, error: Error) {
        lock(&self.state).lost.get_or_insert(error);
    }

    /// Waits for all jobs and ends the thread; the first error that nobody took.
    pub(super) fn close(&self) -> Option<Error> {
        let mut state = lock(&self.state);
        state.closed = true;
        let worker = state.worker.take();
        drop(state);
        if let Some((jobs, thread)) = worker {
            drop(jobs);
            // Jobs catch their own panics, so the thread ends well.
            let _ = thread.join();
        }
        lock(&self.state).lost.take()
    }

    fn start(&self) -> Result<(mpsc::Sender<Job>, JoinHandle<()>), Error> {
        let (sender, jobs) = mpsc::channel::<Job>();
        let shared = Arc::clone(&self.shared);
        let work = move || {
            for job in jobs {
                let turn = lock(&shared.turn);
                job();
                drop(turn);
                *lock(&shared.pending) -= 1;
                shared.done.notify_all();
            }
        };
        let name = format!("rank {}, in the background", self.rank);
        match thread::Builder::new().name(name).spawn(work) {
            Ok(thread) => Ok((sender, thread)),
            Err(error) => {
                Err(LaunchError::Thread { rank: self.rank, cause: error.to_string() }.into())
            }
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue(rank {}, {} jobs)", self.rank, lock(&self.shared.pending))
    }
}

/// The lock's content; whoever panicked under it had not left it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
