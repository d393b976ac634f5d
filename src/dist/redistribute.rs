//! Carrying a tensor to another layout: a straight line.

use std::sync::Arc;

use super::pending::{Pending, Redistribution};
use super::ready::{Key, Ready};
use super::{DataError, DistTensor, Error, World};
use crate::layout::IntoLayout;
use crate::mem::Buffer;
use crate::mesh::Mesh;
use crate::plan::{Plan, Transition};

impl DistTensor {
    /// The same tensor in another layout, on the same mesh or, given a [`Layout`](crate::Layout), on
    /// another one.
    ///
    /// A tensor that is in this layout already is only cloned.
    ///
    /// # Communication
    ///
    /// Every rank of both meshes calls this, with equal arguments and in the same order as other calls
    /// among these ranks, even if nothing moves; [`DistTensor::plan_to`] tells what moves. A rank that is
    /// in neither mesh may call it or not, and never waits.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`], [`Error::Plan`] and [`Error::UnknownRank`] on every rank alike before anything
    /// moves; [`Error::Comm`] if ranks cannot do it together.
    pub fn redistribute(&self, to: impl IntoLayout) -> Result<DistTensor, Error> {
        let (world, ready) = (self.world(), self.ready(to)?);
        let source = self.source();
        let local = world.in_turn(|communicator| ready.run(&source, &mut None, communicator))?;
        Ok(ready.tensor(world, local))
    }

    /// Carries the tensor to the layout of `out`, a tensor of the same shape and element type, whose
    /// elements are replaced.
    ///
    /// The memory of `out` is used again if no other tensor shares it. If an error is returned, `out`
    /// is as it was.
    ///
    /// # Communication
    ///
    /// As [`DistTensor::redistribute`]; ranks may mix both.
    ///
    /// # Errors
    ///
    /// As [`DistTensor::redistribute`]; [`DataError::OtherTensor`] if shapes, element types or worlds
    /// differ.
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::{Mesh, World};
    /// let mesh = Mesh::new([("tp", 2)])?;
    /// World::run(2, |world| {
    ///     let on = world.on(&mesh);
    ///     let mut whole = on.zeros::<f32>([4], "R")?;
    ///     for round in 0..3 {
    ///         let parts = on.full(round as f32, [4], "S(0)")?;
    ///         parts.redistribute_into(&mut whole)?;
    ///         assert_eq!(whole.to_local_vec::<f32>()?, [round as f32; 4]);
    ///     }
    ///     Ok(())
    /// })?;
    /// # Ok::<(), reshard::Error>(())
    /// ```
    pub fn redistribute_into(&self, out: &mut DistTensor) -> Result<(), Error> {
        self.check_like(out)?;
        let (world, ready) = (self.world(), self.ready(out.layout())?);
        let source = self.source();
        let (mut shared, mut offered) = (None, None);
        match out.local.take().map(Buffer::try_into_mut) {
            Some(Ok(own)) => offered = Some(own),
            Some(Err(other)) => shared = Some(other),
            None => {}
        }
        let done = world.in_turn(|communicator| ready.run(&source, &mut offered, communicator));
        // What was not written is put back, unless something else takes its place.
        let before = shared.or(offered.map(crate::mem::BufferMut::freeze));
        let (local, done) = match done {
            Ok(local) => (local, Ok(())),
            Err(error) => (before, Err(error)),
        };
        out.local = local;
        done
    }

    /// As [`DistTensor::redistribute`], but in the background.
    ///
    /// Redistributions of one rank are carried out one after another in the order of their calls, those
    /// that are waited for at once included. Dropping the handle is safe: peers get what they wait for.
    /// If a redistribution fails whose handle was dropped, the rank's closure counts as failed.
    ///
    /// # Communication
    ///
    /// As [`DistTensor::redistribute`].
    ///
    /// # Errors
    ///
    /// Those of [`DistTensor::redistribute`] that arise before anything moves; the handle has the others.
    pub fn redistribute_async(&self, to: impl IntoLayout) -> Result<Redistribution, Error> {
        let (world, source) = (self.world().clone(), self.source());
        let job = Arc::new(Job { ready: self.ready(to)?, world });
        let pending = Arc::new(Pending::default());
        let (running, promised) = (Arc::clone(&job), Arc::clone(&pending));
        let run = move || {
            let world = &running.world;
            let run = || running.ready.run(&source, &mut None, world.communicator());
            promised.settle(world, run);
        };
        self.world().push(Box::new(run))?;
        Ok(Redistribution::new(job, pending))
    }

