//! The loops that combine the terms of a tile, which a compiler turns into vectors.

use std::marker::PhantomData;

use super::fold::Join;
use super::lane::{Lane, Number, elements, elements_mut};
use super::wide::Task;

/// Writes `len` values, divided. Not a function of a closure: a compiler may leave calls of closures in
/// the loop, and then it makes no vectors of it.
macro_rules! finish {
    ($lane:ident, $task:ident, $len:expr, $at:ident => $value:expr) => {{
        let len = $len;
        let target = &mut elements_mut::<$lane>($task.target)[..len];
        if $lane::DIVIDES && $task.divisor != 1 {
            for $at in 0..len {
                target[$at] = $lane::narrow($value.divide($task.divisor));
            }
        } else {
            for $at in 0..len {
                target[$at] = $lane::narrow($value);
            }
        }
    }};
}

/// Writes the only term, divided.
pub(super) struct Only<'a, L, J> {
    pub(super) term: &'a [u8],
    pub(super) target: &'a mut [u8],
    pub(super) divisor: usize,
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J> Task for Only<'_, L, J> {
    #[inline(always)]
    fn run(self) {
        let term = elements::<L>(self.term);
        finish!(L, self, term.len(), at => L::widen(term[at]));
    }
}

/// Writes two terms combined.
pub(super) struct Pair<'a, L, J> {
    pub(super) terms: [&'a [u8]; 2],
    pub(super) target: &'a mut [u8],
    pub(super) divisor: usize,
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for Pair<'_, L, J> {
    #[inline(always)]
    fn run(self) {
        let [a, b] = self.terms.map(elements::<L>);
        let len = a.len().min(b.len());
        let (a, b) = (&a[..len], &b[..len]);
        finish!(L, self, len, at => J::join(L::widen(a[at]), L::widen(b[at])));
    }
}

/// Makes totals of the first two terms.
pub(super) struct First<'a, L: Lane, J> {
    pub(super) terms: [&'a [u8]; 2],
    pub(super) totals: &'a mut [L::Value],
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for First<'_, L, J> {
    #[inline(always)]
    fn run(self) {
        let [a, b] = self.terms.map(elements::<L>);
        for ((total, &a), &b) in self.totals.iter_mut().zip(a).zip(b) {
            *total = J::join(L::widen(a), L::widen(b));
        }
    }
}

/// Combines two terms more into the totals.
pub(super) struct More<'a, L: Lane, J> {
    pub(super) terms: [&'a [u8]; 2],
    pub(super) totals: &'a mut [L::Value],
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for More<'_, L, J> {
    #[inline(always)]
    fn run(self) {
        let [a, b] = self.terms.map(elements::<L>);
        for ((total, &a), &b) in self.totals.iter_mut().zip(a).zip(b) {
            *total = J::join(J::join(*total, L::widen(a)), L::widen(b));
        }
    }
}

/// Combines the last term with the totals, and writes the result.
pub(super) struct Last<'a, L: Lane, J> {
    pub(super) term: &'a [u8],
    pub(super) totals: &'a [L::Value],
    pub(super) target: &'a mut [u8],
    pub(super) divisor: usize,
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for Last<'_, L, J> {
    #[inline(always)]
    fn run(self) {
        let totals = self.totals;
        let term = &elements::<L>(self.term)[..totals.len()];
        finish!(L, self, totals.len(), at => J::join(totals[at], L::widen(term[at])));
    }
}

/// Combines the last two terms with the totals, and writes the result.
pub(super) struct LastTwo<'a, L: Lane, J> {
    pub(super) terms: [&'a [u8]; 2],
    pub(super) totals: &'a [L::Value],
    pub(super) target: &'a mut [u8],
    pub(super) divisor: usize,
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join> Task for LastTwo<'_, L, J> {
    #[inline(always)]
    fn run(self) {
        let totals = self.totals;
        let [a, b] = self.terms.map(|term| &elements::<L>(term)[..totals.len()]);
        finish!(L, self, totals.len(), at => {
            J::join(J::join(totals[at], L::widen(a[at])), L::widen(b[at]))
        });
    }
}
