//! Running closures on ranks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reshard::layout::LayoutError;
use reshard::{DistTensor, Error, ErrorClass, Layout, Mesh, World};

use super::{FAR, each, mesh, run};

#[test]
fn results_come_by_rank() {
    let names = run(5, |world| {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        Ok((world.rank(), world.len(), name))
    });
    for (rank, result) in names.into_iter().enumerate() {
        assert_eq!(result, (rank, 5, format!("rank {rank}")));
    }
    assert_eq!(run(0, |_| Ok(())), []);
}

#[test]
fn every_closure_has_ended_when_run_returns() {
    let ended = AtomicUsize::new(0);
    let result = World::run(4, |world| {
        if world.rank() == 0 {
            return Err(Error::from("at once"));
        }
        std::thread::sleep(Duration::from_millis(20));
        ended.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    assert_eq!(result.unwrap_err().to_string(), "at once");
    assert_eq!(ended.load(Ordering::SeqCst), 3);
}

#[test]
fn ranks_share_plans_and_repeated_calls_plan_nothing() {
    let mesh = mesh([("tp", 3)]);
    let plans = run(3, |world| {
        let tensor = world.on(&mesh).rand::<f32>(1, [6, 4], "S(0)")?;
        for _ in 0..5 {
            tensor.redistribute("S(1)")?;
        }
        assert_eq!(world.plans().len(), 1);
        tensor.plan_to("S(1)")
    });
    assert!(plans.iter().all(|plan| std::sync::Arc::ptr_eq(plan, &plans[0])));
    let kept = World::builder(3).plan_cache(2).run(|world| {
        let tensor = world.on(&mesh).rand::<f32>(1, [6, 4], "S(0)")?;
        for to in ["S(1)", "R", "S(0)", "S(1)"] {
            tensor.redistribute(to)?;
        }
        Ok(world.plans().len())
    });
    assert_eq!(kept.unwrap(), [2, 2, 2]);
}

fn is_shared<T: Send + Sync + 'static>() {}

#[test]
fn values_cross_threads_and_errors_keep_their_kind() {
    is_shared::<World>();
    is_shared::<DistTensor>();
    is_shared::<Error>();
    let boxed = || -> Result<Layout, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Layout::parse(&Mesh::new([("a", 2)])?, 1, "S(1)")?)
    };
    let results = each(2, |_| Ok(boxed()?));
    for result in results {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Layout(LayoutError::NoSuchDim { .. })), "{error:?}");
        assert_eq!(error.class(), ErrorClass::Agreed);
    }
    let own = Error::caller("7x".parse::<u8>().unwrap_err());
    assert!(matches!(own, Error::Caller(_)));
    assert_eq!(own.to_string(), "invalid digit found in string");
    assert!(matches!(Error::caller(own), Error::Caller(_)));
}

#[test]
fn a_mesh_of_ranks_that_do_not_exist_is_an_error_everywhere() {
    let (large, small) = (mesh([("a", 3)]), mesh([("a", 2)]));
    type Make = fn(&World, &Mesh) -> Result<DistTensor, Error>;
    let makes: [Make; 3] = [
        |world, mesh| world.on(mesh).zeros::<f32>([4], "S(0)"),
        |world, mesh| world.on(mesh).from_local_inferred("S(0)", vec![1.0f32]),
        |world, mesh| world.on(mesh).distribute(reshard::Source::Rank(0), || vec![1.0f32], "S(0)"),
    ];
    for make in makes {
        for result in each(2, |world| make(world, &large)) {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::UnknownRank { rank: 2, world_len: 2, .. }), "{error}");
        }
    }
    let moved = each(2, |world| {
        let tensor = world.on(&small).zeros::<f32>([4], "S(0)")?;
        tensor.redistribute(Layout::replicated(&large, 1))
    });
    for result in moved {
        assert!(matches!(result, Err(Error::UnknownRank { rank: 2, .. })));
    }
}

#[test]
fn a_world_can_be_run_by_hand() {
    use reshard::comm::{Communicator, Departure, threads};
    use std::sync::Arc;
    let options = threads::Options { timeout: FAR, ..threads::Options::default() };
    let plans = Arc::new(reshard::plan::PlanCache::default());
    let mesh = mesh([("a", 2)]);
    let threads: Vec<_> = threads::connect(2, options)
        .into_iter()
        .map(|endpoint| {
            let (plans, mesh) = (Arc::clone(&plans), mesh.clone());
            std::thread::spawn(move || {
                let endpoint: Arc<dyn Communicator> = Arc::new(endpoint);
                let world = World::over(endpoint, plans);
                let whole = world.on(&mesh).from_fn([4], "S(0)", |at| at[0] as i64)?.full::<i64>();
                world.leave(Departure::Returned)?;
                whole
            })
        })
        .collect();
    for thread in threads {
        let whole: Result<_, Error> = thread.join().unwrap();
        assert_eq!(whole.unwrap().into_raw_vec_and_offset().0, [0, 1, 2, 3]);
    }
}
