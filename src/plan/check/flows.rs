//! Every rank gets each element that it lacks once, from a rank that has it.

use crate::base::Region;
use crate::mesh::Rank;

use super::view::View;
use super::{Promise, promise, sample};
use crate::plan::Algorithm;
use crate::plan::exchange::{Exchange, Flow};
use crate::plan::routes::Routes;
use crate::plan::spread::{Spread, cuts_of};

/// Part of what a holder and a receiver share, and the rank it comes from.
#[derive(Clone, Copy)]
struct Delivery {
    holder: Rank,
    /// The holder itself, or a receiver that passes on.
    sender: Rank,
    receiver: Rank,
    start: usize,
    end: usize,
}

/// Looks at every message of an exchange.
pub(super) fn once(view: &View<'_>) -> Promise {
    let direct = match view.step.algorithm() {
        Algorithm::Direct => true,
        Algorithm::Relay => false,
        Algorithm::Local
        | Algorithm::Ring
        | Algorithm::Pairwise
        | Algorithm::ReduceScatterAllGather
        | Algorithm::Pipeline => return Ok(()),
    };
    let spread = |layout: &crate::layout::Layout| {
        Spread::new(layout.mesh(), &cuts_of(layout), view.plan.transition().shape())
            .map_err(|error| format!("has a layout that does not fit: {error}"))
    };
    let (from, to) = (spread(view.step.source())?, spread(view.step.target())?);
    let exchange = Exchange::new(&from, &to, &view.plan.parties, &view.plan.carried);
    let mut first = Vec::new();
    let mut second = Vec::new();
    let mut send = |flow: Flow| {
        let holder = view.before.mesh().ranks()[flow.sender];
        let receiver = view.after.mesh().ranks()[flow.receiver];
        first.push(Delivery { holder, sender: holder, receiver, start: flow.start, end: flow.end });
    };
    if direct {
        flows(&exchange, &mut send);
    } else {
        let relay = view.step.relay.as_ref().ok_or_else(|| "has nothing to pass on".to_owned())?;
        relay.first.iter().copied().for_each(&mut send);
        let after = |position: usize| view.after.mesh().ranks()[position];
        second.extend(relay.second.iter().map(|passed| Delivery {
            holder: view.before.mesh().ranks()[passed.holder],
            sender: after(passed.sender),
            receiver: after(passed.receiver),
            start: passed.start,
            end: passed.end,
        }));
    }
    held(view, &first)?;
    passed_on(view, &first, &second)?;
    first.extend(second);
    complete(view, &first)
}

fn flows(exchange: &Exchange<'_>, send: &mut impl FnMut(Flow)) {
    if exchange.replicas(exchange.from) > 1 {
        return Routes::new(exchange).for_each(send);
    }
    for receiver in sample(exchange.to.lens().len()) {
        exchange.flows_of(None, Some(receiver)).into_iter().for_each(&mut *send);
    }
}

fn common(view: &View<'_>, delivery: &Delivery) -> usize {
    match (view.before.region(delivery.holder), view.after.region(delivery.receiver)) {
        (Some(held), Some(target)) => held.common_len(target),
        _ => 0,
    }
}

/// Nobody sends itself anything, more than it shares with the receiver, or along a carried axis.
fn held(view: &View<'_>, deliveries: &[Delivery]) -> Promise {
    let mesh = view.before.mesh();
    for delivery in deliveries {
        let &Delivery { holder, receiver, start, end, .. } = delivery;
        let shared = common(view, delivery);
        promise(holder != receiver && start < end && end <= shared, || {
            format!(
                "sends elements {start}..{end} of the {shared} that rank {holder} holds for rank {receiver}"
            )
        })?;
        let (from, to) = (mesh.coordinate(holder), mesh.coordinate(receiver));
        let stays = view.plan.carried.iter().all(|axis| {
            let index =
                |coordinate: &Option<Vec<usize>>| coordinate.as_ref().map(|c| c[axis.index()]);
            index(&from) == index(&to)
        });
        promise(stays, || {
            format!("sends from rank {holder} to rank {receiver} along an axis that stays partial")
        })?;
    }
    Ok(())
}

/// Who passes something on has the same target as its receiver, and got all of it in the first launch.
fn passed_on(view: &View<'_>, first: &[Delivery], second: &[Delivery]) -> Promise {
    for passed in second {
        let &Delivery { holder, sender, receiver, start, end } = passed;
        let source = view.before.region(holder);
        let same = view.after.region(sender) == view.after.region(receiver);
        let mut got: Vec<(usize, usize)> = first
            .iter()
            .filter(|f| f.receiver == sender && view.before.region(f.holder) == source)
            .map(|f| (f.start, f.end))
            .collect();
        got.sort_unstable();
        let reach =
            got.iter().fold(start, |at, &(from, to)| if from <= at { at.max(to) } else { at });
        promise(same && sender != receiver && start < end && reach >= end, || {
            format!("has rank {sender} pass on to rank {receiver} what it did not get")
        })?;
    }
    held(view, second)
}

/// Every receiver gets each element that it lacks exactly once.
fn complete(view: &View<'_>, deliveries: &[Delivery]) -> Promise {
    let mesh = view.after.mesh();
    let mut by_receiver: Vec<Vec<&Delivery>> = vec![Vec::new(); mesh.len()];
    for delivery in deliveries {
        // OK because a delivery's receiver was read from this mesh.
        by_receiver[mesh.position(delivery.receiver).unwrap_or_default()].push(delivery);
    }
    for position in sample(mesh.len()) {
        let (rank, target) = (mesh.ranks()[position], &view.after.regions[position]);
        let own = view.before.region(rank);
        let lacks = target.len() - own.map_or(0, |own| own.common_len(target));
        let mut got = 0;
        let mut by_holders: Vec<(&Region, Vec<(usize, usize)>)> = Vec::new();
        for delivery in &by_receiver[position] {
            let Some(source) = view.before.region(delivery.holder) else { continue };
            let part = (delivery.start, delivery.end);
            got += delivery.end - delivery.start;
            match by_holders.iter_mut().find(|(region, _)| *region == source) {
                Some((_, parts)) => parts.push(part),
                None => by_holders.push((source, vec![part])),
            }
        }
        let twice = by_holders.iter_mut().any(|(source, parts)| {
            parts.sort_unstable();
            Some(*source) == own || parts.windows(2).any(|pair| pair[0].1 > pair[1].0)
        });
        promise(got == lacks && !twice, || {
            format!("brings rank {rank} {got} elements of the {lacks} that it lacks, or one twice")
        })?;
    }
    Ok(())
}
