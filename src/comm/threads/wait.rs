//! Waiting for a meeting, and writing the target of a call.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::deliver::deliver;
use super::hub::{Hub, Place};
use super::room::{CallReading, CallTicket, Posted};
use super::together::Together;
use crate::comm::error::list;
use crate::comm::{CallFault, CommError, Prepared, Stamp};
use crate::mem::BufferMut;
use crate::mesh::Rank;

/// How long a rank sleeps before it looks whether ranks wait for each other in a circle: longer than
/// peers usually take, short enough to be told at once.
const MOMENT: Duration = Duration::from_millis(2);

/// How long a rank sleeps at most without looking again.
const NAP: Duration = Duration::from_millis(100);

/// A plan's hash as error texts write it.
struct Hex(u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A call that was posted.
pub(super) struct Call {
    pub(super) hub: Arc<Hub>,
    pub(super) rank: Rank,
    pub(super) place: Place,
    pub(super) ticket: CallTicket,
}

impl Call {
    pub(super) fn new(hub: &Arc<Hub>, rank: Rank, place: Place, posted: Posted) -> Self {
        Self { hub: Arc::clone(hub), rank, place, ticket: posted.ticket }
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ticket.meeting().is_ended()
    }

    /// Blocks until the meeting ends; at the latest the deadline ends it.
    pub(super) fn block(&self) {
        let span = tracing::trace_span!(
            "wait",
            rank = self.rank,
            operation = self.operation_name(),
            step = self.stamp().map(|stamp| stamp.step),
            plan = self.stamp().map(|stamp| tracing::field::display(Hex(stamp.plan))),
        );
        let _waiting = span.enter();
        if self.hub.patience.spend(|| self.is_ended()) {
            return;
        }
        let entered = now();
        self.sleep(MOMENT);
        if self.is_ended() {
            return;
        }
        self.begin_to_block();
        let mut warned = false;
        while !self.is_ended() {
            let waited = now().saturating_duration_since(entered);
            let options = self.hub.options;
            if !warned && waited >= options.warn_after {
                warned = true;
                self.warn(waited);
            } else if waited >= options.timeout {
                self.end_late(waited);
            } else {
                let next = if warned { options.timeout } else { options.warn_after };
                self.sleep(next.min(options.timeout) - waited);
            }
        }
        self.hub.set_blocked(&self.hub.trouble(), self.rank, None);
    }

    fn sleep(&self, time: Duration) {
        self.ticket.meeting().bell.sleep(time, || self.is_ended());
    }

    /// Warns whom this rank misses.
    fn warn(&self, waited: Duration) {
        let missing = self.hub.missing(self.place.room.missing(self.place.number));
        if let Some(side) = self.hub.side(&self.place, self.rank) {
            tracing::warn!("{side} has waited {waited:.1?} for {}", list(&missing));
        }
    }

    /// Tells that this rank blocks, and ends the meetings of a circle that this closes.
    fn begin_to_block(&self) {
        let trouble = self.hub.trouble();
        self.hub.set_blocked(&trouble, self.rank, Some(self.place.clone()));
        let Some(circle) = self.hub.circle(&trouble, self.rank) else { return };
        let sides = circle.iter().filter_map(|(rank, place)| self.hub.side(place, *rank));
        let blocked = sides.collect();
        let error = CommError::Deadlock { blocked, recording: self.hub.recording() };
        let places: Vec<Place> = circle.into_iter().map(|(_, place)| place).collect();
        self.hub.fail(&trouble, error, &places);
    }

    /// Ends the meeting because the deadline has passed.
    fn end_late(&self, waited: Duration) {
        let trouble = self.hub.trouble();
        if self.is_ended() {
            return;
        }
        let Some(waiter) = self.hub.side(&self.place, self.rank).map(Box::new) else { return };
        let missing = self.hub.missing(self.hub.kept_by(&trouble, &self.place)).into();
        let recording = self.hub.recording();
        let error = CommError::Timeout { waiter, waited, missing, recording };
        self.hub.fail(&trouble, error, std::slice::from_ref(&self.place));
    }

    /// Has the target written after the meeting has ended.
    pub(super) fn write(&self, target: &mut [u8]) -> Result<(), CommError> {
        let Some(reading) = self.ticket.read() else { return self.without_reading() };
        let span = tracing::trace_span!(
            "move",
            rank = self.rank,
            operation = self.operation_name(),
            step = self.stamp().map(|stamp| stamp.step),
            plan = self.stamp().map(|stamp| tracing::field::display(Hex(stamp.plan))),
            bytes = self.ticket.own().map(|post| post.call.call().recv_bytes()),
        );
        let _moving = span.enter();
        match Together::of(&reading) {
            Some(together) => self.write_together(&together, &reading),
            None => deliver(self.position(), &reading, target),
        }
        Ok(())
    }

    /// What became of a call whose meeting cannot be read: it failed, or peers took back what they lent.
    fn without_reading(&self) -> Result<(), CommError> {
        let meeting = self.ticket.meeting();
        if let Some(failure) = meeting.failure() {
            return Err(failure);
        }
        // Peers that take back have seen a reduction to its end that all do together.
        if self.ticket.own().is_some_and(|post| Together::is_over(post, &meeting.share)) {
            return Ok(());
        }
        // Whoever takes back because of a deadline says why under this lock.
        let _said = self.hub.trouble();
        Err(self.hub.poisoned())
    }

    fn write_together(&self, together: &Together, reading: &CallReading<'_>) {
        together.take_part(reading);
        let is_done = || together.is_done(reading);
        // Pieces that others have claimed are done by running threads, so this wait ends by itself.
        while !self.hub.patience.spend(is_done) {
            reading.bell().sleep(NAP, is_done);
        }
    }

    pub(super) fn position(&self) -> usize {
        self.ticket.own().map_or(0, |post| post.call.position())
    }

    /// Leaves the meeting.
    pub(super) fn leave(self) {
        if let Some(meeting) = self.ticket.leave() {
            self.place.room.take_back(meeting);
        }
    }

    /// For spans.
    fn stamp(&self) -> Option<&Stamp> {
        self.ticket.own().map(|post| &post.stamp)
    }

    /// For spans.
    fn operation_name(&self) -> Option<&'static str> {
        self.ticket.own().map(|post| post.call.call().operation.name())
    }

    fn made(&self) -> Option<(Prepared, Stamp)> {
        self.ticket.own().map(|post| (post.call.clone(), post.stamp.clone()))
    }
}

