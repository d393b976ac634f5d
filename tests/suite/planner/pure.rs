//! A plan depends on its transition alone.

use std::thread;

use reshard::layout::Cut;
use reshard::plan::{Plan, PlanOptions, Transition, plan};
use reshard::{DType, Layout, Mesh, Reduction};

use super::planned;

/// The same transition, written in another way on every rank.
fn on_rank(rank: usize) -> Plan {
    let mesh = match rank % 2 {
        0 => Mesh::new([("a", 2), ("b", 2), ("c", 2)]).unwrap(),
        _ => Mesh::with_ranks([("a", 2), ("b", 2), ("c", 2)], 0..8).unwrap(),
    };
    let axis = |name| mesh.axis(name).unwrap();
    let mut partial = vec![(axis("a"), Reduction::Sum), (axis("c"), Reduction::Sum)];
    partial.rotate_left(rank % 2);
    let cuts = [vec![], vec![Cut::new(axis("b"))]];
    let from = match rank % 3 {
        0 => Layout::parse(&mesh, 2, "P(sum), S(-1), P(sum)").unwrap(),
        1 => Layout::parse(&mesh, 2, "[-, b] + P(sum: c) + P(sum: a)").unwrap(),
        _ => Layout::new(&mesh, cuts, partial).unwrap(),
    };
    let to = match rank % 2 {
        0 => Layout::parse(&mesh, 2, "a=S(0), b=R, c=S(1)").unwrap(),
        _ => Layout::parse(&mesh, 2, "[a, c]").unwrap(),
    };
    planned(&from, &to, &[7, 9])
}

#[test]
fn every_rank_has_the_same_plan_and_programs() {
    let plans = thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|rank| scope.spawn(move || on_rank(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(plans[0].steps().len() > 1);
    for plan in &plans {
        assert_eq!(plan.stable_hash(), plans[0].stable_hash());
        assert_eq!(plan.steps(), plans[0].steps());
        for rank in 0..8 {
            assert_eq!(plan.program(rank), plans[0].program(rank));
        }
    }
}

#[test]
fn every_input_is_in_the_hash() {
    let names = Mesh::new([("a", 2), ("b", 2)]).unwrap();
    let others = [
        Mesh::new([("a", 2), ("d", 2)]).unwrap(),
        Mesh::with_ranks([("a", 2), ("b", 2)], [0, 2, 1, 3]).unwrap(),
        Mesh::with_ranks([("a", 2), ("b", 2)], 4..8).unwrap(),
        Mesh::new([("a", 4), ("b", 2)]).unwrap(),
    ];
    let hash = |mesh: &Mesh, texts: (&str, &str), shape: [usize; 2], dtype| {
        let layout = |text| Layout::parse(mesh, 2, text).unwrap();
        let transition = Transition::new(layout(texts.0), layout(texts.1), shape, dtype).unwrap();
        plan(&transition, &PlanOptions::default()).unwrap().stable_hash()
    };
    let texts = ("S(0), R", "R, S(1)");
    let base = || hash(&names, texts, [8, 8], DType::F32);
    let mut hashes = vec![
        base(),
        hash(&names, ("S(0), S(1)", texts.1), [8, 8], DType::F32),
        hash(&names, (texts.0, "R, S(0)"), [8, 8], DType::F32),
        hash(&names, texts, [8, 16], DType::F32),
        hash(&names, texts, [16, 8], DType::F32),
        hash(&names, texts, [8, 8], DType::I32),
    ];
    hashes.extend(others.iter().map(|mesh| hash(mesh, texts, [8, 8], DType::F32)));
    assert_eq!(base(), hashes[0]);
    let count = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), count);
}
