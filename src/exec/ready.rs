//! A call of a program, prepared; packed for communicators that take one contiguous window a part only.

use super::ExecError;
use super::call::call;
use super::packing::Packing;
use crate::base::DType;
use crate::comm::{Communicator, Prepared, Stamp};
use crate::mem::{Buffer, BufferMut, Pool};
use crate::plan::CallSpec;

/// With what a program is run.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) pool: &'a Pool,
    pub(super) communicator: &'a dyn Communicator,
    pub(super) stamp: &'a Stamp,
}

/// A call that can be made again and again.
#[derive(Debug)]
pub(super) struct ReadyCall {
    call: Prepared,
    step: u32,
    /// How the source is packed first, unless the call reads it as it is.
    pack: Option<Packing>,
    /// How the target is unpacked at the end, unless the call writes it as it is.
    unpack: Option<Packing>,
}

impl ReadyCall {
    /// The call of a program on buffers of so many bytes.
    pub(super) fn new(
        spec: &CallSpec,
        dtype: DType,
        (mut source_bytes, mut target_bytes): (usize, usize),
        communicator: &dyn Communicator,
    ) -> Result<Self, ExecError> {
        let mut call = call(spec, dtype);
        let (mut pack, mut unpack) = (None, None);
        if !communicator.takes_strided() {
            pack = Packing::of(&mut call.send, dtype, &mut source_bytes);
            unpack = Packing::of(&mut call.recv, dtype, &mut target_bytes);
        }
        let step = call.stamp.step;
        let call = communicator.prepare(call, source_bytes, target_bytes)?;
        Ok(Self { call, step, pack, unpack })
    }

    /// Makes the call and waits for it.
    pub(super) fn make(
        &self,
        source: Buffer,
        mut target: BufferMut,
        run: Run<'_>,
    ) -> Result<BufferMut, ExecError> {
        let span = self.span(run);
        let _calling = span.enter();
        if self.pack.is_some() || self.unpack.is_some() {
            self.make_packed(source.as_bytes(), target.as_bytes_mut(), run)?;
            return Ok(target);
        }
        Ok(run.communicator.start(&self.call, &self.stamp(run), source, target)?.wait()?)
    }

    /// Makes the call on borrowed memory and waits until nobody uses that any more.
    pub(super) fn make_borrowed(
        &self,
        source: &[u8],
        target: &mut [u8],
        run: Run<'_>,
    ) -> Result<(), ExecError> {
        let span = self.span(run);
        let _calling = span.enter();
        if self.pack.is_some() || self.unpack.is_some() {
            return self.make_packed(source, target, run);
        }
        Ok(run.communicator.perform(&self.call, &self.stamp(run), source, target)?)
    }

    fn make_packed(&self, source: &[u8], target: &mut [u8], run: Run<'_>) -> Result<(), ExecError> {
        let given = match &self.pack {
            Some(packing) => packing.pack(source, run.pool)?,
            None => copied(source, run.pool),
        };
        let wanted = match &self.unpack {
            Some(packing) => run.pool.take(packing.len_bytes()),
            None => copied(target, run.pool),
        };
        let work = run.communicator.start(&self.call, &self.stamp(run), given.freeze(), wanted)?;
        let filled = work.wait()?;
        match &self.unpack {
            Some(packing) => packing.unpack(filled.as_bytes(), target)?,
            None => target.copy_from_slice(filled.as_bytes()),
        }
        Ok(())
    }

    /// From packing to the written target.
    fn span(&self, run: Run<'_>) -> tracing::Span {
        let call = self.call.call();
        tracing::trace_span!(
            "call",
            rank = self.call.rank(),
            operation = call.operation.name(),
            group = %call.group,
            step = self.step,
            plan = format_args!("{:016x}", run.stamp.plan),
            send_bytes = call.send_bytes(),
            recv_bytes = call.recv_bytes(),
        )
    }

    fn stamp(&self, run: Run<'_>) -> Stamp {
        Stamp { step: self.step, ..run.stamp.clone() }
    }
}

fn copied(bytes: &[u8], pool: &Pool) -> BufferMut {
    let mut copy = pool.take(bytes.len());
    copy.as_bytes_mut().copy_from_slice(bytes);
    copy
}
