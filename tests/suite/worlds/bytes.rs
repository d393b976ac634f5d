//! Redistributing elements in memory of the caller's own.

use reshard::dist::DataError;
use reshard::plan::Transition;
use reshard::{DType, Error, ErrorClass, Layout, Mesh, World};

use super::redistributing::places;
use super::{each, errors, mesh, run};
use crate::layouts::layout_of;
use crate::naive::{Place, Twin};

/// What a byte of the target is before the call.
const BEFORE: u8 = 0xA5;

fn to_bytes(elements: &[f64]) -> Vec<u8> {
    elements.iter().flat_map(|element| element.to_ne_bytes()).collect()
}

fn to_elements(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect()
}

/// What this rank holds after its elements went from twin to twin.
fn carried(
    world: &World,
    mesh: &Mesh,
    (source, target): (&Twin, &Twin),
    seed: u64,
) -> Result<Vec<f64>, Error> {
    let position = mesh.position(world.rank()).unwrap();
    let (from, to) = (layout_of(source, mesh), layout_of(target, mesh));
    let transition = Transition::new(from, to, source.shape.clone(), DType::F64)?;
    let given = to_bytes(&source.locals(seed)[position]);
    let len = target.indices(&target.coordinates()[position]).len();
    let mut taken = vec![BEFORE; 8 * len];
    let before = given.clone();
    world.redistribute_bytes(&transition, &given, &mut taken)?;
    assert_eq!(given, before, "the source was written to");
    Ok(to_elements(&taken))
}

fn check_all_pairs(twins: &[Twin]) {
    let mesh = Mesh::new(twins[0].axes()).unwrap();
    let pairs = || twins.iter().flat_map(|a| twins.iter().map(move |b| (a, b)));
    let ranks = run(mesh.len(), |world| {
        let twice = |pair| [6, 7].map(|seed| carried(world, &mesh, pair, seed));
        pairs().flat_map(twice).collect::<Result<Vec<_>, _>>()
    });
    for (number, (source, target)) in pairs().enumerate() {
        for (again, seed) in [6, 7].into_iter().enumerate() {
            let of_rank = |rank: &Vec<Vec<f64>>| rank[2 * number + again].clone();
            let locals: Vec<Vec<f64>> = ranks.iter().map(of_rank).collect();
            let (from, to) = (source.notation(), target.notation());
            assert_eq!(target.assemble(&locals), source.value(seed), "{from} -> {to}");
        }
    }
}

#[test]
fn all_pairs_on_one_axis_of_4() {
    let each = [Place::R, Place::S(0), Place::S(1), Place::P("sum")];
    for shape in [[8, 4], [5, 3], [0, 2]] {
        let twin = |place: &Place| Twin::listed(&[1, 4], &shape, &[Place::R, *place]);
        check_all_pairs(&each.iter().map(twin).collect::<Vec<_>>());
    }
}

#[test]
fn all_pairs_on_2_by_2() {
    for (shape, reduction) in [([4, 6], "sum"), ([3, 5], "max")] {
        let twin = |places: &[Place; 2]| Twin::listed(&[2, 2], &shape, places);
        check_all_pairs(&places(reduction).iter().map(twin).collect::<Vec<_>>());
    }
}

fn gather(mesh: &Mesh) -> Transition {
    let [from, to] = ["S(0)", "R"].map(|text| Layout::parse(mesh, 1, text).unwrap());
    Transition::new(from, to, [6], DType::U8).unwrap()
}

#[test]
fn slices_of_other_lengths_are_refused() {
    let mesh = mesh([("a", 2)]);
    let transition = gather(&mesh);
    for (source_len, target_len, layout, given, needed) in
        [(2, 6, "[a]", 2, 3), (4, 6, "[a]", 4, 3), (3, 5, "[-]", 5, 6), (0, 0, "[a]", 0, 3)]
    {
        let results = each(2, |world| {
            let mut target = vec![BEFORE; target_len];
            let refused = world.redistribute_bytes(&transition, &vec![1; source_len], &mut target);
            assert!(target.iter().all(|&byte| byte == BEFORE));
            let error = refused.unwrap_err();
            // Nobody was told, so the next call works.
            let mut whole = [BEFORE; 6];
            world.redistribute_bytes(&transition, &[world.rank() as u8; 3], &mut whole)?;
            assert_eq!(whole, [0, 0, 0, 1, 1, 1]);
            Err::<(), _>(error)
        });
        for (rank, error) in errors(results).into_iter().enumerate() {
            assert_eq!((error.class(), error.cause_rank()), (ErrorClass::Own, Some(rank)));
            let Error::Data(data) = error else { panic!("{error}") };
            let expected = DataError::ByteCount {
                rank,
                layout: layout.into(),
                shape: vec![6],
                dtype: DType::U8,
                given,
                needed,
            };
            assert_eq!(*data, expected);
        }
    }
}

