//! Tensors that every rank makes by itself.

use ndarray::{Array, arr2};
use reshard::dist::DataError;
use reshard::{DType, DistTensor, Error, ErrorClass, Mesh, World};

use super::{each, mesh, run};
use crate::naive::{Place, Twin};

const PLACEMENTS: [&str; 7] =
    ["R, R", "S(0), R", "S(1), S(1)", "S(1), S(0)", "P(sum), S(0)", "P(avg), R", "P(max), P(max)"];

/// The whole tensor of the first rank; nobody has sent anything before it is gathered.
fn whole(mesh: &Mesh, make: impl Fn(&World) -> Result<DistTensor, Error> + Sync) -> Vec<f64> {
    let wholes = run(mesh.len(), |world| {
        let tensor = make(world)?;
        assert!(world.communicator().recorder().calls(world.rank()).is_empty());
        Ok(tensor.full::<f64>()?.into_raw_vec_and_offset().0)
    });
    assert!(wholes.iter().all(|whole| *whole == wholes[0]));
    wholes[0].clone()
}

#[test]
fn values_are_as_asked_in_any_layout_and_partial_ones_too() {
    let mesh = mesh([("a", 2), ("b", 3)]);
    let number = |index: &[usize]| (10 * index[0] + index[1]) as f64;
    let numbers: Vec<f64> = (0..5).flat_map(|i| (0..4).map(move |j| number(&[i, j]))).collect();
    for to in PLACEMENTS {
        assert_eq!(whole(&mesh, |w| w.on(&mesh).zeros::<f64>([5, 4], to)), [0.0; 20], "{to}");
        assert_eq!(whole(&mesh, |w| w.on(&mesh).full(2.5, [5, 4], to)), [2.5; 20], "{to}");
        assert_eq!(whole(&mesh, |w| w.on(&mesh).from_fn([5, 4], to, number)), numbers, "{to}");
    }
    let scalar = whole(&mesh, |w| w.on(&mesh).from_fn([], "P(sum), R", |index| index.len() as f64));
    assert_eq!(scalar, [0.0]);
}

