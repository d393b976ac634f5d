//! `reshard run` against the naive twin: what every rank holds, for many layouts, types and ranks.

use serde_json::{Value, json};

use super::run::answers;
use crate::naive::{Place, Twin, TwinCut};

/// A transition between twins of one shape, on the ranks that hold their coordinates.
struct Carried {
    dtype: &'static str,
    from: (Twin, Vec<usize>),
    to: (Twin, Vec<usize>),
    /// Values that the type can hold, from the twin's.
    fit: fn(f64) -> f64,
}

impl Carried {
    fn new(dtype: &'static str, from: Twin, to: Twin) -> Self {
        let ranks = |twin: &Twin| (0..twin.mesh.iter().product()).collect();
        let (from, to) = ((from.clone(), ranks(&from)), (to.clone(), ranks(&to)));
        Self { dtype, from, to, fit: |value| value }
    }

    fn on(mut self, from: &[usize], to: &[usize]) -> Self {
        (self.from.1, self.to.1) = (from.to_vec(), to.to_vec());
        self
    }

    fn fit(self, fit: fn(f64) -> f64) -> Self {
        Self { fit, ..self }
    }

    fn world_len(&self) -> usize {
        1 + self.from.1.iter().chain(&self.to.1).max().unwrap()
    }

    fn locals(&self, seed: u64) -> Vec<Vec<f64>> {
        let fit = |local: Vec<f64>| local.into_iter().map(self.fit).collect();
        self.from.0.locals(seed).into_iter().map(fit).collect()
    }

    fn line(&self, seed: u64) -> String {
        let mut locals = vec![Value::Null; self.world_len()];
        for (local, &rank) in self.locals(seed).iter().zip(&self.from.1) {
            locals[rank] = local.iter().map(|&value| self.written(value)).collect();
        }
        json!({
            "mesh": self.from.0.axes(), "ranks": self.from.1,
            "to_mesh": self.to.0.axes(), "to_ranks": self.to.1,
            "shape": self.from.0.shape, "dtype": self.dtype,
            "from": self.from.0.notation(), "to": self.to.0.notation(), "locals": locals,
        })
        .to_string()
    }

    fn written(&self, value: f64) -> Value {
        match self.dtype.as_bytes()[0] {
            b'i' | b'u' => (value as i64).into(),
            _ if self.dtype == "bool" => (value != 0.0).into(),
            _ => value.into(),
        }
    }

