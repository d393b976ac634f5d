//! Ranks that do not make the same calls: every rank gets a typed error that names the culprit, and the
//! next world is as good as new.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use reshard::comm::{CommError, Departure, Difference};
use reshard::dist::DataError;
use reshard::{DistTensor, Error, ErrorClass, Mesh, World};

use super::{FAR, each, errors, mesh, run};

/// The rank that does something else, of three.
const ODD: usize = 1;

fn tensor(world: &World, mesh: &Mesh) -> Result<DistTensor, Error> {
    world.on(mesh).from_fn([6, 3], "S(0)", |at| (3 * at[0] + at[1]) as i32)
}

/// Every rank's own result when the odd one does something else than to redistribute to `R`.
fn with_odd(
    odd: impl Fn(&World, &DistTensor) -> Result<(), Error> + Sync,
) -> Vec<Result<(), Error>> {
    let mesh = mesh([("a", 3)]);
    let results = each(3, |world| {
        let tensor = tensor(world, &mesh)?;
        let given = tensor.to_local_vec::<i32>()?;
        let result = match world.rank() {
            ODD => odd(world, &tensor),
            _ => tensor.redistribute("R").map(drop),
        };
        assert_eq!(tensor.to_local_vec::<i32>()?, given, "a failed call wrote to its source");
        result
    });
    let whole = run(3, |world| tensor(world, &mesh)?.full::<i32>());
    assert!(whole.iter().all(|whole| whole.iter().copied().eq(0..18)), "the next world is broken");
    results
}

fn root(error: &Error) -> &CommError {
    match error {
        Error::Comm(error) => error.root_cause(),
        other => panic!("{other:?}"),
    }
}

/// The differences that all ranks' errors state; each blames the odd rank and shows both calls.
fn differences(results: Vec<Result<(), Error>>) -> Vec<Difference> {
    let difference = |error: Error| {
        assert_eq!((error.class(), error.cause_rank()), (ErrorClass::Moved, Some(ODD)), "{error}");
        match root(&error) {
            CommError::Mismatch { difference, sides, .. } => {
                assert!(sides.iter().all(|side| side.call.stamp.what.starts_with("redistribute")));
                *difference
            }
            other => panic!("{other}"),
        }
    };
    errors(results).into_iter().map(difference).collect()
}

#[test]
fn another_target() {
    let results = with_odd(|_, tensor| tensor.redistribute("S(1)").map(drop));
    assert_eq!(differences(results), [Difference::Plan; 3]);
}

#[test]
fn another_shape() {
    let results = with_odd(|world, tensor| {
        let other = world.on(tensor.layout().mesh()).zeros::<i32>([6, 4], "S(0)")?;
        other.redistribute("R").map(drop)
    });
    assert_eq!(differences(results), [Difference::Plan; 3]);
}

#[test]
fn another_element_type() {
    let results = with_odd(|world, tensor| {
        let other = world.on(tensor.layout().mesh()).zeros::<f32>([6, 3], "S(0)")?;
        other.redistribute("R").map(drop)
    });
    assert_eq!(differences(results), [Difference::Plan; 3]);
}

#[test]
fn an_extra_call_that_moves_nothing() {
    let results = with_odd(|_, tensor| {
        tensor.redistribute("S(0)")?;
        tensor.redistribute("R").map(drop)
    });
    let text = results[0].as_ref().unwrap_err().to_string();
    assert!(text.contains("(call 0,") && text.contains("(call 1,"), "{text}");
    assert_eq!(differences(results), [Difference::Sequence; 3]);
}

#[test]
fn an_early_return() {
    let results = with_odd(|_, _| Ok(()));
    for error in errors(results) {
        assert_eq!(error.cause_rank(), Some(ODD), "{error}");
        let CommError::Departed { departure, needed_by, .. } = root(&error) else {
            panic!("{error}")
        };
        assert_eq!(*departure, Departure::Returned);
        let needed = needed_by.as_ref().unwrap();
        assert!(needed.call.stamp.what.contains("redistribute [a, -] -> [-, -] of i32 [6, 3]"));
    }
}

#[test]
fn an_error_before_the_call() {
    let results = with_odd(|world, tensor| {
        let local = vec![0i32; 5];
        world.on(tensor.layout().mesh()).from_local("S(0)", [6, 3], local)?;
        Ok(())
    });
    let errors = errors(results);
    assert!(matches!(&errors[ODD], Error::Data(_)));
    for rank in [0, 2] {
        assert_eq!(errors[rank].cause_rank(), Some(ODD));
        let text = errors[rank].to_string();
        assert!(text.contains("rank 1 failed: rank 1 gives a local tensor of shape [5]"), "{text}");
    }
}

