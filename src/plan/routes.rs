//! Which of several holders sends what.

use super::exchange::{Exchange, Flow};

/// The demands on every class of holders, and how each class shares them out.
///
/// The members of a class hold the same elements, so any member can serve any demand on the class. The
/// demands, ordered so that receivers with the members' own coordinates come together, are laid end
/// to end and dealt out in equal shares: as whole messages if that makes no rank busier than some rank
/// must be anyway, else cut exactly where the share ends.
#[derive(Debug)]
pub(crate) struct Routes {
    classes: Vec<Class>,
    /// Positions in the source mesh, class by class.
    members: Vec<usize>,
    demands: Vec<Demand>,
}

#[derive(Debug)]
struct Class {
    members: std::ops::Range<usize>,
    demands: std::ops::Range<usize>,
    total: usize,
    sharing: Sharing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    WholeMessages,
    EqualShares,
}

#[derive(Clone, Copy, Debug)]
struct Demand {
    receiver: usize,
    len: usize,
}

impl Routes {
    pub(crate) fn new(exchange: &Exchange<'_>) -> Self {
        let (class_of, count) = classes(exchange);
        let mut starts = vec![0; count + 1];
        class_of.iter().for_each(|&class| starts[class + 1] += 1);
        (0..count).for_each(|class| starts[class + 1] += starts[class]);
        let mut members = vec![0; class_of.len()];
        let mut next = starts.clone();
        for (position, &class) in class_of.iter().enumerate() {
            members[next[class]] = position;
            next[class] += 1;
        }
        let mut routes = Self { classes: Vec::with_capacity(count), members, demands: Vec::new() };
        let receivers = Receivers::new(exchange, &class_of);
        for class in 0..count {
            routes.add_class(exchange, class, starts[class]..starts[class + 1], &receivers);
        }
        routes.choose_sharing(exchange.most_received());
        routes
    }

    fn add_class(
        &mut self,
        exchange: &Exchange<'_>,
        class: usize,
        members: std::ops::Range<usize>,
        receivers: &Receivers,
    ) {
        let first = self.members[members.start];
        let start = self.demands.len();
        let mut total = 0;
        if exchange.from.lens()[first] > 0 {
            let carried = exchange.carried_number(first);
            for receiver in &receivers.ordered {
                if receiver.class == Some(class) || receiver.carried != carried {
                    continue;
                }
                let len = exchange.common(first, receiver.position);
                if len > 0 {
                    total += len;
                    self.demands.push(Demand { receiver: receiver.position, len });
                }
            }
        }
        let demands = start..self.demands.len();
        self.classes.push(Class { members, demands, total, sharing: Sharing::WholeMessages });
    }

    /// Cuts messages only where whole ones would make a rank busier than `most_received` or than an
    /// equal share of the busiest class.
    fn choose_sharing(&mut self, most_received: usize) {
        let share = |class: &Class| class.total.div_ceil(class.members.len());
        let floor = self.classes.iter().map(share).max().unwrap_or(0).max(most_received);
        for index in 0..self.classes.len() {
            let (mut most, mut load, mut current) = (0, 0, usize::MAX);
            self.for_each_in(&self.classes[index], |flow| {
                load = if flow.sender == current {
                    load + flow.end - flow.start
                } else {
                    flow.end - flow.start
                };
                current = flow.sender;
                most = most.max(load);
            });
            if most > floor {
                self.classes[index].sharing = Sharing::EqualShares;
            }
        }
    }

    /// Visits every flow, class by class.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Flow)) {
        self.classes.iter().for_each(|class| self.for_each_in(class, &mut visit));
    }

    fn for_each_in(&self, class: &Class, mut visit: impl FnMut(Flow)) {
        let members = &self.members[class.members.clone()];
        let demands = &self.demands[class.demands.clone()];
        match class.sharing {
            Sharing::WholeMessages => whole_messages(class.total, members, demands, &mut visit),
            Sharing::EqualShares => equal_shares(class.total, members, demands, &mut visit),
        }
    }
}

/// Each message goes whole to the member in whose share its middle lies.
fn whole_messages(
    total: usize,
    members: &[usize],
    demands: &[Demand],
    visit: &mut impl FnMut(Flow),
) {
    let (mut member, mut start) = (0usize, 0u128);
    let (total, ways) = (total as u128, members.len() as u128);
    for demand in demands {
        let middle = (2 * start + demand.len as u128) * ways;
        while middle >= 2 * total * (member as u128 + 1) {
            member += 1;
        }
        start += demand.len as u128;
        let sender = members[member];
        visit(Flow { sender, receiver: demand.receiver, start: 0, end: demand.len });
    }
}

/// Messages are cut where a member's share ends.
fn equal_shares(total: usize, members: &[usize], demands: &[Demand], visit: &mut impl FnMut(Flow)) {
    let share_end = |member: usize| {
        // OK because the quotient is at most `total`.
        ((total as u128 * (member as u128 + 1)) / members.len() as u128) as usize
    };
    let (mut member, mut at) = (0, 0);
    for demand in demands {
        let mut start = 0;
        while start < demand.len {
            while share_end(member) <= at {
                member += 1;
            }
            let end = demand.len.min(start + share_end(member) - at);
            visit(Flow { sender: members[member], receiver: demand.receiver, start, end });
            at += end - start;
            start = end;
        }
    }
}

/// The class of each position of the source mesh, and how many classes there are.
fn classes(exchange: &Exchange<'_>) -> (Vec<usize>, usize) {
    let from = exchange.from;
    let carried: usize = exchange.carried.iter().map(|&axis| from.mesh().axis_len(axis)).product();
    let class = |position: usize| {
        let indices = from.indices(position).iter().enumerate();
        let number = |number, (dim, &block): (usize, &u32)| {
            number * from.blocks(dim).held().len() + block as usize
        };
        indices.fold(exchange.carried_number(position), number)
    };
    let blocks: usize = (0..from.ndim()).map(|dim| from.blocks(dim).held().len()).product();
    ((0..from.lens().len()).map(class).collect(), carried * blocks)
}

/// The receivers, those of one replica coordinate together, so that equal shares of a class fall to
/// the members that share a coordinate with their receivers.
struct Receivers {
    ordered: Vec<Receiver>,
}

struct Receiver {
    position: usize,
    class: Option<usize>,
    carried: usize,
}

impl Receivers {
    fn new(exchange: &Exchange<'_>, class_of: &[usize]) -> Self {
        let mesh = exchange.from.mesh();
        let on_one_mesh = exchange.is_on_one_mesh();
        let free: Vec<_> = mesh
            .axes()
            .filter(|&axis| on_one_mesh && !exchange.from.holds(axis) && !exchange.is_carried(axis))
            .collect();
        let replica = |position: usize| {
            let coordinate = mesh.coordinate_at(position);
            free.iter()
                .fold(0, |number, &axis| number * mesh.axis_len(axis) + coordinate[axis.index()])
        };
        let mut order: Vec<(usize, usize)> = (0..exchange.to.lens().len())
            .map(|position| (if on_one_mesh { replica(position) } else { 0 }, position))
            .collect();
        order.sort_unstable();
        let receiver = |(_, position): (usize, usize)| Receiver {
            position,
            class: exchange.source_of(position).map(|own| class_of[own]),
            carried: if on_one_mesh { exchange.carried_number(position) } else { 0 },
        };
        Self { ordered: order.into_iter().map(receiver).collect() }
    }
}
