//! Ranks along named axes: pure values, no sockets, no devices, no current rank.

mod axis;
mod error;
mod group;
mod parts;

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::base::StableHash;

pub use axis::Axis;
pub use error::MeshError;
pub use group::Group;

/// A number that names one participant of the world, counted from 0.
pub type Rank = usize;

/// Ranks arranged along named axes: a value that any rank may build, plan with and compare.
///
/// The ranks may be any subset of the world in any order; everything is ordered by coordinate, never
/// by rank number. Cloning is cheap.
///
/// # Example
///
/// ```
/// use reshard::Mesh;
/// let mesh = Mesh::new([("dp", 2), ("tp", 3)])?;
/// assert_eq!(mesh.coordinate(4), Some(vec![1, 1]));
/// let tp = mesh.axis("tp")?;
/// assert_eq!(mesh.group(&[tp], 4)?.ranks(), [3, 4, 5]);
/// assert_eq!(mesh.to_string(), "dp=2, tp=3");
/// # Ok::<(), reshard::MeshError>(())
/// ```
#[derive(Clone)]
pub struct Mesh(Arc<Inner>);

struct Inner {
    names: Vec<String>,
    shape: Vec<usize>,
    /// By position, the row-major number of a coordinate.
    ranks: Vec<Rank>,
    /// `(rank, position)` by rank; empty when rank and position agree.
    positions: Vec<(Rank, usize)>,
    hash: u64,
}

impl Mesh {
    /// The ranks `0..n` along these axes, the last axis varying fastest.
    ///
    /// # Errors
    ///
    /// [`MeshError`] if a name is repeated or malformed or a length is 0.
    pub fn new<N: Into<String>>(
        axes: impl IntoIterator<Item = (N, usize)>,
    ) -> Result<Self, MeshError> {
        let (names, shape) = split(axes);
        let len = checked_axes(&names, &shape)?;
        Ok(Self::build(names, shape, (0..len).collect()))
    }

    /// The given ranks along these axes, listed by coordinate, the last axis varying fastest.
    ///
    /// # Errors
    ///
    /// [`MeshError`] as for [`Mesh::new`], or if the ranks repeat or their number is not the product
    /// of the lengths.
    pub fn with_ranks<N: Into<String>>(
        axes: impl IntoIterator<Item = (N, usize)>,
        ranks: impl IntoIterator<Item = Rank>,
    ) -> Result<Self, MeshError> {
        let (names, shape) = split(axes);
        let needed = checked_axes(&names, &shape)?;
        let ranks: Vec<Rank> = ranks.into_iter().collect();
        if ranks.len() != needed {
            return Err(MeshError::RankCount { shape, needed, given: ranks.len() });
        }
        check_distinct(&ranks)?;
        Ok(Self::build(names, shape, ranks))
    }

    fn build(names: Vec<String>, shape: Vec<usize>, ranks: Vec<Rank>) -> Self {
        let mut positions = Vec::new();
        if ranks.iter().enumerate().any(|(position, &rank)| position != rank) {
            positions.extend(ranks.iter().enumerate().map(|(position, &rank)| (rank, position)));
            positions.sort_unstable();
        }
        let mut hash = StableHash::new().len(shape.len());
        for (name, &len) in names.iter().zip(&shape) {
            hash = hash.text(name).len(len);
        }
        for &rank in if positions.is_empty() { &[][..] } else { &ranks } {
            hash = hash.len(rank);
        }
        Self(Arc::new(Inner { names, shape, ranks, positions, hash: hash.finish() }))
    }

    /// The axes, major to minor.
    pub fn axes(&self) -> impl DoubleEndedIterator<Item = Axis> + ExactSizeIterator + use<> {
        (0..self.0.shape.len()).map(Axis)
    }

    /// The axis of this name.
    ///
    /// # Errors
    ///
    /// [`MeshError::UnknownAxis`], which lists the names there are.
    pub fn axis(&self, name: &str) -> Result<Axis, MeshError> {
        self.0.names.iter().position(|own| own == name).map(Axis).ok_or_else(|| {
            let axes = self.0.names.iter().map(|own| format!("`{own}`")).collect::<Vec<_>>();
            MeshError::UnknownAxis { name: name.to_owned(), axes: axes.join(", ") }
        })
    }

    /// The name of an axis.
    ///
    /// # Panics
    ///
    /// If the axis belongs to a mesh of more axes.
    #[must_use]
    pub fn name(&self, axis: Axis) -> &str {
        &self.0.names[axis.0]
    }

