//! Where the elements of parts lie in a buffer: windows for the crate, and byte offsets counted out
//! one by one for the test.

use reshard::mem::Window;

/// How parts lie in their buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    /// One after another.
    Packed,
    /// As the columns of a matrix, one part a column.
    Columns,
    /// Last part first; each is a box of rows of two with gaps, then a run of what is left.
    Boxes,
}

impl Style {
    pub(crate) const ALL: [Style; 3] = [Style::Packed, Style::Columns, Style::Boxes];
}

/// One part: the windows, and where each of its elements starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    pub(crate) windows: Vec<Window>,
    pub(crate) offsets: Vec<usize>,
}

impl Placed {
    fn add(&mut self, offset: usize, extents: &[usize], strides: &[usize]) {
        let loops = || extents.iter().copied().zip(strides.iter().copied());
        self.windows.push(Window::new(offset, extents.iter().copied(), strides.iter().copied()));
        let mut offsets = vec![offset];
        for (extent, stride) in loops() {
            offsets =
                offsets.iter().flat_map(|at| (0..extent).map(move |i| at + i * stride)).collect();
        }
        self.offsets.extend(offsets);
    }
}

/// Places parts of these lengths; also the bytes of the buffer.
pub(crate) fn place(lens: &[usize], style: Style, bytes: usize) -> (Vec<Placed>, usize) {
    let mut placed = vec![Placed::default(); lens.len()];
    let mut end = bytes;
    match style {
        Style::Packed => {
            for (part, &len) in placed.iter_mut().zip(lens) {
                part.add(end, &[len], &[bytes]);
                end += len * bytes;
            }
        }
        Style::Columns => {
            let row = (lens.len() + 1) * bytes;
            for (column, (part, &len)) in placed.iter_mut().zip(lens).enumerate() {
                part.add(end + column * bytes, &[len], &[row]);
            }
            end += lens.iter().max().map_or(0, |rows| rows * row);
        }
        Style::Boxes => {
            for (part, &len) in placed.iter_mut().zip(lens).rev() {
                let (rows, row) = (len / 3, 3 * bytes);
                let rest = end + rows * row + bytes;
                part.add(end, &[rows, 2], &[row, bytes]);
                part.add(rest, &[len - 2 * rows, 1], &[bytes, 999]);
                end = rest + (len - 2 * rows) * bytes + 3;
            }
        }
    }
    (placed, end + bytes)
}