#[test]
fn a_panic() {
    let results = with_odd(|_, _| std::panic::resume_unwind(Box::new("out of marbles")));
    let errors = errors(results);
    let Error::Panicked { rank: ODD, message } = &errors[ODD] else { panic!("{:?}", errors[ODD]) };
    assert_eq!(&**message, "out of marbles");
    for rank in [0, 2] {
        assert!(errors[rank].to_string().contains("rank 1 panicked: out of marbles"));
        assert!(matches!(root(&errors[rank]), CommError::Departed { rank: ODD, .. }));
    }
}

#[test]
fn run_gives_the_first_cause() {
    let mesh = mesh([("a", 3)]);
    let first = |odd: fn(&World) -> Result<(), Error>| {
        let result = World::run(3, |world| match world.rank() {
            ODD => odd(world),
            _ => tensor(world, &mesh)?.redistribute("R").map(drop),
        });
        result.unwrap_err()
    };
    let panicked = first(|_| std::panic::resume_unwind(Box::new("out of marbles")));
    assert!(matches!(panicked, Error::Panicked { rank: ODD, .. }), "{panicked}");
    let failed = first(|_| Err("no marbles".into()));
    assert!(matches!(&failed, Error::Caller(_)) && failed.to_string() == "no marbles");
    let returned = first(|_| Ok(()));
    let Error::Comm(CommError::Departed { rank: ODD, .. }) = returned else { panic!("{returned}") };
}

/// One signal for the absent rank from each of its peers.
fn signals() -> (Mutex<Sender<()>>, Mutex<Receiver<()>>) {
    let (sender, receiver) = channel();
    (Mutex::new(sender), Mutex::new(receiver))
}

/// Peers wait for a rank that comes only when they have given up, or not at all.
fn absent(comes_late: bool) -> Vec<Result<(), Error>> {
    let mesh = mesh([("a", 3)]);
    let (sender, receiver) = signals();
    let world = World::builder(3).timeout(Duration::from_millis(60)).warn_after(FAR);
    let results = world.run_each(|world| {
        let tensor = tensor(world, &mesh)?;
        if world.rank() == ODD {
            let receiver = receiver.lock().unwrap();
            (0..2).for_each(|_| receiver.recv().unwrap());
            return if comes_late { tensor.redistribute("R").map(drop) } else { Ok(()) };
        }
        let result = tensor.redistribute("R").map(drop);
        sender.lock().unwrap().send(()).unwrap();
        result
    });
    results.unwrap()
}

#[test]
fn an_absent_rank() {
    for comes_late in [true, false] {
        for error in errors(absent(comes_late)) {
            assert_eq!(error.cause_rank(), Some(ODD), "{error}");
            let CommError::Timeout { missing, .. } = root(&error) else { panic!("{error}") };
            assert_eq!(missing.iter().map(|it| it.rank).collect::<Vec<_>>(), [ODD]);
        }
    }
}

#[test]
fn a_closed_world_stays_closed() {
    let results = with_odd(|_, tensor| {
        let first = tensor.redistribute("S(1)").unwrap_err();
        let second = tensor.redistribute("R").unwrap_err();
        assert!(matches!(second, Error::Comm(CommError::Poisoned { .. })), "{second}");
        // Tensors can still be read, and what needs no other rank can still be made.
        tensor.world().on(tensor.layout().mesh()).zeros::<f32>([3], "P(sum)")?;
        Err(first)
    });
    assert_eq!(differences(results).len(), 3);
}

#[test]
fn a_rank_that_handles_its_error_has_not_failed() {
    let results = with_odd(|_, tensor| {
        tensor.redistribute("S(1)").unwrap_err();
        Ok(())
    });
    assert!(results[ODD].is_ok() && results[0].is_err() && results[2].is_err());
}

#[test]
fn other_calls_than_redistributions_are_compared_too() {
    let results = with_odd(|world, tensor| {
        let on = world.on(tensor.layout().mesh());
        on.from_local_inferred("S(0)", vec![1.0f32]).map(drop)
    });
    for error in errors(results) {
        let CommError::Mismatch { sides, .. } = root(&error) else { panic!("{error}") };
        assert_eq!(&*sides[1].call.stamp.what, "from_local_inferred");
        assert_eq!(sides[1].rank, ODD);
    }
}

#[test]
fn data_errors_say_what_was_expected() {
    let mesh = mesh([("a", 2)]);
    let results = each(2, |world| world.on(&mesh).from_local("S(0)", [4], vec![0u8; 3]));
    for (rank, error) in errors(results).into_iter().enumerate() {
        let Error::Data(data) = error else { panic!("{error}") };
        let expected = DataError::LocalShape {
            rank,
            layout: "[a]".into(),
            shape: vec![4],
            expected: vec![2],
            offset: vec![2 * rank],
            given: vec![3],
        };
        assert_eq!(*data, expected);
    }
}
