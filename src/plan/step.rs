//! One collective or local move of a plan.

use std::fmt;
use std::sync::Arc;

use crate::layout::Layout;
use crate::mesh::Axis;

use super::relay::Relay;
use super::traffic::Traffic;

/// One collective or local move, for all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub(crate) kind: StepKind,
    pub(crate) algorithm: Algorithm,
    pub(crate) axes: Vec<Axis>,
    pub(crate) group_len: usize,
    pub(crate) source: Layout,
    pub(crate) target: Layout,
    pub(crate) traffic: Traffic,
    pub(crate) element_bytes: usize,
    /// Who passes on what, if the step is relayed.
    pub(crate) relay: Option<Arc<Relay>>,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// Local: each rank keeps its part of what it holds (Replicate → Shard).
    Slice,
    /// Local: values become terms whose reduction they are (Replicate or Shard → Partial).
    Seed,
    /// Local: terms of an average become terms of a sum.
    Scale,
    /// Every rank of a group gets all that the group holds.
    AllGather,
    /// Every rank of a group gets the reduction of the group's terms.
    AllReduce,
    /// Every rank of a group gets its part of the reduction of the group's terms.
    ReduceScatter,
    /// One rank of a group gets the reduction of the group's terms.
    Reduce,
    /// Every rank of a group sends each other rank a part of what it holds.
    AllToAll,
    /// Every rank sends to at most one rank of its mesh, and receives from at most one.
    Permute,
    /// One rank sends all that it holds to all.
    Broadcast,
    /// One rank sends each other rank a part of what it holds.
    Scatter,
    /// One rank gets all that the others hold.
    Gather,
    /// Every rank of one mesh sends to at most one rank of another, which receives from no other.
    SendRecv,
    /// Any other sparse set of messages.
    Exchange,
}

/// How a step's bytes and messages are counted, and what an engine without the collective runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// No message.
    Local,
    /// One message from each sender straight to each receiver.
    Direct,
    /// Parts travel around a ring.
    Ring,
    /// Each pair of ranks exchanges the terms of the other's part.
    Pairwise,
    /// A pairwise reduce-scatter of flat blocks, then a ring all-gather of them.
    ReduceScatterAllGather,
    /// A chain of ranks, each passing on as it receives.
    Pipeline,
    /// Two launches: messages straight from those that hold, then from receivers that pass on.
    Relay,
}

impl StepKind {
    /// Every kind, local ones first.
    pub const ALL: [StepKind; 14] = [
        StepKind::Slice,
        StepKind::Seed,
        StepKind::Scale,
        StepKind::AllGather,
        StepKind::AllReduce,
        StepKind::ReduceScatter,
        StepKind::Reduce,
        StepKind::AllToAll,
        StepKind::Permute,
        StepKind::Broadcast,
        StepKind::Scatter,
        StepKind::Gather,
        StepKind::SendRecv,
        StepKind::Exchange,
    ];

    /// The name that `Display` prints, such as `reduce_scatter`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            StepKind::Slice => "slice",
            StepKind::Seed => "seed",
            StepKind::Scale => "scale",
            StepKind::AllGather => "all_gather",
            StepKind::AllReduce => "all_reduce",
            StepKind::ReduceScatter => "reduce_scatter",
            StepKind::Reduce => "reduce",
            StepKind::AllToAll => "all_to_all",
            StepKind::Permute => "permute",
            StepKind::Broadcast => "broadcast",
            StepKind::Scatter => "scatter",
            StepKind::Gather => "gather",
            StepKind::SendRecv => "send_recv",
            StepKind::Exchange => "exchange",
        }
    }

    /// The algorithm that a step of this kind has, unless it is a relay.
    #[must_use]
    pub const fn algorithm(self) -> Algorithm {
        match self {
            StepKind::Slice | StepKind::Seed | StepKind::Scale => Algorithm::Local,
            StepKind::AllGather => Algorithm::Ring,
            StepKind::AllReduce => Algorithm::ReduceScatterAllGather,
            StepKind::ReduceScatter => Algorithm::Pairwise,
            StepKind::Reduce | StepKind::Broadcast => Algorithm::Pipeline,
            StepKind::AllToAll
            | StepKind::Permute
            | StepKind::Scatter
            | StepKind::Gather
            | StepKind::SendRecv
            | StepKind::Exchange => Algorithm::Direct,
        }
    }

    /// Whether nothing is sent.
    #[must_use]
    pub const fn is_local(self) -> bool {
        matches!(self.algorithm(), Algorithm::Local)
    }

    /// Whether terms are combined.
    #[must_use]
    pub const fn is_reducing(self) -> bool {
        matches!(self, StepKind::AllReduce | StepKind::ReduceScatter | StepKind::Reduce)
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Algorithm {
    /// The name that `Display` prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Local => "local",
            Algorithm::Direct => "direct",
            Algorithm::Ring => "ring",
            Algorithm::Pairwise => "pairwise",
            Algorithm::ReduceScatterAllGather => "reduce_scatter+all_gather",
            Algorithm::Pipeline => "pipeline",
            Algorithm::Relay => "relay",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Step {
    /// What the step does.
    #[must_use]
    pub fn kind(&self) -> StepKind {
        self.kind
    }

    /// How its bytes and messages are counted.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// How many collectives it takes: none if it is local, two if it is relayed.
    #[must_use]
    pub fn launches(&self) -> usize {
        match self.algorithm {
            Algorithm::Local => 0,
            Algorithm::Relay => 2,
            Algorithm::Direct
            | Algorithm::Ring
            | Algorithm::Pairwise
            | Algorithm::ReduceScatterAllGather
            | Algorithm::Pipeline => 1,
        }
    }

    /// The axes of the source's mesh along which ranks form groups; none between two meshes.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The names of [`Step::axes`].
    pub fn axis_names(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().map(|&axis| self.source.mesh().name(axis))
    }

    /// Ranks of one group; 1 for a local move.
    #[must_use]
    pub fn group_len(&self) -> usize {
        self.group_len
    }

    /// The layout before.
    #[must_use]
    pub fn source(&self) -> &Layout {
        &self.source
    }

    /// The layout after.
    #[must_use]
    pub fn target(&self) -> &Layout {
        &self.target
    }

    /// Bytes that each party sends, in the order of [`super::Plan::ranks`].
    #[must_use]
    pub fn sent_bytes(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.traffic.sent_len.iter().map(|len| len * self.element_bytes)
    }

    /// Bytes that each party receives, in the order of [`super::Plan::ranks`].
    #[must_use]
    pub fn received_bytes(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.traffic.received_len.iter().map(|len| len * self.element_bytes)
    }

    /// Messages that each party sends, in the order of [`super::Plan::ranks`].
    #[must_use]
    pub fn sent_messages(&self) -> &[usize] {
        &self.traffic.sent_messages
    }

    /// Messages that each party receives, in the order of [`super::Plan::ranks`].
    #[must_use]
    pub fn received_messages(&self) -> &[usize] {
        &self.traffic.received_messages
    }

    /// Bytes that the busiest party sends and receives in this step.
    #[must_use]
    pub fn busiest_bytes(&self) -> (usize, usize) {
        let party = self.traffic.busiest_party();
        let bytes = |lens: &[usize]| lens.get(party).map_or(0, |len| len * self.element_bytes);
        (bytes(&self.traffic.sent_len), bytes(&self.traffic.received_len))
    }

    /// Messages sent or received, whichever are more, by the party that has most.
    #[must_use]
    pub fn busiest_messages(&self) -> usize {
        self.traffic.busiest_messages()
    }
}
