//! Waiting for something that another thread will do: turning for a moment, then sleeping.

use std::time::Duration;

use crate::base::sync::{Condvar, Mutex, MutexGuard, PoisonError, pause, sleep, yield_now};

/// How a waiting thread spends the first moment, before it sleeps.
#[derive(Clone, Copy, Debug)]
pub(super) enum Patience {
    /// Every rank may have a core of its own: looks again and again, so many times.
    Turn(u32),
    /// There are more ranks than cores: lets others run, so many times.
    Yield(u32),
}

impl Patience {
    /// What pays among so many ranks on so many cores.
    pub(super) fn among(ranks: usize, cores: usize) -> Self {
        if ranks <= cores { Self::Turn(2000) } else { Self::Yield(4) }
    }

    /// Looks until it is so or the moment is over; whether it is so.
    pub(super) fn spend(self, is_so: impl Fn() -> bool) -> bool {
        let (times, rest): (u32, fn()) = match self {
            Patience::Turn(times) => (times, pause),
            Patience::Yield(times) => (times, yield_now),
        };
        for _ in 0..times {
            if is_so() {
                return true;
            }
            rest();
        }
        is_so()
    }
}

/// Wakes the threads that sleep until something is so.
///
/// Whatever makes it so happens in [`Bell::ring`], under the lock under which a sleeper looks for the
/// last time before it sleeps: no sleeper misses it.
pub(super) struct Bell {
    sleepers: Mutex<usize>,
    rung: Condvar,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self { sleepers: Mutex::new(0), rung: Condvar::new() }
    }

    /// Makes it so, and wakes all sleepers.
    pub(super) fn ring<T>(&self, make_it_so: impl FnOnce() -> T) -> T {
        let sleepers = self.lock();
        let made = make_it_so();
        let anybody = *sleepers > 0;
        drop(sleepers);
        if anybody {
            self.rung.notify_all();
        }
        made
    }

    /// Sleeps unless it is so: until rung, or the time is over, or for no reason at all.
    pub(super) fn sleep(&self, time: Duration, is_so: impl Fn() -> bool) {
        let mut sleepers = self.lock();
        if !is_so() {
            *sleepers += 1;
            sleepers = sleep(&self.rung, sleepers, time);
            *sleepers -= 1;
        }
    }

    /// The lock; nothing panics under it.
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
