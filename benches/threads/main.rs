//! How long a redistribution on threads takes, beside plain copies of as many bytes in the same run.
//!
//! ```text
//! cargo bench --bench threads                          measures and prints a table
//! cargo bench --bench threads -- --json FILE           also writes every row to FILE
//! cargo bench --bench threads -- --rounds 9            more rounds than the usual five
//! cargo bench --bench threads -- --plot FILE FOLDER    draws threads-light.svg and threads-dark.svg
//! cargo bench --bench threads -- --smoke               runs every case once and only asserts
//! ```
//!
//! With `PEERS=1` each round also runs `benches/peers`: Open MPI (`mpicc` and `mpirun` on the path) and
//! PyTorch's DTensor (`PEERS_PYTHON`, by default `python3`, has torch and numpy).
//!
//! The time of a call is that of the slowest rank. All ranks start a sample together; short calls are
//! timed in batches. Each sample of the engine is followed by one of the copies on the same threads, so
//! both see the machine in the same state, and the ratio is that of neighbours.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made must stop")]
#![allow(clippy::print_stdout, reason = "what a bench is for")]
#![allow(clippy::disallowed_methods, reason = "nothing here decides what a rank does")]

mod case;
mod chart;
mod copies;
mod measure;
mod peers;
mod plot;
mod rows;
mod sync;
mod table;

use std::path::Path;

use measure::Repeats;
use peers::Peers;
use rows::{Row, Rows};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str, place: usize| {
        let at = args.iter().position(|arg| arg == name)?;
        Some(args.get(at + place).unwrap_or_else(|| panic!("{name} needs more arguments")).as_str())
    };
    if args.iter().any(|arg| arg == "--smoke") {
        return smoke();
    }
    if let Some(file) = after("--plot", 1) {
        let rows = Rows::read(Path::new(file));
        return plot::draw(&rows, Path::new(after("--plot", 2).unwrap()));
    }
    let rounds = after("--rounds", 1).map_or(5, |text| text.parse().unwrap());
    let rows = measured(rounds, std::env::var("PEERS").is_ok_and(|on| on == "1"));
    table::print(&rows);
    if let Some(file) = after("--json", 1) {
        rows.write(Path::new(file));
    }
}

/// Every case once, values compared; the largest with an eighth of their rows.
fn smoke() {
    for mut case in case::all() {
        if case.bytes() > 1 << 20 {
            case.shape[0] /= 8;
        }
        let samples = measure::run(&case, Repeats::ONCE);
        assert_eq!(samples.engine.len(), 1, "{case}");
        assert_eq!(samples.copies.len(), usize::from(case.moves()), "{case}");
    }
    assert!(sync::round_trip_ns(1) > 0.0);
    println!("{} cases give the values of the model", case::all().len());
}

fn measured(rounds: usize, with_peers: bool) -> Rows {
    let cases = case::all();
    let peers = with_peers.then(Peers::build);
    let mut rows = Rows::default();
    rows.flag_ns.push(sync::round_trip_ns(7));
    for round in 1..=rounds {
        for case in &cases {
            let samples = measure::run(case, Repeats::of(case));
            rows.add(Row::new("reshard", case), samples.engine);
            rows.add(Row::new("copies", case), samples.copies);
        }
        for (row, samples) in peers.iter().flat_map(|peers| peers.run(&cases)) {
            rows.add(row, samples);
        }
        rows.flag_ns.push(sync::round_trip_ns(7));
        println!("round {round} of {rounds} done");
    }
    rows
}
