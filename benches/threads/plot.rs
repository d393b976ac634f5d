//! Draws time against size for four transitions on two ranks, from the rows of a run.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use crate::case::{self, PLOTTED};
use crate::chart::{self, Panel, Series};
use crate::rows::{Rows, Summary};

const SERIES: [Series; 4] = [
    Series { by: "DTensor, pages kept", label: "DTensor over gloo", class: "dtensor" },
    Series { by: "MPI, pages kept", label: "Open MPI", class: "mpi" },
    Series { by: "copies", label: "plain copies of as many bytes", class: "copies" },
    Series { by: "reshard", label: "reshard", class: "ours" },
];
const MEANINGS: [&str; 4] = ["all-gather", "all-to-all", "all-reduce", "reduce-scatter"];
const WIDTH: f64 = 880.0;
const HEIGHT: f64 = 700.0;

/// Page, frame, text, quiet text, and the colours of the series.
const LIGHT: [&str; 8] =
    ["#ffffff", "#d8dee4", "#1f2328", "#59636e", "#1a7f37", "#bc4c00", "#6e7781", "#0550ae"];
const DARK: [&str; 8] =
    ["#0d1117", "#2a313a", "#f0f6fc", "#9198a1", "#56d364", "#f0883e", "#9198a1", "#79c0ff"];

/// Writes `threads-light.svg` and `threads-dark.svg` into a folder.
pub(crate) fn draw(rows: &Rows, folder: &Path) {
    for (name, colours) in [("light", LIGHT), ("dark", DARK)] {
        std::fs::write(folder.join(format!("threads-{name}.svg")), page(rows, colours)).unwrap();
    }
}

fn page(rows: &Rows, colours: [&str; 8]) -> String {
    let mut page = head(colours);
    legend(&mut page);
    let shown = points(rows);
    let sizes: BTreeSet<usize> =
        shown.iter().flat_map(|(_, _, points)| points.iter().map(|&(bytes, _)| bytes)).collect();
    let times = || shown.iter().flat_map(|(_, _, points)| points.iter().map(|(_, of)| of));
    let least = times().map(|of| of.p10).fold(f64::INFINITY, f64::min);
    let most = times().map(|of| of.p90).fold(0.0, f64::max);
    let decades = [least.log10().floor() as i32, most.log10().ceil() as i32];
    for (number, (op, meaning)) in PLOTTED.iter().zip(MEANINGS).enumerate() {
        let panel = Panel {
            left: 74.0 + 430.0 * (number % 2) as f64,
            top: 92.0 + 304.0 * (number / 2) as f64,
            width: 354.0,
            height: 226.0,
            sizes: sizes.iter().copied().collect(),
            decades,
        };
        let title = op.replace("->", " → ");
        panel
            .frame(&format!("{title}<tspan class=\"quiet\" dx=\"8\">{meaning}</tspan>"), &mut page);
        for (_, series, points) in shown.iter().filter(|(of, ..)| of == op) {
            panel.line(*series, points, &mut page);
        }
    }
    page + "</svg>\n"
}

/// A transition, a series, and its times by bytes.
type Shown = (&'static str, Series, Vec<(usize, Summary)>);

fn points(rows: &Rows) -> Vec<Shown> {
    let mut shown = Vec::new();
    for (op, series) in PLOTTED.iter().flat_map(|op| SERIES.map(|series| (*op, series))) {
        let cases: Vec<_> = case::all()
            .into_iter()
            .filter(|case| case.op == op && case.mesh == [2] && case.shape[0] == case.shape[1])
            .collect();
        let of_case = |case| {
            let found = rows.of(case).find(|(by, _)| *by == series.by);
            found.map(|(_, samples)| (case.bytes(), Summary::of(samples)))
        };
        let points: Vec<_> = cases.iter().filter_map(of_case).collect();
        if !points.is_empty() {
            shown.push((op, series, points));
        }
    }
    shown
}

fn head([back, frame, text, quiet, dtensor, mpi, copies, ours]: [&str; 8]) -> String {
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"
     aria-labelledby="title desc" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="13">
  <title id="title">Time of a redistribution on two ranks against the size of the tensor</title>
  <desc id="desc">Four panels, one for each of four transitions, both axes logarithmic. Each shows reshard, plain
    copies of as many bytes, Open MPI and DTensor over gloo. The numbers are in performance.md.</desc>
  <style>
    .title {{ fill: {text}; font-weight: 600; font-size: 15px }}
    .quiet {{ fill: {quiet}; font-weight: 400; font-size: 13px }}
    .mark {{ fill: {quiet}; font-size: 12px }}
    .label {{ fill: {text} }}
    .mesh {{ stroke: {frame}; fill: none }}
    .line {{ stroke-width: 2.2; fill: none; stroke-linejoin: round }}
    .bar {{ stroke-width: 1.2; opacity: 0.6 }}
    .dot {{ stroke: {back}; stroke-width: 1 }}
    .dtensor {{ stroke: {dtensor} }} .dot.dtensor {{ fill: {dtensor}; stroke: {back} }}
    .mpi {{ stroke: {mpi} }} .dot.mpi {{ fill: {mpi}; stroke: {back} }}
    .copies {{ stroke: {copies} }} .line.copies {{ stroke-dasharray: 5 4 }} .dot.copies {{ fill: {copies}; stroke: {back} }}
    .ours {{ stroke: {ours} }} .line.ours {{ stroke-width: 2.8 }} .dot.ours {{ fill: {ours}; stroke: {back} }}
  </style>
  <rect fill="{back}" width="{WIDTH}" height="{HEIGHT}"/>
"#
    )
}

fn legend(page: &mut String) {
    let mut x = 74.0;
    for Series { label, class, .. } in SERIES.into_iter().rev() {
        writeln!(page, r#"  <path class="line {class}" d="M{x} 34h30"/>"#).unwrap();
        chart::mark(class, (x + 15.0, 34.0), page);
        writeln!(page, r#"  <text class="label" x="{}" y="38.5">{label}</text>"#, x + 38.0)
            .unwrap();
        x += 78.0 + 6.7 * label.len() as f64;
    }
    writeln!(
        page,
        r#"  <text class="mark" x="74" y="{}">Time by size of the whole f32 matrix, two ranks: medians, bars from the 10th to the 90th percentile. Peers keep freed pages.</text>"#,
        HEIGHT - 18.0
    )
    .unwrap();
}
