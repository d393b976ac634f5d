//! What one member of a group brings to a meeting.
#![allow(unsafe_code, reason = "members read and write each other's buffers in place")]

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use crate::comm::{Prepared, Stamp};
use crate::mem::{Buffer, BufferMut};

/// One member's call, what it gives, and where it wants the result.
pub(super) struct Post {
    pub(super) call: Prepared,
    pub(super) stamp: Stamp,
    given: Given,
    wanted: Bytes,
    /// The target of a call that nobody waits for any more; kept until all have left.
    kept: Mutex<Option<BufferMut>>,
}

/// A member's source.
pub(super) enum Given {
    /// For as long as anybody reads it.
    Published(Buffer),
    /// Until its owner has seen that nobody reads it any more.
    Lent(Bytes),
}

/// Bytes somewhere in memory.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a pointer to bytes that any thread may use; whoever does says why it may.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

impl Bytes {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { start: NonNull::from(bytes).cast(), len: bytes.len() }
    }

    pub(super) fn of_mut(bytes: &mut [u8]) -> Self {
        Self { start: NonNull::from(&mut *bytes).cast(), len: bytes.len() }
    }

    pub(super) fn of_target(target: &mut BufferMut) -> Self {
        Self { start: target.as_mut_ptr(), len: target.len_bytes() }
    }
}

impl Post {
    pub(super) fn new(call: Prepared, stamp: Stamp, given: Given, wanted: Bytes) -> Self {
        Self { call, stamp, given, wanted, kept: Mutex::new(None) }
    }

    /// What this member gives.
    ///
    /// # Safety
    ///
    /// The meeting is being read: nobody who has lent something returns before that ends.
    pub(super) unsafe fn source(&self) -> &[u8] {
        match &self.given {
            Given::Published(buffer) => buffer.as_bytes(),
            // SAFETY: the owner has lent it to all who read the meeting, and does not write it.
            Given::Lent(bytes) => unsafe {
                std::slice::from_raw_parts(bytes.start.as_ptr(), bytes.len)
            },
        }
    }

    /// Bytes of this member's target.
    ///
    /// # Safety
    ///
    /// The meeting is being read, and nobody else has or gets these bytes of this target while the
    /// slice lives.
    #[allow(clippy::mut_from_ref, reason = "the bytes are not those of the post")]
    pub(super) unsafe fn target(&self, start: usize, end: usize) -> &mut [u8] {
        assert!(start <= end && end <= self.wanted.len, "a target is written within its bounds");
        // SAFETY: within the target, which lives until all have left, and for the caller alone.
        unsafe {
            std::slice::from_raw_parts_mut(self.wanted.start.as_ptr().add(start), end - start)
        }
    }

    /// Keeps the target, which others may still write, until all have left.
    pub(super) fn keep(&self, target: BufferMut) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(target);
    }
}
