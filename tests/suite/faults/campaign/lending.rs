//! Ranks that lend their memory to ranks that never read it.

use reshard::comm::{CommError, Communicator, Operation, Stamp};
use reshard::{DType, Group, Reduction};

use super::super::world::{OPERATIONS, call, run, submit};
use super::{Engine, NEAR, SLACK, error_of, side_by_side, the_next_world_works};

const RANKS: usize = 3;

/// What becomes of the call of the rank that never reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unread {
    /// It holds the work until its peers have given up.
    Held,
    Leaked,
}

#[derive(Clone, Copy, Debug)]
struct Scene {
    operation: Operation,
    odd: usize,
    len: usize,
    unread: Unread,
}

impl Scene {
    fn play(&self, engine: Engine) {
        let gate = super::Gate::new();
        let ends = run(engine(RANKS, NEAR), |endpoint| {
            if endpoint.rank() == self.odd {
                return self.never_read(endpoint, &gate);
            }
            let _passing = gate.pass();
            self.lend(endpoint)
        });
        let mut told = 0;
        for (rank, end) in ends.iter().enumerate().filter(|&(rank, _)| rank != self.odd) {
            let error = error_of(end).unwrap_or_else(|| panic!("{end:?} of {rank} in {self:?}"));
            assert_eq!(error.cause_rank(), Some(self.odd), "{error} in {self:?}");
            let CommError::Unread { lender, waited, missing, .. } = error.root_cause() else {
                panic!("{error} in {self:?}")
            };
            assert_eq!(**missing, [self.odd], "{error} in {self:?}");
            assert!(lender.rank != self.odd && *waited >= NEAR && *waited < NEAR + SLACK);
            assert!(error.to_string().contains(&format!("on rank {}", self.odd)), "{error}");
            told += usize::from(matches!(error, CommError::Unread { .. }));
        }
        assert!(told >= 1, "nobody was told first in {self:?}");
        let end = &ends[self.odd];
        assert!(matches!(end, Some(Ok(()))), "{end:?} in {self:?}");
        the_next_world_works(engine, RANKS);
    }

    fn lend(&self, endpoint: &dyn Communicator) -> Result<(), CommError> {
        let group = Group::world(RANKS);
        let call = call(self.operation, &group, DType::U8, endpoint.rank(), self.len);
        let (source, mut target) = (vec![1; call.send_bytes()], vec![7; call.recv_bytes()]);
        let call = endpoint.prepare(call, source.len(), target.len())?;
        let stamp = Stamp::new(endpoint.next_sequence(&group), "lent");
        let done = endpoint.perform(&call, &stamp, &source, &mut target);
        assert!(source.iter().all(|&byte| byte == 1));
        // This rank's own part was done before it waited for the others.
        assert!(target.iter().all(|&byte| byte == 1), "{self:?}");
        // A lender that another one's deadline sets free hears of it in its next call.
        done?;
        submit(endpoint, reshard::comm::Call::barrier(&group), "next")?.wait().map(drop)
    }

    fn never_read(&self, endpoint: &dyn Communicator, gate: &super::Gate) -> Result<(), CommError> {
        let group = Group::world(RANKS);
        let call = call(self.operation, &group, DType::U8, endpoint.rank(), self.len);
        let reduced_together = matches!(call.operation, Operation::AllReduce { .. });
        let work = submit(endpoint, call, "never read")?;
        if self.unread == Unread::Leaked {
            std::mem::forget(work);
            gate.wait_for(RANKS - 1);
            return Ok(());
        }
        gate.wait_for(RANKS - 1);
        // What was lent is not there any more; what peers have done for all is.
        match work.wait() {
            Ok(target) => {
                assert!(reduced_together && self.len > 1, "{self:?}");
                assert!(target.as_bytes().iter().all(|&byte| byte == 1));
            }
            Err(error) => {
                assert_eq!(error.cause_rank(), Some(self.odd), "{error} in {self:?}");
                assert!(matches!(error, CommError::Poisoned { .. }), "{error} in {self:?}");
            }
        }
        Ok(())
    }
}

pub(super) fn check(engine: Engine) {
    let mut scenes = Vec::new();
    let long = Operation::AllReduce { reduction: Reduction::Max, divisor: 1 };
    let operations = OPERATIONS.into_iter().map(|it| (it, 1)).chain([(long, 400_000)]);
    for (operation, len) in operations {
        for odd in 0..RANKS {
            for unread in [Unread::Held, Unread::Leaked] {
                scenes.push(Scene { operation, odd, len, unread });
            }
        }
    }
    side_by_side(&scenes, |scene| scene.play(engine));
}
