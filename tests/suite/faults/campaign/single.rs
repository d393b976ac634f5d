//! Every operation, every rank, every fault, one at a time.

use reshard::comm::{CommError, Communicator, Departure, Difference, Operation, Stamp};
use reshard::mem::{Buffer, BufferMut};
use reshard::{DType, Group};

use super::super::world::{Ended, OPERATIONS, call, run};
use super::{
    Engine, FAR, Gate, NEAR, SLACK, error_of, panic_now, side_by_side, the_next_world_works,
};

const RANKS: usize = 3;

/// What one rank does wrong. Otherwise ranks make two calls, the operation and then an all-gather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    PanicsBefore,
    /// Between making the call and waiting for it.
    PanicsDuring,
    PanicsAfter,
    ReturnsEarly,
    Misses,
    Swaps,
    OtherDType,
    OtherCount,
    ComesLate,
}

const AT_ONCE: [Fault; 8] = [
    Fault::PanicsBefore,
    Fault::PanicsDuring,
    Fault::PanicsAfter,
    Fault::ReturnsEarly,
    Fault::Misses,
    Fault::Swaps,
    Fault::OtherDType,
    Fault::OtherCount,
];

/// A rank that does something wrong in an operation.
#[derive(Clone, Copy, Debug)]
struct Scene {
    operation: Operation,
    odd: usize,
    fault: Fault,
    /// Whether ranks with even numbers make their calls on borrowed memory.
    lends: bool,
}

fn scenes(faults: &[Fault]) -> Vec<Scene> {
    let mut scenes = Vec::new();
    for operation in OPERATIONS {
        for &fault in faults {
            if (operation, fault) == (Operation::Barrier, Fault::OtherCount) {
                continue;
            }
            for odd in 0..RANKS {
                for lends in [false, true] {
                    scenes.push(Scene { operation, odd, fault, lends });
                }
            }
        }
    }
    scenes
}

/// The sequence number and what is called under it.
type Numbered = (u64, Operation);

impl Scene {
    fn play(&self, engine: Engine) {
        let timeout = if self.fault == Fault::ComesLate { NEAR } else { FAR };
        let gate = Gate::new();
        let ends = run(engine(RANKS, timeout), |endpoint| self.rank(endpoint, &gate));
        self.judge(&ends);
        the_next_world_works(engine, RANKS);
    }

    /// What one rank does.
    fn rank(&self, endpoint: &dyn Communicator, gate: &Gate) -> Result<(), CommError> {
        let calls = [(0, self.operation), (1, Operation::AllGather)];
        if endpoint.rank() != self.odd {
            let _passing = gate.pass();
            return calls.into_iter().try_for_each(|it| self.make(endpoint, it, (DType::U8, 1)));
        }
        match self.fault {
            Fault::PanicsBefore => panic_now(),
            Fault::PanicsDuring => {
                let _work = self.start(endpoint, calls[0], (DType::U8, 1))?;
                panic_now()
            }
            Fault::PanicsAfter => {
                self.make(endpoint, calls[0], (DType::U8, 1))?;
                panic_now()
            }
            Fault::ReturnsEarly => Ok(()),
            Fault::Misses => self.make(endpoint, calls[1], (DType::U8, 1)),
            Fault::Swaps => {
                self.make(endpoint, calls[1], (DType::U8, 1))?;
                self.make(endpoint, calls[0], (DType::U8, 1))
            }
            Fault::OtherDType => self.make(endpoint, calls[0], (DType::I8, 1)),
            Fault::OtherCount => self.make(endpoint, calls[0], (DType::U8, 2)),
            Fault::ComesLate => {
                gate.wait_for(RANKS - 1);
                self.make(endpoint, calls[0], (DType::U8, 1))
            }
        }
    }

    fn start(
        &self,
        endpoint: &dyn Communicator,
        (sequence, operation): Numbered,
        (dtype, len): (DType, usize),
    ) -> Result<reshard::comm::Work, CommError> {
        let call = call(operation, &Group::world(RANKS), dtype, endpoint.rank(), len);
        let call = call.stamp(Stamp::new(sequence, operation.name()));
        let source = Buffer::from_elements(&vec![1u8; call.send_bytes()]);
        let target = BufferMut::zeroed(call.recv_bytes());
        endpoint.submit(call, source, target)
    }

