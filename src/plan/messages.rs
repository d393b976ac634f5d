//! The sparse messages of an exchange, direct or relayed, as one rank's program has them.

use std::collections::BTreeMap;

use crate::base::Region;
use crate::mem::Window;
use crate::mesh::Group;

use super::exchange::{Exchange, Flow};
use super::ledger::Ledger;
use super::lower::{Lowering, Stored};
use super::program::{BufferId, CallSpec, Instruction, Operation, Part};
use super::relay::Passed;
use super::spread::Spread;
use super::step::Step;
use super::windows::row_major_range;

/// Part of what a holder and a receiver share.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Position in the source mesh.
    holder: usize,
    /// Position in the target mesh.
    receiver: usize,
    start: usize,
    end: usize,
}

/// A rank's side of an exchange while its program is written.
struct Side<'a> {
    before: &'a Spread,
    after: &'a Spread,
    group: Group,
    step: usize,
    /// The rank's positions.
    sender: Option<usize>,
    receiver: Option<usize>,
    party: usize,
    target: Region,
}

impl From<&Flow> for Share {
    fn from(flow: &Flow) -> Self {
        Self { holder: flow.sender, receiver: flow.receiver, start: flow.start, end: flow.end }
    }
}

impl Side<'_> {
    fn regions(&self, share: Share) -> Vec<Region> {
        let both = self.before.region(share.holder).intersect(&self.after.region(share.receiver));
        if share.start == 0 && share.end == both.len() {
            return vec![both];
        }
        row_major_range(&both, share.start, share.end)
    }

    fn peer(&self, rank: usize) -> usize {
        self.group.position(rank).expect("an exchange's group has all its ranks")
    }

    fn source_peer(&self, position: usize) -> usize {
        self.peer(self.before.mesh().ranks()[position])
    }

    fn target_peer(&self, position: usize) -> usize {
        self.peer(self.after.mesh().ranks()[position])
    }
}

/// Windows by peer, in the order in which both sides list them.
#[derive(Default)]
struct Parts(BTreeMap<usize, Vec<Window>>);

impl Parts {
    fn add(&mut self, peer: usize, windows: Vec<Window>) {
        self.0.entry(peer).or_default().extend(windows);
    }

    fn into_vec(self) -> Vec<Part> {
        self.0.into_iter().map(|(peer, windows)| Part { peer, windows }).collect()
    }
}

/// One group of messages from those that hold to those that lack.
pub(crate) fn direct(lowering: &mut Lowering<'_>, index: usize, step: &Step) {
    let (before, after) = (lowering.spread(&step.source), lowering.spread(&step.target));
    let plan = lowering.plan;
    let exchange = Exchange::new(&before, &after, &plan.parties, &plan.carried);
    let Some(side) = side(lowering, (&before, &after), index, step) else { return };
    let shares: Vec<Share> = if exchange.replicas(&before) == 1 {
        let flows = exchange.flows_of(side.sender, side.receiver);
        flows.iter().map(Share::from).collect()
    } else {
        let ledger = plan.ledgers[index].get_or_init(|| Ledger::direct(&exchange));
        ledger.first(side.party).map(Share::from).collect()
    };
    let target = first_launch(lowering, &side, &shares);
    lowering.stored = side.receiver.map(|_| Stored { buffer: target, region: side.target });
}

/// Two groups of messages: from those that hold, then from receivers that pass on.
pub(crate) fn relayed(lowering: &mut Lowering<'_>, index: usize, step: &Step) {
    let (before, after) = (lowering.spread(&step.source), lowering.spread(&step.target));
    let Some(side) = side(lowering, (&before, &after), index, step) else { return };
    let plan = lowering.plan;
    let Some(relay) = &step.relay else { return };
    let exchange = Exchange::new(&before, &after, &plan.parties, &plan.carried);
    let ledger = plan.ledgers[index].get_or_init(|| Ledger::relayed(&exchange, relay));
    let shares: Vec<Share> = ledger.first(side.party).map(Share::from).collect();
    let passing = first_launch(lowering, &side, &shares);
    let target = second_launch(lowering, &side, &shares, (ledger, passing));
    lowering.stored = side.receiver.map(|_| Stored { buffer: target, region: side.target });
}

