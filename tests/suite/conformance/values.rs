//! Integer values as elements of every type: their bytes, and the arithmetic of that type.

use half::{bf16, f16};
use reshard::{DType, Reduction};

/// The bytes of an integer that the type holds exactly.
pub(crate) fn encode(value: i128, dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F32 => (value as f32).to_ne_bytes().to_vec(),
        DType::F64 => (value as f64).to_ne_bytes().to_vec(),
        DType::F16 => f16::from_f64(value as f64).to_ne_bytes().to_vec(),
        DType::Bf16 => bf16::from_f64(value as f64).to_ne_bytes().to_vec(),
        DType::I8 => (value as i8).to_ne_bytes().to_vec(),
        DType::U8 => (value as u8).to_ne_bytes().to_vec(),
        DType::I32 => (value as i32).to_ne_bytes().to_vec(),
        DType::U32 => (value as u32).to_ne_bytes().to_vec(),
        DType::I64 => (value as i64).to_ne_bytes().to_vec(),
        DType::U64 => (value as u64).to_ne_bytes().to_vec(),
        DType::Bool => vec![u8::from(value != 0)],
    }
}

/// The integer as the type holds it: integer types wrap.
fn wrapped(value: i128, dtype: DType) -> i128 {
    match dtype {
        DType::I8 => i128::from(value as i8),
        DType::U8 => i128::from(value as u8),
        DType::I32 => i128::from(value as i32),
        DType::U32 => i128::from(value as u32),
        DType::I64 => i128::from(value as i64),
        DType::U64 => i128::from(value as u64),
        DType::Bool => i128::from(value != 0),
        DType::F32 | DType::F64 | DType::F16 | DType::Bf16 => value,
    }
}

/// Integers that suit a type and a reduction, so that every result is exact: `number` picks one.
pub(crate) fn pick(
    number: u64,
    dtype: DType,
    reduction: Option<Reduction>,
    divisor: usize,
) -> i128 {
    // A step of a linear congruential generator, so that neighbours differ.
    let number = i128::from(number.wrapping_mul(6_364_136_223_846_793_005).rotate_left(23) >> 40);
    let value = match (reduction, dtype) {
        (Some(Reduction::Product), DType::F16 | DType::Bf16) => number % 2 + 1,
        (Some(Reduction::Product), DType::F32 | DType::F64) => number % 3 + 1,
        (Some(Reduction::Sum | Reduction::Avg), DType::F16 | DType::Bf16) => {
            (number % 7 - 3) * divisor as i128
        }
        (Some(Reduction::Sum | Reduction::Avg), DType::F32 | DType::F64) => {
            (number % 2001 - 1000) * divisor as i128
        }
        (_, DType::F16 | DType::Bf16) => number % 257 - 128,
        (_, DType::I32 | DType::U32) => number * 1_000_003,
        (_, DType::I64 | DType::U64) => number * 4_000_000_000_037,
        (_, DType::Bool) => number % 2,
        (_, DType::F32 | DType::F64 | DType::I8 | DType::U8) => number % 60_001 - 30_000,
    };
    wrapped(value, dtype)
}

/// The terms combined, in the arithmetic of the type.
pub(crate) fn combine(terms: &[i128], dtype: DType, reduction: Reduction, divisor: usize) -> i128 {
    let fold = |f: fn(i128, i128) -> i128| {
        terms.iter().copied().reduce(|a, b| wrapped(f(a, b), dtype)).unwrap()
    };
    match reduction {
        Reduction::Sum | Reduction::Avg => {
            let sum = fold(|a, b| a + b);
            assert_eq!(sum % divisor as i128, 0, "the case is not exact");
            sum / divisor as i128
        }
        Reduction::Product => fold(|a, b| a.wrapping_mul(b)),
        Reduction::Min => fold(Ord::min),
        Reduction::Max => fold(Ord::max),
    }
}
