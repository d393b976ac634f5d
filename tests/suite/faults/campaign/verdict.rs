//! Whether every rank of a random program was told the truth.

use reshard::comm::{CommError, Departure, Difference};

use super::super::world::Ended;
use super::schedule::{Fault, Schedule};
use super::{NEAR, SLACK, error_of};

/// Fails unless every rank that did not end well has an error that names the rank at fault and what it
/// did; how many have one.
pub(super) fn judge(seed: u64, schedule: &Schedule, ends: &[Ended<()>]) -> usize {
    let Schedule { odd, fault, at, .. } = schedule;
    let scene = format!("seed {seed}: rank {odd} {fault:?} at call {at}");
    let mut errors_len = 0;
    for (rank, end) in ends.iter().enumerate() {
        let panics =
            matches!(fault, Fault::PanicsBefore | Fault::PanicsDuring | Fault::PanicsAfter);
        assert!(end.is_some() || (rank == *odd && panics), "rank {rank} has failed; {scene}");
        let Some(error) = error_of(end) else { continue };
        errors_len += 1;
        let cause = error.root_cause();
        assert!(fits(schedule, cause), "{scene}: {error}\n{}", error.recorder().unwrap());
    }
    errors_len
}

fn fits(schedule: &Schedule, cause: &CommError) -> bool {
    let Schedule { odd, fault, steps, at, .. } = schedule;
    let blames = cause.cause_rank() == Some(*odd);
    match (fault, cause) {
        (
            Fault::PanicsBefore | Fault::PanicsDuring | Fault::PanicsAfter,
            CommError::Departed { departure, .. },
        ) => blames && *departure == Departure::Panicked { cause: "out of marbles".into() },
        // It has no further call of that group, or its other calls are as they should be.
        (
            Fault::Returns
            | Fault::Skips
            | Fault::SwapsWithNext
            | Fault::OtherDType
            | Fault::OtherCounts,
            CommError::Departed { departure, .. },
        ) => blames && *departure == Departure::Returned,
        (
            Fault::Skips | Fault::SwapsWithNext | Fault::OtherDType | Fault::OtherCounts,
            CommError::Mismatch { sides, difference, .. },
        ) => {
            let movement = sides[0].call.movement.as_ref();
            let group_len = movement.map_or(0, |it| it.group.len());
            // Two calls that differ say nothing of which is wrong: those of a pair, and counts between a
            // root and one member, if the others have nothing to do with them.
            let rooted = movement.is_some_and(|it| it.operation.root().is_some());
            let counts = matches!(difference, Difference::Count { .. });
            let untold = group_len == 2 || (rooted && counts);
            blames || (untold && sides.iter().any(|side| side.rank == *odd))
        }
        (Fault::Skips | Fault::SwapsWithNext, CommError::Deadlock { blocked, .. }) => {
            blocked.iter().any(|side| side.rank == *odd)
        }
        (Fault::Stalls, CommError::Timeout { waited, .. }) => blames && *waited < NEAR + SLACK,
        (Fault::NeverReads, CommError::Unread { missing, waited, .. }) => {
            **missing == [*odd] && *waited < NEAR + SLACK
        }
        // Whoever waits for a lender that waits for the rank at fault may lose its patience first.
        (Fault::NeverReads, CommError::Timeout { missing, .. }) => {
            steps[*at].lends() && !missing.is_empty()
        }
        _ => false,
    }
}
