//! What can be wrong with a use of memory.

use crate::base::{DType, Reduction};

/// A misuse of buffers, windows or kernels. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemError {
    /// A window reaches past the end of its buffer.
    #[error("a window reaches to byte {end_bytes} of a buffer of {len_bytes} bytes")]
    OutOfBounds {
        /// One past the last byte that the window touches.
        end_bytes: usize,
        /// The buffer's length.
        len_bytes: usize,
    },
    /// Two lists of windows hold different numbers of elements.
    #[error("{source_len} elements cannot fill windows of {target_len} elements")]
    Counts {
        /// Elements in the source windows.
        source_len: usize,
        /// Elements in the target windows.
        target_len: usize,
    },
    /// Terms of this type cannot be reduced so.
    #[error("terms of type {dtype} cannot be reduced by {reduction}")]
    Unsupported {
        /// The element type.
        dtype: DType,
        /// The reduction asked for.
        reduction: Reduction,
    },
    /// A divisor that the reduction or the type does not know.
    #[error(
        "{reduction} of {dtype} cannot divide by {divisor}; sum and avg of floats divide by 1 or more, all else by 1"
    )]
    Divisor {
        /// The element type.
        dtype: DType,
        /// The reduction asked for.
        reduction: Reduction,
        /// The divisor asked for.
        divisor: usize,
    },
    /// A reduction of nothing.
    #[error("a reduction needs at least one term")]
    NoTerm,
    /// Values of this type cannot be scaled.
    #[error("elements of type {dtype} cannot be scaled; only floats can")]
    NotAFloat {
        /// The element type.
        dtype: DType,
    },
    /// The bytes end within an element.
    #[error("{len_bytes} bytes are no whole number of {dtype} elements")]
    PartElement {
        /// The element type.
        dtype: DType,
        /// The buffer's length.
        len_bytes: usize,
    },
    /// The bytes do not start where an element may.
    #[error("the bytes are not aligned to {dtype} elements; copy them into a buffer of their own")]
    Unaligned {
        /// The element type.
        dtype: DType,
    },
    /// The bytes are no value of the type.
    #[error("a byte pattern is no {dtype} value; a truth value is 0 or 1")]
    BadValue {
        /// The element type.
        dtype: DType,
    },
    /// Elements were asked for as another type than theirs.
    #[error("elements of type {dtype} were asked for as {asked}")]
    WrongType {
        /// The type asked for.
        asked: DType,
        /// The element type.
        dtype: DType,
    },
}
