//! Redistributions in the background.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use reshard::comm::CommError;
use reshard::{Error, World};

use super::{FAR, each, mesh, run};

#[test]
fn several_in_flight_arrive_and_finish_in_order() {
    let mesh = mesh([("a", 3)]);
    run(3, |world| {
        let tensor = world.on(&mesh).from_fn([5, 4], "S(0)", |at| (4 * at[0] + at[1]) as i64)?;
        let targets = ["R", "S(1)", "S(0)", "R", "S(1)"];
        let handles: Vec<_> =
            targets.iter().map(|&to| tensor.redistribute_async(to)).collect::<Result<_, _>>()?;
        // A call that is waited for at once comes after all of them.
        let last = tensor.redistribute("S(1)")?;
        assert!(handles.iter().all(reshard::Redistribution::is_done));
        let numbers: Vec<u64> = world
            .communicator()
            .recorder()
            .calls(world.rank())
            .iter()
            .map(|call| call.stamp.sequence)
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
        for (handle, to) in handles.into_iter().zip(targets) {
            let moved = handle.wait()?;
            let expected = tensor.redistribute(to)?;
            assert_eq!(moved.layout(), expected.layout());
            assert_eq!(moved.local::<i64>()?, expected.local::<i64>()?);
        }
        assert_eq!(last.full::<i64>()?.into_raw_vec_and_offset().0, Vec::from_iter(0..20));
        Ok(())
    });
}

#[test]
fn a_dropped_handle_leaves_the_peers_whole() {
    let mesh = mesh([("a", 2)]);
    let wholes = run(2, |world| {
        let tensor = world.on(&mesh).from_fn([4], "S(0)", |at| at[0] as i32)?;
        let handle = tensor.redistribute_async("R")?;
        drop(tensor);
        match world.rank() {
            0 => Ok(None),
            _ => Ok(Some(handle.wait()?.to_local_vec::<i32>()?)),
        }
    });
    assert_eq!(wholes, [None, Some(vec![0, 1, 2, 3])]);
}

/// The rank whose handle was dropped returned without an error, but its call failed.
#[test]
fn an_error_that_no_handle_can_tell_is_the_ranks_own() {
    let mesh = mesh([("a", 2)]);
    let results = each(2, |world| {
        let tensor = world.on(&mesh).zeros::<f32>([4, 4], "S(0)")?;
        match world.rank() {
            0 => tensor.redistribute_async("R").map(drop),
            _ => tensor.redistribute("S(1)").map(drop),
        }
    });
    for result in results {
        let Err(Error::Comm(error)) = result else { panic!("{result:?}") };
        assert!(matches!(error.root_cause(), CommError::Mismatch { .. }), "{error}");
    }
}

#[test]
fn what_was_begun_ends_before_the_rank_does() {
    let mesh = mesh([("a", 2)]);
    let (sender, receiver) = channel();
    let (sender, receiver) = (Mutex::new(sender), Mutex::new(receiver));
    let wholes = run(2, |world| {
        let tensor = world.on(&mesh).from_fn([4], "S(0)", |at| at[0] as i32)?;
        if world.rank() == 0 {
            let handle = tensor.redistribute_async("R")?;
            sender.lock().unwrap().send(()).unwrap();
            return Ok(Err(handle));
        }
        // Rank 0 returns before this rank calls.
        receiver.lock().unwrap().recv().unwrap();
        Ok(Ok(tensor.redistribute("R")?))
    });
    for whole in wholes {
        let whole = whole.or_else(reshard::Redistribution::wait).unwrap();
        assert_eq!(whole.to_local_vec::<i32>().unwrap(), [0, 1, 2, 3]);
    }
}

#[test]
fn waiting_for_a_while_leaves_the_call_on_its_way() {
    let mesh = mesh([("a", 2)]);
    let (sender, receiver) = channel();
    let (sender, receiver) = (Mutex::new(sender), Mutex::new(receiver));
    run(2, |world| {
        let tensor = world.on(&mesh).from_fn([2], "S(0)", |at| at[0] as u8)?;
        if world.rank() == 1 {
            receiver.lock().unwrap().recv().unwrap();
        }
        let mut handle = tensor.redistribute_async("R")?;
        if world.rank() == 0 {
            assert!(!handle.is_done());
            assert!(handle.wait_timeout(Duration::from_millis(1))?.is_none());
            sender.lock().unwrap().send(()).unwrap();
        }
        let whole = handle.wait_timeout(FAR)?.unwrap();
        assert_eq!(whole.to_local_vec::<u8>()?, [0, 1]);
        let taken = handle.wait_timeout(FAR);
        assert!(matches!(taken, Err(Error::Engine { .. })), "{taken:?}");
        Ok(())
    });
}

#[test]
fn a_panic_in_the_foreground_ends_what_is_in_the_background() {
    let mesh = mesh([("a", 2)]);
    let results = each(2, |world: &World| {
        let tensor = world.on(&mesh).zeros::<f32>([4], "S(0)")?;
        if world.rank() == 1 {
            std::panic::resume_unwind(Box::new("out of marbles"));
        }
        tensor.redistribute_async("R")?.wait().map(drop)
    });
    assert!(matches!(results[1], Err(Error::Panicked { rank: 1, .. })));
    assert_eq!(results[0].as_ref().unwrap_err().cause_rank(), Some(1));
}

#[test]
fn errors_that_need_no_peer_come_at_once() {
    let mesh = mesh([("a", 2)]);
    run(2, |world| {
        let tensor = world.on(&mesh).zeros::<f32>([4], "S(0)")?;
        assert!(matches!(tensor.redistribute_async("S(1)"), Err(Error::Layout(_))));
        Ok(())
    });
}
