//! What goes wrong among ranks: every rank gets an error that names who and why, and soon.

mod world;
mod mismatch;
mod absence;
mod deadlock;
mod abandoned;
mod invalid;
mod messages;
mod campaign;
