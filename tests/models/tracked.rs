//! A value of which the model checker knows who reads it, writes it and drops it.

use loom::cell::UnsafeCell;

/// A number; reading it while another thread writes or drops it fails the model.
pub(crate) struct Tracked(UnsafeCell<u32>);

impl Tracked {
    pub(crate) fn new(value: u32) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub(crate) fn read(&self) -> u32 {
        // SAFETY: `loom` fails the model where another thread writes at the same time.
        self.0.with(|value| unsafe { *value })
    }

    pub(crate) fn write(&self, new: u32) {
        // SAFETY: `loom` fails the model where another thread reads or writes at the same time.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.write(u32::MAX);
    }
}
