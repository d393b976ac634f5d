//! What the ranks of a world of threads share beside the rooms in which they meet: who is there, what
//! each did last, and how the world ended.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::Options;
use super::bell::Patience;
use super::meeting::Brings;
use super::post::Post;
use super::room::{PostOutcome, Posted, Room};
use super::seat::WorldMark;
use crate::comm::recorder::{Made, Ring};
use crate::comm::{
    CallFault, CallRecord, CallState, CommError, Departure, Missing, Prepared, Recording, Side,
    Stamp,
};
use crate::mesh::{Group, Rank};

/// What the ranks of a world share.
///
/// Locks are taken in this order: `trouble`, `rooms`, a room, a member's; none of the same kind twice.
pub(super) struct Hub {
    pub(super) options: Options,
    pub(super) patience: Patience,
    pub(super) mark: Arc<WorldMark>,
    pub(super) members: Box<[Member]>,
    rooms: Mutex<BTreeMap<Group, Arc<Room>>>,
    /// Prepared calls so far.
    prepared: AtomicU64,
    /// Whether any rank has left; set before the rooms are searched for those that need it.
    anyone_left: AtomicBool,
    /// The error that closed the world; set before the rooms are closed.
    poison: OnceLock<Arc<CommError>>,
    /// Held by whoever ends meetings before all have come, or looks who waits for whom.
    trouble: Mutex<()>,
}

/// What the hub knows of a rank.
pub(super) struct Member {
    ring: Mutex<Ring>,
    /// Sequence numbers given out, by scope.
    sequences: Mutex<BTreeMap<Group, u64>>,
    departure: OnceLock<Departure>,
    /// The meeting in whose end it blocks.
    blocked: Mutex<Option<Place>>,
}

/// A meeting: its room, and its number there.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) room: Arc<Room>,
    pub(super) number: u64,
}

impl Place {
    pub(super) fn is(&self, room: &Arc<Room>, number: u64) -> bool {
        Arc::ptr_eq(&self.room, room) && self.number == number
    }
}

/// The right to end meetings.
pub(super) type Trouble<'a> = MutexGuard<'a, ()>;

impl Hub {
    pub(super) fn new(world_len: usize, options: Options) -> Self {
        let member = || Member {
            ring: Mutex::new(Ring::new()),
            sequences: Mutex::default(),
            departure: OnceLock::new(),
            blocked: Mutex::default(),
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            options,
            patience: Patience::among(world_len, cores),
            mark: Arc::new(WorldMark),
            members: std::iter::repeat_with(member).take(world_len).collect(),
            rooms: Mutex::default(),
            prepared: AtomicU64::new(0),
            anyone_left: AtomicBool::new(false),
            poison: OnceLock::new(),
            trouble: Mutex::default(),
        }
    }

    /// The room of a group.
    pub(super) fn room(&self, group: &Group) -> Arc<Room> {
        let mut rooms = lock(&self.rooms);
        if let Some(room) = rooms.get(group) {
            return Arc::clone(room);
        }
        // Whoever closes the world says so before it closes the rooms that there are.
        let room = Arc::new(Room::new(group.clone(), self.poison.get().is_some()));
        rooms.insert(group.clone(), Arc::clone(&room));
        room
    }

    pub(super) fn world_len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn next_number(&self) -> u64 {
        // Relaxed is enough: numbers only have to differ.
        self.prepared.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a call to its meeting.
    pub(super) fn post(
        &self,
        room: &Arc<Room>,
        (rank, position): (Rank, usize),
        post: Post,
        brings: Brings,
    ) -> Result<Posted, CommError> {
        if self.members[rank].departure.get().is_some() {
            return Err(post.call.invalid(&post.stamp, CallFault::Left));
        }
        self.check_not_closed()?;
        let (call, stamp) = (post.call.clone(), post.stamp.clone());
        // Recorded before any peer can see it.
        let record = |number| {
            lock(&self.members[rank].ring).push(Made { stamp, call: Some((call, number)) });
        };
        let Some(posted) = room.post((position, brings), post, record) else {
            return Err(self.poisoned());
        };
        match &posted.outcome {
            PostOutcome::Met => {}
            PostOutcome::Waits => self.check_there(room, posted.number)?,
            PostOutcome::Misfit(misfit, sides) => {
                let trouble = self.trouble();
                let (difference, sides) = (misfit.difference, sides.clone());
                let recording = self.recording();
                let error = CommError::Mismatch { difference, sides, recording };
                let place = Place { room: Arc::clone(room), number: posted.number };
                self.fail(&trouble, error, std::slice::from_ref(&place));
            }
        }
        Ok(posted)
    }

    /// Ends a meeting to which a rank that has left will never come.
    fn check_there(&self, room: &Arc<Room>, number: u64) -> Result<(), CommError> {
        // Relaxed is enough: whoever left says so before it looks into the room, under the lock that
        // this thread has held since; either it has seen the call, or this thread sees that it left.
        if !self.anyone_left.load(Ordering::Relaxed) {
            return Ok(());
        }
        let trouble = self.trouble();
        let missing = room.missing(number);
        let gone = missing.into_iter().find(|&rank| self.members[rank].departure.get().is_some());
        let Some(rank) = gone else { return Ok(()) };
        let place = Place { room: Arc::clone(room), number };
        let needing = room.needing(rank).into_iter().find(|&(needing, _)| needing == number);
        let error = self.departed(rank, needing.map(|(_, needing)| (&place, needing)));
        self.fail(&trouble, error.clone(), std::slice::from_ref(&place));
        Err(error)
    }

    pub(super) fn note(&self, rank: Rank, stamp: &Stamp) {
        lock(&self.members[rank].ring).push(Made { stamp: stamp.clone(), call: None });
    }

    pub(super) fn next_sequence(&self, rank: Rank, scope: &Group) -> u64 {
        let mut sequences = lock(&self.members[rank].sequences);
        if let Some(next) = sequences.get_mut(scope) {
            *next += 1;
            return *next - 1;
        }
        sequences.insert(scope.clone(), 1);
        0
    }

    pub(super) fn leave(&self, rank: Rank, departure: Departure) {
        let trouble = self.trouble();
        if self.members[rank].departure.set(departure.clone()).is_err() {
            return;
        }
        // Relaxed is enough, see `check_there`.
        self.anyone_left.store(true, Ordering::Relaxed);
        let mut needing = Vec::new();
        for room in self.rooms() {
            let place = |(number, member)| (Place { room: Arc::clone(&room), number }, member);
            needing.extend(room.needing(rank).into_iter().map(place));
        }
        if !needing.is_empty() || departure != Departure::Returned {
            let error =
                self.departed(rank, needing.first().map(|(place, member)| (place, *member)));
            let places: Vec<Place> = needing.into_iter().map(|(place, _)| place).collect();
            self.fail(&trouble, error, &places);
        }
    }

    pub(super) fn trouble(&self) -> Trouble<'_> {
        lock(&self.trouble)
    }

