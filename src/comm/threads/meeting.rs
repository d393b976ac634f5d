//! Where the calls of a group's members meet: one seat a member, one round a call.
//!
//! A member sits down with what it brings. Once all sit and the meeting is declared met, every member
//! reads what all have brought, in place, until it leaves. The last to leave takes everything off the
//! seats, and the meeting may serve another round. Nothing here allocates after a meeting was made.
#![allow(unsafe_code, reason = "members read each other's seats without a lock")]

use super::bell::Bell;
use super::share::Share;
use crate::base::sync::{
    Arc, AtomicBool, AtomicU32, AtomicUsize, Mutex, MutexGuard, Ordering, Place, PoisonError,
};

const OPEN: u32 = 0;
const MET: u32 = 1;
const FAILED: u32 = 2;

/// Added to the number of readers when what one member only lent was taken back.
const REVOKED: usize = 1 << (usize::BITS - 1);

/// A meeting of members that bring a `T` each, or fail with an `E`.
pub(super) struct Meeting<T, E> {
    seats: Box<[Place<Option<T>>]>,
    /// How many seats are taken; held by whoever writes a seat.
    taken: Mutex<usize>,
    /// Rounds that are over.
    rounds: AtomicUsize,
    state: AtomicU32,
    failure: Mutex<Option<E>>,
    /// Whether a member has only lent what it brought, and so waits for its readers.
    lent: AtomicBool,
    /// Members that read what was lent.
    readers: AtomicUsize,
    /// Members that have left: how many, and who.
    left: AtomicUsize,
    gone: Box<[AtomicBool]>,
    /// Rung when the meeting ends, when a share is finished, and when a round with lenders is over.
    pub(super) bell: Bell,
    /// What members do together once they have met.
    pub(super) share: Share,
}

/// How a member brings what it brings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Brings {
    /// For good.
    Given,
    /// Until it takes it back.
    Lent,
}

// SAFETY: a seat is written by one thread, under `taken`, before the meeting is met, and
// emptied by the last to leave, when nobody reads; in between it is only read, by many at once.
unsafe impl<T: Send + Sync, E: Send> Sync for Meeting<T, E> {}

impl<T, E: Clone> Meeting<T, E> {
    pub(super) fn new(seats: usize) -> Self {
        Self {
            seats: std::iter::repeat_with(|| Place::new(None)).take(seats).collect(),
            taken: Mutex::new(0),
            rounds: AtomicUsize::new(0),
            state: AtomicU32::new(OPEN),
            failure: Mutex::new(None),
            lent: AtomicBool::new(false),
            readers: AtomicUsize::new(0),
            left: AtomicUsize::new(0),
            gone: std::iter::repeat_with(|| AtomicBool::new(false)).take(seats).collect(),
            bell: Bell::new(),
            share: Share::new(),
        }
    }

    /// Takes a seat that nobody has taken in this round: the ticket, and whether all sit now.
    pub(super) fn sit(
        meeting: &Arc<Self>,
        seat: usize,
        brought: T,
        brings: Brings,
    ) -> (Ticket<T, E>, bool) {
        let mut taken = meeting.taken();
        let fresh = meeting.seats[seat].with_mut(|place| {
            // SAFETY: whoever writes a seat holds `taken`, and nobody reads a seat without a ticket
            // for it before the meeting is met, for which this seat is missing.
            let place = unsafe { &mut *place };
            let fresh = place.is_none();
            if fresh {
                *place = Some(brought);
            }
            fresh
        });
        assert!(fresh, "seat {seat} was taken twice in one round");
        if brings == Brings::Lent {
            // Relaxed is enough: it is published with the seats.
            meeting.lent.store(true, Ordering::Relaxed);
        }
        *taken += 1;
        let all = *taken == meeting.seats.len();
        // Relaxed is enough: it is written under `taken`.
        let round = meeting.rounds.load(Ordering::Relaxed);
        (Ticket { meeting: Arc::clone(meeting), seat, round, left: false }, all)
    }

    /// Declares the meeting met: all sit and fit each other.
    pub(super) fn meet(&self) {
        // Release publishes the seats to whoever reads MET with Acquire.
        self.bell.ring(|| self.state.store(MET, Ordering::Release));
    }

    /// Ends the meeting with an error, unless it has ended.
    pub(super) fn fail(&self, error: E) {
        self.bell.ring(|| {
            // Relaxed is enough: `meet` and `fail` of one meeting happen under the lock of its room.
            if self.state.load(Ordering::Relaxed) == OPEN {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.state.store(FAILED, Ordering::Release);
            }
        });
    }

    pub(super) fn is_ended(&self) -> bool {
        // Acquire shows what was written before the meeting ended: the seats or the error.
        self.state.load(Ordering::Acquire) != OPEN
    }

    pub(super) fn failure(&self) -> Option<E> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether all have left a round.
    pub(super) fn is_over(&self, round: usize) -> bool {
        // Acquire: what any member did in the round is over.
        self.rounds.load(Ordering::Acquire) != round
    }

    /// Forbids those that have not left a round to begin to read: their seats, and whether anybody
    /// reads still. `None` if the round is over.
    pub(super) fn revoke(&self, round: usize) -> Option<(Vec<usize>, bool)> {
        let _no_new_round = self.taken();
        if self.is_over(round) {
            return None;
        }
        // Acquire: what readers did is over once their number is seen to be 0.
        let readers = self.readers.fetch_or(REVOKED, Ordering::Acquire) & !REVOKED;
        // Relaxed is enough: who stays is only for a message.
        let stays = |&seat: &usize| !self.gone[seat].load(Ordering::Relaxed);
        let stay = (0..self.seats.len()).filter(stays).collect();
        Some((stay, readers > 0))
    }

