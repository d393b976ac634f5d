//! A call on its way.

use std::fmt;
use std::time::Duration;

use super::CommError;
use crate::mem::BufferMut;

/// A call on its way. It owns the source and the target until it is done.
///
/// Dropping or leaking it is safe: the call stays made, so the peers get what they wait for, and the
/// target is given up.
#[must_use = "the target is lost unless the work is waited for"]
pub struct Work {
    pending: Box<dyn Pending>,
}

impl Work {
    pub(crate) fn new(pending: impl Pending + 'static) -> Self {
        Self { pending: Box::new(pending) }
    }

    /// Blocks until the call is done: the target, written.
    ///
    /// Ends by itself at the communicator's deadline. While it blocks, this rank counts as unable to
    /// make further calls: ranks that wait for each other so are told at once.
    ///
    /// # Errors
    ///
    /// [`CommError`] if the call cannot be done; the target is lost.
    pub fn wait(mut self) -> Result<BufferMut, CommError> {
        self.pending.wait()
    }

    /// Blocks until the call is done or the time is over: the target, written, or `None`.
    ///
    /// `None` leaves the call on its way, and nothing else happens: the communicator's deadline does
    /// not count here.
    ///
    /// # Errors
    ///
    /// [`CommError`] if the call cannot be done, or the target has been handed out already.
    pub fn wait_timeout(&mut self, time: Duration) -> Result<Option<BufferMut>, CommError> {
        self.pending.wait_timeout(time)
    }

    /// Whether [`Work::wait`] would return at once.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.pending.is_done()
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Work({:?})", self.pending)
    }
}

/// What a communicator has to be able to do with a call on its way.
pub(crate) trait Pending: Send + fmt::Debug {
    /// Blocks until done.
    fn wait(&mut self) -> Result<BufferMut, CommError>;
    /// Blocks until done or the time is over.
    fn wait_timeout(&mut self, time: Duration) -> Result<Option<BufferMut>, CommError>;
    /// Whether `wait` would return at once.
    fn is_done(&self) -> bool;
}
