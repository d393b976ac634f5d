//! Random transitions between random layouts: what arrives is what the naive twin says.

use std::collections::BTreeMap;

use proptest::prelude::*;
use reshard::plan::{Plan, PlanOptions, Transition, plan};
use reshard::{DType, Mesh, Rank};

use crate::executed::{self, Run, Wrapped};
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

/// Beyond this many ranks, threads only wait for each other.
const MOST_THREADS: usize = 24;

/// Runs the transition on threads for an element type that has the reductions; one that has not is
/// refused.
fn run<T: Wrapped>(run: &Run) {
    let (from, to) = (&run.from, &run.to);
    let (source, target) = (layout_of(&from.0, &from.1), layout_of(&to.0, &to.1));
    let transition = Transition::new(source, target, from.0.shape.clone(), T::DTYPE);
    let unsupported = |twin: &Twin| {
        let long = twin.partial.iter().filter(|&&(axis, _)| twin.mesh[axis] > 1);
        long.into_iter().any(|(_, reduction)| match *reduction {
            "avg" => !T::DTYPE.is_float(),
            "sum" | "product" => T::DTYPE == DType::Bool,
            _ => false,
        })
    };
    if unsupported(&from.0) || unsupported(&to.0) {
        assert!(transition.is_err(), "{transition:?}");
        return;
    }
    let ranks = from.1.ranks().iter().chain(to.1.ranks());
    let world_len = ranks.max().map_or(1, |most| most + 1);
    executed::check::<T>(world_len, std::slice::from_ref(run));
}

fn run_as(dtype: DType, transition: &Run) {
    match dtype {
        DType::F32 => run::<f32>(transition),
        DType::F64 => run::<f64>(transition),
        DType::F16 => run::<half::f16>(transition),
        DType::Bf16 => run::<half::bf16>(transition),
        DType::I8 => run::<i8>(transition),
        DType::U8 => run::<u8>(transition),
        DType::I32 => run::<i32>(transition),
        DType::U32 => run::<u32>(transition),
        DType::I64 => run::<i64>(transition),
        DType::U64 => run::<u64>(transition),
        DType::Bool => run::<bool>(transition),
    }
}

fn dtypes() -> impl Strategy<Value = DType> {
    (0..DType::ALL.len()).prop_map(|index| DType::ALL[index])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn executed_on_one_mesh(
        (from, ranks, to) in two_on_one_mesh(), seed in 0u64..1000, dtype in dtypes()
    ) {
        let mesh = mesh_with(&from, &ranks);
        if mesh.len() <= MOST_THREADS {
            run_as(dtype, &Run { from: (from, mesh.clone()), to: (to, mesh), seed });
        }
    }

    #[test]
    fn executed_between_meshes(
        (from, ranks, to, to_ranks) in two_meshes(), seed in 0u64..1000, dtype in dtypes()
    ) {
        let (source, target) = (mesh_with(&from, &ranks), mesh_with(&to, &to_ranks));
        if source.len().max(target.len()) <= MOST_THREADS {
            run_as(dtype, &Run { from: (from, source), to: (to, target), seed });
        }
    }
}
