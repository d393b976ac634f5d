//! Reductions that all members want whole: each member in turn takes a piece, combines its terms once,
//! and writes it to everybody's target.
//!
//! Whoever waits takes pieces until none is left, so nobody waits for a member that is elsewhere, and a
//! piece is read from memory once instead of once for each member.
#![allow(unsafe_code, reason = "members write their pieces into each other's targets")]

use super::deliver::{FITS, terms};
use super::post::Post;
use super::room::CallReading;
use super::share::Share;
use crate::comm::{Call, Operation};
use crate::mem::{Combine, reduce_part};

/// Bytes of a piece: enough to be worth a claim, few enough that nobody waits long for the last.
const PIECE_BYTES: usize = 128 << 10;

/// Bytes combined before they are copied to the other targets: still in the innermost caches then.
const TILE_BYTES: usize = 16 << 10;

/// From so many bytes on, divided by the number of members, it pays to do a reduction together: below,
/// waiting for each other once more costs more than combining everything oneself. Measured on two
/// cores: both took equal times at 256 KiB of 2 ranks, at about 100 KiB of 4 and at some 30 KiB of 8.
const WORTH_BYTES: usize = 512 << 10;

/// A reduction to be done together.
pub(super) struct Together {
    combine: Combine,
    /// Bytes of the result.
    len: usize,
    pieces: usize,
}

impl Together {
    /// The reduction that all members do together, if they do.
    pub(super) fn of(reading: &CallReading<'_>) -> Option<Self> {
        let call = reading.post(0)?.call.call();
        let Operation::AllReduce { .. } = call.operation else { return None };
        let combine = call.operation.combine(call.dtype)?;
        let len = call.recv_bytes();
        let members = call.group.len();
        let worth = members > 1 && len >= WORTH_BYTES / members;
        let simple = || reading.posts().all(|post| target_start(post).is_some());
        (worth && simple()).then(|| Self { combine, len, pieces: len.div_ceil(PIECE_BYTES) })
    }

    /// Whether the call of `post` was one, and all targets are written.
    pub(super) fn is_over(post: &Post, share: &Share) -> bool {
        let pieces = post.call.call().recv_bytes().div_ceil(PIECE_BYTES);
        pieces > 0 && share.is_finished(pieces)
    }

    /// Takes pieces until none is left.
    pub(super) fn take_part(&self, reading: &CallReading<'_>) {
        let share = reading.share();
        while let Some(piece) = share.claim(self.pieces) {
            let start = piece * PIECE_BYTES;
            self.write_piece(reading, start, self.len.min(start + PIECE_BYTES));
            if share.finish(self.pieces) {
                reading.bell().ring(|| {});
            }
        }
    }

    /// Whether all targets are written.
    pub(super) fn is_done(&self, reading: &CallReading<'_>) -> bool {
        reading.share().is_finished(self.pieces)
    }

    /// Combines the bytes `start..end` of the result and writes them to all targets.
    fn write_piece(&self, reading: &CallReading<'_>, start: usize, end: usize) {
        let terms = terms(0, reading);
        let bytes = self.combine.dtype.bytes();
        for from in (start..end).step_by(TILE_BYTES) {
            let to = end.min(from + TILE_BYTES);
            let mut posts = reading.posts();
            let Some(first) = posts.next() else { return };
            let tile = tile(first, reading, from, to);
            reduce_part(&terms, from / bytes, tile, self.combine).expect(FITS);
            for other in posts {
                self::tile(other, reading, from, to).copy_from_slice(tile);
            }
        }
    }
}

/// The bytes `from..to` of the result in a member's target.
#[allow(clippy::mut_from_ref, reason = "the bytes are not those of the post")]
fn tile<'a>(post: &'a Post, _: &'a CallReading<'_>, from: usize, to: usize) -> &'a mut [u8] {
    let start = target_start(post).unwrap_or_default();
    // SAFETY: the meeting is being read, and the bytes are of a piece that only the caller has
    // claimed: pieces do not overlap, and each member's result lies in a target of its own.
    unsafe { post.target(start + from, start + to) }
}

/// Where the result lies in a member's target, if it is one run.
fn target_start(post: &Post) -> Option<usize> {
    let call: &Call = post.call.call();
    match &call.recv.first()?.windows[..] {
        [window] if window.is_contiguous(call.dtype.bytes()) => Some(window.offset_bytes()),
        _ => None,
    }
}
