//! The primitives on which threads meet, in one place so that a model checker can put its own there
//! (`tests/models`).

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use std::time::Duration;

/// Tells the processor that it turns in a waiting loop.
pub(crate) fn pause() {
    std::hint::spin_loop();
}

/// Lets another thread have the processor.
pub(crate) fn yield_now() {
    std::thread::yield_now();
}

/// Sleeps until woken, or the time is over, or for no reason at all.
pub(crate) fn sleep<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    time: Duration,
) -> MutexGuard<'a, T> {
    condvar.wait_timeout(guard, time).unwrap_or_else(PoisonError::into_inner).0
}

/// A place that one thread writes before others read it.
#[derive(Default)]
pub(crate) struct Place<T>(std::cell::UnsafeCell<T>);

impl<T> Place<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Gives a pointer to read through.
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Gives a pointer to write through.
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
