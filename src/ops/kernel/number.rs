//! Element types that can be added and multiplied.

use half::{bf16, f16};

use crate::base::Element;

/// An element type with arithmetic: all but truth values. Integers wrap, floats round once.
pub(in crate::ops) trait Number: Element {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! integer {
    ($($rust:ty),*) => {$(
        impl Number for $rust {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

integer!(i8, u8, i32, u32, i64, u64);

macro_rules! float {
    ($($rust:ty),*) => {$(
        impl Number for $rust {
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

// OK because `half` calculates in f32 and rounds once.
float!(f32, f64, f16, bf16);

/// Runs an expression that gives a `Result<_, OpError>` with `$T` the Rust type of an element type; an
/// error on truth values.
macro_rules! with_number {
    ($dtype:expr, $operation:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::base::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::base::DType::F64 => {
                type $T = f64;
                $body
            }
            $crate::base::DType::F16 => {
                type $T = half::f16;
                $body
            }
            $crate::base::DType::Bf16 => {
                type $T = half::bf16;
                $body
            }
            $crate::base::DType::I8 => {
                type $T = i8;
                $body
            }
            $crate::base::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::base::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::base::DType::U32 => {
                type $T = u32;
                $body
            }
            $crate::base::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::base::DType::U64 => {
                type $T = u64;
                $body
            }
            dtype @ $crate::base::DType::Bool => Err($crate::ops::OpError::DType {
                operation: $operation,
                dtype,
                remedy: "a number type",
            }),
        }
    };
}
pub(in crate::ops) use with_number;
