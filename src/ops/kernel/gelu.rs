//! The Gaussian error linear unit.

use half::{bf16, f16};

use crate::base::Element;

/// A float type that has GELU.
pub(in crate::ops) trait Gelu: Element {
    /// `x · Φ(x)` with Φ the distribution function of the standard normal: the exact form, not the tanh
    /// approximation. Calculated in f64 and rounded once.
    fn gelu(self) -> Self;
}

macro_rules! float {
    ($($rust:ty),*) => {$(
        impl Gelu for $rust {
            fn gelu(self) -> Self {
                Self::from_f64(gelu(Element::to_f64(self)))
            }
        }
    )*};
}

float!(f32, f64, f16, bf16);

/// By the complementary error function, since `1 + erf` would cancel where `x` is far below 0.
fn gelu(x: f64) -> f64 {
    0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::gelu;

    #[test]
    fn values_are_those_of_tables() {
        // x times the normal distribution function to 15 digits.
        let table = [
            (0.0, 0.0),
            (1.0, 0.841_344_746_068_543),
            (-1.0, -0.158_655_253_931_457),
            (2.0, 1.954_499_736_103_642),
            (-3.0, -0.004_049_694_094_890),
        ];
        for (x, expected) in table {
            assert!((gelu(x) - expected).abs() < 1e-14, "gelu({x}) = {}", gelu(x));
        }
        assert!(gelu(-10.0) < 0.0, "far below 0 the result is tiny, not 0");
    }
}
