//! A call on its way.

use std::fmt;
use std::time::Duration;

use super::{CommError, threads};
use crate::mem::BufferMut;

/// A call on its way. It owns the source and the target until it is done.
///
/// Dropping or leaking it is safe: the call stays made, so the peers get what they wait for, and the
/// target is given up.
#[must_use = "the target is lost unless the work is waited for"]
pub struct Work(Way);

/// How the call is made. That of threads lies here itself, so that making it allocates nothing.
enum Way {
    Threads(threads::Waiting),
}

impl From<threads::Waiting> for Work {
    fn from(waiting: threads::Waiting) -> Self {
        Self(Way::Threads(waiting))
    }
}

impl Work {
    /// Blocks until the call is done: the target, written.
    ///
    /// Ends by itself at the communicator's deadline. While it blocks, this rank counts as unable to
    /// make further calls: ranks that wait for each other so are told at once.
    ///
    /// # Errors
    ///
    /// [`CommError`] if the call cannot be done; the target is lost.
    pub fn wait(mut self) -> Result<BufferMut, CommError> {
        match &mut self.0 {
            Way::Threads(waiting) => waiting.wait(),
        }
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
        match &mut self.0 {
            Way::Threads(waiting) => waiting.wait_timeout(time),
        }
    }

    /// Whether [`Work::wait`] would return at once.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match &self.0 {
            Way::Threads(waiting) => waiting.is_done(),
        }
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Way::Threads(waiting) => write!(f, "Work({waiting:?})"),
        }
    }
}