    /// Empties the seats after all have left.
    fn clear(&self) {
        let mut taken = self.taken();
        for (seat, gone) in self.seats.iter().zip(&self.gone) {
            // SAFETY: all have left, so nobody reads a seat, and whoever writes one holds `taken`.
            seat.with_mut(|place| drop(unsafe { (*place).take() }));
            gone.store(false, Ordering::Relaxed);
        }
        // Relaxed is enough, here and above: the next round is published by the lock of the room.
        self.share.reset();
        self.lent.store(false, Ordering::Relaxed);
        self.readers.store(0, Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
        self.state.store(OPEN, Ordering::Relaxed);
        *taken = 0;
        // Release, for lenders that wait for it.
        self.rounds.fetch_add(1, Ordering::Release);
    }

    fn posts(&self) -> impl Iterator<Item = &T> + Clone {
        // SAFETY: callers hold a ticket and have seen that all seats are taken, so nobody writes one
        // before they have left.
        let post = |seat: &Place<Option<T>>| seat.with(|place| unsafe { (*place).as_ref() });
        self.seats.iter().filter_map(post)
    }

    fn post(&self, seat: usize) -> Option<&T> {
        // SAFETY: as in `posts`; or it is the caller's own seat, which it has taken.
        self.seats[seat].with(|place| unsafe { (*place).as_ref() })
    }

    fn taken(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A member's right to read what all have brought. Whoever gives it up has left.
pub(super) struct Ticket<T, E: Clone> {
    meeting: Arc<Meeting<T, E>>,
    seat: usize,
    round: usize,
    left: bool,
}

impl<T, E: Clone> Ticket<T, E> {
    pub(super) fn meeting(&self) -> &Arc<Meeting<T, E>> {
        &self.meeting
    }

    pub(super) fn round(&self) -> usize {
        self.round
    }

    /// What this member brought.
    pub(super) fn own(&self) -> Option<&T> {
        self.meeting.post(self.seat)
    }

    /// What all have brought, once all sit; for whoever decides whether they fit.
    pub(super) fn seated(&self) -> Option<impl Iterator<Item = &T> + Clone> {
        let all = *self.meeting.taken() == self.meeting.seats.len();
        all.then(|| self.meeting.posts())
    }

    /// What all have brought, to read until it is dropped; `None` before the meeting is met, if it
    /// failed, and once something lent was taken back.
    pub(super) fn read(&self) -> Option<Reading<'_, T, E>> {
        let meeting = &*self.meeting;
        if meeting.state.load(Ordering::Acquire) != MET {
            return None;
        }
        // Relaxed is enough: MET has published it.
        if !meeting.lent.load(Ordering::Relaxed) {
            return Some(Reading { meeting, counted: false });
        }
        // Acquire keeps the reads behind it; whoever revokes sets its mark in the same place, so one of
        // both sees the other.
        let readers = meeting.readers.fetch_add(1, Ordering::Acquire);
        let reading = Reading { meeting, counted: true };
        (readers & REVOKED == 0).then_some(reading)
    }

    /// Leaves; the last one gets the meeting back, empty and ready for another round.
    pub(super) fn leave(mut self) -> Option<Arc<Meeting<T, E>>> {
        self.left = true;
        self.leave_seat().then(|| Arc::clone(&self.meeting))
    }

    /// Leaves; whether this was the last one, which clears the meeting.
    fn leave_seat(&self) -> bool {
        let meeting = &*self.meeting;
        // Relaxed is enough: it is only for a message.
        meeting.gone[self.seat].store(true, Ordering::Relaxed);
        // Relaxed is enough: if the meeting was met, that has published it; if not, nobody waits. Read
        // now, for once this member has left another round may begin.
        let lent = meeting.lent.load(Ordering::Relaxed);
        // Release ends this member's reads; Acquire shows the last one the end of all others'.
        let left = meeting.left.fetch_add(1, Ordering::AcqRel) + 1;
        if left < meeting.seats.len() {
            return false;
        }
        if lent {
            meeting.bell.ring(|| meeting.clear());
        } else {
            meeting.clear();
        }
        true
    }
}

impl<T, E: Clone> Drop for Ticket<T, E> {
    fn drop(&mut self) {
        if !self.left {
            self.leave_seat();
        }
    }
}

/// The right to read what all have brought, now.
pub(super) struct Reading<'a, T, E: Clone> {
    meeting: &'a Meeting<T, E>,
    counted: bool,
}

impl<T, E: Clone> Reading<'_, T, E> {
    /// What the members have brought, in the order of their seats.
    pub(super) fn posts(&self) -> impl Iterator<Item = &T> + Clone {
        self.meeting.posts()
    }

    /// What one member has brought.
    pub(super) fn post(&self, seat: usize) -> Option<&T> {
        self.meeting.post(seat)
    }

    /// What the members do together.
    pub(super) fn share(&self) -> &Share {
        &self.meeting.share
    }

    /// The bell of the meeting.
    pub(super) fn bell(&self) -> &Bell {
        &self.meeting.bell
    }
}

impl<T, E: Clone> Drop for Reading<'_, T, E> {
    fn drop(&mut self) {
        if !self.counted {
            return;
        }
        // Release ends the reads.
        let before = self.meeting.readers.fetch_sub(1, Ordering::Release);
        if before == REVOKED + 1 {
            self.meeting.bell.ring(|| {});
        }
    }
}
