//! Moves between spreads, evaluated but not yet written out as steps.

use std::sync::Arc;

use crate::layout::Layout;
use crate::mesh::{Axis, Mesh};

use super::collective;
use super::exchange::Exchange;
use super::parties::Parties;
use super::relay::Relay;
use super::spread::{Cuts, Spread};
use super::traffic::Traffic;

/// A chain of moves that carries a tensor from one spread to another, with what it costs.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) legs: Vec<Leg>,
    /// Of all legs together.
    pub(crate) traffic: Traffic,
}

/// A move and what it sends.
#[derive(Clone, Debug)]
pub(crate) struct Leg {
    pub(crate) step: Move,
    pub(crate) traffic: Traffic,
}

/// One move of a route; the cuts are those after it.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    /// Ranks keep a part of what they hold; on another mesh, those that it shares with this one.
    Slice(Mesh, Cuts),
    /// Terms along these axes are combined, each rank keeping a part.
    ReduceScatter(Vec<Axis>, Cuts),
    /// Terms along these axes are combined everywhere.
    AllReduce(Vec<Axis>),
    /// Every element goes where the target wants it, which is on this mesh.
    Exchange(Mesh, Cuts),
    /// The same in two launches, receivers passing on to others.
    Relay(Mesh, Cuts, Arc<Relay>),
}

impl Move {
    /// How many collectives it takes.
    fn launches(&self) -> usize {
        match self {
            Move::Slice(..) => 0,
            Move::ReduceScatter(..) | Move::AllReduce(_) | Move::Exchange(..) => 1,
            Move::Relay(..) => 2,
        }
    }
}

/// What a route is chosen by, least first.
pub(crate) type Cost = (usize, usize, usize);

impl Route {
    pub(crate) fn nothing(parties: usize) -> Self {
        Self { legs: Vec::new(), traffic: Traffic::none(parties) }
    }

    /// One move more.
    pub(crate) fn push(&mut self, step: Move, traffic: Traffic) {
        self.traffic.add(&traffic);
        self.legs.push(Leg { step, traffic });
    }

    /// Elements of the busiest rank, launches, messages.
    pub(crate) fn cost(&self) -> Cost {
        (self.traffic.busiest_len(), self.launches(), self.traffic.busiest_messages())
    }

    pub(crate) fn launches(&self) -> usize {
        self.legs.iter().map(|leg| leg.step.launches()).sum()
    }

    /// This route, then another.
    pub(crate) fn then(mut self, next: Route) -> Self {
        self.traffic.add(&next.traffic);
        self.legs.extend(next.legs);
        self
    }
}

/// What stays the same while routes are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) shape: &'a [usize],
    pub(crate) parties: &'a Parties,
    pub(crate) carried: &'a [Axis],
}

/// One end of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End<'a> {
    pub(crate) mesh: &'a Mesh,
    pub(crate) cuts: &'a Cuts,
    pub(crate) spread: &'a Spread,
}

impl Scene<'_> {
    /// The one exchange from one end to the other, or the slice that it comes to; nothing if the ranks
    /// hold the target already.
    pub(crate) fn direct(&self, from: End<'_>, to: End<'_>) -> Route {
        let mut traffic = Traffic::none(self.parties.len());
        match gathered_axes(from, to) {
            Some(axes) if from.mesh == to.mesh => {
                if !axes.is_empty() {
                    let spreads = (from.spread, to.spread);
                    collective::all_gather(spreads, &axes, self.parties, &mut traffic);
                }
            }
            Some(_) | None => {
                let exchange = Exchange::new(from.spread, to.spread, self.parties, self.carried);
                match sole_broadcast(&exchange) {
                    Some(root) => self.broadcast(root, &exchange, &mut traffic),
                    None => traffic = exchange.traffic(),
                }
            }
        }
        let mut route = Route::nothing(self.parties.len());
        if !traffic.is_silent() {
            route.push(Move::Exchange(to.mesh.clone(), to.cuts.clone()), traffic);
        } else if from.mesh != to.mesh || !from.spread.agrees(to.spread) {
            route.push(Move::Slice(to.mesh.clone(), to.cuts.clone()), traffic);
        }
        route
    }

    fn broadcast(&self, root: usize, exchange: &Exchange<'_>, traffic: &mut Traffic) {
        let targets = 0..exchange.to.lens().len();
        let receivers: Vec<usize> = targets.map(|at| self.parties.at_target(at)).collect();
        collective::broadcast(root, &receivers, exchange.from.lens()[root], traffic);
    }
}

/// The axes to gather along if the target differs from the source only in that minor axes no longer
/// cut: every rank's target is then what its group along them holds.
pub(crate) fn gathered_axes(from: End<'_>, to: End<'_>) -> Option<Vec<Axis>> {
    if from.mesh != to.mesh {
        return None;
    }
    let mut axes = Vec::new();
    for (before, after) in from.cuts.iter().zip(to.cuts) {
        let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        if after[same..].iter().any(crate::layout::Cut::is_held) {
            return None;
        }
        let gathered = before[same..].iter().filter(|cut| cut.is_held());
        axes.extend(gathered.map(crate::layout::Cut::axis));
    }
    axes.sort_unstable();
    (!axes.iter().any(|&axis| to.spread.holds(axis))).then_some(axes)
}

/// The one rank that holds anything, if between two meshes every target rank wants all of it.
pub(crate) fn sole_broadcast(exchange: &Exchange<'_>) -> Option<usize> {
    if exchange.is_on_one_mesh() {
        return None;
    }
    let lens = exchange.from.lens();
    let mut holders = lens.iter().enumerate().filter(|&(_, &len)| len > 0);
    let (root, &len) = holders.next()?;
    let alone = holders.next().is_none() && exchange.to.lens().iter().all(|&want| want == len);
    alone.then_some(root)
}

/// The layout of these cuts on a mesh, partial along these axes.
pub(crate) fn layout_of(
    mesh: &Mesh,
    cuts: &Cuts,
    partial: &[(Axis, crate::base::Reduction)],
) -> Layout {
    Layout::new(mesh, cuts.iter().cloned(), partial.iter().copied())
        .expect("the planner moves each axis from one use to another, never to two")
}
