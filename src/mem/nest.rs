//! The loops that two windows have in common, and copying in them.
#![allow(unsafe_code, reason = "bounds are checked once for all loops")]

use smallvec::SmallVec;

use super::Window;
use super::run::{Step, copy_bytes, copy_steps};
use super::transpose::{MOST_TRANSPOSED, transpose};

/// One loop of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) extent: usize,
    pub(super) step: Step,
}

/// The loops that two windows have in common, outermost first. No extent is 0.
#[derive(Debug)]
pub(super) struct Nest {
    loops: SmallVec<[Loop; 4]>,
    /// Bytes that lie together in both, of one or more elements.
    together: usize,
}

impl Nest {
    /// The common loops of windows of equal length, if one visits its elements in the loops of the
    /// other or is one run, which fits any loops.
    pub(super) fn of(from: &Window, to: &Window, element_bytes: usize) -> Option<Self> {
        let longer = if from.extents().len() < to.extents().len() { to } else { from };
        let from = strides_over(from, longer.extents(), element_bytes)?;
        let to = strides_over(to, longer.extents(), element_bytes)?;
        let steps = from.into_iter().zip(to).map(|(from, to)| Step { from, to });
        let with_extent = |(&extent, step)| Loop { extent, step };
        let loops = longer.extents().iter().zip(steps).map(with_extent).collect();
        let mut nest = Self { loops, together: element_bytes };
        nest.put_together_last();
        let touching = Step { from: element_bytes, to: element_bytes };
        if let Some(innermost) = nest.loops.last().filter(|innermost| innermost.step == touching) {
            nest.together *= innermost.extent;
            nest.loops.pop();
        }
        Some(nest)
    }

    /// Makes the loop in which the target's elements lie closest the innermost one, and that of the
    /// source the one around it if it is another. The order of what is written must not matter for
    /// that: no element of the target may meet another.
    fn put_together_last(&mut self) {
        let least = |of: fn(&Loop) -> usize| {
            (0..self.loops.len()).rev().min_by_key(|&index| of(&self.loops[index]))
        };
        let (from, to) = (least(|it| it.step.from), least(|it| it.step.to));
        let (Some(from), Some(to)) = (from, to) else { return };
        let last = self.loops.len() - 1;
        if (from, to) == (last, last) || !self.is_target_apart() {
            return;
        }
        let (source_inner, target_inner) = (self.loops[from], self.loops[to]);
        self.loops.remove(from.max(to));
        if from != to {
            self.loops.remove(from.min(to));
            self.loops.push(source_inner);
        }
        self.loops.push(target_inner);
    }

    /// Whether no two elements of the target share a byte, as far as strides tell.
    fn is_target_apart(&self) -> bool {
        let mut loops = self.loops.clone();
        loops.sort_unstable_by_key(|it| it.step.to);
        let mut reach = self.together;
        loops.iter().all(|it| {
            let apart = it.step.to >= reach;
            reach = it.step.to.saturating_mul(it.extent - 1).saturating_add(reach);
            apart
        })
    }

    /// Copies all elements; the first ones stand at the given bytes.
    pub(super) fn copy(&self, source: (&[u8], usize), target: (&mut [u8], usize)) {
        if self.together == 0 || self.loops.iter().any(|it| it.extent == 0) {
            return;
        }
        let ((source, from), (target, to)) = (source, target);
        let fits = self.end(from, |step| step.from).is_some_and(|end| end <= source.len())
            && self.end(to, |step| step.to).is_some_and(|end| end <= target.len());
        assert!(fits, "{self:?} lies in windows that were checked");
        // SAFETY: all loops stay within the slices, which cannot overlap, for one is borrowed mutably.
        unsafe { self.rows(source.as_ptr().add(from), target.as_mut_ptr().add(to)) };
    }

    /// One past the last byte that the loops touch.
    fn end(&self, start: usize, stride: fn(&Step) -> usize) -> Option<usize> {
        let reach =
            |end: usize, it: &Loop| end.checked_add((it.extent - 1).checked_mul(stride(&it.step))?);
        self.loops.iter().try_fold(start.checked_add(self.together)?, reach)
    }

    /// Copies all elements.
    ///
    /// # Safety
    ///
    /// All that the loops reach from these places may be read in the source and written in the target,
    /// and the two do not overlap.
    unsafe fn rows(&self, source: *const u8, target: *mut u8) {
        let bytes = self.together;
        let (outer, inner) = self.loops.split_at(self.loops.len().saturating_sub(2));
        let mut turns: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
        loop {
            let at = |of: fn(&Step) -> usize| -> usize {
                outer.iter().zip(&turns).map(|(it, turn)| of(&it.step) * turn).sum()
            };
            // SAFETY: the caller promises it of every turn of the loops.
            unsafe {
                let (source, target) =
                    (source.add(at(|step| step.from)), target.add(at(|step| step.to)));
                match *inner {
                    [] => copy_bytes(source, target, bytes),
                    [row] => copy_steps(source, target, row.extent, row.step, bytes),
                    [rows, row] => plane(source, target, [rows, row], bytes),
                    _ => unreachable!("two loops are innermost"),
                }
            }
            let next = (0..outer.len()).rev().find(|&dim| {
                turns[dim] = (turns[dim] + 1) % outer[dim].extent;
                turns[dim] != 0
            });
            if next.is_none() {
                return;
            }
        }
    }
}

/// Copies two loops.
///
/// # Safety
///
/// As of [`Nest::rows`].
unsafe fn plane(source: *const u8, target: *mut u8, loops: [Loop; 2], bytes: usize) {
    let [rows, row] = loops;
    // SAFETY: what the caller promises.
    unsafe {
        let disagree = rows.step.from < row.step.from && row.step.to < rows.step.to;
        if disagree && bytes <= MOST_TRANSPOSED {
            return transpose(source, target, loops, bytes);
        }
        for turn in 0..rows.extent {
            let (source, target) =
                (source.add(turn * rows.step.from), target.add(turn * rows.step.to));
            copy_steps(source, target, row.extent, row.step, bytes);
        }
    }
}

/// The strides with which a window's elements are visited in loops of these extents, if they can be.
fn strides_over(
    window: &Window,
    extents: &[usize],
    element_bytes: usize,
) -> Option<SmallVec<[usize; 4]>> {
    if window.extents() == extents {
        return Some(window.strides_bytes().into());
    }
    if !window.is_contiguous(element_bytes) {
        return None;
    }
    let mut strides = SmallVec::from_elem(element_bytes, extents.len());
    for dim in (1..extents.len()).rev() {
        strides[dim - 1] = strides[dim] * extents[dim];
    }
    Some(strides)
}
