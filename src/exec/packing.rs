//! Strided parts laid one after another in a buffer of their own, and back.

use super::ExecError;
use crate::base::DType;
use crate::comm::Part;
use crate::mem::{BufferMut, Pool, Window, copy};

/// Where the elements of parts lie as they are, and packed.
#[derive(Debug)]
pub(super) struct Packing {
    strided: Vec<Part>,
    packed: Vec<Part>,
    len_bytes: usize,
    element_bytes: usize,
}

impl Packing {
    /// Replaces parts, and the length of their buffer, by packed ones, unless each is one contiguous
    /// window as it is.
    pub(super) fn of(parts: &mut Vec<Part>, dtype: DType, buffer: &mut usize) -> Option<Self> {
        let bytes = dtype.bytes();
        let simple = |part: &Part| matches!(&part.windows[..], [w] if w.is_contiguous(bytes));
        if parts.iter().all(simple) {
            return None;
        }
        let (mut packed, mut len_bytes) = (Vec::with_capacity(parts.len()), 0);
        for part in &*parts {
            let window = Window::run(len_bytes, part.len(), bytes);
            len_bytes += part.len() * bytes;
            packed.push(Part { peer: part.peer, windows: vec![window] });
        }
        *buffer = len_bytes;
        let strided = std::mem::replace(parts, packed.clone());
        Some(Self { strided, packed, len_bytes, element_bytes: bytes })
    }

    pub(super) fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    pub(super) fn pack(&self, source: &[u8], pool: &Pool) -> Result<BufferMut, ExecError> {
        let mut buffer = pool.take(self.len_bytes);
        for (from, to) in self.strided.iter().zip(&self.packed) {
            let bytes = buffer.as_bytes_mut();
            copy(source, &from.windows, bytes, &to.windows, self.element_bytes)?;
        }
        Ok(buffer)
    }

    pub(super) fn unpack(&self, packed: &[u8], target: &mut [u8]) -> Result<(), ExecError> {
        for (from, to) in self.packed.iter().zip(&self.strided) {
            copy(packed, &from.windows, target, &to.windows, self.element_bytes)?;
        }
        Ok(())
    }
}
