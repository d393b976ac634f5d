//! Products whose communication runs in the background: bit for bit those without, and right.

use half::{bf16, f16};
use ndarray::Array2;
use proptest::prelude::*;
use reshard::comm::Operation;
use reshard::nn::LayerError;
use reshard::ops::{self, Chunks};
use reshard::{DistTensor, Element, Error, Mesh, World};

use super::run::{check, product};
use crate::naive::{Twin, TwinCut};

/// A product [leads.., k] times [k, n], on the axes `a`, which cuts rows throughout, and `b`.
#[derive(Clone, Debug)]
struct Drawn {
    mesh: [usize; 2],
    leads: Vec<usize>,
    k: usize,
    n: usize,
    /// Which of the leading dims is cut by `b` before it is gathered, or after it is scattered.
    rows: usize,
    chunks: usize,
}

prop_compose! {
    fn drawn()(tp in 1usize..=5, leads in prop::collection::vec(0usize..=9, 1..=2), k in 0usize..=7,
               n in 0usize..=6, chunks in 1usize..=5)
        (dp in 1..=(8 / tp).min(2), tp in Just(tp), rows in 0..leads.len(), leads in Just(leads),
         k in Just(k), n in Just(n), chunks in Just(chunks)) -> Drawn {
        Drawn { mesh: [dp, tp], leads, k, n, rows, chunks }
    }
}

impl Drawn {
    fn new(mesh: [usize; 2], [m, k, n]: [usize; 3], chunks: usize) -> Self {
        Self { mesh, leads: vec![m], k, n, rows: 0, chunks }
    }

    /// [leads.., last], rows cut by `a` and then as told.
    fn tensor(&self, last: usize) -> Twin {
        let shape: Vec<usize> = self.leads.iter().copied().chain([last]).collect();
        Twin::replicated(&self.mesh, &shape).cut(0, TwinCut::on(0))
    }

    fn weight(&self, dim: usize) -> Twin {
        Twin::replicated(&self.mesh, &[self.k, self.n]).cut(dim, TwinCut::on(1))
    }

    fn rows_cut(&self, last: usize) -> Twin {
        self.tensor(last).cut(self.rows, TwinCut::on(1))
    }

    fn columns_cut(&self, last: usize) -> Twin {
        self.tensor(last).cut(self.leads.len(), TwinCut::on(1))
    }

    fn mesh(&self) -> Mesh {
        Mesh::new(self.rows_cut(self.k).axes()).unwrap()
    }

    fn chunks(&self) -> Chunks {
        Chunks::of(self.chunks)
    }

    fn expected(&self) -> Vec<f64> {
        let w = Array2::from_shape_vec((self.k, self.n), self.weight(0).value(2)).unwrap();
        match self.k {
            0 => vec![0.0; self.leads.iter().product::<usize>() * self.n],
            _ => product(&self.rows_cut(self.k).value(1), &w),
        }
    }

    /// Values of data that are exact in any order of sums.
    fn check_values<T: Element>(&self) {
        let (x, w, out) = (self.rows_cut(self.k), self.weight(1), self.columns_cut(self.n));
        let to = self.tensor(self.k).notation();
        check::<T>(&[(&x, 1), (&w, 2)], &out, &self.expected(), |t| {
            Ok(ops::gathered_matmul(&t[0], &to, &t[1], self.chunks())?)
        });
        let (x, w, out) = (self.columns_cut(self.k), self.weight(0), self.rows_cut(self.n));
        let to = out.notation();
        check::<T>(&[(&x, 1), (&w, 2)], &out, &self.expected(), |t| {
            Ok(ops::scattered_matmul(&t[0], &t[1], &to, self.chunks())?)
        });
    }

