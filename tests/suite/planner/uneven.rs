//! Shapes that nothing divides, down to fewer elements than ranks.

use reshard::plan::Plan;

use super::layouts::{Orders, with_terms, without_terms};
use super::{Ratios, mesh};

/// A plan of one step brings every rank what it lacks and nothing else.
fn receives_what_it_lacks(plan: &Plan) {
    if plan.steps().len() != 1 {
        return;
    }
    let (transition, shape) = (plan.transition(), plan.transition().shape());
    for (&rank, received) in plan.ranks().iter().zip(plan.received_bytes()) {
        let target = transition.target().region(shape, rank).unwrap();
        let held = transition.source().region(shape, rank).unwrap();
        assert_eq!(received, 4 * (target.len() - held.common_len(&target)), "{transition}");
    }
}

fn exchanged(on: &[usize], shape: [usize; 2]) -> Ratios {
    let all = without_terms(&mesh(on), 2, Orders::All);
    Ratios::of(&all, &all, &shape, receives_what_it_lacks)
}

#[test]
fn without_terms_two_launches_come_near_the_bound() {
    for on in [&[2, 2][..], &[2, 4], &[2, 2, 2]] {
        for shape in [[7, 3], [9, 10], [5, 3]] {
            exchanged(on, shape).at_most(1.005, 1.25, 2);
        }
        exchanged(on, [1, 5]).at_most(1.005, 1.34, 2);
    }
}

/// On 64 ranks these tensors have one or two elements a rank.
#[test]
fn without_terms_on_many_ranks() {
    for shape in [[7, 3], [9, 10], [5, 3]] {
        exchanged(&[8, 8], shape).at_most(1.06, 2.0, 2);
    }
}

fn reduced(on: &[usize], shape: [usize; 2]) -> Ratios {
    let mesh = mesh(on);
    let (from, to) = (with_terms(&mesh, 2), without_terms(&mesh, 2, Orders::Default));
    Ratios::of(&from, &to, &shape, |_| ())
}

#[test]
fn reductions_come_near_the_bound() {
    for shape in [[7, 3], [9, 10]] {
        for on in [&[2, 2][..], &[2, 4], &[2, 2, 2]] {
            reduced(on, shape).at_most(1.22, 1.85, 3);
        }
    }
    // With one or two elements a rank, a message more is a multiple of the bound.
    reduced(&[8, 8], [7, 3]).at_most(1.34, 3.0, 3);
    reduced(&[8, 8], [9, 10]).at_most(1.74, 2.42, 3);
}
