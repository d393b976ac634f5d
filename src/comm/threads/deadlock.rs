//! Who waits for whom: circles, and whom all wait for in the end.

use smallvec::{SmallVec, smallvec};

use super::hub::{Hub, Place, Trouble};
use crate::mesh::Rank;

/// A rank, and the meeting in whose end it blocks.
pub(super) type Blocked = (Rank, Place);

/// Ranks and their meetings; few waits are entangled enough to need memory of their own.
pub(super) type Path = SmallVec<[Blocked; 8]>;

/// Which ranks have been looked at.
type Seen = SmallVec<[bool; 64]>;

impl Hub {
    /// A circle of blocked ranks that `rank`, which has just blocked, closes: each waits for the
    /// next, the last for the first. Looking whenever a rank blocks finds every circle, for only
    /// blocking adds to who waits for whom.
    pub(super) fn circle(&self, trouble: &Trouble<'_>, rank: Rank) -> Option<Path> {
        let mut path: Path = smallvec![(rank, self.blocked_in(trouble, rank)?)];
        let mut seen: Seen = smallvec![false; self.members.len()];
        self.extends_to_circle(trouble, &mut path, &mut seen).then_some(path)
    }

    /// Whether the path can be prolonged so that its last rank waits for its first.
    fn extends_to_circle(&self, trouble: &Trouble<'_>, path: &mut Path, seen: &mut [bool]) -> bool {
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

    /// Whom a meeting waits for: first the ranks that block in no other one, those included that others
    /// wait for in turn, then the rest.
    pub(super) fn kept_by(&self, trouble: &Trouble<'_>, place: &Place) -> Vec<Rank> {
        let mut seen: Seen = smallvec![false; self.members.len()];
        let (mut free, mut blocked) = (Vec::new(), Vec::new());
        let mut places = vec![place.clone()];
        while let Some(place) = places.pop() {
            for rank in place.room.missing(place.number) {
                if std::mem::replace(&mut seen[rank], true) {
                    continue;
                }
                match self.blocked_in(trouble, rank) {
                    None => free.push(rank),
                    Some(next) => {
                        blocked.push(rank);
                        places.push(next);
                    }
                }
            }
        }
        free.append(&mut blocked);
        free
    }
}
