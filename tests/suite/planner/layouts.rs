//! Lists of layouts.

use reshard::layout::Cut;
use reshard::{Axis, Layout, Mesh, Reduction};

/// In which order axes of one dim stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Orders {
    /// As in the mesh.
    Default,
    All,
}

/// Every layout that replicates, cuts by the chunk law or sums along each axis; those that sum
/// nothing first.
pub(super) fn every(mesh: &Mesh, ndim: usize, orders: Orders) -> Vec<Layout> {
    let axes: Vec<Axis> = mesh.axes().collect();
    let mut found = vec![];
    let uses = ndim + 2;
    for code in 0..uses.pow(u32::try_from(axes.len()).unwrap()) {
        let use_of = |axis: &Axis| code / uses.pow(u32::try_from(axis.index()).unwrap()) % uses;
        let with = |own: usize| axes.iter().copied().filter(|axis| use_of(axis) == own).collect();
        let dims: Vec<Vec<Axis>> = (1..=ndim).map(with).collect();
        let partial: Vec<Axis> = with(ndim + 1);
        for dims in ordered(&dims, orders) {
            let cuts = dims.iter().map(|axes| axes.iter().copied().map(Cut::new));
            let partial = partial.iter().map(|&axis| (axis, Reduction::Sum));
            found.push(Layout::new(mesh, cuts, partial).unwrap());
        }
    }
    found.sort_by_key(Layout::is_partial);
    found
}

pub(super) fn without_terms(mesh: &Mesh, ndim: usize, orders: Orders) -> Vec<Layout> {
    every(mesh, ndim, orders).into_iter().filter(|layout| !layout.is_partial()).collect()
}

pub(super) fn with_terms(mesh: &Mesh, ndim: usize) -> Vec<Layout> {
    every(mesh, ndim, Orders::Default).into_iter().filter(Layout::is_partial).collect()
}

fn ordered(dims: &[Vec<Axis>], orders: Orders) -> Vec<Vec<Vec<Axis>>> {
    if orders == Orders::Default {
        return vec![dims.to_vec()];
    }
    let Some((first, rest)) = dims.split_first() else { return vec![vec![]] };
    let rest = ordered(rest, orders);
    let first = permutations(first);
    let with = |first: &Vec<Axis>| {
        let first = first.clone();
        rest.iter()
            .map(move |rest| [std::slice::from_ref(&first), &rest[..]].concat())
            .collect::<Vec<_>>()
    };
    first.iter().flat_map(with).collect()
}

fn permutations(axes: &[Axis]) -> Vec<Vec<Axis>> {
    if axes.is_empty() {
        return vec![vec![]];
    }
    let mut all = vec![];
    for (index, &first) in axes.iter().enumerate() {
        let rest = [&axes[..index], &axes[index + 1..]].concat();
        all.extend(permutations(&rest).into_iter().map(|rest| [&[first], &rest[..]].concat()));
    }
    all
}

#[test]
fn all_are_listed_once() {
    let mesh = super::mesh(&[2, 2, 2]);
    assert_eq!(without_terms(&mesh, 2, Orders::All).len(), 49);
    assert_eq!(without_terms(&mesh, 2, Orders::Default).len(), 27);
    assert_eq!(with_terms(&mesh, 2).len(), 64 - 27);
    let mut hashes: Vec<u64> =
        every(&mesh, 2, Orders::All).iter().map(Layout::stable_hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), every(&mesh, 2, Orders::All).len());
}
