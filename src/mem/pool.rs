//! A pool that keeps memory for the next one who needs it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::BufferMut;
use super::storage::{Memory, Unique};

/// What a recycled block is overwritten with in debug builds, so that a byte that nobody wrote shows.
const POISON: u8 = 0xA5;

/// Memory that is used again and again. Cloning gives another handle of the same pool.
///
/// A buffer that was taken from a pool goes back to it when its last owner drops it, on whatever
/// thread that is; if the pool's last handle is gone by then, the memory is freed. A pool that has what
/// is asked for calls no allocator, neither for taking nor for giving back. Idle memory never exceeds
/// the capacity: what has been idle longest is freed first.
///
/// Blocks come in sizes, eight for each power of two, so at most an eighth of a block is unused (and up
/// to 64 bytes of the smallest).
///
/// # Example
///
/// ```
/// use reshard::mem::Pool;
/// let pool = Pool::new(1 << 20);
/// let mut buffer = pool.take(1000);
/// buffer.as_bytes_mut().fill(7);
/// let published = buffer.freeze();
/// assert_eq!(pool.idle_bytes(), 0);
/// drop(published);
/// assert_eq!(pool.idle_bytes(), 1024);
/// let again = pool.take(1020);
/// assert_eq!(pool.idle_bytes(), 0);
/// ```
#[derive(Clone)]
pub struct Pool {
    shelves: Arc<Shelves>,
}

impl Pool {
    /// A pool that keeps at most so many idle bytes. It is empty at first; a pool of capacity 0 keeps
    /// nothing.
    #[must_use]
    pub fn new(capacity_bytes: usize) -> Self {
        Self { shelves: Arc::new(Shelves { capacity: capacity_bytes, idle: Mutex::default() }) }
    }

    /// A buffer of `len_bytes` bytes, with whatever values its memory had before: 0 if it is new, what
    /// the last user wrote if it is not. Debug builds overwrite the latter with a pattern.
    #[must_use]
    pub fn take(&self, len_bytes: usize) -> BufferMut {
        if len_bytes == 0 {
            return BufferMut::empty();
        }
        let size = Size::of(len_bytes);
        let Some(memory) = self.shelves.find(size) else {
            let memory = Memory::zeroed(size.bytes, Arc::downgrade(&self.shelves));
            return BufferMut::of(Unique::of(memory, len_bytes));
        };
        let mut unique = Unique::of(memory, len_bytes);
        if cfg!(debug_assertions) {
            unique.bytes_mut().fill(POISON);
        }
        BufferMut::of(unique)
    }

    /// The most bytes that the pool keeps idle.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.shelves.capacity
    }

    /// The bytes of the blocks that wait for a user.
    #[must_use]
    pub fn idle_bytes(&self) -> usize {
        self.shelves.lock().bytes
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idle = self.shelves.lock();
        let blocks: usize = idle.classes.iter().map(|class| class.blocks.len()).sum();
        let known: usize = idle.classes.iter().map(|class| class.known).sum();
        f.debug_struct("Pool")
            .field("capacity_bytes", &self.shelves.capacity)
            .field("idle_bytes", &idle.bytes)
            .field("idle_blocks", &blocks)
            .field("taken_blocks", &(known - blocks))
            .finish()
    }
}

/// A size of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    /// Which one, counted from the smallest.
    class: usize,
    bytes: usize,
}

impl Size {
    /// Blocks are whole cache lines.
    const LINE: usize = 64;

    /// The least size that holds so many bytes.
    fn of(len: usize) -> Self {
        if len <= Self::LINE {
            return Self { class: 0, bytes: Self::LINE };
        }
        let log = (len - 1).ilog2();
        let eighth = 1 << (log - 3);
        let step = Self::LINE.max(eighth);
        let bytes = len.div_ceil(step).saturating_mul(step);
        let eighths = (bytes - (1 << log)) / eighth;
        Self { class: (log - Self::LINE.ilog2()) as usize * 8 + eighths, bytes }
    }
}

/// What a pool keeps, shared by its handles and known to the blocks that come from it.
pub(super) struct Shelves {
    capacity: usize,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// By size; as many as have been asked for.
    classes: Vec<Class>,
    bytes: usize,
    /// How many blocks have come back so far.
    returns: u64,
}

