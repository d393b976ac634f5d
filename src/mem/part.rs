//! Reducing a part of all terms into a run of its own.

use super::{Combine, MemError, Term, Window, copy, reduce};

/// Combines the elements of every term from number `skip` on into a contiguous target.
pub(crate) fn reduce_part(
    terms: &[Term<'_>],
    skip: usize,
    target: &mut [u8],
    combine: Combine,
) -> Result<(), MemError> {
    let b = combine.dtype.bytes();
    let run = [Window::run(0, target.len() / b, b)];
    let packed: Vec<Vec<u8>> = terms
        .iter()
        .map(|(bytes, windows)| {
            let n: usize = windows.iter().map(Window::len).sum();
            let mut all = vec![0; n * b];
            copy(bytes, windows, &mut all, &[Window::run(0, n, b)], b)?;
            Ok(all[skip * b..skip * b + target.len()].to_vec())
        })
        .collect::<Result<_, MemError>>()?;
    let terms: Vec<Term<'_>> = packed.iter().map(|p| (&p[..], &run[..])).collect();
    reduce(&terms, target, &run, combine)
}
