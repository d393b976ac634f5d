//! Blocks of numbers read from windows and written to them.

use super::cursor::{Cursor, Run};
use super::lane::Lane;

/// Numbers calculated with at a time: few enough for the innermost cache.
pub(super) const BLOCK: usize = 512;

/// Reads the next elements, as many as there are values or windows left; how many.
pub(super) fn load<L: Lane>(
    bytes: &[u8],
    cursor: &mut Cursor<'_>,
    values: &mut [L::Value],
) -> usize {
    let mut done = 0;
    loop {
        let len = cursor.available().min(values.len() - done);
        if len == 0 {
            return done;
        }
        let run = cursor.take(len);
        let values = &mut values[done..done + len];
        for_each_stretch::<L>(run, |offset, from, len| {
            L::widen(&bytes[offset..offset + len * L::BYTES], &mut values[from..from + len]);
        });
        done += len;
    }
}

/// Writes the values to the next elements.
pub(super) fn store<L: Lane>(values: &[L::Value], bytes: &mut [u8], cursor: &mut Cursor<'_>) {
    let mut done = 0;
    loop {
        let len = cursor.available().min(values.len() - done);
        if len == 0 {
            return;
        }
        let run = cursor.take(len);
        let values = &values[done..done + len];
        for_each_stretch::<L>(run, |offset, from, len| {
            L::narrow(&values[from..from + len], &mut bytes[offset..offset + len * L::BYTES]);
        });
        done += len;
    }
}

/// Visits a run as contiguous stretches: byte offset, first element, elements.
fn for_each_stretch<L: Lane>(run: Run, mut visit: impl FnMut(usize, usize, usize)) {
    if run.stride == L::BYTES {
        return visit(run.offset, 0, run.len);
    }
    (0..run.len).for_each(|index| visit(run.offset + index * run.stride, index, 1));
}
