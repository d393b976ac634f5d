//! Element types as the kernels see them: how bytes become numbers to calculate with, and back.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

/// Numbers to calculate with.
pub(super) trait Number: Copy + Default {
    /// The sum; integers wrap.
    fn add(self, other: Self) -> Self;
    /// The product; integers wrap.
    fn mul(self, other: Self) -> Self;
    /// The lesser; NaN if either is.
    fn min(self, other: Self) -> Self;
    /// The greater; NaN if either is.
    fn max(self, other: Self) -> Self;
    /// The quotient.
    fn divide(self, divisor: usize) -> Self;
    /// The product with a factor, rounded once.
    fn scale(self, factor: f64) -> Self;
}

macro_rules! integer {
    ($($rust:ty),*) => {$(
        impl Number for $rust {
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }
            fn max(self, other: Self) -> Self {
                Ord::max(self, other)
            }
            fn divide(self, divisor: usize) -> Self {
                self / divisor as $rust
            }
            fn scale(self, factor: f64) -> Self {
                (self as f64 * factor) as $rust
            }
        }
    )*};
}

integer!(i8, u8, i32, u32, i64, u64);

macro_rules! float {
    ($($rust:ty),*) => {$(
        impl Number for $rust {
            fn add(self, other: Self) -> Self {
                self + other
            }
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn min(self, other: Self) -> Self {
                if self < other || self.is_nan() { self } else { other }
            }
            fn max(self, other: Self) -> Self {
                if self > other || self.is_nan() { self } else { other }
            }
            fn divide(self, divisor: usize) -> Self {
                self / divisor as $rust
            }
            fn scale(self, factor: f64) -> Self {
                (f64::from(self) * factor) as $rust
            }
        }
    )*};
}

float!(f32, f64);

/// An element type. Bytes may lie anywhere; no alignment is asked of them.
pub(super) trait Lane {
    /// What the kernels calculate with: `f32` for 16-bit floats, else the type itself.
    type Value: Number;
    /// Bytes of one element.
    const BYTES: usize;
    /// Reads as many elements as there are values.
    fn widen(bytes: &[u8], values: &mut [Self::Value]);
    /// Writes as many elements as there are values, each rounded once.
    fn narrow(values: &[Self::Value], bytes: &mut [u8]);
}

macro_rules! native {
    ($($rust:ty),*) => {$(
        impl Lane for $rust {
            type Value = $rust;
            const BYTES: usize = size_of::<$rust>();
            fn widen(bytes: &[u8], values: &mut [$rust]) {
                let (elements, _) = bytes.as_chunks::<{ size_of::<$rust>() }>();
                for (value, element) in values.iter_mut().zip(elements) {
                    *value = <$rust>::from_ne_bytes(*element);
                }
            }
            fn narrow(values: &[$rust], bytes: &mut [u8]) {
                let (elements, _) = bytes.as_chunks_mut::<{ size_of::<$rust>() }>();
                for (value, element) in values.iter().zip(elements) {
                    *element = value.to_ne_bytes();
                }
            }
        }
    )*};
}

native!(f32, f64, i8, u8, i32, u32, i64, u64);

macro_rules! half_width {
    ($($rust:ty),*) => {$(
        impl Lane for $rust {
            type Value = f32;
            const BYTES: usize = 2;
            fn widen(bytes: &[u8], values: &mut [f32]) {
                if let Ok(elements) = bytemuck::try_cast_slice::<u8, $rust>(bytes) {
                    return elements.convert_to_f32_slice(values);
                }
                let (elements, _) = bytes.as_chunks::<2>();
                for (value, element) in values.iter_mut().zip(elements) {
                    *value = <$rust>::from_ne_bytes(*element).to_f32();
                }
            }
            fn narrow(values: &[f32], bytes: &mut [u8]) {
                if let Ok(elements) = bytemuck::try_cast_slice_mut::<u8, $rust>(bytes) {
                    return elements.convert_from_f32_slice(values);
                }
                let (elements, _) = bytes.as_chunks_mut::<2>();
                for (value, element) in values.iter().zip(elements) {
                    *element = <$rust>::from_f32(*value).to_ne_bytes();
                }
            }
        }
    )*};
}

half_width!(f16, bf16);
