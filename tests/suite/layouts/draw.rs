//! Random twins: the ugly ones too. Axes of length 1, dims that no axis divides, empty blocks,
//! segments and rows, cuts that are not held, axes of one dim in any order.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::naive::{Law, Twin, TwinCut};

/// On 1 to 4 axes of length 1 to 4, with 0 to 4 dims of length 0 to 9.
pub(crate) fn twins() -> impl Strategy<Value = Twin> {
    choices().prop_map(|choices| Draw(choices).any_twin())
}

/// The same, and distinct ranks for the coordinates, in any order, with gaps.
pub(crate) fn twins_with_ranks() -> impl Strategy<Value = (Twin, Vec<usize>)> {
    choices().prop_map(|choices| {
        let mut draw = Draw(choices);
        let twin = draw.any_twin();
        let len = twin.mesh.iter().product::<usize>();
        let mut ranks = draw.shuffled(len + 3);
        ranks.truncate(len);
        (twin, ranks)
    })
}

/// On this mesh and of this shape.
pub(crate) fn twins_on(mesh: &[usize], shape: &[usize]) -> impl Strategy<Value = Twin> + use<> {
    let (mesh, shape) = (mesh.to_vec(), shape.to_vec());
    choices().prop_map(move |choices| Draw(choices).twin_on(&mesh, &shape))
}

/// The twin that these choices make on this mesh and of this shape.
pub(crate) fn twin_drawn(choices: Vec<usize>, mesh: &[usize], shape: &[usize]) -> Twin {
    Draw(choices).twin_on(mesh, shape)
}

/// Smaller choices mean simpler twins, so failures shrink.
fn choices() -> impl Strategy<Value = Vec<usize>> {
    vec(0..720_720_usize, 0..400)
}

/// Choices, used up from the back; when there are none left, the simplest is chosen.
struct Draw(Vec<usize>);

impl Draw {
    fn below(&mut self, len: usize) -> usize {
        self.0.pop().unwrap_or(0) % len
    }

    fn shuffled(&mut self, len: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..len).collect();
        for index in 1..len {
            let other = index - self.below(index + 1);
            order.swap(index, other);
        }
        order
    }

    fn any_twin(&mut self) -> Twin {
        let axes = 1 + self.below(4);
        let mesh: Vec<usize> = (0..axes).map(|_| 1 + self.below(4)).collect();
        let ndim = self.below(5);
        let shape: Vec<usize> = (0..ndim).map(|_| self.below(10)).collect();
        self.twin_on(&mesh, &shape)
    }

    fn twin_on(&mut self, mesh: &[usize], shape: &[usize]) -> Twin {
        let mut twin = Twin::replicated(mesh, shape);
        let reductions = [&["sum"][..], &["avg", "sum"], &["product"], &["min"], &["max"]];
        let reductions = reductions[self.below(reductions.len())];
        for axis in self.shuffled(mesh.len()) {
            // At most as many as axes, so that pieces stay few.
            if !shape.is_empty() && self.below(4) == 3 {
                let (dim, other) = (self.below(shape.len()), self.below(mesh.len()));
                let cut = self.cut(&twin, dim, other).not_held();
                twin = twin.cut(dim, cut);
            }
            match self.below(5) {
                0 => {}
                1 => twin.partial.push((axis, reductions[self.below(reductions.len())])),
                _ if shape.is_empty() => {}
                _ => {
                    let dim = self.below(shape.len());
                    let cut = self.cut(&twin, dim, axis);
                    twin = twin.cut(dim, cut);
                }
            }
        }
        twin
    }

    /// A cut of a dim that fits the cuts there are.
    fn cut(&mut self, twin: &Twin, dim: usize, axis: usize) -> TwinCut {
        let segments = (self.below(3) == 2).then(|| {
            let parts = 1 + self.below(4);
            self.parts(twin.shape[dim], parts)
        });
        let pieces = twin.piece_lens(dim, segments.as_deref());
        let law = match self.below(3) {
            0 => Law::Unit(1),
            1 => {
                let fits = |unit: &usize| pieces.iter().all(|len| len.is_multiple_of(*unit));
                let units: Vec<usize> = (1..=9).filter(fits).collect();
                Law::Unit(units[self.below(units.len())])
            }
            _ => Law::Rows(pieces.iter().map(|&len| self.parts(len, twin.mesh[axis])).collect()),
        };
        TwinCut { axis, held: true, segments, law }
    }

    /// Lengths that sum to `len`, zeros among them.
    fn parts(&mut self, len: usize, parts: usize) -> Vec<usize> {
        let mut bounds: Vec<usize> = (1..parts).map(|_| self.below(len + 1)).collect();
        bounds.extend([0, len]);
        bounds.sort_unstable();
        bounds.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}
