//! The global elements that one rank holds.

use smallvec::SmallVec;

use super::Intervals;

/// A product of index sets, one a dim: the global elements that one rank holds, or that one message
/// carries. A tensor without dims has one element, which every region holds.
///
/// # Example
///
/// ```
/// use reshard::{Intervals, Region};
/// let rows = Region::from_iter([Intervals::all(3), Intervals::all(4)]);
/// assert_eq!(rows.len(), 12);
/// assert_eq!(rows.local_shape(), [3, 4]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Region {
    dims: SmallVec<[Intervals; 4]>,
}

impl Region {
    /// All elements of a tensor of this shape.
    #[must_use]
    pub fn all(shape: &[usize]) -> Self {
        shape.iter().map(|&len| Intervals::all(len)).collect()
    }

    /// The index sets, one a dim.
    #[must_use]
    pub fn dims(&self) -> &[Intervals] {
        &self.dims
    }

    /// How many elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dims.iter().map(Intervals::len).product()
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dims.iter().any(Intervals::is_empty)
    }

    /// The shape of the local tensor that stores this region.
    #[must_use]
    pub fn local_shape(&self) -> Vec<usize> {
        self.dims.iter().map(Intervals::len).collect()
    }

    /// The global index of the first element, per dim; a dim without an index reports the global
    /// length of that dim.
    #[must_use]
    pub fn offset(&self, shape: &[usize]) -> Vec<usize> {
        let first =
            |(dim, &len): (&Intervals, &usize)| dim.iter().next().map_or(len, |run| run.start);
        self.dims.iter().zip(shape).map(first).collect()
    }

    /// The elements in both.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        self.dims.iter().zip(&other.dims).map(|(a, b)| a.intersect(b)).collect()
    }

    /// How many elements are in both, without building the set.
    #[must_use]
    pub fn common_len(&self, other: &Self) -> usize {
        self.dims.iter().zip(&other.dims).map(|(a, b)| a.common_len(b)).product()
    }
}

impl FromIterator<Intervals> for Region {
    fn from_iter<I: IntoIterator<Item = Intervals>>(dims: I) -> Self {
        Self { dims: dims.into_iter().collect() }
    }
}
