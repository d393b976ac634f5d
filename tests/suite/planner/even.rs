//! Where every axis divides every dim, exchanges come to the bound and reductions near it.

use reshard::plan::Plan;

use super::layouts::{Orders, with_terms, without_terms};
use super::{Ratios, mesh};

const SHAPE: [usize; 2] = [64, 64];

/// Every rank receives what it lacks in one launch, and no rank sends more than some rank receives.
#[test]
fn without_terms_one_launch_comes_to_the_bound() {
    for shape in [&[2, 2][..], &[2, 4], &[8, 8], &[2, 2, 2]] {
        let all = without_terms(&mesh(shape), 2, Orders::All);
        let ratios = Ratios::of(&all, &all, &SHAPE, |plan| {
            assert!(plan.steps().len() <= 1, "{}", plan.transition());
            balanced(plan);
        });
        ratios.at_most(1.0, 1.0, 1);
        assert!(ratios.count > 80, "{shape:?}");
    }
}

/// What is sent is received, step by step.
fn balanced(plan: &Plan) {
    for step in plan.steps() {
        let (sent, received): (usize, usize) =
            (step.sent_bytes().sum(), step.received_bytes().sum());
        assert_eq!(sent, received, "{} of {}", step.kind(), plan.transition());
    }
}

#[test]
fn reductions_come_near_the_bound() {
    let limits = [(&[2, 2][..], 1.03), (&[2, 4], 1.02), (&[8, 8], 1.01), (&[2, 2, 2], 1.075)];
    for (shape, mean) in limits {
        let mesh = mesh(shape);
        let (from, to) = (with_terms(&mesh, 2), without_terms(&mesh, 2, Orders::Default));
        Ratios::of(&from, &to, &SHAPE, balanced).at_most(mean, 1.5, 2);
    }
}
