//! The Rust types that elements have at compile time.

use half::{bf16, f16};

use super::DType;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is the element type of a tensor: one for each [`DType`].
///
/// Sealed: the executor must know how to reduce every element type.
pub trait Element:
    sealed::Sealed
    + bytemuck::NoUninit
    + bytemuck::CheckedBitPattern
    + PartialEq
    + Default
    + Send
    + Sync
    + std::fmt::Debug
    + std::fmt::Display
    + 'static
{
    /// The run-time name of this type.
    const DTYPE: DType;

    /// The nearest value to `value`: rounded to even for floats, truncated and saturated for
    /// integers, `value != 0` for truth values.
    fn from_f64(value: f64) -> Self;

    /// The value as a double: exact but for 64-bit integers beyond 2^53, which round to nearest.
    fn to_f64(self) -> f64;
}

macro_rules! numeric {
    ($($rust:ty => $dtype:ident),*) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            fn from_f64(value: f64) -> Self {
                value as $rust
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}

numeric!(f32 => F32, f64 => F64, i8 => I8, u8 => U8, i32 => I32, u32 => U32, i64 => I64, u64 => U64);

macro_rules! half_width {
    ($($rust:ty => $dtype:ident),*) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            fn from_f64(value: f64) -> Self {
                <$rust>::from_f64(value)
            }
            fn to_f64(self) -> f64 {
                <$rust>::to_f64(self)
            }
        }
    )*};
}

half_width!(f16 => F16, bf16 => Bf16);

impl sealed::Sealed for bool {}
impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn from_f64(value: f64) -> Self {
        value != 0.0
    }
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
}
