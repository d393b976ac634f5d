//! Calls that their maker never waits for.

use reshard::comm::{Communicator, Operation, Work};
use reshard::{DType, Group};

use super::world::{FAR, OPERATIONS, call, perform, submit, world};

/// Ranks 0 and 2 get what they wait for although rank 1 gives up its own target in some way.
fn peers_are_served(give_up: fn(Work)) {
    let group = Group::world(3);
    for operation in OPERATIONS {
        let ends = world(3, FAR, |endpoint| {
            let call = call(operation, &group, DType::U8, endpoint.rank(), 1);
            let work = submit(endpoint, call, "abandoned")?;
            if endpoint.rank() == 1 {
                give_up(work);
            } else {
                assert!(work.wait()?.as_bytes().iter().all(|&byte| byte == 1), "{operation}");
            }
            // The order of calls is kept: the next ones meet.
            perform(endpoint, Operation::AllGather, &group)
        });
        for end in ends {
            assert_eq!(end.unwrap().unwrap().as_bytes(), [1; 3]);
        }
    }
}

#[test]
fn a_dropped_work_serves_its_peers() {
    peers_are_served(drop);
}

#[test]
fn a_leaked_work_serves_its_peers() {
    peers_are_served(std::mem::forget);
}

/// The source stays published until the last peer has read it, then its owner can write it again.
#[test]
fn a_source_comes_back_once_all_have_read_it() {
    let group = Group::world(2);
    let ends = world(2, FAR, |endpoint| {
        let made = call(Operation::AllGather, &group, DType::U8, endpoint.rank(), 1);
        let source = reshard::mem::Buffer::from_elements(&[7u8]);
        let target = reshard::mem::BufferMut::zeroed(2);
        let work = endpoint.submit(made, source.clone(), target)?;
        let Err(source) = source.try_into_mut() else { panic!("the call still owns the source") };
        assert_eq!(work.wait()?.as_bytes(), [7, 7]);
        perform(endpoint, Operation::Barrier, &group)?;
        assert!(source.try_into_mut().is_ok());
        Ok(())
    });
    assert!(ends.iter().all(|end| matches!(end, Some(Ok(())))), "{ends:?}");
}
