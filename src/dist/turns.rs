//! Whose turn it is to make one rank's calls: the background's, job after job, or the caller's.

use crate::base::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, PoisonError};

/// The order of one rank's calls: whoever calls directly waits for all jobs that were promised before.
pub(super) struct Turns {
    /// Jobs that were promised and are not done yet.
    promised: AtomicUsize,
    /// Rung, under `idle`, when a job is done.
    done: Condvar,
    idle: Mutex<()>,
    /// Held by whoever makes calls.
    turn: Mutex<()>,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self {
            promised: AtomicUsize::new(0),
            done: Condvar::new(),
            idle: Mutex::new(()),
            turn: Mutex::new(()),
        }
    }

    /// Announces a job; the same thread's direct calls wait for it from now on.
    pub(super) fn promise(&self) {
        // Relaxed is enough: a thread sees its own writes, and the channel orders it for the worker.
        self.promised.fetch_add(1, Ordering::Relaxed);
    }

    /// Does a job that was promised.
    pub(super) fn keep(&self, job: impl FnOnce()) {
        let turn = lock(&self.turn);
        job();
        drop(turn);
        self.forget();
    }

    /// Takes back the promise of a job, or notes that it is done.
    pub(super) fn forget(&self) {
        // Release, see `promised`; under the lock, so that nobody falls asleep on an old number.
        let idle = lock(&self.idle);
        self.promised.fetch_sub(1, Ordering::Release);
        drop(idle);
        self.done.notify_all();
    }

    /// Runs something here and now, after all jobs.
    pub(super) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        if self.promised() > 0 {
            let mut idle = lock(&self.idle);
            while self.promised() > 0 {
                idle = self.done.wait(idle).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let _turn = lock(&self.turn);
        run()
    }

    /// How many jobs are not done yet.
    pub(super) fn promised(&self) -> usize {
        // Acquire shows what the jobs that are done have done.
        self.promised.load(Ordering::Acquire)
    }
}

/// The lock's content; whoever panicked under it had not left it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
