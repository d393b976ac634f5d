//! Samples by what took them and of which case; their file.

use std::path::Path;

use serde_json::{Value, json};

use crate::case::Case;

/// Whose samples of which case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// `reshard`, `copies`, or a peer's name.
    pub(crate) by: String,
    pub(crate) op: String,
    pub(crate) mesh: Vec<usize>,
    pub(crate) shape: [usize; 2],
}

/// Every row with its samples in microseconds, of all rounds, and the flag's round trips.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) flag_ns: Vec<f64>,
    pub(crate) rows: Vec<(Row, Vec<f64>)>,
}

/// What is said about samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) p10: f64,
    pub(crate) p90: f64,
    pub(crate) min: f64,
}

impl Row {
    pub(crate) fn new(by: &str, case: &Case) -> Self {
        Self { by: by.into(), op: case.op.clone(), mesh: case.mesh.clone(), shape: case.shape }
    }

    pub(crate) fn of(&self, case: &Case) -> bool {
        self.op == case.op && self.mesh == case.mesh && self.shape == case.shape
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shape[0] * self.shape[1] * size_of::<f32>()
    }

    /// A row from its JSON form, with its samples.
    pub(crate) fn from_json(value: &Value) -> (Self, Vec<f64>) {
        let text = |name: &str| value[name].as_str().unwrap().to_owned();
        let counts =
            |name: &str| -> Vec<usize> { serde_json::from_value(value[name].clone()).unwrap() };
        let (mesh, shape) = (counts("mesh"), counts("shape"));
        let samples = serde_json::from_value(value["samples_us"].clone()).unwrap();
        (Self { by: text("by"), op: text("op"), mesh, shape: shape.try_into().unwrap() }, samples)
    }
}

impl Rows {
    /// Adds samples to their row; none makes no row.
    pub(crate) fn add(&mut self, row: Row, samples: Vec<f64>) {
        if samples.is_empty() {
            return;
        }
        match self.rows.iter_mut().find(|(known, _)| *known == row) {
            Some((_, all)) => all.extend(samples),
            None => self.rows.push((row, samples)),
        }
    }

    /// The samples of a case by name of who took them.
    pub(crate) fn of<'a>(&'a self, case: &'a Case) -> impl Iterator<Item = (&'a str, &'a [f64])> {
        let rows = self.rows.iter().filter(|(row, _)| row.of(case));
        rows.map(|(row, samples)| (row.by.as_str(), samples.as_slice()))
    }

    pub(crate) fn write(&self, file: &Path) {
        let row = |(row, samples): &(Row, Vec<f64>)| {
            let Row { by, op, mesh, shape } = row;
            let Summary { median, p10, p90, min } = Summary::of(samples);
            json!({
                "by": by, "op": op, "mesh": mesh, "shape": shape, "bytes": row.bytes(),
                "median_us": median, "p10_us": p10, "p90_us": p90, "min_us": min,
                "samples_us": samples,
            })
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        let all = json!({ "flag_ns": self.flag_ns, "rows": rows });
        std::fs::write(file, format!("{all}\n")).unwrap();
    }

    pub(crate) fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap();
        let all: Value = serde_json::from_str(&text).unwrap();
        let flag_ns = serde_json::from_value(all["flag_ns"].clone()).unwrap();
        let rows = all["rows"].as_array().unwrap().iter().map(Row::from_json).collect();
        Self { flag_ns, rows }
    }
}

impl Summary {
    /// Of at least one sample.
    pub(crate) fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |tenths: usize| sorted[(sorted.len() - 1) * tenths / 10];
        Self { median: at(5), p10: at(1), p90: at(9), min: sorted[0] }
    }

    /// The ratio of each sample to its neighbour.
    pub(crate) fn of_ratios(samples: &[f64], others: &[f64]) -> Self {
        let ratios: Vec<f64> = samples.iter().zip(others).map(|(one, other)| one / other).collect();
        Self::of(&ratios)
    }
}
