//! Buffers: published ones, which anybody may read, and unique ones, which their owner may write.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::checked::CheckedCastError;

use super::MemError;
use super::storage::{HostBytes, Storage};
use crate::base::Element;

/// Published bytes: immutable and reference counted. Cloning and slicing share the storage.
///
/// # Example
///
/// ```
/// use reshard::mem::Buffer;
/// let buffer = Buffer::from_elements(&[1.0f32, 2.0, 3.0]);
/// let tail = buffer.slice(4..12);
/// assert_eq!(tail.as_elements::<f32>()?, [2.0, 3.0]);
/// assert!(tail.same_storage(&buffer));
/// # Ok::<(), reshard::mem::MemError>(())
/// ```
#[derive(Clone)]
pub struct Buffer {
    storage: Arc<Storage>,
    start: usize,
    len: usize,
}

impl Buffer {
    /// A buffer of no bytes.
    #[must_use]
    pub fn empty() -> Self {
        BufferMut::zeroed(0).freeze()
    }

    /// A copy of these elements.
    #[must_use]
    pub fn from_elements<T: Element>(elements: &[T]) -> Self {
        BufferMut::from_elements(elements).freeze()
    }

    /// Takes over a vector without copying. Such a buffer never becomes writable again.
    #[must_use]
    pub fn from_vec<T: Element>(elements: Vec<T>) -> Self {
        let len = size_of_val(elements.as_slice());
        Self { storage: Arc::new(Storage::Adopted(Box::new(elements))), start: 0, len }
    }

    /// How many bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.len
    }

    /// The bytes `range` of this buffer, in the same storage.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the buffer.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "bytes {range:?} do not lie within a buffer of {} bytes",
            self.len
        );
        Self {
            storage: Arc::clone(&self.storage),
            start: self.start + range.start,
            len: range.len(),
        }
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.storage.bytes()[self.start..self.start + self.len]
    }

    /// The bytes as elements of a type.
    ///
    /// # Errors
    ///
    /// [`MemError`] if the length is no multiple of the element's bytes, the bytes are not aligned to
    /// the element type, or a truth value is neither 0 nor 1.
    pub fn as_elements<T: Element>(&self) -> Result<&[T], MemError> {
        let bytes = self.as_bytes();
        if bytes.is_empty() {
            // No bytes lie anywhere, so they may seem unaligned.
            return Ok(&[]);
        }
        bytemuck::checked::try_cast_slice(bytes).map_err(|error| cast_error::<T>(error, bytes))
    }

    /// Whether both buffers are ranges of one storage.
    #[must_use]
    pub fn same_storage(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// The bytes as elements of a type, to write to: copied first if others share the storage, if they
    /// are a part of it, or if they were taken over from a vector. Other buffers never see what is
    /// written.
    ///
    /// # Errors
    ///
    /// As [`Buffer::as_elements`].
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::mem::Buffer;
    /// let mut buffer = Buffer::from_elements(&[1i32, 2]);
    /// let other = buffer.clone();
    /// buffer.make_elements_mut::<i32>()?[0] = 7;
    /// assert_eq!(buffer.as_elements::<i32>()?, [7, 2]);
    /// assert_eq!(other.as_elements::<i32>()?, [1, 2]);
    /// # Ok::<(), reshard::mem::MemError>(())
    /// ```
    pub fn make_elements_mut<T: Element>(&mut self) -> Result<&mut [T], MemError> {
        if self.as_elements::<T>()?.is_empty() {
            return Ok(&mut []);
        }
        let whole = self.start == 0 && self.len == self.storage.bytes().len();
        let own = whole && matches!(Arc::get_mut(&mut self.storage), Some(Storage::Host(_)));
        if !own {
            *self = BufferMut::copy_of(self).freeze();
        }
        match Arc::get_mut(&mut self.storage) {
            Some(Storage::Host(host)) => Ok(bytemuck::checked::cast_slice_mut(host.bytes_mut())),
            Some(Storage::Adopted(_)) | None => unreachable!("a copy has its storage to itself"),
        }
    }

    /// The same bytes to write to, without a copy.
    ///
    /// # Errors
    ///
    /// The buffer itself, if others share its storage, it is a part of its storage, or it was taken
    /// over from a vector. [`BufferMut::copy_of`] always works.
    pub fn try_into_mut(self) -> Result<BufferMut, Self> {
        let Self { storage, start, len } = self;
        if start != 0 || len != storage.bytes().len() {
            return Err(Self { storage, start, len });
        }
        match Arc::try_unwrap(storage) {
            Ok(Storage::Host(host)) => Ok(BufferMut { host }),
            Ok(adopted) => Err(Self { storage: Arc::new(adopted), start, len }),
            Err(storage) => Err(Self { storage, start, len }),
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({:?}, bytes {}..{})", self.storage, self.start, self.start + self.len)
    }
}

/// Bytes with one owner, who may write them; aligned to 64 bytes.
///
/// # Example
///
/// ```
/// use reshard::mem::BufferMut;
/// let mut buffer = BufferMut::zeroed(8);
/// buffer.as_elements_mut::<i32>()?[1] = 7;
/// assert_eq!(buffer.freeze().as_elements::<i32>()?, [0, 7]);
/// # Ok::<(), reshard::mem::MemError>(())
/// ```
pub struct BufferMut {
    host: HostBytes,
}

impl BufferMut {
    /// A buffer of `len_bytes` bytes, all 0.
    #[must_use]
    pub fn zeroed(len_bytes: usize) -> Self {
        Self { host: HostBytes::zeroed(len_bytes) }
    }

    /// A copy of these elements.
    #[must_use]
    pub fn from_elements<T: Element>(elements: &[T]) -> Self {
        Self::from_bytes(bytemuck::cast_slice(elements))
    }

    /// A copy of a published buffer.
    #[must_use]
    pub fn copy_of(buffer: &Buffer) -> Self {
        Self::from_bytes(buffer.as_bytes())
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut buffer = Self::zeroed(bytes.len());
        buffer.as_bytes_mut().copy_from_slice(bytes);
        buffer
    }

    /// How many bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.host.bytes().len()
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.host.bytes()
    }

    /// The bytes, to write to.
    #[must_use]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        self.host.bytes_mut()
    }

    /// The bytes as elements of a type, to write to.
    ///
    /// # Errors
    ///
    /// As [`Buffer::as_elements`].
    pub fn as_elements_mut<T: Element>(&mut self) -> Result<&mut [T], MemError> {
        let bytes = self.host.bytes_mut();
        if bytes.is_empty() {
            return Ok(&mut []);
        }
        if let Err(error) = bytemuck::checked::try_cast_slice::<u8, T>(bytes) {
            return Err(cast_error::<T>(error, bytes));
        }
        Ok(bytemuck::checked::cast_slice_mut(bytes))
    }

    /// Publishes the bytes: from now on nobody can change them.
    #[must_use]
    pub fn freeze(self) -> Buffer {
        let len = self.len_bytes();
        Buffer { storage: Arc::new(Storage::Host(self.host)), start: 0, len }
    }
}

