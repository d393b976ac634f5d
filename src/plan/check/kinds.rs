//! The kind of a step says what its layouts do.

use crate::base::{Reduction, Region};
use crate::mesh::{Axis, Rank};

use super::view::{View, distinct};
use super::{Promise, promise};
use crate::plan::{Algorithm, StepKind};

/// The step's own data agree with each other, and its kind with its layouts.
pub(super) fn fits(view: &View<'_>) -> Promise {
    labels(view)?;
    partial(view)?;
    for group in view.groups() {
        match view.step.kind() {
            StepKind::Slice => within(view, &group)?,
            StepKind::Scale => unchanged(view, &group)?,
            StepKind::Seed => within_source(view, &group)?,
            StepKind::AllReduce => combined(view, &group, Parts::Whole)?,
            StepKind::ReduceScatter => combined(view, &group, Parts::Apart)?,
            StepKind::Reduce => combined(view, &group, Parts::One)?,
            StepKind::AllGather => gathered(view, &group)?,
            StepKind::Broadcast => {
                sided(view, &group, (Side::One, Side::Any))?;
                covered(view, &group)?;
            }
            StepKind::Scatter => sided(view, &group, (Side::One, Side::Apart))?,
            StepKind::Gather => sided(view, &group, (Side::Any, Side::One))?,
            StepKind::AllToAll => sided(view, &group, (Side::Apart, Side::Apart))?,
            StepKind::Permute | StepKind::SendRecv | StepKind::Exchange => covered(view, &group)?,
        }
    }
    match view.step.kind() {
        StepKind::Seed => seeded(view),
        StepKind::Permute | StepKind::SendRecv => {
            let most = view.step.busiest_messages();
            promise(most <= 1, || format!("has a rank with {most} messages, not one"))
        }
        StepKind::Slice
        | StepKind::Scale
        | StepKind::AllReduce
        | StepKind::ReduceScatter
        | StepKind::Reduce
        | StepKind::AllGather
        | StepKind::Broadcast
        | StepKind::Scatter
        | StepKind::Gather
        | StepKind::AllToAll
        | StepKind::Exchange => Ok(()),
    }
}

fn labels(view: &View<'_>) -> Promise {
    let (step, one_mesh) = (view.step, view.is_on_one_mesh());
    let (kind, algorithm) = (step.kind(), step.algorithm());
    let known = algorithm == kind.algorithm()
        || (kind == StepKind::Exchange && algorithm == Algorithm::Relay);
    promise(known, || format!("is counted as {algorithm}"))?;
    let fits = match kind {
        StepKind::SendRecv => !one_mesh,
        StepKind::Slice
        | StepKind::Broadcast
        | StepKind::Scatter
        | StepKind::Gather
        | StepKind::Exchange => true,
        StepKind::Seed
        | StepKind::Scale
        | StepKind::AllGather
        | StepKind::AllReduce
        | StepKind::ReduceScatter
        | StepKind::Reduce
        | StepKind::AllToAll
        | StepKind::Permute => one_mesh,
    };
    promise(fits, || format!("is no step on {} mesh", if one_mesh { "one" } else { "a second" }))?;
    let has_axes = one_mesh && !kind.is_local();
    promise(has_axes != step.axes().is_empty(), || {
        format!("moves along {} axes", step.axes().len())
    })?;
    let carried = step.axes().iter().find(|axis| view.plan.carried.contains(axis));
    promise(carried.is_none(), || "moves along an axis that stays partial".to_owned())?;
    let groups = view.groups();
    let len = groups.first().map_or(0, Vec::len);
    promise(step.group_len() == len, || {
        format!("has groups of {}, not of {len}", step.group_len())
    })?;
    let bytes = view.plan.transition().dtype().bytes();
    promise(step.element_bytes == bytes, || {
        format!("counts {} bytes an element, not {bytes}", step.element_bytes)
    })
}

/// Exactly the axes that a step reduces or seeds change.
fn partial(view: &View<'_>) -> Promise {
    let (before, after) = (&view.before.partial, &view.after.partial);
    let axes = view.step.axes();
    let linear = |(axis, reduction): &(Axis, Reduction)| (*axis, reduction.is_linear());
    let holds = match view.step.kind() {
        StepKind::AllReduce | StepKind::ReduceScatter | StepKind::Reduce => {
            let rest = before.iter().filter(|(axis, _)| !axes.contains(axis));
            axes.iter().all(|&axis| view.before.is_partial(axis)) && rest.eq(after)
        }
        StepKind::Seed => {
            after.len() > before.len() && before.iter().all(|pair| after.contains(pair))
        }
        StepKind::Scale => {
            let differ = before.iter().zip(after).filter(|(a, b)| a != b);
            before != after
                && before.iter().map(linear).eq(after.iter().map(linear))
                && differ.clone().all(|(a, _)| a.1.is_linear())
        }
        StepKind::Slice
        | StepKind::AllGather
        | StepKind::AllToAll
        | StepKind::Permute
        | StepKind::Broadcast
        | StepKind::Scatter
        | StepKind::Gather
        | StepKind::SendRecv
        | StepKind::Exchange => before == after && (view.is_on_one_mesh() || before.is_empty()),
    };
    promise(holds, || format!("cannot make {} of {}", view.step.target(), view.step.source()))
}

/// Each rank's target is within what it holds.
fn within(view: &View<'_>, group: &[Rank]) -> Promise {
    for (rank, target) in view.receivers(group) {
        let held = view.before.region(rank).map_or(0, |held| held.common_len(target));
        promise(held == target.len(), || {
            format!("leaves rank {rank} with {held} of {} elements", target.len())
        })?;
    }
    Ok(())
}

