//! Ranks of a group meet, read each other's seats, leave, and meet again in the same meeting.

use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::meeting::{Brings, Meeting, Ticket};
use crate::tracked::Tracked;
use crate::{FOREVER, model};

type Seats = Meeting<Tracked, &'static str>;

/// As much of a room as it takes.
pub(crate) struct Room {
    seats: usize,
    meetings: Mutex<Meetings>,
}

#[derive(Default)]
struct Meetings {
    open: Option<Arc<Seats>>,
    idle: Vec<Arc<Seats>>,
}

impl Room {
    pub(crate) fn new(seats: usize) -> Self {
        Self { seats, meetings: Mutex::new(Meetings::default()) }
    }

    pub(crate) fn post(&self, seat: usize, value: u32) -> Ticket<Tracked, &'static str> {
        let mut meetings = self.meetings.lock().unwrap();
        let meeting = meetings.open.take().or_else(|| meetings.idle.pop());
        let meeting = meeting.unwrap_or_else(|| Arc::new(Meeting::new(self.seats)));
        let (ticket, all) = Meeting::sit(&meeting, seat, Tracked::new(value), Brings::Given);
        if all {
            assert_eq!(ticket.seated().unwrap().count(), self.seats);
            meeting.meet();
        } else {
            meetings.open = Some(meeting);
        }
        ticket
    }

    fn take_back(&self, meeting: Arc<Seats>) {
        self.meetings.lock().unwrap().idle.push(meeting);
    }
}

/// One call: what all have brought.
fn call(room: &Room, seat: usize, value: u32) -> Vec<u32> {
    let ticket = room.post(seat, value);
    while !ticket.meeting().is_ended() {
        ticket.meeting().bell.sleep(FOREVER, || ticket.meeting().is_ended());
    }
    let reading = ticket.read().unwrap();
    let all = reading.posts().map(Tracked::read).collect();
    drop(reading);
    if let Some(meeting) = ticket.leave() {
        room.take_back(meeting);
    }
    all
}

#[test]
fn two_ranks_meet_twice() {
    model(|| {
        let room = Arc::new(Room::new(2));
        let other = Arc::clone(&room);
        let rank = thread::spawn(move || {
            for round in 0..2 {
                assert_eq!(call(&other, 1, 10 * round + 1), [10 * round, 10 * round + 1]);
            }
        });
        for round in 0..2 {
            assert_eq!(call(&room, 0, 10 * round), [10 * round, 10 * round + 1]);
        }
        rank.join().unwrap();
    });
}

#[test]
fn three_ranks_meet_once() {
    model(|| {
        let room = Arc::new(Room::new(3));
        let spawn = |seat| {
            let room = Arc::clone(&room);
            thread::spawn(move || assert_eq!(call(&room, seat, seat as u32), [0, 1, 2]))
        };
        let ranks = [spawn(1), spawn(2)];
        assert_eq!(call(&room, 0, 0), [0, 1, 2]);
        for rank in ranks {
            rank.join().unwrap();
        }
    });
}

/// A rank that gives up its call leaves what it brought to the others.
#[test]
fn a_dropped_ticket_leaves_its_seat_to_read() {
    model(|| {
        let room = Arc::new(Room::new(2));
        let other = Arc::clone(&room);
        let rank = thread::spawn(move || drop(other.post(1, 7)));
        assert_eq!(call(&room, 0, 5), [5, 7]);
        rank.join().unwrap();
    });
}
