//! Waiting for a meeting to end.

use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use super::deliver::deliver;
use super::hub::{Hub, State, Ticket};
use crate::comm::error::list;
use crate::comm::work::Pending;
use crate::comm::{CallFault, CallRecord, CommError};
use crate::mem::BufferMut;

/// A posted call whose target is still to be written.
pub(super) struct Waiting {
    hub: Arc<Hub>,
    ticket: Ticket,
    /// `None` once handed out.
    target: Option<BufferMut>,
}

impl Waiting {
    pub(super) fn new(hub: Arc<Hub>, ticket: Ticket, target: BufferMut) -> Self {
        Self { hub, ticket, target: Some(target) }
    }

    /// Blocks until the meeting ends; at the latest the deadline ends it.
    fn block(&self) {
        if self.is_done() {
            return;
        }
        let entered = now();
        let mut warned = false;
        let mut state = self.hub.lock();
        state.members[self.ticket.rank].blocked = Some(self.ticket.key.clone());
        self.end_circle(&mut state);
        while !self.is_done() {
            let waited = now().saturating_duration_since(entered);
            let options = self.hub.options;
            if !warned && waited >= options.warn_after {
                warned = true;
                state = self.warn(state, waited);
            } else if waited >= options.timeout {
                self.end_late(&mut state, waited);
            } else {
                let next = if warned { options.timeout } else { options.warn_after };
                state = self.hub.sleep(state, next.min(options.timeout) - waited);
            }
        }
        state.members[self.ticket.rank].blocked = None;
    }

    /// Warns whom this rank misses. Not under the lock, for a subscriber may do anything.
    fn warn<'a>(&'a self, state: MutexGuard<'a, State>, waited: Duration) -> MutexGuard<'a, State> {
        let missing = state.missing(&self.ticket.key);
        let side = state.side(&self.ticket.key, self.ticket.rank);
        drop(state);
        if let Some(side) = side {
            tracing::warn!("{side} has waited {waited:.1?} for {}", list(&missing));
        }
        self.hub.lock()
    }

    /// Ends the meetings of a circle that this rank's blocking has closed.
    fn end_circle(&self, state: &mut MutexGuard<'_, State>) {
        let Some(ranks) = state.circle(self.ticket.rank) else { return };
        let keys: Vec<_> =
            ranks.iter().filter_map(|&rank| state.members[rank].blocked.clone()).collect();
        let sides = ranks.iter().zip(&keys).filter_map(|(&rank, key)| state.side(key, rank));
        let blocked = sides.collect();
        let error = CommError::Deadlock { blocked, recording: state.recording() };
        self.hub.fail(state, error, &keys);
    }

    /// Ends the meeting because the deadline has passed.
    fn end_late(&self, state: &mut MutexGuard<'_, State>, waited: Duration) {
        let Ticket { rank, key, .. } = &self.ticket;
        let Some(waiter) = state.side(key, *rank).map(Box::new) else { return };
        let missing = state.missing(key).into();
        let error = CommError::Timeout { waiter, waited, missing, recording: state.recording() };
        self.hub.fail(state, error, std::slice::from_ref(key));
    }

    /// Writes the target of a meeting that has ended.
    fn finish(&mut self) -> Result<Option<BufferMut>, CommError> {
        let Some(outcome) = self.ticket.outcome.get() else { return Ok(None) };
        let posts = outcome.as_ref().map_err(CommError::clone)?;
        let Some(mut target) = self.target.take() else {
            return Err(CommError::Invalid {
                rank: self.ticket.rank,
                call: Box::new(CallRecord::of(&posts[self.ticket.position].call)),
                fault: Box::new(CallFault::TargetTaken),
            });
        };
        deliver(self.ticket.position, posts, &mut target);
        Ok(Some(target))
    }
}

impl Pending for Waiting {
    fn wait(&mut self) -> Result<BufferMut, CommError> {
        loop {
            self.block();
            if let Some(target) = self.finish()? {
                return Ok(target);
            }
        }
    }

    fn wait_timeout(&mut self, time: Duration) -> Result<Option<BufferMut>, CommError> {
        let entered = now();
        let mut state = self.hub.lock();
        while !self.is_done() {
            let waited = now().saturating_duration_since(entered);
            if waited >= time {
                return Ok(None);
            }
            state = self.hub.sleep(state, time - waited);
        }
        drop(state);
        self.finish()
    }

    fn is_done(&self) -> bool {
        self.ticket.outcome.get().is_some()
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ticket { rank, key: (group, index), .. } = &self.ticket;
        let state = if self.is_done() { "done" } else { "on its way" };
        write!(f, "call {index} of rank {rank} among {group}, {state}")
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a deadline needs a clock, and only errors depend on it"
)]
fn now() -> Instant {
    Instant::now()
}
