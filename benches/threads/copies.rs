//! The yardstick: plain copies of as many bytes as a rank must read and write.

use crate::case::{Block, Case};

/// The copies of one rank: a block of a matrix into memory of its own.
///
/// For a source without terms, the block is the rank's part of the result, and the matrix is the whole
/// tensor, so ranks that need the same elements read the same memory. A reduction reads more than it
/// writes; its copies have half of the sum in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    pub(crate) block: Block,
}

impl Copies {
    /// The matrix that the copies of all ranks read.
    pub(crate) fn matrix(case: &Case) -> Vec<f32> {
        let rows = (0..case.ranks()).filter_map(|rank| Some(case.copies(rank)?.block[0].end)).max();
        vec![1.0; rows.unwrap_or(0) * case.shape[1]]
    }

    /// The elements that are written.
    pub(crate) fn written_len(&self) -> usize {
        self.block[0].len() * self.block[1].len()
    }

    /// Carries them out, a run of consecutive elements at a time.
    pub(crate) fn run(&self, matrix: &[f32], width: usize, to: &mut [f32]) {
        let [rows, columns] = &self.block;
        if columns.len() == width {
            return to.copy_from_slice(&matrix[rows.start * width..rows.end * width]);
        }
        for (row, to) in rows.clone().zip(to.chunks_exact_mut(columns.len())) {
            to.copy_from_slice(&matrix[row * width + columns.start..row * width + columns.end]);
        }
    }
}
