//! The regions of all ranks under one layout and shape.

use smallvec::SmallVec;

use super::{Blocks, Layout, LayoutError};
use crate::base::Region;
use crate::mesh::Mesh;

/// The regions of all positions of a mesh, one table a dim.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    mesh: Mesh,
    dims: SmallVec<[Blocks; 4]>,
}

impl Regions {
    /// # Errors
    ///
    /// [`LayoutError`] if the layout does not fit the shape.
    pub(crate) fn new(layout: &Layout, shape: &[usize]) -> Result<Self, LayoutError> {
        if layout.ndim() != shape.len() {
            return Err(LayoutError::Ndim { layout: layout.ndim(), shape: shape.to_vec() });
        }
        let dims = shape
            .iter()
            .enumerate()
            .map(|(dim, &len)| Blocks::new(layout.mesh(), layout.cuts(dim), dim, len));
        Ok(Self { mesh: layout.mesh().clone(), dims: dims.collect::<Result<_, _>>()? })
    }

    /// What the rank at a position holds.
    pub(crate) fn at(&self, position: usize) -> Region {
        let coordinate = self.mesh.coordinate_at(position);
        self.dims.iter().map(|dim| dim.held()[dim.index(&coordinate)].clone()).collect()
    }
}
