//! `reshard run --trace`: a file in which every rank has a lane, and calls lie within redistributions.

use serde_json::{Value, json};

use super::{Ran, reshard};

/// A complete event; times in nanoseconds.
struct Span {
    name: String,
    lane: u64,
    start: u64,
    end: u64,
    fields: Value,
}

impl Span {
    fn new(event: &Value) -> Self {
        let nanoseconds = |name: &str| (event[name].as_f64().unwrap() * 1000.0).round() as u64;
        let start = nanoseconds("ts");
        assert_eq!(event["pid"], 1, "{event}");
        let span = Self {
            name: event["name"].as_str().unwrap().to_owned(),
            lane: event["tid"].as_u64().unwrap(),
            start,
            end: start + nanoseconds("dur"),
            fields: event["args"].clone(),
        };
        assert_eq!(span.fields["rank"], span.lane, "{event}");
        span
    }

    fn is_within(&self, other: &Self) -> bool {
        self.lane == other.lane && other.start <= self.start && self.end <= other.end
    }

    fn is_apart_from(&self, other: &Self) -> bool {
        self.lane != other.lane || self.end <= other.start || other.end <= self.start
    }

    /// Whether both are of one call of one plan.
    fn is_of(&self, call: &Self) -> bool {
        ["plan", "step", "operation"].iter().all(|name| self.fields[name] == call.fields[name])
    }
}

struct Traced {
    ran: Ran,
    events: Vec<Value>,
}

impl Traced {
    fn new(name: &str, input: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("reshard-trace-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("trace.json");
        let ran = reshard(&["run", "-", "--trace", file.to_str().unwrap()], input);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        let trace: Value = serde_json::from_str(&text).unwrap();
        Self { ran, events: trace["traceEvents"].as_array().unwrap().clone() }
    }

    fn spans(&self) -> Vec<Span> {
        self.events.iter().filter(|event| event["ph"] == "X").map(Span::new).collect()
    }
}

/// Two lines with a bad one between them; of the first, `world` has a rank that does nothing.
fn input() -> String {
    let reduced = json!({
        "mesh": [["a", 2], ["b", 2]], "world": 5, "shape": [4, 3], "dtype": "f32",
        "from": "S(0), P(sum)", "to": "R, S(1)", "full": (0..12).collect::<Vec<_>>(),
    });
    let gathered = json!({
        "mesh": [["a", 3]], "shape": [6], "dtype": "f32", "from": "S(0)", "to": "R",
        "locals": [[1, 2], [3, 4], [5, 6]],
    });
    format!("{reduced}\nno JSON\n{gathered}\n")
}

fn named<'a>(spans: &'a [Span], name: &'a str) -> impl Iterator<Item = &'a Span> {
    spans.iter().filter(move |span| span.name == name)
}

#[test]
fn every_rank_has_a_lane_with_its_name() {
    let traced = Traced::new("lanes", &input());
    let lanes: Vec<&Value> = traced.events.iter().filter(|event| event["ph"] == "M").collect();
    assert_eq!(lanes.len(), 5);
    for (rank, lane) in lanes.iter().enumerate() {
        let expected = json!({
            "name": "thread_name", "ph": "M", "pid": 1, "tid": rank,
            "args": { "name": format!("rank {rank}") },
        });
        assert_eq!(**lane, expected);
    }
    let spans = traced.spans();
    let calls = |rank| named(&spans, "call").filter(|call| call.lane == rank).count();
    assert!((0..4).all(|rank| calls(rank) > 0));
    assert_eq!(calls(4), 0);
    assert_eq!(traced.ran.out, reshard(&["run", "-"], &input()).out);
}

#[test]
fn calls_lie_within_redistributions_and_waits_and_moves_within_calls() {
    let spans = Traced::new("nesting", &input()).spans();
    assert!(spans.windows(2).all(|pair| pair[0].start <= pair[1].start));
    for (at, span) in spans.iter().enumerate() {
        for other in &spans[..at] {
            assert!(span.is_apart_from(other) || span.is_within(other), "{}", span.name);
        }
    }
    assert_eq!(named(&spans, "redistribute").count(), 4 + 3);
    assert!(named(&spans, "call").count() >= 4 + 3);
    for call in named(&spans, "call") {
        let around: Vec<&Span> =
            named(&spans, "redistribute").filter(|outer| call.is_within(outer)).collect();
        assert_eq!(around.len(), 1);
        assert_eq!(around[0].fields["plan"], call.fields["plan"]);
        let within = |name| named(&spans, name).filter(|span| span.is_within(call));
        let parts: Vec<&Span> = within("wait").chain(within("move")).collect();
        assert_eq!(parts.len(), 2, "a wait, then a move");
        assert!(parts.iter().all(|part| part.is_of(call)));
        assert!(parts[0].end <= parts[1].start);
    }
    for name in ["wait", "move"] {
        assert_eq!(named(&spans, name).count(), named(&spans, "call").count());
    }
}

#[test]
fn bytes_are_those_of_the_plan() {
    let traced = Traced::new("bytes", &input());
    let answers: Vec<Value> =
        traced.ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let all = traced.spans();
    let carried: Vec<&Span> = named(&all, "redistribute").collect();
    for (answer, spans) in [(&answers[0], &carried[..4]), (&answers[2], &carried[4..])] {
        let busiest = (0..spans.len())
            .flat_map(|rank| [&answer["sent_bytes"][rank], &answer["received_bytes"][rank]])
            .filter_map(Value::as_u64)
            .max();
        for span in spans {
            assert_eq!(span.fields["sent_bytes"], answer["sent_bytes"][span.lane as usize]);
            assert_eq!(span.fields["received_bytes"], answer["received_bytes"][span.lane as usize]);
            assert_eq!(span.fields["bytes"].as_u64(), busiest);
            assert_eq!(span.fields["plan"], spans[0].fields["plan"]);
            assert_eq!(span.fields["plan"].as_str().unwrap().len(), 16);
        }
        let communicating = |step: &&Value| step["messages"] != 0;
        let steps = answer["steps"].as_array().unwrap().iter().filter(communicating).count();
        let plan = &spans[0].fields["plan"];
        let calls = named(&all, "call").filter(|call| call.fields["plan"] == *plan).count();
        assert_eq!(calls, steps * spans.len());
    }
    // Each of three ranks gives its 2 elements of f32, and has all 6 in the end.
    for call in named(&all, "call").filter(|call| call.start >= carried[4].start) {
        let expected = json!({
            "rank": call.lane, "operation": "all-gather", "group": "{0, 1, 2}", "step": 0,
            "plan": carried[4].fields["plan"], "send_bytes": 8, "recv_bytes": 24,
        });
        assert_eq!(call.fields, expected);
    }
    for moved in named(&all, "move").filter(|moved| moved.start >= carried[4].start) {
        assert_eq!(moved.fields["bytes"], 24);
    }
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error() {
    let folder = std::env::temp_dir().join(format!("reshard-no-such-{}", std::process::id()));
    let file = folder.join("trace.json");
    let ran = reshard(&["run", "-", "--trace", file.to_str().unwrap()], &input());
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("cannot be written"), "{}", ran.err);
}

#[test]
fn nothing_to_run_is_a_trace_too() {
    assert_eq!(Traced::new("empty", "").events, [] as [Value; 0]);
}
