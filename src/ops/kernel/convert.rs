//! From one element type to another.

use half::{bf16, f16};

use crate::base::Element;

/// A value of any element type, without loss.
#[derive(Clone, Copy)]
pub(in crate::ops) enum Value {
    Integer(i128),
    Float(f64),
}

/// A type that goes to any other one.
pub(in crate::ops) trait Convert: Element {
    fn value(self) -> Value;
    /// Integers keep their low bits; floats go to the nearest float, and to integers truncated and
    /// saturated; anything but 0 is true.
    fn of(value: Value) -> Self;
}

macro_rules! integer {
    ($($rust:ty),*) => {$(
        impl Convert for $rust {
            fn value(self) -> Value {
                Value::Integer(i128::from(self))
            }
            fn of(value: Value) -> Self {
                match value {
                    Value::Integer(integer) => integer as $rust,
                    Value::Float(float) => float as $rust,
                }
            }
        }
    )*};
}

integer!(i8, u8, i32, u32, i64, u64);

macro_rules! float {
    ($($rust:ty),*) => {$(
        impl Convert for $rust {
            fn value(self) -> Value {
                Value::Float(Element::to_f64(self))
            }
            fn of(value: Value) -> Self {
                match value {
                    Value::Integer(integer) => Self::from_f64(integer as f64),
                    Value::Float(float) => Self::from_f64(float),
                }
            }
        }
    )*};
}

float!(f64, f16, bf16);

impl Convert for f32 {
    fn value(self) -> Value {
        Value::Float(f64::from(self))
    }
    fn of(value: Value) -> Self {
        match value {
            // Not by way of f64, which would round twice.
            Value::Integer(integer) => integer as f32,
            Value::Float(float) => float as f32,
        }
    }
}

impl Convert for bool {
    fn value(self) -> Value {
        Value::Integer(i128::from(self))
    }
    fn of(value: Value) -> Self {
        match value {
            Value::Integer(integer) => integer != 0,
            Value::Float(float) => float != 0.0,
        }
    }
}

/// Runs an expression with `$T` the Rust type of an element type.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
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
            $crate::base::DType::Bool => {
                type $T = bool;
                $body
            }
        }
    };
}
pub(in crate::ops) use with_element;

#[cfg(test)]
mod tests {
    use super::Convert;

    fn converted<T: Convert, U: Convert>(element: T) -> U {
        U::of(element.value())
    }

    #[test]
    fn conversions_round_once_wrap_and_saturate() {
        assert_eq!(converted::<u64, i64>(u64::MAX), -1);
        assert_eq!(converted::<i32, u8>(300), 44);
        assert_eq!(converted::<f32, i8>(-1000.5), -128);
        assert_eq!(converted::<f64, u8>(f64::NAN), 0);
        assert_eq!(converted::<i64, u64>(i64::MAX), 0x7fff_ffff_ffff_ffff);
        assert!(converted::<f32, bool>(0.5));
        // Halfway between two f32 but for the last bit, which f64 would round away.
        let integer = (1i64 << 60) + (1 << 36) + 1;
        assert_eq!(converted::<i64, f32>(integer), ((1i64 << 60) + (1 << 37)) as f32);
    }
}
