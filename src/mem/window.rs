//! Strided boxes inside buffers.

use smallvec::SmallVec;

use super::MemError;

/// A strided box of elements inside a buffer: nested loops from outermost to innermost, each with an
/// extent in elements and a stride in bytes. Without loops it is one element.
///
/// A window keeps the simplest loops that visit the same bytes in the same order: loops of extent 1
/// vanish and loops that continue each other are one. So windows made in different ways compare equal
/// if they are alike, and copies run over the longest innermost runs.
///
/// # Example
///
/// ```
/// use reshard::mem::Window;
/// // Two rows of three f32 elements, in a matrix whose rows are 20 bytes apart.
/// let window = Window::new(8, [2, 3], [20, 4]);
/// assert_eq!((window.len(), window.end_bytes(4)), (6, 8 + 20 + 3 * 4));
/// // Rows that touch are one run.
/// assert_eq!(Window::new(8, [2, 3], [12, 4]), Window::run(8, 6, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    offset: usize,
    extents: SmallVec<[usize; 4]>,
    strides: SmallVec<[usize; 4]>,
    len: usize,
}

impl Window {
    /// The box that starts at a byte offset, with these extents and byte strides, outermost first.
    ///
    /// # Panics
    ///
    /// If there is not one stride for each extent.
    #[must_use]
    pub fn new(
        offset_bytes: usize,
        extents: impl IntoIterator<Item = usize>,
        strides_bytes: impl IntoIterator<Item = usize>,
    ) -> Self {
        let mut window = Self::element(offset_bytes);
        let mut strides = strides_bytes.into_iter();
        for extent in extents {
            let stride = strides.next().expect("a window needs one stride for each extent");
            window.push(extent, stride);
        }
        assert!(strides.next().is_none(), "a window needs one extent for each stride");
        window
    }

    /// `len` elements one after another.
    #[must_use]
    pub fn run(offset_bytes: usize, len: usize, element_bytes: usize) -> Self {
        let mut window = Self::element(offset_bytes);
        window.push(len, element_bytes);
        window
    }

    fn element(offset: usize) -> Self {
        Self { offset, extents: SmallVec::new(), strides: SmallVec::new(), len: 1 }
    }

    /// Adds a loop within those there are.
    fn push(&mut self, extent: usize, stride: usize) {
        if self.len == 0 || extent == 1 {
            return;
        }
        self.len = self.len.saturating_mul(extent);
        if extent == 0 {
            self.extents = SmallVec::from_elem(0, 1);
            self.strides = SmallVec::from_elem(0, 1);
            return;
        }
        if let (Some(outer), Some(outer_stride)) =
            (self.extents.last_mut(), self.strides.last_mut())
            && extent.checked_mul(stride) == Some(*outer_stride)
        {
            *outer = outer.saturating_mul(extent);
            *outer_stride = stride;
        } else {
            self.extents.push(extent);
            self.strides.push(stride);
        }
    }

    /// The byte of the buffer at which the first element starts.
    #[must_use]
    pub fn offset_bytes(&self) -> usize {
        self.offset
    }

    /// Elements per loop, outermost first.
    #[must_use]
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// Bytes from one element of a loop to the next, outermost loop first.
    #[must_use]
    pub fn strides_bytes(&self) -> &[usize] {
        &self.strides
    }

    /// How many elements; `usize::MAX` if more than a machine word counts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One past the last byte that the window touches, 0 for an empty one; `usize::MAX` if a machine
    /// word cannot count it.
    #[must_use]
    pub fn end_bytes(&self, element_bytes: usize) -> usize {
        if self.is_empty() {
            return 0;
        }
        let reach = |end: usize, (&extent, &stride): (&usize, &usize)| {
            end.saturating_add((extent - 1).saturating_mul(stride))
        };
        let last = self.extents.iter().zip(&self.strides).fold(self.offset, reach);
        last.saturating_add(element_bytes)
    }

    /// The same box, moved `bytes` further into the buffer.
    #[must_use]
    pub fn shifted(&self, bytes: usize) -> Self {
        Self { offset: self.offset.saturating_add(bytes), ..self.clone() }
    }

    /// Whether the elements lie one after another.
    #[must_use]
    pub fn is_contiguous(&self, element_bytes: usize) -> bool {
        match self.strides[..] {
            [] => true,
            [stride] => self.is_empty() || stride == element_bytes,
            _ => false,
        }
    }

    /// Checks that the window lies within a buffer of `len_bytes`.
    pub(crate) fn check_within(
        &self,
        len_bytes: usize,
        element_bytes: usize,
    ) -> Result<(), MemError> {
        let end_bytes = self.end_bytes(element_bytes);
        if end_bytes > len_bytes {
            return Err(MemError::OutOfBounds { end_bytes, len_bytes });
        }
        Ok(())
    }
}

/// Checks every window and counts their elements.
pub(super) fn checked_len(
    windows: &[Window],
    len_bytes: usize,
    element_bytes: usize,
) -> Result<usize, MemError> {
    let mut len: usize = 0;
    for window in windows {
        window.check_within(len_bytes, element_bytes)?;
        len = len.saturating_add(window.len());
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_simplified() {
        let same = Window::run(4, 24, 2);
        assert_eq!(Window::new(4, [2, 3, 4], [24, 8, 2]), same);
        assert_eq!(Window::new(4, [1, 24, 1], [999, 2, 5]), same);
        let rows = Window::new(0, [2, 3, 4], [100, 8, 2]);
        assert_eq!((rows.extents(), rows.strides_bytes()), (&[2, 12][..], &[100, 2][..]));
        assert_eq!(Window::new(4, [1], [7]), Window::new(4, [], []));
        assert_eq!(Window::new(4, [3, 0, 2], [7, 7, 7]), Window::new(4, [0], [1]));
    }

    #[test]
    fn ends_are_exact_and_never_wrap() {
        assert_eq!(Window::new(4, [], []).end_bytes(8), 12);
        assert_eq!(Window::new(4, [3, 2], [40, 8]).end_bytes(8), 4 + 80 + 8 + 8);
        assert_eq!(Window::new(400, [3, 0], [40, 8]).end_bytes(8), 0);
        assert_eq!(Window::new(4, [usize::MAX, 3], [16, 4]).end_bytes(4), usize::MAX);
    }
}
