//! Redistributions at random: meshes of some of the ranks in any order, layouts, shapes, element types.

use reshard::{DType, Mesh, Rank};

use super::RANKS;
use crate::executed::suited;
use crate::layouts::draw::twin_drawn;
use crate::naive::{Place, Twin};

/// Numbers drawn from a seed.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> usize {
        // Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) as usize
    }

    fn below(&mut self, len: usize) -> usize {
        self.next() % len
    }

    fn pick<T: Clone>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())].clone()
    }

    fn ranks(&mut self, len: usize) -> Vec<Rank> {
        let mut ranks: Vec<Rank> = (0..RANKS).collect();
        for index in (1..RANKS).rev() {
            ranks.swap(index, self.below(index + 1));
        }
        ranks.truncate(len);
        ranks
    }

    /// A twin on these axes.
    fn twin(&mut self, mesh: &[usize], shape: &[usize]) -> Twin {
        let choices = (0..120).map(|_| self.next() % 720_720).collect();
        twin_drawn(choices, mesh, shape)
    }
}

/// One redistribution.
#[derive(Clone, Debug)]
pub(crate) struct Moved {
    pub(crate) from: (Twin, Mesh),
    pub(crate) to: (Twin, Mesh),
    pub(crate) dtype: DType,
    pub(crate) seed: u64,
}

impl Moved {
    /// Of a few elements, half of them from one mesh to another.
    pub(crate) fn small(draw: &mut Draw) -> Self {
        loop {
            let ndim = draw.below(4);
            let shape: Vec<usize> = (0..ndim).map(|_| draw.below(9)).collect();
            let meshes: [&[usize]; 9] =
                [&[8], &[2, 4], &[4, 2], &[2, 2, 2], &[2, 3], &[5], &[7], &[1, 3], &[2, 2]];
            let (first, second) = (draw.pick(&meshes), draw.pick(&meshes));
            let from = on_mesh(draw, first, &shape);
            let to = match draw.below(2) {
                0 => (draw.twin(first, &shape), from.1.clone()),
                _ => on_mesh(draw, second, &shape),
            };
            let dtype = draw.pick(&DType::ALL);
            let fits = |twin: &Twin| {
                let unfit = |&(axis, reduction): &(usize, &str)| {
                    let unfit = match reduction {
                        "avg" => !dtype.is_float(),
                        "sum" | "product" => dtype == DType::Bool,
                        _ => false,
                    };
                    unfit && twin.mesh[axis] > 1
                };
                !twin.partial.iter().any(unfit)
            };
            // Others are refused, which is not what is looked at here.
            if fits(&from.0) && fits(&to.0) {
                return Self { from, to, dtype, seed: draw.next() as u64 };
            }
        }
    }

    /// Of so many elements that ranks share the work.
    pub(crate) fn large(draw: &mut Draw, number: usize) -> Self {
        let shape = [150 + draw.below(50), 160 + draw.below(40)];
        let (sum, max) = (Place::P("sum"), Place::P("max"));
        let pairs = [
            ([Place::R, sum], [Place::R, Place::R]),
            ([sum, sum], [Place::R, Place::R]),
            ([Place::S(0), Place::S(1)], [Place::S(1), Place::S(0)]),
            ([max, Place::S(0)], [Place::R, Place::S(1)]),
            ([Place::S(0), sum], [Place::S(0), Place::S(1)]),
            ([Place::S(1), Place::S(0)], [Place::R, Place::R]),
        ];
        let (from, to) = pairs[number % pairs.len()];
        let mesh = [2, 4];
        let twins = [from, to].map(|places| Twin::listed(&mesh, &shape, &places));
        let ranks = draw.ranks(8);
        let [from, to] = twins.map(|twin| {
            let mesh = Mesh::with_ranks(twin.axes(), ranks.iter().copied()).unwrap();
            (twin, mesh)
        });
        let dtype = draw.pick(&[DType::F32, DType::F64, DType::I32]);
        Self { from, to, dtype, seed: draw.next() as u64 }
    }

    /// What the ranks hold at first, by position.
    pub(crate) fn locals(&self, round: u64) -> Vec<Vec<f64>> {
        suited(self.dtype, &self.from.0, self.from.0.locals(self.seed ^ round))
    }
}

fn on_mesh(draw: &mut Draw, mesh: &[usize], shape: &[usize]) -> (Twin, Mesh) {
    let twin = draw.twin(mesh, shape);
    let ranks = draw.ranks(mesh.iter().product());
    let mesh = Mesh::with_ranks(twin.axes(), ranks).unwrap();
    (twin, mesh)
}