    /// Data whose sums round.
    fn check_bits<T: Element>(&self) {
        let mesh = self.mesh();
        let ran = World::run(mesh.len(), |world| {
            let make = |twin: &Twin| noise::<T>(world, &mesh, twin);
            let (x, w) = (make(&self.rows_cut(self.k))?, make(&self.weight(1))?);
            let to = self.tensor(self.k).notation();
            let plain = ops::matmul(&x.redistribute(&to)?, &w)?;
            same(&ops::gathered_matmul(&x, &to, &w, self.chunks())?, &plain)?;
            let (x, w) = (make(&self.columns_cut(self.k))?, make(&self.weight(0))?);
            let to = self.rows_cut(self.n).notation();
            let plain = ops::matmul(&x, &w)?.redistribute(&to)?;
            same(&ops::scattered_matmul(&x, &w, &to, self.chunks())?, &plain)
        });
        ran.unwrap_or_else(|error| panic!("{error}: {self:?}"));
    }
}

/// A tensor of numbers that no short sum is exact for.
fn noise<T: Element>(world: &World, mesh: &Mesh, twin: &Twin) -> Result<DistTensor, Error> {
    let element = |index: &[usize]| {
        let mixed =
            index.iter().fold(17u64, |hash, &i| (hash ^ i as u64).wrapping_mul(0x9E37_79B9));
        T::from_f64((mixed % 1009) as f64 / 37.0 - 13.0)
    };
    world.on(mesh).from_fn(twin.shape.as_slice(), twin.notation().as_str(), element)
}

fn same(found: &DistTensor, expected: &DistTensor) -> Result<(), Error> {
    assert_eq!((found.layout(), found.shape()), (expected.layout(), expected.shape()));
    assert_eq!(found.dtype(), expected.dtype());
    let bytes = |tensor: &DistTensor| Ok::<_, Error>(tensor.local_buffer()?.as_bytes().to_vec());
    assert_eq!(bytes(found)?, bytes(expected)?, "{expected:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn chunks_change_no_bit(drawn in drawn(), dtype in 0usize..5) {
        [
            Drawn::check_bits::<f32>, Drawn::check_bits::<f64>, Drawn::check_bits::<f16>,
            Drawn::check_bits::<bf16>, Drawn::check_bits::<i32>,
        ][dtype](&drawn);
    }

    #[test]
    fn overlapped_products_are_right(drawn in drawn()) {
        drawn.check_values::<f32>();
    }
}

/// Every element type, on 1 to 5 ranks and two axes, with rows that do not divide.
#[test]
fn every_element_type_and_number_of_ranks() {
    for mesh in [[1, 1], [1, 2], [1, 3], [1, 4], [1, 5], [2, 2], [2, 3]] {
        let drawn = Drawn::new(mesh, [23, 9, 11], 3);
        drawn.check_bits::<f32>();
        drawn.check_bits::<f64>();
        drawn.check_bits::<f16>();
        drawn.check_bits::<bf16>();
        let small = Drawn::new(mesh, [13, 3, 4], 2);
        small.check_values::<f64>();
        small.check_values::<f16>();
        small.check_values::<bf16>();
        small.check_values::<i64>();
    }
}

/// How many calls of an operation each rank has made last.
fn calls(world: &World, is_it: fn(&Operation) -> bool) -> usize {
    let recording = world.communicator().recorder();
    let made = recording.calls(world.rank()).iter().filter_map(|call| call.movement.as_ref());
    made.filter(|movement| is_it(&movement.operation)).count()
}

/// A chunk is a call, so it is really chunks that are carried; where they cannot be, there is one call.
#[test]
fn every_chunk_is_a_call() {
    let mesh = Mesh::new([("b", 3)]).unwrap();
    // Layout of the rows, chunks asked for, and calls that gather and that scatter. The whole goes to 6,
    // 0 and 7 rows in two steps, a chunk with as many rows on two ranks in one.
    let table = [
        ("S(0)", Chunks::of(4), (4, 4)),
        ("S(0)", Chunks::of(1), (1, 1)),
        ("S(0)", Chunks::of(100), (5, 5)),
        ("S(0)", Chunks::default(), (1, 1)),
        ("S(0; sizes=6,0,7)", Chunks::of(4), (4, 1)),
        ("S(0; seg=6,7)", Chunks::of(4), (1, 1)),
    ];
    for (rows, chunks, expected) in table {
        let ran = World::run(3, |world| {
            let on = world.on(&mesh);
            let number = |index: &[usize]| (index[0] * 3 + index[1]) as f32 / 7.0;
            let x = on.from_fn([13, 6], rows, number)?;
            let w = on.from_fn([6, 5], "S(1)", number)?;
            let y = ops::gathered_matmul(&x, "R", &w, chunks)?;
            let is_gather = |operation: &Operation| matches!(operation, Operation::AllGather);
            let moving = |operation: &Operation| !matches!(operation, Operation::Barrier);
            let gathers = calls(world, if rows.contains("seg") { moving } else { is_gather });
            same(&y, &ops::matmul(&x.redistribute("R")?, &w)?)?;
            let x = on.from_fn([13, 6], "S(1)", number)?;
            let w = on.from_fn([6, 5], "S(0)", number)?;
            let y = ops::scattered_matmul(&x, &w, rows, chunks)?;
            let is_scatter =
                |operation: &Operation| matches!(operation, Operation::ReduceScatter { .. });
            let scatters = calls(world, is_scatter);
            same(&y, &ops::matmul(&x, &w)?.redistribute(rows)?)?;
            Ok((gathers, scatters))
        });
        assert_eq!(ran.unwrap(), [expected; 3], "{rows}, {chunks:?}");
    }
}