    /// The plan by which [`DistTensor::redistribute`] would carry the tensor to another layout.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`], [`Error::Plan`] and [`Error::UnknownRank`], on every rank alike.
    pub fn plan_to(&self, to: impl IntoLayout) -> Result<Arc<Plan>, Error> {
        let world = self.world();
        let target = world.layout(to, self.layout().mesh(), self.ndim())?;
        let (source, shape) = (self.layout().clone(), self.shape());
        let transition = world.transition(&source, &target, shape, self.dtype())?;
        Ok(world.plans().plan(&transition, world.options())?)
    }

    /// What carries this tensor to another layout, made now unless it was made before.
    fn ready(&self, to: impl IntoLayout) -> Result<Arc<Ready>, Error> {
        let target = self.world().layout(to, self.layout().mesh(), self.ndim())?;
        let (shape, dtype) = (self.shape(), self.dtype());
        self.world().ready(&Key { source: self.layout(), target: &target, shape, dtype })
    }

    /// This rank's elements; none outside the mesh.
    fn source(&self) -> Buffer {
        self.local.clone().unwrap_or_else(Buffer::empty)
    }

    fn check_like(&self, out: &DistTensor) -> Result<(), Error> {
        let alike = (self.shape(), self.dtype()) == (out.shape(), out.dtype());
        if alike && self.world().is(out.world()) {
            return Ok(());
        }
        let described = |tensor: &DistTensor| format!("{tensor:?} of {:?}", tensor.world());
        Err(DataError::OtherTensor { given: described(self), out: described(out) }.into())
    }
}

/// A redistribution of one rank in the background.
pub(super) struct Job {
    ready: Arc<Ready>,
    world: World,
}

impl Job {
    pub(super) fn world(&self) -> &World {
        &self.world
    }

    /// The tensor of which this rank holds `local` now.
    pub(super) fn finish(&self, local: Option<Buffer>) -> DistTensor {
        self.ready.tensor(&self.world, local)
    }
}

/// Checks that the world has all ranks of a mesh.
pub(super) fn check_ranks(world: &World, mesh: &Mesh) -> Result<(), Error> {
    let world_len = world.len();
    match mesh.ranks().iter().find(|&&rank| rank >= world_len) {
        None => Ok(()),
        Some(&rank) => Err(Error::UnknownRank { mesh: mesh.to_string(), rank, world_len }),
    }
}

impl World {
    /// The transition of a tensor, whose ranks this world has.
    pub(super) fn transition(
        &self,
        source: &crate::Layout,
        target: &crate::Layout,
        shape: &[usize],
        dtype: crate::DType,
    ) -> Result<Transition, Error> {
        check_ranks(self, target.mesh())?;
        Ok(Transition::new(source.clone(), target.clone(), shape, dtype)?)
    }

    /// Carries elements in the caller's own memory from layout to layout: for engines with tensors of
    /// their own, whose memory is used in place.
    ///
    /// `source` and `target` are this rank's local tensors, row major, as native bytes; of a rank
    /// outside a mesh, the slice on that side is empty. Returns when no peer uses them any more. The
    /// target is written only if nothing can fail any more.
    ///
    /// # Communication
    ///
    /// As [`DistTensor::redistribute`]; peers may use tensors as well, but wait for them: a peer whose
    /// [`Redistribution`] is not waited for is carried out in the background all the same.
    ///
    /// # Errors
    ///
    /// As [`DistTensor::redistribute`]; [`DataError::ByteCount`] if a slice is not this rank's local
    /// tensor.
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::plan::Transition;
    /// use reshard::{DType, Layout, Mesh, World};
    /// let mesh = Mesh::new([("tp", 2)])?;
    /// let (from, to) = (Layout::parse(&mesh, 1, "P(sum)")?, Layout::parse(&mesh, 1, "S(0)")?);
    /// let transition = Transition::new(from, to, [4], DType::U8)?;
    /// let halves = World::run(2, |world| {
    ///     let (terms, mut half) = ([1, 2, 3, 4], [0; 2]);
    ///     world.redistribute_bytes(&transition, &terms, &mut half)?;
    ///     Ok(half)
    /// })?;
    /// assert_eq!(halves, [[2, 4], [6, 8]]);
    /// # Ok::<(), reshard::Error>(())
    /// ```
    pub fn redistribute_bytes(
        &self,
        transition: &Transition,
        source: &[u8],
        target: &mut [u8],
    ) -> Result<(), Error> {
        check_ranks(self, transition.source().mesh())?;
        let ready = self.ready(&Key {
            source: transition.source(),
            target: transition.target(),
            shape: transition.shape(),
            dtype: transition.dtype(),
        })?;
        ready.check_bytes(self.rank(), source.len(), target.len())?;
        self.in_turn(|communicator| ready.run_borrowed(source, target, communicator))
    }
}
