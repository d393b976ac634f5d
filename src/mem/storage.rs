//! Where the bytes of a buffer live.

use std::fmt;

use crate::base::Element;

/// Host buffers start at a multiple of this many bytes: a cache line, and any vector register.
const ALIGNMENT: usize = 64;

/// The memory behind a buffer. Device memory will be a further variant.
pub(super) enum Storage {
    /// Host memory of our own, which can become writable again once it has one owner.
    Host(HostBytes),
    /// Host memory taken over from a typed vector; only ever read.
    Adopted(Box<dyn Adopted>),
}

impl Storage {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Storage::Host(host) => host.bytes(),
            Storage::Adopted(adopted) => adopted.bytes(),
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Storage::Host(_) => "host",
            Storage::Adopted(_) => "adopted",
        };
        write!(f, "{name}, {} B", self.bytes().len())
    }
}

/// Host bytes that start at a multiple of [`ALIGNMENT`].
pub(super) struct HostBytes {
    /// Longer than `len`, so that an aligned stretch fits wherever the allocation lies.
    allocation: Box<[u8]>,
    start: usize,
    len: usize,
}

impl HostBytes {
    pub(super) fn zeroed(len: usize) -> Self {
        let slack = if len == 0 { 0 } else { ALIGNMENT - 1 };
        let allocation = vec![0; len + slack].into_boxed_slice();
        let start = allocation.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        Self { start: start.min(slack), allocation, len }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.allocation[self.start..self.start + self.len]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.allocation[self.start..self.start + self.len]
    }
}

/// A typed vector read as bytes.
pub(super) trait Adopted: Send + Sync {
    fn bytes(&self) -> &[u8];
}

impl<T: Element> Adopted for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}
