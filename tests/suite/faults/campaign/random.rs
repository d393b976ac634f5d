//! Runs random programs with one fault each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reshard::comm::{CommError, Communicator, Stamp, Work};

use super::super::world::run;
use super::schedule::{Draw, FAULTS, Fault, Schedule, Step, Way};
use super::verdict::judge;
use super::{Engine, FAR, Gate, NEAR, panic_now, side_by_side, the_next_world_works};
use crate::conformance::case::{Case, Side};

const SEEDS: u64 = 1000;

pub(super) fn check(engine: Engine) {
    let told: Vec<AtomicUsize> = FAULTS.iter().map(|_| AtomicUsize::new(0)).collect();
    let seeds: Vec<u64> = (0..SEEDS).collect();
    side_by_side(&seeds, |&seed| {
        let schedule = Schedule::new(seed);
        let timeout = match schedule.fault {
            Fault::Stalls | Fault::NeverReads => NEAR,
            _ => FAR,
        };
        let gate = Gate::new();
        let ends = run(engine(schedule.world_len, timeout), |endpoint| {
            Running { schedule: &schedule, endpoint, draw: Draw::new(seed ^ (1 << 40)) }.run(&gate)
        });
        let errors_len = judge(seed, &schedule, &ends);
        told[seed as usize % FAULTS.len()].fetch_add(errors_len, Ordering::Relaxed);
        the_next_world_works(engine, schedule.world_len);
    });
    for (fault, told) in FAULTS.iter().zip(told) {
        let told = told.into_inner();
        assert!(told as u64 >= SEEDS / 20, "{fault:?} was told to {told} ranks only");
    }
}

/// One rank that runs a program.
struct Running<'a> {
    schedule: &'a Schedule,
    endpoint: &'a dyn Communicator,
    draw: Draw,
}

impl<'a> Running<'a> {
    fn run(&mut self, gate: &Gate) -> Result<(), CommError> {
        let Schedule { steps, fault, odd, at, .. } = self.schedule;
        let is_odd = self.endpoint.rank() == *odd;
        let _passing = (!is_odd).then(|| gate.pass());
        let mut late: Vec<(Side<'a>, Work)> = Vec::new();
        let mut order: Vec<usize> = (0..steps.len()).collect();
        if is_odd && *fault == Fault::SwapsWithNext && at + 1 < steps.len() {
            order.swap(*at, at + 1);
        }
        for number in order {
            self.rest();
            if is_odd && number == *at {
                match self.go_wrong(number, gate)? {
                    Next::Goes => {}
                    Next::Skips => continue,
                    Next::Ends => return Ok(()),
                }
            }
            late.extend(self.make(number)?);
            if is_odd && number == *at && *fault == Fault::PanicsAfter {
                panic_now();
            }
        }
        for (side, work) in late {
            side.check(work.wait()?.as_bytes());
        }
        Ok(())
    }

    /// Lets other ranks go first, now and then.
    fn rest(&mut self) {
        match self.draw.below(8) {
            0 => std::thread::sleep(Duration::from_micros(self.draw.below(300) as u64)),
            1 | 2 => std::thread::yield_now(),
            _ => {}
        }
    }

    fn go_wrong(&mut self, number: usize, gate: &Gate) -> Result<Next, CommError> {
        let others_len = self.schedule.world_len - 1;
        let step = &self.schedule.steps[number];
        match self.schedule.fault {
            Fault::PanicsBefore => panic_now(),
            Fault::PanicsDuring => {
                let work = self.start(&step.case, number)?;
                self.rest();
                let _work = work;
                panic_now()
            }
            Fault::Returns => Ok(Next::Ends),
            Fault::Skips => Ok(Next::Skips),
            Fault::OtherDType | Fault::OtherCounts => {
                if let Some(case) = &self.schedule.instead
                    && let Some((_, work)) = self.start(case, number)?
                {
                    work.wait()?;
                }
                Ok(Next::Skips)
            }
            Fault::Stalls => {
                gate.wait_for(others_len);
                Ok(Next::Goes)
            }
            Fault::NeverReads => {
                let _work = self.start(&step.case, number)?;
                gate.wait_for(others_len);
                Ok(Next::Ends)
            }
            Fault::PanicsAfter | Fault::SwapsWithNext => Ok(Next::Goes),
        }
    }

    /// Makes a call of the program in this rank's way; the work if it is to be waited for late.
    fn make(&self, number: usize) -> Result<Option<(Side<'a>, Work)>, CommError> {
        let Step { case, ways } = &self.schedule.steps[number];
        let way = ways[self.endpoint.rank()];
        if way == Way::Performs {
            let Some(side) = case.side(self.endpoint) else { return Ok(None) };
            side.perform(&side.prepare()?, &stamp(number))?;
            return Ok(None);
        }
        let Some((side, work)) = self.start(case, number)? else { return Ok(None) };
        match way {
            Way::Waits | Way::Performs => side.check(work.wait()?.as_bytes()),
            Way::Drops => drop(work),
            Way::Leaks => std::mem::forget(work),
            Way::WaitsLate => return Ok(Some((side, work))),
        }
        Ok(None)
    }

    fn start(&self, case: &'a Case, number: usize) -> Result<Option<(Side<'a>, Work)>, CommError> {
        let Some(side) = case.side(self.endpoint) else { return Ok(None) };
        let work = side.start(&side.prepare()?, &stamp(number))?;
        Ok(Some((side, work)))
    }
}

/// How the rank at fault goes on.
enum Next {
    Goes,
    Skips,
    Ends,
}

/// Calls are numbered by their place in the program.
fn stamp(number: usize) -> Stamp {
    Stamp::new(number as u64, format!("call {number}"))
}
