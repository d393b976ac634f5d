//! Tensors made of what every rank holds.

use super::host::IntoHostArray;
use super::wire::{Wire, dtype_code, dtype_of};
use super::{DataError, DistTensor, Error, On};
use crate::base::DType;
use crate::layout::{IntoLayout, Layout};

impl On {
    /// The tensor of a global shape of which every rank gives its own part, in row-major order: an array
    /// of the local shape, or a list of as many elements. A rank outside the mesh gives an empty one.
    ///
    /// The array is taken over; nothing is sent, so nobody compares what different ranks give.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] on every rank alike; [`DataError::LocalShape`] on the ranks that give something
    /// that the layout does not.
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::{Mesh, World};
    /// let mesh = Mesh::new([("tp", 2)])?;
    /// let error = World::run(2, |world| {
    ///     let local = vec![0.0f32; 6];
    ///     world.on(&mesh).from_local("S(0)", [3, 3], local)
    /// });
    /// assert_eq!(
    ///     error.unwrap_err().to_string(),
    ///     "rank 1 gives a local tensor of shape [6], but of a tensor of shape [3, 3] under [tp, -] it \
    ///      holds shape [1, 3] at offset [2, 0]"
    /// );
    /// # Ok::<(), reshard::Error>(())
    /// ```
    pub fn from_local(
        &self,
        placements: impl IntoLayout,
        shape: impl Into<Vec<usize>>,
        local: impl IntoHostArray,
    ) -> Result<DistTensor, Error> {
        let (shape, local) = (shape.into(), local.into_host_array());
        let layout = self.layout(placements, shape.len())?;
        layout.check(&shape, local.dtype())?;
        let rank = self.world().rank();
        if !self.is_here() {
            if local.buffer().len_bytes() > 0 {
                return Err(DataError::Outside { rank, mesh: self.mesh().to_string() }.into());
            }
            return self.tensor(layout, &shape, local.dtype(), None);
        }
        let region = layout.region(&shape, rank)?;
        let expected = region.local_shape();
        if !local.fits(&expected) {
            let (offset, given) = (region.offset(&shape), local.shape().to_vec());
            let layout = layout.to_string();
            let error = DataError::LocalShape { rank, layout, shape, expected, offset, given };
            return Err(error.into());
        }
        self.tensor(layout, &shape, local.dtype(), Some(local.buffer().clone()))
    }

    /// The tensor of which every rank gives its own part, whose global shape follows from the shapes of
    /// all parts.
    ///
    /// # Communication
    ///
    /// Every rank of the mesh calls this, and no other; they gather the shapes of all.
    ///
    /// # Errors
    ///
    /// On every rank of the mesh alike: [`DataError::LocalShapes`] if the parts are not those of one
    /// tensor in this layout, [`DataError::LocalKinds`] if their element types or numbers of dims differ,
    /// [`Error::Layout`], [`Error::Comm`]. [`DataError::Outside`] on a rank outside the mesh.
    pub fn from_local_inferred(
        &self,
        placements: impl IntoLayout,
        local: impl IntoHostArray,
    ) -> Result<DistTensor, Error> {
        let local = local.into_host_array();
        if !self.is_here() {
            let (rank, mesh) = (self.world().rank(), self.mesh().to_string());
            return Err(DataError::Outside { rank, mesh }.into());
        }
        super::redistribute::check_ranks(self.world(), self.mesh())?;
        let (ndim, dtype) = (local.shape().len(), local.dtype());
        let wire = Wire::new(self.world(), self.mesh().all(), "from_local_inferred");
        let kinds = wire.all_gather(&[ndim as u64, dtype_code(dtype)])?;
        let kinds: Vec<(usize, DType)> =
            kinds.chunks_exact(2).map(|kind| (kind[0] as usize, dtype_of(kind[1]))).collect();
        if kinds.iter().any(|&kind| kind != (ndim, dtype)) {
            let ranks = self.mesh().ranks().to_vec();
            return Err(DataError::LocalKinds { ranks, given: kinds }.into());
        }
        let layout = self.layout(placements, ndim)?;
        let lens: Vec<u64> = local.shape().iter().map(|&len| len as u64).collect();
        let gathered = wire.all_gather(&lens)?;
        let at = |position: usize| &gathered[position * ndim..(position + 1) * ndim];
        let given: Vec<Vec<usize>> = (0..self.mesh().len())
            .map(|position| at(position).iter().map(|&len| len as usize).collect())
            .collect();
        let shape = inferred(&layout, given, dtype)?;
        self.tensor(layout, &shape, dtype, Some(local.buffer().clone()))
    }
}

/// The global shape that local shapes, by position, come from: the lengths along the axes that cut a dim
/// sum to the dim's.
fn inferred(layout: &Layout, given: Vec<Vec<usize>>, dtype: DType) -> Result<Vec<usize>, Error> {
    let mesh = layout.mesh();
    let len = |dim: usize| {
        let axes: Vec<_> =
            layout.cuts(dim).iter().filter(|cut| cut.is_held()).map(|cut| cut.axis()).collect();
        let apart = (0..mesh.group_len(&axes)).map(|n| mesh.member_of_group(&axes, 0, n));
        apart.map(|position| given[position][dim]).fold(0usize, usize::saturating_add)
    };
    let shape: Vec<usize> = (0..layout.ndim()).map(len).collect();
    let locals = layout.check(&shape, dtype).and_then(|()| {
        let region = |&rank| layout.region(&shape, rank).map(|region| region.local_shape());
        mesh.ranks().iter().map(region).collect::<Result<Vec<_>, _>>()
    });
    if locals.as_ref().is_ok_and(|locals| *locals == given) {
        return Ok(shape);
    }
    let misfits = |dim: &usize| match &locals {
        Ok(locals) => locals.iter().zip(&given).any(|(cut, given)| cut[*dim] != given[*dim]),
        Err(_) => !layout.cuts(*dim).is_empty(),
    };
    let dim = (0..layout.ndim()).find(misfits).unwrap_or(0);
    let nearest = locals.ok().map(|locals| (shape, locals));
    let (layout, ranks) = (layout.to_string(), mesh.ranks().to_vec());
    Err(DataError::LocalShapes { layout, ranks, given, dim, nearest }.into())
}
