//! A program's call in the words of communicators.

use crate::base::DType;
use crate::comm::{Call, Operation, Part, Stamp};
use crate::plan::{self, CallSpec};

/// The call that a rank makes for one call of its program.
pub(super) fn call(spec: &CallSpec, dtype: DType) -> Call {
    Call {
        operation: operation(spec.operation),
        group: spec.group.clone(),
        dtype,
        send: parts(&spec.send),
        recv: parts(&spec.receive),
        // OK because a plan has a few steps, never 2^32.
        stamp: Stamp { step: spec.step as u32, ..Stamp::default() },
    }
}

fn operation(operation: plan::Operation) -> Operation {
    match operation {
        plan::Operation::AllGather => Operation::AllGather,
        plan::Operation::AllReduce { reduction, divisor } => {
            Operation::AllReduce { reduction, divisor }
        }
        plan::Operation::ReduceScatter { reduction, divisor } => {
            Operation::ReduceScatter { reduction, divisor }
        }
        plan::Operation::Reduce { root, reduction, divisor } => {
            Operation::Reduce { root, reduction, divisor }
        }
        plan::Operation::AllToAll => Operation::AllToAll,
        plan::Operation::Broadcast { root } => Operation::Broadcast { root },
        plan::Operation::Scatter { root } => Operation::Scatter { root },
        plan::Operation::Gather { root } => Operation::Gather { root },
        plan::Operation::Exchange => Operation::Exchange,
    }
}

fn parts(parts: &[plan::Part]) -> Vec<Part> {
    let part = |part: &plan::Part| Part { peer: part.peer, windows: part.windows.clone() };
    parts.iter().map(part).collect()
}