impl fmt::Debug for BufferMut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BufferMut({} B)", self.len_bytes())
    }
}

fn cast_error<T: Element>(error: CheckedCastError, bytes: &[u8]) -> MemError {
    let (dtype, len_bytes) = (T::DTYPE, bytes.len());
    match error {
        CheckedCastError::InvalidBitPattern => MemError::BadValue { dtype },
        CheckedCastError::PodCastError(_) if len_bytes % dtype.bytes() != 0 => {
            MemError::PartElement { dtype, len_bytes }
        }
        CheckedCastError::PodCastError(_) => MemError::Unaligned { dtype },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
mod tests {
    use super::*;
    use crate::base::DType;

    #[test]
    fn buffers_are_aligned_and_zero() {
        for len in [0, 1, 63, 64, 65, 1000] {
            let buffer = BufferMut::zeroed(len);
            assert_eq!(buffer.as_bytes(), vec![0; len]);
            assert!(len == 0 || buffer.as_bytes().as_ptr().addr().is_multiple_of(64));
        }
    }

    #[test]
    fn a_buffer_is_writable_again_once_it_is_whole_and_alone() {
        let buffer = Buffer::from_elements(&[1u8, 2, 3]);
        let other = buffer.clone();
        let buffer = buffer.try_into_mut().unwrap_err();
        drop(other);
        let mut unique = buffer.try_into_mut().unwrap();
        unique.as_bytes_mut()[0] = 9;
        let part = unique.freeze().slice(0..2);
        assert_eq!(part.as_bytes(), [9, 2]);
        let part = part.try_into_mut().unwrap_err();
        assert_eq!(BufferMut::copy_of(&part).as_bytes(), [9, 2]);
        assert!(Buffer::from_vec(vec![1u8]).try_into_mut().is_err());
    }

    #[test]
    fn vectors_are_taken_over_as_they_are() {
        let values = vec![1.5f32, -2.0];
        let address = values.as_ptr().addr();
        let buffer = Buffer::from_vec(values);
        assert_eq!(buffer.as_bytes().as_ptr().addr(), address);
        assert_eq!(buffer.slice(4..8).as_elements::<f32>(), Ok(&[-2.0][..]));
    }

    #[test]
    fn elements_are_checked() {
        let buffer = Buffer::from_elements(&[0u8, 1, 2, 0, 1]);
        assert_eq!(buffer.slice(0..2).as_elements::<bool>(), Ok(&[false, true][..]));
        let bad = MemError::BadValue { dtype: DType::Bool };
        assert_eq!(buffer.as_elements::<bool>(), Err(bad));
        let unaligned = MemError::Unaligned { dtype: DType::I32 };
        assert_eq!(buffer.slice(1..5).as_elements::<i32>(), Err(unaligned));
        let part = MemError::PartElement { dtype: DType::F64, len_bytes: 5 };
        assert_eq!(buffer.as_elements::<f64>(), Err(part));
    }
}
