//! From global elements to places in a local buffer.

use smallvec::SmallVec;

use crate::base::{Interval, Intervals, Region};
use crate::mem::Window;

/// Windows of the elements `selected` in a buffer that stores `stored`, row major.
///
/// There is one window for each combination of runs of `selected`, so that whoever stores these
/// elements lists the same windows in the same order.
pub(crate) fn windows(selected: &Region, stored: &Region, element_bytes: usize) -> Vec<Window> {
    if selected.is_empty() {
        return Vec::new();
    }
    let strides = strides(stored, element_bytes);
    let dims: SmallVec<[Vec<(usize, usize)>; 4]> = selected
        .dims()
        .iter()
        .zip(stored.dims())
        .map(|(selected, stored)| places(selected, stored))
        .collect();
    let mut all = Vec::with_capacity(dims.iter().map(Vec::len).product());
    let mut turn: SmallVec<[usize; 4]> = SmallVec::from_elem(0, dims.len());
    loop {
        let runs = || dims.iter().zip(&turn).map(|(runs, &at)| runs[at]);
        let offset = runs().zip(&strides).map(|((start, _), stride)| start * stride).sum();
        all.push(Window::new(offset, runs().map(|(_, len)| len), strides.iter().copied()));
        let Some(next) = (0..turn.len()).rev().find(|&dim| turn[dim] + 1 < dims[dim].len()) else {
            return all;
        };
        turn[next] += 1;
        turn[next + 1..].fill(0);
    }
}

/// The offset in elements if the elements `selected` are one run of a buffer that stores `stored`.
pub(crate) fn contiguous_offset(selected: &Region, stored: &Region) -> Option<usize> {
    if selected.is_empty() {
        return Some(0);
    }
    let (mut offset, mut stride, mut closed) = (0, 1, false);
    for (selected, stored) in selected.dims().iter().zip(stored.dims()).rev() {
        let places = places(selected, stored);
        let &[(start, len)] = merged(&places).as_slice() else { return None };
        if closed && len != 1 {
            return None;
        }
        // Once a dim is not taken whole, every dim outside of it must be a single index.
        closed |= len != stored.len();
        offset += start * stride;
        stride *= stored.len();
    }
    Some(offset)
}

/// The part `start..end` of a region's elements in row-major order, as regions in that order.
pub(crate) fn row_major_range(region: &Region, start: usize, end: usize) -> Vec<Region> {
    let mut parts = Vec::new();
    split(region.dims(), &mut SmallVec::new(), (start, end), &mut parts);
    parts
}

fn split(
    dims: &[Intervals],
    outer: &mut SmallVec<[Intervals; 4]>,
    (start, end): (usize, usize),
    parts: &mut Vec<Region>,
) {
    let len: usize = dims.iter().map(Intervals::len).product();
    if start >= end {
        return;
    }
    let Some((first, rest)) = dims.split_first() else {
        return parts.push(outer.iter().cloned().collect());
    };
    if start == 0 && end == len {
        return parts.push(outer.iter().chain(dims).cloned().collect());
    }
    let row: usize = rest.iter().map(Intervals::len).product();
    let mut visit = |rows: Intervals, range| {
        outer.push(rows);
        split(rest, outer, range, parts);
        outer.pop();
    };
    let (first_row, last_row) = (start / row, end / row);
    if first_row == last_row {
        return visit(taken(first, first_row, first_row + 1), (start % row, end % row));
    }
    if start % row != 0 {
        visit(taken(first, first_row, first_row + 1), (start % row, row));
    }
    let whole = start.div_ceil(row);
    if whole < last_row {
        let rows = taken(first, whole, last_row);
        let all = rows.len() * row;
        // The rows are whole, so the range inside them is everything.
        outer.push(rows);
        parts.push(outer.iter().chain(rest).cloned().collect());
        outer.pop();
        debug_assert!(all > 0);
    }
    if end % row != 0 {
        outer.push(taken(first, last_row, last_row + 1));
        split(rest, outer, (0, end % row), parts);
        outer.pop();
    }
}

/// The `start..end`-th indices of a set.
fn taken(set: &Intervals, start: usize, end: usize) -> Intervals {
    let mut passed = 0;
    let clip = |run: Interval| {
        let at = |place: usize| run.start + place.clamp(passed, passed + run.len()) - passed;
        let clipped = Interval::new(at(start), at(end));
        passed += run.len();
        clipped
    };
    set.iter().map(clip).collect()
}

/// Where each run of `selected` lies among the stored indices: start and length.
fn places(selected: &Intervals, stored: &Intervals) -> Vec<(usize, usize)> {
    let mut places = Vec::with_capacity(selected.as_slice().len());
    let (mut passed, mut runs) = (0, stored.iter().peekable());
    for run in selected.iter() {
        while let Some(outer) = runs.peek() {
            if run.start < outer.end {
                break;
            }
            passed += outer.len();
            runs.next();
        }
        let outer = runs.peek().copied().unwrap_or(run);
        debug_assert!(outer.start <= run.start && run.end <= outer.end, "{run:?} is not stored");
        places.push((passed + run.start - outer.start, run.len()));
    }
    places
}

fn merged(places: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for &(start, len) in places {
        match all.last_mut() {
            Some(last) if last.0 + last.1 == start => last.1 += len,
            Some(_) | None => all.push((start, len)),
        }
    }
    all
}

fn strides(stored: &Region, element_bytes: usize) -> SmallVec<[usize; 4]> {
    let mut strides: SmallVec<[usize; 4]> = SmallVec::from_elem(element_bytes, stored.dims().len());
    for dim in (1..strides.len()).rev() {
        strides[dim - 1] = strides[dim] * stored.dims()[dim].len();
    }
    strides
}
