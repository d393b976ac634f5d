//! A rank that only lent what it brought writes it again as soon as it has it back, never earlier.

use loom::sync::Arc;
use loom::thread;

use crate::meeting::{Brings, Meeting};
use crate::tracked::Tracked;
use crate::{FOREVER, model};

type Lent = Meeting<Arc<Tracked>, &'static str>;

/// The meeting, met: seat 0 lends, seat 1 gives.
fn met(
    lent: &Arc<Tracked>,
) -> (Arc<Lent>, [crate::meeting::Ticket<Arc<Tracked>, &'static str>; 2]) {
    let meeting = Arc::new(Lent::new(2));
    let (lender, _) = Meeting::sit(&meeting, 0, Arc::clone(lent), Brings::Lent);
    let given = Arc::new(Tracked::new(2));
    let (reader, all) = Meeting::sit(&meeting, 1, given, Brings::Given);
    assert!(all);
    meeting.meet();
    (meeting, [lender, reader])
}

#[test]
fn a_lender_waits_until_all_have_left() {
    model(|| {
        let lent = Arc::new(Tracked::new(1));
        let (meeting, [lender, reader]) = met(&lent);
        let rank = thread::spawn(move || {
            let reading = reader.read().unwrap();
            assert_eq!(reading.post(0).unwrap().read(), 1);
            drop(reading);
            drop(reader);
        });
        let round = lender.round();
        drop(lender);
        while !meeting.is_over(round) {
            meeting.bell.sleep(FOREVER, || meeting.is_over(round));
        }
        lent.write(3);
        rank.join().unwrap();
    });
}

#[test]
fn what_is_taken_back_is_not_read() {
    model(|| {
        let lent = Arc::new(Tracked::new(1));
        let (meeting, [lender, reader]) = met(&lent);
        let rank = thread::spawn(move || {
            if let Some(reading) = reader.read() {
                assert_eq!(reading.post(0).unwrap().read(), 1);
            }
            reader
        });
        let round = lender.round();
        drop(lender);
        while let Some((stay, true)) = meeting.revoke(round) {
            assert_eq!(stay, [1]);
            thread::yield_now();
        }
        lent.write(3);
        drop(rank.join().unwrap());
    });
}
