//! The loops that combine the terms of a tile, which a compiler turns into vectors.

use std::marker::PhantomData;

use super::fold::Join;
use super::lane::{Lane, Number, elements, elements_mut};
use super::wide::Task;

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
        finish::<L>(self.target, self.divisor, term.len(), |at| L::widen(term[at]));
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
        let join = |at| J::join(L::widen(a[at]), L::widen(b[at]));
        finish::<L>(self.target, self.divisor, len, join);
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

/// Combines the last terms with the totals, and writes the result.
pub(super) struct Last<'a, L: Lane, J, const K: usize> {
    pub(super) terms: [&'a [u8]; K],
    pub(super) totals: &'a [L::Value],
    pub(super) target: &'a mut [u8],
    pub(super) divisor: usize,
    pub(super) join: PhantomData<(L, J)>,
}

impl<L: Lane, J: Join, const K: usize> Task for Last<'_, L, J, K> {
    #[inline(always)]
    fn run(self) {
        let totals = self.totals;
        let terms = self.terms.map(|term| &elements::<L>(term)[..totals.len()]);
        finish::<L>(self.target, self.divisor, totals.len(), |at| {
            let join = |total, term: &&[L::Bytes]| J::join(total, L::widen(term[at]));
            terms.iter().fold(totals[at], join)
        });
    }
}

/// Writes `len` values, divided.
#[inline(always)]
fn finish<L: Lane>(
    target: &mut [u8],
    divisor: usize,
    len: usize,
    value: impl Fn(usize) -> L::Value,
) {
    let target = &mut elements_mut::<L>(target)[..len];
    if L::DIVIDES && divisor != 1 {
        (0..len).for_each(|at| target[at] = L::narrow(value(at).divide(divisor)));
    } else {
        (0..len).for_each(|at| target[at] = L::narrow(value(at)));
    }
}
