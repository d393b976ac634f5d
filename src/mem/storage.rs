//! Blocks of memory that count their owners themselves.
//!
//! A block is one allocation: a header of a cache line, then the bytes. So handing a block from owner
//! to owner, sharing it and giving it back to its pool never asks the allocator for anything.
#![allow(unsafe_code, reason = "the count of a block's owners lives in the block")]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Weak;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use super::pool::Shelves;
use crate::base::Element;

/// What stands before the bytes. Its alignment is that of the bytes: a cache line, and any vector
/// register.
#[repr(C, align(64))]
struct Header {
    /// How many [`Storage`] handles there are; of no meaning while a [`Memory`] holds the block.
    owners: AtomicUsize,
    /// The first byte: behind the header, or a vector's.
    data: NonNull<u8>,
    /// How many bytes its owners see.
    len: usize,
    /// How many bytes there are behind the header.
    capacity: usize,
    /// Where the block goes when its last owner leaves; dangling if it is freed then.
    home: Weak<Shelves>,
    /// The vector whose bytes these are; such bytes are only ever read.
    vector: Option<Box<dyn Send + Sync>>,
}

/// A block without owners. Dropping it frees it.
pub(super) struct Memory {
    header: NonNull<Header>,
}

// SAFETY: a `Memory` is the only handle of its block, and all that a header holds may be sent.
unsafe impl Send for Memory {}

impl Memory {
    /// A block of `capacity` bytes, all 0, that goes back to `home`.
    pub(super) fn zeroed(capacity: usize, home: Weak<Shelves>) -> Self {
        let layout = layout(capacity);
        // SAFETY: the layout is not empty, for it holds a header.
        let start = unsafe { alloc_zeroed(layout) };
        // SAFETY: the allocation was just made with this layout, and nobody else knows of it.
        unsafe { Self::place(start, capacity, home) }
    }

    /// A block that holds a copy of these bytes.
    fn copied(bytes: &[u8]) -> Self {
        let layout = layout(bytes.len());
        // SAFETY: the layout is not empty, for it holds a header.
        let start = unsafe { alloc(layout) };
        // SAFETY: the allocation was just made with this layout, and nobody else knows of it.
        let memory = unsafe { Self::place(start, bytes.len(), Weak::new()) };
        let data = memory.header().data.as_ptr();
        // SAFETY: `bytes.len()` bytes lie behind the header, in an allocation of their own. From here
        // on all of them are initialised.
        unsafe { data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        memory
    }

    /// A header for the bytes of a vector.
    fn adopted<T: Element>(vector: Vec<T>) -> Self {
        // SAFETY: the layout is not empty, for it holds a header.
        let start = unsafe { alloc(layout(0)) };
        // SAFETY: the allocation was just made with this layout, and nobody else knows of it.
        let mut memory = unsafe { Self::place(start, 0, Weak::new()) };
        let header = memory.header_mut();
        // What the vector points to stays where it is when the vector itself moves.
        header.data = NonNull::from(vector.as_slice()).cast();
        header.vector = Some(Box::new(vector));
        memory
    }

    /// Writes the header of a block without owners.
    ///
    /// # Safety
    ///
    /// `start` comes from an allocation with `layout(capacity)` that nobody else uses, or is null.
    unsafe fn place(start: *mut u8, capacity: usize, home: Weak<Shelves>) -> Self {
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout(capacity)) };
        // SAFETY: the bytes start behind the header, within the allocation or at its end.
        let data = unsafe { start.add(size_of::<Header>()) };
        let owners = AtomicUsize::new(0);
        let header = Header { owners, data, len: 0, capacity, home, vector: None };
        let place = start.cast::<Header>();
        // SAFETY: the allocation is as long as a header at least, aligned to one, and ours.
        unsafe { place.write(header) };
        Self { header: place }
    }

    /// How many bytes the block has room for.
    pub(super) fn capacity(&self) -> usize {
        self.header().capacity
    }

    fn header(&self) -> &Header {
        // SAFETY: the header was written when the block was made, and lives as long as this handle.
        unsafe { self.header.as_ref() }
    }

    fn header_mut(&mut self) -> &mut Header {
        // SAFETY: as in `header`; and this is the block's only handle.
        unsafe { self.header.as_mut() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let layout = layout(self.capacity());
        // SAFETY: this is the block's only handle, so nobody sees the header any more.
        unsafe { self.header.drop_in_place() };
        // SAFETY: the block was allocated with this layout.
        unsafe { dealloc(self.header.as_ptr().cast(), layout) };
    }
}

/// A header and so many bytes.
fn layout(capacity: usize) -> Layout {
    let layout = Layout::new::<Header>();
    let size = layout.size().checked_add(capacity);
    let layout = size.and_then(|size| Layout::from_size_align(size, layout.align()).ok());
    layout.unwrap_or_else(|| panic!("a buffer of {capacity} bytes is longer than memory can be"))
}