    /// Ends the meetings `places` with an error and all other open ones because of it; closes the world.
    pub(super) fn fail(&self, _: &Trouble<'_>, error: CommError, places: &[Place]) {
        let first = Arc::new(error);
        // What closed the world stays what closed it.
        let _ = self.poison.set(Arc::clone(&first));
        for room in self.rooms() {
            room.close(|number| match places.iter().any(|place| place.is(&room, number)) {
                true => CommError::clone(&first),
                false => CommError::Poisoned { first: Arc::clone(&first) },
            });
        }
    }

    pub(super) fn check_not_closed(&self) -> Result<(), CommError> {
        match self.poison.get() {
            Some(first) => Err(CommError::Poisoned { first: Arc::clone(first) }),
            None => Ok(()),
        }
    }

    /// The error of calls after the world was closed.
    pub(super) fn poisoned(&self) -> CommError {
        let first = self.poison.get().expect("a world says why it is closed before it is");
        CommError::Poisoned { first: Arc::clone(first) }
    }

    fn departed(&self, rank: Rank, needing: Option<(&Place, Rank)>) -> CommError {
        let side = |(place, member): (&Place, Rank)| self.side(place, member).map(Box::new);
        let departure = self.members[rank].departure.get().cloned();
        CommError::Departed {
            rank,
            departure: departure.unwrap_or(Departure::Returned),
            needed_by: needing.and_then(side),
            recording: self.recording(),
        }
    }

    /// Says in whose end a rank blocks, or that it does not any more.
    pub(super) fn set_blocked(&self, _: &Trouble<'_>, rank: Rank, place: Option<Place>) {
        *lock(&self.members[rank].blocked) = place;
    }

    /// The meeting in whose end a rank blocks, unless that has ended.
    pub(super) fn blocked_in(&self, _: &Trouble<'_>, rank: Rank) -> Option<Place> {
        let place = lock(&self.members[rank].blocked).clone()?;
        (!place.room.is_closed() && !place.room.has_met(place.number)).then_some(place)
    }

    /// What ranks that have not come to a meeting did last.
    pub(super) fn missing(&self, ranks: impl IntoIterator<Item = Rank>) -> Vec<Missing> {
        let last = |rank: Rank| {
            let made = lock(&self.members[rank].ring).iter().next_back().cloned();
            made.map(|made| self.record(&made))
        };
        ranks.into_iter().map(|rank| Missing { rank, last: last(rank) }).collect()
    }

    /// A rank's side of a meeting, as long as its ring has it.
    pub(super) fn side(&self, place: &Place, rank: Rank) -> Option<Side> {
        let is_it = |made: &&Made| {
            let call = made.call.as_ref();
            call.is_some_and(|(call, number)| {
                *number == place.number && call.call().group == place.room.group
            })
        };
        let made = lock(&self.members[rank].ring).iter().rev().find(is_it).cloned()?;
        Some(Side { rank, call: self.record(&made) })
    }

    pub(super) fn recording(&self) -> Recording {
        let calls = |member: &Member| {
            let made: Vec<Made> = lock(&member.ring).iter().cloned().collect();
            made.iter().map(|made| self.record(made)).collect::<Vec<CallRecord>>()
        };
        self.members.iter().map(calls).collect()
    }

    /// The record of a call, in the state in which it is now.
    fn record(&self, made: &Made) -> CallRecord {
        let state = match &made.call {
            None => CallState::Local,
            Some((call, number)) => self.state_of(call, *number),
        };
        made.record(state)
    }

    fn state_of(&self, call: &Prepared, number: u64) -> CallState {
        let Some(seat) = call.engine::<super::seat::Seat>() else { return CallState::Waiting };
        if seat.room.has_met(number) {
            CallState::Met
        } else if seat.room.is_closed() {
            CallState::Failed
        } else {
            CallState::Waiting
        }
    }

    fn rooms(&self) -> Vec<Arc<Room>> {
        lock(&self.rooms).values().cloned().collect()
    }
}

/// The lock's content; whoever panicked under it had not left it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
