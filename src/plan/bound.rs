//! Lower bounds on the load of the busiest rank, from regions alone.
//!
//! The planner never looks at these to choose a plan, save to know that none can be better; they are
//! printed as certificates.

use crate::mesh::Axis;

use super::exchange::Exchange;

/// What the source and the target demand of the ranks, as far as bounds need it.
pub(crate) struct Demands<'a> {
    /// From the source's regions to the target's, partial axes held by nobody.
    pub(crate) exchange: &'a Exchange<'a>,
    /// Axes whose terms must be combined.
    pub(crate) reduced: &'a [Axis],
    /// Axes along which the target is partial and the source is not, by one reduction.
    pub(crate) seeded: &'a [Axis],
}

/// Elements that some rank must send or receive, whatever the plan.
pub(crate) fn bound_len(demands: &Demands<'_>) -> usize {
    if demands.seeded.is_empty() {
        receive_bound(demands).max(transfer_bound(demands)).max(send_bound(demands))
    } else if demands.reduced.is_empty() {
        seeded_receive_bound(demands)
    } else {
        0
    }
}

/// A rank receives what it lacks of its target; where terms are combined, all of it, since what it
/// holds is one term of several.
fn receive_bound(demands: &Demands<'_>) -> usize {
    if demands.reduced.is_empty() {
        return demands.exchange.most_received();
    }
    demands.exchange.to.lens().iter().copied().max().unwrap_or(0)
}

/// An element of `c` terms and `h` final holders takes `c - 1` transfers until some rank holds its
/// value, then one for each further holder, and one more if no final holder has a term.
fn transfer_bound(demands: &Demands<'_>) -> usize {
    let exchange = demands.exchange;
    let (from, to) = (exchange.from.mesh(), exchange.to.mesh());
    let terms = from.group_len(demands.reduced);
    if terms == 1 {
        return 0;
    }
    let carried = from.group_len(exchange.carried);
    let copies = exchange.replicas(exchange.to);
    let whole: usize = exchange.to.lens().iter().sum::<usize>() / (copies * carried);
    let kept: usize = (0..to.len()).map(|receiver| exchange.kept(receiver)).sum();
    let shared = if exchange.is_on_one_mesh() {
        let free = |axis: &Axis| {
            !exchange.from.holds(*axis) && !exchange.to.holds(*axis) && !exchange.is_carried(*axis)
        };
        let holders: usize = from.axes().filter(free).map(|axis| from.axis_len(axis)).product();
        kept / (holders * carried)
    } else {
        kept.min(whole)
    };
    let transfers = whole * (terms - 1 + copies - 1) + (whole - shared);
    transfers.div_ceil(exchange.parties.len() / carried)
}

/// Ranks that hold the same terms must together send what anyone outside needs of them.
fn send_bound(demands: &Demands<'_>) -> usize {
    let exchange = demands.exchange;
    let (from, mesh) = (exchange.from, exchange.from.mesh());
    let decided = |axis: Axis| from.holds(axis) || demands.reduced.contains(&axis);
    let free: Vec<Axis> =
        mesh.axes().filter(|&axis| !decided(axis) && !exchange.is_carried(axis)).collect();
    let members = mesh.group_len(&free);
    let spreads_out = if exchange.is_on_one_mesh() {
        mesh.axes().any(|axis| mesh.axis_len(axis) > 1 && decided(axis) && !exchange.to.holds(axis))
    } else {
        exchange.replicas(exchange.to) > members
    };
    let copies = if exchange.is_on_one_mesh() {
        let both = free.iter().filter(|&&axis| !exchange.to.holds(axis));
        both.map(|&axis| mesh.axis_len(axis)).product()
    } else {
        1
    };
    let mut most = 0;
    for (position, &len) in from.lens().iter().enumerate() {
        if len == 0 || mesh.number_in_group(&free, position) != 0 {
            continue;
        }
        let inside = if spreads_out { 0 } else { inside(exchange, &free, position) / copies };
        most = most.max((len - inside.min(len)).div_ceil(members));
    }
    most
}

/// Elements of a class that its own members need, counted once a member.
fn inside(exchange: &Exchange<'_>, free: &[Axis], position: usize) -> usize {
    let mesh = exchange.from.mesh();
    let needed = |number| {
        let member = mesh.member_of_group(free, position, number);
        match exchange.is_on_one_mesh() {
            true => exchange.common(position, member),
            false => exchange
                .to
                .mesh()
                .position(mesh.ranks()[member])
                .map_or(0, |receiver| exchange.common(position, receiver)),
        }
    };
    (0..mesh.group_len(free)).map(needed).sum()
}

/// Along an axis that becomes partial, some rank of each group must have each element; the busiest of
/// the group gets at least an even share of what none of them holds.
fn seeded_receive_bound(demands: &Demands<'_>) -> usize {
    let exchange = demands.exchange;
    let mesh = exchange.to.mesh();
    let mut most = 0;
    for (position, &len) in exchange.to.lens().iter().enumerate() {
        if mesh.number_in_group(demands.seeded, position) != 0 {
            continue;
        }
        let ways = mesh.group_len(demands.seeded);
        let members = (0..ways).map(|n| mesh.member_of_group(demands.seeded, position, n));
        let mut held: Vec<(&[u32], usize)> = members
            .filter_map(|member| exchange.source_of(member))
            .map(|own| (exchange.from.indices(own), exchange.common(own, position)))
            .collect();
        held.sort_unstable();
        held.dedup();
        let kept: usize = held.iter().map(|&(_, len)| len).sum();
        most = most.max((len - kept).div_ceil(ways));
    }
    most
}
