//! The block law: the only place that decides who owns which index of a dim.

use smallvec::{SmallVec, smallvec};

use super::{Cut, LayoutError, Rule};
use crate::base::{Interval, Intervals};
use crate::mesh::{Axis, Mesh};

/// One dim under its cuts: the indices that each coordinate of the axes holds.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    /// The axes whose coordinate matters, major to minor, with their lengths.
    axes: SmallVec<[(Axis, usize); 4]>,
    /// By row-major number of the coordinates on `axes`.
    held: Vec<Intervals>,
}

/// A run of a dim that every further axis cuts by itself.
#[derive(Clone, Copy)]
struct Piece {
    run: Interval,
    owner: usize,
}

impl Blocks {
    /// Cuts a dim of `len`; `dim` is named in errors.
    ///
    /// # Errors
    ///
    /// [`LayoutError`] if segments, unit or sizes do not fit the length.
    pub(crate) fn new(
        mesh: &Mesh,
        cuts: &[Cut],
        dim: usize,
        len: usize,
    ) -> Result<Self, LayoutError> {
        let mut axes = SmallVec::new();
        let mut pieces: SmallVec<[Piece; 16]> =
            smallvec![Piece { run: Interval::new(0, len), owner: 0 }];
        for cut in cuts {
            let ways = mesh.axis_len(cut.axis());
            if let Some(lens) = cut.segment_lens() {
                pieces = broken(&pieces, lens, Place { mesh, cut, dim, len })?;
            }
            pieces = divided(&pieces, ways, Place { mesh, cut, dim, len })?;
            if cut.is_held() {
                axes.push((cut.axis(), ways));
            }
        }
        let owners = axes.iter().map(|&(_, ways)| ways).product();
        let mut held = vec![Intervals::new(); owners];
        pieces.iter().for_each(|piece| held[piece.owner].push(piece.run));
        Ok(Self { axes, held })
    }

    /// Every set of indices that some rank holds, by row-major number of the held coordinates.
    pub(crate) fn held(&self) -> &[Intervals] {
        &self.held
    }

    /// The axes whose coordinate decides, major to minor, with their lengths.
    pub(crate) fn axes(&self) -> &[(Axis, usize)] {
        &self.axes
    }

    /// Which of [`Blocks::held`] the rank at a coordinate holds.
    pub(crate) fn index(&self, coordinate: &[usize]) -> usize {
        self.axes.iter().fold(0, |index, &(axis, ways)| index * ways + coordinate[axis.index()])
    }
}

/// Where an error arose.
#[derive(Clone, Copy)]
struct Place<'a> {
    mesh: &'a Mesh,
    cut: &'a Cut,
    dim: usize,
    len: usize,
}

impl Place<'_> {
    fn axis(self) -> String {
        self.mesh.name(self.cut.axis()).to_owned()
    }
}

/// Breaks pieces at segment boundaries. One piece that is the whole dim becomes one piece a segment,
/// empty ones included, so that rows of sizes can be counted; other pieces break where a boundary lies
/// inside them.
fn broken(
    pieces: &[Piece],
    lens: &[usize],
    at: Place<'_>,
) -> Result<SmallVec<[Piece; 16]>, LayoutError> {
    let total = lens.iter().try_fold(0usize, |sum, &len| sum.checked_add(len));
    if total != Some(at.len) {
        let segments = lens.to_vec();
        return Err(LayoutError::SegmentsSum {
            axis: at.axis(),
            dim: at.dim,
            segments,
            len: at.len,
        });
    }
    let mut out = SmallVec::new();
    for piece in pieces {
        let mut start = 0;
        let before = out.len();
        for &len in lens {
            let run = piece.run.intersect(Interval::new(start, start + len));
            start += len;
            if pieces.len() == 1 || !run.is_empty() {
                let run = Interval::new(run.start, run.end.max(run.start));
                out.push(Piece { run, ..*piece });
            }
        }
        if out.len() == before {
            out.push(*piece);
        }
    }
    Ok(out)
}

/// Divides every piece into one block for each coordinate.
fn divided(
    pieces: &[Piece],
    ways: usize,
    at: Place<'_>,
) -> Result<SmallVec<[Piece; 16]>, LayoutError> {
    let mut out = SmallVec::with_capacity(pieces.len() * ways);
    let owner = |piece: &Piece, index: usize| {
        if at.cut.is_held() { piece.owner * ways + index } else { piece.owner }
    };
    match at.cut.rule() {
        Rule::Unit(unit) => {
            for piece in pieces {
                let block = block_len(piece.run.len(), ways, *unit, at)?;
                for index in 0..ways {
                    let skipped = index.saturating_mul(block).min(piece.run.len());
                    let start = piece.run.start + skipped;
                    let end = start + block.min(piece.run.end - start);
                    out.push(Piece { run: Interval::new(start, end), owner: owner(piece, index) });
                }
            }
        }
        Rule::Sizes(rows) => {
            check_rows(rows.len(), pieces.len(), at)?;
            for (piece, row) in pieces.iter().zip(rows.iter()) {
                check_row(row, piece.run.len(), ways, at)?;
                let mut start = piece.run.start;
                for (index, &len) in row.iter().enumerate() {
                    let run = Interval::new(start, start + len);
                    out.push(Piece { run, owner: owner(piece, index) });
                    start += len;
                }
            }
        }
    }
    Ok(out)
}

fn block_len(piece: usize, ways: usize, unit: usize, at: Place<'_>) -> Result<usize, LayoutError> {
    if unit == 0 || !piece.is_multiple_of(unit) {
        return Err(LayoutError::NotAMultiple { axis: at.axis(), dim: at.dim, piece, unit });
    }
    Ok((piece / unit).div_ceil(ways).saturating_mul(unit))
}

fn check_rows(given: usize, needed: usize, at: Place<'_>) -> Result<(), LayoutError> {
    if given == needed {
        return Ok(());
    }
    Err(LayoutError::SizesRows { axis: at.axis(), dim: at.dim, given, needed })
}

fn check_row(row: &[usize], piece: usize, ways: usize, at: Place<'_>) -> Result<(), LayoutError> {
    let (axis, dim, sizes) = (at.axis(), at.dim, row.to_vec());
    if row.len() != ways {
        return Err(LayoutError::SizesLen { axis, dim, sizes, ways });
    }
    match row.iter().try_fold(0usize, |sum, &len| sum.checked_add(len)) {
        Some(sum) if sum == piece => Ok(()),
        Some(_) | None => Err(LayoutError::SizesSum { axis, dim, sizes, piece }),
    }
}
