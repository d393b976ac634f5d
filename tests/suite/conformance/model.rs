//! What each operation means, on plain vectors.

use reshard::comm::Operation;
use reshard::{DType, Reduction};

use super::values::combine;

/// What one member gives or gets: peers and values.
pub(crate) type Parts = Vec<(usize, Vec<i128>)>;

/// What every member gets, by position, when the members give these parts.
pub(crate) fn outcome(operation: Operation, dtype: DType, given: &[Parts]) -> Vec<Parts> {
    let members = 0..given.len();
    let only = |from: usize| given[from][0].1.clone();
    let to = |from: usize, to: usize| {
        given[from].iter().find(|(peer, _)| *peer == to).map(|(_, values)| values.clone())
    };
    let reduce = |terms: Vec<Vec<i128>>, reduction: Reduction, divisor: usize| -> Vec<i128> {
        (0..terms[0].len())
            .map(|index| {
                let terms: Vec<i128> = terms.iter().map(|term| term[index]).collect();
                combine(&terms, dtype, reduction, divisor)
            })
            .collect()
    };
    let of_member = |own: usize| -> Parts {
        match operation {
            Operation::AllGather => members.clone().map(|from| (from, only(from))).collect(),
            Operation::AllReduce { reduction, divisor } => {
                vec![(own, reduce(members.clone().map(only).collect(), reduction, divisor))]
            }
            Operation::ReduceScatter { reduction, divisor } => {
                let terms = members.clone().map(|from| to(from, own).unwrap()).collect();
                vec![(own, reduce(terms, reduction, divisor))]
            }
            Operation::AllToAll => {
                members.clone().map(|from| (from, to(from, own).unwrap())).collect()
            }
            Operation::Broadcast { root } => vec![(root, only(root))],
            Operation::Scatter { root } => vec![(root, to(root, own).unwrap())],
            Operation::Gather { root } if own == root => {
                members.clone().map(|from| (from, only(from))).collect()
            }
            Operation::Reduce { root, reduction, divisor } if own == root => {
                vec![(root, reduce(members.clone().map(only).collect(), reduction, divisor))]
            }
            Operation::Exchange => members
                .clone()
                .filter_map(|from| to(from, own).map(|values| (from, values)))
                .collect(),
            Operation::Gather { .. } | Operation::Reduce { .. } | Operation::Barrier => Vec::new(),
        }
    };
    members.clone().map(of_member).collect()
}
