//! Where the ranks of one group meet, call after call: the k-th calls of all members belong together.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;

use super::agreed::Agreed;
use super::meeting::{Brings, Meeting, Reading, Ticket};
use super::post::Post;
use crate::comm::check::{Misfit, Stamped, check};
use crate::comm::{CommError, Side};
use crate::mesh::{Group, Rank};

pub(super) type CallMeeting = Meeting<Post, CommError>;
pub(super) type CallTicket = Ticket<Post, CommError>;
pub(super) type CallReading<'a> = Reading<'a, Post, CommError>;

/// Ranks of a group; those of a usual one need no memory of their own.
pub(super) type Ranks = SmallVec<[Rank; 32]>;

/// The meetings of one group in one world.
pub(super) struct Room {
    pub(super) group: Group,
    state: Mutex<State>,
}

struct State {
    /// Meetings that all members have come to.
    met: u64,
    /// The meetings after those, in order.
    open: VecDeque<Arc<CallMeeting>>,
    /// Calls that each member has made.
    made: Box<[u64]>,
    /// Meetings that are over, for further rounds.
    idle: Vec<Arc<CallMeeting>>,
    agreed: Agreed,
    /// Whether the world is closed.
    closed: bool,
}

/// A call that was posted, and what came of it.
pub(super) struct Posted {
    pub(super) ticket: CallTicket,
    /// The number of the meeting.
    pub(super) number: u64,
    pub(super) outcome: PostOutcome,
}

/// What a post leads to.
pub(super) enum PostOutcome {
    /// Others have not called yet.
    Waits,
    /// All have called, and their calls fit.
    Met,
    /// All have called, but two calls do not fit.
    Misfit(Misfit, Box<[Side; 2]>),
}

impl Room {
    pub(super) fn new(group: Group, closed: bool) -> Self {
        let made = vec![0; group.len()].into();
        let state = State {
            met: 0,
            open: VecDeque::new(),
            made,
            idle: Vec::new(),
            agreed: Agreed::default(),
            closed,
        };
        Self { group, state: Mutex::new(state) }
    }

    /// Adds a member's call to its meeting; the last one to come ends the meeting. `record` is told the
    /// meeting's number before any peer can see the call. `None` if the world is closed.
    pub(super) fn post(
        &self,
        (position, brings): (usize, Brings),
        post: Post,
        record: impl FnOnce(u64),
    ) -> Option<Posted> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        let number = state.made[position];
        state.made[position] += 1;
        record(number);
        let index = (number - state.met) as usize;
        if index == state.open.len() {
            let fresh = || Arc::new(Meeting::new(self.group.len()));
            let meeting = state.idle.pop().unwrap_or_else(fresh);
            state.open.push_back(meeting);
        }
        let (ticket, all) = Meeting::sit(&state.open[index], position, post, brings);
        let outcome = if all { state.settle(&ticket) } else { PostOutcome::Waits };
        Some(Posted { ticket, number, outcome })
    }

    /// Takes back a meeting that all have left.
    pub(super) fn take_back(&self, meeting: Arc<CallMeeting>) {
        let mut state = self.lock();
        if !state.closed {
            state.idle.push(meeting);
        }
    }

    /// Ends all open meetings, each with the error for its number; nothing can be posted any more.
    pub(super) fn close(&self, error: impl Fn(u64) -> CommError) {
        let mut state = self.lock();
        state.closed = true;
        state.idle.clear();
        let met = state.met;
        let open = std::mem::take(&mut state.open);
        for (number, meeting) in (met..).zip(&open) {
            meeting.fail(error(number));
        }
    }

    /// The members that have not come to a meeting, in group order; none once it is met or the world is
    /// closed.
    pub(super) fn missing(&self, number: u64) -> Ranks {
        let state = self.lock();
        if state.closed || number < state.met {
            return Ranks::new();
        }
        let made = self.group.ranks().iter().zip(&state.made);
        made.filter(|&(_, &made)| made <= number).map(|(&rank, _)| rank).collect()
    }

    /// The open meetings to which a rank has not come, with a member that has.
    pub(super) fn needing(&self, rank: Rank) -> Vec<(u64, Rank)> {
        let Some(position) = self.group.position(rank) else { return Vec::new() };
        let state = self.lock();
        let open = state.met..state.met + state.open.len() as u64;
        let needing = open.filter(|&number| state.made[position] <= number);
        let present = |number| {
            let came = (0..self.group.len()).find(|&member| state.made[member] > number)?;
            Some((number, self.group.ranks()[came]))
        };
        needing.filter_map(present).collect()
    }

    /// Whether all members have come to a meeting.
    pub(super) fn has_met(&self, number: u64) -> bool {
        number < self.lock().met
    }

    /// Whether the world is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// The state; nothing panics between two changes of it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Ends the first open meeting, in which all sit now.
    fn settle(&mut self, ticket: &CallTicket) -> PostOutcome {
        let Some(posts) = ticket.seated() else { return PostOutcome::Waits };
        if !self.agreed.knows(posts.clone()) {
            let calls: Vec<Stamped<'_>> =
                posts.clone().map(|post| (post.call.call(), &post.stamp)).collect();
            if let Err(misfit) = check(&calls) {
                let sides = misfit.sides(&calls);
                return PostOutcome::Misfit(misfit, sides);
            }
            self.agreed.learn(posts);
        }
        self.met += 1;
        self.open.pop_front();
        ticket.meeting().meet();
        PostOutcome::Met
    }
}
