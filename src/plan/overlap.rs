//! How the blocks of a dim before and after overlap.

use crate::base::Interval;
use crate::layout::Blocks;

/// For one dim, how many indices each block before shares with each block after.
#[derive(Clone, Debug)]
pub(crate) struct Overlap {
    columns: usize,
    /// By block before, then block after.
    common: Vec<usize>,
    /// Blocks after that each block before meets.
    met_after: Vec<usize>,
    /// Blocks before that each block after meets.
    met_before: Vec<usize>,
}

impl Overlap {
    pub(crate) fn new(before: &Blocks, after: &Blocks) -> Self {
        let (rows, columns) = (before.held().len(), after.held().len());
        let mut overlap = Self {
            columns,
            common: vec![0; rows * columns],
            met_after: vec![0; rows],
            met_before: vec![0; columns],
        };
        let (before, after) = (ascending(before), ascending(after));
        let (mut i, mut j) = (0, 0);
        while let (Some(&(a, row)), Some(&(b, column))) = (before.get(i), after.get(j)) {
            overlap.meet(row, column, a.intersect(b).len());
            if a.end <= b.end { i += 1 } else { j += 1 }
        }
        overlap
    }

    fn meet(&mut self, row: usize, column: usize, len: usize) {
        if len == 0 {
            return;
        }
        let common = &mut self.common[row * self.columns + column];
        if *common == 0 {
            self.met_after[row] += 1;
            self.met_before[column] += 1;
        }
        *common += len;
    }

    /// Indices that a block before shares with a block after.
    pub(crate) fn common(&self, before: u32, after: u32) -> usize {
        self.common[before as usize * self.columns + after as usize]
    }

    /// How many blocks after a block before meets.
    pub(crate) fn met_after(&self, before: u32) -> usize {
        self.met_after[before as usize]
    }

    /// How many blocks before a block after meets.
    pub(crate) fn met_before(&self, after: u32) -> usize {
        self.met_before[after as usize]
    }
}

/// All runs of a dim, ascending, with the block that holds each. Held blocks never share an index.
fn ascending(blocks: &Blocks) -> Vec<(Interval, usize)> {
    let runs = |(block, held): (usize, &crate::base::Intervals)| {
        held.as_slice().iter().map(move |&run| (run, block)).collect::<smallvec::SmallVec<[_; 4]>>()
    };
    let mut all: Vec<_> = blocks.held().iter().enumerate().flat_map(runs).collect();
    if !all.is_sorted() {
        all.sort_unstable();
    }
    all
}
