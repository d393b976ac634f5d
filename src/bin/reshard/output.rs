//! Plans and steps as JSON.

use reshard::plan::{Plan, Step};
use serde_json::{Value, json};

/// A plan with all its numbers; bytes of the busiest rank.
pub(crate) fn plan(plan: &Plan) -> Value {
    let (sent_bytes, received_bytes) = plan.busiest_rank_bytes();
    json!({
        "steps": steps(plan),
        "sent_bytes": sent_bytes,
        "received_bytes": received_bytes,
        "bound_bytes": plan.bound_bytes(),
        "ratio": plan.ratio(),
        "peak_bytes": plan.peak_bytes().into_iter().max().unwrap_or(0),
        "launches": plan.launches(),
    })
}

/// The steps of a plan.
pub(crate) fn steps(plan: &Plan) -> Value {
    plan.steps().iter().map(step).collect()
}

fn step(step: &Step) -> Value {
    let (sent_bytes, received_bytes) = step.busiest_bytes();
    json!({
        "kind": step.kind().name(),
        "algorithm": step.algorithm().name(),
        "axes": step.axis_names().collect::<Vec<_>>(),
        "group_len": step.group_len(),
        "source": step.source().to_string(),
        "target": step.target().to_string(),
        "sent_bytes": sent_bytes,
        "received_bytes": received_bytes,
        "messages": step.busiest_messages(),
    })
}
