//! Random transitions on up to 64 ranks: every plan is sound, and small.

use proptest::collection::vec;
use proptest::prelude::*;
use reshard::layout::Cut;
use reshard::plan::Plan;
use reshard::{Axis, Layout, Mesh, Rank, Reduction};

use super::planned;

const SHAPES: [&[usize]; 12] = [
    &[2, 2],
    &[3, 2],
    &[8],
    &[5, 4],
    &[2, 1, 4],
    &[2, 2, 2, 2],
    &[3, 2, 4],
    &[4, 4, 2],
    &[6, 6],
    &[8, 8],
    &[4, 2, 8],
    &[64],
];

/// What an axis does, in an order that the second number decides.
fn uses() -> impl Strategy<Value = Vec<(usize, usize)>> {
    vec((0..16_usize, any::<usize>()), 4)
}

fn layout(mesh: &Mesh, ndim: usize, uses: &[(usize, usize)], reduction: Reduction) -> Layout {
    let mut order: Vec<(usize, Axis)> =
        mesh.axes().map(|axis| (uses[axis.index()].1, axis)).collect();
    order.sort_unstable();
    let mut dims: Vec<Vec<Cut>> = vec![vec![]; ndim];
    let mut partial = vec![];
    for (_, axis) in order {
        match uses[axis.index()].0 {
            0..9 => dims[uses[axis.index()].0 % ndim].push(Cut::new(axis)),
            9..12 => {}
            12 => dims[axis.index() % ndim].push(Cut::new(axis).not_held()),
            _ => partial.push((axis, reduction)),
        }
    }
    Layout::new(mesh, dims, partial).unwrap()
}

/// A plan over `from` to `to`, which on a second mesh start at rank `first`.
fn plans() -> impl Strategy<Value = Plan> {
    let ends = (uses(), uses(), 0..5_usize, 0..5_usize);
    let meshes = (0..SHAPES.len(), 0..SHAPES.len(), 0..8_usize);
    (meshes, vec(0..12_usize, 1..4), ends).prop_map(|((one, two, far), shape, ends)| {
        let source = super::mesh(SHAPES[one]);
        let target = match far {
            0 | 1 => {
                let len = SHAPES[two].iter().product::<usize>();
                let axes = ["x", "y", "z", "w"].into_iter().zip(SHAPES[two].iter().copied());
                Mesh::with_ranks(axes, far * 3..far * 3 + len).unwrap()
            }
            _ => source.clone(),
        };
        let (before, after, first, second) = ends;
        let from = layout(&source, shape.len(), &before, Reduction::ALL[first]);
        let to = layout(&target, shape.len(), &after, Reduction::ALL[second]);
        planned(&from, &to, &shape)
    })
}

fn len(layout: &Layout, shape: &[usize], rank: Rank) -> usize {
    layout.region(shape, rank).map_or(0, |region| region.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn plans_are_sound(plan in plans()) {
        plan.check().unwrap();
        if let Some(ratio) = plan.ratio() {
            prop_assert!(ratio >= 1.0);
        }
    }

    #[test]
    fn no_intermediate_is_larger_than_both_ends(plan in plans()) {
        let (transition, shape) = (plan.transition(), plan.transition().shape());
        for layout in plan.layouts() {
            for &rank in plan.ranks() {
                let ends = [transition.source(), transition.target()];
                let limit = ends.map(|end| len(end, shape, rank)).into_iter().max();
                prop_assert!(Some(len(layout, shape, rank)) <= limit, "{transition} at {layout}");
            }
        }
        let most = plan.peak_bytes();
        let least = |rank: &Rank| 4 * len(transition.source(), shape, *rank);
        prop_assert!(plan.ranks().iter().zip(&most).all(|(rank, &peak)| peak >= least(rank)));
    }

    #[test]
    fn what_is_sent_is_received(plan in plans()) {
        let mut totals = (0, 0);
        for step in plan.steps() {
            let sent: usize = step.sent_bytes().sum();
            prop_assert_eq!(sent, step.received_bytes().sum::<usize>());
            prop_assert_eq!(step.kind().is_local(), step.launches() == 0);
            totals = (totals.0 + sent, totals.1 + sent);
        }
        prop_assert_eq!(totals.0, plan.sent_bytes().sum::<usize>());
        prop_assert_eq!(totals.1, plan.received_bytes().sum::<usize>());
    }
}