/// The same texts as from the two calls, on every rank.
#[test]
fn errors_are_those_of_the_two_calls() {
    let mesh = Mesh::new([("b", 2)]).unwrap();
    let chunks = Chunks::of(2);
    let ran = World::run(2, |world| {
        let on = world.on(&mesh);
        let rows = on.zeros::<f32>([6, 4], "S(0)")?;
        let columns = on.zeros::<f32>([6, 4], "S(1)")?;
        let truth = on.zeros::<bool>([6, 4], "S(0)")?;
        let weights = [
            on.zeros::<f32>([4, 3], "S(1)")?,
            on.zeros::<f32>([4, 3], "S(0)")?,
            on.zeros::<f32>([5, 3], "S(1)")?,
            on.zeros::<f64>([4, 3], "S(1)")?,
            on.zeros::<bool>([4, 3], "S(1)")?,
            on.zeros::<f32>([4], "S(0)")?,
        ];
        let text = |result: Result<DistTensor, LayerError>| match result {
            Ok(tensor) => format!("{tensor:?}"),
            Err(error) => error.to_string(),
        };
        let mut failed = 0;
        for (x, w) in
            [&rows, &columns, &truth].iter().flat_map(|x| weights.iter().map(move |w| (x, w)))
        {
            for to in ["R", "S(0)", "S(5)", "S(0", "P(max)"] {
                let gathered = || Ok(ops::gathered_matmul(x, to, w, chunks)?);
                let by_two = || Ok(ops::matmul(&x.redistribute(to)?, w)?);
                let found = text(gathered());
                assert_eq!(found, text(by_two()));
                failed += usize::from(!found.starts_with("DistTensor"));
                let scattered = || Ok(ops::scattered_matmul(x, w, to, chunks)?);
                let by_two = || Ok(ops::matmul(x, w)?.redistribute(to)?);
                assert_eq!(text(scattered()), text(by_two()));
            }
        }
        Ok(failed)
    });
    assert!(ran.unwrap().iter().all(|&failed| failed > 50));
}

/// Ranks outside the mesh get the handle, and wait for nobody.
#[test]
fn outside_the_mesh_there_are_handles() {
    let mesh = Mesh::with_ranks([("b", 2)], [2, 0]).unwrap();
    let ran = World::run(3, |world| {
        let on = world.on(&mesh);
        let x = on.from_fn([4, 2], "S(0)", |index| index[0] as f32)?;
        let w = on.from_fn([2, 2], "S(1)", |_| 1.0f32)?;
        let y = ops::gathered_matmul(&x, "R", &w, Chunks::of(2))?;
        let z = ops::scattered_matmul(&y, &w.redistribute("S(0)")?, "S(0)", Chunks::of(2))?;
        assert_eq!((z.shape(), z.is_here()), (&[4, 2][..], world.rank() != 1));
        Ok(if z.is_here() { z.to_local_vec::<f32>()? } else { Vec::new() })
    });
    assert_eq!(ran.unwrap(), [vec![8.0, 8.0, 12.0, 12.0], vec![], vec![0.0, 0.0, 4.0, 4.0]]);
}
