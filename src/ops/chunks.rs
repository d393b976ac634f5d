//! Rows run through chunk by chunk, so that each chunk can be on its way while another is multiplied.

use std::ops::Range;

use crate::base::DType;
use crate::layout::{Blocks, Cut, Layout, LayoutError};
use crate::mesh::Rank;

/// Into how many chunks of rows a product is divided whose communication runs in the background.
///
/// One chunk is the product without overlap. There are never more chunks than rows on the rank that has
/// most. By default a chunk is at least 1 MiB of the tensor that is carried, all ranks together, and there
/// are at most 8: each costs a meeting of the ranks.
///
/// # Example
///
/// ```
/// use reshard::ops::Chunks;
/// assert_eq!(Chunks::of(0), Chunks::of(1));
/// assert_ne!(Chunks::of(4), Chunks::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunks(Option<usize>);

impl Chunks {
    /// So many; at least one.
    #[must_use]
    pub const fn of(count: usize) -> Self {
        Self(Some(if count == 0 { 1 } else { count }))
    }

    /// How many for a tensor of so many bytes.
    fn count(self, bytes: usize) -> usize {
        const LEAST_BYTES: usize = 1 << 20;
        const MOST: usize = 8;
        self.0.unwrap_or_else(|| (bytes / LEAST_BYTES).clamp(1, MOST))
    }
}

/// How dim 0 of a tensor in two layouts is run through in chunks. In the fine layout it is cut as in the
/// coarse one and then further; each chunk has rows of every block of the fine layout, so that a rank's
/// rows of a chunk are consecutive there.
pub(super) struct Chunking {
    count: usize,
    /// Rows of every block of the fine layout.
    blocks: Vec<usize>,
    /// How many of them make a block of the coarse layout.
    ways: usize,
    /// This rank's; `None` outside the mesh.
    own: Option<usize>,
}

impl Chunking {
    /// `None` if dim 0 is not divided so, or one chunk is enough.
    pub(super) fn new(
        [fine, coarse]: [&Layout; 2],
        (shape, dtype): (&[usize], DType),
        chunks: Chunks,
        rank: Rank,
    ) -> Option<Self> {
        let mesh = fine.mesh();
        if mesh != coarse.mesh() || shape.len() < 2 {
            return None;
        }
        let (cuts, kept) = (fine.normal_cuts(0), coarse.normal_cuts(0));
        let simple = |cut: &Cut| cut.is_held() && cut.segment_lens().is_none();
        if !cuts.starts_with(kept) || !cuts.iter().all(simple) {
            return None;
        }
        let held = Blocks::new(mesh, cuts, 0, shape[0]).ok()?;
        let blocks: Vec<usize> = held.held().iter().map(|rows| rows.len()).collect();
        let bytes = shape.iter().fold(dtype.bytes(), |bytes, &len| bytes.saturating_mul(len));
        let most = blocks.iter().copied().max().unwrap_or(0);
        let count = chunks.count(bytes).min(most);
        let ways = cuts[kept.len()..].iter().map(|cut| mesh.axis_len(cut.axis())).product();
        let own = mesh.coordinate(rank).map(|coordinate| held.index(&coordinate));
        (count > 1).then_some(Self { count, blocks, ways, own })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The shape of a chunk of a tensor of this shape.
    pub(super) fn shape(&self, shape: &[usize], chunk: usize) -> Vec<usize> {
        let rows = (0..self.blocks.len()).map(|block| self.rows(block, chunk).len()).sum();
        let mut shape = shape.to_vec();
        shape[0] = rows;
        shape
    }

    /// The fine or the coarse layout, of a chunk.
    pub(super) fn layout(&self, layout: &Layout, chunk: usize) -> Result<Layout, LayoutError> {
        let mesh = layout.mesh();
        let lens: Vec<usize> =
            (0..self.blocks.len()).map(|block| self.rows(block, chunk).len()).collect();
        let mut per_block = lens.len();
        let cut = |cut: &Cut| {
            let per_piece = per_block;
            per_block /= mesh.axis_len(cut.axis());
            let sizes = |piece: &[usize]| -> Vec<usize> {
                piece.chunks(per_block).map(|block| block.iter().sum()).collect()
            };
            Cut::new(cut.axis()).sizes(lens.chunks(per_piece).map(sizes))
        };
        let mut dims = vec![layout.normal_cuts(0).iter().map(cut).collect::<Vec<_>>()];
        dims.extend((1..layout.ndim()).map(|dim| layout.normal_cuts(dim).to_vec()));
        Layout::new(mesh, dims, layout.normal_partial().iter().copied())
    }

    /// The rows of a chunk in this rank's block of the fine layout; none outside the mesh.
    pub(super) fn own_rows(&self, chunk: usize) -> Range<usize> {
        self.own.map_or(0..0, |own| self.rows(own, chunk))
    }

    /// The rows of a chunk in this rank's block of the coarse layout, and in that of the chunk; each row
    /// stands for `inner` of them.
    pub(super) fn runs(&self, chunk: usize, inner: usize) -> Vec<(Range<usize>, Range<usize>)> {
        let Some(own) = self.own else { return Vec::new() };
        let first = own / self.ways * self.ways;
        let (mut before, mut packed) = (0, 0);
        let run = |block| {
            let rows = self.rows(block, chunk);
            let whole = (before + rows.start) * inner..(before + rows.end) * inner;
            let part = packed * inner..(packed + rows.len()) * inner;
            before += self.blocks[block];
            packed += rows.len();
            (whole, part)
        };
        (first..first + self.ways).map(run).collect()
    }

    /// The rows of a chunk in a block of the fine layout.
    fn rows(&self, block: usize, chunk: usize) -> Range<usize> {
        let len = self.blocks[block];
        let until = |chunks: usize| (len as u128 * chunks as u128 / self.count as u128) as usize;
        until(chunk)..until(chunk + 1)
    }
}
