//! What the ranks of a world of threads share, and how calls meet in it.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Options;
use super::meeting::{Key, Open, Outcome, Post};
use crate::comm::check::check;
use crate::comm::recorder::Ring;
use crate::comm::{
    Call, CallFault, CallRecord, CallState, CommError, Departure, Missing, Recording, Side, Stamp,
};
use crate::mem::Buffer;
use crate::mesh::{Group, Rank};

/// The meeting place of a world.
pub(super) struct Hub {
    pub(super) options: Options,
    state: Mutex<State>,
    /// Told whenever a meeting ends.
    changed: Condvar,
}

/// What the lock guards.
pub(super) struct State {
    pub(super) open: BTreeMap<Key, Open>,
    pub(super) members: Vec<Member>,
    /// The error that closed the world.
    poison: Option<Arc<CommError>>,
}

/// What the hub knows of a rank.
#[derive(Default)]
pub(super) struct Member {
    ring: Ring,
    /// Calls made, by group.
    posted: BTreeMap<Group, u64>,
    /// Sequence numbers given out, by scope.
    sequences: BTreeMap<Group, u64>,
    departure: Option<Departure>,
    /// The meeting in whose end it blocks.
    pub(super) blocked: Option<Key>,
}

/// A posted call: where its meeting's outcome will be found.
pub(super) struct Ticket {
    pub(super) rank: Rank,
    pub(super) position: usize,
    pub(super) key: Key,
    pub(super) outcome: Arc<Outcome>,
}

