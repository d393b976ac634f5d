//! Whether windows touch each other.

use smallvec::SmallVec;

use super::Window;
use super::cursor::Cursor;

/// The positions of two windows of a list that share a byte (the same one twice if a window meets
/// itself), or `None`.
///
/// Windows whose hulls are apart are told apart at once, and so are the interleaved ones of equal
/// strides that tensors have; what is left is decided run by run.
pub(crate) fn overlapping(windows: &[&Window], element_bytes: usize) -> Option<(usize, usize)> {
    let mut order: Vec<usize> = (0..windows.len()).filter(|&i| !windows[i].is_empty()).collect();
    order.sort_unstable_by_key(|&index| windows[index].offset_bytes());
    let nests: Vec<_> = windows.iter().map(|window| Nest::of(window, element_bytes)).collect();
    let mut undecided = false;
    for (at, &index) in order.iter().enumerate() {
        undecided |= nests[index].is_none();
        let end = windows[index].end_bytes(element_bytes);
        let later = order[at + 1..].iter().take_while(|&&j| windows[j].offset_bytes() < end);
        for &other in later {
            let shift = windows[other].offset_bytes() - windows[index].offset_bytes();
            match (&nests[index], &nests[other]) {
                (Some(a), Some(b)) if a.strides_agree(b) => {
                    if a.meets(b, shift as i128, 0) {
                        return Some((index.min(other), index.max(other)));
                    }
                }
                _ => undecided = true,
            }
        }
    }
    if undecided { overlapping_runs(windows, element_bytes) } else { None }
}

/// The loops of a window from the greatest stride to the least, where each loop's stride is beyond
/// all that is within it: no element meets another.
struct Nest {
    /// Extent, stride, and the bytes that one turn of the loop reaches over.
    loops: SmallVec<[(usize, usize, usize); 4]>,
    element_bytes: usize,
}

impl Nest {
    fn of(window: &Window, element_bytes: usize) -> Option<Self> {
        let pairs = window.extents().iter().copied().zip(window.strides_bytes().iter().copied());
        let mut loops: SmallVec<[_; 4]> =
            pairs.map(|(extent, stride)| (extent, stride, 0)).collect();
        loops.sort_unstable_by_key(|&(_, stride, _)| stride);
        let mut reach = element_bytes;
        for (extent, stride, within) in &mut loops {
            if *stride < reach {
                return None;
            }
            *within = reach;
            reach = reach.checked_add(extent.checked_sub(1)?.checked_mul(*stride)?)?;
        }
        loops.reverse();
        Some(Self { loops, element_bytes })
    }

    fn strides_agree(&self, other: &Self) -> bool {
        self.loops.len() == other.loops.len()
            && self.loops.iter().zip(&other.loops).all(|(a, b)| a.1 == b.1)
    }

    /// Whether the loops from `dim` inwards share a byte with the other's, which start `shift` bytes
    /// later.
    fn meets(&self, other: &Self, shift: i128, dim: usize) -> bool {
        let Some(&(extent, stride, within)) = self.loops.get(dim) else {
            return shift.unsigned_abs() < self.element_bytes as u128;
        };
        let (other_extent, _, other_within) = other.loops[dim];
        let stride = stride as i128;
        // Turn `i` here meets turn `j` there only if the bytes they reach over meet:
        // -other_within < shift + (j - i) * stride < within.
        let least = (-(other_within as i128) - shift).div_euclid(stride) + 1;
        let least = least.max(1 - extent as i128);
        let most = (within as i128 - 1 - shift).div_euclid(stride).min(other_extent as i128 - 1);
        (least..=most).any(|turns| self.meets(other, shift + turns * stride, dim + 1))
    }
}

/// The same question answered by sorting every run.
fn overlapping_runs(windows: &[&Window], element_bytes: usize) -> Option<(usize, usize)> {
    let mut stretches: Vec<(usize, usize, usize)> = Vec::new();
    for (index, window) in windows.iter().enumerate() {
        let mut cursor = Cursor::new(std::slice::from_ref(*window));
        loop {
            let len = cursor.available();
            if len == 0 {
                break;
            }
            let run = cursor.take(len);
            if run.stride == element_bytes {
                stretches.push((run.offset, run.offset + len * element_bytes, index));
                continue;
            }
            let starts = (0..len).map(|element| run.offset + element * run.stride);
            stretches.extend(starts.map(|start| (start, start + element_bytes, index)));
        }
    }
    stretches.sort_unstable();
    let met = stretches.windows(2).find(|pair| pair[1].0 < pair[0].1)?;
    Some((met[0].2.min(met[1].2), met[0].2.max(met[1].2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer by marking bytes.
    fn marked(windows: &[&Window], element_bytes: usize) -> bool {
        let mut seen = vec![false; 4096];
        for window in windows {
            let mut cursor = Cursor::new(std::slice::from_ref(*window));
            while cursor.available() > 0 {
                let run = cursor.take(1);
                for byte in &mut seen[run.offset..run.offset + element_bytes] {
                    if std::mem::replace(byte, true) {
                        return true;
                    }
                }
            }
        }
        false
    }

    #[test]
    fn overlaps_are_found_exactly() {
        let extents = [[1, 2], [2, 3], [3, 1], [2, 0], [4, 2]];
        let strides = [[12, 4], [4, 12], [8, 2], [0, 4], [24, 4], [6, 6]];
        let mut windows = Vec::new();
        for offset in [0, 2, 4, 8, 30] {
            for extent in extents {
                windows.extend(strides.map(|stride| Window::new(offset, extent, stride)));
            }
        }
        let mut met = 0;
        for a in &windows {
            for b in &windows {
                let found = overlapping(&[a, b], 4);
                assert_eq!(found.is_some(), marked(&[a, b], 4), "{a:?} and {b:?}");
                met += usize::from(found.is_some());
            }
        }
        assert!(met > 1000 && met < windows.len() * windows.len() - 1000, "{met}");
    }
}
