//! The loops that combine the terms of a tile, which a compiler turns into vectors.
#![allow(unsafe_code, reason = "the hint that rows will be read takes a pointer")]

use std::marker::PhantomData;

use super::fold::Join;
use super::lane::{Lane, Number, elements, elements_mut};
use super::wide::Task;

/// Rows of elements that lie one after another, each row at the same distance from the one before.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// From the first row on.
    pub(super) bytes: &'a [u8],
    pub(super) stride: usize,
}

/// Rows that lie apart are asked for so many rows ahead, for a machine cannot guess where the next one
/// starts; once it starts, a machine sees the rest coming.
const AHEAD: usize = 4;

/// How much of a row is asked for.
const HEAD_BYTES: usize = 128;

impl<'a> Rows<'a> {
    #[inline(always)]
    fn row<L: Lane>(&self, row: usize, len: usize) -> &'a [L::Bytes] {
        let len_bytes = len * L::BYTES;
        if self.stride > len_bytes {
            prefetch(self.bytes.as_ptr().wrapping_add((row + AHEAD) * self.stride));
        }
        // Said again in elements, so that a compiler knows it.
        &elements::<L>(&self.bytes[row * self.stride..][..len * L::BYTES])[..len]
    }
}

/// Asks for the head of a row that will be read soon; the place need not exist.
#[inline(always)]
fn prefetch(start: *const u8) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..HEAD_BYTES).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; nothing is read through the pointer.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line).cast()) };
    }
}

/// Rows to write.
pub(super) struct RowsMut<'a> {
    pub(super) bytes: &'a mut [u8],
    pub(super) stride: usize,
}

impl RowsMut<'_> {
    #[inline(always)]
    fn row<L: Lane>(&mut self, row: usize, len: usize) -> &mut [L::Bytes] {
        &mut elements_mut::<L>(&mut self.bytes[row * self.stride..][..len * L::BYTES])[..len]
    }
}

/// A row of both terms; not by `map`, which a compiler need not inline.
#[inline(always)]
fn pair<'a, L: Lane>(
    terms: &[Rows<'a>; 2],
    row: usize,
    len: usize,
) -> (&'a [L::Bytes], &'a [L::Bytes]) {
    (terms[0].row::<L>(row, len), terms[1].row::<L>(row, len))
}

/// How many rows of how many elements.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) len: usize,
}

/// Writes a row of values, divided. Not a function of a closure: a compiler may leave calls of closures
/// in the loop, and then it makes no vectors of it.
macro_rules! finish {
    ($lane:ident, $len:ident, $target:expr, $divisor:expr, $at:ident => $value:expr) => {{
        let target = $target;
        if $lane::DIVIDES && $divisor != 1 {
            for $at in 0..$len {
                target[$at] = $lane::narrow($value.divide($divisor));
            }
        } else {
            for $at in 0..$len {
                target[$at] = $lane::narrow($value);
            }
        }
    }};
}

/// Writes the only term, divided.
pub(super) struct Only<'a, L, J> {
    pub(super) shape: Shape,
    pub(super) term: Rows<'a>,
    pub(super) target: RowsMut<'a>,
    pub(super) divisor: usize,
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J> Task for Only<'_, L, J> {
    #[inline(always)]
    fn run(mut self) {
        let Shape { rows, len } = self.shape;
        for row in 0..rows {
            let term = self.term.row::<L>(row, len);
            finish!(L, len, self.target.row::<L>(row, len), self.divisor, at => L::widen(term[at]));
        }
    }
}

/// Writes two terms combined.
pub(super) struct Pair<'a, L, J> {
    pub(super) shape: Shape,
    pub(super) terms: [Rows<'a>; 2],
    pub(super) target: RowsMut<'a>,
    pub(super) divisor: usize,
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for Pair<'_, L, J> {
    #[inline(always)]
    fn run(mut self) {
        let Shape { rows, len } = self.shape;
        for row in 0..rows {
            let (a, b) = pair::<L>(&self.terms, row, len);
            finish!(L, len, self.target.row::<L>(row, len), self.divisor, at => {
                J::join(L::widen(a[at]), L::widen(b[at]))
            });
        }
    }
}

/// Makes totals of the first two terms.
pub(super) struct First<'a, L: Lane, J> {
    pub(super) shape: Shape,
    pub(super) terms: [Rows<'a>; 2],
    pub(super) totals: &'a mut [L::Value],
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for First<'_, L, J> {
    #[inline(always)]
    fn run(self) {
        let len = self.shape.len;
        for (row, totals) in self.totals.chunks_exact_mut(len).enumerate() {
            let (a, b) = pair::<L>(&self.terms, row, len);
            for ((total, &a), &b) in totals.iter_mut().zip(a).zip(b) {
                *total = J::join(L::widen(a), L::widen(b));
            }
        }
    }
}

/// Combines two terms more into the totals.
pub(super) struct More<'a, L: Lane, J> {
    pub(super) shape: Shape,
    pub(super) terms: [Rows<'a>; 2],
    pub(super) totals: &'a mut [L::Value],
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for More<'_, L, J> {
    #[inline(always)]
    fn run(self) {
        let len = self.shape.len;
        for (row, totals) in self.totals.chunks_exact_mut(len).enumerate() {
            let (a, b) = pair::<L>(&self.terms, row, len);
            for ((total, &a), &b) in totals.iter_mut().zip(a).zip(b) {
                *total = J::join(J::join(*total, L::widen(a)), L::widen(b));
            }
        }
    }
}

/// Combines the last term with the totals, and writes the result.
pub(super) struct Last<'a, L: Lane, J> {
    pub(super) shape: Shape,
    pub(super) term: Rows<'a>,
    pub(super) totals: &'a [L::Value],
    pub(super) target: RowsMut<'a>,
    pub(super) divisor: usize,
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for Last<'_, L, J> {
    #[inline(always)]
    fn run(mut self) {
        let len = self.shape.len;
        for (row, totals) in self.totals.chunks_exact(len).enumerate() {
            let totals = &totals[..len];
            let term = self.term.row::<L>(row, len);
            finish!(L, len, self.target.row::<L>(row, len), self.divisor, at => {
                J::join(totals[at], L::widen(term[at]))
            });
        }
    }
}

/// Combines the last two terms with the totals, and writes the result.
pub(super) struct LastTwo<'a, L: Lane, J> {
    pub(super) shape: Shape,
    pub(super) terms: [Rows<'a>; 2],
    pub(super) totals: &'a [L::Value],
    pub(super) target: RowsMut<'a>,
    pub(super) divisor: usize,
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for LastTwo<'_, L, J> {
    #[inline(always)]
    fn run(mut self) {
        let len = self.shape.len;
        for (row, totals) in self.totals.chunks_exact(len).enumerate() {
            let totals = &totals[..len];
            let (a, b) = pair::<L>(&self.terms, row, len);
            finish!(L, len, self.target.row::<L>(row, len), self.divisor, at => {
                J::join(J::join(totals[at], L::widen(a[at])), L::widen(b[at]))
            });
        }
    }
}
