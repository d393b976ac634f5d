//! The twin's data means what arithmetic by hand says.

use proptest::prelude::*;

use super::draw;
use crate::naive::{Place, Twin, TwinCut};

/// The value of two elements, each the reduction of 2 × 2 terms.
fn reduced(first: &'static str, second: &'static str) -> Vec<f64> {
    let twin = Twin::listed(&[2, 2], &[2], &[Place::P(first), Place::P(second)]);
    twin.assemble(&[vec![1., -2.], vec![3., 4.], vec![5., 6.], vec![7., 8.]])
}

#[test]
fn terms_reduce_to_a_value() {
    assert_eq!(reduced("sum", "sum"), [16., 16.]);
    assert_eq!(reduced("product", "product"), [105., -384.]);
    assert_eq!(reduced("min", "min"), [1., -2.]);
    assert_eq!(reduced("max", "max"), [7., 8.]);
    assert_eq!(reduced("avg", "avg"), [4., 4.]);
    assert_eq!(reduced("sum", "avg"), [8., 8.]);
}

#[test]
fn blocks_assemble_to_a_value() {
    let twin = Twin::replicated(&[2], &[2, 3]).cut(1, TwinCut::on(0).rows(&[&[1, 2]]));
    assert_eq!(twin.assemble(&[vec![0., 3.], vec![1., 2., 4., 5.]]), [0., 1., 2., 3., 4., 5.]);
}

#[test]
#[should_panic(expected = "element 0: Some(0.0), but -0 at [1]")]
fn replicas_that_differ_in_a_bit_are_found() {
    Twin::replicated(&[2], &[1]).assemble(&[vec![0.], vec![-0.]]);
}

#[test]
#[should_panic(expected = "elements at [0]")]
fn locals_of_another_length_are_found() {
    Twin::replicated(&[1], &[1]).assemble(&[vec![]]);
}

/// Data that were all alike would let an executor that moves nothing pass.
#[test]
fn data_tells_elements_and_terms_apart() {
    let twin = Twin::listed(&[4], &[30], &[Place::P("sum")]);
    let locals = twin.locals(1);
    assert!((0..4).all(|a| (0..a).all(|b| locals[a] != locals[b])));
    let mut values = locals[0].clone();
    values.sort_by(f64::total_cmp);
    values.dedup();
    assert!(values.len() > 8, "{values:?}");
    assert_ne!(locals, twin.locals(2));
}

proptest! {
    #[test]
    fn locals_assemble_to_the_value(twin in draw::twins(), seed: u64) {
        prop_assert_eq!(twin.assemble(&twin.locals(seed)), twin.value(seed));
    }

    /// What an average divides comes out whole, and every term is small enough for any type.
    #[test]
    fn data_is_small_and_whole(twin in draw::twins_on(&[2, 3], &[4, 3]), seed: u64) {
        let whole = |value: &f64| value.fract() == 0.0 && value.abs() <= 64.0;
        prop_assert!(twin.value(seed).iter().all(whole));
        prop_assert!(twin.locals(seed).iter().flatten().all(|term| term.abs() <= 42.0));
    }
}
