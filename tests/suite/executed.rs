//! Runs transitions between twins on threads, many in one world, for any element type.

use reshard::{DType, Element, Mesh, World};

use crate::layouts::layout_of;
use crate::naive::Twin;

/// One transition to run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) from: (Twin, Mesh),
    pub(crate) to: (Twin, Mesh),
    pub(crate) seed: u64,
}

/// An element type that a double wraps around into, as integer sums do.
pub(crate) trait Wrapped: Element {
    fn wrapped(value: f64) -> Self;
}

macro_rules! wrapped {
    ($($integer:ty),*) => {$(
        impl Wrapped for $integer {
            fn wrapped(value: f64) -> Self {
                value as i64 as $integer
            }
        }
    )*};
}
wrapped!(i8, u8, i32, u32, i64, u64);

macro_rules! nearest {
    ($($float:ty),*) => {$(
        impl Wrapped for $float {
            fn wrapped(value: f64) -> Self {
                <$float>::from_f64(value)
            }
        }
    )*};
}
nearest!(f32, f64, half::f16, half::bf16, bool);

/// Data that the element type has: without signs for unsigned integers, of few bits for 16-bit floats.
pub(crate) fn suited(dtype: DType, twin: &Twin, locals: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let averaged = twin.partial.iter().filter(|(_, reduction)| *reduction == "avg");
    let divisor = averaged.map(|&(axis, _)| twin.mesh[axis]).product::<usize>() as f64;
    let suit = |value: f64| match dtype {
        DType::F32 | DType::F64 | DType::I32 | DType::I64 | DType::I8 => value,
        DType::F16 | DType::Bf16 if value == 0.0 => 0.0,
        DType::F16 | DType::Bf16 => value.signum() * divisor,
        DType::U8 | DType::U32 | DType::U64 => value.abs(),
        DType::Bool => f64::from(u8::from(value > 0.0)),
    };
    locals.into_iter().map(|local| local.into_iter().map(suit).collect()).collect()
}

/// Runs all transitions in one world and compares what arrives with the twins.
pub(crate) fn check<T: Wrapped>(world_len: usize, runs: &[Run]) {
    let starts: Vec<Vec<Vec<f64>>> =
        runs.iter().map(|run| suited(T::DTYPE, &run.from.0, run.from.0.locals(run.seed))).collect();
    let arrived = World::run(world_len, |world| {
        let one = |(run, start): (&Run, &Vec<Vec<f64>>)| moved::<T>(world, run, start);
        runs.iter().zip(&starts).map(one).collect::<Result<Vec<_>, reshard::Error>>()
    });
    let arrived = arrived.unwrap_or_else(|error| panic!("{error}"));
    for (index, (run, start)) in runs.iter().zip(&starts).enumerate() {
        let ranks = run.to.1.ranks().iter();
        let locals: Vec<Vec<T>> = ranks.map(|&rank| arrived[rank][index].clone()).collect();
        let value = run.from.0.assemble(start);
        compare_locals(&run.to.0, run, &locals, &value);
    }
}

fn moved<T: Wrapped>(
    world: &World,
    run: &Run,
    start: &[Vec<f64>],
) -> Result<Vec<T>, reshard::Error> {
    let position = run.from.1.position(world.rank());
    let local: Vec<T> = position
        .map(|position| start[position].iter().map(|&value| T::wrapped(value)).collect())
        .unwrap_or_default();
    let source = layout_of(&run.from.0, &run.from.1);
    let tensor = world.on(&run.from.1).from_local(source, run.from.0.shape.clone(), local)?;
    let moved = tensor.redistribute(layout_of(&run.to.0, &run.to.1))?;
    if moved.is_here() { moved.to_local_vec() } else { Ok(Vec::new()) }
}

/// Where the target is whole, each element is compared as it is; where it is partial, its terms must
/// reduce to the value.
pub(crate) fn compare_locals<T: Wrapped>(
    twin: &Twin,
    scene: &impl std::fmt::Debug,
    locals: &[Vec<T>],
    value: &[f64],
) {
    if twin.partial.is_empty() {
        for (coordinate, local) in twin.coordinates().iter().zip(locals) {
            let held = twin.indices(coordinate);
            let expected: Vec<T> = held.iter().map(|&i| T::wrapped(value[i])).collect();
            assert_eq!(local, &expected, "{} at {coordinate:?}: {scene:?}", T::DTYPE);
        }
        return;
    }
    let numbers: Vec<Vec<f64>> = locals
        .iter()
        .map(|local| local.iter().map(|&element| element.to_f64()).collect())
        .collect();
    let reduced: Vec<T> = twin.assemble(&numbers).into_iter().map(T::wrapped).collect();
    let expected: Vec<T> = value.iter().map(|&value| T::wrapped(value)).collect();
    assert_eq!(reduced, expected, "{} {scene:?}", T::DTYPE);
}
