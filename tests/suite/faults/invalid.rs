//! A rank's own calls that cannot be: refused before a peer hears of them.

use reshard::comm::threads::connect;
use reshard::comm::{Call, CallFault, CommError, Communicator, Departure, Operation};
use reshard::mem::{Buffer, BufferMut, MemError, Window};
use reshard::{DType, Group, Reduction};

use super::world::{FAR, perform};

/// What rank 0 of 2 hears when it makes the call with 16 bytes to give and 16 to fill.
fn fault(call: Call) -> CallFault {
    let endpoints = connect(2, FAR);
    let target = BufferMut::zeroed(16);
    let refused = endpoints[0].submit(call, Buffer::from_elements(&[0u8; 16]), target);
    let Err(CommError::Invalid { rank: 0, fault, .. }) = refused else { panic!("{refused:?}") };
    // Nobody else is concerned: the next call of the same ranks works.
    std::thread::scope(|scope| {
        for endpoint in &endpoints {
            scope.spawn(|| perform(endpoint, Operation::AllGather, &Group::world(2)).unwrap());
        }
    });
    *fault
}

fn pair() -> Group {
    Group::world(2)
}

#[test]
fn members_and_roots() {
    let other = Group::new([1]).unwrap();
    assert_eq!(fault(Call::barrier(&other)), CallFault::NotAMember);
    let beyond = CallFault::UnknownRank { rank: 2, world_len: 2 };
    assert_eq!(fault(Call::barrier(&Group::world(3))), beyond);
    let root = CallFault::Root { root: 2, group_len: 2 };
    assert_eq!(fault(Call::broadcast(&pair(), DType::U8, 2).recv_run(2, 1)), root);
}

#[test]
fn parts_for_the_wrong_peers() {
    let all_gather = || Call::all_gather(&pair(), DType::U8);
    let exchange = || Call::exchange(&pair(), DType::U8);
    let calls = [
        all_gather().send_run(1, 1).recv_counts([1, 1]),
        all_gather().send_run(0, 1).recv_counts([1]),
        all_gather().send_run(0, 1).recv_counts([1, 1, 1]),
        all_gather().recv_counts([0, 1]),
        Call::all_to_all(&pair(), DType::U8).send_counts([1]).recv_counts([1, 1]),
        Call::all_reduce(&pair(), DType::U8, Reduction::Sum).send_run(0, 1),
        Call::broadcast(&pair(), DType::U8, 0).recv_run(0, 0),
        Call::broadcast(&pair(), DType::U8, 1).send_run(1, 1).recv_run(1, 1),
        Call::gather(&pair(), DType::U8, 1).send_run(0, 1),
        Call::gather(&pair(), DType::U8, 0).send_run(0, 1),
        Call::barrier(&pair()).send_run(0, 0),
        exchange().send_run(1, 1).send_run(1, 1),
        exchange().recv_run(2, 1),
    ];
    for call in calls {
        let text = format!("{call:?}");
        assert!(matches!(fault(call), CallFault::Peers { .. }), "{text}");
    }
}

#[test]
fn windows_outside_their_buffers() {
    let exchange = || Call::exchange(&pair(), DType::F32);
    let calls = [
        (exchange().send_run(1, 5), 20),
        (exchange().recv_run(1, 5), 20),
        (exchange().send(1, [Window::new(13, [], [])]), 17),
        (exchange().recv(1, [Window::new(0, [2, 2], [10, 4])]), 18),
        (exchange().send(1, [Window::new(0, [usize::MAX], [8])]), usize::MAX),
    ];
    for (call, end_bytes) in calls {
        let CallFault::Window { peer: 1, error, .. } = fault(call) else { panic!() };
        assert_eq!(error, MemError::OutOfBounds { end_bytes, len_bytes: 16 });
    }
}

#[test]
fn recv_windows_that_overlap() {
    let exchange = || Call::exchange(&pair(), DType::U8);
    let between = exchange().recv(0, [Window::run(0, 4, 1)]).recv(1, [Window::run(3, 4, 1)]);
    assert_eq!(fault(between), CallFault::Overlap { first: 0, second: 1 });
    let within = exchange().recv(1, [Window::run(0, 4, 1), Window::new(2, [3], [2])]);
    assert_eq!(fault(within), CallFault::Overlap { first: 1, second: 1 });
    let itself = exchange().recv(1, [Window::new(0, [3], [0])]);
    assert_eq!(fault(itself), CallFault::Overlap { first: 1, second: 1 });
}

#[test]
fn reductions_that_cannot_be() {
    let call = |dtype, reduction| {
        Call::all_reduce(&pair(), dtype, reduction).send_run(0, 1).recv_run(0, 1)
    };
    for (dtype, reduction) in [
        (DType::Bool, Reduction::Sum),
        (DType::Bool, Reduction::Product),
        (DType::I32, Reduction::Avg),
        (DType::Bool, Reduction::Avg),
    ] {
        let expected = MemError::Unsupported { dtype, reduction };
        assert_eq!(fault(call(dtype, reduction)), CallFault::Reduction(expected));
    }
    for (dtype, reduction, divisor) in [
        (DType::F32, Reduction::Sum, 0),
        (DType::I32, Reduction::Sum, 2),
        (DType::F32, Reduction::Max, 2),
    ] {
        let expected = MemError::Divisor { dtype, reduction, divisor };
        let fault = fault(call(dtype, reduction).divisor(divisor));
        assert_eq!(fault, CallFault::Reduction(expected));
    }
}

#[test]
fn counts_that_do_not_fit_themselves() {
    let own = |sent, expected| CallFault::OwnCount { sent, expected };
    let call = Call::all_gather(&pair(), DType::U8).send_run(0, 3).recv_counts([2, 3]);
    assert_eq!(fault(call), own(3, 2));
    let call = Call::all_to_all(&pair(), DType::U8).send_counts([1, 2]).recv_counts([3, 4]);
    assert_eq!(fault(call), own(1, 3));
    let sum = Reduction::Sum;
    let call = Call::all_reduce(&pair(), DType::U8, sum).send_run(0, 1).recv_run(0, 2);
    assert_eq!(fault(call), own(1, 2));
    let call = Call::reduce_scatter(&pair(), DType::U8, sum).send_counts([1, 2]).recv_run(0, 2);
    assert_eq!(fault(call), own(1, 2));
    let call = Call::exchange(&pair(), DType::U8).send_run(0, 2);
    assert_eq!(fault(call), own(2, 0));
}

#[test]
fn calls_after_leaving() {
    let endpoints = connect(1, FAR);
    endpoints[0].leave(Departure::Returned);
    let error = perform(&endpoints[0], Operation::Barrier, &Group::world(1)).unwrap_err();
    let CommError::Invalid { fault, .. } = error else { panic!("{error}") };
    assert_eq!(*fault, CallFault::Left);
}
