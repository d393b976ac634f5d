//! What a step's algorithm sends, counted again: exchanges by the calls of the programs, the others hop
//! by hop.

use crate::mesh::Rank;

use super::view::View;
use super::{Promise, promise};
use crate::plan::{Algorithm, CallSpec, Plan, Program, StepKind};

/// Elements and messages that one rank sends and receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Load {
    sent: usize,
    received: usize,
    sent_messages: usize,
    received_messages: usize,
}

impl Load {
    fn send(&mut self, len: usize) {
        self.sent += len;
        self.sent_messages += 1;
    }

    fn receive(&mut self, len: usize) {
        self.received += len;
        self.received_messages += 1;
    }
}

/// The step's counts are those of its algorithm.
pub(super) fn recounted(view: &View<'_>, programs: &[(usize, Program)]) -> Promise {
    for (party, program) in programs {
        let rank = view.plan.ranks()[*party];
        let expected = match view.step.algorithm() {
            Algorithm::Local => Load::default(),
            Algorithm::Direct | Algorithm::Relay => called(view, rank, program),
            Algorithm::Ring => grouped(view, rank, ring),
            Algorithm::Pairwise => grouped(view, rank, pairwise),
            Algorithm::ReduceScatterAllGather => grouped(view, rank, flat_blocks),
            Algorithm::Pipeline if view.step.kind() == StepKind::Reduce => {
                grouped(view, rank, reduce_chain)
            }
            Algorithm::Pipeline => broadcast_chain(view, rank),
        };
        let traffic = &view.step.traffic;
        let stated = Load {
            sent: traffic.sent_len[*party],
            received: traffic.received_len[*party],
            sent_messages: traffic.sent_messages[*party],
            received_messages: traffic.received_messages[*party],
        };
        promise(stated == expected, || {
            format!("counts {stated:?} for rank {rank}, whose algorithm makes {expected:?}")
        })?;
    }
    let (sent, received) = sums(&view.step.traffic);
    promise(sent == received, || format!("sends {sent} elements and receives {received}"))
}

/// The plan's counts are the sums over its steps, and the bound is one.
pub(super) fn totals(plan: &Plan) -> Promise {
    let mut sum = crate::plan::traffic::Traffic::none(plan.ranks().len());
    plan.steps().iter().for_each(|step| sum.add(&step.traffic));
    promise(sum == plan.traffic, || {
        let (own, steps) = (sums(&plan.traffic), sums(&sum));
        format!("the plan counts {own:?} elements sent and received, its steps {steps:?}")
    })?;
    let (busiest, bound) = (plan.busiest_bytes(), plan.bound_bytes());
    promise(busiest >= bound, || {
        format!("the busiest rank moves {busiest} bytes, less than the bound of {bound}")
    })
}

fn sums(traffic: &crate::plan::traffic::Traffic) -> (usize, usize) {
    (traffic.sent_len.iter().sum(), traffic.received_len.iter().sum())
}

/// What a rank's program sends to others and receives from them in the calls of a step.
fn called(view: &View<'_>, rank: Rank, program: &Program) -> Load {
    let mut load = Load::default();
    for call in program.calls().filter(|call| call.step == view.index) {
        let CallSpec { send, receive, group, .. } = call;
        let own = group.position(rank);
        let lens = |parts: &[crate::plan::Part]| -> Vec<usize> {
            let others = parts.iter().filter(|part| Some(part.peer) != own);
            let len = |part: &crate::plan::Part| part.windows.iter().map(|w| w.len()).sum();
            others.map(len).filter(|&len| len > 0).collect()
        };
        lens(send).into_iter().for_each(|len| load.send(len));
        lens(receive).into_iter().for_each(|len| load.receive(len));
    }
    load
}

/// A rank in its group: how long every member's tensor is before and after.
struct Seat {
    own: usize,
    before: Vec<usize>,
    after: Vec<usize>,
}

impl Seat {
    fn len(&self) -> usize {
        self.before.len()
    }

    /// The member so many places further around the ring.
    fn further(&self, places: usize) -> usize {
        (self.own + places) % self.len()
    }
}

fn grouped(view: &View<'_>, rank: Rank, count: impl FnOnce(&Seat, &mut Load)) -> Load {
    let groups = view.groups();
    let mut load = Load::default();
    let Some(group) = groups.iter().find(|group| group.contains(&rank)) else { return load };
    let lens = |stage: &super::Stage<'_>| group.iter().map(|&rank| stage.len(rank)).collect();
    let (before, after): (Vec<usize>, Vec<usize>) = (lens(view.before), lens(view.after));
    let own = group.iter().position(|&member| member == rank).unwrap_or_default();
    if before[own] > 0 || after[own] > 0 {
        count(&Seat { own, before, after }, &mut load);
    }
    load
}

/// In hop `h` every rank passes on the part that started `h` places before it.
fn ring(seat: &Seat, load: &mut Load) {
    for hop in 0..seat.len() - 1 {
        load.send(seat.before[seat.further(seat.len() - hop)]);
        load.receive(seat.before[seat.further(seat.len() - hop - 1)]);
    }
}

fn pairwise(seat: &Seat, load: &mut Load) {
    for places in 1..seat.len() {
        load.send(seat.after[seat.further(places)]);
        load.receive(seat.after[seat.own]);
    }
}

/// A pairwise reduce-scatter, then a ring all-gather, of flat blocks as equal as can be.
fn flat_blocks(seat: &Seat, load: &mut Load) {
    let (whole, ways) = (seat.before[seat.own], seat.len());
    let blocks: Vec<usize> = (0..ways).map(|number| (whole + ways - 1 - number) / ways).collect();
    let seat = Seat { own: seat.own, before: blocks.clone(), after: blocks };
    pairwise(&seat, load);
    ring(&seat, load);
}

/// Terms travel from behind the root around to the root, each rank adding its own.
fn reduce_chain(seat: &Seat, load: &mut Load) {
    let root = seat.after.iter().position(|&len| len > 0).unwrap_or_default();
    let whole = seat.before[seat.own];
    if seat.own != root {
        load.send(whole);
    }
    if seat.own != (root + 1) % seat.len() {
        load.receive(whole);
    }
}

/// What the root holds travels along a chain that starts there: around the group on one mesh, along
/// the ranks of the target's mesh between two.
fn broadcast_chain(view: &View<'_>, rank: Rank) -> Load {
    let mut load = Load::default();
    let groups = view.groups();
    let group = groups.iter().find(|group| group.contains(&rank));
    let Some(group) = group.map(Vec::as_slice) else { return load };
    let Some(root) = group.iter().position(|&rank| view.before.len(rank) > 0) else { return load };
    let chain: Vec<Rank> = if view.is_on_one_mesh() {
        group[root..].iter().chain(&group[..root]).copied().collect()
    } else {
        let targets = view.after.mesh().ranks().iter().filter(|&&rank| rank != group[root]);
        std::iter::once(&group[root]).chain(targets).copied().collect()
    };
    let whole = view.before.len(group[root]);
    let Some(place) = chain.iter().position(|&member| member == rank) else { return load };
    if place + 1 < chain.len() {
        load.send(whole);
    }
    if place > 0 {
        load.receive(whole);
    }
    load
}
