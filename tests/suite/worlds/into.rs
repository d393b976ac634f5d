//! Redistributing into a tensor that there is: its memory is used again, and an error leaves it alone.

use std::sync::Arc;
use std::time::Duration;

use reshard::comm::{Communicator, threads};
use reshard::dist::DataError;
use reshard::{DistTensor, Error, Mesh, World};

use super::redistributing::places;
use super::{each, mesh, run};
use crate::naive::Twin;

fn address(tensor: &DistTensor) -> usize {
    tensor.local_buffer().unwrap().as_bytes().as_ptr().addr()
}

/// A tensor with the twin's locals.
fn given(world: &World, mesh: &Mesh, twin: &Twin, seed: u64) -> Result<DistTensor, Error> {
    let position = mesh.position(world.rank()).unwrap();
    let local = twin.locals(seed)[position].clone();
    world.on(mesh).from_local(twin.notation(), twin.shape.clone(), local)
}

#[test]
fn all_pairs_arrive_in_tensors_that_there_are() {
    let twins: Vec<Twin> =
        places("sum").iter().map(|places| Twin::listed(&[2, 2], &[5, 6], places)).collect();
    let mesh = Mesh::new(twins[0].axes()).unwrap();
    let pairs = || twins.iter().flat_map(|a| twins.iter().map(move |b| (a, b)));
    let ranks = run(4, |world| {
        let mut arrived = Vec::new();
        for (source, target) in pairs() {
            let mut out = world.on(&mesh).full(99.0, [5, 6], target.notation())?;
            // Twice, with other data: what came first must not show.
            for seed in [4, 5] {
                given(world, &mesh, source, seed)?.redistribute_into(&mut out)?;
            }
            arrived.push(out.to_local_vec::<f64>()?);
        }
        Ok(arrived)
    });
    for (number, (source, target)) in pairs().enumerate() {
        let locals: Vec<Vec<f64>> = ranks.iter().map(|rank| rank[number].clone()).collect();
        let (from, to) = (source.notation(), target.notation());
        assert_eq!(target.assemble(&locals), source.value(5), "{from} -> {to}");
    }
}

const MOVING: [(&str, &str); 5] =
    [("S(0)", "R"), ("S(0)", "S(1)"), ("P(sum)", "R"), ("P(sum)", "S(0)"), ("P(max)", "S(1)")];

