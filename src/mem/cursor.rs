//! Walking lists of windows, run by run.

use smallvec::SmallVec;

use super::Window;

/// Elements at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first element's byte.
    pub(super) offset: usize,
    /// Bytes from element to element.
    pub(super) stride: usize,
    pub(super) len: usize,
}

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
