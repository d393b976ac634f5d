//! The buffers of a running program.

use smallvec::SmallVec;

use super::ExecError;
use crate::mem::{Buffer, BufferMut, MemError, Pool};
use crate::plan::BufferId;

/// The buffers of a running program, by number. A buffer is made at its first write, published at its
/// first read, and never written after that.
pub(super) struct Slots<'a> {
    lens_bytes: &'a [usize],
    pool: &'a Pool,
    slots: SmallVec<[Slot; 8]>,
}

enum Slot {
    New,
    Writing(BufferMut),
    Published(Buffer),
}

impl<'a> Slots<'a> {
    /// Buffers of these lengths from a pool, the first of which is `source`.
    pub(super) fn new(
        lens_bytes: &'a [usize],
        source: &Buffer,
        pool: &'a Pool,
    ) -> Result<Self, ExecError> {
        let mut slots: SmallVec<[Slot; 8]> = lens_bytes.iter().map(|_| Slot::New).collect();
        if let (Some(slot), Some(&needed_bytes)) = (slots.first_mut(), lens_bytes.first()) {
            let given_bytes = source.len_bytes();
            if needed_bytes != given_bytes {
                return Err(ExecError::Length { what: "source", given_bytes, needed_bytes });
            }
            *slot = Slot::Published(source.clone());
        }
        Ok(Self { lens_bytes, pool, slots })
    }

    /// The buffer, published from now on.
    pub(super) fn read(&mut self, id: BufferId) -> Result<Buffer, ExecError> {
        let (buffer, len_bytes) = (id.index(), self.lens_bytes[id.index()]);
        let slot = &mut self.slots[buffer];
        let published = match std::mem::replace(slot, Slot::New) {
            Slot::New if len_bytes == 0 => Buffer::empty(),
            Slot::New => return Err(ExecError::Unwritten { buffer, len_bytes }),
            Slot::Writing(writing) => writing.freeze(),
            Slot::Published(published) => published,
        };
        *slot = Slot::Published(published.clone());
        Ok(published)
    }

    /// The buffer, to write to.
    pub(super) fn write(&mut self, id: BufferId) -> Result<&mut BufferMut, ExecError> {
        let writing = self.take(id)?;
        let slot = &mut self.slots[id.index()];
        *slot = Slot::Writing(writing);
        match slot {
            Slot::Writing(writing) => Ok(writing),
            Slot::New | Slot::Published(_) => Err(ExecError::Frozen { buffer: id.index() }),
        }
    }

    /// Takes out the buffer to write to; [`Slots::put`] puts it back.
    pub(super) fn take(&mut self, id: BufferId) -> Result<BufferMut, ExecError> {
        let buffer = id.index();
        match std::mem::replace(&mut self.slots[buffer], Slot::New) {
            Slot::New => Ok(self.pool.take(self.lens_bytes[buffer])),
            Slot::Writing(writing) => Ok(writing),
            Slot::Published(_) => Err(ExecError::Frozen { buffer }),
        }
    }

    pub(super) fn put(&mut self, id: BufferId, writing: BufferMut) {
        self.slots[id.index()] = Slot::Writing(writing);
    }

    /// Makes `target` a part of `source`.
    pub(super) fn view(
        &mut self,
        source: BufferId,
        target: BufferId,
        offset_bytes: usize,
    ) -> Result<(), ExecError> {
        let source = self.read(source)?;
        let (len_bytes, part_bytes) = (source.len_bytes(), self.lens_bytes[target.index()]);
        let end_bytes = offset_bytes.saturating_add(part_bytes);
        if end_bytes > len_bytes {
            return Err(MemError::OutOfBounds { end_bytes, len_bytes }.into());
        }
        self.slots[target.index()] = Slot::Published(source.slice(offset_bytes..end_bytes));
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
mod tests {
    use super::*;

    fn id(index: usize) -> BufferId {
        [BufferId::SOURCE, BufferId(1), BufferId(2)][index]
    }

    #[test]
    fn a_buffer_takes_writes_until_it_is_read() {
        let pool = Pool::new(0);
        let mut slots = Slots::new(&[1, 2, 0], &Buffer::from_elements(&[5u8]), &pool).unwrap();
        slots.write(id(1)).unwrap().as_bytes_mut()[0] = 7;
        let mut taken = slots.take(id(1)).unwrap();
        taken.as_bytes_mut()[1] = 8;
        slots.put(id(1), taken);
        assert_eq!(slots.read(id(1)).unwrap().as_bytes(), [7, 8]);
        assert!(matches!(slots.write(id(1)), Err(ExecError::Frozen { buffer: 1 })));
        assert!(matches!(slots.write(id(0)), Err(ExecError::Frozen { buffer: 0 })));
        assert_eq!(slots.read(id(2)).unwrap().len_bytes(), 0);
    }

    #[test]
    fn programs_that_do_not_fit_are_errors() {
        let pool = Pool::new(0);
        let source = Buffer::from_elements(&[1u8, 2, 3, 4]);
        let refused = Slots::new(&[5], &source, &pool);
        assert!(matches!(refused, Err(ExecError::Length { given_bytes: 4, needed_bytes: 5, .. })));
        let mut slots = Slots::new(&[4, 3, 3], &source, &pool).unwrap();
        let unwritten = slots.read(id(1));
        assert!(matches!(unwritten, Err(ExecError::Unwritten { buffer: 1, len_bytes: 3 })));
        assert!(matches!(slots.view(id(0), id(1), 2), Err(ExecError::Memory(_))));
        slots.view(id(0), id(2), 1).unwrap();
        assert_eq!(slots.read(id(2)).unwrap().as_bytes(), [2, 3, 4]);
    }
}
