//! Buffers: published ones, which anybody may read, and unique ones, which their owner may write.

use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;

use bytemuck::checked::CheckedCastError;

use super::MemError;
use super::storage::{Storage, Unique};
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
    /// None if there are no bytes.
    storage: Option<Storage>,
    start: usize,
    len: usize,
}

impl Buffer {
    /// A buffer of no bytes. It allocates nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self { storage: None, start: 0, len: 0 }
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
        if len == 0 {
            return Self::empty();
        }
        Self { storage: Some(Storage::adopted(elements)), start: 0, len }
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
        Self { storage: self.storage.clone(), start: self.start + range.start, len: range.len() }
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.storage {
            Some(storage) => &storage.bytes()[self.start..self.start + self.len],
            None => &[],
        }
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

    /// Whether both buffers are ranges of one storage. Buffers that never had a byte have the same
    /// storage: none.
    #[must_use]
    pub fn same_storage(&self, other: &Self) -> bool {
        match (&self.storage, &other.storage) {
            (Some(own), Some(other)) => own.is(other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }

    /// Whether the buffer is all of its storage.
    fn is_whole(&self) -> bool {
        self.storage.as_ref().is_none_or(|storage| self.len == storage.bytes().len())
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
        if !(self.is_whole() && self.storage.as_ref().is_some_and(Storage::is_writable)) {
            *self = BufferMut::copy_of(self).freeze();
        }
        match self.storage.as_mut().and_then(Storage::bytes_mut) {
            Some(bytes) => Ok(bytemuck::checked::cast_slice_mut(bytes)),
            None => unreachable!("a copy has its storage to itself"),
        }
    }

    /// The same bytes to write to, without a copy.
    ///
    /// # Errors
    ///
    /// The buffer itself, if others share its storage, it is a part of its storage, or it was taken
    /// over from a vector. [`BufferMut::copy_of`] always works.
    pub fn try_into_mut(self) -> Result<BufferMut, Self> {
        if !self.is_whole() {
            return Err(self);
        }
        let Self { storage, start, len } = self;
        match storage.map(Storage::try_unique).transpose() {
            Ok(unique) => Ok(BufferMut { unique }),
            Err(storage) => Err(Self { storage: Some(storage), start, len }),
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.storage {
            Some(storage) => {
                write!(f, "Buffer({storage:?}, bytes {}..{})", self.start, self.start + self.len)
            }
            None => write!(f, "Buffer(empty)"),
        }
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
    /// None if there are no bytes.
    unique: Option<Unique>,
}

impl BufferMut {
    pub(super) fn empty() -> Self {
        Self { unique: None }
    }

    pub(super) fn of(unique: Unique) -> Self {
        Self { unique: Some(unique) }
    }

    /// A buffer of `len_bytes` bytes, all 0.
    #[must_use]
    pub fn zeroed(len_bytes: usize) -> Self {
        if len_bytes == 0 { Self::empty() } else { Self::of(Unique::zeroed(len_bytes)) }
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
        if bytes.is_empty() { Self::empty() } else { Self::of(Unique::copied(bytes)) }
    }

    /// How many bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.as_bytes().len()
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.unique.as_ref().map_or(&[], Unique::bytes)
    }

    /// The bytes, to write to.
    #[must_use]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        self.unique.as_mut().map_or(&mut [], Unique::bytes_mut)
    }

    /// Where the bytes are. The pointer may be read and written through, by any thread, as long as
    /// this buffer or the one it freezes into lives, wherever either is moved to; but not while
    /// somebody holds a reference to the bytes or, once frozen, writes could be seen.
    pub(crate) fn as_mut_ptr(&mut self) -> NonNull<u8> {
        self.unique.as_ref().map_or(NonNull::dangling(), Unique::data)
    }

    /// The bytes as elements of a type, to write to.
    ///
    /// # Errors
    ///
    /// As [`Buffer::as_elements`].
    pub fn as_elements_mut<T: Element>(&mut self) -> Result<&mut [T], MemError> {
        let bytes = self.as_bytes_mut();
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
        Buffer { storage: self.unique.map(Unique::share), start: 0, len }
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
    use crate::mem::allocations::allocations;

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
    fn writing_to_a_published_buffer_copies_it_unless_it_is_alone() {
        let mut buffer = Buffer::from_elements(&[1i32, 2, 3]);
        let address = |buffer: &Buffer| buffer.as_bytes().as_ptr().addr();
        let at = address(&buffer);
        buffer.make_elements_mut::<i32>().unwrap()[0] = 4;
        assert_eq!(address(&buffer), at);
        let other = buffer.clone();
        buffer.make_elements_mut::<i32>().unwrap()[1] = 5;
        assert_ne!(address(&buffer), at);
        assert_eq!(buffer.as_elements::<i32>(), Ok(&[4, 5, 3][..]));
        assert_eq!(other.as_elements::<i32>(), Ok(&[4, 2, 3][..]));
        drop(other);
        for mut part in [buffer.slice(4..12), Buffer::from_vec(vec![5, 3])] {
            let before = part.clone();
            drop(std::mem::replace(&mut buffer, Buffer::empty()));
            part.make_elements_mut::<i32>().unwrap()[0] = 6;
            assert_eq!(part.as_elements::<i32>(), Ok(&[6, 3][..]));
            assert_eq!(before.as_elements::<i32>(), Ok(&[5, 3][..]));
        }
        assert!(Buffer::empty().make_elements_mut::<i32>().unwrap().is_empty());
    }

    #[test]
    fn the_bytes_stay_where_they_are_wherever_their_owner_goes() {
        let mut buffer = BufferMut::zeroed(100);
        let at = buffer.as_mut_ptr();
        assert_eq!(at.as_ptr().cast_const(), buffer.as_bytes().as_ptr());
        let buffer = Box::new(buffer).freeze();
        assert_eq!(at.as_ptr().cast_const(), buffer.as_bytes().as_ptr());
        let mut buffer = buffer.try_into_mut().unwrap();
        assert_eq!(at, buffer.as_mut_ptr());
        assert!(BufferMut::zeroed(0).as_mut_ptr().as_ptr().is_aligned());
    }

    #[test]
    fn buffers_without_bytes_allocate_nothing() {
        let before = allocations();
        let empty =
            [Buffer::empty(), BufferMut::zeroed(0).freeze(), Buffer::from_elements::<u8>(&[])];
        let other = Buffer::from_vec(Vec::<f32>::new());
        assert!(empty.iter().all(|buffer| buffer.same_storage(&other)));
        assert!(other.try_into_mut().is_ok_and(|buffer| buffer.as_bytes().is_empty()));
        assert_eq!(allocations(), before);
        assert!(!Buffer::from_elements(&[1u8]).same_storage(&empty[0]));
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