fn side<'s>(
    lowering: &Lowering<'_>,
    (before, after): (&'s Spread, &'s Spread),
    index: usize,
    step: &Step,
) -> Option<Side<'s>> {
    let (source, target) = (step.source.mesh(), step.target.mesh());
    let (sender, receiver) = (source.position(lowering.rank), target.position(lowering.rank));
    let group = match sender {
        Some(position) if source == target => source.group_at(&step.axes, position),
        _ if source == target => return None,
        Some(_) | None => Group::new(lowering.plan.ranks().iter().copied())
            .expect("the parties of a plan are distinct"),
    };
    let region = receiver.map(|position| after.region(position)).unwrap_or_default();
    let parties = &lowering.plan.parties;
    let party = sender.or(receiver.map(|position| parties.at_target(position)))?;
    Some(Side { before, after, group, step: index, sender, receiver, party, target: region })
}

/// What a rank keeps is copied, what it lacks is received; the buffer they end in.
fn first_launch(lowering: &mut Lowering<'_>, side: &Side<'_>, shares: &[Share]) -> BufferId {
    let stored = lowering.stored.clone();
    let source = stored.as_ref().map_or(BufferId::SOURCE, |stored| stored.buffer);
    let target = lowering.buffer(if side.receiver.is_some() { side.target.len() } else { 0 });
    if let (Some(sender), Some(_), Some(stored)) = (side.sender, side.receiver, &stored) {
        let kept = side.before.region(sender).intersect(&side.target);
        let from = lowering.windows(&kept, &stored.region);
        let to = lowering.windows(&kept, &side.target);
        if !kept.is_empty() {
            lowering.emit(Instruction::Copy { source, target, from, to });
        }
    }
    let (mut send, mut receive) = (Parts::default(), Parts::default());
    for &share in shares {
        for region in side.regions(share) {
            if let (true, Some(stored)) = (Some(share.holder) == side.sender, &stored) {
                let windows = lowering.windows(&region, &stored.region);
                send.add(side.target_peer(share.receiver), windows);
            }
            if Some(share.receiver) == side.receiver {
                let windows = lowering.windows(&region, &side.target);
                receive.add(side.source_peer(share.holder), windows);
            }
        }
    }
    call(lowering, side, (source, target), (send, receive));
    target
}

/// What a rank has after the first launch is copied, and in part passed on; the rest is received.
fn second_launch(
    lowering: &mut Lowering<'_>,
    side: &Side<'_>,
    shares: &[Share],
    (ledger, passing): (&Ledger, BufferId),
) -> BufferId {
    let target = lowering.buffer(side.target.len());
    let mut windows = Vec::new();
    if let (Some(sender), Some(_)) = (side.sender, side.receiver) {
        let kept = side.before.region(sender).intersect(&side.target);
        windows.extend(lowering.windows(&kept, &side.target));
    }
    for &share in shares.iter().filter(|share| Some(share.receiver) == side.receiver) {
        for region in side.regions(share) {
            windows.extend(lowering.windows(&region, &side.target));
        }
    }
    if !windows.is_empty() {
        let (from, to) = (windows.clone(), windows);
        lowering.emit(Instruction::Copy { source: passing, target, from, to });
    }
    let (mut send, mut receive) = (Parts::default(), Parts::default());
    for &Passed { holder, sender, receiver, start, end } in ledger.second(side.party) {
        for region in side.regions(Share { holder, receiver, start, end }) {
            if Some(sender) == side.receiver {
                let windows = lowering.windows(&region, &side.target);
                send.add(side.target_peer(receiver), windows);
            }
            if Some(receiver) == side.receiver {
                let windows = lowering.windows(&region, &side.target);
                receive.add(side.target_peer(sender), windows);
            }
        }
    }
    call(lowering, side, (passing, target), (send, receive));
    target
}

fn call(
    lowering: &mut Lowering<'_>,
    side: &Side<'_>,
    (source, target): (BufferId, BufferId),
    (send, receive): (Parts, Parts),
) {
    let call = CallSpec {
        step: side.step,
        operation: Operation::Exchange,
        group: side.group.clone(),
        send: send.into_vec(),
        receive: receive.into_vec(),
    };
    lowering.emit(Instruction::Call { source, target, call });
}
