//! The order of one rank's calls: those that it waits for, and those that a thread of their own makes.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use super::turns::Turns;
use super::{Error, LaunchError};
use crate::mesh::Rank;

/// One thing to do; it catches its own panics.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// One rank's calls in the order in which they are made. Jobs run on a thread that the first one starts;
/// whoever calls directly waits until they are done.
pub(super) struct Queue {
    rank: Rank,
    turns: Arc<Turns>,
    state: Mutex<State>,
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
        Self { rank, turns: Arc::new(Turns::new()), state: Mutex::default() }
    }

    /// Runs something here and now, after all jobs.
    pub(super) fn in_turn<T>(&self, run: impl FnOnce() -> T) -> T {
        self.turns.run(run)
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
        self.turns.promise();
        let sent = worker.0.send(job);
        state.worker = Some(worker);
        drop(state);
        if let Err(mpsc::SendError(job)) = sent {
            // The thread cannot have ended, but were it so, nothing may hang.
            self.turns.forget();
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
        let turns = Arc::clone(&self.turns);
        let work = move || jobs.into_iter().for_each(|job| turns.keep(job));
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
        write!(f, "Queue(rank {}, {} jobs)", self.rank, self.turns.promised())
    }
}

/// The lock's content; whoever panicked under it had not left it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
