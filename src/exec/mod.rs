//! Runs programs: what one rank does for one plan, with no arithmetic on layouts.

mod call;
mod packing;
mod ready;
mod runner;
mod slots;

use crate::comm::CommError;
use crate::mem::MemError;

pub use runner::Runner;

/// Why a rank could not run its program.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// A call could not be done.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// A program that does not fit its buffers.
    #[error(transparent)]
    Memory(#[from] MemError),
    /// A source or a target that does not fit the program.
    #[error("the {what} has {given_bytes} bytes, but this rank's program needs {needed_bytes}")]
    Length {
        /// The source, or the target.
        what: &'static str,
        /// Its bytes.
        given_bytes: usize,
        /// The bytes of this rank's local tensor.
        needed_bytes: usize,
    },
    /// A program that reads what nothing has written.
    #[error("buffer {buffer} of {len_bytes} bytes is read before it is written")]
    Unwritten {
        /// The buffer's number.
        buffer: usize,
        /// Its length.
        len_bytes: usize,
    },
    /// A program that writes what has been read.
    #[error("buffer {buffer} is written after it was read")]
    Frozen {
        /// The buffer's number.
        buffer: usize,
    },
}