impl Hub {
    pub(super) fn new(world_len: usize, options: Options) -> Self {
        let members = std::iter::repeat_with(Member::default).take(world_len).collect();
        let state = State { open: BTreeMap::new(), members, poison: None };
        Self { options, state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn world_len(&self) -> usize {
        self.lock().members.len()
    }

    /// Adds a valid call to its meeting; the last one to come ends the meeting.
    pub(super) fn post(
        &self,
        rank: Rank,
        position: usize,
        call: Call,
        source: Buffer,
    ) -> Result<Ticket, CommError> {
        let mut state = self.lock();
        state.check_open(rank, &call)?;
        let (key, outcome) = state.enter(rank, position, call, source);
        let ended = state.settle(&key);
        drop(state);
        if ended {
            self.changed.notify_all();
        }
        match outcome.get() {
            Some(Err(error @ CommError::Departed { .. })) => Err(error.clone()),
            _ => Ok(Ticket { rank, position, key, outcome }),
        }
    }

    pub(super) fn note(&self, rank: Rank, stamp: &Stamp) {
        self.lock().members[rank].ring.push(CallRecord::local(stamp));
    }

    pub(super) fn next_sequence(&self, rank: Rank, scope: &Group) -> u64 {
        next(&mut self.lock().members[rank].sequences, scope)
    }

    pub(super) fn leave(&self, rank: Rank, departure: Departure) {
        let mut state = self.lock();
        if state.members[rank].departure.is_some() {
            return;
        }
        state.members[rank].departure = Some(departure.clone());
        let needing = state.missing_it(rank);
        if !needing.is_empty() || departure != Departure::Returned {
            let error = state.departed(rank, needing.first());
            state.fail(error, &needing);
        }
        drop(state);
        self.changed.notify_all();
    }

    pub(super) fn recording(&self) -> Recording {
        self.lock().recording()
    }

    /// The state; a rank that panicked has not left it half changed, for no code that holds the lock
    /// panics between two changes.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends meetings with an error and closes the world.
    pub(super) fn fail(&self, state: &mut State, error: CommError, keys: &[Key]) {
        state.fail(error, keys);
        self.changed.notify_all();
    }

    /// Sleeps until a meeting ends, or the time is over, or for no reason at all.
    pub(super) fn sleep<'a>(
        &self,
        state: MutexGuard<'a, State>,
        time: Duration,
    ) -> MutexGuard<'a, State> {
        let woken = self.changed.wait_timeout(state, time);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl State {
    /// Checks that the world is not closed and the rank has not left.
    fn check_open(&self, rank: Rank, call: &Call) -> Result<(), CommError> {
        if let Some(first) = &self.poison {
            return Err(CommError::Poisoned { first: Arc::clone(first) });
        }
        if self.members[rank].departure.is_some() {
            let call = Box::new(CallRecord::of(call));
            return Err(CommError::Invalid { rank, call, fault: Box::new(CallFault::Left) });
        }
        Ok(())
    }

    fn enter(
        &mut self,
        rank: Rank,
        position: usize,
        call: Call,
        source: Buffer,
    ) -> (Key, Arc<Outcome>) {
        let member = &mut self.members[rank];
        let number = member.ring.push(CallRecord::of(&call));
        let key = (call.group.clone(), next(&mut member.posted, &call.group));
        let open = self.open.entry(key.clone()).or_insert_with(|| Open::new(call.group.len()));
        open.posts[position] = Some(Post { call, source, number });
        (key, Arc::clone(&open.outcome))
    }

    /// Ends a meeting if all members have called or one never will; whether it ended.
    fn settle(&mut self, key: &Key) -> bool {
        let open = &self.open[key];
        if open.posts.iter().all(Option::is_some) {
            self.complete(key);
            return true;
        }
        let gone = open.missing(&key.0).find(|&rank| self.members[rank].departure.is_some());
        let Some(rank) = gone else { return false };
        let error = self.departed(rank, Some(key));
        self.fail(error, std::slice::from_ref(key));
        true
    }

    /// Ends a meeting to which all members have come.
    fn complete(&mut self, key: &Key) {
        let calls: Vec<&Call> =
            self.open[key].present(&key.0).map(|(_, post)| &post.call).collect();
        if let Err(misfit) = check(&calls) {
            let sides = misfit.sides(&calls);
            let recording = self.recording();
            let error = CommError::Mismatch { difference: misfit.difference, sides, recording };
            return self.fail(error, std::slice::from_ref(key));
        }
        let Some(open) = self.open.remove(key) else { return };
        for (rank, post) in open.present(&key.0) {
            self.members[rank].ring.mark(post.number, CallState::Met);
        }
        // An outcome is set once: this meeting was open until now.
        let _ = open.outcome.set(Ok(open.posts.into_iter().flatten().collect()));
    }

    /// Ends the meetings `keys` with an error and all other open ones because of it; closes the
    /// world.
    fn fail(&mut self, error: CommError, keys: &[Key]) {
        let first = Arc::new(error);
        for (key, open) in std::mem::take(&mut self.open) {
            for (rank, post) in open.present(&key.0) {
                self.members[rank].ring.mark(post.number, CallState::Failed);
            }
            let error = match keys.contains(&key) {
                true => CommError::clone(&first),
                false => CommError::Poisoned { first: Arc::clone(&first) },
            };
            // An outcome is set once: this meeting was open until now.
            let _ = open.outcome.set(Err(error));
        }
        self.poison.get_or_insert(first);
    }

    /// The open meetings for which a rank is missing.
    fn missing_it(&self, rank: Rank) -> Vec<Key> {
        let missing = |(key, open): &(&Key, &Open)| open.missing(&key.0).any(|it| it == rank);
        self.open.iter().filter(missing).map(|(key, _)| key.clone()).collect()
    }

    fn departed(&self, rank: Rank, needed_for: Option<&Key>) -> CommError {
        let needed_by = needed_for.and_then(|key| {
            let open = self.open.get(key)?;
            let (rank, _) = open.present(&key.0).next()?;
            open.side(&key.0, rank).map(Box::new)
        });
        let departure = self.members[rank].departure.clone().unwrap_or(Departure::Returned);
        CommError::Departed { rank, departure, needed_by, recording: self.recording() }
    }

    /// Who has not called, and what they did last; empty once a meeting has ended.
    pub(super) fn missing(&self, key: &Key) -> Vec<Missing> {
        let Some(open) = self.open.get(key) else { return Vec::new() };
        let last = |rank: Rank| self.members[rank].ring.last().cloned();
        open.missing(&key.0).map(|rank| Missing { rank, last: last(rank) }).collect()
    }

    /// A rank's side of an open meeting.
    pub(super) fn side(&self, key: &Key, rank: Rank) -> Option<Side> {
        self.open.get(key)?.side(&key.0, rank)
    }

    pub(super) fn recording(&self) -> Recording {
        self.members.iter().map(|member| member.ring.to_vec()).collect()
    }
}

/// Counts one more for a group; how many there were.
fn next(counts: &mut BTreeMap<Group, u64>, group: &Group) -> u64 {
    let count = counts.entry(group.clone()).or_default();
    *count += 1;
    *count - 1
}
