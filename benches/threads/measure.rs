//! Takes samples of a case: the engine's and the copies', one after the other.

use std::hint;
use std::time::{Duration, Instant};

use reshard::{Error, World};

use crate::case::Case;
use crate::copies::Copies;
use crate::sync::Together;

/// How often something is timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeats {
    samples: usize,
    /// A sample has as many calls as fit in this time, at least one.
    batch: Duration,
    /// No more samples are begun after this time, so that a busy machine does not hold a run up.
    limit: Duration,
}

/// Microseconds of a call on the slowest rank, by sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    pub(crate) engine: Vec<f64>,
    /// Empty where nothing moves.
    pub(crate) copies: Vec<f64>,
}

impl Repeats {
    pub(crate) const ONCE: Self = Self { samples: 1, batch: Duration::ZERO, limit: Duration::MAX };

    pub(crate) fn of(case: &Case) -> Self {
        let samples = if case.bytes() > 1 << 23 { 9 } else { 15 };
        Self { samples, batch: Duration::from_millis(2), limit: Duration::from_secs(3) }
    }
}

/// Runs a case on its ranks, and checks the values of one call.
pub(crate) fn run(case: &Case, repeats: Repeats) -> Samples {
    let matrix = Copies::matrix(case);
    let together = Together::new(case.ranks());
    let rank = |world: &World| rank(case, world, (&together, &matrix), repeats);
    let all = World::run(case.ranks(), rank).unwrap();
    let slowest = |of: fn(&Samples) -> &Vec<f64>| {
        let at = |sample| all.iter().map(|samples| of(samples)[sample]).fold(0.0, f64::max);
        (0..of(&all[0]).len()).map(at).collect()
    };
    Samples { engine: slowest(|all| &all.engine), copies: slowest(|all| &all.copies) }
}

fn rank(
    case: &Case,
    world: &World,
    (together, matrix): (&Together, &[f32]),
    repeats: Repeats,
) -> Result<Samples, Error> {
    let _guard = together.guard();
    let (from, to) = case.start(world)?;
    case.check(&from.redistribute(&to)?)?;
    let mut redistribute = || drop(from.redistribute(&to).unwrap());
    let copies = case.copies(world.rank());
    let mut written = vec![0.0; copies.as_ref().map_or(0, Copies::written_len)];
    let mut copy = || {
        if let Some(copies) = &copies {
            copies.run(matrix, case.shape[1], hint::black_box(&mut written));
        }
    };

    let timer = Timer(together);
    let calls = timer.fitting(repeats.batch, &mut redistribute);
    let copies = timer.fitting(repeats.batch, &mut copy);
    let mut samples = Samples::default();
    let start = Instant::now();
    while samples.engine.len() < repeats.samples && !timer.any_past(start, repeats.limit) {
        samples.engine.push(timer.sample(calls, &mut redistribute));
        if case.moves() {
            samples.copies.push(timer.sample(copies, &mut copy));
        }
    }
    Ok(samples)
}

struct Timer<'a>(&'a Together);

impl Timer<'_> {
    /// Whether a time has passed on some rank, the same on all.
    fn any_past(&self, start: Instant, limit: Duration) -> bool {
        self.0.most(u64::from(start.elapsed() > limit)) > 0
    }

    /// Microseconds of one of so many calls, from the moment in which all ranks have arrived.
    fn sample(&self, calls: u64, call: &mut impl FnMut()) -> f64 {
        self.0.wait();
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed().as_secs_f64() * 1e6 / calls as f64
    }

    /// How many calls fit in a time; finding it out warms up.
    fn fitting(&self, time: Duration, call: &mut impl FnMut()) -> u64 {
        let mut calls = 1;
        while calls < 1 << 16 {
            let took = self.sample(calls, call) * calls as f64;
            if self.0.most(took as u64) >= time.as_micros() as u64 / 2 {
                break;
            }
            calls *= 2;
        }
        calls
    }
}
