//! What one rank executes: plain data, with no arithmetic left to do.

use crate::base::Reduction;
use crate::mem::Window;
use crate::mesh::Group;

/// What one rank executes for one plan: buffers, local moves and calls, in order.
///
/// Buffer 0 is the rank's source tensor, contiguous and row major; it is never written. Every other
/// buffer is written before it is read and never after.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub(crate) buffers: Vec<usize>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) result: Option<BufferId>,
    pub(crate) result_shape: Vec<usize>,
}

/// A buffer of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub(crate) usize);

/// One thing that a rank does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Instruction {
    /// `target` is a contiguous part of `source`, and shares its memory.
    View {
        /// What is seen.
        source: BufferId,
        /// The part, new.
        target: BufferId,
        /// Where the part starts.
        offset_bytes: usize,
    },
    /// Writes the identity of a reduction to all of `target`, which is new.
    Fill {
        /// What is written.
        target: BufferId,
        /// Whose identity.
        reduction: Reduction,
    },
    /// Copies windows pairwise.
    Copy {
        /// What is read.
        source: BufferId,
        /// What is written.
        target: BufferId,
        /// Windows of the source.
        from: Vec<Window>,
        /// Windows of the target, of the same extents.
        to: Vec<Window>,
    },
    /// Multiplies by a factor.
    Scale {
        /// What is read.
        source: BufferId,
        /// What is written, new and as large.
        target: BufferId,
        /// The factor.
        factor: f64,
    },
    /// Takes part in a collective.
    Call {
        /// What is read.
        source: BufferId,
        /// What is written.
        target: BufferId,
        /// The collective.
        call: CallSpec,
    },
}

impl Instruction {
    /// The buffer that it writes.
    #[must_use]
    pub fn target(&self) -> BufferId {
        match self {
            Instruction::View { target, .. }
            | Instruction::Fill { target, .. }
            | Instruction::Copy { target, .. }
            | Instruction::Scale { target, .. }
            | Instruction::Call { target, .. } => *target,
        }
    }
}

/// A rank's part in a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSpec {
    /// The step of the plan.
    pub step: usize,
    /// What the group does.
    pub operation: Operation,
    /// The ranks that take part.
    pub group: Group,
    /// What goes to each member, as windows of the source.
    pub send: Vec<Part>,
    /// What comes from each member, as windows of the target.
    pub receive: Vec<Part>,
}

/// What a group does together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Everyone gets everyone's part.
    AllGather,
    /// Everyone gets the reduction; sums are divided by `divisor`.
    AllReduce {
        /// How terms combine.
        reduction: Reduction,
        /// What the sum is divided by.
        divisor: usize,
    },
    /// Everyone gets its part of the reduction; sums are divided by `divisor`.
    ReduceScatter {
        /// How terms combine.
        reduction: Reduction,
        /// What the sum is divided by.
        divisor: usize,
    },
    /// The member at position `root` gets the reduction; sums are divided by `divisor`.
    Reduce {
        /// Position in the group.
        root: usize,
        /// How terms combine.
        reduction: Reduction,
        /// What the sum is divided by.
        divisor: usize,
    },
    /// Everyone sends everyone a part.
    AllToAll,
    /// Everyone gets what the member at position `root` holds.
    Broadcast {
        /// Position in the group.
        root: usize,
    },
    /// Everyone gets its part of what the member at position `root` holds.
    Scatter {
        /// Position in the group.
        root: usize,
    },
    /// The member at position `root` gets everyone's part.
    Gather {
        /// Position in the group.
        root: usize,
    },
    /// Sparse messages.
    Exchange,
}

/// What goes to, or comes from, one member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Position in the group.
    pub peer: usize,
    /// Windows, in the order in which both sides count elements.
    pub windows: Vec<Window>,
}

impl Program {
    /// Bytes of each buffer.
    #[must_use]
    pub fn buffers(&self) -> &[usize] {
        &self.buffers
    }

    /// What to do, in order.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The buffer that holds the rank's target tensor at the end, contiguous and row major; `None` if
    /// the rank is not in the target's mesh.
    #[must_use]
    pub fn result(&self) -> Option<BufferId> {
        self.result
    }

    /// The shape of the rank's target tensor.
    #[must_use]
    pub fn result_shape(&self) -> &[usize] {
        &self.result_shape
    }

    /// The calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &CallSpec> {
        self.instructions.iter().filter_map(|instruction| match instruction {
            Instruction::Call { call, .. } => Some(call),
            Instruction::View { .. }
            | Instruction::Fill { .. }
            | Instruction::Copy { .. }
            | Instruction::Scale { .. } => None,
        })
    }
}

impl BufferId {
    /// The rank's source tensor.
    pub const SOURCE: BufferId = BufferId(0);

    /// Index into [`Program::buffers`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}
