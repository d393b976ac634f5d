//! What is kept for the next time: ready redistributions, plans, layouts named by text, and runners.

use std::sync::Arc;

use reshard::comm::{Communicator, Stamp, threads};
use reshard::exec::{ExecError, Runner};
use reshard::mem::{Buffer, Pool};
use reshard::plan::{PlanOptions, Transition, plan};
use reshard::{DType, Error, Layout, Mesh, World};

use super::redistributing::{all_pairs, carried};
use super::{FAR, run};
use crate::layouts::layout_of;
use crate::naive::{Place, Twin};

/// With room for no or one ready redistribution, all are made anew and again, and mean what they should.
#[test]
fn without_room_everything_is_made_anew() {
    let twins = all_pairs([2, 2], &[3, 4], "sum");
    let mesh = Mesh::new(twins[0].axes()).unwrap();
    let pairs = || twins.iter().step_by(3).flat_map(|a| twins.iter().map(move |b| (a, b)));
    for capacity in [0, 1, 2] {
        let world = World::builder(4).timeout(FAR).plan_cache(capacity);
        let ranks = world.run(|world| {
            let mut arrived = Vec::new();
            for (number, pair) in pairs().enumerate() {
                arrived.push(carried(world, &mesh, pair, number as u64)?);
                // What was made before comes again, now and then.
                carried(world, &mesh, (&twins[1], &twins[2]), 1)?;
                assert!(world.plans().len() <= capacity);
            }
            Ok(arrived)
        });
        let ranks = ranks.unwrap();
        for (number, (source, target)) in pairs().enumerate() {
            let locals: Vec<Vec<f64>> = ranks.iter().map(|rank| rank[number].clone()).collect();
            let (from, to) = (source.notation(), target.notation());
            assert_eq!(target.assemble(&locals), source.value(number as u64), "{from} -> {to}");
        }
    }
}

/// A text means the mesh of the tensor for which it is read, and its number of dims.
#[test]
fn one_text_names_layouts_of_several_meshes() {
    let meshes = [
        Mesh::with_ranks([("a", 2)], [0, 1]).unwrap(),
        Mesh::with_ranks([("a", 2)], [1, 0]).unwrap(),
        Mesh::with_ranks([("a", 2)], [1, 2]).unwrap(),
        Mesh::with_ranks([("a", 3)], [2, 0, 1]).unwrap(),
        Mesh::with_ranks([("a", 1)], [2]).unwrap(),
    ];
    for capacity in [1, 64] {
        let world = World::builder(3).timeout(FAR).plan_cache(capacity);
        let ran = world.run(|world| {
            for round in 0..4 {
                for mesh in &meshes {
                    one_text(world, mesh, round)?;
                }
            }
            Ok(())
        });
        ran.unwrap();
    }
}

/// Carries tensors of one and of two dims to `S(0)` and checks where the elements are.
fn one_text(world: &World, mesh: &Mesh, round: usize) -> Result<(), Error> {
    for shape in [vec![5], vec![5, 2]] {
        let width: usize = shape[1..].iter().product();
        let number = |at: &[usize]| (at[0] * width + at.get(1).unwrap_or(&0) + round) as i32;
        let whole = world.on(mesh).from_fn(shape.clone(), "R", number)?;
        let part = whole.redistribute("S(0)")?;
        assert_eq!(part.layout(), &Layout::parse(mesh, shape.len(), "S(0)")?);
        let back = part.redistribute("R")?;
        assert_eq!(back.layout(), &Layout::parse(mesh, shape.len(), "R")?);
        let Some(position) = mesh.position(world.rank()) else {
            assert!(!part.is_here());
            continue;
        };
        let block = 5usize.div_ceil(mesh.len());
        let rows = block * position..(block * (position + 1)).min(5);
        let held = rows.start * width..rows.end * width;
        let expected: Vec<i32> = held.map(|number| (number + round) as i32).collect();
        assert_eq!(part.to_local_vec::<i32>()?, expected, "{mesh} {shape:?}");
        let all: Vec<i32> = (0..5 * width).map(|number| (number + round) as i32).collect();
        assert_eq!(back.to_local_vec::<i32>()?, all);
    }
    Ok(())
}

