//! What the reference algorithms of the collectives send and receive.
//!
//! All counts are exact for uneven and empty parts; no algorithm pads.

use crate::mesh::{Axis, Mesh};

use super::parties::Parties;
use super::spread::Spread;
use super::traffic::Traffic;

/// Ring all-gather: every rank passes on each part but its successor's. If one rank of each group
/// holds everything, it is a broadcast, pipelined along the ring. Positions are those of the target's
/// mesh.
///
/// # Source
///
/// Thakur, Rabenseifner, Gropp: *Optimization of Collective Communication Operations in MPICH*,
/// 2005, section 4.1.
pub(crate) fn all_gather(
    (from, to): (&Spread, &Spread),
    axes: &[Axis],
    parties: &Parties,
    traffic: &mut Traffic,
) {
    let (mesh, hops) = (from.mesh(), from.mesh().group_len(axes) - 1);
    let from_one = is_from_one(from, to);
    for (position, &len) in from.lens().iter().enumerate() {
        let whole = to.lens()[position];
        if whole == 0 {
            continue;
        }
        let number = mesh.number_in_group(axes, position);
        let next = mesh.member_of_group(axes, position, (number + 1) % (hops + 1));
        let (sent, received) = (whole - from.lens()[next], whole - len);
        let messages = |len: usize| if from_one { usize::from(len > 0) } else { hops };
        let party = parties.at_target(position);
        traffic.send(party, sent, messages(sent));
        traffic.receive(party, received, messages(received));
    }
}

/// Whether one rank of each group holds all that the group gathers.
pub(crate) fn is_from_one(from: &Spread, to: &Spread) -> bool {
    from.lens().iter().zip(to.lens()).all(|(part, whole)| part == whole || *part == 0)
}

/// Pairwise reduce-scatter: every rank sends each other rank that rank's part of its term. If one
/// rank of each group gets everything, it is a reduce, pipelined along a chain that ends there.
///
/// # Source
///
/// Thakur, Rabenseifner, Gropp, 2005, section 4.3.
pub(crate) fn reduce_scatter(from: &Spread, to: &Spread, axes: &[Axis], traffic: &mut Traffic) {
    if is_to_one(from, to) {
        return reduce(from, to, axes, traffic);
    }
    let others = from.mesh().group_len(axes) - 1;
    for (position, (&term, &part)) in from.lens().iter().zip(to.lens()).enumerate() {
        if term > 0 {
            traffic.send(position, term - part, others);
            traffic.receive(position, others * part, others);
        }
    }
}

/// Whether one rank of each group gets all that the group reduces.
pub(crate) fn is_to_one(from: &Spread, to: &Spread) -> bool {
    let mut pairs = from.lens().iter().zip(to.lens());
    pairs.all(|(&term, &part)| part == term || part == 0)
        && from.lens().iter().any(|&term| term > 0)
}

fn reduce(from: &Spread, to: &Spread, axes: &[Axis], traffic: &mut Traffic) {
    let (mesh, ways) = (from.mesh(), from.mesh().group_len(axes));
    for (position, &term) in from.lens().iter().enumerate() {
        if term == 0 {
            continue;
        }
        let at = |number: usize| mesh.member_of_group(axes, position, number);
        let root = (0..ways).find(|&number| to.lens()[at(number)] > 0).unwrap_or(0);
        let number = mesh.number_in_group(axes, position);
        if number != root {
            traffic.send(position, term, 1);
        }
        // The chain starts behind the root and ends at it.
        if number != (root + 1) % ways {
            traffic.receive(position, term, 1);
        }
    }
}

/// All-reduce: a pairwise reduce-scatter of flat blocks whose lengths differ by at most one, then a
/// ring all-gather of them.
///
/// # Source
///
/// Patarasuk, Yuan: *Bandwidth optimal all-reduce algorithms for clusters of workstations*, 2009.
pub(crate) fn all_reduce(spread: &Spread, axes: &[Axis], traffic: &mut Traffic) {
    let (mesh, ways) = (spread.mesh(), spread.mesh().group_len(axes));
    for (position, &len) in spread.lens().iter().enumerate() {
        if len == 0 {
            continue;
        }
        let block = |number: usize| len / ways + usize::from(number % ways < len % ways);
        let number = mesh.number_in_group(axes, position);
        let (own, next) = (block(number), block(number + 1));
        traffic.send(position, (len - own) + (len - next), 2 * (ways - 1));
        traffic.receive(position, (ways - 1) * own + (len - own), 2 * (ways - 1));
    }
}

/// Pipelined broadcast from the one rank that holds everything: a chain in which each rank receives
/// the tensor once and all but the last pass it on.
pub(crate) fn broadcast(root: usize, receivers: &[usize], len: usize, traffic: &mut Traffic) {
    let mut sender = root;
    for &receiver in receivers.iter().filter(|&&receiver| receiver != root) {
        traffic.send(sender, len, 1);
        traffic.receive(receiver, len, 1);
        sender = receiver;
    }
}

/// The axes longer than 1 that satisfy a condition.
pub(crate) fn long_axes(mesh: &Mesh, mut wanted: impl FnMut(Axis) -> bool) -> Vec<Axis> {
    mesh.axes().filter(|&axis| mesh.axis_len(axis) > 1 && wanted(axis)).collect()
}
