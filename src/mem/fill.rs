//! Writing one value everywhere, and scaling in place.

use std::marker::PhantomData;

use half::{bf16, f16};
use smallvec::SmallVec;

use super::cursor::Cursor;
use super::lane::{Lane, Number, elements_mut};
use super::wide::{Task, widest};
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
    let element = PhantomData::<L>;
    let mut cursor = Cursor::new(windows);
    loop {
        let len = cursor.available();
        if len == 0 {
            return;
        }
        let run = cursor.take(len);
        if run.stride == L::BYTES || len == 1 {
            let bytes = &mut target[run.offset..][..len * L::BYTES];
            widest(Scale { bytes, factor, element });
            continue;
        }
        for start in (0..len).map(|index| run.offset + index * run.stride) {
            Scale { bytes: &mut target[start..][..L::BYTES], factor, element }.run();
        }
    }
}

/// Multiplies elements that lie together.
struct Scale<'a, L> {
    bytes: &'a mut [u8],
    factor: f64,
    element: PhantomData<L>,
}

impl<L: Lane> Task for Scale<'_, L> {
    #[inline(always)]
    fn run(self) {
        for element in elements_mut::<L>(self.bytes) {
            *element = L::narrow(L::widen(*element).scale(self.factor));
        }
    }
}

/// Writes the bytes of one element everywhere.
fn fill(target: &mut [u8], windows: &[Window], value: &[u8]) -> Result<(), MemError> {
    checked_len(windows, target.len(), value.len())?;
    let mut cursor = Cursor::new(windows);
    loop {
        let len = cursor.available();
        if len == 0 {
            return Ok(());
        }
        let run = cursor.take(len);
        if run.stride == value.len() {
            fill_contiguous(&mut target[run.offset..run.offset + len * value.len()], value);
            continue;
        }
        for start in (0..len).map(|index| run.offset + index * run.stride) {
            target[start..start + value.len()].copy_from_slice(value);
        }
    }
}

fn fill_contiguous(target: &mut [u8], value: &[u8]) {
    fn elements<const N: usize>(target: &mut [u8], value: [u8; N]) {
        target.as_chunks_mut::<N>().0.fill(value);
    }
    match *value {
        [a] => target.fill(a),
        [a, b] => elements(target, [a, b]),
        [a, b, c, d] => elements(target, [a, b, c, d]),
        _ => target.chunks_exact_mut(value.len()).for_each(|to| to.copy_from_slice(value)),
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
mod tests {
    use super::*;
    use crate::base::Element;
    use crate::mem::{Combine, reduce};

    /// Reducing a value with the identity gives the value, bit by bit.
    fn changes_nothing<T: Element>(values: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        // One byte in, so that no element is aligned.
        let run = [Window::run(1, values.len(), size_of::<T>())];
        let source = [&[0], bytes].concat();
        for reduction in Reduction::ALL.into_iter().filter(|it| it.supports(T::DTYPE)) {
            let mut identity = vec![0; source.len()];
            fill_identity(&mut identity, &run, T::DTYPE, reduction).unwrap();
            for terms in [[&source, &identity], [&identity, &source]] {
                let terms = terms.map(|term| (term.as_slice(), &run[..]));
                let mut result = vec![0; source.len()];
                let combine = Combine { divisor: 1, ..Combine::new(T::DTYPE, reduction, 1) };
                reduce(&terms, &mut result, &run, combine).unwrap();
                assert_eq!(result, source, "{reduction} of {}", T::DTYPE);
            }
        }
    }

    #[test]
    fn identities_change_nothing() {
        let floats = [0.0, -0.0, 1.5, -3.0, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE];
        changes_nothing(&floats);
        changes_nothing(&floats.map(f64::from));
        changes_nothing(&floats.map(f16::from_f32));
        changes_nothing(&floats.map(bf16::from_f32));
        changes_nothing(&[i8::MIN, -1, 0, 1, i8::MAX]);
        changes_nothing(&[0, 1, u8::MAX]);
        changes_nothing(&[i32::MIN, -1, 0, 1, i32::MAX]);
        changes_nothing(&[0, 1, u32::MAX]);
        changes_nothing(&[i64::MIN, -1, 0, 1, i64::MAX]);
        changes_nothing(&[0, 1, u64::MAX]);
        changes_nothing(&[false, true]);
    }

    #[test]
    fn fills_keep_to_their_windows() {
        for window in [Window::new(4, [3], [8]), Window::new(4, [2, 2], [16, 4])] {
            let mut target = [7u32; 9];
            fill_value(bytemuck::cast_slice_mut(&mut target), std::slice::from_ref(&window), 1u32)
                .unwrap();
            let touched: Vec<_> = (0..9).filter(|&index| target[index] != 7).collect();
            let expected: &[usize] =
                if window.extents().len() == 1 { &[1, 3, 5] } else { &[1, 2, 5, 6] };
            assert_eq!(touched, expected);
        }
        let mut target = [7.0f64; 3];
        fill_value(bytemuck::cast_slice_mut(&mut target), &[Window::run(8, 2, 8)], 0.5f64).unwrap();
        assert_eq!(target, [7.0, 0.5, 0.5]);
    }

    #[test]
    fn scaling_rounds_once_and_is_for_floats() {
        let mut thirds: Vec<f32> = (0..1000u16).map(f32::from).collect();
        let windows = [Window::new(0, [500], [8])];
        scale(bytemuck::cast_slice_mut(&mut thirds), &windows, DType::F32, 1.0 / 3.0).unwrap();
        for (index, value) in thirds.into_iter().enumerate() {
            let expected = if index % 2 == 0 { index as f32 / 3.0 } else { index as f32 };
            assert_eq!(value, expected);
        }
        let mut half = [f16::from_f32(3.0)];
        let window = [Window::new(0, [], [])];
        scale(bytemuck::cast_slice_mut(&mut half), &window, DType::F16, 0.5).unwrap();
        assert_eq!(half[0].to_f32(), 1.5);
        let refused = scale(&mut [0; 4], &window, DType::I32, 2.0);
        assert_eq!(refused, Err(MemError::NotAFloat { dtype: DType::I32 }));
    }
}
