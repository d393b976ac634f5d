//! Values are reduced once and exactly.

use half::f16;
use ndarray::{ArrayD, IxDyn};
use reshard::{DType, Element, Mesh, Source, World, ops};

use super::{mesh, run};

pub(super) fn partial_value_needs_reduction() {
    let mesh = mesh([("a", 4)]);
    let sums = run(4, |world| {
        let on = world.on(&mesh);
        let own = vec![world.rank() as f32];
        let tensor = on.from_local("P(sum)", [], own)?;
        // A nonlinear operation or a cast on terms is refused, never done on each term.
        assert!(ops::gelu(&tensor).is_err());
        let halves = on.from_local("P(sum)", [1], vec![0.5f32])?;
        assert!(ops::cast(&halves, DType::I32).is_err());
        let whole = ops::cast(&halves.redistribute("R")?, DType::I32)?;
        assert_eq!(whole.to_local_vec::<i32>()?, [2]);
        let value = tensor.full::<f32>()?;
        Ok(value[IxDyn(&[])])
    });
    assert_eq!(sums, [6.0; 4]);
}

pub(super) fn constant_on_partial() {
    let mesh = mesh([("a", 2)]);
    let sums = run(2, |world| {
        let start = world.rank() * 5;
        let own: f32 = (start..start + 5).map(|number| number as f32).sum();
        let tensor = world.on(&mesh).from_local("P(sum)", [1], vec![own])?;
        ops::add_scalar(&tensor, 10.0)?.redistribute("R")?.to_local_vec::<f32>()
    });
    assert_eq!(sums, [vec![55.0], vec![55.0]]);
}

pub(super) fn replicas_bitwise_equal() {
    let mesh = mesh([("a", 8), ("b", 5), ("c", 1)]);
    let locals = run(40, |world| {
        let own: Vec<f32> = (0..97)
            .map(|i| {
                let word = (world.rank() * 97 + i) as u32;
                let mixed = word.wrapping_mul(0x9e37_79b9).rotate_left(13) ^ word;
                mixed as f32 / u32::MAX as f32 - 0.5
            })
            .collect();
        let tensor = world.on(&mesh).from_local("P(sum), P(sum), R", [97], own)?;
        tensor.redistribute("R, R, R")?.to_local_vec::<f32>()
    });
    let bits = |local: &Vec<f32>| local.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert!(locals.iter().all(|local| bits(local) == bits(&locals[0])));
}

pub(super) fn avg_in_half_precision() {
    let mesh = mesh([("a", 2), ("b", 2)]);
    let value = f16::from_f32(40000.0);
    let locals = run(4, |world| {
        let tensor = world.on(&mesh).from_local("P(avg), P(avg)", [1], vec![value])?;
        tensor.redistribute("R, R")?.to_local_vec::<f16>()
    });
    assert_eq!(locals, vec![vec![value]; 4]);
}

pub(super) fn integers_stay_integers() {
    fn there_and_back<T: Element>(mesh: &Mesh, values: [T; 5]) {
        let arrived = World::run(3, |world| {
            let whole =
                ArrayD::from_shape_vec(vec![5], values.to_vec()).map_err(reshard::Error::caller)?;
            let tensor = world.on(mesh).distribute(Source::Everywhere, || whole.clone(), "R")?;
            let terms =
                tensor.redistribute(if T::DTYPE == DType::Bool { "P(max)" } else { "P(sum)" })?;
            assert_eq!(terms.dtype(), T::DTYPE);
            let back = terms.redistribute("R")?;
            assert_eq!(back.dtype(), T::DTYPE);
            back.to_local_vec::<T>()
        });
        assert_eq!(arrived.unwrap(), vec![values.to_vec(); 3], "{}", T::DTYPE);
    }
    let mesh = mesh([("a", 3)]);
    there_and_back(&mesh, [i64::MIN, -1, 0, (1 << 53) + 1, i64::MAX]);
    there_and_back(&mesh, [0u64, 1, 2, (1 << 53) + 1, u64::MAX]);
    there_and_back(&mesh, [i32::MIN, -1, 0, 1, i32::MAX]);
    there_and_back(&mesh, [0u32, 1, 2, 3, u32::MAX]);
    there_and_back(&mesh, [i8::MIN, -1, 0, 1, i8::MAX]);
    there_and_back(&mesh, [0u8, 1, 2, 3, u8::MAX]);
    there_and_back(&mesh, [false, true, true, false, true]);
    there_and_back(&mesh, [0.1f32, -0.5, 3.0, 1e30, -1e-30]);
    there_and_back(&mesh, [0.1f64, -0.5, 3.0, 1e300, -1e-300]);
    there_and_back(&mesh, [0.1f32, -0.5, 3.0, 60000.0, -1e-5].map(f16::from_f32));
    there_and_back(&mesh, [0.1f32, -0.5, 3.0, 1e30, -1e-30].map(half::bf16::from_f32));
}
