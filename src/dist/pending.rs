//! Redistributions in the background.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::redistribute::Job;
use super::{DistTensor, Error, World};
use crate::comm::Departure;
use crate::mem::Buffer;

/// A redistribution that is carried out in the background.
#[must_use = "a redistribution is waited for where its tensor is needed"]
pub struct Redistribution {
    job: Arc<Job>,
    pending: Arc<Pending>,
}

impl Redistribution {
    pub(super) fn new(job: Arc<Job>, pending: Arc<Pending>) -> Self {
        Self { job, pending }
    }

    /// Blocks until it is done: the tensor in its new layout.
    ///
    /// # Errors
    ///
    /// [`Error::Comm`] if ranks cannot do it together, at the latest when a deadline passes.
    pub fn wait(self) -> Result<DistTensor, Error> {
        let state = self.pending.changed.wait_while(self.pending.state(), State::is_running);
        let done = state.unwrap_or_else(PoisonError::into_inner).take();
        self.tensor(done)
    }

    /// Blocks until it is done or the time is over: the tensor, or `None`, which leaves it on its way.
    ///
    /// # Errors
    ///
    /// As [`Redistribution::wait`]; also if the tensor has been handed out already.
    pub fn wait_timeout(&mut self, time: Duration) -> Result<Option<DistTensor>, Error> {
        let Pending { changed, .. } = &*self.pending;
        let woken = changed.wait_timeout_while(self.pending.state(), time, State::is_running);
        let (mut state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        if state.is_running() {
            return Ok(None);
        }
        let done = state.take();
        drop(state);
        self.tensor(done).map(Some)
    }

    /// Whether [`Redistribution::wait`] would return at once.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !self.pending.state().is_running()
    }

    fn tensor(&self, done: Option<Result<Option<Buffer>, Error>>) -> Result<DistTensor, Error> {
        let taken = || Error::engine("a redistribution in the background", "its tensor was taken");
        Ok(self.job.finish(done.ok_or_else(taken)??))
    }
}

impl Drop for Redistribution {
    fn drop(&mut self) {
        let state = std::mem::replace(&mut *self.pending.state(), State::Dropped);
        if let State::Done(Err(error)) = state {
            self.job.world().lose(error);
        }
    }
}

impl fmt::Debug for Redistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_done() { "done" } else { "on its way" };
        write!(f, "Redistribution({:?}, {state})", self.job.world())
    }
}

/// Where the result will be.
#[derive(Default)]
pub(super) struct Pending {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
enum State {
    #[default]
    Running,
    Done(Result<Option<Buffer>, Error>),
    /// The handle is gone.
    Dropped,
    Taken,
}

impl State {
    fn is_running(&mut self) -> bool {
        matches!(self, State::Running)
    }

    /// The result, once.
    fn take(&mut self) -> Option<Result<Option<Buffer>, Error>> {
        match std::mem::replace(self, State::Taken) {
            State::Done(result) => Some(result),
            State::Running | State::Dropped | State::Taken => None,
        }
    }
}

impl Pending {
    /// Runs the redistribution and puts its result where the handle finds it; an error that no handle
    /// will find goes to the world.
    pub(super) fn settle(
        &self,
        world: &World,
        run: impl FnOnce() -> Result<Option<Buffer>, Error>,
    ) {
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
            Err(Error::engine("a redistribution in the background", Departure::panicked(&*payload)))
        });
        let result = world.noted(result);
        let mut state = self.state();
        match (&*state, result) {
            (State::Dropped, Err(error)) => world.lose(error),
            (State::Dropped, Ok(_)) => {}
            (State::Running | State::Done(_) | State::Taken, result) => {
                *state = State::Done(result);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
