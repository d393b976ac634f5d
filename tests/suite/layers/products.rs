//! Products of drawn shapes in drawn layouts, against plain loops.

use ndarray::Array2;
use proptest::prelude::*;
use reshard::{DType, Mesh, Reduction, World, ops};

use super::run::{check, tensor, wide};
use crate::naive::{Twin, TwinCut};

/// What one axis does to `x` [leads.., k], `w` [k, n] and so to their product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Nothing,
    Lead(usize),
    Contracted,
    Columns,
    TermsOfX(&'static str),
    TermsOfW(&'static str),
}

/// A product whose operands fit.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    mesh: Vec<usize>,
    leads: Vec<usize>,
    k: usize,
    n: usize,
    parts: Vec<Part>,
    /// All axes; those that cut one dim are major to minor in this order.
    order: Vec<usize>,
    /// Whether the major cuts of `k` and `n` break them into two segments.
    segments: bool,
}

fn part(leads: usize) -> impl Strategy<Value = Part> {
    let reduction = prop_oneof![Just("sum"), Just("avg")];
    prop_oneof![
        1 => Just(Part::Nothing),
        2 => (0..leads).prop_map(Part::Lead),
        3 => Just(Part::Contracted),
        2 => Just(Part::Columns),
        1 => reduction.clone().prop_map(Part::TermsOfX),
        1 => reduction.prop_map(Part::TermsOfW),
    ]
}

pub(super) fn meshes() -> impl Strategy<Value = Vec<usize>> {
    let lens = prop::collection::vec(1usize..=4, 1..=3);
    lens.prop_filter("8 ranks or fewer", |lens| lens.iter().product::<usize>() <= 8)
}

prop_compose! {
    fn drawn()(mesh in meshes(), leads in prop::collection::vec(0usize..=4, 1..=3))
        (parts in prop::collection::vec(part(leads.len()), mesh.len()),
         order in Just((0..mesh.len()).collect::<Vec<_>>()).prop_shuffle(),
         mesh in Just(mesh), leads in Just(leads), k in 0usize..=7, n in 0usize..=5,
         segments in any::<bool>()) -> Drawn {
        Drawn { mesh, leads, k, n, parts, order, segments }
    }
}

impl Drawn {
    fn twin(&self, shape: Vec<usize>, dims: Vec<Part>) -> Twin {
        let cuts = |(&len, &dim): (&usize, &Part)| {
            let axes = self.order.iter().filter(|&&axis| self.parts[axis] == dim);
            let mut cuts: Vec<TwinCut> = axes.map(|&axis| TwinCut::on(axis)).collect();
            let whole = matches!(dim, Part::Lead(_)) || !self.segments;
            if let (false, Some(first)) = (whole, cuts.first_mut()) {
                *first = first.clone().segments(&[len / 3, len - len / 3]);
            }
            cuts
        };
        let dims = shape.iter().zip(&dims).map(cuts).collect();
        Twin { mesh: self.mesh.clone(), shape, dims, partial: Vec::new() }
    }

    fn terms(&self, of: impl Fn(Part) -> Option<&'static str>) -> Vec<(usize, &'static str)> {
        let parts = self.parts.iter().enumerate();
        parts.filter_map(|(axis, &part)| Some((axis, of(part)?))).collect()
    }

    fn leads(&self) -> Vec<Part> {
        (0..self.leads.len()).map(Part::Lead).collect()
    }

    fn x(&self) -> Twin {
        let dims = [self.leads(), vec![Part::Contracted]].concat();
        let twin = self.twin([self.leads.clone(), vec![self.k]].concat(), dims);
        let terms =
            |part| if let Part::TermsOfX(reduction) = part { Some(reduction) } else { None };
        Twin { partial: self.terms(terms), ..twin }
    }

    fn w(&self, [first, second]: [(usize, Part); 2]) -> Twin {
        let twin = self.twin(vec![first.0, second.0], vec![first.1, second.1]);
        let terms =
            |part| if let Part::TermsOfW(reduction) = part { Some(reduction) } else { None };
        Twin { partial: self.terms(terms), ..twin }
    }

    fn in_out(&self) -> [(usize, Part); 2] {
        [(self.k, Part::Contracted), (self.n, Part::Columns)]
    }

    fn out_in(&self) -> [(usize, Part); 2] {
        [(self.n, Part::Columns), (self.k, Part::Contracted)]
    }

    fn bias(&self) -> Twin {
        self.twin(vec![self.n], vec![Part::Columns])
    }

    fn out(&self) -> Twin {
        let dims = [self.leads(), vec![Part::Columns]].concat();
        let twin = self.twin([self.leads.clone(), vec![self.n]].concat(), dims);
        let terms = |part| match part {
            Part::Contracted => Some("sum"),
            Part::TermsOfX(reduction) | Part::TermsOfW(reduction) => Some(reduction),
            Part::Nothing | Part::Lead(_) | Part::Columns => None,
        };
        Twin { partial: self.terms(terms), ..twin }
    }

    fn averages(&self) -> bool {
        let avg = |part: &Part| matches!(part, Part::TermsOfX("avg") | Part::TermsOfW("avg"));
        self.parts.iter().any(avg)
    }

