//! `reshard plan`: text, JSON and errors, pinned to the letter.

use serde_json::{Value, json};

use super::{Ran, reshard};

/// Arguments of a plan on `dp=2, tp=4` for [64, 4096] of `bf16`, with some of them replaced or added.
fn plan(changes: &[(&str, &str)]) -> Ran {
    let mut arguments = vec![
        ("--mesh", "dp=2,tp=4"),
        ("--shape", "64,4096"),
        ("--dtype", "bf16"),
        ("--from", "P(sum), S(0)"),
        ("--to", "S(1), R"),
    ];
    for &(name, value) in changes {
        match arguments.iter_mut().find(|argument| argument.0 == name) {
            Some(argument) => argument.1 = value,
            None => arguments.push((name, value)),
        }
    }
    let words = arguments.into_iter().flat_map(|(name, value)| [name, value]);
    reshard(&["plan"].into_iter().chain(words).collect::<Vec<_>>(), "")
}

fn printed(changes: &[(&str, &str)]) -> String {
    let ran = plan(changes);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{changes:?}");
    ran.out
}

fn object(changes: &[(&str, &str)]) -> Value {
    serde_json::from_str(&printed(&[changes, &[("--format", "json")]].concat())).unwrap()
}

#[test]
fn text_has_a_line_a_step_and_totals() {
    let expected = "\
[tp, -] + P(sum: dp) -> [-, dp] of bf16 [64, 4096] on dp=2, tp=4

step  does            by        along  ranks  layout                            sent     received  messages
1     reduce_scatter  pairwise  dp     2      [tp, -] + P(sum: dp) -> [tp, dp]  64 KiB   64 KiB    1
2     all_gather      ring      tp     4      [tp, dp] -> [-, dp]               192 KiB  192 KiB   3

busiest rank  sends 256 KiB (262144 bytes), receives 256 KiB (262144 bytes)
lower bound   256 KiB (262144 bytes), ratio 1.000: no plan moves less
launches      2
peak          448 KiB (458752 bytes) of tensors at once on the fullest rank
";
    assert_eq!(printed(&[]), expected);
}

#[test]
fn json_has_every_number() {
    let step = |kind: &str, algorithm: &str, axis: &str| json!({ "kind": kind, "algorithm": algorithm, "axes": [axis] });
    let mut first = step("reduce_scatter", "pairwise", "dp");
    let mut second = step("all_gather", "ring", "tp");
    // 16 rows of 4096 a rank before: half of them go out. Then 3 peers' 16 rows of 2048 come in.
    let rest = [
        (&mut first, 2, "[tp, -] + P(sum: dp)", "[tp, dp]", 16 * 2048 * 2, 1),
        (&mut second, 4, "[tp, dp]", "[-, dp]", 3 * 16 * 2048 * 2, 3),
    ];
    for (step, group_len, source, target, bytes, messages) in rest {
        step["group_len"] = group_len.into();
        step["source"] = source.into();
        step["target"] = target.into();
        step["sent_bytes"] = bytes.into();
        step["received_bytes"] = bytes.into();
        step["messages"] = messages.into();
    }
    let expected = json!({
        "steps": [first, second],
        "sent_bytes": 262_144,
        "received_bytes": 262_144,
        "bound_bytes": 262_144,
        "ratio": 1.0,
        // 16 rows before, 16 halves between, 64 halves after.
        "peak_bytes": (16 * 4096 + 16 * 2048 + 64 * 2048) * 2,
        "launches": 2,
    });
    assert_eq!(object(&[]), expected);
}

#[test]
fn nothing_to_do_is_said() {
    let changes = [("--from", "dp=S(0)"), ("--to", "[dp, -]")];
    let expected = "[dp, -] -> [dp, -] of bf16 [64, 4096] on dp=2, tp=4\n\
                    nothing to do: every rank holds its part of the target already\n";
    assert_eq!(printed(&changes), expected);
    let plan = object(&changes);
    assert_eq!((&plan["steps"], &plan["ratio"]), (&json!([]), &json!(1.0)));
}

#[test]
fn a_plan_without_a_bound_claims_none() {
    let changes = [("--from", "P(sum), R"), ("--to", "R, P(max)")];
    assert_eq!(object(&changes)["ratio"], Value::Null);
    assert!(printed(&changes).contains("\nlower bound   no bound: "));
}

#[test]
fn a_tensor_without_dims_has_two_names() {
    let changes = |shape| [("--shape", shape), ("--from", "P(sum), R"), ("--to", "R, R")];
    assert_eq!(printed(&changes("")), printed(&changes("scalar")));
    assert_eq!(object(&changes("scalar"))["steps"][0]["kind"], "all_reduce");
}

