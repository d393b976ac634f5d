//! Calls on communicators that take one contiguous window a part only.

use super::ExecError;
use crate::base::DType;
use crate::comm::{Call, Communicator, Part};
use crate::mem::{Buffer, BufferMut, Window, copy};

/// Makes a call and waits for it. Strided parts are packed one after another into a buffer of their
/// own; what comes in packed is unpacked into `target`.
pub(super) fn submit_packed(
    communicator: &dyn Communicator,
    mut call: Call,
    source: &Buffer,
    mut target: BufferMut,
) -> Result<BufferMut, ExecError> {
    let dtype = call.dtype;
    let source = match Packed::of(&call.send, dtype) {
        None => source.clone(),
        Some(packed) => {
            let buffer = packed.pack(&call.send, source, dtype)?;
            call.send = packed.parts;
            buffer
        }
    };
    let Some(packed) = Packed::of(&call.recv, dtype) else {
        return Ok(communicator.submit(call, source, target)?.wait()?);
    };
    let strided = std::mem::replace(&mut call.recv, packed.parts.clone());
    let filled = communicator.submit(call, source, BufferMut::zeroed(packed.len_bytes))?.wait()?;
    for (from, to) in packed.parts.iter().zip(&strided) {
        let bytes = target.as_bytes_mut();
        copy(filled.as_bytes(), &from.windows, bytes, &to.windows, dtype.bytes())?;
    }
    Ok(target)
}

/// Parts laid one after another.
struct Packed {
    parts: Vec<Part>,
    len_bytes: usize,
}

impl Packed {
    /// The parts packed, or `None` if each is one contiguous window as it is.
    fn of(parts: &[Part], dtype: DType) -> Option<Self> {
        let bytes = dtype.bytes();
        let simple = |part: &Part| matches!(&part.windows[..], [w] if w.is_contiguous(bytes));
        if parts.iter().all(simple) {
            return None;
        }
        let mut packed = Self { parts: Vec::with_capacity(parts.len()), len_bytes: 0 };
        for part in parts {
            let window = Window::run(packed.len_bytes, part.len(), bytes);
            packed.len_bytes += part.len() * bytes;
            packed.parts.push(Part { peer: part.peer, windows: vec![window] });
        }
        Some(packed)
    }

    fn pack(&self, strided: &[Part], source: &Buffer, dtype: DType) -> Result<Buffer, ExecError> {
        let mut buffer = BufferMut::zeroed(self.len_bytes);
        for (from, to) in strided.iter().zip(&self.parts) {
            let bytes = buffer.as_bytes_mut();
            copy(source.as_bytes(), &from.windows, bytes, &to.windows, dtype.bytes())?;
        }
        Ok(buffer.freeze())
    }
}
