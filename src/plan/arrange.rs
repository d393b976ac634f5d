//! Where an axis may be placed on the way from a source to a goal.

use crate::layout::Cut;
use crate::mesh::Axis;

use super::spread::Cuts;

/// Where an axis cuts while a route is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere.
    Nowhere,
    /// Where the goal has it, with holes kept for the majors that are not there yet.
    Slot(usize),
    /// Minor-most on a dim.
    Minor(usize),
}

/// Whether minor-most axes go below holes kept for the goal's axes that are still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holes {
    Kept,
    Left,
}

/// The places worth trying for an axis: its slot in the goal first, if that is open.
pub(crate) fn places(axis: Axis, base: &Cuts, goal: &Cuts, shape: &[usize]) -> Vec<Place> {
    if shape.contains(&0) {
        return vec![Place::Nowhere];
    }
    let in_dim = |cuts: &[Cut]| cuts.iter().any(|cut| cut.is_held() && cut.axis() == axis);
    let slot = goal.iter().position(|cuts| in_dim(cuts));
    let slot = slot.filter(|&dim| follows(&base[dim], &goal[dim])).map(Place::Slot);
    let minor = (0..goal.len()).map(Place::Minor);
    slot.into_iter().chain(minor).chain([Place::Nowhere]).collect()
}

/// Whether the goal begins as the base does, but for holes that it fills.
fn follows(base: &[Cut], goal: &[Cut]) -> bool {
    let opens = |(base, goal): (&Cut, &Cut)| base == goal || *base == goal.clone().not_held();
    base.len() <= goal.len() && base.iter().zip(goal).all(opens)
}

/// The cuts of `base` with further axes placed, or nothing if one has no slot there: `base`'s axes stay
/// where they are, so the goal's slots are open only in dims where it begins as `base` does.
pub(crate) fn arrange(
    base: &Cuts,
    goal: &Cuts,
    placed: &[(Axis, Place)],
    holes: Holes,
) -> Option<Cuts> {
    let dim = |(dim, (base, goal)): (usize, (&_, &_))| arrange_dim(dim, base, goal, placed, holes);
    base.iter().zip(goal).enumerate().map(dim).collect()
}

fn arrange_dim(
    dim: usize,
    base: &smallvec::SmallVec<[Cut; 2]>,
    goal: &smallvec::SmallVec<[Cut; 2]>,
    placed: &[(Axis, Place)],
    holes: Holes,
) -> Option<smallvec::SmallVec<[Cut; 2]>> {
    let to_slot = |axis: Axis| placed.contains(&(axis, Place::Slot(dim)));
    let has_slots = placed.iter().any(|&(_, place)| place == Place::Slot(dim));
    let follows = follows(base, goal);
    if has_slots && !follows {
        return None;
    }
    let mut cuts = base.clone();
    let mut extras = placed.iter().filter(|&&(_, place)| place == Place::Minor(dim)).peekable();
    if follows {
        for (cut, goal) in cuts.iter_mut().zip(goal) {
            if to_slot(goal.axis()) {
                *cut = goal.clone();
            }
        }
        let rest = &goal[base.len()..];
        let last = rest.iter().rposition(|cut| to_slot(cut.axis())).map_or(0, |at| at + 1);
        let kept = if extras.peek().is_some() && holes == Holes::Kept { rest.len() } else { last };
        for cut in &rest[..kept] {
            let cut = cut.clone();
            cuts.push(if to_slot(cut.axis()) { cut } else { cut.not_held() });
        }
    }
    cuts.extend(extras.map(|&(axis, _)| Cut::new(axis)));
    Some(cuts)
}

/// The cuts with some axes no longer held, their holes kept.
pub(crate) fn opened(cuts: &Cuts, axes: &[Axis]) -> Cuts {
    let open = |cut: &Cut| {
        if axes.contains(&cut.axis()) { cut.clone().not_held() } else { cut.clone() }
    };
    let dim = |cuts: &smallvec::SmallVec<[Cut; 2]>| {
        let mut cuts: smallvec::SmallVec<[Cut; 2]> = cuts.iter().map(open).collect();
        while cuts.last().is_some_and(|cut| !cut.is_held()) {
            cuts.pop();
        }
        cuts
    };
    cuts.iter().map(dim).collect()
}
