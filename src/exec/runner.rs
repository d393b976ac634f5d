//! A program made ready to be run again and again.

use std::sync::Arc;

use super::ExecError;
use super::ready::{ReadyCall, Run};
use super::slots::Slots;
use crate::base::DType;
use crate::comm::{Communicator, Stamp};
use crate::mem::{Buffer, BufferMut, Pool, Window, copy, fill_identity, scale};
use crate::plan::{BufferId, Instruction, Program};

/// One rank's program with its calls prepared: running it does no planning, and allocates nothing that
/// its pool has.
///
/// This is how engines with tensors of their own use plans: they give and take plain memory.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
/// use reshard::comm::{Communicator, Stamp, threads};
/// use reshard::exec::Runner;
/// use reshard::mem::Pool;
/// use reshard::plan::{PlanOptions, Transition, plan};
/// use reshard::{DType, Group, Layout, Mesh};
///
/// let mesh = Mesh::new([("tp", 2)])?;
/// let (from, to) = (Layout::parse(&mesh, 1, "S(0)")?, Layout::parse(&mesh, 1, "R")?);
/// let plan = plan(&Transition::new(from, to, [4], DType::U8)?, &PlanOptions::default())?;
/// let endpoints = threads::connect(2, threads::Options::default());
/// std::thread::scope(|scope| {
///     for endpoint in endpoints {
///         let program = Arc::new(plan.program(endpoint.rank()));
///         scope.spawn(move || {
///             let pool = Pool::new(1 << 20);
///             let runner = Runner::new(program, DType::U8, &endpoint, &pool).unwrap();
///             let (mine, mut all) = ([endpoint.rank() as u8; 2], [9; 4]);
///             for number in 0..3 {
///                 let stamp = Stamp::new(number, "gather my own");
///                 runner.run_borrowed(&mine, &mut all, &endpoint, &stamp).unwrap();
///                 assert_eq!(all, [0, 0, 1, 1]);
///             }
///         });
///     }
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Runner {
    program: Arc<Program>,
    dtype: DType,
    pool: Pool,
    /// In the order of the program.
    calls: Vec<ReadyCall>,
    /// Whether the result is a buffer that nothing writes before the last call.
    written_last: bool,
}

