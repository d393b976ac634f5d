//! The primitives of `loom` in the shape of `src/base/sync.rs`.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use std::sync::PoisonError;

use std::time::Duration;

pub(crate) type Place<T> = loom::cell::UnsafeCell<T>;

pub(crate) fn pause() {
    loom::thread::yield_now();
}

pub(crate) fn yield_now() {
    loom::thread::yield_now();
}

pub(crate) fn sleep<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    _: Duration,
) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
