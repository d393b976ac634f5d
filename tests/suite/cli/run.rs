//! `reshard run`: answers line by line, exact values, and bad lines that harm nobody else.

use serde_json::{Value, json};

use super::reshard;

/// The answers to lines, one each.
pub(super) fn answers(lines: &[String]) -> Vec<Value> {
    let ran = reshard(&["run", "-"], &(lines.join("\n") + "\n"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A line on the mesh `a=2` for [2] elements from `S(0)` to `R`, with some fields replaced, added, or
/// removed by null.
fn line(changes: Value) -> String {
    let mut line = json!({
        "mesh": [["a", 2]], "shape": [2], "dtype": "f32", "from": "S(0)", "to": "R", "locals": [[1], [2]],
    });
    for (name, value) in changes.as_object().unwrap() {
        line[name] = value.clone();
    }
    line.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    line.to_string()
}

fn answer(changes: Value) -> Value {
    answers(&[line(changes)]).remove(0)
}

fn values(answer: &Value) -> Vec<&Value> {
    let locals = answer["locals"].as_array().unwrap_or_else(|| panic!("{answer}"));
    locals.iter().map(|local| &local["values"]).collect()
}

#[test]
fn an_answer_has_locals_steps_and_bytes() {
    let both = json!({ "shape": [2], "offset": [0], "values": [1.0, 2.0] });
    let expected = json!({
        "locals": [both, both],
        "steps": [{
            "kind": "all_gather", "algorithm": "ring", "axes": ["a"], "group_len": 2,
            "source": "[a]", "target": "[-]",
            "sent_bytes": 4, "received_bytes": 4, "messages": 1,
        }],
        "sent_bytes": [4, 4],
        "received_bytes": [4, 4],
    });
    assert_eq!(answer(json!({})), expected);
}

#[test]
fn ranks_outside_hold_null_and_count_0() {
    let moved = answer(json!({
        "ranks": [3, 1], "world": 5, "from": "S(0; sizes=2,0)",
        "locals": [null, [], null, [7, 8], null],
    }));
    assert_eq!(moved["locals"][0], Value::Null);
    assert_eq!(values(&moved)[1], &json!([7.0, 8.0]));
    assert_eq!(moved["sent_bytes"], json!([0, 0, 0, 8, 0]));
    assert_eq!(moved["received_bytes"], json!([0, 8, 0, 0, 0]));
    let moved =
        answer(json!({ "to_mesh": [["b", 1]], "to_ranks": [2], "locals": [[1], [2], null] }));
    let held = json!({ "shape": [2], "offset": [0], "values": [1.0, 2.0] });
    assert_eq!(moved["locals"], json!([null, null, held]));
    assert_eq!(moved["received_bytes"], json!([0, 0, 8]));
}

#[test]
fn the_whole_tensor_is_cut_and_seeded() {
    let full = |from, to| {
        answer(json!({
            "locals": null, "full": [1, 2, 3], "shape": [3], "dtype": "i32", "from": from, "to": to,
        }))
    };
    assert_eq!(values(&full("S(0)", "S(0)")), [&json!([1, 2]), &json!([3])]);
    assert_eq!(values(&full("P(sum)", "P(sum)")), [&json!([1, 2, 3]), &json!([0, 0, 0])]);
    assert_eq!(values(&full("P(product)", "P(product)")), [&json!([1, 2, 3]), &json!([1, 1, 1])]);
    assert_eq!(values(&full("P(sum)", "S(0)")), [&json!([1, 2]), &json!([3])]);
    let scalar = answer(json!({ "locals": null, "full": [5], "shape": [], "from": "P(max)" }));
    assert_eq!(scalar["locals"][1], json!({ "shape": [], "offset": [], "values": [5.0] }));
}

#[test]
fn values_are_exact() {
    let carried = |dtype: &str, list: Value| {
        let len = list.as_array().unwrap().len();
        let moved = answer(json!({
            "locals": null, "full": list, "shape": [len], "dtype": dtype,
        }));
        values(&moved)[1].clone()
    };
    let same = [
        ("i64", json!([9_007_199_254_740_993_i64, i64::MIN, i64::MAX])),
        ("u64", json!([u64::MAX, 9_007_199_254_740_993_u64])),
        ("i8", json!([-128, 127])),
        ("f64", json!([0.1, -0.0, 5e-324, f64::MAX, 0.8487064552623023])),
        ("f32", json!(["NaN", "inf", "-inf", 0.5])),
        ("bf16", json!(["NaN", 3.140625])),
        ("bool", json!([true, false])),
    ];
    for (dtype, list) in same {
        // Texts, since 0.0 equals -0.0.
        assert_eq!(carried(dtype, list.clone()).to_string(), list.to_string(), "{dtype}");
    }
    assert_eq!(carried("bool", json!([1, 0])), json!([true, false]));
    assert_eq!(carried("f32", json!([16_777_217, 0.1])), json!([16_777_216.0, f64::from(0.1_f32)]));
}

/// A line that cannot be carried out, the kind of its error, and part of the message.
type Bad = (String, &'static str, &'static str);

/// Lines that do not say what to do.
fn unreadable() -> Vec<Bad> {
    vec![
        ("{".to_owned(), "json", "the line is no JSON"),
        ("[1]".to_owned(), "json", "no JSON object"),
        ("[".repeat(100_000), "json", "recursion limit"),
        (line(json!({ "form": "R" })), "field", "`form` is no field; there are mesh, ranks"),
        (line(json!({ "to": null })), "field", "`to` is missing; it must be a text"),
        (line(json!({ "mesh": { "a": 2 } })), "field", "`mesh` must be a list of axes"),
        (line(json!({ "mesh": [["a"]] })), "field", "`mesh` must be a list of axes"),
        (line(json!({ "shape": [2.5] })), "field", "`shape` must be a list of whole numbers"),
        (line(json!({ "shape": [-2] })), "field", "`shape` must be a list of whole numbers"),
        (line(json!({ "dtype": 7 })), "field", "`dtype` must be a text"),
        (line(json!({ "dtype": "f8" })), "dtype", "`f8` is no element type"),
        (line(json!({ "full": [1, 2] })), "field", "both `locals` and `full` are given"),
        (line(json!({ "locals": null })), "field", "there are no values"),
        (line(json!({ "from": "S(0" })), "notation", "S(0\n"),
        (line(json!({ "to": "S(1)" })), "layout", "shards dim 1 of a tensor of 1 dims"),
        (line(json!({ "to": "P(avg)", "dtype": "i32" })), "layout", "which i32 does not have"),
        (line(json!({ "ranks": [0] })), "mesh", "need 2 ranks, but 1 are given"),
        (line(json!({ "world": 1 })), "mesh", "give `world` 2 or leave it out"),
    ]
}

/// Lines whose values or sizes cannot be.
fn impossible() -> Vec<Bad> {
    vec![
        (
            line(json!({ "locals": [[1]] })),
            "data",
            "`locals` has 1 entries, but the world has 2 ranks",
        ),
        (
            line(json!({ "locals": [[1], [2, 3]] })),
            "data",
            "rank 1 gives a local tensor of shape [2]",
        ),
        (line(json!({ "locals": [[1], null] })), "data", "`locals[1]` must be a list"),
        (
            line(json!({ "world": 3, "locals": [[1], [2], [3]] })),
            "data",
            "`locals[2]` must be null",
        ),
        (line(json!({ "locals": [[1], ["x"]] })), "data", "`locals[1][0]` is \"x\", which is not"),
        (line(json!({ "locals": [[1], [1e39]] })), "data", "not a number that f32 can hold"),
        (line(json!({ "dtype": "i64", "locals": [[1], [1.5]] })), "data", "that i64 can hold"),
        (line(json!({ "dtype": "u8", "locals": [[1], [256]] })), "data", "that u8 can hold"),
        (line(json!({ "dtype": "bool", "locals": [[1], [2]] })), "data", "not true, false, 1 or 0"),
        (line(json!({ "locals": null, "full": [1] })), "data", "`full` has 1 values, but a tensor"),
        (line(json!({ "mesh": [["a", 1_000_000_000]] })), "limit", "but 1024 is the limit"),
        (line(json!({ "world": 1_000_000_000 })), "limit", "world: 1000000000 ranks"),
        (line(json!({ "ranks": [0, u64::MAX] })), "limit", "world: too many ranks"),
        (line(json!({ "shape": [1_000_000_000_000_u64] })), "limit", "but 16777216 is the limit"),
        (line(json!({ "shape": vec![1; 33] })), "limit", "33 dims are asked for, but 32"),
        (
            line(json!({ "mesh": [["a", 1024]], "shape": [1 << 20] })),
            "limit",
            "all ranks under [-]",
        ),
    ]
}

#[test]
fn bad_lines_harm_only_themselves() {
    let table = [unreadable(), impossible()].concat();
    let good = line(json!({}));
    let lines: Vec<String> =
        table.iter().flat_map(|(bad, _, _)| [bad.clone(), good.clone()]).collect();
    let answers = answers(&lines);
    assert_eq!(answers.len(), lines.len());
    let expected = answer(json!({}));
    for (pair, (bad, kind, message)) in answers.chunks(2).zip(&table) {
        let error = &pair[0]["error"];
        assert_eq!(error["kind"], *kind, "{bad}: {}", pair[0]);
        assert!(error["message"].as_str().unwrap().contains(message), "{bad}: {}", pair[0]);
        assert_eq!(pair[1], expected, "after {bad}");
    }
}

#[test]
fn blank_lines_and_an_empty_input_are_passed_over() {
    assert_eq!(answers(&[String::new(), line(json!({})), "  \t".to_owned()]).len(), 1);
    let ran = reshard(&["run", "-"], "");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let unended = reshard(&["run", "-"], &line(json!({})));
    assert_eq!(unended.json(), answer(json!({})));
}

#[test]
fn a_file_is_read_and_a_missing_one_named() {
    let folder = std::env::temp_dir().join(format!("reshard-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("lines.jsonl");
    std::fs::write(&file, line(json!({}))).unwrap();
    let ran = reshard(&["run", file.to_str().unwrap()], "");
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(ran.json(), answer(json!({})));
    let ran = reshard(&["run", file.to_str().unwrap()], "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.starts_with("error: ") && ran.err.contains("cannot be read"), "{}", ran.err);
}
