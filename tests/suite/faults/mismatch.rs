//! Ranks that meet with calls that do not fit each other.

use reshard::comm::threads::Endpoint;
use reshard::comm::{Call, CommError, Communicator, Difference, Operation, Side};
use reshard::{DType, Group, Reduction};

use super::world::{Ended, FAR, OPERATIONS, call, errors, perform, world};

const ODD: usize = 2;

/// Runs `usual` on ranks 0 and 1 and `odd` on rank 2; the difference that all three report, and the
/// sides, of which the second is checked to be rank 2's where only heads differ.
fn differing(
    usual: impl Fn(&Endpoint) -> Call + Sync,
    odd: impl Fn(&Endpoint) -> Call + Sync,
) -> (Difference, [Side; 2]) {
    let ends: Vec<Ended<()>> = world(3, FAR, |endpoint| {
        let made = if endpoint.rank() == ODD { odd(endpoint) } else { usual(endpoint) };
        let stamp = made.stamp.clone();
        let source = reshard::mem::Buffer::from_elements(&vec![1u8; made.send_bytes()]);
        let target = reshard::mem::BufferMut::zeroed(made.recv_bytes());
        let error = endpoint.submit(made, source, target)?.wait().unwrap_err();
        // The world is closed, and says why.
        let later = perform(endpoint, Operation::Barrier, &Group::world(3)).unwrap_err();
        assert!(matches!(&later, CommError::Poisoned { .. }), "{later}");
        assert!(matches!(later.root_cause(), CommError::Mismatch { .. }), "{later}");
        assert_eq!(error.recorder().unwrap().calls(endpoint.rank()).last().unwrap().stamp, stamp);
        Err(error)
    });
    let mut reports = errors(&ends).into_iter().map(|(_, error)| match error {
        CommError::Mismatch { difference, sides, .. } => {
            for side in &**sides {
                assert!(error.to_string().contains(&side.to_string()), "{error}");
            }
            (*difference, *sides.clone())
        }
        other => panic!("{other}"),
    });
    let first = reports.next().unwrap();
    assert_eq!(reports.by_ref().filter(|report| *report == first).count(), 2, "{ends:?}");
    first
}

/// Rank 2 makes another call than the others: they differ in `expected`, and rank 2 is the odd one.
fn odd_one(
    expected: Difference,
    usual: impl Fn(&Endpoint) -> Call + Sync,
    odd: impl Fn(&Endpoint) -> Call + Sync,
) {
    let (difference, sides) = differing(usual, odd);
    assert_eq!(difference, expected);
    assert_ne!(sides[0].rank, ODD);
    assert_eq!(sides[1].rank, ODD);
}

#[test]
fn another_operation() {
    let group = Group::world(3);
    for usual in OPERATIONS {
        for odd in OPERATIONS.into_iter().filter(|&odd| odd != usual) {
            odd_one(
                Difference::Operation,
                |it| call(usual, &group, DType::U8, it.rank(), 1),
                |it| call(odd, &group, DType::U8, it.rank(), 1),
            );
        }
    }
}

#[test]
fn another_root_reduction_or_divisor() {
    let group = Group::world(3);
    let (sum, max) = (Reduction::Sum, Reduction::Max);
    let pairs = [
        (Operation::Broadcast { root: 0 }, Operation::Broadcast { root: 2 }),
        (Operation::Scatter { root: 0 }, Operation::Scatter { root: 1 }),
        (Operation::Gather { root: 0 }, Operation::Gather { root: 2 }),
        (
            Operation::Reduce { root: 0, reduction: sum, divisor: 1 },
            Operation::Reduce { root: 1, reduction: sum, divisor: 1 },
        ),
        (
            Operation::AllReduce { reduction: sum, divisor: 1 },
            Operation::AllReduce { reduction: max, divisor: 1 },
        ),
        (
            Operation::ReduceScatter { reduction: sum, divisor: 1 },
            Operation::ReduceScatter { reduction: sum, divisor: 3 },
        ),
    ];
    for (usual, odd) in pairs {
        odd_one(
            Difference::Operation,
            |it| call(usual, &group, DType::F32, it.rank(), 1),
            |it| call(odd, &group, DType::F32, it.rank(), 1),
        );
    }
}

#[test]
fn another_element_type() {
    let group = Group::world(3);
    for operation in OPERATIONS {
        odd_one(
            Difference::DType,
            |it| call(operation, &group, DType::U8, it.rank(), 1),
            // As many bytes, but other elements.
            |it| call(operation, &group, DType::I8, it.rank(), 1),
        );
    }
}

