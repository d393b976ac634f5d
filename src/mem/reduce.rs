//! Combining the terms of several ranks in one pass.

use half::{bf16, f16};

use super::cursor::Cursor;
use super::fold::{Fold, Greatest, Least, Product, Sum};
use super::lane::Lane;
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
    let bytes = combine.dtype.bytes();
    let len = checked_len(windows, target.len(), bytes)?;
    check_terms(terms, combine, |source_len| source_len == len, len)?;
    let cursor = Cursor::new(windows);
    by_type(Fold::new(terms, 0, (target, cursor), (len, combine.divisor)), combine);
    Ok(())
}

/// Combines the elements from `skip` on of all terms, in the given order, into a packed target: as many
/// as it has room for. As [`reduce`] otherwise. What is skipped costs next to nothing.
///
/// # Errors
///
/// [`MemError`] if there is no term, one has fewer elements, a window reaches past the end, the target
/// ends within an element, or the type cannot be reduced so.
pub(crate) fn reduce_part(
    terms: &[Term<'_>],
    skip: usize,
    target: &mut [u8],
    combine: Combine,
) -> Result<(), MemError> {
    let (dtype, len_bytes) = (combine.dtype, target.len());
    if !len_bytes.is_multiple_of(dtype.bytes()) {
        return Err(MemError::PartElement { dtype, len_bytes });
    }
    let len = len_bytes / dtype.bytes();
    let end = skip.saturating_add(len);
    check_terms(terms, combine, |source_len| source_len >= end, end)?;
    let windows = [Window::run(0, len, dtype.bytes())];
    let cursor = Cursor::new(&windows);
    by_type(Fold::new(terms, skip, (target, cursor), (len, combine.divisor)), combine);
    Ok(())
}

/// Checks that there are terms, that they can be combined so and that each has the elements it needs.
fn check_terms(
    terms: &[Term<'_>],
    combine: Combine,
    enough: impl Fn(usize) -> bool,
    target_len: usize,
) -> Result<(), MemError> {
    combine.check()?;
    if terms.is_empty() {
        return Err(MemError::NoTerm);
    }
    for (term, windows) in terms {
        let source_len = checked_len(windows, term.len(), combine.dtype.bytes())?;
        if !enough(source_len) {
            return Err(MemError::Counts { source_len, target_len });
        }
    }
    Ok(())
}

fn by_type(fold: Fold<'_>, combine: Combine) {
    let kernel = match combine.dtype {
        DType::F32 => by_reduction::<f32>,
        DType::F64 => by_reduction::<f64>,
        DType::F16 => by_reduction::<f16>,
        DType::Bf16 => by_reduction::<bf16>,
        DType::I8 => by_reduction::<i8>,
        // The least of 0 and 1 is "and", the greatest "or".
        DType::U8 | DType::Bool => by_reduction::<u8>,
        DType::I32 => by_reduction::<i32>,
        DType::U32 => by_reduction::<u32>,
        DType::I64 => by_reduction::<i64>,
        DType::U64 => by_reduction::<u64>,
    };
    kernel(fold, combine.reduction);
}

fn by_reduction<L: Lane>(fold: Fold<'_>, reduction: Reduction) {
    match reduction {
        Reduction::Sum | Reduction::Avg => fold.run::<L, Sum>(),
        Reduction::Product => fold.run::<L, Product>(),
        Reduction::Min => fold.run::<L, Least>(),
        Reduction::Max => fold.run::<L, Greatest>(),
    }
}
