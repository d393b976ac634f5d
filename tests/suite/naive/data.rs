//! Integer-valued data in a layout, and the global tensor that it means.

use super::Twin;

impl Twin {
    /// Data for every coordinate, by position: small integers, independent along partial axes, equal
    /// along replicated ones. Terms of an average are multiples of the number of terms.
    pub(crate) fn locals(&self, seed: u64) -> Vec<Vec<f64>> {
        let local = |coordinate: Vec<usize>| {
            let term = self.term_number(&coordinate);
            self.indices(&coordinate).into_iter().map(|i| self.term(seed, term, i)).collect()
        };
        self.coordinates().into_iter().map(local).collect()
    }

    /// The global tensor that [`Twin::locals`] means.
    pub(crate) fn value(&self, seed: u64) -> Vec<f64> {
        let terms = |i| (0..self.terms_len()).map(|term| self.term(seed, term, i)).collect();
        (0..self.shape.iter().product()).map(|i| self.reduced(terms(i))).collect()
    }

    /// The global tensor that locals, by position, mean.
    ///
    /// Panics if a local has another length than its coordinate holds or if coordinates that differ
    /// only along replicated axes differ in a bit.
    pub(crate) fn assemble(&self, locals: &[Vec<f64>]) -> Vec<f64> {
        let len = self.shape.iter().product();
        let mut terms: Vec<Vec<Option<f64>>> = vec![vec![None; self.terms_len()]; len];
        assert_eq!(locals.len(), self.coordinates().len(), "locals are one a coordinate");
        for (coordinate, local) in self.coordinates().iter().zip(locals) {
            let held = self.indices(coordinate);
            assert_eq!(local.len(), held.len(), "elements at {coordinate:?} of {self:?}");
            for (i, &element) in held.into_iter().zip(local) {
                let seen = terms[i][self.term_number(coordinate)].replace(element);
                let agrees = seen.is_none_or(|seen| seen.to_bits() == element.to_bits());
                assert!(agrees, "element {i}: {seen:?}, but {element} at {coordinate:?}: {self:?}");
            }
        }
        let held = |terms: Vec<Option<f64>>| terms.into_iter().map(|term| term.expect("is held"));
        terms.into_iter().map(|terms| self.reduced(held(terms).collect())).collect()
    }

    fn terms_len(&self) -> usize {
        self.partial.iter().map(|&(axis, _)| self.mesh[axis]).product()
    }

    fn term_number(&self, coordinate: &[usize]) -> usize {
        self.partial.iter().fold(0, |n, &(axis, _)| n * self.mesh[axis] + coordinate[axis])
    }

    /// What the terms of an average are divided by.
    fn divisor(&self) -> f64 {
        let averaged = self.partial.iter().filter(|&&(_, reduction)| reduction == "avg");
        averaged.map(|&(axis, _)| self.mesh[axis]).product::<usize>() as f64
    }

    fn term(&self, seed: u64, term: usize, i: usize) -> f64 {
        let mut word = seed;
        for number in [term, i] {
            word = (word ^ number as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            word ^= word >> 32;
        }
        let drawn = word % 15;
        match self.partial.first() {
            Some((_, "product")) => [1.0, 2.0, -1.0, 1.0, -2.0][drawn as usize % 5],
            Some(_) | None => self.divisor() * (drawn as f64 - 7.0),
        }
    }

    fn reduced(&self, terms: Vec<f64>) -> f64 {
        let mut terms = terms.into_iter();
        let first = terms.next().expect("a mesh has a coordinate");
        match self.partial.first().map(|&(_, reduction)| reduction) {
            None => first,
            Some("sum" | "avg") => terms.fold(first, |all, term| all + term) / self.divisor(),
            Some("product") => terms.fold(first, |all, term| all * term),
            Some("min") => terms.fold(first, |all, term| if term < all { term } else { all }),
            Some("max") => terms.fold(first, |all, term| if term > all { term } else { all }),
            Some(other) => panic!("no reduction {other}"),
        }
    }
}
