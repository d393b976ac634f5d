//! How threads start together, and how far apart the machine's cores are.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// A barrier that spins, so that threads leave it within a fraction of a microsecond.
pub(crate) struct Together {
    threads: usize,
    arrived: AtomicUsize,
    broken: AtomicBool,
    number: AtomicU64,
}

impl Together {
    pub(crate) fn new(threads: usize) -> Self {
        let (arrived, broken, number) = Default::default();
        Self { threads, arrived, broken, number }
    }

    /// Waits for all threads; panics if one of them has panicked.
    pub(crate) fn wait(&self) {
        let mine = self.arrived.fetch_add(1, Ordering::AcqRel);
        let all = (mine / self.threads + 1) * self.threads;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut spins = 0u32;
        while self.arrived.load(Ordering::Acquire) < all {
            assert!(!self.broken.load(Ordering::Relaxed), "another rank has panicked");
            spins += 1;
            if self.threads > cores || spins.is_multiple_of(4096) {
                thread::yield_now();
            } else {
                hint::spin_loop();
            }
        }
    }

    /// The largest number that any rank gives, on every rank.
    pub(crate) fn most(&self, number: u64) -> u64 {
        self.number.fetch_max(number, Ordering::Relaxed);
        self.wait();
        let most = self.number.load(Ordering::Relaxed);
        self.wait();
        self.number.store(0, Ordering::Relaxed);
        self.wait();
        most
    }

    /// Frees the others if this thread panics while the guard lives.
    pub(crate) fn guard(&self) -> impl Drop {
        Guard(self)
    }
}

struct Guard<'a>(&'a Together);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Nanoseconds that a flag takes from one thread to another and back: the median of some batches.
///
/// A virtual machine's cores may share a cache at one time and not at another; this tells which.
pub(crate) fn round_trip_ns(batches: usize) -> f64 {
    const TRIPS: u32 = 3000;
    let flag = AtomicBool::new(false);
    let turn = |mine: bool| {
        while flag.load(Ordering::Acquire) != mine {
            hint::spin_loop();
        }
        flag.store(!mine, Ordering::Release);
    };
    let mut times: Vec<f64> = thread::scope(|scope| {
        scope.spawn(|| (0..batches as u32 * TRIPS).for_each(|_| turn(true)));
        let batch = |_| {
            let start = Instant::now();
            for _ in 0..TRIPS {
                flag.store(true, Ordering::Release);
                while flag.load(Ordering::Acquire) {
                    hint::spin_loop();
                }
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(TRIPS)
        };
        (0..batches).map(batch).collect()
    });
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}
