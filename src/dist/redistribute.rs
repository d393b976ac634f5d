//! Carrying a tensor to another layout: a straight line.

use std::sync::Arc;

use super::pending::{Pending, Redistribution};
use super::{DistTensor, Error, World};
use crate::comm::{Communicator, Stamp};
use crate::exec::execute;
use crate::layout::{IntoLayout, Layout};
use crate::mem::Buffer;
use crate::mesh::Mesh;
use crate::plan::{Lowered, Plan, Transition};

impl DistTensor {
    /// The same tensor in another layout, on the same mesh or, given a [`Layout`], on another one.
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
        let job = self.job(to)?;
        let local = self.world().in_turn(|communicator| job.run(communicator))?;
        Ok(job.finish(local))
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
        let job = Arc::new(self.job(to)?);
        let pending = Arc::new(Pending::default());
        let (running, promised) = (Arc::clone(&job), Arc::clone(&pending));
        let run = move || {
            let world = running.world();
            promised.settle(world, || running.run(world.communicator()));
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
        let transition = self.transition(to)?;
        Ok(self.world().plans().plan(&transition, self.world().options())?)
    }

    fn transition(&self, to: impl IntoLayout) -> Result<Transition, Error> {
        let target = to.into_layout(self.layout().mesh(), self.ndim())?;
        check_ranks(self.world(), target.mesh())?;
        Ok(Transition::new(self.layout().clone(), target, self.shape(), self.dtype())?)
    }

    fn job(&self, to: impl IntoLayout) -> Result<Job, Error> {
        Job::new(self.world(), self.transition(to)?, self.local.clone())
    }
}

/// A redistribution as one rank carries it out.
pub(super) struct Job {
    world: World,
    transition: Transition,
    source: Buffer,
    /// `None` on a rank that takes no part.
    lowered: Option<Lowered>,
}

impl Job {
    /// The redistribution of a tensor of which this rank holds `local`.
    pub(super) fn new(
        world: &World,
        transition: Transition,
        local: Option<Buffer>,
    ) -> Result<Self, Error> {
        let (plans, options, rank) = (world.plans(), world.options(), world.rank());
        let meshes = [transition.source().mesh(), transition.target().mesh()];
        let takes_part = meshes.iter().any(|mesh| mesh.contains(rank));
        // A plan that cannot be is an error on every rank, outside ones included.
        let lowered = match takes_part {
            true => Some(plans.lowered(&transition, options, rank)?),
            false => plans.plan(&transition, options).map(|_| None)?,
        };
        let source = local.unwrap_or_else(Buffer::empty);
        Ok(Self { world: world.clone(), transition, source, lowered })
    }

    pub(super) fn world(&self) -> &World {
        &self.world
    }

    /// Carries out this rank's part as one of the program's calls.
    pub(super) fn run(&self, communicator: &dyn Communicator) -> Result<Option<Buffer>, Error> {
        let Some(lowered) = &self.lowered else { return Ok(None) };
        let stamp = Stamp {
            sequence: communicator.next_sequence(&lowered.scope),
            step: 0,
            plan: lowered.plan.stable_hash(),
            what: Arc::clone(&lowered.what),
        };
        if lowered.program.calls().next().is_none() {
            communicator.note(&stamp);
        }
        self.execute(lowered, communicator, &stamp)
    }

    /// Carries out this rank's part of a plan that moves nothing, without counting as a call.
    pub(super) fn run_local(&self) -> Result<Option<Buffer>, Error> {
        let Some(lowered) = &self.lowered else { return Ok(None) };
        if !lowered.plan.is_local() {
            return Err(Error::engine(
                &lowered.what,
                "a plan that should be local sends something",
            ));
        }
        self.execute(lowered, self.world.communicator(), &Stamp::new(0, Arc::clone(&lowered.what)))
    }

    /// The tensor of which this rank holds `local` now.
    pub(super) fn finish(&self, local: Option<Buffer>) -> DistTensor {
        let (shape, dtype) = (self.transition.shape(), self.transition.dtype());
        let target: &Layout = self.transition.target();
        let program = self.lowered.as_ref().map(|lowered| &lowered.program);
        let local_shape = program.map_or_else(Vec::new, |program| program.result_shape().to_vec());
        DistTensor::assembled(&self.world, target.clone(), (shape, dtype), local_shape, local)
    }

    fn execute(
        &self,
        lowered: &Lowered,
        communicator: &dyn Communicator,
        stamp: &Stamp,
    ) -> Result<Option<Buffer>, Error> {
        let dtype = self.transition.dtype();
        execute(&lowered.program, dtype, &self.source, communicator, stamp)
            .map_err(|error| Error::exec(&lowered.what, error))
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
