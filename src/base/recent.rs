//! A bounded memory of what was used lately.

use std::collections::BTreeMap;

/// Things found by a hash and by what they are; the least recently used one goes out first.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    capacity: usize,
    /// By hash; different things of one hash are told apart by the caller.
    held: BTreeMap<u64, Vec<Held<T>>>,
    len: usize,
    /// How many look-ups there were.
    now: u64,
}

#[derive(Debug)]
struct Held<T> {
    thing: T,
    /// The number of the look-up that used it last.
    used: u64,
}

impl<T> Recent<T> {
    /// Keeps at most `capacity` things; 0 keeps none.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, held: BTreeMap::new(), len: 0, now: 0 }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The thing of this hash that is the one looked for.
    pub(crate) fn find(&mut self, hash: u64, is_it: impl Fn(&T) -> bool) -> Option<&T> {
        self.now += 1;
        let held = self.held.get_mut(&hash)?.iter_mut().find(|held| is_it(&held.thing))?;
        held.used = self.now;
        Some(&held.thing)
    }

    /// Takes in a thing that was not found.
    pub(crate) fn keep(&mut self, hash: u64, thing: T) {
        if self.capacity == 0 {
            return;
        }
        if self.len == self.capacity {
            self.drop_oldest();
        }
        self.held.entry(hash).or_default().push(Held { thing, used: self.now });
        self.len += 1;
    }

    fn drop_oldest(&mut self) {
        let used = |held: &Vec<Held<T>>| held.iter().map(|held| held.used).min();
        let oldest = self.held.iter().min_by_key(|(_, held)| used(held).unwrap_or(u64::MAX));
        let Some((&hash, held)) = oldest else { return };
        let oldest = used(held);
        if let Some(held) = self.held.get_mut(&hash) {
            if let Some(at) = held.iter().position(|held| Some(held.used) == oldest) {
                held.remove(at);
                self.len -= 1;
            }
            if held.is_empty() {
                self.held.remove(&hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_out() {
        let mut recent = Recent::new(2);
        // Two things of one hash are told apart.
        for thing in ["a", "b"] {
            assert!(recent.find(1, |&it| it == thing).is_none());
            recent.keep(1, thing);
        }
        assert_eq!(recent.find(1, |&it| it == "a"), Some(&"a"));
        assert!(recent.find(2, |_| true).is_none());
        recent.keep(2, "c");
        assert_eq!((recent.len(), recent.capacity()), (2, 2));
        assert!(recent.find(1, |&it| it == "b").is_none());
        assert_eq!(recent.find(1, |&it| it == "a"), Some(&"a"));
        assert_eq!(recent.find(2, |&it| it == "c"), Some(&"c"));
    }

    #[test]
    fn without_room_nothing_is_kept() {
        let mut recent = Recent::new(0);
        recent.keep(1, ());
        assert_eq!(recent.find(1, |()| true), None);
        assert_eq!(recent.len(), 0);
    }
}
