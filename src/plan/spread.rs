//! A layout without partial axes, evaluated for every rank of its mesh.

use smallvec::SmallVec;

use crate::base::{Intervals, Region};
use crate::layout::{Blocks, Cut, Layout, LayoutError};
use crate::mesh::{Axis, Mesh};

/// Per dim its cuts from major to minor, without axes of length 1.
pub(crate) type Cuts = SmallVec<[SmallVec<[Cut; 2]>; 4]>;

/// The cuts of a layout.
pub(crate) fn cuts_of(layout: &Layout) -> Cuts {
    (0..layout.ndim()).map(|dim| layout.normal_cuts(dim).iter().cloned().collect()).collect()
}

/// Who holds which indices of each dim: cuts, evaluated for a shape and every position of a mesh.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    mesh: Mesh,
    dims: SmallVec<[Blocks; 4]>,
    /// Which block of each dim a position holds, by position and then dim.
    index: Vec<u32>,
    /// Elements a position holds.
    lens: Vec<usize>,
}

/// Every dim under its cuts: what there is to hold, before it is said which rank holds what.
#[derive(Clone, Debug)]
pub(crate) struct Division(SmallVec<[Blocks; 4]>);

impl Division {
    /// # Errors
    ///
    /// [`LayoutError`] if the cuts do not fit the shape.
    pub(crate) fn new(mesh: &Mesh, cuts: &Cuts, shape: &[usize]) -> Result<Self, LayoutError> {
        let dims = cuts.iter().zip(shape).enumerate();
        let dims = dims.map(|(dim, (cuts, &len))| Blocks::new(mesh, cuts, dim, len));
        Ok(Self(dims.collect::<Result<_, _>>()?))
    }

    /// Elements of the largest block that any rank holds: each axis cuts one dim, so some rank holds
    /// the largest block of every dim.
    pub(crate) fn largest_len(&self) -> usize {
        let largest = |dim: &Blocks| dim.held().iter().map(Intervals::len).max().unwrap_or(0);
        self.0.iter().map(largest).product()
    }
}

impl Spread {
    /// # Errors
    ///
    /// [`LayoutError`] if the cuts do not fit the shape.
    pub(crate) fn new(mesh: &Mesh, cuts: &Cuts, shape: &[usize]) -> Result<Self, LayoutError> {
        Division::new(mesh, cuts, shape).map(|division| Self::of(mesh, division))
    }

    /// Who holds what of a division.
    pub(crate) fn of(mesh: &Mesh, Division(dims): Division) -> Self {
        let mut index = Vec::with_capacity(mesh.len() * dims.len());
        let mut lens = Vec::with_capacity(mesh.len());
        let mut coordinate: SmallVec<[usize; 4]> = SmallVec::from_elem(0, mesh.shape().len());
        for _ in 0..mesh.len() {
            let mut len = 1;
            for blocks in &dims {
                let block = blocks.index(&coordinate);
                len *= blocks.held()[block].len();
                index.push(block as u32);
            }
            lens.push(len);
            advance(&mut coordinate, mesh.shape());
        }
        Self { mesh: mesh.clone(), dims, index, lens }
    }

    pub(crate) fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    pub(crate) fn ndim(&self) -> usize {
        self.dims.len()
    }

    pub(crate) fn blocks(&self, dim: usize) -> &Blocks {
        &self.dims[dim]
    }

    /// Which block of each dim a position holds.
    pub(crate) fn indices(&self, position: usize) -> &[u32] {
        let ndim = self.dims.len();
        &self.index[position * ndim..(position + 1) * ndim]
    }

    /// Elements that each position holds.
    pub(crate) fn lens(&self) -> &[usize] {
        &self.lens
    }

    /// What a position holds.
    pub(crate) fn region(&self, position: usize) -> Region {
        let indices = self.indices(position).iter();
        self.dims
            .iter()
            .zip(indices)
            .map(|(dim, &block)| dim.held()[block as usize].clone())
            .collect()
    }

    /// Whether an axis decides what a rank holds.
    pub(crate) fn holds(&self, axis: Axis) -> bool {
        self.dims.iter().any(|blocks| blocks.axes().iter().any(|&(held, _)| held == axis))
    }

    /// Whether every position holds as much as every other.
    pub(crate) fn is_even(&self) -> bool {
        self.lens.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Whether both give every position of one mesh the same elements.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let same = |position: usize| {
            let both = self.indices(position).iter().zip(other.indices(position));
            let mut dims = self.dims.iter().zip(&other.dims).zip(both);
            self.lens[position] == other.lens[position]
                && (self.lens[position] == 0
                    || dims.all(|((a, b), (&i, &j))| a.held()[i as usize] == b.held()[j as usize]))
        };
        self.mesh == other.mesh && (0..self.mesh.len()).all(same)
    }
}

/// Steps a coordinate to the next position.
pub(crate) fn advance(coordinate: &mut [usize], shape: &[usize]) {
    for (index, &len) in coordinate.iter_mut().zip(shape).rev() {
        *index += 1;
        if *index < len {
            return;
        }
        *index = 0;
    }
}
