//! Copying where source and target disagree about which loop is innermost.
#![allow(unsafe_code, reason = "bounds are checked once for all loops")]

use std::mem::MaybeUninit;

use super::nest::Loop;
use super::run::{Step, copy_steps};

/// Bytes of the block through which elements go: a part of the innermost cache.
const BLOCK: usize = 16 << 10;

/// Bytes of the longest elements that are transposed; longer ones fill cache lines by themselves.
pub(super) const MOST_TRANSPOSED: usize = 64;

/// Copies two loops, of which the outer one has the lesser stride in the source and the inner one in
/// the target, block by block.
///
/// Each block is read into a place of its own along the rows of the source and written along those of
/// the target, so every cache line is used up once touched, even if rows lie a power of two apart and
/// so all compete for the same few lines of a cache.
///
/// # Safety
///
/// All that the loops reach from these places may be read in the source and written in the target, and
/// the two do not overlap. An element has at most [`MOST_TRANSPOSED`] bytes.
pub(super) unsafe fn transpose(
    source: *const u8,
    target: *mut u8,
    [rows, row]: [Loop; 2],
    bytes: usize,
) {
    debug_assert!(bytes <= MOST_TRANSPOSED && side(bytes).pow(2) * bytes <= BLOCK);
    let mut block = MaybeUninit::<[u8; BLOCK]>::uninit();
    let side = side(bytes);
    for first_row in (0..rows.extent).step_by(side) {
        let high = side.min(rows.extent - first_row);
        for first in (0..row.extent).step_by(side) {
            let wide = side.min(row.extent - first);
            // SAFETY: the caller promises it of every turn of the loops.
            unsafe {
                let source = source.add(first_row * rows.step.from + first * row.step.from);
                let target = target.add(first_row * rows.step.to + first * row.step.to);
                let block = block.as_mut_ptr().cast();
                through(source, target, block, [(high, rows.step), (wide, row.step)], bytes);
            }
        }
    }
}

/// Elements along a side of a block: as many as fit, but no more than keep a few cache lines of each
/// row busy.
fn side(bytes: usize) -> usize {
    match bytes {
        1..=4 => 64,
        5..=8 => 32,
        9..=16 => 16,
        _ => 8,
    }
}

/// Copies a block.
///
/// # Safety
///
/// As of [`transpose`]; and `block` has room for all elements of the loops.
unsafe fn through(
    source: *const u8,
    target: *mut u8,
    block: *mut u8,
    loops: [(usize, Step); 2],
    bytes: usize,
) {
    let [(high, rows), (wide, row)] = loops;
    // SAFETY: element (i, j) of the block lies at (j * high + i) * bytes, of which there are as many as
    // elements; all of them are written before any is read. Else what the caller promises.
    unsafe {
        for at in 0..wide {
            let into = Step { from: rows.from, to: bytes };
            copy_steps(source.add(at * row.from), block.add(at * high * bytes), high, into, bytes);
        }
        for turn in 0..high {
            let out = Step { from: high * bytes, to: row.to };
            copy_steps(block.add(turn * bytes), target.add(turn * rows.to), wide, out, bytes);
        }
    }
}
