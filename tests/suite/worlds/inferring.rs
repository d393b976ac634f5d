//! Tensors whose global shape follows from the parts that ranks give.

use reshard::dist::DataError;
use reshard::{Error, ErrorClass, HostArray, Mesh};

use super::{each, errors, mesh, run};

/// The global shape that all ranks of the mesh infer from local shapes, by position.
fn inferred(mesh: &Mesh, layout: &str, locals: &[&[usize]]) -> Result<Vec<usize>, Box<DataError>> {
    let results = each(mesh.len(), |world| {
        let shape = locals[mesh.position(world.rank()).unwrap()].to_vec();
        let local = HostArray::new(shape.clone(), vec![1.5f32; shape.iter().product()])?;
        let tensor = world.on(mesh).from_local_inferred(layout, local)?;
        assert_eq!(tensor.local_shape()?, shape);
        Ok(tensor.shape().to_vec())
    });
    let mut results = results.into_iter().map(|result| match result {
        Ok(shape) => Ok(shape),
        Err(error) => {
            assert_eq!(error.class(), ErrorClass::Agreed, "{error}");
            let Error::Data(data) = error else { panic!("{error}") };
            Err(data)
        }
    });
    let first = results.next().unwrap();
    assert!(results.all(|result| result == first), "ranks infer different things");
    first
}

#[test]
fn lengths_sum_along_the_axes_that_cut() {
    let line = Mesh::with_ranks([("a", 3)], [2, 0, 1]).unwrap();
    assert_eq!(inferred(&line, "S(0)", &[&[3, 4], &[3, 4], &[1, 4]]), Ok(vec![7, 4]));
    assert_eq!(inferred(&line, "S(0)", &[&[1], &[1], &[0]]), Ok(vec![2]));
    assert_eq!(inferred(&line, "S(0; sizes=3,0,4)", &[&[3], &[0], &[4]]), Ok(vec![7]));
    assert_eq!(inferred(&line, "S(0; unit=2)", &[&[4], &[4], &[2]]), Ok(vec![10]));
    assert_eq!(inferred(&line, "R", &[&[2, 5], &[2, 5], &[2, 5]]), Ok(vec![2, 5]));
    assert_eq!(inferred(&line, "P(sum)", &[&[2], &[2], &[2]]), Ok(vec![2]));
    let plane = mesh([("a", 2), ("b", 2)]);
    assert_eq!(inferred(&plane, "S(0), S(0)", &[&[2], &[1], &[1], &[1]]), Ok(vec![5]));
    assert_eq!(inferred(&plane, "S(1), R", &[&[2, 3], &[2, 3], &[2, 2], &[2, 2]]), Ok(vec![2, 5]));
    let parts: [&[usize]; 4] = [&[2, 3], &[2, 3], &[1, 3], &[1, 3]];
    assert_eq!(inferred(&plane, "S(0), S(1)", &parts), Ok(vec![3, 6]));
}

#[test]
fn lengths_that_fit_no_law_are_every_ranks_error() {
    let line = mesh([("a", 3)]);
    let error = inferred(&line, "S(0)", &[&[3, 2], &[2, 2], &[2, 2]]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "local tensors of shapes [[3, 2], [2, 2], [2, 2]] on the ranks [0, 1, 2] fit no global shape \
         under [a, -] (shape [7, 2] would be cut into [[3, 2], [3, 2], [1, 2]]); if they are meant so, \
         state them as `S(0; sizes=…)`"
    );
    let fits_not = |layout: &str, locals: &[&[usize]]| {
        let error = inferred(&line, layout, locals).unwrap_err();
        let DataError::LocalShapes { given, dim, .. } = *error else { panic!("{error}") };
        assert_eq!(given, locals);
        dim
    };
    assert_eq!(fits_not("R", &[&[2, 2], &[2, 3], &[2, 2]]), 1);
    assert_eq!(fits_not("S(0)", &[&[1, 2], &[1, 2], &[1, 3]]), 1);
    assert_eq!(fits_not("S(1)", &[&[4, 0], &[4, 1], &[4, 1]]), 1);
    assert_eq!(fits_not("S(0; sizes=3,0,4)", &[&[3], &[1], &[4]]), 0);
    assert_eq!(fits_not("P(sum)", &[&[2], &[2], &[3]]), 0);
}

#[test]
fn parts_of_different_kinds_are_every_ranks_error() {
    let line = mesh([("a", 2)]);
    let dims = inferred(&line, "S(0)", &[&[2, 2], &[4]]).unwrap_err();
    assert!(matches!(*dims, DataError::LocalKinds { .. }), "{dims}");
    let results = each(2, |world| match world.rank() {
        0 => world.on(&line).from_local_inferred("S(0)", vec![1.0f32]),
        _ => world.on(&line).from_local_inferred("S(0)", vec![1i32]),
    });
    for error in errors(results) {
        assert_eq!(
            error.to_string(),
            "local tensors cannot be parts of one tensor: the ranks [0, 1] give [(1, F32), (1, I32)] as \
             dims and element type"
        );
    }
}

#[test]
fn ranks_outside_the_mesh_have_nothing_to_give() {
    let line = mesh([("a", 2)]);
    let wholes = run(3, |world| {
        let tensor = world.on(&line).from_local_inferred("S(0)", vec![world.rank() as u32; 2]);
        if world.rank() < 2 {
            return Ok(tensor?.full::<u32>()?.into_raw_vec_and_offset().0);
        }
        let Err(Error::Data(data)) = tensor else { panic!("{tensor:?}") };
        assert_eq!(*data, DataError::Outside { rank: 2, mesh: "a=2".into() });
        Ok(Vec::new())
    });
    assert_eq!(wholes[..2], [[0, 0, 1, 1], [0, 0, 1, 1]]);
}
