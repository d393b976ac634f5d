//! Writing one member's target from the buffers that the others gave.

use super::meeting::Post;
use crate::comm::{Call, Part};
use crate::mem::{BufferMut, Combine, Term, Window, copy, reduce};

const FITS: &str = "windows, counts and types were checked before the calls met";

/// Writes the target of the member at `own`: copies each peer's part, or combines the terms of all in
/// group order.
pub(super) fn deliver(own: usize, posts: &[Post], target: &mut BufferMut) {
    let call = &posts[own].call;
    match call.operation.combine(call.dtype) {
        Some(combine) => combine_terms(own, posts, target, combine),
        None => copy_parts(own, posts, target),
    }
}

fn copy_parts(own: usize, posts: &[Post], target: &mut BufferMut) {
    let call = &posts[own].call;
    for part in &call.recv {
        let peer = &posts[part.peer];
        let given = windows_to(&peer.call, part.peer, own);
        let bytes = call.dtype.bytes();
        copy(peer.source.as_bytes(), given, target.as_bytes_mut(), &part.windows, bytes)
            .expect(FITS);
    }
}

fn combine_terms(own: usize, posts: &[Post], target: &mut BufferMut, combine: Combine) {
    let Some(part) = posts[own].call.recv.first() else { return };
    let mut terms: Vec<Term<'_>> = Vec::with_capacity(posts.len());
    for (position, post) in posts.iter().enumerate() {
        terms.push((post.source.as_bytes(), windows_to(&post.call, position, own)));
    }
    reduce(&terms, target.as_bytes_mut(), &part.windows, combine).expect(FITS);
}

fn windows_to(call: &Call, from: usize, to: usize) -> &[Window] {
    call.part_to(from, to).map_or(&[], |Part { windows, .. }| windows)
}