#[test]
fn memory_that_nobody_shares_is_used_again() {
    let mesh = mesh([("a", 4)]);
    run(4, |world| {
        for (from, to) in MOVING {
            for shape in [[8, 4], [200, 104]] {
                let tensor = world.on(&mesh).full(2.0f32, shape, from)?;
                let expected = tensor.redistribute(to)?.to_local_vec::<f32>()?;
                let mut out = world.on(&mesh).zeros::<f32>(shape, to)?;
                let before = address(&out);
                for _ in 0..3 {
                    tensor.redistribute_into(&mut out)?;
                    assert_eq!(address(&out), before, "{from} -> {to} of {shape:?}");
                    assert_eq!(out.to_local_vec::<f32>()?, expected, "{from} -> {to}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn what_others_share_is_not_written() {
    let mesh = mesh([("a", 4)]);
    run(4, |world| {
        for (from, to) in MOVING {
            let tensor = world.on(&mesh).full(2.0f32, [8, 4], from)?;
            let expected = tensor.redistribute(to)?.to_local_vec::<f32>()?;
            let mut out = world.on(&mesh).full(7.0f32, [8, 4], to)?;
            let kept = out.clone();
            let before = kept.to_local_vec::<f32>()?;
            tensor.redistribute_into(&mut out)?;
            assert_ne!(address(&out), address(&kept), "{from} -> {to}");
            assert_eq!(kept.to_local_vec::<f32>()?, before, "{from} -> {to}");
            assert_eq!(out.to_local_vec::<f32>()?, expected, "{from} -> {to}");
        }
        Ok(())
    });
}

/// The source may be what the target shares its memory with.
#[test]
fn a_source_that_is_the_target_stays_whole() {
    let mesh = mesh([("a", 2)]);
    run(2, |world| {
        let tensor = world.on(&mesh).from_fn([4], "S(0)", |at| at[0] as i32)?;
        let before = tensor.to_local_vec::<i32>()?;
        let mut out = tensor.clone();
        tensor.redistribute_into(&mut out)?;
        assert!(out.local_buffer()?.same_storage(tensor.local_buffer()?));
        // Whoever writes to one of them does not write to the other.
        out.local_mut::<i32>()?.fill(9);
        assert_eq!(tensor.to_local_vec::<i32>()?, before);
        assert_eq!(out.to_local_vec::<i32>()?, [9, 9]);
        Ok(())
    });
}

/// A part of a replicated tensor needs no memory: the target views the source from then on.
#[test]
fn a_view_takes_the_place_of_the_memory() {
    let mesh = mesh([("a", 2)]);
    run(2, |world| {
        let mut whole = world.on(&mesh).from_fn([4], "R", |at| at[0] as i32)?;
        let mut out = world.on(&mesh).full(9i32, [4], "S(0)")?;
        whole.redistribute_into(&mut out)?;
        let own = 2 * world.rank() as i32;
        assert_eq!(out.to_local_vec::<i32>()?, [own, own + 1]);
        whole.local_mut::<i32>()?.fill(5);
        assert_eq!(out.to_local_vec::<i32>()?, [own, own + 1]);
        Ok(())
    });
}

#[test]
fn a_rank_outside_has_nothing_to_take_in() {
    let first = Mesh::with_ranks([("a", 2)], [0, 1]).unwrap();
    let second = Mesh::with_ranks([("a", 2)], [2, 1]).unwrap();
    let locals = run(4, |world| {
        let tensor = world.on(&first).from_fn([4], "S(0)", |at| at[0] as i32)?;
        let mut out = world.on(&second).full(9i32, [4], "S(0)")?;
        tensor.redistribute_into(&mut out)?;
        assert_eq!(out.is_here(), second.contains(world.rank()));
        if out.is_here() { out.to_local_vec::<i32>() } else { Ok(Vec::new()) }
    });
    assert_eq!(locals, [vec![], vec![2, 3], vec![0, 1], vec![]]);
}

#[test]
fn another_tensor_is_refused_and_left_alone() {
    let mesh = mesh([("a", 1)]);
    let endpoint = threads::connect(1, threads::Options::default()).remove(0);
    let elsewhere = World::over(Arc::new(endpoint) as Arc<dyn Communicator>, Arc::default());
    run(1, |world| {
        let tensor = world.on(&mesh).zeros::<f32>([4, 2], "S(0)")?;
        let mut others = [
            world.on(&mesh).full(7.0f32, [2, 4], "R")?,
            world.on(&mesh).full(7.0f32, [8], "R")?,
            world.on(&mesh).full(7i32, [4, 2], "R")?,
            elsewhere.on(&mesh).full(7.0f32, [4, 2], "R")?,
        ];
        for out in &mut others {
            let before = (address(out), out.local_buffer()?.as_bytes().to_vec());
            let error = tensor.redistribute_into(out).unwrap_err();
            let Error::Data(data) = &error else { panic!("{error}") };
            assert!(matches!(**data, DataError::OtherTensor { .. }), "{error}");
            assert_eq!((address(out), out.local_buffer()?.as_bytes().to_vec()), before);
        }
        Ok(())
    });
}

/// What `out` holds after a peer did something else: what it held before.
fn left_alone(odd: impl Fn(&DistTensor) -> Result<(), Error> + Sync) {
    let mesh = mesh([("a", 3)]);
    for shared in [false, true] {
        let results = each(3, |world| {
            let tensor = world.on(&mesh).full(1.0f32, [6, 6], "P(sum)")?;
            if world.rank() == 1 {
                return odd(&tensor);
            }
            let mut out = world.on(&mesh).full(7.0f32, [6, 6], "R")?;
            let kept = shared.then(|| out.clone());
            let before = address(&out);
            let error = tensor.redistribute_into(&mut out).unwrap_err();
            assert_eq!(error.cause_rank(), Some(1), "{error}");
            assert_eq!((address(&out), out.to_local_vec::<f32>()?), (before, vec![7.0; 36]));
            drop(kept);
            Err(error)
        });
        assert!(results[0].is_err() && results[2].is_err(), "{results:?}");
    }
}

#[test]
fn a_peer_that_fails_leaves_the_target_alone() {
    left_alone(|_| std::panic::resume_unwind(Box::new("out of marbles")));
    left_alone(|_| Ok(()));
    left_alone(|_| Err("no marbles".into()));
    left_alone(|tensor| tensor.redistribute("S(1)").map(drop));
}

/// A rank that has no part in it fails at any moment: the target is what it was, or what it has to be.
#[test]
fn a_failure_at_any_moment_leaves_no_half_done_target() {
    const LEN: usize = 40_000;
    let mesh = Mesh::with_ranks([("a", 3)], [0, 1, 2]).unwrap();
    let mut failed = 0;
    for pause in 0..60 {
        let results = each(4, |world| {
            if world.rank() == 3 {
                std::thread::sleep(Duration::from_micros(300 + 50 * pause));
                std::panic::resume_unwind(Box::new("out of marbles"));
            }
            let mut out = world.on(&mesh).full(0.0f32, [LEN], "R")?;
            for round in 1..2000u16 {
                let tensor = world.on(&mesh).full(f32::from(round), [LEN], "P(sum)")?;
                let result = tensor.redistribute_into(&mut out);
                let expected = f32::from(if result.is_ok() { round } else { round - 1 });
                let local = out.local::<f32>()?;
                let wrong = local.iter().find(|&&element| element != expected);
                assert_eq!(wrong, None, "not {expected}: {result:?}");
                result?;
            }
            Ok(())
        });
        for (rank, error) in results.into_iter().enumerate().filter(|&(rank, _)| rank < 3) {
            let error = error.unwrap_err();
            assert_eq!(error.cause_rank(), Some(3), "rank {rank}: {error}");
            failed += 1;
        }
    }
    assert_eq!(failed, 180);
}
