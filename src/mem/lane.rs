//! Element types as the kernels see them: how bytes become numbers to calculate with, and back.

use half::{bf16, f16};

use super::sixteen::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// Numbers to calculate with.
pub(super) trait Number: bytemuck::Pod {
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
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Ord::max(self, other)
            }
            #[inline(always)]
            fn divide(self, divisor: usize) -> Self {
                self / divisor as $rust
            }
            #[inline(always)]
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
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other || self.is_nan() { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other || self.is_nan() { self } else { other }
            }
            #[inline(always)]
            fn divide(self, divisor: usize) -> Self {
                self / divisor as $rust
            }
            #[inline(always)]
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
    /// The bytes of one element.
    type Bytes: bytemuck::Pod;
    /// How many they are.
    const BYTES: usize = size_of::<Self::Bytes>();
    /// Whether values are floats, which can be divided.
    const DIVIDES: bool;
    /// Whether this is `f16`, for which some machines have instructions.
    const IS_F16: bool;
    /// Reads an element.
    fn widen(bytes: Self::Bytes) -> Self::Value;
    /// The bytes of an element, rounded once.
    fn narrow(value: Self::Value) -> Self::Bytes;
}

/// Bytes as those of single elements.
#[inline(always)]
pub(super) fn elements<L: Lane>(bytes: &[u8]) -> &[L::Bytes] {
    bytemuck::cast_slice(bytes)
}

/// Bytes as those of single elements.
#[inline(always)]
pub(super) fn elements_mut<L: Lane>(bytes: &mut [u8]) -> &mut [L::Bytes] {
    bytemuck::cast_slice_mut(bytes)
}

macro_rules! native {
    ($($rust:ty: $divides:literal),*) => {$(
        impl Lane for $rust {
            type Value = $rust;
            type Bytes = [u8; size_of::<$rust>()];
            const DIVIDES: bool = $divides;
            const IS_F16: bool = false;
            #[inline(always)]
            fn widen(bytes: Self::Bytes) -> $rust {
                <$rust>::from_ne_bytes(bytes)
            }
            #[inline(always)]
            fn narrow(value: $rust) -> Self::Bytes {
                value.to_ne_bytes()
            }
        }
    )*};
}

native!(f32: true, f64: true);
native!(i8: false, u8: false, i32: false, u32: false, i64: false, u64: false);

macro_rules! half_width {
    ($($rust:ty: $widen:ident, $narrow:ident, $is_f16:literal;)*) => {$(
        impl Lane for $rust {
            type Value = f32;
            type Bytes = [u8; 2];
            const DIVIDES: bool = true;
            const IS_F16: bool = $is_f16;
            #[inline(always)]
            fn widen(bytes: [u8; 2]) -> f32 {
                $widen(u16::from_ne_bytes(bytes))
            }
            #[inline(always)]
            fn narrow(value: f32) -> [u8; 2] {
                $narrow(value).to_ne_bytes()
            }
        }
    )*};
}

half_width! {
    f16: f16_to_f32, f32_to_f16, true;
    bf16: bf16_to_f32, f32_to_bf16, false;
}
