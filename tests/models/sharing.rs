//! Pieces of a shared piece of work: each is done once, and all see what was done.

use loom::sync::Arc;
use loom::thread;

use crate::bell::Bell;
use crate::share::Share;
use crate::tracked::Tracked;
use crate::{FOREVER, model};

const PIECES: usize = 2;

struct Work {
    share: Share,
    bell: Bell,
    pieces: [Tracked; PIECES],
}

/// Takes pieces until none is left, then waits for those of the others and reads them all.
fn take_part(work: &Work) {
    while let Some(piece) = work.share.claim(PIECES) {
        assert_eq!(work.pieces[piece].read(), 0);
        work.pieces[piece].write(1);
        if work.share.finish(PIECES) {
            work.bell.ring(|| {});
        }
    }
    let is_done = || work.share.is_finished(PIECES);
    while !is_done() {
        work.bell.sleep(FOREVER, is_done);
    }
    assert!(work.pieces.iter().all(|piece| piece.read() == 1));
}

#[test]
fn every_piece_is_done_once_and_seen_by_all() {
    model(|| {
        let pieces = [Tracked::new(0), Tracked::new(0)];
        let work = Arc::new(Work { share: Share::new(), bell: Bell::new(), pieces });
        let spawn = || {
            let work = Arc::clone(&work);
            thread::spawn(move || take_part(&work))
        };
        let ranks = [spawn(), spawn()];
        for rank in ranks {
            rank.join().unwrap();
        }
    });
}
