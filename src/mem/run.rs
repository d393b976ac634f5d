//! Elements at equal distances, and how they are copied.
#![allow(unsafe_code, reason = "bounds are checked once a run, not once an element")]

/// Elements at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first element's byte.
    pub(super) offset: usize,
    /// Bytes from element to element.
    pub(super) stride: usize,
    pub(super) len: usize,
}

impl Run {
    /// Whether the run lies within so many bytes.
    fn is_within(&self, len_bytes: usize, element_bytes: usize) -> bool {
        let last = self.len.checked_sub(1).map_or(Some(0), |last| last.checked_mul(self.stride));
        let end = last.and_then(|last| last.checked_add(self.offset)?.checked_add(element_bytes));
        end.is_some_and(|end| end <= len_bytes)
    }
}

/// Copies one run to another of the same length.
#[inline]
pub(super) fn copy_run(
    (source, from): (&[u8], Run),
    (target, to): (&mut [u8], Run),
    element_bytes: usize,
) {
    let fits = from.len == to.len
        && from.is_within(source.len(), element_bytes)
        && to.is_within(target.len(), element_bytes);
    assert!(fits, "{from:?} and {to:?} lie in windows that were checked");
    let step = Step { from: from.stride, to: to.stride };
    // SAFETY: both runs lie within their slices, which cannot overlap, for one is borrowed mutably.
    unsafe {
        let (source, target) =
            (source.as_ptr().add(from.offset), target.as_mut_ptr().add(to.offset));
        copy_steps(source, target, from.len, step, element_bytes);
    }
}

/// Bytes from one element to the next, in the source and in the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Copies `len` elements, a step apart.
///
/// # Safety
///
/// Every element may be read at its place in the source and written at its place in the target, and
/// the two do not overlap.
#[inline(always)]
pub(super) unsafe fn copy_steps(
    source: *const u8,
    target: *mut u8,
    len: usize,
    step: Step,
    element_bytes: usize,
) {
    let together = Step { from: element_bytes, to: element_bytes };
    // SAFETY: what the caller promises, of elements of this size.
    unsafe {
        match element_bytes {
            _ if step == together || len == 1 => copy_bytes(source, target, len * element_bytes),
            1 => copy_elements::<1>(source, target, len, step),
            2 => copy_elements::<2>(source, target, len, step),
            4 => copy_elements::<4>(source, target, len, step),
            8 => copy_elements::<8>(source, target, len, step),
            16 => copy_elements::<16>(source, target, len, step),
            32 => copy_elements::<32>(source, target, len, step),
            64 => copy_elements::<64>(source, target, len, step),
            _ => {
                for index in 0..len {
                    let (source, target) =
                        (source.add(index * step.from), target.add(index * step.to));
                    copy_bytes(source, target, element_bytes);
                }
            }
        }
    }
}

/// As [`copy_steps`], of `N` bytes each.
///
/// # Safety
///
/// As of [`copy_steps`].
#[inline(always)]
unsafe fn copy_elements<const N: usize>(
    source: *const u8,
    target: *mut u8,
    len: usize,
    step: Step,
) {
    for index in 0..len {
        // SAFETY: what the caller promises.
        unsafe {
            let (source, target) = (source.add(index * step.from), target.add(index * step.to));
            target.copy_from_nonoverlapping(source, N);
        }
    }
}

/// Copies bytes that lie together.
///
/// # Safety
///
/// So many bytes may be read at the source and written at the target, and the two do not overlap.
#[inline(always)]
pub(super) unsafe fn copy_bytes(source: *const u8, target: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if (VECTORS.start..VECTORS.end).contains(&bytes) && is_x86_feature_detected!("avx") {
        // SAFETY: what the caller promises; and AVX was detected just now.
        return unsafe { copy_vectors(source, target, bytes) };
    }
    // SAFETY: what the caller promises.
    unsafe { target.copy_from_nonoverlapping(source, bytes) };
}

/// How many bytes are copied by a loop of our own. Some C libraries copy as many by `rep movsb`, which
/// on some processors is ten times as slow where source and target lie badly to each other.
#[cfg(target_arch = "x86_64")]
const VECTORS: std::ops::Range<usize> = 128..4 << 20;

/// Copies 128 bytes or more, 128 at a time.
///
/// # Safety
///
/// As of [`copy_bytes`], of at least 128 bytes; and the processor must know AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn copy_vectors(source: *const u8, target: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256};
    // SAFETY: every block of 128 bytes starts so that it ends within `bytes`; the caller promises the
    // rest.
    let block = |at: usize| unsafe {
        let (source, target): (*const __m256i, *mut __m256i) =
            (source.add(at).cast(), target.add(at).cast());
        let lines = [
            _mm256_loadu_si256(source),
            _mm256_loadu_si256(source.add(1)),
            _mm256_loadu_si256(source.add(2)),
            _mm256_loadu_si256(source.add(3)),
        ];
        _mm256_storeu_si256(target, lines[0]);
        _mm256_storeu_si256(target.add(1), lines[1]);
        _mm256_storeu_si256(target.add(2), lines[2]);
        _mm256_storeu_si256(target.add(3), lines[3]);
    };
    let last = bytes - 128;
    for at in (0..last).step_by(128) {
        block(at);
    }
    // The last block may repeat some of the one before.
    block(last);
}
