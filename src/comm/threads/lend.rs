//! Calls on memory that is only lent: they return when nobody uses it any more.

use std::sync::Arc;
use std::time::Duration;

use super::hub::{Hub, Place};
use super::room::CallMeeting;
use super::wait::{Call, now};
use crate::comm::CommError;
use crate::mesh::Rank;

/// How long a lender sleeps at most before it looks whether its world is closed.
const NAP: Duration = Duration::from_millis(5);

/// Waits for a call, has the target written, and waits until nobody uses source and target any more.
pub(super) fn perform(call: Call, target: &mut [u8]) -> Result<(), CommError> {
    let lender = Lender::of(&call);
    call.block();
    let written = call.write(target);
    call.leave();
    written?;
    lender.wait()
}

/// A rank that must not return before it has back what it lent; dropping takes it back.
struct Lender {
    hub: Arc<Hub>,
    rank: Rank,
    place: Place,
    meeting: Arc<CallMeeting>,
    round: usize,
}

impl Lender {
    fn of(call: &Call) -> Self {
        Self {
            hub: Arc::clone(&call.hub),
            rank: call.rank,
            place: call.place.clone(),
            meeting: Arc::clone(call.ticket.meeting()),
            round: call.ticket.round(),
        }
    }

    /// Waits until all have left the meeting, the deadline passes, or the world is closed, which takes
    /// back what was lent.
    fn wait(self) -> Result<(), CommError> {
        let is_over = || self.meeting.is_over(self.round);
        let entered = now();
        while !self.hub.patience.spend(is_over) {
            if self.hub.check_not_closed().is_err() {
                // This rank's call is done; who has not read by now learns why nothing goes on.
                return Ok(());
            }
            let waited = now().saturating_duration_since(entered);
            if waited >= self.hub.options.timeout {
                return self.end_late(waited);
            }
            self.meeting.bell.sleep(NAP, is_over);
        }
        Ok(())
    }

    /// Takes back what was lent because the deadline has passed, which closes the world.
    fn end_late(&self, waited: Duration) -> Result<(), CommError> {
        let trouble = self.hub.trouble();
        let Some((stay, _)) = self.meeting.revoke(self.round) else { return Ok(()) };
        let ranks = self.place.room.group.ranks();
        let missing = stay.into_iter().map(|seat| ranks[seat]).collect();
        let Some(lender) = self.hub.side(&self.place, self.rank).map(Box::new) else {
            return Ok(());
        };
        let error = CommError::Unread { lender, waited, missing, recording: self.hub.recording() };
        self.hub.fail(&trouble, error.clone(), &[]);
        Err(error)
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        while let Some((_, true)) = self.meeting.revoke(self.round) {
            self.meeting.bell.sleep(NAP, || self.meeting.is_over(self.round));
        }
    }
}
