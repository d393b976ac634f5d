//! Work in pieces that whoever waits for it takes a share of.

use crate::base::sync::{AtomicUsize, Ordering};

/// Pieces of one piece of work: each is claimed by one thread, which does it and says so.
pub(super) struct Share {
    claimed: AtomicUsize,
    finished: AtomicUsize,
}

impl Share {
    pub(super) fn new() -> Self {
        Self { claimed: AtomicUsize::new(0), finished: AtomicUsize::new(0) }
    }

    /// A piece of `pieces` that nobody has claimed, if there is one.
    pub(super) fn claim(&self, pieces: usize) -> Option<usize> {
        // Relaxed is enough: that numbers are given out once each is all that counts here; what a piece
        // needs was published before any thread could claim it.
        let piece = self.claimed.fetch_add(1, Ordering::Relaxed);
        (piece < pieces).then_some(piece)
    }

    /// Says that a claimed piece is done; whether it was the last of them.
    pub(super) fn finish(&self, pieces: usize) -> bool {
        // Release publishes what this thread wrote for the piece; additions of other threads continue
        // the sequence, so whoever reads the full count with Acquire sees the pieces of all.
        self.finished.fetch_add(1, Ordering::Release) + 1 == pieces
    }

    /// Whether all pieces are done, and what was written for them is seen.
    pub(super) fn is_finished(&self, pieces: usize) -> bool {
        self.finished.load(Ordering::Acquire) >= pieces
    }

    /// Begins anew; no thread has a share any more.
    pub(super) fn reset(&self) {
        // Relaxed is enough: the next work is published by a meeting, with all that was written before.
        self.claimed.store(0, Ordering::Relaxed);
        self.finished.store(0, Ordering::Relaxed);
    }
}
