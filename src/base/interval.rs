//! Runs of consecutive indices of one dim.

use smallvec::SmallVec;

/// A run of consecutive indices of one dim, `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// The first index.
    pub start: usize,
    /// One past the last index.
    pub end: usize,
}

impl Interval {
    /// The indices `start..end`; empty if `end <= start`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// How many indices.
    #[must_use]
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether there is no index.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The indices in both.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self { start: self.start.max(other.start), end: self.end.min(other.end) }
    }
}

/// A set of indices of one dim: sorted, disjoint, non-empty intervals that do not touch.
///
/// A local tensor stores the indices in ascending order, without gaps.
///
/// # Example
///
/// ```
/// use reshard::{Interval, Intervals};
/// let rows: Intervals = [Interval::new(0, 4), Interval::new(4, 4), Interval::new(8, 10)].into_iter().collect();
/// assert_eq!(rows.len(), 6);
/// assert_eq!(rows.as_slice(), [Interval::new(0, 4), Interval::new(8, 10)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Intervals {
    runs: SmallVec<[Interval; 2]>,
    len: usize,
}

impl Intervals {
    /// No index.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All indices of a dim of `len`.
    #[must_use]
    pub fn all(len: usize) -> Self {
        std::iter::once(Interval::new(0, len)).collect()
    }

    /// Adds a run that starts at or after the end of the last one; an empty run adds nothing.
    pub fn push(&mut self, run: Interval) {
        if run.is_empty() {
            return;
        }
        self.len += run.len();
        match self.runs.last_mut() {
            Some(last) if last.end == run.start => last.end = run.end,
            Some(last) => {
                debug_assert!(last.end < run.start, "{run:?} after {last:?}");
                self.runs.push(run);
            }
            None => self.runs.push(run),
        }
    }

    /// How many indices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no index.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The runs, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[Interval] {
        &self.runs
    }

    /// The runs, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Interval> + '_ {
        self.runs.iter().copied()
    }

    /// Every index, ascending.
    pub fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.runs.iter().flat_map(|run| run.start..run.end)
    }

    /// The indices in both.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let mut common = Self::new();
        self.for_each_common(other, |run| common.push(run));
        common
    }

    /// How many indices are in both, without building the set.
    #[must_use]
    pub fn common_len(&self, other: &Self) -> usize {
        let mut len = 0;
        self.for_each_common(other, |run| len += run.len());
        len
    }

    fn for_each_common(&self, other: &Self, mut visit: impl FnMut(Interval)) {
        let (mut i, mut j) = (0, 0);
        while let (Some(&a), Some(&b)) = (self.runs.get(i), other.runs.get(j)) {
            let both = a.intersect(b);
            if !both.is_empty() {
                visit(both);
            }
            if a.end <= b.end { i += 1 } else { j += 1 }
        }
    }
}

impl FromIterator<Interval> for Intervals {
    /// Collects runs that ascend.
    fn from_iter<I: IntoIterator<Item = Interval>>(runs: I) -> Self {
        let mut all = Self::new();
        runs.into_iter().for_each(|run| all.push(run));
        all
    }
}
