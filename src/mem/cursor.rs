//! Walking lists of windows, run by run.

use smallvec::SmallVec;

use super::Window;
use super::run::{Run, copy_run};

/// Walks a list of windows in order; every run it gives lies within one innermost loop.
pub(super) struct Cursor<'a> {
    windows: std::slice::Iter<'a, Window>,
    window: Option<&'a Window>,
    /// The position in every loop but the innermost.
    index: SmallVec<[usize; 4]>,
    /// Where the innermost loop stands for this index.
    start: usize,
    /// What is left of the innermost loop.
    rest: Run,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(windows: &'a [Window]) -> Self {
        Self {
            windows: windows.iter(),
            window: None,
            index: SmallVec::new(),
            start: 0,
            rest: Run { offset: 0, stride: 0, len: 0 },
        }
    }

    /// Starts `skip` elements later; at the end if there are no more.
    pub(super) fn skipping(windows: &'a [Window], mut skip: usize) -> Self {
        let mut cursor = Self::new(windows);
        while skip > 0 {
            cursor.next_window();
            let Some(window) = cursor.window else { break };
            if skip < window.len() {
                cursor.skip_within(window, skip);
                break;
            }
            skip -= window.len();
            cursor.rest.len = 0;
            cursor.window = None;
        }
        cursor
    }

    /// Moves on within a window at whose start the cursor stands, to an element of it.
    fn skip_within(&mut self, window: &Window, element: usize) {
        let mut rows = element;
        if let Some(&len) = window.extents().last() {
            let within = element % len;
            rows = element / len;
            self.rest = innermost(window, self.start);
            self.rest.len -= within;
            self.rest.offset += within * self.rest.stride;
        }
        for dim in (0..self.index.len()).rev() {
            let extent = window.extents()[dim];
            self.index[dim] = rows % extent;
            rows /= extent;
            let bytes = self.index[dim] * window.strides_bytes()[dim];
            self.start += bytes;
            self.rest.offset += bytes;
        }
    }

    /// How many elements the next run can have; 0 at the end.
    pub(super) fn available(&mut self) -> usize {
        if self.rest.len == 0 && !self.next_row() {
            self.next_window();
        }
        self.rest.len
    }

    /// The next `len` elements, of which [`Cursor::available`] has told that they are one run.
    pub(super) fn take(&mut self, len: usize) -> Run {
        let run = Run { len, ..self.rest };
        self.rest.offset += len * self.rest.stride;
        self.rest.len -= len;
        run
    }

    /// The next `len` elements, where they lie if they lie together, else packed into `room`.
    pub(super) fn fetch<'b>(
        &mut self,
        bytes: &'b [u8],
        len: usize,
        room: &'b mut [u8],
        element_bytes: usize,
    ) -> &'b [u8] {
        if self.is_together(len, element_bytes) {
            return &bytes[self.take(len).offset..][..len * element_bytes];
        }
        let packed = &mut room[..len * element_bytes];
        let mut done = 0;
        while done < len {
            let part = self.available().min(len - done);
            let to = Run { offset: done * element_bytes, stride: element_bytes, len: part };
            copy_run((bytes, self.take(part)), (packed, to), element_bytes);
            done += part;
        }
        packed
    }

    /// Writes packed elements to the next places.
    pub(super) fn scatter(&mut self, packed: &[u8], bytes: &mut [u8], element_bytes: usize) {
        let len = packed.len() / element_bytes;
        let mut done = 0;
        while done < len {
            let part = self.available().min(len - done);
            let from = Run { offset: done * element_bytes, stride: element_bytes, len: part };
            copy_run((packed, from), (bytes, self.take(part)), element_bytes);
            done += part;
        }
    }

    /// Whether the next `len` elements lie one after another.
    pub(super) fn is_together(&mut self, len: usize, element_bytes: usize) -> bool {
        len <= self.available() && (self.rest.stride == element_bytes || len == 1)
    }

    /// How many rows of `len` elements that lie together come next, one as far from the other, and how
    /// far: the rest of a run in parts, or whole innermost loops.
    pub(super) fn rows(&mut self, len: usize, element_bytes: usize) -> (usize, usize) {
        if !self.is_together(len, element_bytes) {
            return (0, 0);
        }
        if self.rest.len != len {
            return (self.rest.len / len, len * element_bytes);
        }
        match (self.window, self.index.len().checked_sub(1)) {
            (Some(window), Some(dim)) if window.extents()[dim + 1] == len => {
                (window.extents()[dim] - self.index[dim], window.strides_bytes()[dim])
            }
            _ => (1, 0),
        }
    }

    /// The next rows, of which [`Cursor::rows`] has told; where the first starts.
    pub(super) fn take_rows(&mut self, rows: usize, len: usize) -> usize {
        if rows == 1 || self.rest.len != len {
            return self.take(rows * len).offset;
        }
        let start = self.rest.offset;
        if let (Some(window), Some(dim)) = (self.window, self.index.len().checked_sub(1)) {
            let passed = rows - 1;
            self.index[dim] += passed;
            self.start += passed * window.strides_bytes()[dim];
            self.rest = innermost(window, self.start);
        }
        self.take(len);
        start
    }

    /// Moves on to the next innermost loop of the window; false when there is none.
    fn next_row(&mut self) -> bool {
        let Some(window) = self.window else { return false };
        for dim in (0..self.index.len()).rev() {
            let (extent, stride) = (window.extents()[dim], window.strides_bytes()[dim]);
            self.index[dim] += 1;
            if self.index[dim] < extent {
                self.start += stride;
                self.rest = innermost(window, self.start);
                return true;
            }
            self.index[dim] = 0;
            self.start -= (extent - 1) * stride;
        }
        false
    }

    fn next_window(&mut self) {
        self.window = self.windows.by_ref().find(|window| !window.is_empty());
        if let Some(window) = self.window {
            self.index = SmallVec::from_elem(0, window.extents().len().saturating_sub(1));
            self.start = window.offset_bytes();
            self.rest = innermost(window, self.start);
        }
    }
}

fn innermost(window: &Window, offset: usize) -> Run {
    match (window.extents().last(), window.strides_bytes().last()) {
        (Some(&len), Some(&stride)) => Run { offset, stride, len },
        _ => Run { offset, stride: 0, len: 1 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(mut cursor: Cursor<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        while cursor.available() > 0 {
            found.push(cursor.take(1).offset);
        }
        found
    }

    #[test]
    fn a_cursor_starts_anywhere() {
        let windows = [
            Window::new(3, [], []),
            Window::new(0, [2, 0], [4, 4]),
            Window::new(8, [2, 3, 4], [100, 20, 3]),
            Window::run(500, 5, 2),
            Window::new(600, [3, 2], [1, 50]),
        ];
        let all = offsets(Cursor::new(&windows));
        assert_eq!((all.len(), all[1], all[13], all[30]), (36, 8, 108, 600));
        for skip in 0..=all.len() {
            assert_eq!(offsets(Cursor::skipping(&windows, skip)), all[skip..], "{skip}");
        }
        assert!(offsets(Cursor::skipping(&windows, all.len() + 7)).is_empty());
        assert!(offsets(Cursor::skipping(&[], 7)).is_empty());
    }
}
