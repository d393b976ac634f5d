//! One rank's part of many redistributions, each made in one of the ways that there are.

use std::collections::VecDeque;

use reshard::plan::Transition;
use reshard::{DType, DistTensor, Error, Redistribution, World};

use super::draw::Moved;
use crate::executed::{Wrapped, compare_locals};
use crate::layouts::layout_of;

/// Calls something generic with the element type of a value.
macro_rules! with_type {
    ($dtype:expr, $call:ident($($argument:expr),*)) => {
        match $dtype {
            DType::F32 => $call::<f32>($($argument),*),
            DType::F64 => $call::<f64>($($argument),*),
            DType::F16 => $call::<half::f16>($($argument),*),
            DType::Bf16 => $call::<half::bf16>($($argument),*),
            DType::I8 => $call::<i8>($($argument),*),
            DType::U8 => $call::<u8>($($argument),*),
            DType::I32 => $call::<i32>($($argument),*),
            DType::U32 => $call::<u32>($($argument),*),
            DType::I64 => $call::<i64>($($argument),*),
            DType::U64 => $call::<u64>($($argument),*),
            DType::Bool => $call::<bool>($($argument),*),
        }
    };
}

/// So many redistributions in the background are on their way at most.
const IN_FLIGHT: usize = 4;

/// Makes all redistributions from these locals; what this rank holds then, as bytes.
pub(super) fn carry(
    world: &World,
    drawn: &[Moved],
    starts: &[Vec<Vec<f64>>],
    round: usize,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut arrived = vec![Vec::new(); drawn.len()];
    let mut in_flight: VecDeque<(usize, Redistribution)> = VecDeque::new();
    for (number, (moved, start)) in drawn.iter().zip(starts).enumerate() {
        // The way is one's own choice: peers may make another one.
        match (number * 5 + round * 3 + world.rank() * 7) % 6 {
            0 => arrived[number] = bytes_of(&into(world, moved, start)?)?,
            1 => arrived[number] = borrowed(world, moved, start)?,
            2 | 3 => {
                let tensor = source(world, moved, start)?;
                let to = layout_of(&moved.to.0, &moved.to.1);
                in_flight.push_back((number, tensor.redistribute_async(to)?));
            }
            _ => {
                let tensor = source(world, moved, start)?;
                let to = layout_of(&moved.to.0, &moved.to.1);
                arrived[number] = bytes_of(&tensor.redistribute(to)?)?;
            }
        }
        if in_flight.len() > IN_FLIGHT {
            take_in(in_flight.pop_front(), &mut arrived)?;
        }
    }
    while !in_flight.is_empty() {
        take_in(in_flight.pop_front(), &mut arrived)?;
    }
    Ok(arrived)
}

fn take_in(first: Option<(usize, Redistribution)>, arrived: &mut [Vec<u8>]) -> Result<(), Error> {
    let Some((number, redistribution)) = first else { return Ok(()) };
    arrived[number] = bytes_of(&redistribution.wait()?)?;
    Ok(())
}

fn bytes_of(tensor: &DistTensor) -> Result<Vec<u8>, Error> {
    match tensor.is_here() {
        true => Ok(tensor.local_buffer()?.as_bytes().to_vec()),
        false => Ok(Vec::new()),
    }
}

/// The tensor that is carried.
fn source(world: &World, moved: &Moved, start: &[Vec<f64>]) -> Result<DistTensor, Error> {
    fn of<T: Wrapped>(world: &World, moved: &Moved, local: &[f64]) -> Result<DistTensor, Error> {
        let local: Vec<T> = local.iter().map(|&value| T::wrapped(value)).collect();
        let (twin, mesh) = &moved.from;
        world.on(mesh).from_local(layout_of(twin, mesh), twin.shape.clone(), local)
    }
    let position = moved.from.1.position(world.rank());
    let local = position.map_or(&[][..], |position| &start[position]);
    with_type!(moved.dtype, of(world, moved, local))
}

fn into(world: &World, moved: &Moved, start: &[Vec<f64>]) -> Result<DistTensor, Error> {
    let to = layout_of(&moved.to.0, &moved.to.1);
    let shape = moved.to.0.shape.clone();
    let mut out = world.on(&moved.to.1).zeros_of(moved.dtype, shape, to)?;
    source(world, moved, start)?.redistribute_into(&mut out)?;
    Ok(out)
}

fn borrowed(world: &World, moved: &Moved, start: &[Vec<f64>]) -> Result<Vec<u8>, Error> {
    let [from, to] = [&moved.from, &moved.to].map(|(twin, mesh)| layout_of(twin, mesh));
    let len_bytes = match to.mesh().contains(world.rank()) {
        true => to.region(&moved.to.0.shape, world.rank())?.len() * moved.dtype.bytes(),
        false => 0,
    };
    let transition = Transition::new(from, to, moved.from.0.shape.clone(), moved.dtype)?;
    let source = bytes_of(&source(world, moved, start)?)?;
    let mut target = vec![0xA5; len_bytes];
    world.redistribute_bytes(&transition, &source, &mut target)?;
    Ok(target)
}

/// Compares what arrived, by position, with what the twins say.
pub(super) fn compare(moved: &Moved, start: &[Vec<f64>], locals: &[&[u8]]) {
    fn of<T: Wrapped>(moved: &Moved, value: &[f64], locals: &[&[u8]]) {
        let typed = |local: &&[u8]| {
            reshard::mem::Buffer::from_elements(local).as_elements::<T>().unwrap().to_vec()
        };
        let locals: Vec<Vec<T>> = locals.iter().map(typed).collect();
        compare_locals(&moved.to.0, moved, &locals, value);
    }
    let value = moved.from.0.assemble(start);
    with_type!(moved.dtype, of(moved, &value, locals));
}
