//! Runs programs: what one rank does for one plan, with no arithmetic on layouts.

mod call;
mod pack;
mod slots;

use crate::base::DType;
use crate::comm::{CommError, Communicator, Stamp};
use crate::mem::{Buffer, MemError, Window, copy, fill_identity, scale};
use crate::plan::{Instruction, Program};

use slots::Slots;

/// Why a rank could not run its program.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// A call could not be done.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// A program that does not fit its buffers.
    #[error(transparent)]
    Memory(#[from] MemError),
    /// A program that reads what nothing has written.
    #[error("buffer {buffer} of {len_bytes} bytes is read before it is written")]
    Unwritten {
        /// The buffer's number.
        buffer: usize,
        /// Its length.
        len_bytes: usize,
    },
    /// A program that writes what has been read.
    #[error("buffer {buffer} is written after it was read")]
    Frozen {
        /// The buffer's number.
        buffer: usize,
    },
}

/// Runs a rank's program: its local tensor in the target layout, or `None` on a rank that is not in the
/// target's mesh.
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
/// [`ExecError::Comm`] if a call cannot be done; any other for a defect of the program.
pub fn execute(
    program: &Program,
    dtype: DType,
    source: &Buffer,
    communicator: &dyn Communicator,
    stamp: &Stamp,
) -> Result<Option<Buffer>, ExecError> {
    let mut slots = Slots::new(program.buffers(), source)?;
    for instruction in program.instructions() {
        match instruction {
            Instruction::View { source, target, offset_bytes } => {
                slots.view(*source, *target, *offset_bytes)?;
            }
            Instruction::Fill { target, reduction } => {
                let target = slots.write(*target)?;
                let all = whole(target.len_bytes(), dtype);
                fill_identity(target.as_bytes_mut(), &[all], dtype, *reduction)?;
            }
            Instruction::Copy { source, target, from, to } => {
                let source = slots.read(*source)?;
                let target = slots.write(*target)?.as_bytes_mut();
                copy(source.as_bytes(), from, target, to, dtype.bytes())?;
            }
            Instruction::Scale { source, target, factor } => {
                let source = slots.read(*source)?;
                let target = slots.write(*target)?;
                let all = [whole(target.len_bytes(), dtype)];
                copy(source.as_bytes(), &all, target.as_bytes_mut(), &all, dtype.bytes())?;
                scale(target.as_bytes_mut(), &all, dtype, *factor)?;
            }
            Instruction::Call { source, target, call } => {
                let given = slots.read(*source)?;
                let wanted = slots.take(*target)?;
                let call = call::call(call, dtype, stamp);
                let filled = if communicator.takes_strided() {
                    communicator.submit(call, given, wanted)?.wait()?
                } else {
                    pack::submit_packed(communicator, call, &given, wanted)?
                };
                slots.put(*target, filled);
            }
        }
    }
    program.result().map(|result| slots.read(result)).transpose()
}

fn whole(len_bytes: usize, dtype: DType) -> Window {
    Window::run(0, len_bytes / dtype.bytes(), dtype.bytes())
}
