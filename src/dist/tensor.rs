//! A tensor that lives on the ranks of a mesh.

use std::fmt;
use std::sync::Arc;

use super::{DataError, Error, World};
use crate::base::{DType, Region};
use crate::layout::Layout;
use crate::mem::Buffer;

/// One rank's handle on a tensor that lives on the ranks of a mesh: the layout, the global shape, the
/// element type, and this rank's elements, if it is in the mesh.
///
/// Cloning shares the elements; whoever writes to them copies them first.
///
/// # Example
///
/// ```
/// use reshard::{Mesh, World};
/// let mesh = Mesh::new([("dp", 2)])?;
/// let columns = World::run(2, |world| {
///     let rows = world.on(&mesh).from_fn([2, 2], "S(0)", |index| (10 * index[0] + index[1]) as i32)?;
///     assert_eq!(rows.local_shape()?, [1, 2]);
///     let columns = rows.redistribute("S(1)")?;
///     Ok(columns.to_local_vec::<i32>()?)
/// })?;
/// assert_eq!(columns, [[0, 10], [1, 11]]);
/// # Ok::<(), reshard::Error>(())
/// ```
#[derive(Clone)]
pub struct DistTensor {
    world: World,
    head: Arc<Head>,
    pub(super) local: Option<Buffer>,
}

/// What a tensor is, on one rank; all but its elements.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) layout: Layout,
    pub(super) shape: Vec<usize>,
    pub(super) dtype: DType,
    /// Empty outside the mesh.
    pub(super) local_shape: Vec<usize>,
}

impl DistTensor {
    /// The tensor of which this rank holds `local`, in row-major order; `None` outside the mesh.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] if the layout does not fit shape or element type; [`Error::Engine`] if `local`
    /// has another length than the layout gives this rank.
    pub(crate) fn from_parts(
        world: &World,
        layout: Layout,
        shape: &[usize],
        dtype: DType,
        local: Option<Buffer>,
    ) -> Result<Self, Error> {
        layout.check(shape, dtype)?;
        let (rank, bytes) = (world.rank(), dtype.bytes());
        let (local_shape, needed) = match layout.mesh().contains(rank) {
            true => {
                let region = layout.region(shape, rank)?;
                (region.local_shape(), Some(region.len() * bytes))
            }
            false => (Vec::new(), None),
        };
        let given = local.as_ref().map(Buffer::len_bytes);
        if given != needed {
            let what = format!("a tensor of {dtype} {shape:?} under {layout}");
            let cause = format!("its local bytes are {given:?}, but have to be {needed:?}");
            return Err(Error::engine(&what, cause));
        }
        let head = Head { layout, shape: shape.to_vec(), dtype, local_shape };
        Ok(Self::assembled(world, Arc::new(head), local))
    }

    /// The tensor of parts that are known to fit.
    pub(super) fn assembled(world: &World, head: Arc<Head>, local: Option<Buffer>) -> Self {
        Self { world: world.clone(), head, local }
    }

    /// Where every element lives.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.head.layout
    }

    /// Lengths of the dims of the whole tensor.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.head.shape
    }

    /// Dims of the tensor.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.head.shape.len()
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.head.dtype
    }

    /// This rank's world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Whether this rank is in the mesh, and so holds elements.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.local.is_some()
    }

    /// Lengths of the dims of this rank's local tensor.
    ///
    /// # Errors
    ///
    /// [`DataError::Outside`] on a rank outside the mesh.
    pub fn local_shape(&self) -> Result<&[usize], Error> {
        self.local_buffer()?;
        Ok(&self.head.local_shape)
    }

    /// The global index of this rank's first element, per dim; the length of a dim of which this rank
    /// holds nothing.
    ///
    /// # Errors
    ///
    /// [`DataError::Outside`] on a rank outside the mesh.
    pub fn offset(&self) -> Result<Vec<usize>, Error> {
        Ok(self.region()?.offset(self.shape()))
    }

    /// The global elements that this rank holds.
    ///
    /// # Errors
    ///
    /// [`DataError::Outside`] on a rank outside the mesh.
    pub fn region(&self) -> Result<Region, Error> {
        self.local_buffer()?;
        Ok(self.layout().region(self.shape(), self.world().rank())?)
    }

    /// This rank's elements in row-major order; of a partial tensor, its terms.
    ///
    /// # Errors
    ///
    /// [`DataError::Outside`] on a rank outside the mesh.
    pub fn local_buffer(&self) -> Result<&Buffer, Error> {
        self.local.as_ref().ok_or_else(|| self.outside())
    }

    pub(super) fn outside(&self) -> Error {
        let (rank, mesh) = (self.world().rank(), self.layout().mesh().to_string());
        DataError::Outside { rank, mesh }.into()
    }
}

/// `DistTensor(f32 [6, 8], [dp, tp] on dp=2, tp=2; rank 1 holds [3, 4])`; no elements.
impl fmt::Debug for DistTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Head { layout, shape, dtype, local_shape } = &*self.head;
        let (mesh, rank) = (layout.mesh(), self.world.rank());
        write!(f, "DistTensor({dtype} {shape:?}, {layout} on {mesh}; rank {rank} holds ")?;
        match &self.local {
            Some(_) => write!(f, "{local_shape:?})"),
            None => f.write_str("nothing)"),
        }
    }
}
