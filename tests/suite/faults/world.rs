//! Worlds whose ranks may fail.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use reshard::comm::threads::{Endpoint, Options, connect};
use reshard::comm::{Call, CommError, Communicator, Departure, Operation, Stamp, Work};
use reshard::mem::{Buffer, BufferMut};
use reshard::{DType, Group, Reduction};

/// A deadline that no test is meant to reach.
pub(crate) const FAR: Options =
    Options { timeout: Duration::from_secs(40), warn_after: Duration::from_secs(40) };

/// A deadline that tests wait for.
pub(crate) const NEAR: Options =
    Options { timeout: Duration::from_millis(300), warn_after: Duration::from_millis(100) };

/// How a rank ended: with a value, an error, or `None` for a panic.
pub(crate) type Ended<T> = Option<Result<T, CommError>>;

/// Runs a closure on every rank of a new world of threads, which leaves as its closure ends. Fails if
/// that takes half a minute: no test may come near the far deadline.
pub(crate) fn world<T: Send>(
    world_len: usize,
    options: Options,
    body: impl Fn(&Endpoint) -> Result<T, CommError> + Sync,
) -> Vec<Ended<T>> {
    run(connect(world_len, options).into_iter().map(Box::new).collect(), body)
}

/// Runs a closure on every rank of a new world, as [`world`] does.
pub(crate) fn run<E: Deref<Target: Communicator> + Send, T: Send>(
    endpoints: Vec<E>,
    body: impl Fn(&E::Target) -> Result<T, CommError> + Sync,
) -> Vec<Ended<T>> {
    let entered = now();
    let ends = std::thread::scope(|scope| {
        let spawn = |endpoint: E| {
            let body = &body;
            scope.spawn(move || {
                let end = catch_unwind(AssertUnwindSafe(|| body(&endpoint)));
                endpoint.leave(match &end {
                    Ok(Ok(_)) => Departure::Returned,
                    Ok(Err(error)) => Departure::failed(error),
                    Err(payload) => Departure::panicked(&**payload),
                });
                end.ok()
            })
        };
        let ranks: Vec<_> = endpoints.into_iter().map(spawn).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    assert!(now() - entered < Duration::from_secs(30), "the ranks were left waiting");
    ends
}

#[allow(clippy::disallowed_methods, reason = "a test that nothing hangs needs a clock")]
fn now() -> Instant {
    Instant::now()
}

/// Every operation, with position 0 as root.
pub(crate) const OPERATIONS: [Operation; 10] = [
    Operation::AllGather,
    Operation::AllReduce { reduction: Reduction::Max, divisor: 1 },
    Operation::ReduceScatter { reduction: Reduction::Max, divisor: 1 },
    Operation::AllToAll,
    Operation::Broadcast { root: 0 },
    Operation::Scatter { root: 0 },
    Operation::Gather { root: 0 },
    Operation::Reduce { root: 0, reduction: Reduction::Max, divisor: 1 },
    Operation::Exchange,
    Operation::Barrier,
];

/// The call of `rank` in which every part has `len` elements.
pub(crate) fn call(
    operation: Operation,
    group: &Group,
    dtype: DType,
    rank: usize,
    len: usize,
) -> Call {
    let own = group.position(rank).unwrap();
    let all = || std::iter::repeat_n(len, group.len());
    let call = Call::new(operation, group, dtype);
    match operation {
        Operation::AllGather => call.send_run(own, len).recv_counts(all()),
        Operation::AllReduce { .. } => call.send_run(own, len).recv_run(own, len),
        Operation::ReduceScatter { .. } => call.send_counts(all()).recv_run(own, len),
        Operation::AllToAll | Operation::Exchange => call.send_counts(all()).recv_counts(all()),
        Operation::Broadcast { root } if own == root => {
            call.send_run(root, len).recv_run(root, len)
        }
        Operation::Scatter { root } if own == root => call.send_counts(all()).recv_run(root, len),
        Operation::Broadcast { root } | Operation::Scatter { root } => call.recv_run(root, len),
        Operation::Gather { root } if own == root => call.send_run(root, len).recv_counts(all()),
        Operation::Reduce { root, .. } if own == root => {
            call.send_run(root, len).recv_run(root, len)
        }
        Operation::Gather { root } | Operation::Reduce { root, .. } => call.send_run(root, len),
        Operation::Barrier => call,
    }
}

/// Makes a call with buffers of its size, stamped with its number and text.
pub(crate) fn submit(
    endpoint: &dyn Communicator,
    call: Call,
    what: &str,
) -> Result<Work, CommError> {
    let sequence = endpoint.next_sequence(&call.group);
    let call = call.stamp(Stamp::new(sequence, what));
    let source = Buffer::from_elements(&vec![1u8; call.send_bytes()]);
    let target = BufferMut::zeroed(call.recv_bytes());
    endpoint.submit(call, source, target)
}

/// Makes the operation with one u8 element a part and waits for it.
pub(crate) fn perform(
    endpoint: &dyn Communicator,
    operation: Operation,
    group: &Group,
) -> Result<BufferMut, CommError> {
    let call = call(operation, group, DType::U8, endpoint.rank(), 1);
    submit(endpoint, call, operation.name())?.wait()
}

/// The error of every rank that has one, by rank.
pub(crate) fn errors<T>(ends: &[Ended<T>]) -> Vec<(usize, &CommError)> {
    let mut errors = Vec::new();
    for (rank, end) in ends.iter().enumerate() {
        if let Some(Err(error)) = end {
            errors.push((rank, error));
        }
    }
    errors
}
