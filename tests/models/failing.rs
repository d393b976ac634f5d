//! A meeting that fails wakes whoever waits for it, once, with the error.

use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::meeting::{Brings, Meeting};
use crate::tracked::Tracked;
use crate::{FOREVER, model};

#[test]
fn who_waits_is_told() {
    model(|| {
        let meeting = Arc::new(Meeting::<Tracked, &str>::new(2));
        let (ticket, all) = Meeting::sit(&meeting, 0, Tracked::new(1), Brings::Given);
        assert!(!all);
        let other = Arc::clone(&meeting);
        let closer = thread::spawn(move || other.fail("closed"));
        while !meeting.is_ended() {
            meeting.bell.sleep(FOREVER, || meeting.is_ended());
        }
        assert!(ticket.read().is_none());
        assert_eq!(meeting.failure(), Some("closed"));
        assert!(ticket.leave().is_none());
        closer.join().unwrap();
    });
}

/// The last rank comes while the world is closed: both happen under the lock of the room, and whichever
/// is first holds for all.
#[test]
fn a_meeting_is_met_or_failed_for_all() {
    model(|| {
        let room = Arc::new(Mutex::new(false));
        let meeting = Arc::new(Meeting::<Tracked, &str>::new(1));
        let (other_room, other) = (Arc::clone(&room), Arc::clone(&meeting));
        let closer = thread::spawn(move || {
            let mut closed = other_room.lock().unwrap();
            *closed = true;
            other.fail("closed");
        });
        let closed = room.lock().unwrap();
        let was_closed = *closed;
        let (ticket, all) = Meeting::sit(&meeting, 0, Tracked::new(1), Brings::Given);
        if all && !was_closed {
            meeting.meet();
        }
        drop(closed);
        closer.join().unwrap();
        assert_eq!(ticket.read().is_some(), !was_closed);
        assert_eq!(meeting.failure().is_some(), was_closed);
    });
}