/// One owner of a block. The last one gives the block back to its pool, or frees it.
pub(super) struct Storage {
    header: NonNull<Header>,
}

// SAFETY: the header is only read while there is a `Storage`, but for the count, which is atomic; the
// bytes are only read, but for a sole owner, who may be on any thread, for none of them cares where.
unsafe impl Send for Storage {}
// SAFETY: a shared `Storage` gives its bytes to read, and clones of itself.
unsafe impl Sync for Storage {}

impl Storage {
    /// Takes over a vector.
    pub(super) fn adopted<T: Element>(vector: Vec<T>) -> Self {
        let len = size_of_val(vector.as_slice());
        Unique::of(Memory::adopted(vector), len).0
    }

    /// The bytes of the block that its owners see.
    pub(super) fn bytes(&self) -> &[u8] {
        let header = self.header();
        // SAFETY: `len` bytes lie at `data` and are initialised since the block was made. Only a
        // `Unique` or a sole owner writes to them, and either borrows itself mutably for it.
        unsafe { std::slice::from_raw_parts(header.data.as_ptr(), header.len) }
    }

    /// Whether the bytes may be written: nobody else owns them and they are no vector's.
    pub(super) fn is_writable(&self) -> bool {
        // Acquire: whatever former owners did with the bytes came before their Release in `drop`, so
        // it is over once this sees that they left. Nobody can join meanwhile: a new owner comes from
        // an owner, and the only one is `self`.
        self.header().vector.is_none() && self.header().owners.load(Ordering::Acquire) == 1
    }

    /// The bytes to write to, if they may be written.
    pub(super) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        if !self.is_writable() {
            return None;
        }
        let header = self.header();
        // SAFETY: as in `bytes`; and `self`, borrowed mutably, is the only owner.
        Some(unsafe { std::slice::from_raw_parts_mut(header.data.as_ptr(), header.len) })
    }

    /// The same block to write to, or the handle itself if it may not be written.
    pub(super) fn try_unique(self) -> Result<Unique, Self> {
        if self.is_writable() { Ok(Unique(self)) } else { Err(self) }
    }

    /// Whether both own one block.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.header == other.header
    }

    fn header(&self) -> &Header {
        // SAFETY: the block lives as long as an owner does, and nobody borrows its header mutably.
        unsafe { self.header.as_ref() }
    }
}

impl Clone for Storage {
    fn clone(&self) -> Self {
        // Relaxed: the new owner sees the bytes through the old one, which stays; only the sum counts.
        let owners = self.header().owners.fetch_add(1, Ordering::Relaxed);
        if owners > isize::MAX as usize {
            // So many handles were leaked that the count might wrap and the block be freed early.
            std::process::abort();
        }
        Self { header: self.header }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // Release: whatever this owner did with the bytes is done before the count tells that it left.
        if self.header().owners.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        // Acquire: so all that the other owners did is done before the block is used anew or freed.
        fence(Ordering::Acquire);
        let memory = Memory { header: self.header };
        match memory.header().home.upgrade() {
            Some(shelves) => shelves.put_back(memory),
            None => drop(memory),
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.header();
        let name = match (&header.vector, header.home.strong_count()) {
            (Some(_), _) => "adopted",
            (None, 0) => "host",
            (None, _) => "pooled",
        };
        write!(f, "{name}, {} B", header.len)
    }
}

/// The sole owner of a block, who may write to it.
pub(super) struct Unique(Storage);

impl Unique {
    /// Makes the first `len` bytes of a block without owners one's own.
    pub(super) fn of(mut memory: Memory, len: usize) -> Self {
        let header = memory.header_mut();
        debug_assert!(header.vector.is_some() || len <= header.capacity, "the block is too short");
        header.len = len;
        *header.owners.get_mut() = 1;
        let header = memory.header;
        // The block is freed by its owner from now on.
        std::mem::forget(memory);
        Self(Storage { header })
    }

    /// A block of its own, all 0.
    pub(super) fn zeroed(len: usize) -> Self {
        Self::of(Memory::zeroed(len, Weak::new()), len)
    }

    /// A block of its own that holds a copy of these bytes.
    pub(super) fn copied(bytes: &[u8]) -> Self {
        Self::of(Memory::copied(bytes), bytes.len())
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The bytes, to write to.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        let header = self.0.header();
        // SAFETY: `len` initialised bytes lie at `data`, and `self`, borrowed mutably, is the block's
        // only owner.
        unsafe { std::slice::from_raw_parts_mut(header.data.as_ptr(), header.len) }
    }

    /// Where the bytes are as long as the block has an owner.
    pub(super) fn data(&self) -> NonNull<u8> {
        self.0.header().data
    }

    /// Gives up writing.
    pub(super) fn share(self) -> Storage {
        self.0
    }
}