/// A call on its way, whose target is still to be handed out.
pub(in crate::comm) struct Waiting {
    /// `None` once the target is written.
    call: Option<Call>,
    /// `None` once handed out.
    target: Option<BufferMut>,
    /// Of a call that is through.
    made: Option<(Prepared, Stamp)>,
}

impl Waiting {
    pub(super) fn new(call: Call, target: BufferMut) -> Self {
        Self { call: Some(call), target: Some(target), made: None }
    }

    /// Blocks until the call is done: the target.
    pub(in crate::comm) fn wait(&mut self) -> Result<BufferMut, CommError> {
        if let Some(call) = &self.call {
            call.block();
        }
        self.finish()
    }

    /// Blocks until the call is done or the time is over.
    pub(in crate::comm) fn wait_timeout(
        &mut self,
        time: Duration,
    ) -> Result<Option<BufferMut>, CommError> {
        if let Some(call) = &self.call {
            let entered = now();
            while !call.hub.patience.spend(|| call.is_ended()) {
                let waited = now().saturating_duration_since(entered);
                if waited >= time {
                    return Ok(None);
                }
                call.sleep(time - waited);
            }
            self.made = call.made();
        }
        self.finish().map(Some)
    }

    pub(in crate::comm) fn is_done(&self) -> bool {
        self.call.as_ref().is_none_or(Call::is_ended)
    }

    /// Has the target of a meeting that has ended written, and leaves.
    fn finish(&mut self) -> Result<BufferMut, CommError> {
        let (Some(call), Some(target)) = (self.call.take(), &mut self.target) else {
            return Err(self.taken());
        };
        let written = call.write(target.as_bytes_mut());
        call.leave();
        written?;
        self.target.take().ok_or_else(|| self.taken())
    }

    fn taken(&self) -> CommError {
        match &self.made {
            Some((call, stamp)) => call.invalid(stamp, CallFault::TargetTaken),
            None => {
                unreachable!("only a call that was looked at for a time can be waited for twice")
            }
        }
    }
}

/// Peers get what they wait for; a target that they may still write lives until they are through.
impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else { return };
        if let (Some(post), Some(target)) = (call.ticket.own(), self.target.take()) {
            post.keep(target);
        }
        call.leave();
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.call {
            Some(Call { rank, place, .. }) => {
                let state = if self.is_done() { "done" } else { "on its way" };
                write!(
                    f,
                    "call {} of rank {rank} among {}, {state}",
                    place.number, place.room.group
                )
            }
            None => f.write_str("a call that is through"),
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a deadline needs a clock, and only errors depend on it"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}
