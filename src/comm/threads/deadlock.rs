//! Finding ranks that wait for each other.

use super::hub::State;
use super::meeting::{Key, Open};
use crate::mesh::Rank;

impl State {
    /// A circle of blocked ranks that `rank`, which has just blocked, closes: each waits for the
    /// next, the last for the first. Looking whenever a rank blocks finds every circle, for only
    /// blocking adds to who waits for whom.
    pub(super) fn circle(&self, rank: Rank) -> Option<Vec<Rank>> {
        let mut path = vec![rank];
        let mut seen = vec![false; self.members.len()];
        self.extends_to_circle(&mut path, &mut seen).then_some(path)
    }

    /// Whether the path can be prolonged so that its last rank waits for its first.
    fn extends_to_circle(&self, path: &mut Vec<Rank>, seen: &mut [bool]) -> bool {
        let (first, last) = (path[0], path[path.len() - 1]);
        let Some((key, open)) = self.blocked_in(last) else { return false };
        for next in open.missing(&key.0) {
            if next == first {
                return true;
            }
            if std::mem::replace(&mut seen[next], true) {
                continue;
            }
            path.push(next);
            if self.extends_to_circle(path, seen) {
                return true;
            }
            path.pop();
        }
        false
    }

    /// The open meeting in whose end a rank blocks.
    fn blocked_in(&self, rank: Rank) -> Option<(&Key, &Open)> {
        self.open.get_key_value(self.members[rank].blocked.as_ref()?)
    }
}