/// The blocks of one size.
#[derive(Default)]
struct Class {
    /// Idle blocks, each with the number of its return: the first has been idle longest. There is
    /// room for every block known, so none that comes back needs any.
    blocks: VecDeque<(u64, Memory)>,
    /// Blocks of this size, idle or taken, that may come back.
    known: usize,
}

impl Shelves {
    /// An idle block of this size, or none; then room is made for the one that the caller allocates.
    fn find(&self, size: Size) -> Option<Memory> {
        if size.bytes > self.capacity {
            return None;
        }
        let mut idle = self.lock();
        if idle.classes.len() <= size.class {
            idle.classes.resize_with(size.class + 1, Class::default);
        }
        let class = &mut idle.classes[size.class];
        // The last one in is the likeliest to be in a cache still.
        let Some((_, memory)) = class.blocks.pop_back() else {
            class.known += 1;
            class.blocks.reserve(class.known);
            return None;
        };
        idle.bytes -= size.bytes;
        Some(memory)
    }

    /// Keeps a block whose last owner left, and frees others if there are too many then.
    pub(super) fn put_back(&self, memory: Memory) {
        let size = Size::of(memory.capacity());
        if size.bytes > self.capacity {
            return;
        }
        loop {
            let mut idle = self.lock();
            if size.bytes <= self.capacity - idle.bytes {
                idle.keep(size, memory);
                return;
            }
            let oldest = idle.give_up_oldest();
            // Freeing may take long, so others need not wait for it.
            drop(idle);
            drop(oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        // Every change is complete before anything could panic.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Idle {
    fn keep(&mut self, size: Size, memory: Memory) {
        self.returns += 1;
        self.bytes += size.bytes;
        self.classes[size.class].blocks.push_back((self.returns, memory));
    }

    /// Takes out the block that has been idle longest.
    fn give_up_oldest(&mut self) -> Option<Memory> {
        let since = |class: &Class| class.blocks.front().map_or(u64::MAX, |&(since, _)| since);
        let class = self.classes.iter_mut().min_by_key(|class| since(class))?;
        let (_, memory) = class.blocks.pop_front()?;
        class.known -= 1;
        self.bytes -= memory.capacity();
        Some(memory)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::mem::allocations::allocations;

    fn address(buffer: &BufferMut) -> usize {
        buffer.as_bytes().as_ptr().addr()
    }

    #[test]
    fn sizes_are_dense_and_waste_an_eighth_at_most() {
        let mut last = Size::of(1);
        assert_eq!((last, Size::of(64)), (Size { class: 0, bytes: 64 }, last));
        for len in (65..9000).chain([1 << 20, (1 << 20) + 1, usize::MAX / 2]) {
            let size = Size::of(len);
            assert!(size.bytes >= len && size.bytes - len < 64.max(len / 8), "{len}: {size:?}");
            assert!(size.bytes.is_multiple_of(64));
            assert_eq!(Size::of(size.bytes), size);
            assert_eq!(size.class > last.class, size.bytes > last.bytes, "{len}");
            assert_eq!(size.class == last.class, size.bytes == last.bytes, "{len}");
            last = size;
        }
    }

    #[test]
    fn memory_comes_back_and_is_used_again() {
        let pool = Pool::new(1 << 16);
        let first = pool.take(1000);
        assert_eq!((first.len_bytes(), first.as_bytes()), (1000, &[0; 1000][..]));
        let at = address(&first);
        assert_eq!(at % 64, 0);
        let published = first.freeze();
        let part = published.slice(10..20);
        drop(published);
        assert_eq!(pool.idle_bytes(), 0);
        drop(part);
        assert_eq!(pool.idle_bytes(), 1024);
        // Another length of the same size finds the same block.
        let again = pool.take(1024);
        assert_eq!((address(&again), again.len_bytes(), pool.idle_bytes()), (at, 1024, 0));
        let other = pool.take(1025);
        assert_ne!(address(&other), at);
        drop((again, other));
        assert_eq!(pool.idle_bytes(), 1024 + 1152);
    }

    #[test]
    fn recycled_bytes_are_poisoned_where_it_helps() {
        let pool = Pool::new(1 << 16);
        let mut first = pool.take(100);
        first.as_bytes_mut().fill(7);
        drop(first);
        let expected = if cfg!(debug_assertions) { POISON } else { 7 };
        assert_eq!(pool.take(90).as_bytes(), [expected; 90]);
    }

    #[test]
    fn idle_memory_is_bounded_and_the_oldest_goes_first() {
        let pool = Pool::new(4096);
        let [a, b, c] = [2048, 1024, 1024].map(|len| pool.take(len));
        let addresses = [&a, &b, &c].map(address);
        drop(b);
        drop(a);
        drop(c);
        assert_eq!(pool.idle_bytes(), 4096);
        drop(pool.take(64));
        // The first block to come back had to make room.
        assert_eq!(pool.idle_bytes(), 2048 + 1024 + 64);
        let (a, c) = (pool.take(2048), pool.take(1024));
        assert_eq!([address(&a), address(&c)], [addresses[0], addresses[2]]);
        drop((a, c));
        // What is longer than the pool may be is not kept, and pushes nothing out.
        drop(pool.take(4097));
        assert_eq!(pool.idle_bytes(), 2048 + 1024 + 64);
        assert_eq!(
            format!("{pool:?}"),
            "Pool { capacity_bytes: 4096, idle_bytes: 3136, idle_blocks: 3, taken_blocks: 0 }"
        );
        let none = Pool::new(0);
        drop(none.take(1));
        assert_eq!((none.idle_bytes(), none.capacity_bytes()), (0, 0));
    }

    #[test]
    fn memory_comes_back_from_other_threads_and_outlives_its_pool() {
        let pool = Pool::new(1 << 16);
        let mut buffer = pool.take(256);
        buffer.as_bytes_mut().fill(3);
        let at = address(&buffer);
        let published = buffer.freeze();
        let reader = published.clone();
        thread::spawn(move || assert_eq!(reader.as_bytes(), [3; 256])).join().unwrap();
        thread::spawn(move || drop(published)).join().unwrap();
        let again = pool.take(256);
        assert_eq!(address(&again), at);
        let survivor = pool.take(512);
        drop(pool);
        assert_eq!((survivor.as_bytes(), again.len_bytes()), (&[0; 512][..], 256));
        let survivor = survivor.freeze();
        drop(survivor.clone());
        assert_eq!(survivor.try_into_mut().unwrap().len_bytes(), 512);
    }

    #[test]
    fn a_pool_that_has_what_is_asked_for_calls_no_allocator() {
        let pool = Pool::new(1 << 20);
        let sizes = [1, 64, 100, 1000, 5000, 70_000];
        let turn = || {
            let taken = sizes.map(|len| pool.take(len).freeze());
            let shared = taken.clone();
            let parts = taken.each_ref().map(|buffer| buffer.slice(0..1));
            drop(shared);
            drop(parts);
            let writable = taken.map(|buffer| buffer.try_into_mut().unwrap());
            let empty = (pool.take(0), BufferMut::zeroed(0), crate::mem::Buffer::empty());
            drop((writable, empty));
        };
        turn();
        let before = allocations();
        (0..100).for_each(|_| turn());
        assert_eq!(allocations() - before, 0);
        drop(pool.take(1 << 19));
        assert!(allocations() > before, "a new block is counted");
    }

    #[test]
    fn many_threads_share_a_block_and_a_pool() {
        let pool = Pool::new(1 << 12);
        let (give, take) = mpsc::channel::<crate::mem::Buffer>();
        thread::scope(|scope| {
            for number in 0..3u8 {
                let (pool, give) = (pool.clone(), give.clone());
                scope.spawn(move || {
                    for turn in 0..500usize {
                        let mut buffer = pool.take(8 + turn % 300);
                        buffer.as_bytes_mut().fill(number);
                        let buffer = buffer.freeze();
                        give.send(buffer.slice(1..8)).unwrap();
                        let copies = [0; 4].map(|_| buffer.clone());
                        assert!(copies.iter().all(|copy| copy.as_bytes() == buffer.as_bytes()));
                        give.send(buffer).unwrap();
                    }
                });
            }
            drop(give);
            let mut received = 0;
            for buffer in take {
                let first = buffer.as_bytes()[0];
                assert!(first < 3 && buffer.as_bytes().iter().all(|&byte| byte == first));
                assert!(pool.idle_bytes() <= pool.capacity_bytes());
                received += 1;
            }
            assert_eq!(received, 3000);
        });
        let text = format!("{pool:?}");
        assert!(text.ends_with("taken_blocks: 0 }"), "{text}");
    }
}
