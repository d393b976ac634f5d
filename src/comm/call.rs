//! One rank's side of a collective.

use std::sync::Arc;

use super::Operation;
use crate::base::{DType, Reduction};
use crate::mem::{Combine, Window};
use crate::mesh::Group;

/// One rank's side of a collective: what it does, with whom, and which elements of the source and
/// target buffer take part.
///
/// | operation | send parts | recv parts |
/// |---|---|---|
/// | all-gather | one, peer = own position, for everybody | one from each member |
/// | all-reduce | one, peer = own position | one, peer = own position |
/// | reduce-scatter | one to each member | one, peer = own position |
/// | all-to-all | one to each member | one from each member |
/// | broadcast | root: one, peer = root | one, peer = root |
/// | scatter | root: one to each member | one, peer = root |
/// | gather | one, peer = root | root: one from each member |
/// | reduce | one, peer = root | root: one, peer = root |
/// | exchange | at most one to each member | at most one from each member |
/// | barrier | none | none |
///
/// "Each member" includes the rank itself; a root takes part as a member too. Counts may differ and
/// may be zero; nothing is ever padded. Bytes of the target outside the recv windows keep their
/// values.
///
/// # Example
///
/// ```
/// use reshard::comm::Call;
/// use reshard::{DType, Group, Reduction};
/// let group = Group::world(2);
/// // The member at position 0 gives 3 elements and gets 3 + 5.
/// let call = Call::all_gather(&group, DType::F32).send_run(0, 3).recv_counts([3, 5]);
/// assert_eq!((call.send_bytes(), call.recv_bytes()), (12, 32));
/// let call = Call::all_reduce(&group, DType::F32, Reduction::Avg);
/// assert_eq!(call.operation.to_string(), "all-reduce(avg, divided by 2)");
/// ```
#[derive(Clone, Debug)]
pub struct Call {
    /// What is done.
    pub operation: Operation,
    /// The ranks that take part, in the order in which parts are listed and terms are combined.
    pub group: Group,
    /// The element type.
    pub dtype: DType,
    /// Which elements of the source go to whom.
    pub send: Vec<Part>,
    /// Which elements of the target come from whom.
    pub recv: Vec<Part>,
    /// Which of the program's calls this is.
    pub stamp: Stamp,
}

/// The elements that pass between this rank and one peer, in the order of the windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The peer's position in the group.
    pub peer: usize,
    /// The elements: in the source of the sender, in the target of the receiver.
    pub windows: Vec<Window>,
}

impl Part {
    /// How many elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.windows.iter().fold(0, |len: usize, window| len.saturating_add(window.len()))
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Which of the program's calls a call is. Ranks that meet compare all but the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The number among the program's calls on its ranks; see
    /// [`Communicator::next_sequence`](super::Communicator::next_sequence).
    pub sequence: u64,
    /// The step of the plan.
    pub step: u32,
    /// A hash of the plan; 0 for none.
    pub plan: u64,
    /// The user's call, for messages.
    pub what: Arc<str>,
}

impl Stamp {
    /// The stamp of a call without plan.
    #[must_use]
    pub fn new(sequence: u64, what: impl Into<Arc<str>>) -> Self {
        Self { sequence, what: what.into(), ..Self::default() }
    }
}

/// One constructor for each operation, then the parts.
impl Call {
    /// A call without parts.
    #[must_use]
    pub fn new(operation: Operation, group: &Group, dtype: DType) -> Self {
        let (group, stamp) = (group.clone(), Stamp::default());
        Self { operation, group, dtype, send: Vec::new(), recv: Vec::new(), stamp }
    }

    /// See [`Operation::AllGather`].
    #[must_use]
    pub fn all_gather(group: &Group, dtype: DType) -> Self {
        Self::new(Operation::AllGather, group, dtype)
    }

    /// See [`Operation::AllReduce`]. `Avg` divides by the number of members; see [`Call::divisor`].
    #[must_use]
    pub fn all_reduce(group: &Group, dtype: DType, reduction: Reduction) -> Self {
        let divisor = Combine::new(dtype, reduction, group.len()).divisor;
        Self::new(Operation::AllReduce { reduction, divisor }, group, dtype)
    }

    /// See [`Operation::ReduceScatter`]. `Avg` divides by the number of members; see
    /// [`Call::divisor`].
    #[must_use]
    pub fn reduce_scatter(group: &Group, dtype: DType, reduction: Reduction) -> Self {
        let divisor = Combine::new(dtype, reduction, group.len()).divisor;
        Self::new(Operation::ReduceScatter { reduction, divisor }, group, dtype)
    }

    /// See [`Operation::AllToAll`].
    #[must_use]
    pub fn all_to_all(group: &Group, dtype: DType) -> Self {
        Self::new(Operation::AllToAll, group, dtype)
    }

