//! Copying elements from windows to windows.

use std::slice::from_ref;

use super::cursor::Cursor;
use super::nest::Nest;
use super::run::copy_run;
use super::window::checked_len;
use super::{MemError, Window};

/// Copies the elements of the source windows, in order, to the target windows, in order.
///
/// The two lists hold equally many elements, each of `element_bytes` bytes, but need not split alike.
/// Bytes of the target outside its windows keep their values.
///
/// # Errors
///
/// [`MemError`] if the numbers of elements differ or a window reaches past the end.
///
/// # Example
///
/// ```
/// use reshard::mem::{Window, copy};
/// let source = [1u8, 2, 3, 4, 5, 6];
/// let mut target = [0u8; 6];
/// let transposed = Window::new(0, [3, 2], [1, 3]);
/// copy(&source, &[transposed], &mut target, &[Window::run(0, 6, 1)], 1)?;
/// assert_eq!(target, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), reshard::mem::MemError>(())
/// ```
pub fn copy(
    source: &[u8],
    source_windows: &[Window],
    target: &mut [u8],
    target_windows: &[Window],
    element_bytes: usize,
) -> Result<(), MemError> {
    let source_len = checked_len(source_windows, source.len(), element_bytes)?;
    let target_len = checked_len(target_windows, target.len(), element_bytes)?;
    if source_len != target_len {
        return Err(MemError::Counts { source_len, target_len });
    }
    if element_bytes == 0 {
        return Ok(());
    }
    let paired = source_windows.len() == target_windows.len()
        && source_windows.iter().zip(target_windows).all(|(from, to)| from.len() == to.len());
    if !paired {
        copy_runs(source, source_windows, target, target_windows, element_bytes);
        return Ok(());
    }
    for (from, to) in source_windows.iter().zip(target_windows) {
        match Nest::of(from, to, element_bytes) {
            Some(nest) => nest.copy((source, from.offset_bytes()), (target, to.offset_bytes())),
            None => copy_runs(source, from_ref(from), target, from_ref(to), element_bytes),
        }
    }
    Ok(())
}

/// Copies between lists that split differently: the longest stretches that are one run in both.
fn copy_runs(
    source: &[u8],
    source_windows: &[Window],
    target: &mut [u8],
    target_windows: &[Window],
    element_bytes: usize,
) {
    let (mut from, mut to) = (Cursor::new(source_windows), Cursor::new(target_windows));
    loop {
        let len = from.available().min(to.available());
        if len == 0 {
            return;
        }
        copy_run((source, from.take(len)), (target, to.take(len)), element_bytes);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
mod tests {
    use super::*;

    /// Every element's first byte, one by one.
    fn offsets(windows: &[Window]) -> Vec<usize> {
        let mut all = Vec::new();
        for window in windows {
            let mut offsets = vec![window.offset_bytes()];
            for (&extent, &stride) in window.extents().iter().zip(window.strides_bytes()) {
                let turns = |at: &usize| (0..extent).map(|i| at + i * stride).collect::<Vec<_>>();
                offsets = offsets.iter().flat_map(turns).collect();
            }
            all.extend(offsets);
        }
        all
    }

    /// Lists that hold 12 elements of `bytes` bytes in different ways.
    fn lists(bytes: usize) -> [Vec<Window>; 8] {
        let b = bytes;
        [
            vec![Window::run(b, 12, b)],
            vec![Window::run(7 * b, 5, b), Window::run(0, 7, b)],
            vec![Window::new(1, [3, 4], [5 * b, b])],
            vec![Window::new(0, [4, 3], [b, 5 * b])],
            vec![Window::new(0, [2, 0], [b, b]), Window::new(0, [2, 3, 2], [9 * b, 3 * b, 2 * b])],
            vec![Window::new(3, [], []), Window::new(2 * b, [11], [3 * b])],
            vec![Window::new(b, [2, 2, 3], [16 * b, 5 * b, b])],
            vec![Window::new(0, [6, 2], [4 * b, b])],
        ]
    }

    #[test]
    fn lists_may_split_differently() {
        for bytes in [1, 2, 4, 8, 16] {
            let source: Vec<u8> = (0..64 * bytes).map(|at| (at % 251) as u8).collect();
            for from in lists(bytes) {
                for to in lists(bytes) {
                    let mut target = vec![255; source.len()];
                    copy(&source, &from, &mut target, &to, bytes).unwrap();
                    let mut expected = vec![255; source.len()];
                    for (from, to) in offsets(&from).into_iter().zip(offsets(&to)) {
                        expected[to..to + bytes].copy_from_slice(&source[from..from + bytes]);
                    }
                    assert_eq!(target, expected, "{from:?} to {to:?}");
                }
            }
        }
    }

    #[test]
    fn misuse_is_refused() {
        let run = |len| [Window::run(0, len, 4)];
        let mut target = [0; 8];
        let refused = copy(&[0; 8], &run(2), &mut target, &run(1), 4);
        assert_eq!(refused, Err(MemError::Counts { source_len: 2, target_len: 1 }));
        let refused = copy(&[0; 8], &run(3), &mut target, &run(3), 4);
        assert_eq!(refused, Err(MemError::OutOfBounds { end_bytes: 12, len_bytes: 8 }));
    }
}
