//! What a prepared call remembers of its world: where its rank sits, and a number of its own.

use std::sync::Arc;

use super::room::Room;

/// The room in which a prepared call is made.
pub(super) struct Seat {
    pub(super) room: Arc<Room>,
    /// No other prepared call of the world has it.
    pub(super) number: u64,
    /// Whose world it is.
    pub(super) world: Arc<WorldMark>,
}

/// What tells one world from another.
#[derive(Debug)]
pub(super) struct WorldMark;
