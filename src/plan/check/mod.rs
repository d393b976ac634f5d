//! Replays a plan on regions and reports the first broken promise.
//!
//! The checker does not ask the planner how it came to a plan. It evaluates the layouts of the steps by
//! themselves, holds the kind of each step against what its layouts do, counts again what its algorithm
//! sends, and reads the programs of the ranks.

mod chain;
mod counts;
mod flows;
mod kinds;
mod programs;
mod view;

use super::{Plan, PlanError, Program};
use view::{Stage, View};

/// Nothing, or which promise does not hold, with numbers.
type Promise = Result<(), String>;

/// Meshes larger than this are looked at through a sample of their ranks.
const MOST_RANKS: usize = 64;

/// # Errors
///
/// [`PlanError::Broken`] with the first promise that does not hold.
pub(crate) fn check(plan: &Plan) -> Result<(), PlanError> {
    let broken = |broken| PlanError::Broken { transition: plan.transition().to_string(), broken };
    chain::connected(plan).map_err(broken)?;
    let programs: Vec<(usize, Program)> = sample(plan.ranks().len())
        .map(|party| (party, plan.program(plan.ranks()[party])))
        .collect();
    replay(plan, &programs).map_err(broken)
}

/// Everything that can be said of a plan whose layouts connect, and of the programs of some parties.
fn replay(plan: &Plan, programs: &[(usize, Program)]) -> Promise {
    let shape = plan.transition().shape();
    let stages = plan.layouts().map(|layout| Stage::new(layout, shape));
    let stages = stages.collect::<Result<Vec<_>, _>>()?;
    chain::ends(plan, &stages)?;
    chain::peaks(plan, &stages)?;
    for (index, step) in plan.steps().iter().enumerate() {
        let view = View { plan, step, index, before: &stages[index], after: &stages[index + 1] };
        let named = |broken| format!("step {index}, {}, {broken}", step.kind());
        kinds::fits(&view).map_err(named)?;
        flows::once(&view).map_err(named)?;
        counts::recounted(&view, programs).map_err(named)?;
    }
    counts::totals(plan)?;
    programs::sound(plan, &stages, programs)
}

fn promise(holds: bool, broken: impl FnOnce() -> String) -> Promise {
    if holds { Ok(()) } else { Err(broken()) }
}

/// All of so many, or a few of them spread evenly.
fn sample(len: usize) -> impl Iterator<Item = usize> + Clone {
    let taken = if len <= MOST_RANKS { len } else { MOST_RANKS / 4 };
    (0..taken).map(move |number| number * len / taken)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
mod tests;
