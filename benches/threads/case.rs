//! What is measured: a transition of an f32 matrix, its tensors, and a model of its values.

use std::fmt;
use std::ops::Range;

use reshard::{DistTensor, Error, IntoLayout, Layout, Mesh, World};

use crate::copies::Copies;

const ONE_AXIS: [&str; 6] = ["S0->R", "R->S0", "S0->S1", "P->R", "P->S0", "P->S1"];
const TWO_AXES: [&str; 8] = [
    "S0,S1->R,R",
    "S0,S0->R,R",
    "S0,S0->R,S0",
    "S0,S1->S1,S0",
    "P,S0->S0,R",
    "P,P->R,R",
    "P,R->S0,S1",
    "R,S0->S0,R",
];
/// The transitions that the plot shows, at more sizes than the others.
pub(crate) const PLOTTED: [&str; 4] = ["S0->R", "S0->S1", "P->R", "P->S0"];

/// One transition of a matrix of one shape on one mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// Source and target placements, such as `P,S0->S0,R`.
    pub(crate) op: String,
    pub(crate) mesh: Vec<usize>,
    pub(crate) shape: [usize; 2],
}

/// Rows and columns of a block of the matrix.
pub(crate) type Block = [Range<usize>; 2];

/// Every case, in the order of the table.
pub(crate) fn all() -> Vec<Case> {
    let case = |op: &str, mesh: &[usize], shape| Case { op: op.into(), mesh: mesh.into(), shape };
    let mut cases = vec![case("S0->S0", &[2], [32, 32]), case("S0->R", &[1], [32, 32])];
    for side in [32, 128, 512, 2048, 4096] {
        let between = side == 128 || side == 2048;
        let ops = ONE_AXIS.iter().filter(|op| !between || PLOTTED.contains(op));
        cases.extend(ops.map(|op| case(op, &[2], [side; 2])));
    }
    cases.extend(["S0->S1", "P->S1"].map(|op| case(op, &[2], [65536, 256])));
    for side in [32, 512, 4096] {
        cases.extend(ONE_AXIS.map(|op| case(op, &[4], [side; 2])));
        cases.extend(TWO_AXES.map(|op| case(op, &[2, 2], [side; 2])));
    }
    cases
}

impl Case {
    pub(crate) fn ranks(&self) -> usize {
        self.mesh.iter().product()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * size_of::<f32>()
    }

    fn sides(&self) -> [Vec<&str>; 2] {
        let (source, target) = self.op.split_once("->").unwrap();
        [source, target].map(|side| side.split(',').collect())
    }

    /// The coordinate of a rank along every axis; ranks are numbered with the last axis fastest.
    fn coordinate(&self, rank: usize) -> Vec<usize> {
        let behind = |axis: usize| self.mesh[axis + 1..].iter().product::<usize>();
        (0..self.mesh.len()).map(|axis| rank / behind(axis) % self.mesh[axis]).collect()
    }

    /// The block that a rank holds under placements; all lengths here divide evenly.
    fn block(&self, places: &[&str], rank: usize) -> Block {
        let mut block = self.shape.map(|len| 0..len);
        for ((place, len), at) in places.iter().zip(&self.mesh).zip(self.coordinate(rank)) {
            if let Some(dim) = place.strip_prefix('S') {
                let range = &mut block[dim.parse::<usize>().unwrap()];
                let part = range.len() / len;
                *range = range.start + at * part..range.start + (at + 1) * part;
            }
        }
        block
    }

    /// Which of the terms of a partial source a rank holds, and how many there are.
    fn term(&self, rank: usize) -> (usize, usize) {
        let [source, _] = self.sides();
        let axes = source.iter().zip(&self.mesh).zip(self.coordinate(rank));
        axes.filter(|((place, _), _)| **place == "P")
            .fold((0, 1), |(term, terms), ((_, len), at)| (term * len + at, terms * len))
    }

    /// What plain copies of as many bytes as a rank has to read and write are; none where nothing moves.
    ///
    /// Ranks that need the same block of a partial source each reduce a share of it and copy the rest.
    pub(crate) fn copies(&self, rank: usize) -> Option<Copies> {
        let [source, target] = self.sides();
        let block_of = |rank| self.block(&target, rank);
        let block = block_of(rank);
        let (_, terms) = self.term(rank);
        if terms == 1 {
            let held = self.block(&source, rank);
            let inside =
                |dim: usize| held[dim].start <= block[dim].start && block[dim].end <= held[dim].end;
            return (!(inside(0) && inside(1))).then_some(Copies { block });
        }
        let replicas = (0..self.ranks()).filter(|&other| block_of(other) == block).count();
        let rows = block[0].len();
        let (reduced, twice) = (rows * terms / replicas, 2 * rows - rows / replicas);
        let rows = (reduced + twice).div_ceil(2);
        // Ranks of the same columns read rows of their own.
        let before = (0..rank).filter(|&other| block_of(other)[1] == block[1]).count();
        Some(Copies { block: [before * rows..(before + 1) * rows, block[1].clone()] })
    }

    /// Whether any rank has something to copy.
    pub(crate) fn moves(&self) -> bool {
        (0..self.ranks()).any(|rank| self.copies(rank).is_some())
    }

    fn on_mesh(&self, places: &[&str], mesh: &Mesh) -> Layout {
        let text: Vec<String> = places
            .iter()
            .map(|place| match *place {
                "R" => "R".to_owned(),
                "P" => "P(sum)".to_owned(),
                cut => format!("S({})", &cut[1..]),
            })
            .collect();
        text.join(", ").as_str().into_layout(mesh, 2).unwrap()
    }

    /// The source tensor and the target layout.
    pub(crate) fn start(&self, world: &World) -> Result<(DistTensor, Layout), Error> {
        let mesh = Mesh::new(["a", "b"].into_iter().zip(self.mesh.iter().copied())).unwrap();
        let [source, target] = self.sides();
        let block = self.block(&source, world.rank());
        let (term, _) = self.term(world.rank());
        let local = self.elements(&block).map(|value| value + term as f32).collect::<Vec<f32>>();
        let layout = self.on_mesh(&source, &mesh);
        let tensor = world.on(&mesh).from_local(layout, self.shape, local)?;
        Ok((tensor, self.on_mesh(&target, &mesh)))
    }

    /// Element (i, j) is (i · columns + j) mod 1009; a term is that plus its number.
    fn elements(&self, block: &Block) -> impl Iterator<Item = f32> {
        let ([rows, columns], width) = (block.clone(), self.shape[1]);
        rows.flat_map(move |row| {
            columns.clone().map(move |column| ((row * width + column) % 1009) as f32)
        })
    }

    /// Compares a rank's part of the result with the model.
    pub(crate) fn check(&self, result: &DistTensor) -> Result<(), Error> {
        let [_, target] = self.sides();
        let rank = result.world().rank();
        let (_, terms) = self.term(rank);
        let (times, plus) = (terms as f32, (terms * (terms - 1) / 2) as f32);
        let block = self.block(&target, rank);
        let local = result.local_buffer()?.as_elements::<f32>().unwrap();
        assert_eq!(local.len(), block[0].len() * block[1].len(), "{self}");
        let wrong =
            self.elements(&block).zip(local).position(|(value, &got)| got != value * times + plus);
        assert_eq!(wrong, None, "{self}: the first wrong element of rank {rank}");
        Ok(())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {:?} on {:?}", self.op, self.shape, self.mesh)
    }
}
