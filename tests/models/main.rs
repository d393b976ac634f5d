//! Models of how threads meet: every order in which they may run, and every value that a weak memory
//! may show them, tried by `loom`.
//!
//! The files under test are those of the library. They take their primitives from `crate::base::sync`,
//! which here are `loom`'s.
#![allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
#![allow(unsafe_code, reason = "what the models look at is read and written without locks")]

mod base;
#[path = "../../src/comm/threads/bell.rs"]
#[allow(dead_code, reason = "what the models do not need")]
mod bell;
#[path = "../../src/comm/threads/meeting.rs"]
#[allow(dead_code, reason = "what the models do not need")]
mod meeting;
#[path = "../../src/comm/threads/share.rs"]
mod share;
#[path = "../../src/dist/turns.rs"]
mod turns;

mod failing;
mod lending;
mod meeting_again;
mod queueing;
mod sharing;
mod tracked;
mod waking;

use std::time::Duration;

/// `loom` knows no time: whoever sleeps is woken, or the model is stuck, which it reports.
const FOREVER: Duration = Duration::MAX;

/// Tries all orders, with at most three switches between threads where none would be needed: what
/// this leaves out has not been seen to find more faults.
fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(test);
}
