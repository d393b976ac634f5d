//! The results as text.

use crate::case::{self, Case};
use crate::rows::{Rows, Summary};

/// Prints every case with its limit and its peers.
pub(crate) fn print(rows: &Rows) {
    let trips: Vec<String> = rows.flag_ns.iter().map(|ns| format!("{ns:.0}")).collect();
    println!("a flag's round trip between two threads, by round: {} ns", trips.join(", "));
    for ranks in [1, 2, 4] {
        println!(
            "\n{ranks} ranks{:>39} {:>10} {:>10} {:>10}   against",
            "median", "10 %", "90 %", "least"
        );
        for case in case::all().iter().filter(|case| case.ranks() == ranks) {
            of_case(rows, case);
        }
    }
}

fn of_case(rows: &Rows, case: &Case) {
    let Some((_, ours)) = rows.of(case).find(|(by, _)| *by == "reshard") else { return };
    let mesh: Vec<String> = case.mesh.iter().map(ToString::to_string).collect();
    let [height, width] = case.shape;
    println!("{} on {}, {height}x{width}, {}", case.op, mesh.join("x"), size(case.bytes()));
    for (by, samples) in rows.of(case) {
        let Summary { median, p10, p90, min } = Summary::of(samples);
        let [median, p10, p90, min] = [median, p10, p90, min].map(time);
        let against = match by {
            "reshard" => String::new(),
            "copies" => {
                let ratio = Summary::of_ratios(ours, samples);
                format!("{:.2} ({:.2} to {:.2})", ratio.median, ratio.p10, ratio.p90)
            }
            _ => digits(Summary::of(ours).median / Summary::of(samples).median),
        };
        println!("  {by:<34} {median:>10} {p10:>10} {p90:>10} {min:>10}   {against}");
    }
}

/// A ratio with two digits that mean something.
fn digits(ratio: f64) -> String {
    let places = if ratio < 0.1 { (1.0 - ratio.log10().floor()) as usize } else { 2 };
    format!("{ratio:.places$}")
}

/// Microseconds in a unit that leaves three digits.
pub(crate) fn time(us: f64) -> String {
    let (value, unit) = match us {
        us if us < 1.0 => (us * 1e3, "ns"),
        us if us < 1e3 => (us, "µs"),
        us => (us / 1e3, "ms"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        bytes if bytes < 1 << 20 => format!("{} KiB", bytes >> 10),
        bytes => format!("{} MiB", bytes >> 20),
    }
}
