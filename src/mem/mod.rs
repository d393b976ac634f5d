//! One rank's memory: buffers, windows onto them, and the kernels that copy, fill and reduce.
//!
//! A [`Buffer`] is published: immutable, reference counted, readable by any thread. A [`BufferMut`]
//! is being written: it has one owner. Freezing turns the second into the first, so a peer can read
//! a published buffer in place while nobody can change it. A [`Pool`] keeps the memory of buffers that are
//! gone for those to come.

mod buffer;
mod storage;
mod pool;
#[cfg(test)]
pub(crate) mod allocations;
mod window;
mod slab;
mod error;
mod run;
mod cursor;
mod nest;
mod transpose;
mod copy;
mod fill;
mod lane;
mod sixteen;
mod wide;
mod tile;
#[cfg(target_arch = "x86_64")]
mod f16c;
mod fold;
mod reduce;
mod overlap;
#[cfg(test)]
mod tests;

pub use buffer::{Buffer, BufferMut};
pub use copy::copy;
pub use error::MemError;
pub use fill::{fill_identity, fill_value, scale};
pub(crate) use overlap::overlapping;
pub use pool::Pool;
pub(crate) use reduce::reduce_part;
pub use reduce::{Combine, Term, reduce};
pub use slab::Slab;
pub use window::Window;
