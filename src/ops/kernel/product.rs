//! Matrix products of two local tensors.

use std::ops::Range;

use half::{bf16, f16};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

use super::Number;

/// Rows of one matrix, and as many of another.
type Runs = [(Range<usize>, Range<usize>)];

/// An element type whose matrices can be multiplied. An empty contraction gives zeros.
pub(in crate::ops) trait Multiply: Number {
    /// `x` [m, k] times `w` [k, n]: [m, n] in row-major order.
    fn product(x: ArrayView2<'_, Self>, w: ArrayView2<'_, Self>) -> Array2<Self> {
        let mut y = Array2::from_elem((x.nrows(), w.ncols()), Self::from_f64(0.0));
        Self::product_rows(x, w, &[(0..x.nrows(), 0..x.nrows())], y.view_mut());
        y
    }

    /// Of each run, the rows of `x` [_, k] times `w` [k, n], written to the rows of `y` [_, n], which are
    /// zeros. A row comes out the same in any run.
    fn product_rows(
        x: ArrayView2<'_, Self>,
        w: ArrayView2<'_, Self>,
        runs: &Runs,
        y: ArrayViewMut2<'_, Self>,
    );
}

macro_rules! blocked {
    ($($rust:ty),*) => {$(
        impl Multiply for $rust {
            fn product_rows(
                x: ArrayView2<'_, Self>,
                w: ArrayView2<'_, Self>,
                runs: &Runs,
                mut y: ArrayViewMut2<'_, Self>,
            ) {
                for (from, to) in runs {
                    let x = x.slice(s![from.clone(), ..]);
                    let mut y = y.slice_mut(s![to.clone(), ..]);
                    if !y.is_empty() && x.ncols() > 0 {
                        general_mat_mul(1.0, &x, &w, 0.0, &mut y);
                    }
                }
            }
        }
    )*};
}

blocked!(f32, f64);

macro_rules! through_f32 {
    ($($rust:ty),*) => {$(
        impl Multiply for $rust {
            fn product_rows(
                x: ArrayView2<'_, Self>,
                w: ArrayView2<'_, Self>,
                runs: &Runs,
                mut y: ArrayViewMut2<'_, Self>,
            ) {
                let wide = |a: ArrayView2<'_, Self>| a.mapv(<$rust>::to_f32);
                let w = wide(w);
                for (from, to) in runs {
                    let product = f32::product(wide(x.slice(s![from.clone(), ..])).view(), w.view());
                    let narrow = |y: &mut $rust, product: &f32| *y = <$rust>::from_f32(*product);
                    y.slice_mut(s![to.clone(), ..]).zip_mut_with(&product, narrow);
                }
            }
        }
    )*};
}

through_f32!(f16, bf16);

macro_rules! wrapping {
    ($($rust:ty),*) => {$(
        impl Multiply for $rust {
            fn product_rows(
                x: ArrayView2<'_, Self>,
                w: ArrayView2<'_, Self>,
                runs: &Runs,
                mut y: ArrayViewMut2<'_, Self>,
            ) {
                for (from, to) in runs.iter().cloned().flat_map(|(from, to)| from.zip(to)) {
                    let mut y_row = y.row_mut(to);
                    for (&factor, w_row) in x.row(from).iter().zip(w.rows()) {
                        let add = |y: &mut $rust, &w: &$rust| *y = y.plus(factor.times(w));
                        y_row.zip_mut_with(&w_row, add);
                    }
                }
            }
        }
    )*};
}

wrapping!(i8, u8, i32, u32, i64, u64);

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn sixteen_bit_floats_round_once() {
        // Added one by one in f16, 2048 + 1 would stay 2048 twice.
        let x = array![[2048.0, 1.0, 1.0]].mapv(f16::from_f32);
        let ones = Array2::from_elem((3, 1), f16::ONE);
        assert_eq!(f16::product(x.view(), ones.view()), array![[f16::from_f32(2050.0)]]);
    }

    #[test]
    fn integers_wrap_and_nothing_sums_to_zero() {
        let (x, w) = (array![[200u8, 100]], array![[1u8], [1]]);
        assert_eq!(u8::product(x.view(), w.view()), array![[44]]);
        let (x, w) = (Array2::<f32>::zeros((2, 0)), Array2::<f32>::zeros((0, 3)));
        assert_eq!(f32::product(x.view(), w.view()), Array2::zeros((2, 3)));
        let w = Array2::<f32>::zeros((2, 0));
        assert_eq!(f32::product(array![[1.0, 2.0]].view(), w.view()).dim(), (1, 0));
    }

    #[test]
    fn rows_come_out_the_same_in_any_run() {
        let x = Array2::from_shape_fn((23, 37), |(i, j)| ((i * 7 + j * 3) % 11) as f32 / 7.0);
        let w = Array2::from_shape_fn((37, 19), |(i, j)| ((i * 5 + j * 2) % 13) as f32 / 9.0);
        let whole = f32::product(x.view(), w.view());
        let runs = [(20..23, 0..3), (0..1, 3..4), (1..20, 4..23)];
        let mut parts = Array2::zeros((23, 19));
        f32::product_rows(x.view(), w.view(), &runs, parts.view_mut());
        for (row, part) in runs.into_iter().flat_map(|(from, to)| from.zip(to)) {
            assert_eq!(whole.row(row), parts.row(part));
        }
    }

    #[test]
    fn transposed_views_give_rows_in_order() {
        let (x, w) = (array![[1.0f64, 2.0], [3.0, 4.0]], array![[1.0f64, 0.0], [0.0, 1.0]]);
        let y = f64::product(x.t(), w.t());
        assert!(y.is_standard_layout());
        assert_eq!(y, array![[1.0, 3.0], [2.0, 4.0]]);
    }
}
