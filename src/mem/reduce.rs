//! Combining the terms of several ranks in one pass.

use half::{bf16, f16};

use super::block::{BLOCK, load, store};
use super::cursor::Cursor;
use super::lane::{Lane, Number};
use super::window::checked_len;
use super::{MemError, Window};
use crate::base::{DType, Reduction};

/// How terms combine: their type, the reduction, and what the result is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combine {
    /// The element type.
    pub dtype: DType,
    /// The reduction.
    pub reduction: Reduction,
    /// What the total is divided by, in the type in which it is accumulated; 1 divides nothing.
    /// Anything but 1 is for `Sum` and `Avg` of floats.
    pub divisor: usize,
}

impl Combine {
    /// The plain reduction of so many terms: `Avg` divides by their number.
    #[must_use]
    pub fn new(dtype: DType, reduction: Reduction, terms: usize) -> Self {
        let divisor = match reduction {
            Reduction::Avg => terms,
            Reduction::Sum | Reduction::Product | Reduction::Min | Reduction::Max => 1,
        };
        Self { dtype, reduction, divisor }
    }

    /// Checks that the type can be reduced and divided so.
    ///
    /// # Errors
    ///
    /// [`MemError::Unsupported`] or [`MemError::Divisor`].
    pub fn check(&self) -> Result<(), MemError> {
        let Self { dtype, reduction, divisor } = *self;
        if !reduction.supports(dtype) {
            return Err(MemError::Unsupported { dtype, reduction });
        }
        let divides = reduction.is_linear() && dtype.is_float();
        if divisor == 0 || (divisor != 1 && !divides) {
            return Err(MemError::Divisor { dtype, reduction, divisor });
        }
        Ok(())
    }
}

/// One term of a reduction: bytes, and the windows that hold its elements.
pub type Term<'a> = (&'a [u8], &'a [Window]);

/// Combines all terms, in the given order, into the target windows.
///
/// Integers wrap; `Min` and `Max` give NaN if a term is NaN, and are "and" and "or" of truth values;
/// 16-bit floats are accumulated in `f32` and rounded once.
///
/// # Errors
///
/// [`MemError`] if there is no term, the numbers of elements differ, a window reaches past the end,
/// or the type cannot be reduced so.
///
/// # Example
///
/// ```
/// use reshard::mem::{Combine, Window, reduce};
/// use reshard::{DType, Reduction};
/// let (a, b) = ([1u8, 250], [2u8, 10]);
/// let run = [Window::run(0, 2, 1)];
/// let mut sum = [0u8; 2];
/// let combine = Combine::new(DType::U8, Reduction::Sum, 2);
/// reduce(&[(&a, &run), (&b, &run)], &mut sum, &run, combine)?;
/// assert_eq!(sum, [3, 4]);
/// # Ok::<(), reshard::mem::MemError>(())
/// ```
pub fn reduce(
    terms: &[Term<'_>],
    target: &mut [u8],
    windows: &[Window],
    combine: Combine,
) -> Result<(), MemError> {
    combine.check()?;
    if terms.is_empty() {
        return Err(MemError::NoTerm);
    }
    let bytes = combine.dtype.bytes();
    let target_len = checked_len(windows, target.len(), bytes)?;
    for (term, term_windows) in terms {
        let source_len = checked_len(term_windows, term.len(), bytes)?;
        if source_len != target_len {
            return Err(MemError::Counts { source_len, target_len });
        }
    }
    let kernel = match combine.dtype {
        DType::F32 => reduce_lane::<f32>,
        DType::F64 => reduce_lane::<f64>,
        DType::F16 => reduce_lane::<f16>,
        DType::Bf16 => reduce_lane::<bf16>,
        DType::I8 => reduce_lane::<i8>,
        // The least of 0 and 1 is "and", the greatest "or".
        DType::U8 | DType::Bool => reduce_lane::<u8>,
        DType::I32 => reduce_lane::<i32>,
        DType::U32 => reduce_lane::<u32>,
        DType::I64 => reduce_lane::<i64>,
        DType::U64 => reduce_lane::<u64>,
    };
    kernel(terms, target, windows, combine);
    Ok(())
}

fn reduce_lane<L: Lane>(
    terms: &[Term<'_>],
    target: &mut [u8],
    windows: &[Window],
    combine: Combine,
) {
    let divisor = combine.divisor;
    match combine.reduction {
        Reduction::Sum | Reduction::Avg => {
            fold::<L>(terms, (target, windows), divisor, L::Value::add);
        }
        Reduction::Product => fold::<L>(terms, (target, windows), divisor, L::Value::mul),
        Reduction::Min => fold::<L>(terms, (target, windows), divisor, L::Value::min),
        Reduction::Max => fold::<L>(terms, (target, windows), divisor, L::Value::max),
    }
}

fn fold<L: Lane>(
    terms: &[Term<'_>],
    (target, windows): (&mut [u8], &[Window]),
    divisor: usize,
    combine: impl Fn(L::Value, L::Value) -> L::Value,
) {
    let mut cursors: Vec<_> =
        terms.iter().map(|&(bytes, windows)| (bytes, Cursor::new(windows))).collect();
    let Some(((first, first_cursor), others)) = cursors.split_first_mut() else { return };
    let mut target_cursor = Cursor::new(windows);
    let (mut total, mut term) = ([L::Value::default(); BLOCK], [L::Value::default(); BLOCK]);
    loop {
        let len = load::<L>(first, first_cursor, &mut total);
        if len == 0 {
            return;
        }
        let total = &mut total[..len];
        for (bytes, cursor) in &mut *others {
            load::<L>(bytes, cursor, &mut term[..len]);
            for (total, &term) in total.iter_mut().zip(&term[..len]) {
                *total = combine(*total, term);
            }
        }
        if divisor != 1 {
            total.iter_mut().for_each(|value| *value = value.divide(divisor));
        }
        store::<L>(total, target, &mut target_cursor);
    }
}
