//! Writing one value everywhere, and scaling in place.

use half::{bf16, f16};
use smallvec::SmallVec;

use super::cursor::Cursor;
use super::lane::{Lane, Number};
use super::window::checked_len;
use super::{MemError, Window};
use crate::base::{DType, Element, Reduction};

/// Writes the identity of a reduction to every element of the windows: the term that changes no
/// total.
///
/// | reduction | floats | integers | truth values |
/// |---|---|---|---|
/// | Sum, Avg | −0.0 | 0 | |
/// | Product | 1 | 1 | |
/// | Min | ∞ | the greatest | true |
/// | Max | −∞ | the least | false |
///
/// # Errors
///
/// [`MemError`] if a window reaches past the end or the type cannot be reduced so.
pub fn fill_identity(
    target: &mut [u8],
    windows: &[Window],
    dtype: DType,
    reduction: Reduction,
) -> Result<(), MemError> {
    if !reduction.supports(dtype) {
        return Err(MemError::Unsupported { dtype, reduction });
    }
    fill(target, windows, &identity(dtype, reduction))
}

/// Writes a value to every element of the windows.
///
/// # Errors
///
/// [`MemError::OutOfBounds`] if a window reaches past the end.
///
/// # Example
///
/// ```
/// use reshard::mem::{Window, fill_value};
/// let mut target = [0u8; 5];
/// fill_value(&mut target, &[Window::new(1, [2], [2])], 9u8)?;
/// assert_eq!(target, [0, 9, 0, 9, 0]);
/// # Ok::<(), reshard::mem::MemError>(())
/// ```
pub fn fill_value<T: Element>(
    target: &mut [u8],
    windows: &[Window],
    value: T,
) -> Result<(), MemError> {
    fill(target, windows, bytemuck::bytes_of(&value))
}

/// Multiplies every element of the windows by a factor, rounding once.
///
/// # Errors
///
/// [`MemError`] if a window reaches past the end or the elements are no floats.
pub fn scale(
    target: &mut [u8],
    windows: &[Window],
    dtype: DType,
    factor: f64,
) -> Result<(), MemError> {
    let kernel = match dtype {
        DType::F32 => scale_lane::<f32>,
        DType::F64 => scale_lane::<f64>,
        DType::F16 => scale_lane::<f16>,
        DType::Bf16 => scale_lane::<bf16>,
        DType::I8 | DType::U8 | DType::I32 | DType::U32 | DType::I64 | DType::U64 | DType::Bool => {
            return Err(MemError::NotAFloat { dtype });
        }
    };
    checked_len(windows, target.len(), dtype.bytes())?;
    kernel(target, windows, factor);
    Ok(())
}

fn scale_lane<L: Lane>(target: &mut [u8], windows: &[Window], factor: f64) {
    let mut value = [L::Value::default()];
    for_each_element(windows, |offset| {
        let element = &mut target[offset..offset + L::BYTES];
        L::widen(element, &mut value);
        value[0] = value[0].scale(factor);
        L::narrow(&value, element);
    });
}

fn fill(target: &mut [u8], windows: &[Window], value: &[u8]) -> Result<(), MemError> {
    checked_len(windows, target.len(), value.len())?;
    for_each_element(windows, |offset| {
        target[offset..offset + value.len()].copy_from_slice(value);
    });
    Ok(())
}

fn for_each_element(windows: &[Window], mut visit: impl FnMut(usize)) {
    let mut cursor = Cursor::new(windows);
    loop {
        let len = cursor.available();
        if len == 0 {
            return;
        }
        let run = cursor.take(len);
        (0..len).for_each(|index| visit(run.offset + index * run.stride));
    }
}

/// The bytes of the identity.
fn identity(dtype: DType, reduction: Reduction) -> SmallVec<[u8; 8]> {
    macro_rules! of {
        ($rust:ty, $zero:expr, $one:expr, $least:expr, $greatest:expr) => {{
            let value: $rust = match reduction {
                Reduction::Sum | Reduction::Avg => $zero,
                Reduction::Product => $one,
                Reduction::Min => $greatest,
                Reduction::Max => $least,
            };
            SmallVec::from_slice(bytemuck::bytes_of(&value))
        }};
    }
    macro_rules! float {
        ($rust:ty, $one:expr) => {
            of!($rust, -(<$rust>::default()), $one, <$rust>::NEG_INFINITY, <$rust>::INFINITY)
        };
    }
    macro_rules! integer {
        ($rust:ty) => {
            of!($rust, 0, 1, <$rust>::MIN, <$rust>::MAX)
        };
    }
    match dtype {
        DType::F32 => float!(f32, 1.0),
        DType::F64 => float!(f64, 1.0),
        DType::F16 => float!(f16, f16::ONE),
        DType::Bf16 => float!(bf16, bf16::ONE),
        DType::I8 => integer!(i8),
        DType::U8 => integer!(u8),
        DType::I32 => integer!(i32),
        DType::U32 => integer!(u32),
        DType::I64 => integer!(i64),
        DType::U64 => integer!(u64),
        DType::Bool => of!(bool, false, true, false, true),
    }
}
