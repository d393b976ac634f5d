//! How fast elements are copied and terms combined, beside a plain copy of as many bytes.
//!
//! `cargo bench --bench kernels` measures; `-- --smoke` runs every case once, on little, and asserts.
//! Every number counts the bytes read and written; the ratio is to the plain copy of the same round,
//! since machines drift. Further arguments choose the cases whose names contain one of them.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made must stop")]
#![allow(clippy::print_stdout, reason = "what a bench is for")]
#![allow(clippy::disallowed_methods, reason = "nothing here decides what a rank does")]

use std::hint::black_box;
use std::time::Instant;

use half::{bf16, f16};
use reshard::mem::{Combine, Term, Window, copy, reduce, scale};
use reshard::{Element, Reduction};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, names): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.starts_with("--"));
    let bench = Bench { smoke: flags.iter().any(|flag| flag == "--smoke"), names };
    println!("{:<28} {:>9} {:>8} {:>8} {:>6}", "", "target", "GB/s", "copy", "ratio");
    let sizes: &[usize] = if bench.smoke { &[64 * KIB] } else { &[64 * KIB, MIB, 32 * MIB] };
    for &bytes in sizes {
        for run in [16, 512, 8 * KIB] {
            bench.rows(bytes, run);
        }
        for terms in [2, 4, 8] {
            bench.reduce::<f32>(bytes, terms, Reduction::Sum);
            bench.reduce::<bf16>(bytes, terms, Reduction::Sum);
            bench.reduce::<f16>(bytes, terms, Reduction::Sum);
            bench.reduce::<i32>(bytes, terms, Reduction::Sum);
            bench.reduce::<f64>(bytes, terms, Reduction::Sum);
            bench.reduce::<i64>(bytes, terms, Reduction::Sum);
            bench.reduce::<u8>(bytes, terms, Reduction::Sum);
            bench.reduce::<f32>(bytes, terms, Reduction::Min);
            bench.reduce::<f32>(bytes, terms, Reduction::Max);
        }
        bench.scale::<f32>(bytes);
        bench.scale::<bf16>(bytes);
    }
    bench.transpose(if bench.smoke { 96 } else { 4096 });
}

struct Bench {
    smoke: bool,
    names: Vec<String>,
}

impl Bench {
    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }

    /// Rows of `run` bytes, twice as far apart in the source, packed.
    fn rows(&self, bytes: usize, run: usize) {
        let name = format!("copy, rows of {run} B");
        let source = some::<u8>(2 * bytes, 1);
        let rows = [Window::new(0, [bytes / run, run / 4], [2 * run, 4])];
        let packed = [Window::run(0, bytes / 4, 4)];
        self.measure(&name, bytes, 2 * bytes, |target| {
            copy(&source, &rows, target, &packed, 4).unwrap();
            |target: &[u8]| {
                let expected = source.chunks_exact(2 * run).flat_map(|row| &row[..run]);
                assert!(target.iter().eq(expected), "rows of {run} bytes");
            }
        });
    }

    fn transpose(&self, side: usize) {
        let source = some::<f32>(side * side, 1);
        let columns = [Window::new(0, [side, side], [4, 4 * side])];
        let packed = [Window::run(0, side * side, 4)];
        let bytes = 4 * side * side;
        self.measure("copy, transposed f32", bytes, 2 * bytes, |target| {
            copy(bytemuck::cast_slice(&source), &columns, target, &packed, 4).unwrap();
            |target: &[u8]| {
                let value = |at: usize| source[at % side * side + at / side].to_ne_bytes();
                let expected = (0..side * side).flat_map(value);
                assert!(target.iter().copied().eq(expected), "the transposed matrix");
            }
        });
    }

    fn reduce<T: Element>(&self, bytes: usize, terms: usize, reduction: Reduction) {
        let name = format!("{reduction} of {terms}, {}", T::DTYPE);
        if !self.wants(&name) {
            return;
        }
        let len = bytes / size_of::<T>();
        let values: Vec<Vec<T>> = (0..terms).map(|seed| some(len, seed)).collect();
        let run = [Window::run(0, len, size_of::<T>())];
        let given: Vec<Term<'_>> =
            values.iter().map(|term| (bytemuck::cast_slice(term), &run[..])).collect();
        let combine = Combine::new(T::DTYPE, reduction, terms);
        self.measure(&name, bytes, (terms + 1) * bytes, |target| {
            reduce(&given, target, &run, combine).unwrap();
            |target: &[u8]| {
                let fold = |a: f64, b: f64| match reduction {
                    Reduction::Min => a.min(b),
                    Reduction::Max => a.max(b),
                    _ => a + b,
                };
                let value = |at: usize| values.iter().map(|term| term[at].to_f64()).reduce(fold);
                let expected: Vec<T> = (0..len).map(|at| T::from_f64(value(at).unwrap())).collect();
                assert!(target == bytemuck::cast_slice::<T, u8>(&expected), "{reduction}");
            }
        });
    }

    /// Scales in place; the plain copy moves as many bytes.
    fn scale<T: Element>(&self, bytes: usize) {
        let name = format!("scale, {}", T::DTYPE);
        let run = [Window::run(0, bytes / size_of::<T>(), size_of::<T>())];
        self.measure(&name, bytes, 2 * bytes, |target| {
            scale(target, &run, T::DTYPE, 0.5).unwrap();
            |target: &[u8]| assert!(target.iter().all(|&byte| byte == 0), "half of 0 is 0")
        });
    }

    /// Runs a kernel and a plain copy of as many bytes by turns; prints the best of each.
    fn measure<C: FnOnce(&[u8])>(
        &self,
        name: &str,
        target_bytes: usize,
        moved_bytes: usize,
        mut kernel: impl FnMut(&mut [u8]) -> C,
    ) {
        if !self.wants(name) {
            return;
        }
        let mut target = vec![0u8; target_bytes];
        kernel(&mut target)(&target);
        let (from, mut to) = (some::<u8>(target_bytes, 3), vec![0u8; target_bytes]);
        let rounds = if self.smoke { 1 } else { 7 };
        let turns = if self.smoke { 1 } else { (16 * MIB / moved_bytes).max(1) };
        let (mut kernel_time, mut copy_time) = (f64::MAX, f64::MAX);
        for _ in 0..rounds {
            let time = seconds(turns, || {
                kernel(black_box(&mut target));
            });
            kernel_time = kernel_time.min(time);
            let time = seconds(turns, || black_box(&mut to).copy_from_slice(black_box(&from)));
            copy_time = copy_time.min(time);
        }
        let speed = moved_bytes as f64 / kernel_time / 1e9;
        let plain = 2.0 * target_bytes as f64 / copy_time / 1e9;
        let size = format!("{} KiB", target_bytes / KIB);
        println!("{name:<28} {size:>9} {speed:>8.1} {plain:>8.1} {:>6.2}", speed / plain);
    }
}

/// Seconds of one of so many turns.
fn seconds(turns: usize, mut turn: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..turns).for_each(|_| turn());
    start.elapsed().as_secs_f64() / turns as f64
}

/// Small whole numbers, whose sums are exact in every type.
fn some<T: Element>(len: usize, seed: usize) -> Vec<T> {
    (0..len).map(|at| T::from_f64(((at * 7 + seed * 13 + at / 31) % 16) as f64)).collect()
}
