//! Ranks that wait for each other in circles.

use reshard::comm::threads::Endpoint;
use reshard::comm::{CommError, Communicator, Operation};
use reshard::{DType, Group};

use super::world::{FAR, call, errors, perform, submit, world};

fn group(ranks: &[usize]) -> Group {
    Group::new(ranks.iter().copied()).unwrap()
}

fn barrier(endpoint: &Endpoint, ranks: &[usize]) -> Result<(), CommError> {
    perform(endpoint, Operation::Barrier, &group(ranks)).map(drop)
}

/// Checks that every rank below `ranks_len` got the deadlock of `blocked_len` ranks.
fn deadlocked(ends: &[super::world::Ended<()>], ranks_len: usize, blocked_len: usize) {
    let errors = errors(ends);
    assert_eq!(errors.len(), ranks_len, "{ends:?}");
    for (_, error) in errors {
        let CommError::Deadlock { blocked, .. } = error.root_cause() else { panic!("{error}") };
        assert_eq!(blocked.len(), blocked_len, "{error}");
        for (side, next) in blocked.iter().zip(blocked.iter().cycle().skip(1)) {
            let group = &side.call.movement.as_ref().unwrap().group;
            assert!(group.position(side.rank).is_some() && group.position(next.rank).is_some());
            assert!(error.to_string().contains(&side.to_string()), "{error}");
        }
    }
}

/// Each rank of a ring waits for the next with another group first.
#[test]
fn rings_of_any_length() {
    for len in 2..=5 {
        let ends = world(len, FAR, |endpoint| {
            let (own, next) = (endpoint.rank(), (endpoint.rank() + 1) % len);
            let before = (endpoint.rank() + len - 1) % len;
            barrier(endpoint, &[own, next])?;
            barrier(endpoint, &[before, own])
        });
        deadlocked(&ends, len, len);
    }
}

/// The same ranks in another order are another group.
#[test]
fn one_group_in_two_orders() {
    let ends = world(2, FAR, |endpoint| match endpoint.rank() {
        0 => barrier(endpoint, &[0, 1]),
        _ => barrier(endpoint, &[1, 0]),
    });
    deadlocked(&ends, 2, 2);
}

/// A rank outside the circle that waits for it is told too.
#[test]
fn a_bystander_is_told() {
    let ends = world(3, FAR, |endpoint| match endpoint.rank() {
        0 => barrier(endpoint, &[0, 1]),
        1 => barrier(endpoint, &[1, 0]),
        _ => barrier(endpoint, &[0, 1, 2]),
    });
    deadlocked(&ends, 3, 2);
}

/// Calls made in different orders are no deadlock as long as nobody blocks in between.
#[test]
fn crossing_calls_made_before_waiting_are_fine() {
    let ends = world(3, FAR, |endpoint| {
        for _ in 0..50 {
            let (own, next) = (endpoint.rank(), (endpoint.rank() + 1) % 3);
            let before = (endpoint.rank() + 2) % 3;
            let make = |ranks: [usize; 2]| {
                let call = call(Operation::AllGather, &group(&ranks), DType::U8, own, 1);
                submit(endpoint, call, "crossing")
            };
            let works = [make([own, next])?, make([before, own])?];
            for work in works {
                assert_eq!(work.wait()?.as_bytes(), [1, 1]);
            }
        }
        Ok(())
    });
    assert!(ends.iter().all(|end| matches!(end, Some(Ok(())))), "{ends:?}");
}

/// A chain of ranks that wait for each other ends well once its head moves on.
#[test]
fn a_chain_is_no_circle() {
    let ends = world(4, FAR, |endpoint| {
        let own = endpoint.rank();
        for _ in 0..50 {
            if own < 3 {
                barrier(endpoint, &[own, own + 1])?;
            }
            if own > 0 {
                barrier(endpoint, &[own - 1, own])?;
            }
        }
        Ok(())
    });
    assert!(ends.iter().all(|end| matches!(end, Some(Ok(())))), "{ends:?}");
}
