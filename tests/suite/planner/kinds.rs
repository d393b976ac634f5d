//! Which steps well-known transitions take.

use reshard::plan::{Algorithm, Plan, StepKind};
use reshard::{Layout, Mesh};

use super::{kinds, mesh, planned};

/// Mesh, from, to, kinds of the steps; of a tensor of [16, 16].
const ON_ONE_MESH: [(&[usize], &str, &str, &str); 41] = [
    (&[4], "S(0)", "R", "all_gather"),
    (&[4], "R", "S(0)", "slice"),
    (&[4], "P(sum)", "R", "all_reduce"),
    (&[4], "P(avg)", "R", "all_reduce"),
    (&[4], "P(sum)", "S(1)", "reduce_scatter"),
    (&[4], "S(0)", "S(1)", "all_to_all"),
    (&[4], "S(0; sizes=16,0,0,0)", "R", "broadcast"),
    (&[4], "S(0; sizes=0,16,0,0)", "S(0)", "scatter"),
    (&[4], "S(0)", "S(0; sizes=0,0,16,0)", "gather"),
    (&[4], "P(sum)", "S(0; sizes=0,16,0,0)", "reduce"),
    (&[4], "S(0; sizes=16,0,0,0)", "S(0; sizes=0,16,0,0)", "permute"),
    (&[4], "S(0)", "S(0; sizes=1,3,5,7)", "all_to_all"),
    (&[4], "R", "P(sum)", "seed"),
    (&[4], "S(0)", "P(sum)", "seed"),
    (&[4], "P(avg)", "P(sum)", "scale"),
    (&[4], "P(sum)", "P(avg)", "all_reduce, seed"),
    (&[4], "P(sum)", "P(max)", "reduce_scatter, seed"),
    (&[4], "R", "R", ""),
    (&[4], "S(0)", "S(-2)", ""),
    (&[2, 2], "S(0), S(1)", "S(1), S(0)", "permute"),
    (&[2, 2], "[-, a.b]", "[-, b.a]", "permute"),
    (&[2, 2], "S(0), S(0)", "S(1), S(1)", "all_to_all"),
    (&[2, 2], "S(0), S(1)", "S(0), S(0)", "all_to_all"),
    (&[2, 2], "S(0), S(0)", "R, R", "all_gather"),
    (&[2, 2], "S(0), S(0)", "S(0), R", "all_gather"),
    (&[2, 2], "S(0), S(0)", "R, S(0)", "exchange"),
    (&[2, 2], "S(0), R", "S(0), S(1)", "slice"),
    (&[2, 2], "R, S(0)", "S(0), R", "permute"),
    (&[2, 2], "R, S(0)", "S(0), S(0)", "permute"),
    (&[2, 2], "P(sum), P(sum)", "R, R", "all_reduce"),
    (&[2, 2], "P(sum), P(sum)", "S(0), S(1)", "reduce_scatter"),
    (&[2, 2], "P(sum), P(sum)", "R, S(0)", "reduce_scatter, all_reduce"),
    (&[2, 2], "P(sum), R", "S(0), S(0)", "slice, reduce_scatter"),
    (&[2, 2], "P(sum), S(1)", "S(0), R", "reduce_scatter, all_gather"),
    (&[2, 2], "P(sum), S(0)", "S(0), S(0)", "reduce_scatter, permute"),
    (&[2, 2], "P(sum), S(0)", "P(sum), S(1)", "all_to_all"),
    (&[2, 2], "P(avg), S(0)", "P(sum), R", "scale, all_gather"),
    (&[2, 2], "S(0), P(sum)", "R, R", "all_reduce, all_gather"),
    (&[2, 2], "R, S(0)", "P(sum), S(0)", "seed"),
    (&[8, 8], "R, P(sum)", "R, S(0)", "slice, reduce_scatter, all_gather"),
    (&[8, 8], "S(0), S(1)", "S(1), S(0)", "permute"),
];

#[test]
fn on_one_mesh() {
    let wrong = ON_ONE_MESH.iter().filter_map(|&(shape, from, to, expected)| {
        let mesh = mesh(shape);
        let layout = |text| Layout::parse(&mesh, 2, text).unwrap();
        differs(&planned(&layout(from), &layout(to), &[16, 16]), expected)
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn differs(plan: &Plan, expected: &str) -> Option<String> {
    let found = kinds(plan).join(", ");
    (found != expected).then(|| format!("{}: {found}, not {expected}", plan.transition()))
}

/// Length of the source's mesh; first rank and length of the target's; from, to, kinds.
type TwoMeshes = (usize, (usize, usize), &'static str, &'static str, &'static str);

const BETWEEN_MESHES: [TwoMeshes; 11] = [
    (4, (4, 4), "S(0)", "S(0)", "send_recv"),
    (4, (4, 4), "S(0)", "S(1)", "exchange"),
    (4, (4, 4), "R", "R", "send_recv"),
    (4, (4, 4), "P(sum)", "S(0)", "reduce_scatter, send_recv"),
    (4, (4, 1), "S(0)", "R", "gather"),
    (1, (1, 4), "R", "S(0)", "scatter"),
    (1, (1, 4), "R", "R", "broadcast"),
    (1, (0, 4), "R", "R", "broadcast"),
    (4, (0, 2), "R", "S(0)", "slice"),
    (4, (2, 4), "S(0)", "S(0)", "send_recv"),
    (2, (2, 2), "S(0)", "P(sum)", "send_recv, seed"),
];

#[test]
fn between_two_meshes() {
    let wrong = BETWEEN_MESHES.iter().filter_map(|&(len, (first, other), from, to, expected)| {
        let source = Mesh::new([("a", len)]).unwrap();
        let target = Mesh::with_ranks([("b", other)], first..first + other).unwrap();
        let from = Layout::parse(&source, 2, from).unwrap();
        let to = Layout::parse(&target, 2, to).unwrap();
        differs(&planned(&from, &to, &[16, 16]), expected)
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kind_is_named() {
    for kind in StepKind::ALL {
        let one = ON_ONE_MESH.iter().map(|row| row.3);
        let two = BETWEEN_MESHES.iter().map(|row| row.4);
        let named = |kinds: &str| kinds.split(", ").any(|name| name == kind.name());
        assert!(one.chain(two).any(named), "{kind}");
    }
}

/// One rank holds what two want: it sends to one of them, which passes it on.
#[test]
fn receivers_relay() {
    let mesh = mesh(&[2, 2]);
    let layout = |text| Layout::parse(&mesh, 2, text).unwrap();
    let plan = planned(&layout("[-, a.b]"), &layout("[b, -]"), &[5, 3]);
    let [step] = plan.steps() else { panic!("{} steps", plan.steps().len()) };
    assert_eq!((step.kind(), step.algorithm()), (StepKind::Exchange, Algorithm::Relay));
    assert_eq!((plan.launches(), plan.ratio()), (2, Some(1.0)));
}

/// A rank that a slice brings into the mesh holds nothing yet, and takes part in the gather all the same.
#[test]
fn ranks_new_to_the_mesh_gather() {
    let target = Mesh::new([("x", 6), ("y", 6)]).unwrap();
    let from = Layout::parse(&mesh(&[8]), 2, "S(1)").unwrap();
    let to = Layout::parse(&target, 2, "[-, -] + P(min: x, y)").unwrap();
    let plan = planned(&from, &to, &[1, 9]);
    plan.check().unwrap();
    assert_eq!(plan.program(35).result_shape(), [1, 9]);
}
