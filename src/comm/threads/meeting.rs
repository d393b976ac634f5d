//! Calls that belong together: the k-th ones of every member of a group.

use std::sync::{Arc, OnceLock};

use crate::comm::{Call, CallRecord, CommError, Side};
use crate::mem::Buffer;
use crate::mesh::{Group, Rank};

/// The group, and how many calls each member made on it before.
pub(super) type Key = (Group, u64);

/// One member's call and what it gives.
pub(super) struct Post {
    pub(super) call: Call,
    pub(super) source: Buffer,
    /// The call's number in its rank's ring.
    pub(super) number: u64,
}

/// How a meeting ended: with everybody's call in group order, or with an error.
pub(super) type Outcome = OnceLock<Result<Box<[Post]>, CommError>>;

/// A meeting for which some members have not called yet.
pub(super) struct Open {
    pub(super) posts: Vec<Option<Post>>,
    pub(super) outcome: Arc<Outcome>,
}

impl Open {
    pub(super) fn new(group_len: usize) -> Self {
        let posts = std::iter::repeat_with(|| None).take(group_len).collect();
        Self { posts, outcome: Arc::default() }
    }

    /// The members that have not called, in group order.
    pub(super) fn missing(&self, group: &Group) -> impl Iterator<Item = Rank> {
        let pairs = group.ranks().iter().zip(&self.posts);
        pairs.filter(|(_, post)| post.is_none()).map(|(&rank, _)| rank)
    }

    /// The members that have called, and their calls' numbers, in group order.
    pub(super) fn present(&self, group: &Group) -> impl Iterator<Item = (Rank, &Post)> {
        let pairs = group.ranks().iter().zip(&self.posts);
        pairs.filter_map(|(&rank, post)| post.as_ref().map(|post| (rank, post)))
    }

    /// A member's side of it, if it has called.
    pub(super) fn side(&self, group: &Group, rank: Rank) -> Option<Side> {
        let post = self.posts[group.position(rank)?].as_ref()?;
        Some(Side { rank, call: CallRecord::of(&post.call) })
    }
}
