//! Arrays that a rank gives.

use std::fmt;

use ndarray::{Array, ArrayView, Dimension};

use super::{DataError, Error};
use crate::base::{DType, Element};
use crate::mem::{Buffer, BufferMut};

/// An array in the memory of one rank: a shape, an element type and the elements in row-major order.
///
/// # Example
///
/// ```
/// use reshard::HostArray;
/// let array = HostArray::new([2, 3], vec![1i32, 2, 3, 4, 5, 6])?;
/// assert_eq!(array.shape(), [2, 3]);
/// assert!(HostArray::new([2, 2], vec![1i32, 2, 3]).is_err());
/// # Ok::<(), reshard::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HostArray {
    shape: Vec<usize>,
    /// Whether only the number of elements is known, and the shape says no more.
    is_list: bool,
    dtype: DType,
    buffer: Buffer,
}

impl HostArray {
    /// An array of this shape that takes over its elements without copying.
    ///
    /// # Errors
    ///
    /// [`DataError::ElementCount`] if the shape has another number of elements.
    pub fn new<T: Element>(shape: impl Into<Vec<usize>>, elements: Vec<T>) -> Result<Self, Error> {
        Self::from_buffer(shape, T::DTYPE, Buffer::from_vec(elements))
    }

    /// An array of this shape whose elements are the bytes of a buffer. They are copied only if they do
    /// not lie where elements of the type may.
    ///
    /// # Errors
    ///
    /// [`DataError::ElementCount`] if the shape has another number of elements, [`DataError::NoTruthValue`]
    /// if a truth value is neither 0 nor 1.
    pub fn from_buffer(
        shape: impl Into<Vec<usize>>,
        dtype: DType,
        buffer: Buffer,
    ) -> Result<Self, Error> {
        let shape = shape.into();
        let needed = shape.iter().try_fold(1usize, |len, &dim| len.checked_mul(dim));
        let bytes = needed.and_then(|len| len.checked_mul(dtype.bytes()));
        if bytes != Some(buffer.len_bytes()) {
            let (given, needed) =
                (buffer.len_bytes() / dtype.bytes(), needed.unwrap_or(usize::MAX));
            return Err(DataError::ElementCount { shape, given, needed }.into());
        }
        if dtype == DType::Bool
            && let Some(&byte) = buffer.as_bytes().iter().find(|&&byte| byte > 1)
        {
            return Err(DataError::NoTruthValue { byte }.into());
        }
        let aligned = buffer.as_bytes().as_ptr().addr().is_multiple_of(dtype.bytes());
        let buffer = if aligned { buffer } else { BufferMut::copy_of(&buffer).freeze() };
        Ok(Self { shape, is_list: false, dtype, buffer })
    }

    /// Lengths of the dims.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The elements.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Whether the array can be a local tensor of this shape: it has this shape, or is a list of as many
    /// elements.
    pub(super) fn fits(&self, shape: &[usize]) -> bool {
        self.shape == shape
            || (self.is_list
                && self.shape.iter().product::<usize>() == shape.iter().product::<usize>())
    }

    fn list(dtype: DType, buffer: Buffer) -> Self {
        let len = buffer.len_bytes() / dtype.bytes();
        Self { shape: vec![len], is_list: true, dtype, buffer }
    }
}

/// What can be given as an array: `ndarray` arrays and views, vectors and slices of elements, and
/// [`HostArray`]s. An array in row-major order and a vector are taken over without copying.
pub trait IntoHostArray {
    /// The array.
    fn into_host_array(self) -> HostArray;
}

impl IntoHostArray for HostArray {
    fn into_host_array(self) -> HostArray {
        self
    }
}

impl<T: Element, D: Dimension> IntoHostArray for Array<T, D> {
    fn into_host_array(self) -> HostArray {
        let (shape, len) = (self.shape().to_vec(), self.len());
        if !self.is_standard_layout() {
            return self.view().into_host_array();
        }
        let (elements, offset) = self.into_raw_vec_and_offset();
        let buffer = match (offset.unwrap_or(0), elements.len()) {
            (0, all) if all == len => Buffer::from_vec(elements),
            (offset, _) => Buffer::from_elements(&elements[offset..offset + len]),
        };
        HostArray { shape, is_list: false, dtype: T::DTYPE, buffer }
    }
}

impl<T: Element, D: Dimension> IntoHostArray for &Array<T, D> {
    fn into_host_array(self) -> HostArray {
        self.view().into_host_array()
    }
}

impl<T: Element, D: Dimension> IntoHostArray for ArrayView<'_, T, D> {
    fn into_host_array(self) -> HostArray {
        let buffer = match self.as_slice() {
            Some(elements) => Buffer::from_elements(elements),
            None => Buffer::from_vec(self.iter().copied().collect()),
        };
        HostArray { shape: self.shape().to_vec(), is_list: false, dtype: T::DTYPE, buffer }
    }
}

impl<T: Element> IntoHostArray for Vec<T> {
    fn into_host_array(self) -> HostArray {
        HostArray::list(T::DTYPE, Buffer::from_vec(self))
    }
}

impl<T: Element> IntoHostArray for &[T] {
    fn into_host_array(self) -> HostArray {
        HostArray::list(T::DTYPE, Buffer::from_elements(self))
    }
}

impl<T: Element, const N: usize> IntoHostArray for [T; N] {
    fn into_host_array(self) -> HostArray {
        self.as_slice().into_host_array()
    }
}

/// What a closure that loads an array may return: the array, or a result with it.
pub trait Loaded {
    /// The array, or why there is none.
    ///
    /// # Errors
    ///
    /// The text of the closure's error.
    fn loaded(self) -> Result<HostArray, String>;
}

impl<A: IntoHostArray> Loaded for A {
    fn loaded(self) -> Result<HostArray, String> {
        Ok(self.into_host_array())
    }
}

impl<A: IntoHostArray, E: fmt::Display> Loaded for Result<A, E> {
    fn loaded(self) -> Result<HostArray, String> {
        self.map(A::into_host_array).map_err(|error| error.to_string())
    }
}
