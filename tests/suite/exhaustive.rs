//! All pairs of placements on small meshes, executed on threads: even, uneven, shorter than the axis,
//! and empty dims.

use reshard::Mesh;

use crate::executed::{Run, check};
use crate::naive::{Place, Twin, TwinCut};

const SHAPES: [[usize; 2]; 4] = [[8, 8], [7, 3], [1, 5], [0, 3]];

/// Every list of one place an axis.
fn lists(axes: usize) -> Vec<Vec<Place>> {
    let places = [Place::R, Place::S(0), Place::S(1), Place::P("sum")];
    (0..axes).fold(vec![Vec::new()], |lists, _| {
        let longer = |list: &Vec<Place>| {
            let list = list.clone();
            places.map(move |place| list.iter().copied().chain([place]).collect())
        };
        lists.iter().flat_map(longer).collect()
    })
}

/// Every ordered choice of some axes.
fn orders(axes: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for (index, &first) in axes.iter().enumerate() {
        let mut rest = axes.to_vec();
        rest.remove(index);
        all.extend(orders(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    all
}

fn mesh_of(lens: &[usize], twin: &Twin) -> Mesh {
    assert_eq!(lens, twin.mesh);
    Mesh::new(twin.axes()).unwrap()
}

fn all_pairs(lens: &[usize], twins: &[Twin]) {
    let runs: Vec<Run> = twins
        .iter()
        .flat_map(|from| twins.iter().map(move |to| (from, to)))
        .enumerate()
        .map(|(seed, (from, to))| Run {
            from: (from.clone(), mesh_of(lens, from)),
            to: (to.clone(), mesh_of(lens, to)),
            seed: seed as u64,
        })
        .collect();
    for some in runs.chunks(2048) {
        check::<f32>(lens.iter().product(), some);
    }
}

fn every_list(lens: &[usize]) {
    for shape in SHAPES {
        let twins: Vec<Twin> =
            lists(lens.len()).iter().map(|list| Twin::listed(lens, &shape, list)).collect();
        all_pairs(lens, &twins);
    }
}

#[test]
fn on_one_axis_of_4() {
    every_list(&[1, 4]);
    every_list(&[4]);
}

#[test]
fn on_2_by_2() {
    every_list(&[2, 2]);
}

#[test]
fn on_2_by_3() {
    every_list(&[2, 3]);
}

#[test]
fn on_2_by_2_by_2() {
    every_list(&[2, 2, 2]);
}

#[test]
fn in_every_order_of_axes_on_one_dim() {
    for lens in [vec![2, 2], vec![2, 3], vec![2, 2, 2]] {
        for len in [0, 1, 3, 5, 7, 8, 13, 16] {
            let axes: Vec<usize> = (0..lens.len()).collect();
            let ordered = |order: Vec<usize>| {
                let whole = Twin::replicated(&lens, &[len]);
                order.into_iter().fold(whole, |twin, axis| twin.cut(0, TwinCut::on(axis)))
            };
            let twins: Vec<Twin> = orders(&axes).into_iter().map(ordered).collect();
            all_pairs(&lens, &twins);
        }
    }
}
