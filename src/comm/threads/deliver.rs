//! Writing one member's target from what the others have brought.
#![allow(unsafe_code, reason = "members read each other's sources in place")]

use smallvec::SmallVec;

use super::post::Post;
use super::room::CallReading;
use crate::comm::{Call, Part};
use crate::mem::{Combine, Term, Window, copy, reduce};

/// Windows, counts and types were checked before the calls met.
pub(super) const FITS: &str = "windows, counts and types were checked before the calls met";

/// The terms of a reduction, in group order.
pub(super) type Terms<'a> = SmallVec<[Term<'a>; 16]>;

/// Writes the target of the member at `own`: copies each peer's part, or combines the terms of all in
/// group order.
pub(super) fn deliver(own: usize, reading: &CallReading<'_>, target: &mut [u8]) {
    let Some(post) = reading.post(own) else { return };
    let call = post.call.call();
    match call.operation.combine(call.dtype) {
        Some(combine) => combine_terms(own, reading, target, combine),
        None => copy_parts(own, call, reading, target),
    }
}

fn copy_parts(own: usize, call: &Call, reading: &CallReading<'_>, target: &mut [u8]) {
    for part in &call.recv {
        let Some(peer) = reading.post(part.peer) else { continue };
        let given = windows_to(peer, part.peer, own);
        let bytes = call.dtype.bytes();
        copy(source(peer, reading), given, target, &part.windows, bytes).expect(FITS);
    }
}

fn combine_terms(own: usize, reading: &CallReading<'_>, target: &mut [u8], combine: Combine) {
    let windows = reading.post(own).and_then(|post| post.call.call().recv.first());
    let Some(Part { windows, .. }) = windows else { return };
    reduce(&terms(own, reading), target, windows, combine).expect(FITS);
}

/// What each member gives the one at `to`, in group order.
pub(super) fn terms<'a>(to: usize, reading: &'a CallReading<'_>) -> Terms<'a> {
    let posts = reading.posts().enumerate();
    posts.map(|(from, post)| (source(post, reading), windows_to(post, from, to))).collect()
}

/// What a member gives, for as long as the meeting is read.
fn source<'a>(post: &'a Post, _: &'a CallReading<'_>) -> &'a [u8] {
    // SAFETY: the meeting is being read for as long as the slice lives.
    unsafe { post.source() }
}

fn windows_to(post: &Post, from: usize, to: usize) -> &[Window] {
    post.call.call().part_to(from, to).map_or(&[], |Part { windows, .. }| windows)
}
