//! Sums of drawn shapes in drawn layouts, against plain loops.

use proptest::prelude::*;
use reshard::{Mesh, World, ops};

use super::products::meshes;
use super::run::check;
use crate::naive::{Twin, TwinCut};

/// What one axis does to `a` and to `b`, whose dims are the last of `a`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Nothing,
    Dim(usize),
    TermsOfA(&'static str),
    TermsOfB(&'static str),
    TermsOfBoth(&'static str),
}

#[derive(Clone, Debug)]
struct Drawn {
    mesh: Vec<usize>,
    shape: Vec<usize>,
    b_ndim: usize,
    parts: Vec<Part>,
    order: Vec<usize>,
}

fn part(ndim: usize) -> impl Strategy<Value = Part> {
    let reduction = prop_oneof![Just("sum"), Just("avg")];
    prop_oneof![
        Just(Part::Nothing),
        (0..ndim).prop_map(Part::Dim),
        reduction.clone().prop_map(Part::TermsOfA),
        reduction.clone().prop_map(Part::TermsOfB),
        reduction.prop_map(Part::TermsOfBoth),
    ]
}

prop_compose! {
    fn drawn()(mesh in meshes(), shape in prop::collection::vec(0usize..=5, 1..=3))
        (parts in prop::collection::vec(part(shape.len()), mesh.len()),
         order in Just((0..mesh.len()).collect::<Vec<_>>()).prop_shuffle(),
         b_ndim in 0..=shape.len(), mesh in Just(mesh), shape in Just(shape)) -> Drawn {
        Drawn { mesh, shape, b_ndim, parts, order }
    }
}

impl Drawn {
    fn twin(&self, ndim: usize, terms: impl Fn(Part) -> Option<&'static str>) -> Twin {
        let first = self.shape.len() - ndim;
        let cuts = |dim| {
            let axes = self.order.iter().filter(|&&axis| self.parts[axis] == Part::Dim(dim));
            axes.map(|&axis| TwinCut::on(axis)).collect()
        };
        let parts = self.parts.iter().enumerate();
        let partial = parts.filter_map(|(axis, &part)| Some((axis, terms(part)?))).collect();
        let dims = (first..self.shape.len()).map(cuts).collect();
        Twin { mesh: self.mesh.clone(), shape: self.shape[first..].to_vec(), dims, partial }
    }

    fn a(&self) -> Twin {
        self.twin(self.shape.len(), |part| match part {
            Part::TermsOfA(reduction) | Part::TermsOfBoth(reduction) => Some(reduction),
            Part::Nothing | Part::Dim(_) | Part::TermsOfB(_) => None,
        })
    }

    fn b(&self) -> Twin {
        self.twin(self.b_ndim, |part| match part {
            Part::TermsOfB(reduction) | Part::TermsOfBoth(reduction) => Some(reduction),
            Part::Nothing | Part::Dim(_) | Part::TermsOfA(_) => None,
        })
    }

    fn out(&self) -> Twin {
        self.twin(self.shape.len(), |part| match part {
            Part::TermsOfA(reduction)
            | Part::TermsOfB(reduction)
            | Part::TermsOfBoth(reduction) => Some(reduction),
            Part::Nothing | Part::Dim(_) => None,
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn add_counts_each_operand_once(drawn in drawn(), seed in 0u64..1000) {
        let (a, b, out) = (drawn.a(), drawn.b(), drawn.out());
        let (x, y) = (a.value(seed), b.value(seed + 1));
        let expected: Vec<f64> = x.iter().enumerate().map(|(i, x)| x + y[i % y.len()]).collect();
        let given = [(&a, seed), (&b, seed + 1)];
        check::<f32>(&given, &out, &expected, |t| Ok(ops::add(&t[0], &t[1])?));
    }

    #[test]
    fn a_number_counts_once(drawn in drawn(), seed in 0u64..1000) {
        let a = drawn.a();
        let expected: Vec<f64> = a.value(seed).iter().map(|x| x + 10.0).collect();
        check::<f32>(&[(&a, seed)], &a, &expected, |t| Ok(ops::add_scalar(&t[0], 10.0)?));
    }
}

/// The sum of 0..10 over two shards, plus 10.
#[test]
fn a_constant_on_terms_counts_once() {
    let mesh = Mesh::new([("a", 2)]).unwrap();
    let sums = World::run(2, |world| {
        let shard: f32 = (0..5).map(|i| (5 * world.rank() + i) as f32).sum();
        let terms = world.on(&mesh).from_local("P(sum)", [1], vec![shard])?;
        ops::add_scalar(&terms, 10.0)?.redistribute("R")?.to_local_vec::<f32>()
    });
    assert_eq!(sums.unwrap(), [[55.0], [55.0]]);
}
