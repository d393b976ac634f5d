//! What an exchange equals: the field's names for patterns of messages.

use crate::layout::Cut;
use crate::mesh::Axis;

use super::collective::is_from_one;
use super::exchange::Exchange;
use super::route::{End, gathered_axes, sole_broadcast};
use super::routes::Routes;
use super::step::StepKind;
use super::traffic::Traffic;

/// The kind of an exchange that sends something, and the axes along which its groups lie.
pub(crate) fn named(
    exchange: &Exchange<'_>,
    from: End<'_>,
    to: End<'_>,
    traffic: &Traffic,
) -> (StepKind, Vec<Axis>) {
    if !exchange.is_on_one_mesh() {
        return (between_meshes(exchange, traffic), Vec::new());
    }
    if let Some(axes) = gathered_axes(from, to) {
        let from_one = is_from_one(from.spread, to.spread);
        return (if from_one { StepKind::Broadcast } else { StepKind::AllGather }, axes);
    }
    let axes = moving_axes(exchange, from, to);
    let kind = if let Some(kind) = one_sided(exchange, &axes) {
        kind
    } else if is_permutation(exchange, traffic) {
        StepKind::Permute
    } else if is_all_to_all(exchange, &axes) {
        StepKind::AllToAll
    } else {
        StepKind::Exchange
    };
    (kind, axes)
}

fn between_meshes(exchange: &Exchange<'_>, traffic: &Traffic) -> StepKind {
    let count = |messages: &[usize]| messages.iter().filter(|&&messages| messages > 0).count();
    let holders = |lens: &[usize]| lens.iter().filter(|&&len| len > 0).count();
    if sole_broadcast(exchange).is_some() && count(&traffic.received_messages) > 1 {
        StepKind::Broadcast
    } else if traffic.busiest_messages() <= 1 {
        StepKind::SendRecv
    } else if holders(exchange.from.lens()) == 1 && exchange.replicas(exchange.to) == 1 {
        StepKind::Scatter
    } else if holders(exchange.to.lens()) == 1 {
        StepKind::Gather
    } else {
        StepKind::Exchange
    }
}

/// The axes along which something moves.
fn moving_axes(exchange: &Exchange<'_>, from: End<'_>, to: End<'_>) -> Vec<Axis> {
    let mesh = from.mesh;
    if exchange.replicas(exchange.from) == 1 {
        // Dims move along the axes that cut them otherwise below the majors that stay.
        let mut axes = Vec::new();
        for (before, after) in from.cuts.iter().zip(to.cuts) {
            let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
            let differ = before[same..].iter().chain(&after[same..]);
            axes.extend(differ.filter(|cut| cut.is_held()).map(Cut::axis));
        }
        axes.sort_unstable();
        axes.dedup();
        return axes;
    }
    let mut moves = vec![false; mesh.shape().len()];
    Routes::new(exchange).for_each(|flow| {
        let (sender, receiver) =
            (mesh.coordinate_at(flow.sender), mesh.coordinate_at(flow.receiver));
        for (moves, (a, b)) in moves.iter_mut().zip(sender.iter().zip(&receiver)) {
            *moves |= a != b;
        }
    });
    mesh.axes().filter(|axis| moves[axis.index()]).collect()
}

/// Scatter or gather, if in every group one rank holds everything or gets everything.
fn one_sided(exchange: &Exchange<'_>, axes: &[Axis]) -> Option<StepKind> {
    let mesh = exchange.from.mesh();
    let one_of_each = |lens: &[usize]| {
        (0..mesh.len()).filter(|&first| mesh.number_in_group(axes, first) == 0).all(|first| {
            let members = 0..mesh.group_len(axes);
            members.filter(|&n| lens[mesh.member_of_group(axes, first, n)] > 0).count() <= 1
        })
    };
    if exchange.replicas(exchange.from) > 1 && axes.iter().any(|&axis| !exchange.from.holds(axis)) {
        return None;
    }
    match (one_of_each(exchange.from.lens()), one_of_each(exchange.to.lens())) {
        (true, true) => Some(StepKind::Permute),
        (true, false) if axes.iter().all(|&axis| exchange.to.holds(axis)) => {
            Some(StepKind::Scatter)
        }
        (false, true) => Some(StepKind::Gather),
        (true | false, false) => None,
    }
}

/// Whether every rank keeps all of its target or gets all of it from one other rank.
fn is_permutation(exchange: &Exchange<'_>, traffic: &Traffic) -> bool {
    let whole = |(receiver, &len): (usize, &usize)| {
        let received = traffic.received_len[exchange.parties.at_target(receiver)];
        received == 0 || received == len
    };
    traffic.busiest_messages() <= 1 && exchange.to.lens().iter().enumerate().all(whole)
}

/// Whether every rank finds all of its target within its group, whose members share no element before
/// or after.
fn is_all_to_all(exchange: &Exchange<'_>, axes: &[Axis]) -> bool {
    let mesh = exchange.from.mesh();
    let apart = |&axis: &Axis| exchange.from.holds(axis) && exchange.to.holds(axis);
    let closed = |(receiver, &len): (usize, &usize)| {
        let members = 0..mesh.group_len(axes);
        let member = |number| mesh.member_of_group(axes, receiver, number);
        members.map(|number| exchange.common(member(number), receiver)).sum::<usize>() == len
    };
    axes.iter().all(apart) && exchange.to.lens().iter().enumerate().all(closed)
}
