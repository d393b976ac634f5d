//! The cases of each operation.

use reshard::comm::Operation;
use reshard::{DType, Group, Reduction};

use super::Engine;
use super::case::{Case, run};
use super::model::Parts;
use super::placing::Style;
use super::values::pick;

/// An operation without its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    AllGather,
    AllReduce,
    ReduceScatter,
    AllToAll,
    Broadcast,
    Scatter,
    Gather,
    Reduce,
    Exchange,
    Barrier,
}

impl Kind {
    pub(crate) const ALL: [Kind; 10] = [
        Kind::AllGather,
        Kind::AllReduce,
        Kind::ReduceScatter,
        Kind::AllToAll,
        Kind::Broadcast,
        Kind::Scatter,
        Kind::Gather,
        Kind::Reduce,
        Kind::Exchange,
        Kind::Barrier,
    ];

    fn reduces(self) -> bool {
        matches!(self, Kind::AllReduce | Kind::ReduceScatter | Kind::Reduce)
    }

    pub(crate) fn operation(self, root: usize, reduction: Reduction, divisor: usize) -> Operation {
        match self {
            Kind::AllGather => Operation::AllGather,
            Kind::AllReduce => Operation::AllReduce { reduction, divisor },
            Kind::ReduceScatter => Operation::ReduceScatter { reduction, divisor },
            Kind::AllToAll => Operation::AllToAll,
            Kind::Broadcast => Operation::Broadcast { root },
            Kind::Scatter => Operation::Scatter { root },
            Kind::Gather => Operation::Gather { root },
            Kind::Reduce => Operation::Reduce { root, reduction, divisor },
            Kind::Exchange => Operation::Exchange,
            Kind::Barrier => Operation::Barrier,
        }
    }
}

/// How many elements pass from one position to another.
pub(crate) type Counts<'a> = &'a dyn Fn(usize, usize) -> usize;

/// What the members of a group of `len` give.
pub(crate) fn given(
    operation: Operation,
    dtype: DType,
    len: usize,
    counts: Counts<'_>,
) -> Vec<Parts> {
    let combine = operation.combine(dtype);
    let (reduction, divisor) = (combine.map(|it| it.reduction), combine.map_or(1, |it| it.divisor));
    let values = |from: usize, to: usize, count: usize| -> Vec<i128> {
        let number = |index: usize| (1 + from * 8191 + to * 131 + index) as u64;
        (0..count).map(|index| pick(number(index), dtype, reduction, divisor)).collect()
    };
    let one = |own: usize, peer: usize, count: usize| vec![(peer, values(own, peer, count))];
    let each = |own: usize, count: Counts<'_>| -> Parts {
        (0..len).map(|peer| (peer, values(own, peer, count(own, peer)))).collect()
    };
    let of_member = |own: usize| match operation {
        Operation::AllGather => one(own, own, counts(own, 0)),
        Operation::AllReduce { .. } => one(own, own, counts(0, 0)),
        // All terms of a part are equally long.
        Operation::ReduceScatter { .. } => each(own, &|_, to| counts(0, to)),
        Operation::AllToAll => each(own, counts),
        Operation::Broadcast { root } if own == root => one(own, root, counts(root, 0)),
        Operation::Scatter { root } if own == root => each(own, counts),
        Operation::Gather { root } => one(own, root, counts(own, root)),
        Operation::Reduce { root, .. } => one(own, root, counts(0, root)),
        // Two of three pairs pass something.
        Operation::Exchange => {
            each(own, counts).into_iter().filter(|(peer, _)| (own + 2 * peer) % 3 != 1).collect()
        }
        Operation::Broadcast { .. } | Operation::Scatter { .. } | Operation::Barrier => Vec::new(),
    };
    (0..len).map(of_member).collect()
}

/// Groups of 1 to 8 members: in order, permuted, and of some ranks of a larger world.
fn groups() -> Vec<(usize, Group)> {
    let mut groups: Vec<_> = (1..=8).map(|len| (len, Group::world(len))).collect();
    groups.push((3, Group::new([2, 0, 1]).unwrap()));
    groups.push((8, Group::new([5, 7, 0, 2, 6, 1, 4, 3]).unwrap()));
    groups.push((4, Group::new([2]).unwrap()));
    groups.push((6, Group::new([4, 1, 3]).unwrap()));
    groups
}

/// Every element type × reduction × kind of counts for an operation, on every group.
pub(crate) fn check(engine: Engine, kind: Kind) {
    let mut number = 0;
    for (world_len, group) in groups() {
        let mut cases = Vec::new();
        for dtype in DType::ALL {
            for reduction in Reduction::ALL {
                let wanted = match kind.reduces() {
                    true => reduction.supports(dtype),
                    false => reduction == Reduction::Sum,
                };
                if wanted {
                    add_cases(&mut cases, (kind, dtype, reduction), &group, &mut number);
                }
            }
        }
        assert!(cases.len() >= 4 * DType::ALL.len(), "{} cases of {kind:?}", cases.len());
        run(engine, world_len, &cases);
    }
}

/// One case for each kind of counts; roots and styles take turns.
fn add_cases(
    cases: &mut Vec<Case>,
    (kind, dtype, reduction): (Kind, DType, Reduction),
    group: &Group,
    number: &mut usize,
) {
    let len = group.len();
    let patterns: [Counts<'_>; 4] = [
        &|_, _| 4,
        &|from, to| (from * 3 + to * 5 + 2) % 7,
        &|from, to| if (from + to) % 2 == 0 { 0 } else { 3 },
        &|_, to| if to == 0 { 1100 } else { 0 },
    ];
    for counts in patterns {
        *number += 1;
        let divisor = match (reduction, *number % 2) {
            (Reduction::Avg, _) => len,
            (Reduction::Sum, 0) if dtype.is_float() => 2,
            _ => 1,
        };
        let operation = kind.operation(*number % len, reduction, divisor);
        let styles = (Style::ALL[*number % 3], Style::ALL[(*number / 3) % 3]);
        let given = given(operation, dtype, len, counts);
        cases.push(Case::new(operation, group, dtype, &given, styles));
    }
}
