//! Prepared calls that were found to fit each other, so that they need not be compared again.

use std::collections::BTreeSet;

use super::post::Post;
use super::seat::Seat;
use crate::comm::check::stamp_difference;

/// How many sets of calls are remembered.
const CAPACITY: usize = 1024;

/// Sets of prepared calls, one of each member, that fit each other in all but their stamps.
#[derive(Default)]
pub(super) struct Agreed {
    /// The set that was seen last, by the numbers of its calls.
    last: Vec<u64>,
    known: BTreeSet<Box<[u64]>>,
    /// Room to look a set up.
    asked: Vec<u64>,
}

impl Agreed {
    /// Whether these calls are known to fit, and their stamps do.
    pub(super) fn knows<'a>(&mut self, posts: impl Iterator<Item = &'a Post> + Clone) -> bool {
        let mut others = posts.clone();
        let Some(first) = others.next() else { return true };
        if others.any(|post| stamp_difference(&first.stamp, &post.stamp).is_some()) {
            return false;
        }
        self.asked.clear();
        self.asked.extend(posts.map(number));
        if self.asked == self.last {
            return true;
        }
        if self.known.contains(&self.asked[..]) {
            self.last.clone_from(&self.asked);
            return true;
        }
        false
    }

    /// Notes that these calls fit.
    pub(super) fn learn<'a>(&mut self, posts: impl Iterator<Item = &'a Post>) {
        if self.known.len() == CAPACITY {
            self.known.clear();
        }
        let numbers: Vec<u64> = posts.map(number).collect();
        self.known.insert(numbers.as_slice().into());
        self.last = numbers;
    }
}

fn number(post: &Post) -> u64 {
    post.call.engine::<Seat>().map_or(u64::MAX, |seat| seat.number)
}
