//! A few words that ranks exchange before they know each other's tensors.

use super::{Error, World};
use crate::base::{DType, StableHash};
use crate::comm::{Call, Stamp};
use crate::mem::{Buffer, BufferMut};
use crate::mesh::{Group, Rank};

/// What is told among the ranks of a group for one of the user's calls.
pub(super) struct Wire<'a> {
    world: &'a World,
    group: Group,
    what: String,
}

impl<'a> Wire<'a> {
    /// `what` is the user's call; ranks that meet in another one get an error.
    pub(super) fn new(world: &'a World, group: Group, what: impl Into<String>) -> Self {
        Self { world, group, what: what.into() }
    }

    /// The words of every member, in group order; each gives equally many.
    pub(super) fn all_gather(&self, words: &[u64]) -> Result<Vec<u64>, Error> {
        let members = self.group.len();
        let own = self.group.position(self.world.rank()).unwrap_or_default();
        let call = Call::all_gather(&self.group, DType::U64)
            .send_run(own, words.len())
            .recv_counts(std::iter::repeat_n(words.len(), members));
        let gathered = self.call(call, Buffer::from_elements(words), 8 * members * words.len())?;
        Ok(gathered.as_elements::<u64>()?.to_vec())
    }

    /// The words of a rank, on every member; all know how many there are.
    pub(super) fn broadcast(
        &self,
        from: Rank,
        words: Vec<u64>,
        len: usize,
    ) -> Result<Vec<u64>, Error> {
        let root = self.group.position(from).unwrap_or_default();
        let mut call = Call::broadcast(&self.group, DType::U64, root).recv_run(root, len);
        let mut source = Buffer::empty();
        if self.world.rank() == from {
            call = call.send_run(root, len);
            source = Buffer::from_vec(words);
        }
        Ok(self.call(call, source, 8 * len)?.as_elements::<u64>()?.to_vec())
    }

    fn call(&self, call: Call, source: Buffer, target_bytes: usize) -> Result<Buffer, Error> {
        self.world.in_turn(|communicator| {
            let plan = StableHash::new().text(&self.what).finish();
            let sequence = communicator.next_sequence(&self.group);
            let span = tracing::trace_span!(
                "call",
                rank = communicator.rank(),
                operation = call.operation.name(),
                group = %call.group,
                step = 0,
                plan = format_args!("{plan:016x}"),
                send_bytes = call.send_bytes(),
                recv_bytes = call.recv_bytes(),
            );
            let _calling = span.enter();
            let stamp = Stamp { plan, ..Stamp::new(sequence, self.what.as_str()) };
            let work =
                communicator.submit(call.stamp(stamp), source, BufferMut::zeroed(target_bytes))?;
            Ok(work.wait()?.freeze())
        })
    }
}

/// The number of an element type.
pub(super) fn dtype_code(dtype: DType) -> u64 {
    DType::ALL.iter().position(|&other| other == dtype).map_or(0, |number| number as u64)
}

/// The element type of a number that [`dtype_code`] made.
pub(super) fn dtype_of(code: u64) -> DType {
    DType::ALL.get(code as usize).copied().unwrap_or(DType::U8)
}
