//! A window together with the buffer it looks at.

use super::{Buffer, BufferMut, MemError, Window, copy};
use crate::base::{DType, Element};

/// Elements of a published buffer: the buffer, the window that holds them, and their type.
///
/// # Example
///
/// ```
/// use reshard::DType;
/// use reshard::mem::{Buffer, Slab, Window};
/// let buffer = Buffer::from_elements(&[0i32, 1, 2, 3, 4, 5]);
/// let column = Slab { buffer, window: Window::new(4, [2], [12]), dtype: DType::I32 };
/// assert_eq!(column.to_vec::<i32>()?, [1, 4]);
/// # Ok::<(), reshard::mem::MemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Slab {
    /// The bytes.
    pub buffer: Buffer,
    /// Which of them.
    pub window: Window,
    /// What they are.
    pub dtype: DType,
}

impl Slab {
    /// The elements in window order, packed into a buffer of their own.
    ///
    /// # Errors
    ///
    /// [`MemError::OutOfBounds`] if the window reaches past the end of the buffer.
    pub fn pack(&self) -> Result<Buffer, MemError> {
        let bytes = self.dtype.bytes();
        let run = Window::run(0, self.window.len(), bytes);
        self.window.check_within(self.buffer.len_bytes(), bytes)?;
        let mut packed = BufferMut::zeroed(self.window.len() * bytes);
        let window = std::slice::from_ref(&self.window);
        copy(self.buffer.as_bytes(), window, packed.as_bytes_mut(), &[run], bytes)?;
        Ok(packed.freeze())
    }

    /// The elements in window order.
    ///
    /// # Errors
    ///
    /// [`MemError`] if the window reaches past the end of the buffer, or `T` is not the element type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, MemError> {
        if T::DTYPE != self.dtype {
            return Err(MemError::WrongType { asked: T::DTYPE, dtype: self.dtype });
        }
        Ok(self.pack()?.as_elements::<T>()?.to_vec())
    }
}