    /// The product of `x` and `w` [k, n], by rows.
    fn expected(&self, x: &[f64], w: &Array2<f64>) -> Vec<f64> {
        if self.k == 0 {
            return vec![0.0; self.leads.iter().product::<usize>() * self.n];
        }
        super::run::product(x, w)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn matmul_is_the_product(drawn in drawn(), seed in 0u64..1000) {
        let (x, w, out) = (drawn.x(), drawn.w(drawn.in_out()), drawn.out());
        let whole = Array2::from_shape_vec((drawn.k, drawn.n), w.value(seed + 1)).unwrap();
        let expected = drawn.expected(&x.value(seed), &whole);
        let given = [(&x, seed), (&w, seed + 1)];
        let operation = |t: &[_]| Ok(ops::matmul(&t[0], &t[1])?);
        check::<f32>(&given, &out, &expected, operation);
        if !drawn.averages() {
            check::<i64>(&given, &out, &expected, operation);
        }
    }

    #[test]
    fn linear_is_the_product_with_the_transpose_and_the_bias_once(drawn in drawn(), seed in 0u64..1000) {
        let (x, w, bias, out) = (drawn.x(), drawn.w(drawn.out_in()), drawn.bias(), drawn.out());
        let stored = Array2::from_shape_vec((drawn.n, drawn.k), w.value(seed + 1)).unwrap();
        let product = drawn.expected(&x.value(seed), &stored.t().to_owned());
        let (added, n) = (bias.value(seed + 2), drawn.n.max(1));
        let expected: Vec<f64> = product.iter().enumerate().map(|(i, y)| y + added[i % n]).collect();
        let given = [(&x, seed), (&w, seed + 1), (&bias, seed + 2)];
        check::<f64>(&given, &out, &expected, |t| Ok(ops::linear(&t[0], &t[1], Some(&t[2]))?));
        check::<f32>(&given[..2], &out, &product, |t| Ok(ops::linear(&t[0], &t[1], None)?));
    }
}

/// On each of 4 ranks one of 4 columns: bf16 holds every term and the rounded sum.
#[test]
fn sixteen_bit_floats_round_once_a_rank() {
    let x = Twin::replicated(&[4], &[1, 4]).cut(1, TwinCut::on(0));
    let w = Twin::replicated(&[4], &[4, 3]).cut(0, TwinCut::on(0));
    let out = Twin { partial: vec![(0, "sum")], ..Twin::replicated(&[4], &[1, 3]) };
    let whole = Array2::from_shape_vec((4, 3), w.value(2)).unwrap();
    let expected = super::run::product(&x.value(1), &whole);
    check::<half::bf16>(&[(&x, 1), (&w, 2)], &out, &expected, |t| Ok(ops::matmul(&t[0], &t[1])?));
    check::<half::f16>(&[(&x, 1), (&w, 2)], &out, &expected, |t| Ok(ops::matmul(&t[0], &t[1])?));
}

/// Element by element: cuts stay, and terms times a whole tensor are terms.
#[test]
fn mul_multiplies_elements() {
    let a = Twin { partial: vec![(1, "sum")], ..Twin::replicated(&[3, 2], &[5, 2]) };
    let (a, b) =
        (a.cut(0, TwinCut::on(0)), Twin::replicated(&[3, 2], &[5, 2]).cut(0, TwinCut::on(0)));
    let expected: Vec<f64> = a.value(3).iter().zip(b.value(4)).map(|(a, b)| a * b).collect();
    check::<i32>(&[(&a, 3), (&b, 4)], &a, &expected, |t| Ok(ops::mul(&t[0], &t[1])?));
    check::<f32>(&[(&b, 4), (&a, 3)], &a, &expected, |t| Ok(ops::mul(&t[0], &t[1])?));
}

/// Ranks outside the mesh get the handle of the result, whose layout and shape they know.
#[test]
fn outside_the_mesh_operations_give_handles() {
    let mesh = Mesh::with_ranks([("a", 2)], [3, 1]).unwrap();
    let seen = World::run(4, |world| {
        let x = world.on(&mesh).from_fn([2, 6], "S(1)", |index| index[1] as f32)?;
        let w = world.on(&mesh).from_fn([6, 3], "S(0)", |_| 1.0f32)?;
        let y = ops::matmul(&x, &w)?;
        assert_eq!(y.layout().partial(), [(mesh.axis("a")?, Reduction::Sum)]);
        assert_eq!((y.shape(), y.dtype()), (&[2, 3][..], DType::F32));
        let whole = ops::gelu(&y.redistribute("R")?)?;
        assert_eq!(whole.is_here(), world.rank() % 2 == 1);
        Ok(if y.is_here() { y.to_local_vec::<f32>()? } else { Vec::new() })
    });
    assert_eq!(seen.unwrap(), [vec![], vec![12.0; 6], vec![], vec![3.0; 6]]);
}

/// Integers wrap, as they do without layouts.
#[test]
fn integers_wrap() {
    let mesh = Mesh::new([("a", 2)]).unwrap();
    let sums = World::run(2, |world| {
        let x = world.on(&mesh).from_fn([1, 2], "S(1)", |_| 200u8)?;
        let w = world.on(&mesh).from_fn([2, 1], "S(0)", |_| 1u8)?;
        Ok(wide(&ops::matmul(&x, &w)?.redistribute("R")?.to_local_vec::<u8>()?))
    });
    assert_eq!(sums.unwrap(), [[144.0], [144.0]]);
}

/// A rank that holds nothing of the contracted dim has zeros as its terms.
#[test]
fn an_empty_contraction_gives_zeros() {
    let x = Twin::replicated(&[4], &[2, 2]).cut(1, TwinCut::on(0));
    let w = Twin::replicated(&[4], &[2, 3]).cut(0, TwinCut::on(0));
    let mesh = Mesh::new(x.axes()).unwrap();
    let locals = World::run(4, |world| {
        let [x, w] = [tensor::<f32>(world, &mesh, &x, 5)?, tensor::<f32>(world, &mesh, &w, 6)?];
        ops::matmul(&x, &w)?.to_local_vec::<f32>()
    });
    assert_eq!(locals.unwrap()[3], [0.0; 6]);
}
