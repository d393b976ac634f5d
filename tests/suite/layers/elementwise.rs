//! Functions of single elements.

use reshard::ops::{self, Elementwise, OpError};
use reshard::{DType, Error, Mesh, World};

use super::run::check;
use crate::naive::{Twin, TwinCut};

/// `x · Φ(x)` by the Taylor series of erf, whose terms are summed until they vanish.
fn gelu(x: f64) -> f64 {
    let z = x / 2f64.sqrt();
    let (mut power, mut sum) = (z, z);
    for n in 1..200 {
        power *= -z * z / f64::from(n);
        sum += power / f64::from(2 * n + 1);
    }
    0.5 * x * (1.0 + 2.0 / std::f64::consts::PI.sqrt() * sum)
}

#[test]
fn gelu_is_the_exact_one_in_any_layout() {
    let mesh = Mesh::new([("a", 2), ("b", 3)]).unwrap();
    let number = |index: &[usize]| index[0] as f64 - 3.5 + 0.25 * index[1] as f64;
    for layout in ["R, R", "S(0), S(1)", "[b.a, -]", "S(1; unit=2), R"] {
        let ran = World::run(6, |world| {
            let on = world.on(&mesh);
            let wide = ops::gelu(&on.from_fn([7, 4], layout, number)?)?.full::<f64>()?;
            let narrow = ops::gelu(&on.from_fn([7, 4], layout, |i: &[usize]| number(i) as f32)?)?;
            Ok((wide, narrow.full::<f32>()?))
        });
        for (wide, narrow) in ran.unwrap() {
            for ((row, column), at) in (0..7).flat_map(|r| (0..4).map(move |c| (r, c))).zip(0..) {
                let expected = gelu(number(&[row, column]));
                let close = |found: f64, by: f64| (found - expected).abs() <= by;
                let found = wide.as_slice().unwrap()[at];
                assert!(close(found, 1e-11), "{found}, not {expected}, under {layout}");
                let found = narrow.as_slice().unwrap()[at];
                // The tanh approximation is off by up to 5e-4.
                assert!(close(found.into(), 3e-7), "{found}, not {expected}, under {layout}");
            }
        }
    }
}

#[test]
fn a_linear_function_passes_through_terms() {
    let terms = Twin { partial: vec![(0, "avg")], ..Twin::replicated(&[3, 2], &[5]) };
    let terms = terms.cut(0, TwinCut::on(1));
    let expected: Vec<f64> = terms.value(1).iter().map(|x| 3.0 * x).collect();
    check::<f32>(&[(&terms, 1)], &terms, &expected, |t| {
        Ok(ops::elementwise("triple", Elementwise::Linear, &t[0], |x: f32| 3.0 * x)?)
    });
}

#[test]
fn casts_keep_values_and_layouts() {
    let mesh = Mesh::new([("a", 2)]).unwrap();
    let ran = World::run(2, |world| {
        let x = world.on(&mesh).from_fn([3], "S(0)", |index| 1.75f32 - 2.0 * index[0] as f32)?;
        let whole = ops::cast(&x, DType::I32)?;
        assert_eq!((whole.layout(), whole.dtype()), (x.layout(), DType::I32));
        let truth = ops::cast(&whole, DType::Bool)?.full::<bool>()?;
        let small = ops::cast(&whole, DType::U8)?.full::<u8>()?;
        let terms = world.on(&mesh).from_local("P(sum)", [1], vec![0.5f64])?;
        let half = ops::cast(&terms, DType::Bf16)?.full::<half::bf16>()?;
        Ok((whole.full::<i32>()?.into_raw_vec_and_offset().0, truth[2], small[2], half[0].to_f32()))
    });
    assert_eq!(ran.unwrap()[1], (vec![1, 0, -2], true, 254, 1.0));
}

/// One half on each of 4 ranks is 2, but four times 0 is 0.
#[test]
fn terms_are_reduced_before_they_become_integers() {
    let mesh = Mesh::new([("a", 4)]).unwrap();
    let ran = World::run(4, |world| {
        let terms = world.on(&mesh).from_local("P(sum)", [1], vec![0.5f32])?;
        let refused = ops::cast(&terms, DType::I32).unwrap_err();
        let OpError::CastOfTerms { axis, .. } = refused else {
            return Err(Error::caller(refused));
        };
        assert_eq!(axis, "a");
        ops::cast(&terms.redistribute("R")?, DType::I32)?.to_local_vec::<i32>()
    });
    assert_eq!(ran.unwrap(), [[2], [2], [2], [2]]);
}
