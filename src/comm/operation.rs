//! What a call does.

use std::fmt;

use crate::base::{DType, Reduction};
use crate::mem::Combine;

/// What a call does among the ranks of its group. A root is a position in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Every member gets the parts of all.
    AllGather,
    /// Every member gets the reduction of all members' terms.
    AllReduce {
        /// How the terms combine.
        reduction: Reduction,
        /// What the result is divided by.
        divisor: usize,
    },
    /// Every member gets its part of the reduction of all members' terms.
    ReduceScatter {
        /// How the terms combine.
        reduction: Reduction,
        /// What the result is divided by.
        divisor: usize,
    },
    /// Every member sends a part to every member.
    AllToAll,
    /// The root's part reaches every member.
    Broadcast {
        /// The root's position.
        root: usize,
    },
    /// The root sends a part to every member.
    Scatter {
        /// The root's position.
        root: usize,
    },
    /// The root gets a part from every member.
    Gather {
        /// The root's position.
        root: usize,
    },
    /// The root gets the reduction of all members' terms.
    Reduce {
        /// The root's position.
        root: usize,
        /// How the terms combine.
        reduction: Reduction,
        /// What the result is divided by.
        divisor: usize,
    },
    /// Parts between any pairs of members: grouped sends and receives.
    Exchange,
    /// Nothing moves; done when every member has called.
    Barrier,
}

impl Operation {
    /// The operation's name, without its arguments.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Operation::AllGather => "all-gather",
            Operation::AllReduce { .. } => "all-reduce",
            Operation::ReduceScatter { .. } => "reduce-scatter",
            Operation::AllToAll => "all-to-all",
            Operation::Broadcast { .. } => "broadcast",
            Operation::Scatter { .. } => "scatter",
            Operation::Gather { .. } => "gather",
            Operation::Reduce { .. } => "reduce",
            Operation::Exchange => "exchange",
            Operation::Barrier => "barrier",
        }
    }

    /// The root's position in the group, of operations that have one.
    #[must_use]
    pub const fn root(self) -> Option<usize> {
        match self {
            Operation::Broadcast { root }
            | Operation::Scatter { root }
            | Operation::Gather { root }
            | Operation::Reduce { root, .. } => Some(root),
            Operation::AllGather
            | Operation::AllReduce { .. }
            | Operation::ReduceScatter { .. }
            | Operation::AllToAll
            | Operation::Exchange
            | Operation::Barrier => None,
        }
    }

    /// How terms of a type combine, in operations that reduce.
    #[must_use]
    pub const fn combine(self, dtype: DType) -> Option<Combine> {
        match self {
            Operation::AllReduce { reduction, divisor }
            | Operation::ReduceScatter { reduction, divisor }
            | Operation::Reduce { reduction, divisor, .. } => {
                Some(Combine { dtype, reduction, divisor })
            }
            Operation::AllGather
            | Operation::AllToAll
            | Operation::Broadcast { .. }
            | Operation::Scatter { .. }
            | Operation::Gather { .. }
            | Operation::Exchange
            | Operation::Barrier => None,
        }
    }
}

/// `all-reduce(sum)`, `reduce(avg, divided by 4) to position 1`, `broadcast from position 0`.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if let Some(Combine { reduction, divisor, .. }) = self.combine(DType::F32) {
            write!(f, "({reduction}")?;
            if divisor != 1 {
                write!(f, ", divided by {divisor}")?;
            }
            f.write_str(")")?;
        }
        match *self {
            Operation::Broadcast { root } | Operation::Scatter { root } => {
                write!(f, " from position {root}")
            }
            Operation::Gather { root } | Operation::Reduce { root, .. } => {
                write!(f, " to position {root}")
            }
            Operation::AllGather
            | Operation::AllReduce { .. }
            | Operation::ReduceScatter { .. }
            | Operation::AllToAll
            | Operation::Exchange
            | Operation::Barrier => Ok(()),
        }
    }
}