    fn check(&self, seed: u64, answer: &Value) {
        let (twin, ranks) = &self.to;
        let locals = answer["locals"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(locals.len(), self.world_len());
        let outside = (0..locals.len()).filter(|rank| !ranks.contains(rank));
        outside.for_each(|rank| assert_eq!(locals[rank], Value::Null));
        let held = |(coordinate, &rank): (Vec<usize>, &usize)| {
            let local = &locals[rank];
            assert_eq!(local["shape"], json!(twin.local_shape(&coordinate)), "{answer}");
            assert_eq!(local["offset"], json!(twin.offset(&coordinate)), "{answer}");
            check_intervals(twin, &coordinate, local);
            local["values"].as_array().unwrap().iter().map(read).collect()
        };
        let moved: Vec<Vec<f64>> = twin.coordinates().into_iter().zip(ranks).map(held).collect();
        assert_eq!(twin.assemble(&moved), self.from.0.assemble(&self.locals(seed)), "{answer}");
        let total = |name: &str| answer[name].as_array().unwrap().iter().map(read).sum::<f64>();
        assert_eq!(total("sent_bytes"), total("received_bytes"), "{answer}");
    }
}

fn read(value: &Value) -> f64 {
    value.as_f64().or(value.as_bool().map(|truth| f64::from(u8::from(truth)))).unwrap()
}

/// Of a tensor of one dim, the intervals are its indices.
fn check_intervals(twin: &Twin, coordinate: &[usize], local: &Value) {
    if twin.shape.len() != 1 {
        return;
    }
    let indices = twin.indices(coordinate);
    let runs = 1 + indices.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    assert_eq!(local.get("intervals").is_some(), runs > 1, "{local}");
    let Some(intervals) = local.get("intervals") else { return };
    let bounds = |run: &Value| read(&run[0]) as usize..read(&run[1]) as usize;
    let listed: Vec<usize> = intervals[0].as_array().unwrap().iter().flat_map(bounds).collect();
    assert_eq!(listed, indices);
}

fn check_all(cases: &[Carried]) {
    let lines: Vec<String> = (0..).zip(cases).map(|(seed, case)| case.line(seed)).collect();
    let answers = answers(&lines);
    assert_eq!(answers.len(), cases.len());
    for (seed, (case, answer)) in (0..).zip(cases.iter().zip(&answers)) {
        case.check(seed, answer);
    }
}

fn listed(shape: &[usize], places: &[Place]) -> Twin {
    Twin::listed(&[2, 3], shape, places)
}

#[test]
fn every_type_is_carried() {
    let moved = |dtype| {
        let to = listed(&[7, 3], &[Place::S(1), Place::R]);
        Carried::new(dtype, listed(&[7, 3], &[Place::S(0), Place::S(0)]), to)
    };
    let mut cases: Vec<Carried> =
        ["f32", "f64", "f16", "bf16", "i8", "i32", "i64"].map(moved).into();
    cases.extend(["u8", "u32", "u64"].map(|dtype| moved(dtype).fit(|value| value + 7.0)));
    cases.push(moved("bool").fit(|value| f64::from(u8::from(value > 0.0))));
    check_all(&cases);
}

#[test]
fn terms_are_reduced_and_carried() {
    let mut cases = Vec::new();
    for (dtype, reduction) in [
        ("f32", "sum"),
        ("i64", "sum"),
        ("f64", "avg"),
        ("i32", "product"),
        ("i8", "min"),
        ("bf16", "max"),
    ] {
        let p = Place::P(reduction);
        let places = [
            ([p, p], [Place::R, Place::R]),
            ([p, Place::S(0)], [Place::S(1), Place::R]),
            ([Place::S(1), p], [Place::S(1), Place::S(0)]),
            ([p, Place::R], [p, Place::S(0)]),
            ([Place::R, Place::R], [p, Place::R]),
        ];
        let shape = &[7, 3];
        cases.extend(
            places.map(|(from, to)| Carried::new(dtype, listed(shape, &from), listed(shape, &to))),
        );
    }
    check_all(&cases);
}

#[test]
fn ranks_in_any_order_and_other_meshes_are_kept_apart() {
    let (rows, columns) = ([Place::S(0), Place::R], [Place::R, Place::S(1)]);
    let shuffled = [4, 0, 5, 2, 7, 1];
    let case = |from: &[Place; 2], to: &[Place; 2]| {
        Carried::new("f32", listed(&[6, 5], from), listed(&[6, 5], to))
    };
    let line = Twin::listed(&[3], &[6, 5], &[Place::S(1)]);
    let sum = [Place::P("sum"), Place::S(0)];
    check_all(&[
        case(&rows, &columns).on(&shuffled, &shuffled),
        case(&sum, &columns).on(&shuffled, &shuffled),
        case(&rows, &columns).on(&shuffled, &[0, 1, 2, 3, 4, 5]),
        Carried::new("i32", listed(&[6, 5], &rows), line.clone()).on(&shuffled, &[8, 6, 1]),
        Carried::new("u8", listed(&[6, 5], &rows), line)
            .on(&shuffled, &[9, 8, 10])
            .fit(|v| v + 7.0),
    ]);
}

#[test]
fn laws_and_holes_are_reported_by_intervals() {
    let whole = || Twin::replicated(&[2, 3], &[12]);
    let segments = whole().cut(0, TwinCut::on(1).segments(&[6, 3, 3]));
    let holes = whole().cut(0, TwinCut::on(0).not_held()).cut(0, TwinCut::on(1));
    let sizes = whole().cut(0, TwinCut::on(0).rows(&[&[12, 0]]));
    let units = whole().cut(0, TwinCut::on(0).unit(4));
    check_all(&[
        Carried::new("f32", segments.clone(), holes.clone()),
        Carried::new("f32", holes, units.clone()),
        Carried::new("i32", units, segments.clone()),
        Carried::new("i32", sizes, segments),
    ]);
}

/// Fewer elements than ranks, and none at all.
#[test]
fn empty_blocks_arrive_too() {
    let places = [Place::S(0), Place::S(1), Place::R];
    let mut cases = Vec::new();
    for shape in [[4, 1], [1, 2], [0, 3]] {
        for from in places {
            let to = |to| {
                let on = |place| Twin::listed(&[3], &shape, &[place]);
                Carried::new("f32", on(from), on(to))
            };
            cases.extend(places.map(to));
        }
    }
    check_all(&cases);
}