fn unchanged(view: &View<'_>, group: &[Rank]) -> Promise {
    within(view, group)?;
    within_source(view, group)
}

/// What each rank holds is within its target.
fn within_source(view: &View<'_>, group: &[Rank]) -> Promise {
    for (rank, target) in view.receivers(group) {
        let held = view.before.len(rank);
        let kept = view.before.region(rank).map_or(0, |held| held.common_len(target));
        promise(held == kept, || format!("drops {} of rank {rank}'s elements", held - kept))?;
    }
    Ok(())
}

/// How a reduction deals out its result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Everyone gets all of it.
    Whole,
    /// Each element goes to one rank.
    Apart,
    /// All of it goes to one rank.
    One,
}

/// The members hold terms of the same elements, and the results are what the kind says.
fn combined(view: &View<'_>, group: &[Rank], parts: Parts) -> Promise {
    let terms = view.holders(group);
    let alike = distinct(&terms).len() <= 1 && (terms.is_empty() || terms.len() == group.len());
    promise(alike, || format!("reduces terms of different elements in group {group:?}"))?;
    within(view, group)?;
    let whole = terms.first().map_or(0, |term| term.len());
    let lens: Vec<usize> = group.iter().map(|&rank| view.after.len(rank)).collect();
    let receivers = lens.iter().filter(|&&len| len > 0).count();
    let holds = match parts {
        Parts::Whole => lens.iter().all(|&len| len == whole),
        Parts::Apart => apart(view, group, After) && lens.iter().sum::<usize>() == whole,
        Parts::One => receivers == usize::from(whole > 0) && lens.iter().sum::<usize>() == whole,
    };
    promise(holds, || format!("leaves {lens:?} of {whole} elements in group {group:?}"))
}

/// Every target is found within the group.
fn covered(view: &View<'_>, group: &[Rank]) -> Promise {
    let holders = distinct(&view.holders(group));
    for (rank, target) in view.receivers(group) {
        let held: usize = holders.iter().map(|region| region.common_len(target)).sum();
        promise(held == target.len(), || {
            format!("finds {held} of the {} elements of rank {rank} in its group", target.len())
        })?;
    }
    Ok(())
}

/// Every member gets all that the members hold, which share nothing.
fn gathered(view: &View<'_>, group: &[Rank]) -> Promise {
    covered(view, group)?;
    let held: usize = view.holders(group).iter().map(|region| region.len()).sum();
    for (rank, target) in view.receivers(group) {
        promise(held == target.len(), || {
            format!("gives rank {rank} {} of the {held} elements of its group", target.len())
        })?;
    }
    Ok(())
}

/// What must hold of the regions of a group on one side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Any,
    /// No two members share an element.
    Apart,
    /// At most one member holds anything.
    One,
}

fn sided(view: &View<'_>, group: &[Rank], (before, after): (Side, Side)) -> Promise {
    covered(view, group)?;
    for (side, when) in [(before, Before), (after, After)] {
        let regions = at(view, group, when);
        let holds = match side {
            Side::Any => true,
            Side::Apart => distinct(&regions).len() == regions.len(),
            Side::One => regions.len() <= 1,
        };
        promise(holds, || format!("has {} holders {when:?} in group {group:?}", regions.len()))?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum When {
    Before,
    After,
}
use When::{After, Before};

fn at<'a>(view: &'a View<'_>, group: &[Rank], when: When) -> Vec<&'a Region> {
    match when {
        Before => view.holders(group),
        After => {
            let regions = group.iter().filter_map(|&rank| view.after.region(rank));
            regions.filter(|region| !region.is_empty()).collect()
        }
    }
}

fn apart(view: &View<'_>, group: &[Rank], when: When) -> bool {
    let regions = at(view, group, when);
    distinct(&regions).len() == regions.len()
}

/// Along the axes that become partial, the ranks that add something have each element of the target
/// between them: once for a sum or product, at least once for the others.
fn seeded(view: &View<'_>) -> Promise {
    let mesh = view.after.mesh();
    let added = view.after.partial.iter().filter(|(axis, _)| !view.before.is_partial(*axis));
    let axes: Vec<Axis> = added.clone().map(|&(axis, _)| axis).collect();
    let once = added.clone().all(|(_, r)| matches!(r, Reduction::Sum | Reduction::Product));
    for group in mesh.groups(&axes) {
        let held = distinct(&view.holders(group.ranks()));
        for (rank, target) in view.receivers(group.ranks()) {
            let found: usize = held.iter().map(|region| region.common_len(target)).sum();
            promise(found == target.len(), || {
                format!("makes terms of {found} of the {} elements of rank {rank}", target.len())
            })?;
        }
        let adders = group.ranks().iter().filter(|&&rank| adds(view, &axes, rank)).copied();
        let adders: Vec<Rank> = adders.collect();
        let (terms, whole) = (view.holders(&adders), view.after.len(group.ranks()[0]));
        let len: usize = terms.iter().map(|region| region.len()).sum();
        promise(!once || len == whole, || {
            format!("adds {len} terms for {whole} elements in group {group}")
        })?;
    }
    Ok(())
}

/// A rank that is not at coordinate 0 of an axis that replicated adds nothing to a sum.
fn adds(view: &View<'_>, axes: &[Axis], rank: Rank) -> bool {
    let mesh = view.before.mesh();
    let layout = view.before.layout;
    let cuts = |axis: Axis| {
        (0..layout.ndim())
            .flat_map(|dim| layout.cuts(dim))
            .any(|cut| cut.is_held() && cut.axis() == axis)
    };
    let coordinate = mesh.coordinate(rank).unwrap_or_default();
    axes.iter().all(|&axis| cuts(axis) || coordinate[axis.index()] == 0)
}
