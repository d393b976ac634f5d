//! Where tensors are made: a world and a mesh.

use super::redistribute::check_ranks;
use super::{DataError, DistTensor, Error, World};
use crate::base::DType;
use crate::layout::{IntoLayout, Layout};
use crate::mem::Buffer;
use crate::mesh::Mesh;

/// A place to make tensors on: the ranks of a mesh, as one rank of a world sees them.
///
/// Every rank of the mesh makes the tensor with equal arguments; a rank outside the mesh that does so
/// too gets a handle without elements.
#[derive(Clone, Debug)]
pub struct On {
    world: World,
    mesh: Mesh,
}

impl On {
    pub(super) fn new(world: World, mesh: Mesh) -> Self {
        Self { world, mesh }
    }

    /// This rank's world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The mesh.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Whether this rank is in the mesh.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.mesh.contains(self.world.rank())
    }

    /// The layout that the placements name, on this mesh, of a tensor of `ndim` dims.
    pub(super) fn layout(&self, placements: impl IntoLayout, ndim: usize) -> Result<Layout, Error> {
        check_ranks(&self.world, &self.mesh)?;
        let layout = placements.into_layout(&self.mesh, ndim)?;
        if *layout.mesh() != self.mesh {
            let (given, mesh) = (layout.mesh().to_string(), self.mesh.to_string());
            return Err(DataError::OtherMesh { layout: layout.to_string(), given, mesh }.into());
        }
        Ok(layout)
    }

    pub(super) fn tensor(
        &self,
        layout: Layout,
        shape: &[usize],
        dtype: DType,
        local: Option<Buffer>,
    ) -> Result<DistTensor, Error> {
        DistTensor::from_parts(&self.world, layout, shape, dtype, local)
    }
}