#[test]
fn peers_hear_of_a_rank_that_was_refused() {
    let mesh = mesh([("a", 3)]);
    let transition = gather(&mesh);
    let results = each(3, |world| {
        let own = if world.rank() == 1 { 1 } else { 2 };
        let mut target = [BEFORE; 6];
        let done = world.redistribute_bytes(&transition, &vec![1; own], &mut target);
        assert_eq!(target, [BEFORE; 6]);
        done
    });
    for error in errors(results) {
        assert_eq!(error.cause_rank(), Some(1), "{error}");
    }
}

#[test]
fn ranks_outside_a_mesh_give_and_take_nothing() {
    let first = Mesh::with_ranks([("a", 2)], [0, 1]).unwrap();
    let second = Mesh::with_ranks([("b", 2)], [3, 2]).unwrap();
    let from = Layout::parse(&first, 1, "S(0)").unwrap();
    let to = Layout::parse(&second, 1, "S(0)").unwrap();
    let transition = Transition::new(from, to, [5], DType::U8).unwrap();
    let taken = run(5, |world| {
        let (source, len) = match world.rank() {
            0 => (vec![1, 2, 3], 0),
            1 => (vec![4, 5], 0),
            2 => (vec![], 2),
            3 => (vec![], 3),
            _ => (vec![], 0),
        };
        let mut target = vec![BEFORE; len];
        world.redistribute_bytes(&transition, &source, &mut target)?;
        if world.rank() == 4 {
            let refused = world.redistribute_bytes(&transition, &[1], &mut target);
            let Err(Error::Data(data)) = refused else { panic!("{refused:?}") };
            assert!(matches!(*data, DataError::ByteCount { given: 1, needed: 0, .. }), "{data}");
        }
        Ok(target)
    });
    assert_eq!(taken, [vec![], vec![], vec![4, 5], vec![1, 2, 3], vec![]]);
}

/// Some ranks give memory of their own, others tensors.
#[test]
fn tensors_and_slices_go_together() {
    let mesh = mesh([("a", 3)]);
    let transition = gather(&mesh);
    run(3, |world| {
        let own = vec![world.rank() as u8; 2];
        for round in 0..6 {
            let whole = match (world.rank() + round) % 3 {
                0 => {
                    let mut whole = vec![BEFORE; 6];
                    world.redistribute_bytes(&transition, &own, &mut whole)?;
                    whole
                }
                1 => {
                    let tensor = world.on(&mesh).from_local("S(0)", [6], own.clone())?;
                    tensor.redistribute("R")?.to_local_vec::<u8>()?
                }
                _ => {
                    let tensor = world.on(&mesh).from_local("S(0)", [6], own.clone())?;
                    tensor.redistribute_async("R")?.wait()?.to_local_vec::<u8>()?
                }
            };
            assert_eq!(whole, [0, 0, 1, 1, 2, 2]);
        }
        Ok(())
    });
}

/// Rank 1 takes part in a reduction although it holds nothing of the result.
#[test]
fn a_rank_that_only_helps_keeps_nothing() {
    let first = Mesh::with_ranks([("a", 2)], [0, 1]).unwrap();
    let second = Mesh::with_ranks([("b", 2)], [0, 2]).unwrap();
    let from = Layout::parse(&first, 1, "P(max)").unwrap();
    let to = Layout::parse(&second, 1, "R").unwrap();
    let transition = Transition::new(from, to, [1], DType::U8).unwrap();
    let taken = run(3, |world| {
        let source: &[u8] = [&[3][..], &[8], &[]][world.rank()];
        let mut target = vec![BEFORE; [1, 0, 1][world.rank()]];
        world.redistribute_bytes(&transition, source, &mut target)?;
        Ok(target)
    });
    assert_eq!(taken, [vec![8], vec![], vec![8]]);
}