#[test]
fn another_count() {
    let group = Group::world(3);
    for operation in OPERATIONS.into_iter().filter(|&it| it != Operation::Barrier) {
        let (difference, sides) = differing(
            |it| call(operation, &group, DType::U8, it.rank(), 1),
            |it| call(operation, &group, DType::U8, it.rank(), 2),
        );
        let Difference::Count { sender, sent, receiver, expected } = difference else {
            panic!("{difference}")
        };
        assert!(sender == ODD || receiver == ODD, "{operation}: {difference}");
        let from = |rank: usize| if rank == ODD { 2 } else { 1 };
        assert_eq!((sent, expected), (from(sender), from(receiver)), "{operation}: {difference}");
        assert_eq!(sides[1].rank, ODD, "{operation}: {difference}");
        assert!([sender, receiver].contains(&sides[0].rank));
    }
}

/// A part that one rank sends and the other does not expect, or the other way round.
#[test]
fn a_part_too_many() {
    let group = Group::world(3);
    let exchange = || Call::exchange(&group, DType::U8);
    let silent = |_: &Endpoint| exchange();
    let (difference, _) = differing(silent, |_| exchange().send_run(0, 4));
    assert_eq!(difference, Difference::Count { sender: ODD, sent: 4, receiver: 0, expected: 0 });
    let (difference, _) = differing(silent, |_| exchange().recv_run(1, 4));
    assert_eq!(difference, Difference::Count { sender: 1, sent: 0, receiver: ODD, expected: 4 });
}

#[test]
fn another_stamp() {
    let group = Group::world(3);
    for operation in OPERATIONS {
        let usual = |it: &Endpoint| call(operation, &group, DType::U8, it.rank(), 1);
        odd_one(Difference::Sequence, usual, |it| {
            let mut call = usual(it);
            call.stamp.sequence = 7;
            call
        });
        odd_one(Difference::Plan, usual, |it| {
            let mut call = usual(it);
            call.stamp.plan = 7;
            call
        });
        odd_one(Difference::Step, usual, |it| {
            let mut call = usual(it);
            call.stamp.step = 7;
            call
        });
    }
}

/// Rank 2 makes the same two calls as the others in the other order.
#[test]
fn another_order() {
    let group = Group::world(3);
    for operation in OPERATIONS {
        let ends = world(3, FAR, |endpoint| {
            let numbers = [endpoint.next_sequence(&group), endpoint.next_sequence(&group)];
            let numbers = match endpoint.rank() {
                ODD => [numbers[1], numbers[0]],
                _ => numbers,
            };
            for sequence in numbers {
                let mut call = call(operation, &group, DType::U8, endpoint.rank(), 1);
                call.stamp.sequence = sequence;
                let source = reshard::mem::Buffer::from_elements(&vec![1u8; call.send_bytes()]);
                let target = reshard::mem::BufferMut::zeroed(call.recv_bytes());
                endpoint.submit(call, source, target)?.wait()?;
            }
            Ok(())
        });
        let errors = errors(&ends);
        assert_eq!(errors.len(), 3);
        for (_, error) in errors {
            assert!(
                matches!(error, CommError::Mismatch { difference: Difference::Sequence, .. }),
                "{error}"
            );
            assert_eq!(error.cause_rank(), Some(ODD));
        }
    }
}

/// Ranks that the mismatch does not concern wait elsewhere; they are told too.
#[test]
fn a_mismatch_ends_all_waits_of_the_world() {
    let (pair, rest) = (Group::world(2), Group::new([2, 3]).unwrap());
    let ends = world(4, FAR, |endpoint| match endpoint.rank() {
        0 => perform(endpoint, Operation::AllGather, &pair),
        1 => perform(endpoint, Operation::AllToAll, &pair),
        2 => perform(endpoint, Operation::Barrier, &Group::world(3)),
        _ => perform(endpoint, Operation::Barrier, &rest),
    });
    let errors = errors(&ends);
    assert_eq!(errors.len(), 4);
    for (_, error) in errors {
        assert!(matches!(error.root_cause(), CommError::Mismatch { .. }), "{error}");
    }
    // Another world is not affected.
    let group = Group::world(4);
    for end in world(4, FAR, |endpoint| perform(endpoint, Operation::AllGather, &group)) {
        assert_eq!(end.unwrap().unwrap().as_bytes(), [1; 4]);
    }
}