    /// Makes a call, in the way of this scene, and waits for it; the target is 1 after it is done, and as
    /// it was after it failed.
    fn make(
        &self,
        endpoint: &dyn Communicator,
        (sequence, operation): Numbered,
        (dtype, len): (DType, usize),
    ) -> Result<(), CommError> {
        let all_are = |target: &[u8], value: u8| {
            assert!(target.iter().all(|&byte| byte == value), "{target:?} in {self:?}");
        };
        if !self.lends || endpoint.rank() % 2 == 1 {
            let target = self.start(endpoint, (sequence, operation), (dtype, len))?.wait()?;
            all_are(target.as_bytes(), 1);
            return Ok(());
        }
        let call = call(operation, &Group::world(RANKS), dtype, endpoint.rank(), len);
        let (source, mut target) = (vec![1; call.send_bytes()], vec![7; call.recv_bytes()]);
        let call = endpoint.prepare(call, source.len(), target.len())?;
        let stamp = Stamp::new(sequence, operation.name());
        let done = endpoint.perform(&call, &stamp, &source, &mut target);
        all_are(&source, 1);
        all_are(&target, if done.is_ok() { 1 } else { 7 });
        done
    }

    fn judge(&self, ends: &[Ended<()>]) {
        for (rank, end) in ends.iter().enumerate() {
            let Some(error) = error_of(end) else {
                assert_eq!(rank, self.odd, "{end:?} in {self:?}");
                continue;
            };
            assert_eq!(error.cause_rank(), Some(self.odd), "{error} in {self:?}");
            let text = error.to_string();
            assert!(text.contains(&format!("rank {}", self.odd)), "{text} in {self:?}");
            self.judge_cause(error.root_cause());
        }
        let odd_end = &ends[self.odd];
        match self.fault {
            Fault::PanicsBefore | Fault::PanicsDuring | Fault::PanicsAfter => {
                assert!(odd_end.is_none(), "{odd_end:?} in {self:?}");
            }
            Fault::ReturnsEarly => assert!(matches!(odd_end, Some(Ok(()))), "{self:?}"),
            // A missing all-gather before another one shows when there is one too few.
            Fault::Misses | Fault::Swaps | Fault::OtherDType | Fault::OtherCount => {
                assert!(matches!(odd_end, Some(Err(_))), "{odd_end:?} in {self:?}");
            }
            Fault::ComesLate => assert!(matches!(odd_end, Some(Err(_))), "{self:?}"),
        }
    }

    fn judge_cause(&self, cause: &CommError) {
        let fits = match (self.fault, cause) {
            (
                Fault::PanicsBefore | Fault::PanicsDuring | Fault::PanicsAfter,
                CommError::Departed { departure, .. },
            ) => *departure == Departure::Panicked { cause: "out of marbles".into() },
            (Fault::ReturnsEarly, CommError::Departed { departure, .. }) => {
                *departure == Departure::Returned
            }
            (Fault::Misses | Fault::Swaps, CommError::Mismatch { difference, .. }) => {
                *difference == Difference::Sequence
            }
            (Fault::OtherDType, CommError::Mismatch { difference, .. }) => {
                *difference == Difference::DType
            }
            (Fault::OtherCount, CommError::Mismatch { difference, .. }) => {
                matches!(difference, Difference::Count { .. })
            }
            (Fault::ComesLate, CommError::Timeout { waited, missing, .. }) => {
                *waited < NEAR + SLACK && missing.len() == 1
            }
            _ => false,
        };
        assert!(fits, "{cause} in {self:?}");
    }
}

pub(super) fn check(engine: Engine) {
    for scene in scenes(&AT_ONCE) {
        scene.play(engine);
    }
}

pub(super) fn check_late(engine: Engine) {
    side_by_side(&scenes(&[Fault::ComesLate]), |scene| scene.play(engine));
}