/// The model: SplitMix64 stepped from its state, one output an element.
fn splitmix(seed: u64, len: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn random_values_depend_on_seed_and_index_alone() {
    let expected = splitmix(42, 35);
    for to in ["R, R", "S(0), S(1)", "S(1), S(1)", "R, P(max)"] {
        for axes in [[2, 3], [3, 1], [1, 2]] {
            let mesh = mesh([("a", axes[0]), ("b", axes[1])]);
            assert_eq!(whole(&mesh, |w| w.on(&mesh).rand::<f64>(42, [5, 7], to)), expected, "{to}");
        }
    }
}

#[test]
fn random_values_of_every_type_are_made_and_cut_alike() {
    let mesh = mesh([("a", 3)]);
    run(3, |world| {
        for dtype in DType::ALL {
            let part = world.on(&mesh).rand_of(dtype, 7, [7, 2], "S(0)")?;
            let whole = world.on(&mesh).rand_of(dtype, 7, [7, 2], "R")?;
            let gathered = part.redistribute("R")?;
            let bytes = whole.local_buffer()?.as_bytes();
            assert_eq!(gathered.local_buffer()?.as_bytes(), bytes, "{dtype}");
            assert!(bytes.iter().any(|&byte| byte != bytes[0]), "{dtype}");
            let zeros = world.on(&mesh).zeros_of(dtype, [7, 2], "S(0)")?;
            assert_eq!((zeros.dtype(), zeros.shape()), (dtype, &[7, 2][..]));
            assert!(zeros.local_buffer()?.as_bytes().iter().all(|&byte| byte == 0));
        }
        Ok(())
    });
}

#[test]
fn tensors_know_what_this_rank_holds() {
    let twin = Twin::listed(&[2, 3], &[5, 4], &[Place::S(1), Place::S(0)]);
    let mesh = Mesh::new(twin.axes()).unwrap();
    run(6, |world| {
        let tensor =
            world.on(&mesh).from_fn([5, 4], "S(1), S(0)", |at| (4 * at[0] + at[1]) as u32)?;
        let coordinate = mesh.coordinate(world.rank()).unwrap();
        assert_eq!(tensor.local_shape()?, twin.local_shape(&coordinate));
        assert_eq!(tensor.offset()?, twin.offset(&coordinate));
        let held: Vec<usize> = tensor.to_local_vec::<u32>()?.iter().map(|&i| i as usize).collect();
        assert_eq!(held, twin.indices(&coordinate));
        assert_eq!(tensor.local::<u32>()?.shape(), tensor.local_shape()?);
        assert_eq!(tensor.region()?.len(), held.len());
        Ok(())
    });
}

#[test]
fn local_tensors_are_checked_without_a_message() {
    let mesh = mesh([("a", 2)]);
    let results = each(2, |world| {
        let on = world.on(&mesh);
        let rows = 2 - world.rank();
        // A list, an array, a view in another order, an empty dim: all of rank 0's shape is [2, 2].
        on.from_local("S(0)", [3, 2], vec![1i32; 2 * rows])?;
        on.from_local("S(0)", [3, 2], Array::from_elem((rows, 2), 1i32))?;
        let columns = Array::from_elem((2, rows), 1i32);
        on.from_local("S(0)", [3, 2], columns.t())?;
        on.from_local("S(0)", [3, 2], Array::from_elem((2, rows), 1i32))
    });
    let [fits, differs] = &results[..] else { panic!("two ranks") };
    assert!(fits.is_ok());
    let Err(error @ Error::Data(data)) = differs else { panic!("{differs:?}") };
    assert_eq!(error.class(), ErrorClass::Own);
    assert_eq!(error.cause_rank(), Some(1));
    let DataError::LocalShape { expected, offset, given, .. } = &**data else { panic!("{data}") };
    assert_eq!((&expected[..], &offset[..], &given[..]), (&[1, 2][..], &[2, 0][..], &[2, 1][..]));
}

#[test]
fn arrays_in_any_order_are_read_row_by_row() {
    let mesh = mesh([("a", 1)]);
    run(1, |world| {
        let on = world.on(&mesh);
        let array = arr2(&[[1u8, 2, 3], [4, 5, 6]]);
        let transposed = on.from_local("R", [3, 2], array.t())?;
        assert_eq!(transposed.to_local_vec::<u8>()?, [1, 4, 2, 5, 3, 6]);
        let owned = on.from_local("R", [3, 2], array.clone().reversed_axes())?;
        assert_eq!(owned.to_local_vec::<u8>()?, [1, 4, 2, 5, 3, 6]);
        let tail = array.clone().slice_move(ndarray::s![1.., ..]);
        assert_eq!(on.from_local("R", [1, 3], tail)?.to_local_vec::<u8>()?, [4, 5, 6]);
        let borrowed = on.from_local("R", [2, 3], &array)?;
        assert_eq!(borrowed.local::<u8>()?, array.into_dyn());
        Ok(())
    });
}

#[test]
fn bytes_of_any_source_become_elements() {
    let bytes = reshard::mem::Buffer::from_elements(&[9u8, 1, 0, 0, 0, 2, 0, 0, 0, 9]);
    let unaligned = bytes.slice(1..9);
    let array = reshard::HostArray::from_buffer([2], DType::I32, unaligned.clone()).unwrap();
    assert_eq!(array.buffer().as_elements::<i32>().unwrap().len(), 2);
    assert_eq!(array.buffer().as_bytes(), unaligned.as_bytes());
    let kept = reshard::HostArray::from_buffer([8], DType::U8, unaligned.clone()).unwrap();
    assert!(kept.buffer().same_storage(&bytes));
    let wrong = |result: Result<reshard::HostArray, Error>| result.unwrap_err().to_string();
    assert_eq!(
        wrong(reshard::HostArray::from_buffer([8], DType::Bool, unaligned.clone())),
        "a truth value is 0 or 1, but a byte is 2"
    );
    assert_eq!(
        wrong(reshard::HostArray::from_buffer([3], DType::I32, unaligned)),
        "2 elements are given for a tensor of shape [3], which has 3"
    );
}

#[test]
fn writing_copies_what_is_shared() {
    let mesh = mesh([("a", 2)]);
    run(2, |world| {
        let given = reshard::HostArray::new([2], vec![1.0f32, 2.0])?;
        let first = world.on(&mesh).from_local("R", [2], given.clone())?;
        let mut second = first.clone();
        assert!(second.local_buffer()?.same_storage(given.buffer()));
        second.local_mut::<f32>()?[[0]] = 9.0;
        assert_eq!(second.to_local_vec::<f32>()?, [9.0, 2.0]);
        assert_eq!(first.to_local_vec::<f32>()?, [1.0, 2.0]);
        assert_eq!(given.buffer().as_elements::<f32>()?, [1.0, 2.0]);
        // What nobody else sees is written in place.
        let before = second.local_buffer()?.as_bytes().as_ptr();
        second.local_mut::<f32>()?.fill(0.5);
        assert_eq!(second.local_buffer()?.as_bytes().as_ptr(), before);
        // A slice of a replicated tensor is a view; writing to it leaves the tensor alone.
        let mut part = second.redistribute("S(0)")?;
        assert!(part.local_buffer()?.same_storage(second.local_buffer()?));
        part.local_mut::<f32>()?.fill(7.0);
        assert_eq!(second.to_local_vec::<f32>()?, [0.5, 0.5]);
        Ok(())
    });
}

#[test]
fn misuse_is_a_typed_error() {
    let (small, other) = (mesh([("a", 2)]), mesh([("b", 2)]));
    run(3, |world| {
        let data = |result: Result<(), Error>| match result {
            Err(Error::Data(data)) => *data,
            other => panic!("{other:?}"),
        };
        let mut tensor = world.on(&small).zeros::<f32>([4], "S(0)")?;
        assert_eq!(tensor.is_here(), world.rank() < 2);
        let wrong = DataError::WrongType { asked: DType::F64, dtype: DType::F32 };
        assert_eq!(data(tensor.local::<f64>().map(drop)), wrong);
        assert_eq!(data(tensor.local_mut::<f64>().map(drop)), wrong);
        assert_eq!(data(tensor.full::<f64>().map(drop)), wrong);
        if world.rank() == 2 {
            let outside = DataError::Outside { rank: 2, mesh: "a=2".into() };
            assert_eq!(data(tensor.local::<f32>().map(drop)), outside);
            assert_eq!(data(tensor.local_mut::<f32>().map(drop)), outside);
            assert_eq!(data(tensor.full::<f32>().map(drop)), outside);
            assert_eq!(data(tensor.local_shape().map(drop)), outside);
            assert_eq!(data(tensor.offset().map(drop)), outside);
            assert_eq!(data(world.on(&small).from_local("R", [1], [1.0f32]).map(drop)), outside);
            world.on(&small).from_local("R", [1], [0.0f32; 0])?;
        }
        let elsewhere = reshard::Layout::parse(&other, 1, "S(0)")?;
        let made = world.on(&small).zeros::<f32>([4], elsewhere);
        assert!(matches!(data(made.map(drop)), DataError::OtherMesh { .. }));
        let unfit = world.on(&small).zeros::<i32>([4], "P(avg)");
        assert!(matches!(unfit, Err(Error::Layout(_))));
        Ok(())
    });
}
