//! Ranks that leave, fail, panic or never call.

use std::sync::mpsc::channel;
use std::sync::{Mutex, OnceLock};

use reshard::comm::{CommError, Communicator, Departure, Operation};
use reshard::{DType, Group};

use super::world::{Ended, FAR, NEAR, OPERATIONS, call, errors, perform, submit, world};

const GONE: usize = 1;

/// Checks that ranks 0 and 2 got errors that rank 1's departure caused.
fn departed<T: std::fmt::Debug>(ends: &[Ended<T>], expected: &Departure) {
    for rank in [0, 2] {
        let Some(Err(error)) = &ends[rank] else { panic!("rank {rank}: {:?}", ends[rank]) };
        assert_eq!(error.cause_rank(), Some(GONE), "{error}");
        match error.root_cause() {
            CommError::Departed { departure, .. } => assert_eq!(departure, expected),
            other => panic!("{other}"),
        }
        assert!(error.to_string().contains(&format!("rank 1 {expected}")), "{error}");
    }
}

#[test]
fn a_rank_returns_early() {
    let group = Group::world(3);
    for operation in OPERATIONS {
        let ends = world(3, FAR, |endpoint| match endpoint.rank() {
            GONE => Ok(()),
            _ => perform(endpoint, operation, &group).map(drop),
        });
        departed(&ends, &Departure::Returned);
        assert!(matches!(ends[GONE], Some(Ok(()))));
    }
}

#[test]
fn a_rank_panics() {
    let group = Group::world(3);
    for operation in OPERATIONS {
        let ends = world(3, FAR, |endpoint| match endpoint.rank() {
            GONE => std::panic::resume_unwind(Box::new("out of marbles")),
            _ => perform(endpoint, operation, &group),
        });
        departed(&ends, &Departure::Panicked { cause: "out of marbles".into() });
        assert!(ends[GONE].is_none());
    }
}

/// Rank 1 fails on a call of its own, of which its peers know nothing.
#[test]
fn a_rank_fails() {
    let group = Group::world(3);
    for operation in OPERATIONS {
        let ends = world(3, FAR, |endpoint| match endpoint.rank() {
            GONE => perform(endpoint, Operation::Broadcast { root: 9 }, &group),
            _ => perform(endpoint, operation, &group),
        });
        let Some(Err(own)) = &ends[GONE] else { panic!("{:?}", ends[GONE]) };
        assert!(matches!(own, CommError::Invalid { rank: GONE, .. }), "{own}");
        departed(&ends, &Departure::failed(own));
    }
}

/// A failure ends waits that the failed rank has no part in.
#[test]
fn a_failure_ends_all_waits_of_the_world() {
    let (trio, pair) = (Group::new([3, 0, 2]).unwrap(), Group::new([1, 3]).unwrap());
    let ends = world(4, FAR, |endpoint| match endpoint.rank() {
        GONE => std::panic::resume_unwind(Box::new("out of marbles".to_owned())),
        3 => perform(endpoint, Operation::Barrier, &pair),
        _ => perform(endpoint, Operation::Barrier, &trio),
    });
    departed(&ends, &Departure::Panicked { cause: "out of marbles".into() });
}

/// What a rank gave before it returned still reaches its peers.
#[test]
fn a_return_after_the_call_harms_nobody() {
    let group = Group::world(3);
    for operation in OPERATIONS {
        let ends = world(3, FAR, |endpoint| {
            let call = call(operation, &group, DType::U8, endpoint.rank(), 1);
            let work = submit(endpoint, call, "given")?;
            match endpoint.rank() {
                GONE => Ok(Vec::new()),
                _ => work.wait().map(|target| target.as_bytes().to_vec()),
            }
        });
        for (rank, end) in ends.into_iter().enumerate() {
            let target = end.unwrap().unwrap();
            assert!(target.iter().all(|&byte| byte == 1), "{operation} on rank {rank}: {target:?}");
        }
    }
}

/// An endpoint dropped without a word counts as returned.
#[test]
fn a_dropped_endpoint_has_left() {
    let mut endpoints = reshard::comm::threads::connect(2, FAR);
    drop(endpoints.pop());
    let error = perform(&endpoints[0], Operation::Barrier, &Group::world(2)).unwrap_err();
    assert!(
        matches!(error, CommError::Departed { rank: 1, departure: Departure::Returned, .. }),
        "{error}"
    );
}

/// Rank 1 does not call until the others have given up at the deadline.
#[test]
fn a_rank_never_calls() {
    let group = Group::world(3);
    for operation in OPERATIONS {
        let (told, ended) = channel();
        let ended = Mutex::new(ended);
        let ends = world(3, NEAR, |endpoint| {
            if endpoint.rank() == GONE {
                endpoint.note(&reshard::comm::Stamp::new(5, "busy elsewhere"));
                let ended = ended.lock().unwrap();
                ended.recv().unwrap();
                ended.recv().unwrap();
                return perform(endpoint, operation, &group);
            }
            let end = perform(endpoint, operation, &group);
            told.send(()).unwrap();
            end
        });
        let errors = errors(&ends);
        assert_eq!(errors.len(), 3);
        for (rank, error) in errors {
            let CommError::Timeout { missing, waited, waiter, .. } = error.root_cause() else {
                panic!("{error}")
            };
            assert!(*waited >= NEAR.timeout && waiter.rank != GONE);
            let gone = missing.iter().find(|it| it.rank == GONE).unwrap();
            assert_eq!(&*gone.last.as_ref().unwrap().stamp.what, "busy elsewhere");
            assert!(rank != GONE || matches!(error, CommError::Poisoned { .. }), "{error}");
            assert!(error.to_string().contains("busy elsewhere"), "{error}");
        }
    }
}

/// Looking at a call from time to time does not end it.
#[test]
fn a_wait_with_a_time_limit_leaves_the_call_on_its_way() {
    let group = Group::world(2);
    let looked = OnceLock::new();
    let ends = world(2, FAR, |endpoint| {
        let made = call(Operation::AllGather, &group, DType::U8, endpoint.rank(), 1);
        if endpoint.rank() == 1 {
            looked.wait();
            return submit(endpoint, made, "late")?.wait().map(drop);
        }
        let mut work = submit(endpoint, made, "early")?;
        assert!(!work.is_done());
        assert!(work.wait_timeout(std::time::Duration::from_millis(20))?.is_none());
        looked.set(()).unwrap();
        let target = work.wait_timeout(FAR.timeout)?.unwrap();
        assert_eq!(target.as_bytes(), [1, 1]);
        assert!(work.is_done());
        let twice = work.wait_timeout(FAR.timeout).unwrap_err();
        assert!(matches!(twice, CommError::Invalid { .. }), "{twice}");
        Ok(())
    });
    assert!(ends.iter().all(|end| matches!(end, Some(Ok(())))), "{ends:?}");
}
