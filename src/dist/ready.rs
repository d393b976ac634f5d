//! A redistribution made ready once, to be carried out again and again.

use std::fmt;
use std::sync::Arc;

use super::tensor::Head;
use super::{DataError, DistTensor, Error, World};
use crate::base::DType;
use crate::comm::{Communicator, Stamp};
use crate::exec::{ExecError, Runner};
use crate::layout::Layout;
use crate::mem::{Buffer, BufferMut};
use crate::mesh::{Group, Rank};
use crate::plan::{BufferId, Lowered, Transition};

/// All that one rank needs to carry tensors of one layout, shape and element type to another layout.
pub(super) struct Ready {
    source: Layout,
    /// Of the result.
    head: Arc<Head>,
    /// `None` on a rank that takes no part.
    part: Option<Part>,
}

/// What a rank does that takes part.
struct Part {
    runner: Runner,
    /// The ranks that take part, in the order of the plan.
    scope: Group,
    plan: u64,
    what: Arc<str>,
    /// Those of the busiest rank.
    bytes: usize,
    /// This rank's, as the plan counts them.
    sent_bytes: usize,
    received_bytes: usize,
    /// Whether no rank sends anything.
    is_local: bool,
    /// Whether this rank makes no call.
    is_silent: bool,
}

impl Ready {
    /// Plans a transition and prepares this rank's part of it. A plan that cannot be is an error on
    /// every rank, outside ones included.
    pub(super) fn new(world: &World, transition: &Transition) -> Result<Self, Error> {
        let (plans, options, rank) = (world.plans(), world.options(), world.rank());
        let (source, target) = (transition.source(), transition.target());
        let takes_part = [source, target].iter().any(|layout| layout.mesh().contains(rank));
        let part = match takes_part {
            true => Some(Part::new(world, transition, plans.lowered(transition, options, rank)?)?),
            false => plans.plan(transition, options).map(|_| None)?,
        };
        let shape_of = |part: &Part| part.runner.program().result_shape().to_vec();
        let head = Head {
            layout: target.clone(),
            shape: transition.shape().to_vec(),
            dtype: transition.dtype(),
            local_shape: part.as_ref().map_or_else(Vec::new, shape_of),
        };
        Ok(Self { source: source.clone(), head: Arc::new(head), part })
    }

    /// Whether it is the one for these.
    pub(super) fn is_of(&self, key: &Key<'_>) -> bool {
        self.source == *key.source
            && self.head.layout.is_given_as(key.target)
            && self.head.shape == key.shape
            && self.head.dtype == key.dtype
    }

    /// Carries out this rank's part as one of the program's calls; writes to the memory offered if it
    /// can, and only once nothing can fail any more.
    pub(super) fn run(
        &self,
        source: &Buffer,
        offered: &mut Option<BufferMut>,
        communicator: &dyn Communicator,
    ) -> Result<Option<Buffer>, Error> {
        self.run_as_call(communicator, |part, stamp| {
            part.runner.run_into(source, offered, communicator, stamp)
        })
    }

    /// Carries out this rank's part as one of the program's calls, on memory of the caller's.
    pub(super) fn run_borrowed(
        &self,
        source: &[u8],
        target: &mut [u8],
        communicator: &dyn Communicator,
    ) -> Result<(), Error> {
        let run = |part: &Part, stamp: &Stamp| {
            part.runner.run_borrowed(source, target, communicator, stamp).map(Some)
        };
        self.run_as_call(communicator, run).map(drop)
    }

    fn run_as_call<T>(
        &self,
        communicator: &dyn Communicator,
        run: impl FnOnce(&Part, &Stamp) -> Result<Option<T>, ExecError>,
    ) -> Result<Option<T>, Error> {
        let Some(part) = &self.part else { return Ok(None) };
        let stamp = Stamp {
            sequence: communicator.next_sequence(&part.scope),
            step: 0,
            plan: part.plan,
            what: Arc::clone(&part.what),
        };
        let Part { what, plan, bytes, sent_bytes, received_bytes, .. } = part;
        let span = tracing::debug_span!(
            "redistribute",
            rank = communicator.rank(),
            %what,
            plan = format_args!("{plan:016x}"),
            bytes,
            sent_bytes,
            received_bytes,
        );
        let _running = span.enter();
        if part.is_silent {
            communicator.note(&stamp);
        }
        run(part, &stamp).map_err(|error| Error::exec(what, error))
    }

    /// Carries out this rank's part of a plan that moves nothing, without counting as a call.
    pub(super) fn run_local(
        &self,
        world: &World,
        source: &Buffer,
    ) -> Result<Option<Buffer>, Error> {
        let Some(part) = &self.part else { return Ok(None) };
        if !part.is_local {
            return Err(Error::engine(&part.what, "a plan that should be local sends something"));
        }
        let stamp = Stamp::new(0, Arc::clone(&part.what));
        let result = part.runner.run(source, world.communicator(), &stamp);
        result.map_err(|error| Error::exec(&part.what, error))
    }

    /// Checks that slices of so many bytes are the local tensors of `rank`.
    pub(super) fn check_bytes(
        &self,
        rank: Rank,
        source: usize,
        target: usize,
    ) -> Result<(), Error> {
        let program = self.part.as_ref().map(|part| part.runner.program());
        let bytes = |id: BufferId| program.map_or(0, |program| program.buffers()[id.index()]);
        let result = program.and_then(|program| program.result());
        let sides = [
            (&self.source, source, bytes(BufferId::SOURCE)),
            (&self.head.layout, target, result.map_or(0, bytes)),
        ];
        for (layout, given, needed) in sides {
            if given != needed {
                let (layout, shape) = (layout.to_string(), self.head.shape.clone());
                let dtype = self.head.dtype;
                let error = DataError::ByteCount { rank, layout, shape, dtype, given, needed };
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// The tensor of which this rank holds `local` now.
    pub(super) fn tensor(&self, world: &World, local: Option<Buffer>) -> DistTensor {
        DistTensor::assembled(world, Arc::clone(&self.head), local)
    }
}

impl Part {
    fn new(world: &World, transition: &Transition, lowered: Lowered) -> Result<Self, Error> {
        let Lowered { plan, program, scope, what } = lowered;
        let (is_silent, bytes) = (program.calls().next().is_none(), plan.busiest_bytes());
        let rank = world.rank();
        let place = plan.ranks().iter().position(|&party| party == rank);
        let sent_bytes = place.and_then(|place| plan.sent_bytes().nth(place)).unwrap_or(0);
        let received_bytes = place.and_then(|place| plan.received_bytes().nth(place)).unwrap_or(0);
        let runner = Runner::new(program, transition.dtype(), world.communicator(), world.pool());
        Ok(Self {
            runner: runner.map_err(|error| Error::exec(&what, error))?,
            scope,
            plan: plan.stable_hash(),
            what,
            bytes,
            sent_bytes,
            received_bytes,
            is_local: plan.is_local(),
            is_silent,
        })
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ready({} -> {:?})", self.source, self.head)
    }
}

/// What a redistribution is found by.
pub(super) struct Key<'a> {
    pub(super) source: &'a Layout,
    pub(super) target: &'a Layout,
    pub(super) shape: &'a [usize],
    pub(super) dtype: DType,
}

impl Key<'_> {
    /// A hash to look up; equal layouts have equal ones.
    pub(super) fn hash(&self) -> u64 {
        let take_in =
            |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        let [source, target] = [self.source, self.target].map(Layout::stable_hash);
        let hash = take_in(take_in(source, target), self.dtype as u64);
        self.shape.iter().fold(hash, |hash, &len| take_in(hash, len as u64))
    }
}