    /// See [`Operation::Broadcast`].
    #[must_use]
    pub fn broadcast(group: &Group, dtype: DType, root: usize) -> Self {
        Self::new(Operation::Broadcast { root }, group, dtype)
    }

    /// See [`Operation::Scatter`].
    #[must_use]
    pub fn scatter(group: &Group, dtype: DType, root: usize) -> Self {
        Self::new(Operation::Scatter { root }, group, dtype)
    }

    /// See [`Operation::Gather`].
    #[must_use]
    pub fn gather(group: &Group, dtype: DType, root: usize) -> Self {
        Self::new(Operation::Gather { root }, group, dtype)
    }

    /// See [`Operation::Reduce`]. `Avg` divides by the number of members; see [`Call::divisor`].
    #[must_use]
    pub fn reduce(group: &Group, dtype: DType, reduction: Reduction, root: usize) -> Self {
        let divisor = Combine::new(dtype, reduction, group.len()).divisor;
        Self::new(Operation::Reduce { root, reduction, divisor }, group, dtype)
    }

    /// See [`Operation::Exchange`].
    #[must_use]
    pub fn exchange(group: &Group, dtype: DType) -> Self {
        Self::new(Operation::Exchange, group, dtype)
    }

    /// See [`Operation::Barrier`].
    #[must_use]
    pub fn barrier(group: &Group) -> Self {
        Self::new(Operation::Barrier, group, DType::U8)
    }

    /// Adds a send part: elements of the source for the peer at a position.
    #[must_use]
    pub fn send(mut self, peer: usize, windows: impl IntoIterator<Item = Window>) -> Self {
        self.send.push(Part { peer, windows: windows.into_iter().collect() });
        self
    }

    /// Adds a recv part: elements of the target from the peer at a position.
    #[must_use]
    pub fn recv(mut self, peer: usize, windows: impl IntoIterator<Item = Window>) -> Self {
        self.recv.push(Part { peer, windows: windows.into_iter().collect() });
        self
    }

    /// Adds a send part: the first `len` elements of the source.
    #[must_use]
    pub fn send_run(self, peer: usize, len: usize) -> Self {
        let window = Window::run(0, len, self.dtype.bytes());
        self.send(peer, [window])
    }

    /// Adds a recv part: the first `len` elements of the target.
    #[must_use]
    pub fn recv_run(self, peer: usize, len: usize) -> Self {
        let window = Window::run(0, len, self.dtype.bytes());
        self.recv(peer, [window])
    }

    /// Sets the send parts: one for each member in order, one after another in the source, with these
    /// numbers of elements.
    #[must_use]
    pub fn send_counts(mut self, counts: impl IntoIterator<Item = usize>) -> Self {
        self.send = consecutive(counts, self.dtype);
        self
    }

    /// Sets the recv parts: one from each member in order, one after another in the target, with
    /// these numbers of elements.
    #[must_use]
    pub fn recv_counts(mut self, counts: impl IntoIterator<Item = usize>) -> Self {
        self.recv = consecutive(counts, self.dtype);
        self
    }

    /// Sets what the result of a reduction is divided by; 1 divides nothing. Operations that do not
    /// reduce are left as they are.
    #[must_use]
    pub fn divisor(mut self, count: usize) -> Self {
        match &mut self.operation {
            Operation::AllReduce { divisor, .. }
            | Operation::ReduceScatter { divisor, .. }
            | Operation::Reduce { divisor, .. } => *divisor = count,
            Operation::AllGather
            | Operation::AllToAll
            | Operation::Broadcast { .. }
            | Operation::Scatter { .. }
            | Operation::Gather { .. }
            | Operation::Exchange
            | Operation::Barrier => {}
        }
        self
    }

    /// Sets which of the program's calls this is.
    #[must_use]
    pub fn stamp(mut self, stamp: Stamp) -> Self {
        self.stamp = stamp;
        self
    }

    /// Bytes of all send parts together.
    #[must_use]
    pub fn send_bytes(&self) -> usize {
        self.dtype.bytes().saturating_mul(total(&self.send))
    }

    /// Bytes of all recv parts together.
    #[must_use]
    pub fn recv_bytes(&self) -> usize {
        self.dtype.bytes().saturating_mul(total(&self.recv))
    }
}

fn total(parts: &[Part]) -> usize {
    parts.iter().fold(0, |len: usize, part| len.saturating_add(part.len()))
}

fn consecutive(counts: impl IntoIterator<Item = usize>, dtype: DType) -> Vec<Part> {
    let mut offset: usize = 0;
    let part = |(peer, len): (usize, usize)| {
        let window = Window::run(offset, len, dtype.bytes());
        offset = offset.saturating_add(len.saturating_mul(dtype.bytes()));
        Part { peer, windows: vec![window] }
    };
    counts.into_iter().enumerate().map(part).collect()
}
