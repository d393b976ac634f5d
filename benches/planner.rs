//! How long an uncached plan takes: median, 90th percentile, most and the slowest pair of layouts.
//!
//! `cargo bench --bench planner` measures; `-- --smoke` plans a few pairs once and only asserts.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made must stop")]
#![allow(clippy::print_stdout, reason = "what a bench is for")]
#![allow(clippy::disallowed_methods, reason = "nothing here decides what a rank does")]

use std::time::{Duration, Instant};

use reshard::layout::Cut;
use reshard::plan::{PlanOptions, Transition, plan};
use reshard::{Axis, DType, Layout, Mesh, Reduction};

/// A set of transitions that are planned one by one.
struct Case {
    name: &'static str,
    transitions: Vec<Transition>,
    /// The most launches that any of the plans may have.
    launches: usize,
}

fn main() {
    let smoke = std::env::args().any(|arg| arg == "--smoke");
    println!("{:<28} {:>6} {:>10} {:>10} {:>10}", "", "plans", "median", "p90", "most");
    let (square, cube) = (mesh(&[8, 8]), mesh(&[2, 2, 2, 2]));
    let cases = [
        case("8x8, values", (&square, Terms::No), &[4097, 4095], 2),
        case("8x8, terms", (&square, Terms::Yes), &[4097, 4095], 3),
        case("2x2x2x2 of 3 dims, values", (&cube, Terms::No), &[33, 31, 16], 2),
        case("2x2x2x2 of 3 dims, terms", (&cube, Terms::Yes), &[33, 31, 16], 3),
    ];
    for case in cases {
        case.measure(if smoke { 7 } else { 1200 }, if smoke { 1 } else { 3 });
    }
}

/// Whether sources are partial.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Terms {
    No,
    Yes,
}

fn mesh(shape: &[usize]) -> Mesh {
    Mesh::new(["a", "b", "c", "d"].into_iter().zip(shape.iter().copied())).unwrap()
}

fn case(
    name: &'static str,
    (mesh, terms): (&Mesh, Terms),
    shape: &[usize],
    launches: usize,
) -> Case {
    let all = layouts(mesh, shape.len());
    let sources = all.iter().filter(|layout| layout.is_partial() == (terms == Terms::Yes));
    let targets = || all.iter().filter(|layout| !layout.is_partial());
    let pairs = sources.flat_map(|from| targets().map(move |to| (from.clone(), to.clone())));
    let transition = |(from, to)| Transition::new(from, to, shape, DType::F32).unwrap();
    Case { name, transitions: pairs.map(transition).collect(), launches }
}

/// Every layout with axes of one dim in the mesh's order, cut, replicated or summed.
fn layouts(mesh: &Mesh, ndim: usize) -> Vec<Layout> {
    let axes: Vec<Axis> = mesh.axes().collect();
    let uses = ndim + 2;
    let layout = |code: usize| {
        let mut dims = vec![vec![]; ndim];
        let mut partial = vec![];
        let mut rest = code;
        for &axis in &axes {
            match rest % uses {
                0 => {}
                own if own <= ndim => dims[own - 1].push(Cut::new(axis)),
                _ => partial.push((axis, Reduction::Sum)),
            }
            rest /= uses;
        }
        Layout::new(mesh, dims, partial).unwrap()
    };
    (0..uses.pow(u32::try_from(axes.len()).unwrap())).map(layout).collect()
}

impl Case {
    /// Plans at most so many of the transitions, spread evenly, each a number of times of which the
    /// fastest counts.
    fn measure(&self, most: usize, repeats: usize) {
        let step = self.transitions.len().div_ceil(most);
        let mut found: Vec<(Duration, &Transition)> = self
            .transitions
            .iter()
            .step_by(step)
            .map(|transition| (self.fastest(transition, repeats), transition))
            .collect();
        found.sort_unstable_by_key(|(time, _)| *time);
        let at = |part: usize| found[(found.len() - 1) * part / 10].0;
        println!(
            "{:<28} {:>6} {:>10.1?} {:>10.1?} {:>10.1?}  {}",
            self.name,
            found.len(),
            at(5),
            at(9),
            at(10),
            found[found.len() - 1].1
        );
    }

    fn fastest(&self, transition: &Transition, repeats: usize) -> Duration {
        let mut fastest = Duration::MAX;
        for _ in 0..repeats {
            let start = Instant::now();
            let plan = plan(transition, &PlanOptions::default()).unwrap();
            fastest = fastest.min(start.elapsed());
            assert!(plan.launches() <= self.launches, "{transition}");
            assert!(plan.busiest_bytes() >= plan.bound_bytes(), "{transition}");
            assert_eq!(
                plan.sent_bytes().sum::<usize>(),
                plan.received_bytes().sum::<usize>(),
                "{transition}"
            );
        }
        fastest
    }
}