#[test]
fn ranks_and_a_second_mesh_are_named() {
    let to_ranks = "9,8,7,6,5,4,3,2";
    let stage = [("--ranks", "2,3,4,5,6,7,8,9"), ("--from", "S(0), R"), ("--to", "S(0), R")];
    assert!(printed(&stage).starts_with(
        "[dp, -] -> [dp, -] of bf16 [64, 4096] on dp=2, tp=4 ranks [2, 3, 4, 5, 6, 7, 8, 9]\n"
    ));
    let turned = [&stage[..], &[("--to-ranks", to_ranks)]].concat();
    assert!(printed(&turned).lines().next().unwrap().ends_with(
        "on dp=2, tp=4 ranks [2, 3, 4, 5, 6, 7, 8, 9] -> dp=2, tp=4 ranks [9, 8, 7, 6, 5, 4, 3, 2]"
    ));
    let other = [("--to-mesh", "x=2"), ("--to-ranks", "8,9"), ("--from", "R, R"), ("--to", "S(0)")];
    let plan = object(&other);
    assert_eq!(plan["steps"][0]["axes"], json!([]));
    assert_eq!(plan["steps"][0]["group_len"], 10);
    assert_eq!(plan["bound_bytes"], 32 * 4096 * 2);
}

#[test]
fn bad_input_is_named_in_both_formats() {
    let table = [
        ("--mesh", "dp", "mesh", "--mesh: `dp` is no axis; write NAME=LENGTH, as in dp=2,tp=4"),
        ("--mesh", "dp=2,tp=x", "mesh", "--mesh: `tp=x` is no axis; write NAME=LENGTH"),
        ("--mesh", "dp=2,dp=4", "mesh", "mesh: two axes are called `dp`; names must differ"),
        ("--mesh", "dp=2,tp=0", "mesh", "mesh: axis `tp` has length 0"),
        ("--mesh", "dp=2", "layout", "2 placements are given for a mesh of 1 axes"),
        ("--mesh", "dp=2,tp=1000000000", "limit", "mesh: 2000000000 ranks are asked for, but 4096"),
        ("--mesh", "dp=9999999999,tp=9999999999", "limit", "mesh: too many ranks"),
        ("--ranks", "0,1,2", "mesh", "mesh: axes of lengths [2, 4] need 8 ranks, but 3 are given"),
        ("--ranks", "0,1,2,3,4,5,6,6", "mesh", "mesh: rank 6 is listed twice"),
        ("--ranks", "0,one", "mesh", "--ranks: `one` is not a rank; write rank numbers"),
        ("--to-mesh", "x=-1", "mesh", "--to-mesh: `x=-1` is no axis"),
        ("--to-ranks", "5", "mesh", "target mesh: axes of lengths [2, 4] need 8 ranks"),
        ("--shape", "64,-1", "shape", "--shape: `-1` is not the length of a dim"),
        ("--shape", "64", "layout", "axis `dp` shards dim 1 of a tensor of 1 dims"),
        ("--shape", "9999999999,9999999999", "layout", "more bytes than a machine can address"),
        ("--dtype", "float", "dtype", "`float` is no element type; there are f32"),
        ("--dtype", "bool", "layout", "axis `dp` is partial by sum, which bool does not have"),
        ("--from", "S(0), X", "notation", "source layout: expected a placement"),
        ("--from", "[zz, -]", "notation", "the mesh has no axis `zz`; its axes are `dp`, `tp`"),
        ("--from", "P(sum), P(max)", "layout", "axes are partial by `sum` and by `max`"),
        ("--to", "S(0; unit=7), R", "layout", "target layout: axis `dp` cuts dim 0 by units of 7"),
    ];
    for (name, value, kind, message) in table {
        let ran = plan(&[(name, value)]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{name} {value}");
        let shown = ran.err.strip_prefix("error: ").unwrap_or_else(|| panic!("{}", ran.err));
        assert!(shown.contains(message), "{name} {value}: {shown}");
        let ran = plan(&[(name, value), ("--format", "json")]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), ""), "{name} {value}");
        let expected =
            json!({ "error": { "kind": kind, "message": shown.trim_end_matches('\n') } });
        assert_eq!(ran.json(), expected);
    }
}

#[test]
fn a_caret_shows_the_place() {
    let expected =
        "error: target layout: expected a number, found `x`\n  S(0; unit=x), R\n            ^\n";
    assert_eq!(plan(&[("--to", "S(0; unit=x), R")]).err, expected);
}
