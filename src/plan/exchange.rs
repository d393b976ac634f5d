//! The sparse exchange between two spreads: who sends which elements to whom.
//!
//! Every receiver gets exactly the elements of its target that it does not hold. Ranks that hold the
//! same elements form a *class*; any of them can serve any receiver, so the least possible largest
//! load of a class is an even share of what is asked of it, and [`super::routes`] deals it out so.

use smallvec::SmallVec;

use crate::mesh::Axis;

use super::overlap::Overlap;
use super::parties::Parties;
use super::routes::Routes;
use super::spread::Spread;
use super::traffic::Traffic;

/// An exchange from one spread to another.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    pub(crate) from: &'a Spread,
    pub(crate) to: &'a Spread,
    pub(crate) parties: &'a Parties,
    /// Axes along which nothing moves: ranks deal only with ranks of their own coordinate there.
    pub(crate) carried: &'a [Axis],
    overlaps: SmallVec<[Overlap; 4]>,
    on_one_mesh: bool,
}

/// Part of what one rank sends another: the elements `start..end`, in row-major order, of those that
/// the sender holds and the receiver's target needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    /// Position in the source mesh.
    pub(crate) sender: usize,
    /// Position in the target mesh.
    pub(crate) receiver: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> Exchange<'a> {
    pub(crate) fn new(
        from: &'a Spread,
        to: &'a Spread,
        parties: &'a Parties,
        carried: &'a [Axis],
    ) -> Self {
        let dims = 0..from.ndim();
        let overlaps = dims.map(|dim| Overlap::new(from.blocks(dim), to.blocks(dim))).collect();
        Self { from, to, parties, carried, overlaps, on_one_mesh: from.mesh() == to.mesh() }
    }

    pub(crate) fn is_on_one_mesh(&self) -> bool {
        self.on_one_mesh
    }

    /// Elements of a receiver's target that a sender holds.
    pub(crate) fn common(&self, sender: usize, receiver: usize) -> usize {
        let pairs = self.from.indices(sender).iter().zip(self.to.indices(receiver));
        let mut len = 1;
        for (overlap, (&before, &after)) in self.overlaps.iter().zip(pairs) {
            len *= overlap.common(before, after);
        }
        len
    }

    /// The party at a position of the mesh before. An exchange on one mesh is on the target's: a
    /// transition between two has moved there already.
    pub(crate) fn sending_party(&self, sender: usize) -> usize {
        if self.on_one_mesh { self.parties.at_target(sender) } else { sender }
    }

    /// The position in the source mesh of the rank at a position of the target mesh.
    pub(crate) fn source_of(&self, receiver: usize) -> Option<usize> {
        if self.on_one_mesh {
            return Some(receiver);
        }
        self.parties.in_source(self.parties.at_target(receiver))
    }

    /// Elements that a receiver holds already.
    pub(crate) fn kept(&self, receiver: usize) -> usize {
        self.source_of(receiver).map_or(0, |own| self.common(own, receiver))
    }

    /// The most that any receiver lacks.
    pub(crate) fn most_received(&self) -> usize {
        let lacks = |(receiver, &len): (usize, &usize)| len - self.kept(receiver);
        self.to.lens().iter().enumerate().map(lacks).max().unwrap_or(0)
    }

    /// How many ranks hold the same elements.
    pub(crate) fn replicas(&self, side: &Spread) -> usize {
        let decided = |axis: &Axis| side.holds(*axis) || self.is_carried(*axis);
        let mesh = side.mesh();
        mesh.axes().filter(|axis| !decided(axis)).map(|axis| mesh.axis_len(axis)).product()
    }

    pub(crate) fn is_carried(&self, axis: Axis) -> bool {
        self.carried.contains(&axis)
    }

    /// The row-major number of a position's coordinates on the carried axes.
    pub(crate) fn carried_number(&self, position: usize) -> usize {
        if self.carried.is_empty() {
            return 0;
        }
        let mesh = self.from.mesh();
        let coordinate = mesh.coordinate_at(position);
        let number = |number, axis: &Axis| number * mesh.axis_len(*axis) + coordinate[axis.index()];
        self.carried.iter().fold(0, number)
    }

    /// What each party sends and receives.
    pub(crate) fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::none(self.parties.len());
        if self.replicas(self.from) == 1 {
            self.count_single_holders(&mut traffic);
        } else {
            Routes::new(self).for_each(|flow| {
                let receiver = self.parties.at_target(flow.receiver);
                let sender = self.sending_party(flow.sender);
                traffic.message(sender, receiver, flow.end - flow.start);
            });
        }
        traffic
    }

    /// When each element has one holder, counts follow without listing the messages.
    fn count_single_holders(&self, traffic: &mut Traffic) {
        let copies = self.replicas(self.to);
        for (sender, &len) in self.from.lens().iter().enumerate() {
            let mut messages = copies;
            for (overlap, &before) in self.overlaps.iter().zip(self.from.indices(sender)) {
                messages *= overlap.met_after(before);
            }
            traffic.send(self.sending_party(sender), len * copies, messages);
        }
        for (receiver, &len) in self.to.lens().iter().enumerate() {
            let mut messages = 1;
            for (overlap, &after) in self.overlaps.iter().zip(self.to.indices(receiver)) {
                messages *= overlap.met_before(after);
            }
            let kept = self.kept(receiver);
            let party = self.parties.at_target(receiver);
            traffic.receive(party, len - kept, messages - usize::from(kept > 0));
            if kept > 0 {
                traffic.sent_len[party] -= kept;
                traffic.sent_messages[party] -= 1;
            }
        }
    }

    /// Every flow that a rank sends or receives, by its position in the source and in the target mesh,
    /// when each element has one holder; in the order of receivers, then senders.
    pub(crate) fn flows_of(&self, sender: Option<usize>, receiver: Option<usize>) -> Vec<Flow> {
        let mut flows = Vec::new();
        let mut pair = |sender, receiver| {
            let apart = self.source_of(receiver) != Some(sender)
                && self.carried_number(sender) == self.carried_number(receiver);
            let end = if apart { self.common(sender, receiver) } else { 0 };
            if end > 0 {
                flows.push(Flow { sender, receiver, start: 0, end });
            }
        };
        if let Some(sender) = sender {
            (0..self.to.lens().len()).for_each(|receiver| pair(sender, receiver));
        }
        if let Some(receiver) = receiver {
            (0..self.from.lens().len()).for_each(|sender| pair(sender, receiver));
        }
        flows.sort_unstable_by_key(|flow| (flow.receiver, flow.sender, flow.start));
        flows
    }
}
