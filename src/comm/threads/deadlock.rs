//! Finding ranks that wait for each other.

use super::hub::{Hub, Place, Trouble};
use crate::mesh::Rank;

/// A rank, and the meeting in whose end it blocks.
pub(super) type Blocked = (Rank, Place);

impl Hub {
    /// A circle of blocked ranks that `rank`, which has just blocked, closes: each waits for the
    /// next, the last for the first. Looking whenever a rank blocks finds every circle, for only
    /// blocking adds to who waits for whom.
    pub(super) fn circle(&self, trouble: &Trouble<'_>, rank: Rank) -> Option<Vec<Blocked>> {
        let mut path = vec![(rank, self.blocked_in(trouble, rank)?)];
        let mut seen = vec![false; self.members.len()];
        self.extends_to_circle(trouble, &mut path, &mut seen).then_some(path)
    }

    /// Whether the path can be prolonged so that its last rank waits for its first.
    fn extends_to_circle(
        &self,
        trouble: &Trouble<'_>,
        path: &mut Vec<Blocked>,
        seen: &mut [bool],
    ) -> bool {
        let (first, (_, last)) = (path[0].0, &path[path.len() - 1]);
        for next in last.room.missing(last.number) {
            if next == first {
                return true;
            }
            if std::mem::replace(&mut seen[next], true) {
                continue;
            }
            let Some(place) = self.blocked_in(trouble, next) else { continue };
            path.push((next, place));
            if self.extends_to_circle(trouble, path, seen) {
                return true;
            }
            path.pop();
        }
        false
    }
}
