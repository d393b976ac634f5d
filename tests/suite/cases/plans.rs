//! Plans take the collective that the transition is.

use std::sync::Arc;

use reshard::plan::{Plan, PlanOptions, StepKind, Transition, plan};
use reshard::{DType, Layout, Mesh};

use super::{carried, mesh};

fn planned(mesh: &Mesh, shape: &[usize], from: &str, to: &str) -> Plan {
    let layout = |text| Layout::parse(mesh, shape.len(), text).unwrap();
    let transition = Transition::new(layout(from), layout(to), shape, DType::F32).unwrap();
    plan(&transition, &PlanOptions::default()).unwrap()
}

fn kinds(plan: &Plan) -> Vec<StepKind> {
    plan.steps().iter().map(reshard::plan::Step::kind).collect()
}

pub(super) fn fuse_over_axes() {
    let mesh = mesh([("a", 2), ("b", 2), ("c", 2)]);
    let sums = planned(&mesh, &[16, 16], "P(sum), R, P(sum)", "R, R, R");
    assert_eq!(kinds(&sums).iter().filter(|kind| kind.is_reducing()).count(), 1);
    let reducing = sums.steps().iter().find(|step| step.kind().is_reducing()).unwrap();
    assert_eq!(reducing.axis_names().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(reducing.group_len(), 4);
    let square = super::mesh([("a", 2), ("b", 2)]);
    for from in ["[a.b, -]", "[b.a, -]"] {
        let gather = planned(&square, &[16, 16], from, "R, R");
        assert_eq!(kinds(&gather), [StepKind::AllGather]);
        assert_eq!(gather.steps()[0].group_len(), 4);
        carried(&square, &[16, 16], from, "R, R");
    }
}

pub(super) fn swap_is_a_permutation() {
    let mesh = mesh([("a", 4), ("b", 4)]);
    for (from, to) in [("S(0), S(1)", "S(1), S(0)"), ("[a.b, -]", "[b.a, -]")] {
        let plan = planned(&mesh, &[64, 64], from, to);
        assert_eq!(kinds(&plan), [StepKind::Permute]);
        assert!(plan.busiest_messages() <= 1);
        assert!(plan.busiest_bytes() <= 64 * 64 / 16 * 4);
        carried(&mesh, &[64, 64], from, to);
    }
}

pub(super) fn aligned_outer_shard_stays() {
    let mesh = mesh([("a", 2), ("b", 2)]);
    let plan = planned(&mesh, &[4, 8, 8], "S(1), S(1)", "S(1), S(2)");
    assert_eq!(kinds(&plan), [StepKind::AllToAll]);
    assert_eq!(plan.steps()[0].axis_names().collect::<Vec<_>>(), ["b"]);
    carried(&mesh, &[4, 8, 8], "S(1), S(1)", "S(1), S(2)");
}

/// A plan is never above the way through any third layout.
pub(super) fn triangle() {
    let mesh = mesh([("a", 1), ("b", 2), ("c", 2), ("d", 1)]);
    let (from, to) = ("R, S(0), R, R", "S(1), R, S(1), S(1)");
    let direct = planned(&mesh, &[64, 64], from, to).busiest_bytes();
    let places = ["R", "S(0)", "S(1)", "P(sum)"];
    for b in places {
        for c in places {
            let third = format!("R, {b}, {c}, R");
            let first = planned(&mesh, &[64, 64], from, &third).busiest_bytes();
            let second = planned(&mesh, &[64, 64], &third, to).busiest_bytes();
            assert!(direct <= first + second, "{direct} > {first} + {second} through {third}");
        }
    }
    let small = super::mesh([("a", 4)]);
    let plan = planned(&small, &[8, 8], "S(0)", "S(1)");
    assert_eq!(kinds(&plan), [StepKind::AllToAll]);
}

pub(super) fn negative_dim() {
    let mesh = mesh([("a", 4)]);
    let layout = |text| Layout::parse(&mesh, 2, text).unwrap();
    assert_eq!(layout("S(1)"), layout("S(-1)"));
    assert!(planned(&mesh, &[4, 4], "S(1)", "S(-1)").steps().is_empty());
}

pub(super) fn unit_axes() {
    let places = ["R", "S(0)", "S(1)", "P(sum)"];
    let plain = mesh([("a", 4)]);
    for from in places {
        for to in places {
            let expected = planned(&plain, &[8, 8], from, to);
            for (mesh, with) in [
                (mesh([("a", 4), ("b", 1)]), "{}, S(0)"),
                (mesh([("b", 1), ("a", 4)]), "S(1), {}"),
                (mesh([("a", 4), ("b", 1)]), "{}, R"),
            ] {
                let text = |place: &str| with.replace("{}", place);
                let plan = planned(&mesh, &[8, 8], &text(from), &text(to));
                assert_eq!(kinds(&plan), kinds(&expected), "{from} -> {to}");
                assert_eq!(plan.busiest_bytes(), expected.busiest_bytes(), "{from} -> {to}");
            }
        }
    }
    carried(&mesh([("a", 4), ("b", 1)]), &[8, 8], "S(0), S(0)", "S(1), S(1)");
    carried(&mesh([("a", 1), ("b", 4)]), &[8, 8], "S(0), S(0)", "S(1), S(1)");
}

pub(super) fn shard_transpose_one_message() {
    let mesh = mesh([("a", 8)]);
    let plan = Arc::new(planned(&mesh, &[64, 64], "S(0)", "S(1)"));
    assert_eq!(kinds(&plan), [StepKind::AllToAll]);
    for rank in 0..8 {
        assert_eq!(plan.program(rank).calls().count(), 1);
    }
    carried(&mesh, &[64, 64], "S(0)", "S(1)");
}
