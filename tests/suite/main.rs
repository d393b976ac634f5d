//! Every test that crosses rooms, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]

mod cases;
mod cli;
mod conformance;
mod faults;
mod golden;
mod exhaustive;
mod executed;
mod layouts;
mod layers;
mod mixed;
mod naive;
mod planner;
mod properties;
mod replay;
mod tidy;
mod worlds;
