//! Reductions of `f16` with the instructions that processors have for it.
//!
//! They convert eight elements at once, for which the arithmetic in `sixteen` takes some forty
//! instructions. A compiler does not use them by itself.
#![allow(unsafe_code, reason = "instructions may be used only where they are known")]

use std::arch::x86_64::{
    _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps, _mm256_cvtps_ph,
    _mm256_loadu_ps, _mm256_storeu_ps,
};

use super::fold::Join;
use super::lane::Number;
use super::sixteen::{f16_to_f32, f32_to_f16};
use super::tile::{Rows, RowsMut, Shape};

/// Elements converted before they are combined.
const BLOCK: usize = 256;

/// Whether this machine has the instructions.
#[inline]
pub(super) fn is_known() -> bool {
    is_x86_feature_detected!("f16c") && is_x86_feature_detected!("avx2")
}

/// Makes the elements of a term the totals; if `is_known`.
pub(super) fn start(shape: Shape, term: Rows<'_>, totals: &mut [f32]) {
    assert!(is_known(), "only where F16C is known");
    for (row, totals) in totals.chunks_exact_mut(shape.len).enumerate() {
        // SAFETY: the instructions are known.
        unsafe { widen(row_of(term, row, shape), totals) };
    }
}

/// Combines the elements of a term into the totals; if `is_known`.
pub(super) fn combine<J: Join>(shape: Shape, term: Rows<'_>, totals: &mut [f32]) {
    assert!(is_known(), "only where F16C is known");
    for (row, totals) in totals.chunks_exact_mut(shape.len).enumerate() {
        // SAFETY: the instructions are known.
        unsafe { widen_and_join::<J>(row_of(term, row, shape), totals) };
    }
}

/// Writes the totals, divided; if `is_known`.
pub(super) fn finish(shape: Shape, totals: &mut [f32], divisor: usize, target: RowsMut<'_>) {
    assert!(is_known(), "only where F16C is known");
    if divisor != 1 {
        totals.iter_mut().for_each(|total| *total = total.divide(divisor));
    }
    for (row, totals) in totals.chunks_exact(shape.len).enumerate() {
        let target = &mut target.bytes[row * target.stride..][..2 * shape.len];
        // SAFETY: the instructions are known.
        unsafe { narrow(totals, target) };
    }
}

fn row_of<'a>(term: Rows<'a>, row: usize, shape: Shape) -> &'a [u8] {
    &term.bytes[row * term.stride..][..2 * shape.len]
}

#[target_feature(enable = "f16c,avx2")]
fn widen_and_join<J: Join>(term: &[u8], totals: &mut [f32]) {
    let mut block = [0.0; BLOCK];
    for (term, totals) in term.chunks(2 * BLOCK).zip(totals.chunks_mut(BLOCK)) {
        let block = &mut block[..totals.len()];
        widen(term, block);
        for (total, &value) in totals.iter_mut().zip(&*block) {
            *total = J::join(*total, value);
        }
    }
}

#[target_feature(enable = "f16c,avx2")]
fn widen(term: &[u8], values: &mut [f32]) {
    let (eights, rest) = term.as_chunks::<16>();
    let (wide, wide_rest) = values.as_chunks_mut::<8>();
    for (eight, wide) in eights.iter().zip(wide) {
        // SAFETY: 16 bytes are read and 8 values written, neither of which need be aligned.
        unsafe {
            let eight = _mm_loadu_si128(eight.as_ptr().cast());
            _mm256_storeu_ps(wide.as_mut_ptr(), _mm256_cvtph_ps(eight));
        }
    }
    for (element, value) in rest.as_chunks().0.iter().zip(wide_rest) {
        *value = f16_to_f32(u16::from_ne_bytes(*element));
    }
}

#[target_feature(enable = "f16c,avx2")]
fn narrow(values: &[f32], target: &mut [u8]) {
    let (wide, wide_rest) = values.as_chunks::<8>();
    let (eights, rest) = target.as_chunks_mut::<16>();
    for (wide, eight) in wide.iter().zip(eights) {
        // SAFETY: 8 values are read and 16 bytes written, neither of which need be aligned.
        unsafe {
            let wide = _mm256_loadu_ps(wide.as_ptr());
            let narrow = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(wide);
            _mm_storeu_si128(eight.as_mut_ptr().cast(), narrow);
        }
    }
    for (value, element) in wide_rest.iter().zip(rest.as_chunks_mut().0) {
        *element = f32_to_f16(*value).to_ne_bytes();
    }
}
