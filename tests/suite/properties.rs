//! Random transitions between random layouts: what arrives is what the naive twin says.

use std::collections::BTreeMap;

use proptest::prelude::*;
use reshard::plan::{Plan, PlanOptions, Transition, plan};
use reshard::{DType, Mesh, Rank};

use crate::layouts::draw::{twins_on, twins_with_ranks};
use crate::layouts::layout_of;
use crate::naive::Twin;
use crate::replay::replay;

/// A mesh with these ranks, listed by coordinate.
pub(crate) fn mesh_with(twin: &Twin, ranks: &[Rank]) -> Mesh {
    let axes = twin.axes();
    Mesh::with_ranks(axes, ranks.iter().copied()).expect("the twin's mesh")
}

pub(crate) fn planned(from: (&Twin, &Mesh), to: (&Twin, &Mesh), dtype: DType) -> Plan {
    let (source, target) = (layout_of(from.0, from.1), layout_of(to.0, to.1));
    let transition = Transition::new(source, target, from.0.shape.clone(), dtype)
        .unwrap_or_else(|error| panic!("{error}: {from:?} -> {to:?}"));
    plan(&transition, &PlanOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Beyond this many ranks, replaying a plan takes longer than it teaches.
const MOST_RANKS: usize = 48;

/// Replays the plan from data in the source's layout; what arrives must mean the same value.
fn check(from: (&Twin, &Mesh), to: (&Twin, &Mesh), seed: u64) {
    if from.1.len().max(to.1.len()) > MOST_RANKS {
        return;
    }
    let plan = planned(from, to, DType::F64);
    plan.check().unwrap_or_else(|error| panic!("{error}\n{plan:?}"));
    let locals = from.0.locals(seed);
    let before: BTreeMap<Rank, Vec<f64>> = from.1.ranks().iter().copied().zip(locals).collect();
    let after = replay(&plan, &before);
    let arrived: Vec<Vec<f64>> = to.1.ranks().iter().map(|rank| after[rank].clone()).collect();
    assert_eq!(to.0.assemble(&arrived), from.0.value(seed), "{plan:?}");
}

fn two_on_one_mesh() -> impl Strategy<Value = (Twin, Vec<usize>, Twin)> {
    twins_with_ranks().prop_flat_map(|(from, ranks)| {
        let to = twins_on(&from.mesh, &from.shape);
        (Just(from), Just(ranks), to)
    })
}

fn two_meshes() -> impl Strategy<Value = (Twin, Vec<usize>, Twin, Vec<usize>)> {
    let meshes = (twins_with_ranks(), twins_with_ranks());
    meshes.prop_flat_map(|((from, from_ranks), (other, to_ranks))| {
        let to = twins_on(&other.mesh, &from.shape);
        (Just(from), Just(from_ranks), to, Just(to_ranks))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn replayed_on_one_mesh((from, ranks, to) in two_on_one_mesh(), seed in 0u64..1000) {
        let mesh = mesh_with(&from, &ranks);
        check((&from, &mesh), (&to, &mesh), seed);
    }

    #[test]
    fn replayed_between_meshes((from, ranks, to, to_ranks) in two_meshes(), seed in 0u64..1000) {
        check((&from, &mesh_with(&from, &ranks)), (&to, &mesh_with(&to, &to_ranks)), seed);
    }
}
