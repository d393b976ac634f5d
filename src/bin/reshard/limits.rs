//! How large a problem may be: beyond these limits a text of a few bytes could ask for hours or for
//! more memory than there is.

use reshard::plan::Transition;
use reshard::{Layout, Rank};

use crate::failure::Failure;

/// Dims of a tensor.
pub(crate) const DIMS: usize = 32;
/// Ranks of a mesh that is planned for.
pub(crate) const PLANNED_RANKS: usize = 4096;
/// Ranks that are run, each a thread.
pub(crate) const RUN_RANKS: usize = 1024;
/// Elements of a tensor that is carried, and of all its local tensors together.
const RUN_ELEMENTS: usize = 1 << 24;
/// Pieces of the dims of a tensor that is carried, on all ranks together.
const RUN_PIECES: usize = 1 << 24;

pub(crate) fn check_dims(shape: &[usize]) -> Result<(), Failure> {
    at_most(shape.len(), DIMS, "dims").map_err(|failure| failure.of("shape"))
}

/// Checks the number of ranks before they are listed; a mesh without ranks is judged elsewhere.
pub(crate) fn check_mesh(axes: &[(String, usize)], limit: usize) -> Result<(), Failure> {
    let ranks = axes.iter().fold(1usize, |ranks, &(_, len)| ranks.saturating_mul(len));
    at_most(axes.len(), limit, "axes")?;
    at_most(ranks, limit, "ranks")
}

/// Checks the number of threads that the ranks need.
pub(crate) fn check_world(last: Rank) -> Result<(), Failure> {
    at_most(last.saturating_add(1), RUN_RANKS, "ranks")
}

/// Checks what the ranks hold together before any memory is asked for.
pub(crate) fn check_held(transition: &Transition) -> Result<(), Failure> {
    let shape = transition.shape();
    let elements = shape.iter().fold(1usize, |elements, &len| elements.saturating_mul(len));
    at_most(elements, RUN_ELEMENTS, "elements").map_err(|failure| failure.of("shape"))?;
    for layout in [transition.source(), transition.target()] {
        at_most(pieces(layout).saturating_mul(layout.mesh().len()), RUN_PIECES, "pieces")
            .map_err(|failure| failure.of(&format!("all ranks under {layout}")))?;
        let mut held = 0usize;
        for &rank in layout.mesh().ranks() {
            held = held.saturating_add(layout.region(shape, rank)?.len());
        }
        at_most(held, RUN_ELEMENTS, "elements")
            .map_err(|failure| failure.of(&format!("all ranks under {layout}")))?;
    }
    Ok(())
}

/// The most pieces that the cuts of a layout make of a dim.
fn pieces(layout: &Layout) -> usize {
    let of_dim = |dim| {
        layout.cuts(dim).iter().fold(1usize, |pieces, cut| {
            let segments = cut.segment_lens().map_or(1, <[usize]>::len);
            let ways = layout.mesh().axis_len(cut.axis());
            pieces.saturating_add(segments).saturating_mul(ways)
        })
    };
    (0..layout.ndim()).map(of_dim).max().unwrap_or(1)
}

fn at_most(given: usize, limit: usize, what: &str) -> Result<(), Failure> {
    if given <= limit {
        return Ok(());
    }
    let given = if given == usize::MAX { "too many".to_owned() } else { given.to_string() };
    Err(Failure::new(
        "limit",
        format!("{given} {what} are asked for, but {limit} is the limit here"),
    ))
}
