//! Faults that users met in systems of this kind, as far as plans show them: the cases of
//! `tests/data/cases.toml` by their ids.

use reshard::plan::Plan;
use reshard::{Layout, Mesh};

use super::layouts::{Orders, every, without_terms};
use super::{kinds, mesh, planned};

fn between(mesh: &Mesh, shape: &[usize], from: &str, to: &str) -> Plan {
    let layout = |text| Layout::parse(mesh, shape.len(), text).unwrap();
    planned(&layout(from), &layout(to), shape)
}

/// Going through a third layout never costs less.
fn no_detour_is_cheaper(layouts: &[Layout], (from, to): (&[Layout], &[Layout]), shape: &[usize]) {
    let cost = |from: &Layout, to: &Layout| planned(from, to, shape).busiest_bytes();
    let table = |from: &[Layout], to: &[Layout]| -> Vec<Vec<usize>> {
        from.iter().map(|from| to.iter().map(|to| cost(from, to)).collect()).collect()
    };
    let (out, back, straight) = (table(from, layouts), table(layouts, to), table(from, to));
    for (i, from) in from.iter().enumerate() {
        for (j, to) in to.iter().enumerate() {
            for (k, third) in layouts.iter().enumerate() {
                let (detour, direct) = (out[i][k] + back[k][j], straight[i][j]);
                assert!(direct <= detour, "{from} -> {to}: {direct} > {detour} through {third}");
            }
        }
    }
}

#[test]
fn triangle() {
    for shape in [&[2, 2][..], &[2, 4], &[2, 2, 2]] {
        let mesh = mesh(shape);
        let all = without_terms(&mesh, 2, Orders::All);
        let ends = without_terms(&mesh, 2, Orders::Default);
        no_detour_is_cheaper(&all, (&ends, &ends), &[64, 64]);
    }
    let plan = between(&mesh(&[1, 2, 2, 1]), &[64, 64], "R, S(0), R, R", "S(1), R, S(1), S(1)");
    assert_eq!(kinds(&plan).len(), 1);
    assert_eq!(plan.ratio(), Some(1.0));
}

#[test]
fn triangle_with_terms() {
    let mesh = mesh(&[2, 2]);
    let all = every(&mesh, 2, Orders::Default);
    no_detour_is_cheaper(&all, (&all, &without_terms(&mesh, 2, Orders::Default)), &[64, 64]);
}

#[test]
fn fuse_over_axes() {
    let mesh = mesh(&[2, 2, 2]);
    let plan = between(&mesh, &[16, 16], "P(sum), R, P(sum)", "R, R, R");
    let reducing: Vec<_> = plan.steps().iter().filter(|step| step.kind().is_reducing()).collect();
    assert_eq!(reducing.len(), 1);
    assert_eq!(reducing[0].axis_names().collect::<Vec<_>>(), ["a", "c"]);
    // Less than one all-reduce of all elements by the two ranks along b alike.
    assert!(plan.busiest_bytes() < 16 * 16 * 4 * 3 / 2 && plan.ratio() == Some(1.0));
    for from in ["[a.b, -]", "[b.a, -]"] {
        let plan = between(&mesh, &[16, 16], from, "[-, -]");
        assert_eq!(kinds(&plan), ["all_gather"]);
        assert_eq!(plan.steps()[0].group_len(), 4);
    }
}

#[test]
fn swap_is_a_permutation() {
    for (from, to) in [("S(0), S(1)", "S(1), S(0)"), ("[a.b, -]", "[b.a, -]")] {
        let plan = between(&mesh(&[4, 4]), &[64, 64], from, to);
        assert_eq!(kinds(&plan), ["permute"]);
        assert_eq!((plan.busiest_bytes(), plan.busiest_messages()), (64 * 64 * 4 / 16, 1));
    }
}

#[test]
fn aligned_outer_shard_stays() {
    let plan = between(&mesh(&[2, 2]), &[4, 8, 8], "S(1), S(1)", "S(1), S(2)");
    assert_eq!(kinds(&plan), ["all_to_all"]);
    assert_eq!(plan.steps()[0].axis_names().collect::<Vec<_>>(), ["b"]);
}

#[test]
fn negative_dim() {
    let plan = between(&mesh(&[4]), &[4, 4], "S(1)", "S(-1)");
    assert_eq!(plan.transition().source(), plan.transition().target());
    assert!(plan.steps().is_empty());
}

#[test]
fn relayout_between_meshes() {
    let source = mesh(&[2, 2]);
    let target = Mesh::with_ranks([("c", 4)], 4..8).unwrap();
    let from = Layout::parse(&source, 2, "S(0), S(1)").unwrap();
    let plan = planned(&from, &Layout::parse(&target, 2, "S(0)").unwrap(), &[4, 4]);
    assert_eq!(plan.sent_bytes().sum::<usize>(), 4 * 4 * 4);
    let same = planned(&from, &Layout::parse(&target, 2, "[c, -]").unwrap(), &[4, 4]);
    assert!(!same.is_local());
}

/// The same steps as without the axis of length 1, whatever it does.
#[test]
fn unit_axes() {
    let (alone, before, after) = (mesh(&[4]), [("u", 1), ("a", 4)], [("a", 4), ("u", 1)]);
    for from in ["S(0)", "S(1)", "R", "P(sum)"] {
        for to in ["S(0)", "S(1)", "R", "P(sum)"] {
            let plain = between(&alone, &[8, 8], from, to);
            for unit in ["S(0)", "S(1)", "R", "P(sum)"] {
                for (mesh, first) in [(before, true), (after, false)] {
                    let mesh = Mesh::new(mesh).unwrap();
                    let list = |text: &str| {
                        if first { format!("{unit}, {text}") } else { format!("{text}, {unit}") }
                    };
                    let plan = between(&mesh, &[8, 8], &list(from), &list(to));
                    assert_eq!(kinds(&plan), kinds(&plain), "{}", plan.transition());
                    let (own, other) = (plan.received_bytes(), plain.received_bytes());
                    assert!(own.eq(other), "{}", plan.transition());
                }
            }
        }
    }
}

#[test]
fn shard_transpose_one_message() {
    let plan = between(&mesh(&[8]), &[64, 64], "S(0)", "S(1)");
    assert_eq!((kinds(&plan), plan.launches()), (vec!["all_to_all"], 1));
    for rank in 0..8 {
        let program = plan.program(rank);
        assert_eq!(program.calls().count(), 1);
        let lens = |parts: &[reshard::plan::Part]| {
            parts
                .iter()
                .map(|part| part.windows.iter().map(|w| w.len()).sum())
                .collect::<Vec<usize>>()
        };
        let call = program.calls().next().unwrap();
        assert_eq!((lens(&call.send), lens(&call.receive)), (vec![64; 8], vec![64; 8]));
    }
}
