//! Who gives what to whom in a call, the same question for every operation.

use super::{Call, Operation, Part};

impl Call {
    /// The elements that the member at `own`, whose call this is, gives to the member at `to`.
    pub(crate) fn part_to(&self, own: usize, to: usize) -> Option<&Part> {
        match self.operation {
            Operation::AllGather | Operation::AllReduce { .. } => self.send.first(),
            Operation::ReduceScatter { .. } | Operation::AllToAll | Operation::Exchange => {
                self.send_part(to)
            }
            Operation::Broadcast { root } if own == root => self.send.first(),
            Operation::Scatter { root } if own == root => self.send_part(to),
            Operation::Gather { root } | Operation::Reduce { root, .. } if to == root => {
                self.send.first()
            }
            Operation::Broadcast { .. }
            | Operation::Scatter { .. }
            | Operation::Gather { .. }
            | Operation::Reduce { .. }
            | Operation::Barrier => None,
        }
    }

    /// The elements that the member at `own`, whose call this is, gets from the member at `from`; in
    /// reductions the elements that its terms combine into.
    pub(crate) fn part_from(&self, own: usize, from: usize) -> Option<&Part> {
        match self.operation {
            Operation::AllGather | Operation::AllToAll | Operation::Exchange => {
                self.recv_part(from)
            }
            Operation::AllReduce { .. } | Operation::ReduceScatter { .. } => self.recv.first(),
            Operation::Broadcast { root } | Operation::Scatter { root } if from == root => {
                self.recv.first()
            }
            Operation::Gather { root } if own == root => self.recv_part(from),
            Operation::Reduce { root, .. } if own == root => self.recv.first(),
            Operation::Broadcast { .. }
            | Operation::Scatter { .. }
            | Operation::Gather { .. }
            | Operation::Reduce { .. }
            | Operation::Barrier => None,
        }
    }

    fn send_part(&self, peer: usize) -> Option<&Part> {
        find(&self.send, peer)
    }

    fn recv_part(&self, peer: usize) -> Option<&Part> {
        find(&self.recv, peer)
    }
}

/// The part of a peer; parts that list every member in order are found at once.
fn find(parts: &[Part], peer: usize) -> Option<&Part> {
    parts
        .get(peer)
        .filter(|part| part.peer == peer)
        .or_else(|| parts.iter().find(|part| part.peer == peer))
}
