//! The ranks of one collective.

use std::fmt;
use std::sync::Arc;

use super::{MeshError, Rank};

/// The ordered ranks that take part in one collective: a value, not a live communicator.
///
/// The order is the order of coordinates, whatever the rank numbers are: a gather lays its parts out
/// in this order.
///
/// # Example
///
/// ```
/// use reshard::Group;
/// let group = Group::new([3, 1, 0]).unwrap();
/// assert_eq!(group.position(1), Some(1));
/// assert_eq!(group.position(2), None);
/// assert_eq!(group.to_string(), "{3, 1, 0}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(Arc<[Rank]>);

impl Group {
    /// The group of these ranks, in this order.
    ///
    /// # Errors
    ///
    /// [`MeshError::RankTwice`] if a rank is repeated.
    pub fn new(ranks: impl IntoIterator<Item = Rank>) -> Result<Self, MeshError> {
        let ranks: Arc<[Rank]> = ranks.into_iter().collect();
        super::check_distinct(&ranks)?;
        Ok(Self(ranks))
    }

    /// The ranks `0..len`.
    #[must_use]
    pub fn world(len: usize) -> Self {
        Self((0..len).collect())
    }

    pub(super) fn of_distinct(ranks: impl IntoIterator<Item = Rank>) -> Self {
        Self(ranks.into_iter().collect())
    }

    /// The ranks in order.
    #[must_use]
    pub fn ranks(&self) -> &[Rank] {
        &self.0
    }

    /// How many ranks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no rank.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where `rank` stands in the order, if it is a member.
    #[must_use]
    pub fn position(&self, rank: Rank) -> Option<usize> {
        self.0.iter().position(|&member| member == rank)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, rank) in self.0.iter().enumerate() {
            write!(f, "{}{rank}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str("}")
    }
}
