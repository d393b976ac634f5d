//! Calls that do not fit are errors on every rank, and nobody waits for ever.

use std::time::Duration;

use reshard::{Error, Layout, Mesh, Source, World};

use super::{mesh, numbered, run};

pub(super) fn global_shape_from_uneven_locals() {
    let mesh = mesh([("a", 4)]);
    let whole = run(4, |world| {
        let rank = world.rank();
        let rows = [3, 3, 3, 1][rank];
        let own = numbered(&[10, 2]);
        let own = own.slice(ndarray::s![3 * rank..3 * rank + rows, ..]).to_owned();
        let tensor = world.on(&mesh).from_local_inferred("S(0)", own.into_dyn())?;
        assert_eq!(tensor.shape(), [10, 2]);
        tensor.redistribute("R")?.full::<f32>()
    });
    assert!(whole.iter().all(|whole| *whole == numbered(&[10, 2])));
    let errors = World::run_each(4, |world| {
        let rows = [2, 3, 3, 1][world.rank()];
        world.on(&mesh).from_local_inferred("S(0)", numbered(&[rows, 2])).map(|_| ())
    });
    let errors: Vec<String> =
        errors.unwrap().into_iter().map(|r| r.unwrap_err().to_string()).collect();
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    for rows in ["[2, 2]", "[3, 2]", "[1, 2]"] {
        assert!(errors[0].contains(rows), "{}", errors[0]);
    }
}

pub(super) fn uneven_load() {
    let mesh = mesh([("a", 4)]);
    for (shape, lens) in [(vec![7, 3], [6, 6, 6, 3]), (vec![6], [2, 2, 2, 0])] {
        let held = run(4, |world| {
            let load = || {
                assert_eq!(world.rank(), 2, "only the source loads");
                numbered(&shape)
            };
            let tensor = world.on(&mesh).distribute(Source::Rank(2), load, "S(0)")?;
            assert_eq!(tensor.full::<f32>()?, numbered(&shape));
            tensor.to_local_vec::<f32>()
        });
        assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), lens);
    }
}

pub(super) fn no_writes_into_the_callers_data() {
    let mesh = mesh([("a", 2)]);
    let seen = run(2, |world| {
        let own = numbered(&[4]) + 10.0 * world.rank() as f32;
        let tensor = world.on(&mesh).distribute(Source::Rank(0), || own.clone(), "R")?;
        let back = tensor.redistribute("S(0)")?.redistribute("R")?;
        assert_eq!(own, numbered(&[4]) + 10.0 * world.rank() as f32);
        back.full::<f32>()
    });
    assert_eq!(seen, [numbered(&[4]), numbered(&[4])]);
}

pub(super) fn rank_outside_the_mesh() {
    let (pair, all) = (mesh([("a", 2)]), mesh([("a", 3)]));
    run(3, |world| {
        let on = world.on(&pair);
        let tensor = on.distribute(Source::Everywhere, || numbered(&[4]), "S(0)")?;
        let whole = tensor.redistribute("R")?;
        if world.rank() == 2 {
            assert!(!whole.is_here());
            let error = whole.local::<f32>().unwrap_err().to_string();
            assert!(error.contains("rank 2"), "{error}");
        } else {
            assert_eq!(whole.local::<f32>()?, numbered(&[4]));
        }
        let wide = tensor.redistribute(Layout::parse(&all, 1, "R")?)?;
        assert_eq!(wide.local::<f32>()?, numbered(&[4]));
        Ok(())
    });
}

pub(super) fn early_return() {
    let mesh = mesh([("a", 4)]);
    let results = World::builder(4).timeout(Duration::from_secs(60)).run_each(|world| {
        let tensor = world.on(&mesh).distribute(Source::Everywhere, || numbered(&[8]), "S(0)")?;
        if world.rank() == 2 {
            return Err("no more disk".into());
        }
        tensor.redistribute("R").map(|_| ())
    });
    for (rank, result) in results.unwrap().into_iter().enumerate() {
        let error: Error = result.unwrap_err();
        let message = error.to_string();
        assert!(message.contains("no more disk"), "rank {rank}: {message}");
        assert!(rank == 2 || message.contains("rank 2"), "rank {rank}: {message}");
    }
    run(4, |world| world.on(&mesh).zeros::<f32>([8], "S(0)")?.redistribute("R"));
}

/// What one rank does while the others do something else.
type Own = fn(&World, &Mesh) -> Result<(), Error>;

pub(super) fn mismatched_calls() {
    let mesh = mesh([("a", 3)]);
    let mismatched = |own: Own| {
        let world = World::builder(3).timeout(Duration::from_secs(60));
        world
            .run_each(|world| match world.rank() {
                2 => own(world, &mesh),
                _ => world.on(&mesh).zeros::<f32>([6], "S(0)")?.redistribute("R").map(|_| ()),
            })
            .unwrap()
    };
    // Rank 2 asks for a call that moves nothing, and for one that moves something else.
    let asked: [Own; 2] = [
        |world, mesh| world.on(mesh).zeros::<f32>([9], "S(0)")?.redistribute("S(0)").map(|_| ()),
        |world, mesh| world.on(mesh).zeros::<f32>([9], "S(0)")?.redistribute("R").map(|_| ()),
    ];
    for own in asked {
        for (rank, result) in mismatched(own).into_iter().enumerate() {
            let message = result.unwrap_err().to_string();
            assert!(
                message.contains("rank 2") || message.contains("[9]"),
                "rank {rank}: {message}"
            );
        }
    }
}
