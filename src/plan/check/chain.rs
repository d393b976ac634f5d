//! The layouts of a plan connect, begin and end where they should, and none is larger than it may be.

use crate::mesh::{Axis, Rank};

use super::view::Stage;
use super::{Promise, promise};
use crate::base::{DType, Reduction};
use crate::plan::Plan;

/// Each step starts where the one before it ended.
pub(super) fn connected(plan: &Plan) -> Promise {
    let transition = plan.transition();
    let mut at = transition.source();
    for (index, step) in plan.steps().iter().enumerate() {
        let (from, kind) = (step.source(), step.kind());
        promise(from == at, || format!("step {index}, {kind}, starts at {from}, not at {at}"))?;
        at = step.target();
    }
    let (layouts, steps) = (plan.layouts().count(), plan.steps().len());
    promise(layouts == steps + 1, || format!("{steps} steps have {layouts} layouts"))?;
    let target = transition.target();
    let arrives = plan.steps().is_empty() || at == target;
    promise(arrives, || format!("the last step ends at {at}, not at {target}"))?;
    parties(plan)
}

/// The ranks of the source's mesh, then those that only the target's mesh has.
fn parties(plan: &Plan) -> Promise {
    let (source, target) = (plan.transition().source().mesh(), plan.transition().target().mesh());
    let only_target = target.ranks().iter().filter(|&&rank| !source.contains(rank));
    let ranks: Vec<Rank> = source.ranks().iter().chain(only_target).copied().collect();
    promise(plan.ranks() == ranks, || format!("parties are {:?}, not {ranks:?}", plan.ranks()))
}

/// A plan without steps has nothing to do, and carried axes are partial from end to end.
pub(super) fn ends(plan: &Plan, stages: &[Stage<'_>]) -> Promise {
    let transition = plan.transition();
    let (first, target) = (&stages[0], transition.target());
    if plan.steps().is_empty() {
        let end = Stage::new(target, transition.shape())?;
        let stays = first.mesh() == end.mesh() && first.partial == end.partial;
        promise(stays, || format!("no step leads from {} to {target}", first.layout))?;
        for (position, (from, to)) in first.regions.iter().zip(&end.regions).enumerate() {
            let (rank, held, wanted) = (end.mesh().ranks()[position], from.len(), to.len());
            let same = from == to || (held == 0 && wanted == 0);
            promise(same, || {
                format!("rank {rank} holds {held} elements, wants {wanted} and no step moves any")
            })?;
        }
    }
    let expected = carried(plan);
    promise(plan.carried == expected, || {
        format!("axes {:?} are carried, not {expected:?}", plan.carried)
    })?;
    for stage in stages {
        let dropped = expected.iter().find(|&&axis| !stage.is_partial(axis));
        promise(dropped.is_none(), || {
            format!("{} is not partial along an axis that is partial throughout", stage.layout)
        })?;
    }
    Ok(())
}

/// Axes partial on both sides by one reduction, or by an average that becomes a sum.
fn carried(plan: &Plan) -> Vec<Axis> {
    let transition = plan.transition();
    let (source, target) = (transition.source(), transition.target());
    if source.mesh() != target.mesh() {
        return Vec::new();
    }
    let agree = |from, to| {
        from == to
            || ((from, to) == (Reduction::Avg, Reduction::Sum) && transition.dtype() != DType::F16)
    };
    let stays = |&&(axis, from): &&(Axis, Reduction)| {
        let mut after = target.partial().iter();
        source.mesh().axis_len(axis) > 1
            && after.any(|&(other, to)| other == axis && agree(from, to))
    };
    source.partial().iter().filter(stays).map(|&(axis, _)| axis).collect()
}

/// Between its ends, a plan gives no rank more than the larger of the rank's source and target.
pub(super) fn peaks(plan: &Plan, stages: &[Stage<'_>]) -> Promise {
    let [first, between @ .., last] = stages else { return Ok(()) };
    for stage in between {
        for &rank in plan.ranks() {
            let (held, limit) = (stage.len(rank), first.len(rank).max(last.len(rank)));
            promise(held <= limit, || {
                format!(
                    "rank {rank} holds {held} elements under {}, more than the {limit} of its source or target",
                    stage.layout
                )
            })?;
        }
    }
    Ok(())
}
