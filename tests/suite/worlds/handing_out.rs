//! Arrays that one rank, or every rank, has whole.

use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::Array2;
use reshard::comm::CommError;
use reshard::{DType, Error, HostArray, Mesh, Source};

use super::{each, errors, mesh, run};
use crate::naive::{Place, Twin};

const LISTS: [[Place; 2]; 6] = [
    [Place::R, Place::R],
    [Place::S(0), Place::S(1)],
    [Place::S(1), Place::S(1)],
    [Place::R, Place::S(0)],
    [Place::P("sum"), Place::S(0)],
    [Place::P("max"), Place::P("max")],
];

/// Rank 6 is outside the mesh, whose ranks are in no order.
fn scattered_mesh(twin: &Twin) -> Mesh {
    Mesh::with_ranks(twin.axes(), [5, 0, 3, 1, 4, 2]).unwrap()
}

#[test]
fn every_rank_gets_its_part_of_what_one_has() {
    let array = Array2::from_shape_fn((5, 3), |(i, j)| (3 * i + j) as f64);
    let given: Vec<f64> = array.iter().copied().collect();
    for places in LISTS {
        let twin = Twin::listed(&[2, 3], &[5, 3], &places);
        let mesh = scattered_mesh(&twin);
        for source in [Source::Rank(3), Source::Rank(6), Source::Everywhere] {
            let loads = AtomicUsize::new(0);
            let load = || {
                loads.fetch_add(1, Ordering::SeqCst);
                array.view()
            };
            let locals = run(7, |world| {
                let tensor = world.on(&mesh).distribute(source, load, twin.notation())?;
                assert_eq!((tensor.shape(), tensor.dtype()), (&[5, 3][..], DType::F64));
                if !tensor.is_here() {
                    return Ok(None);
                }
                Ok(Some(tensor.to_local_vec::<f64>()?))
            });
            let held = mesh.ranks().iter().map(|&rank| locals[rank].clone().unwrap());
            assert_eq!(twin.assemble(&held.collect::<Vec<_>>()), given, "{}", twin.notation());
            assert_eq!(locals[6], None);
            let loaded = if source == Source::Everywhere { 7 } else { 1 };
            assert_eq!(loads.load(Ordering::SeqCst), loaded);
        }
    }
}

#[test]
fn the_plan_is_a_scatter_or_a_broadcast() {
    let mesh = mesh([("a", 4)]);
    let mut moved = Vec::new();
    for to in ["S(0)", "R"] {
        let sent = run(4, |world| {
            let load = || vec![1i32, 2, 3, 4, 5, 6, 7, 8];
            world.on(&mesh).distribute(Source::Rank(0), load, to)?;
            let calls = world.communicator().recorder().calls(world.rank()).to_vec();
            let last = calls.last().and_then(|call| call.movement.clone()).unwrap();
            Ok((last.send_bytes, last.recv_bytes))
        });
        moved.push(sent);
    }
    // Each part of a scatter is sent once.
    assert!(moved[0][1..].iter().all(|&(_, received)| received == 8), "{:?}", moved[0]);
    assert!(moved[1][1..].iter().all(|&(_, received)| received <= 32), "{:?}", moved[1]);
}

#[test]
fn arrays_that_were_given_are_never_written() {
    let mesh = mesh([("a", 2)]);
    for source in [Source::Rank(0), Source::Everywhere] {
        run(2, |world| {
            let given = HostArray::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
            for to in ["R", "S(0)", "P(max)"] {
                let mut tensor = world.on(&mesh).distribute(source, || given.clone(), to)?;
                tensor.local_mut::<f32>()?.fill(0.0);
                assert_eq!(given.buffer().as_elements::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
            }
            Ok(())
        });
    }
}

#[test]
fn scalars_empty_arrays_and_every_type_go_out() {
    let mesh = mesh([("a", 2)]);
    run(2, |world| {
        let on = world.on(&mesh);
        let scalar = on.distribute(Source::Rank(1), || HostArray::new([], vec![7u8]), "R")?;
        assert_eq!(scalar.to_local_vec::<u8>()?, [7]);
        let empty =
            on.distribute(Source::Rank(1), || HostArray::new([0, 3], vec![0i64; 0]), "S(1)")?;
        assert_eq!(empty.local_shape()?, [0, [2, 1][world.rank()]]);
        for dtype in DType::ALL {
            let bytes = reshard::mem::Buffer::from_elements(&vec![1u8; 3 * dtype.bytes()]);
            let load = || HostArray::from_buffer([3], dtype, bytes.clone());
            let tensor = on.distribute(Source::Rank(1), load, "S(0)")?;
            assert_eq!(tensor.dtype(), dtype);
            let expected = vec![1u8; [2, 1][world.rank()] * dtype.bytes()];
            assert_eq!(tensor.local_buffer()?.as_bytes(), expected);
        }
        Ok(())
    });
}

#[test]
fn an_array_that_cannot_be_loaded_is_every_ranks_error() {
    let mesh = mesh([("a", 2)]);
    for cause in ["no such file: w1", "", "kein Zugriff für «weights»"] {
        let results = each(3, |world| {
            let load = || Err::<Vec<f32>, _>(cause);
            world.on(&mesh).distribute(Source::Rank(1), load, "S(0)")
        });
        for error in errors(results) {
            let Error::Load { rank: 1, cause: told } = error else { panic!("{error}") };
            assert_eq!(&*told, cause);
        }
    }
}

/// The ranks agree on the error, so they may go on.
#[test]
fn a_failed_load_closes_nothing() {
    let mesh = mesh([("a", 2)]);
    let wholes = run(2, |world| {
        let on = world.on(&mesh);
        let failed = on.distribute(Source::Rank(0), || Err::<Vec<i32>, _>("not there"), "S(0)");
        assert!(matches!(failed, Err(Error::Load { rank: 0, .. })));
        let unfit = on.distribute(Source::Rank(0), || vec![1i32, 2], "S(1)");
        assert!(matches!(unfit, Err(Error::Layout(_))));
        on.distribute(Source::Rank(0), || vec![1i32, 2], "S(0)")?.full::<i32>()
    });
    assert!(wholes.iter().all(|whole| whole.iter().copied().eq([1, 2])));
}

#[test]
fn a_rank_that_panics_while_it_loads_is_named() {
    let mesh = mesh([("a", 2)]);
    let results = each(2, |world| {
        let load = || -> Vec<f32> { std::panic::resume_unwind(Box::new("torn page")) };
        world.on(&mesh).distribute(Source::Rank(1), load, "S(0)")
    });
    let errors = errors(results);
    assert!(matches!(errors[1], Error::Panicked { rank: 1, .. }));
    let Error::Comm(error) = &errors[0] else { panic!("{}", errors[0]) };
    assert!(matches!(error.root_cause(), CommError::Departed { rank: 1, .. }));
}
