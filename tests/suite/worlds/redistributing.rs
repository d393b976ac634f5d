//! Every element arrives where the target says; the twin tells where that is.

use reshard::{DistTensor, Error, Layout, Mesh, World};

use super::{mesh, run};
use crate::naive::{Place, Twin};

/// Every list of places for two axes of a matrix, partial ones with one reduction.
pub(super) fn places(reduction: &'static str) -> Vec<[Place; 2]> {
    let each = [Place::R, Place::S(0), Place::S(1), Place::P(reduction)];
    each.iter().flat_map(|&a| each.iter().map(move |&b| [a, b])).collect()
}

/// What this rank holds after a tensor with the twin's locals has gone to the other twin's layout.
pub(super) fn carried(
    world: &World,
    mesh: &Mesh,
    (source, target): (&Twin, &Twin),
    seed: u64,
) -> Result<Vec<f64>, Error> {
    let position = mesh.position(world.rank()).unwrap();
    let local = source.locals(seed)[position].clone();
    let tensor = world.on(mesh).from_local(source.notation(), source.shape.clone(), local)?;
    let before = tensor.to_local_vec::<f64>()?;
    let moved = tensor.redistribute(target.notation())?;
    assert_eq!(tensor.to_local_vec::<f64>()?, before, "the source was written to");
    let coordinate = &target.coordinates()[position];
    assert_eq!(moved.local_shape()?, target.local_shape(coordinate));
    assert_eq!(*moved.layout(), Layout::parse(mesh, target.shape.len(), &target.notation())?);
    moved.to_local_vec::<f64>()
}

/// All transitions between these places, one after another in one world.
pub(super) fn all_pairs(lens: [usize; 2], shape: &[usize], reduction: &'static str) -> Vec<Twin> {
    places(reduction).iter().map(|places| Twin::listed(&lens, shape, places)).collect()
}

fn check_all_pairs(lens: [usize; 2], shape: &[usize], reduction: &'static str) {
    let twins = all_pairs(lens, shape, reduction);
    let mesh = Mesh::new(twins[0].axes()).unwrap();
    let pairs = || twins.iter().flat_map(|a| twins.iter().map(move |b| (a, b)));
    let ranks = run(mesh.len(), |world| {
        pairs().map(|pair| carried(world, &mesh, pair, 3)).collect::<Result<Vec<_>, _>>()
    });
    for (number, (source, target)) in pairs().enumerate() {
        let locals: Vec<Vec<f64>> = ranks.iter().map(|rank| rank[number].clone()).collect();
        let (from, to) = (source.notation(), target.notation());
        assert_eq!(target.assemble(&locals), source.value(3), "{from} -> {to} of {shape:?}");
    }
}

#[test]
fn all_pairs_of_placements_on_two_axes() {
    check_all_pairs([2, 2], &[4, 6], "sum");
    check_all_pairs([2, 3], &[5, 2], "sum");
    check_all_pairs([3, 2], &[1, 0], "sum");
    check_all_pairs([2, 2], &[3, 3], "max");
    check_all_pairs([1, 3], &[4, 4], "product");
}

#[test]
fn averages_become_values() {
    let source = Twin::listed(&[2, 2], &[3, 2], &[Place::P("avg"), Place::P("avg")]);
    let mesh = Mesh::new(source.axes()).unwrap();
    for places in places("avg") {
        let target = Twin::listed(&[2, 2], &[3, 2], &places);
        let locals = run(4, |world| carried(world, &mesh, (&source, &target), 5));
        assert_eq!(target.assemble(&locals), source.value(5), "{}", target.notation());
    }
}

/// Ranks 0 and 1 pass a tensor on to ranks 3 and 2; rank 4 has nothing to do with it.
#[test]
fn a_tensor_goes_to_other_ranks() {
    let first = Mesh::with_ranks([("a", 2)], [0, 1]).unwrap();
    let second = Mesh::with_ranks([("b", 2)], [3, 2]).unwrap();
    let target = Layout::parse(&second, 2, "S(1)").unwrap();
    let number = |index: &[usize]| (10 * index[0] + index[1]) as i16 as i32;
    let results = run(5, |world| {
        let tensor = world.on(&first).from_fn([3, 3], "S(0)", number)?;
        if world.rank() == 4 {
            // One redistribution more or less: nobody counts.
            tensor.redistribute(&target)?;
        }
        let moved = tensor.redistribute(&target)?;
        assert_eq!(moved.layout(), &target);
        assert_eq!((moved.shape(), moved.dtype()), (tensor.shape(), tensor.dtype()));
        let back = moved.redistribute(tensor.layout())?;
        if back.is_here() {
            assert_eq!(back.local::<i32>()?, tensor.local::<i32>()?);
        }
        let calls = world.communicator().recorder().calls(world.rank()).len();
        let local = if moved.is_here() { Some(moved.to_local_vec::<i32>()?) } else { None };
        Ok((local, calls))
    });
    assert_eq!(results[0].0, None);
    assert_eq!(results[3].0, Some(vec![0, 1, 10, 11, 20, 21]));
    assert_eq!(results[2].0, Some(vec![2, 12, 22]));
    assert_eq!(results[4], (None, 0));
}

#[test]
fn what_is_there_already_is_shared_and_counted() {
    let mesh = mesh([("a", 2)]);
    let records = run(2, |world| {
        let tensor = world.on(&mesh).rand::<f32>(3, [4, 2], "S(0)")?;
        let same: DistTensor = tensor.redistribute("[a, -]")?;
        assert!(same.local_buffer()?.same_storage(tensor.local_buffer()?));
        same.redistribute("S(1)")?;
        Ok(world.communicator().recorder().calls(world.rank()).to_vec())
    });
    for record in records {
        let numbers: Vec<u64> = record.iter().map(|call| call.stamp.sequence).collect();
        assert_eq!(numbers, [0, 1]);
        assert!(record[0].movement.is_none() && record[1].movement.is_some());
        assert_eq!(&*record[1].stamp.what, "redistribute [a, -] -> [-, a] of f32 [4, 2] on a=2");
    }
}

#[test]
fn plans_are_told_before_anything_moves() {
    let mesh = mesh([("a", 2)]);
    run(2, |world| {
        let tensor = world.on(&mesh).zeros::<f32>([4, 2], "P(sum)")?;
        let plan = tensor.plan_to("S(0)")?;
        assert_eq!(plan.busiest_bytes(), 16);
        assert!(world.communicator().recorder().calls(world.rank()).is_empty());
        assert!(matches!(tensor.plan_to("S(2)"), Err(Error::Layout(_))));
        assert!(matches!(tensor.redistribute("S(0; sizes=3,3)"), Err(Error::Plan(_))));
        Ok(())
    });
}