/// Two layouts that are equal but not the same value are found as one.
#[test]
fn equal_layouts_are_found_again() {
    let mesh = Mesh::new([("a", 3)]).unwrap();
    let plans = run(3, |world| {
        let tensor = world.on(&mesh).rand::<f32>(1, [6, 4], "S(0)")?;
        for text in ["S(1)", "[-, a]", "a=S(1)", "S(-1)"] {
            let again = Mesh::new([("a", 3)])?;
            tensor.redistribute(Layout::parse(&again, 2, text)?)?;
            tensor.redistribute(text)?;
        }
        Ok(world.plans().len())
    });
    assert_eq!(plans, [1; 3]);
}

/// A runner gives what the twin says time after time, whatever its memory held before.
#[test]
fn a_runner_is_used_again() {
    let twin = |places: [Place; 2]| Twin::listed(&[2, 2], &[5, 6], &places);
    let from = twin([Place::P("sum"), Place::S(0)]);
    for to in [twin([Place::R, Place::R]), twin([Place::S(1), Place::R]), from.clone()] {
        check_runner(&from, &to);
    }
}

fn check_runner(from: &Twin, to: &Twin) {
    let mesh = Mesh::new(from.axes()).unwrap();
    let layouts = (layout_of(from, &mesh), layout_of(to, &mesh));
    let transition = Transition::new(layouts.0, layouts.1, from.shape.clone(), DType::F64).unwrap();
    let plan = plan(&transition, &PlanOptions::default()).unwrap();
    let ranks: Vec<Vec<Vec<f64>>> = std::thread::scope(|scope| {
        let spawn = |endpoint: threads::Endpoint| {
            let program = Arc::new(plan.program(endpoint.rank()));
            scope.spawn(move || {
                let pool = Pool::new(1 << 20);
                let runner = Runner::new(program, DType::F64, &endpoint, &pool).unwrap();
                (0..6).map(|round| round_of(&runner, &endpoint, from, round)).collect()
            })
        };
        let endpoints = threads::connect(4, threads::Options::default());
        let running: Vec<_> = endpoints.into_iter().map(spawn).collect();
        running.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    for round in 0..6 {
        let locals: Vec<Vec<f64>> = ranks.iter().map(|rank| rank[round].clone()).collect();
        assert_eq!(to.assemble(&locals), from.value(round as u64), "{} {round}", to.notation());
    }
}

/// Runs the program once, on buffers or on borrowed memory: what the rank holds then.
fn round_of(runner: &Runner, endpoint: &threads::Endpoint, from: &Twin, round: u64) -> Vec<f64> {
    let rank = endpoint.rank();
    let local = from.locals(round)[rank].clone();
    let stamp = Stamp::new(round, "again");
    let source = Buffer::from_elements(&local);
    if (round as usize + rank).is_multiple_of(2) {
        let result = runner.run(&source, endpoint, &stamp).unwrap().unwrap();
        assert_eq!(source.as_elements::<f64>().unwrap(), local);
        return result.as_elements::<f64>().unwrap().to_vec();
    }
    let result = runner.program().result().unwrap();
    let len_bytes = runner.program().buffers()[result.index()];
    let mut target = vec![0xA5; len_bytes];
    let mut short = vec![0xA5; len_bytes.saturating_sub(1)];
    // Refused before a peer hears of it.
    let refused = runner.run_borrowed(source.as_bytes(), &mut short, endpoint, &stamp);
    assert!(matches!(refused, Err(ExecError::Length { what: "target", .. })), "{refused:?}");
    let refused = runner.run_borrowed(&[], &mut target, endpoint, &stamp);
    assert!(matches!(refused, Err(ExecError::Length { what: "source", .. })), "{refused:?}");
    runner.run_borrowed(source.as_bytes(), &mut target, endpoint, &stamp).unwrap();
    target.chunks(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect()
}