    /// How many coordinates an axis has.
    ///
    /// # Panics
    ///
    /// If the axis belongs to a mesh of more axes.
    #[must_use]
    pub fn axis_len(&self, axis: Axis) -> usize {
        self.0.shape[axis.0]
    }

    /// Lengths of the axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    /// How many ranks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.ranks.len()
    }

    /// Never: a mesh has at least one rank.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The ranks by position, the row-major number of their coordinate.
    #[must_use]
    pub fn ranks(&self) -> &[Rank] {
        &self.0.ranks
    }

    /// The row-major number of a rank's coordinate, if it is a member.
    #[must_use]
    pub fn position(&self, rank: Rank) -> Option<usize> {
        if self.0.positions.is_empty() {
            return (rank < self.len()).then_some(rank);
        }
        let found = self.0.positions.binary_search_by_key(&rank, |&(rank, _)| rank);
        found.ok().map(|index| self.0.positions[index].1)
    }

    /// Whether the rank is a member.
    #[must_use]
    pub fn contains(&self, rank: Rank) -> bool {
        self.position(rank).is_some()
    }

    /// A rank's index along each axis, if it is a member.
    #[must_use]
    pub fn coordinate(&self, rank: Rank) -> Option<Vec<usize>> {
        self.position(rank).map(|position| self.coordinate_at(position).to_vec())
    }

    /// The coordinate of a position.
    pub(crate) fn coordinate_at(&self, mut position: usize) -> SmallVec<[usize; 4]> {
        let mut coordinate = SmallVec::from_elem(0, self.0.shape.len());
        for (index, &len) in self.0.shape.iter().enumerate().rev() {
            coordinate[index] = position % len;
            position /= len;
        }
        coordinate
    }

    /// The position of a coordinate.
    pub(crate) fn position_at(&self, coordinate: &[usize]) -> usize {
        self.0
            .shape
            .iter()
            .zip(coordinate)
            .fold(0, |position, (&len, &index)| position * len + index)
    }

    /// The rank at a coordinate, or `None` if an index is not below its axis's length.
    #[must_use]
    pub fn rank_at(&self, coordinate: &[usize]) -> Option<Rank> {
        let inside = coordinate.len() == self.0.shape.len()
            && coordinate.iter().zip(&self.0.shape).all(|(&index, &len)| index < len);
        inside.then(|| self.0.ranks[self.position_at(coordinate)])
    }

    /// A hash of names, lengths and ranks, equal on every rank and machine.
    #[must_use]
    pub fn stable_hash(&self) -> u64 {
        self.0.hash
    }
}

impl PartialEq for Mesh {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash
                && self.0.names == other.0.names
                && self.0.shape == other.0.shape
                && self.0.ranks == other.0.ranks)
    }
}

impl Eq for Mesh {}

impl std::hash::Hash for Mesh {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

/// `dp=2, tp=3`, followed by the ranks when they are not `0..n`.
impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, len)) in self.0.names.iter().zip(&self.0.shape).enumerate() {
            write!(f, "{}{name}={len}", if index == 0 { "" } else { ", " })?;
        }
        if !self.0.positions.is_empty() {
            write!(f, " ranks {:?}", self.0.ranks)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mesh({self})")
    }
}

fn split<N: Into<String>>(axes: impl IntoIterator<Item = (N, usize)>) -> (Vec<String>, Vec<usize>) {
    axes.into_iter().map(|(name, len)| (name.into(), len)).unzip()
}

/// Checks names and lengths; the number of coordinates.
fn checked_axes(names: &[String], shape: &[usize]) -> Result<usize, MeshError> {
    for (index, name) in names.iter().enumerate() {
        let letter = |c: char| c.is_alphabetic() || c == '_';
        let well_formed = name.chars().next().is_some_and(letter)
            && name.chars().all(|c| letter(c) || c.is_ascii_digit());
        if !well_formed {
            return Err(MeshError::AxisName { name: name.clone() });
        }
        if names[..index].contains(name) {
            return Err(MeshError::AxisTwice { name: name.clone() });
        }
        if shape[index] == 0 {
            return Err(MeshError::EmptyAxis { axis: name.clone() });
        }
    }
    let count = shape.iter().try_fold(1usize, |product, &len| product.checked_mul(len));
    // A mesh lists its ranks, so their list must be addressable too.
    count
        .filter(|&count| count <= isize::MAX as usize / 64)
        .ok_or_else(|| MeshError::TooManyRanks { shape: shape.to_vec() })
}

fn check_distinct(ranks: &[Rank]) -> Result<(), MeshError> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(MeshError::RankTwice { rank: pair[0] }),
        None => Ok(()),
    }
}
