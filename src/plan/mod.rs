//! From one layout to another: pure, the same on every rank; no input or output, no clock, no rank of
//! its own.

mod arrange;
mod bound;
mod cache;
mod carry;
mod check;
mod collective;
mod error;
mod exchange;
mod explain;
mod ledger;
mod lower;
mod messages;
mod name;
mod options;
mod overlap;
mod parties;
#[expect(clippy::module_inception, reason = "the room's central noun")]
mod plan;
mod planner;
mod program;
mod reduce;
mod reducing;
mod relay;
mod route;
mod routes;
mod spread;
mod step;
mod traffic;
mod transition;
mod windows;

pub(crate) use cache::Lowered;
pub use cache::PlanCache;
pub use error::PlanError;
pub use options::{Objective, PlanOptions};
pub use plan::{Plan, plan};
pub use program::{BufferId, CallSpec, Instruction, Operation, Part, Program};
pub use step::{Algorithm, Step, StepKind};
pub use transition::Transition;