impl Runner {
    /// Prepares the calls of a rank's program for its communicator. Buffers will come from the pool.
    ///
    /// # Errors
    ///
    /// [`ExecError`] for a defect of the program.
    pub fn new(
        program: Arc<Program>,
        dtype: DType,
        communicator: &dyn Communicator,
        pool: &Pool,
    ) -> Result<Self, ExecError> {
        let mut calls = Vec::new();
        for instruction in program.instructions() {
            if let Instruction::Call { source, target, call } = instruction {
                let len_bytes = |id: &BufferId| program.buffers()[id.index()];
                let lens = (len_bytes(source), len_bytes(target));
                calls.push(ReadyCall::new(call, dtype, lens, communicator)?);
            }
        }
        let written_last = is_written_last(&program);
        Ok(Self { program, dtype, pool: pool.clone(), calls, written_last })
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Runs the program: this rank's local tensor in the target layout, or `None` on a rank that is not
    /// in the target's mesh.
    ///
    /// `source` is the rank's local tensor in the source layout, empty on a rank outside its mesh; it is
    /// read only, and may be what is returned. `stamp` names the user's call; the step is filled in.
    ///
    /// # Communication
    ///
    /// The calls of the program, in order, each waited for before the next instruction.
    ///
    /// # Errors
    ///
    /// [`ExecError::Comm`] if a call cannot be done, [`ExecError::Length`] for a source of another
    /// length; any other for a defect of the program.
    pub fn run(
        &self,
        source: &Buffer,
        communicator: &dyn Communicator,
        stamp: &Stamp,
    ) -> Result<Option<Buffer>, ExecError> {
        self.run_into(source, &mut None, communicator, stamp)
    }

    /// Runs the program on borrowed memory; on a rank outside the target's mesh, `target` is empty.
    ///
    /// Peers use `source` and `target` in place where they can, so this returns only when they are
    /// through. The target is written only if nothing can fail any more.
    ///
    /// # Communication
    ///
    /// As [`Runner::run`]; peers may use memory of either kind, but all wait for the calls they make.
    ///
    /// # Errors
    ///
    /// As [`Runner::run`]; also for a target of another length than the result.
    pub fn run_borrowed(
        &self,
        source: &[u8],
        target: &mut [u8],
        communicator: &dyn Communicator,
        stamp: &Stamp,
    ) -> Result<(), ExecError> {
        let result = self.program.result();
        let len_bytes = |id: BufferId| self.program.buffers()[id.index()];
        check("source", source.len(), len_bytes(BufferId::SOURCE))?;
        check("target", target.len(), result.map_or(0, len_bytes))?;
        if let ([Instruction::Call { source: from, target: to, .. }], [call]) =
            (self.program.instructions(), &self.calls[..])
            && *from == BufferId::SOURCE
            // A rank outside the target's mesh may get something all the same, of which nothing stays.
            && result.map_or(len_bytes(*to) == 0, |result| result == *to)
        {
            let run = Run { pool: &self.pool, communicator, stamp };
            return call.make_borrowed(source, target, run);
        }
        let mut own = self.pool.take(source.len());
        own.as_bytes_mut().copy_from_slice(source);
        if let Some(result) = self.run(&own.freeze(), communicator, stamp)? {
            target.copy_from_slice(result.as_bytes());
        }
        Ok(())
    }

    /// Runs the program; if it can, it writes the result to the memory offered, and only when nothing
    /// can fail any more. What it does not use stays as it was.
    pub(crate) fn run_into(
        &self,
        source: &Buffer,
        offered: &mut Option<BufferMut>,
        communicator: &dyn Communicator,
        stamp: &Stamp,
    ) -> Result<Option<Buffer>, ExecError> {
        let run = Run { pool: &self.pool, communicator, stamp };
        let mut slots = Slots::new(self.program.buffers(), source, &self.pool)?;
        let mut calls = self.calls.iter();
        for instruction in self.program.instructions() {
            let Instruction::Call { source, target, .. } = instruction else {
                self.run_local(instruction, &mut slots)?;
                continue;
            };
            let Some(call) = calls.next() else { continue };
            let given = slots.read(*source)?;
            let is_last = self.written_last && calls.len() == 0;
            let filled = match offered.take_if(|_| is_last) {
                None => call.make(given, slots.take(*target)?, run)?,
                Some(mut own) => {
                    let made = call.make_borrowed(given.as_bytes(), own.as_bytes_mut(), run);
                    if let Err(error) = made {
                        *offered = Some(own);
                        return Err(error);
                    }
                    own
                }
            };
            slots.put(*target, filled);
        }
        self.program.result().map(|result| slots.read(result)).transpose()
    }

    fn run_local(&self, instruction: &Instruction, slots: &mut Slots<'_>) -> Result<(), ExecError> {
        let dtype = self.dtype;
        match instruction {
            Instruction::View { source, target, offset_bytes } => {
                slots.view(*source, *target, *offset_bytes)
            }
            Instruction::Fill { target, reduction } => {
                let target = slots.write(*target)?;
                let all = whole(target.len_bytes(), dtype);
                Ok(fill_identity(target.as_bytes_mut(), &[all], dtype, *reduction)?)
            }
            Instruction::Copy { source, target, from, to } => {
                let source = slots.read(*source)?;
                let target = slots.write(*target)?.as_bytes_mut();
                Ok(copy(source.as_bytes(), from, target, to, dtype.bytes())?)
            }
            Instruction::Scale { source, target, factor } => {
                let source = slots.read(*source)?;
                let target = slots.write(*target)?;
                let all = [whole(target.len_bytes(), dtype)];
                copy(source.as_bytes(), &all, target.as_bytes_mut(), &all, dtype.bytes())?;
                Ok(scale(target.as_bytes_mut(), &all, dtype, *factor)?)
            }
            Instruction::Call { .. } => Ok(()),
        }
    }
}

fn check(what: &'static str, given_bytes: usize, needed_bytes: usize) -> Result<(), ExecError> {
    match given_bytes == needed_bytes {
        true => Ok(()),
        false => Err(ExecError::Length { what, given_bytes, needed_bytes }),
    }
}

/// Whether the result is written by the last call, and by nothing before it.
fn is_written_last(program: &Program) -> bool {
    let Some(result) = program.result() else { return false };
    let instructions = program.instructions();
    let is_call = |instruction: &Instruction| matches!(instruction, Instruction::Call { .. });
    let Some(last) = instructions.iter().rposition(is_call) else { return false };
    let first = instructions.iter().position(|instruction| instruction.target() == result);
    first == Some(last)
}

fn whole(len_bytes: usize, dtype: DType) -> Window {
    Window::run(0, len_bytes / dtype.bytes(), dtype.bytes())
}
