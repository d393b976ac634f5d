//! The kernels beside a model that goes element by element.
#![allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]

use half::{bf16, f16};

use super::allocations::allocations;
use super::reduce::reduce_part;
use super::{Combine, MemError, Term, Window, copy, reduce};
use crate::base::{DType, Element, Reduction};

/// Numbers that look random and are the same each time.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }
}

/// Every element's first byte, one by one.
fn offsets(windows: &[Window]) -> Vec<usize> {
    let mut all = Vec::new();
    for window in windows {
        let mut offsets = vec![window.offset_bytes()];
        for (&extent, &stride) in window.extents().iter().zip(window.strides_bytes()) {
            let turns = |at: &usize| (0..extent).map(|i| at + i * stride).collect::<Vec<_>>();
            offsets = offsets.iter().flat_map(turns).collect();
        }
        all.extend(offsets);
    }
    all
}

/// Element types with an independent opinion on how values combine.
trait Model: Element {
    fn combined(terms: &[Self], combine: Combine) -> Self;
    fn special() -> Vec<Self>;
    fn is_same(self, other: Self) -> bool;
}

macro_rules! integers {
    ($($rust:ty),*) => {$(
        impl Model for $rust {
            fn combined(terms: &[Self], combine: Combine) -> Self {
                let terms = terms.iter().copied();
                match combine.reduction {
                    Reduction::Sum | Reduction::Avg => terms.fold(0, Self::wrapping_add),
                    Reduction::Product => terms.fold(1, Self::wrapping_mul),
                    Reduction::Min => terms.min().unwrap(),
                    Reduction::Max => terms.max().unwrap(),
                }
            }
            fn special() -> Vec<Self> {
                vec![Self::MIN, Self::MAX, 0, 1, 2, 77, Self::MAX - 3]
            }
            fn is_same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}

integers!(i8, u8, i32, u32, i64, u64);

impl Model for bool {
    fn combined(terms: &[Self], combine: Combine) -> Self {
        match combine.reduction {
            Reduction::Min => terms.iter().all(|&term| term),
            _ => terms.iter().any(|&term| term),
        }
    }
    fn special() -> Vec<Self> {
        vec![true, false, true]
    }
    fn is_same(self, other: Self) -> bool {
        self == other
    }
}

macro_rules! floats {
    ($($rust:ty as $wide:ty: $widen:expr, $narrow:expr;)*) => {$(
        impl Model for $rust {
            fn combined(terms: &[Self], combine: Combine) -> Self {
                let any_nan = terms.iter().any(|term| $widen(*term).is_nan());
                let terms = terms.iter().map(|&term| $widen(term));
                let total = match combine.reduction {
                    Reduction::Sum | Reduction::Avg => terms.reduce(|a, b| a + b),
                    Reduction::Product => terms.reduce(|a, b| a * b),
                    // Of equal values the later one, which tells zeros apart.
                    _ if any_nan => Some(<$wide>::NAN),
                    Reduction::Min => terms.reduce(|a, b| if a < b { a } else { b }),
                    Reduction::Max => terms.reduce(|a, b| if a > b { a } else { b }),
                };
                let divisor = combine.divisor as $wide;
                let total: $wide = total.unwrap();
                $narrow(if combine.divisor == 1 { total } else { total / divisor })
            }
            fn special() -> Vec<Self> {
                let wide: [$wide; 13] = [
                    0.0, -0.0, 1.0, -1.5, 3.25, 1e-7, 6e-5, 300.0, 65504.0, -1.0e-39 as $wide,
                    <$wide>::INFINITY, <$wide>::NEG_INFINITY, <$wide>::NAN,
                ];
                wide.into_iter().map(|value| $narrow(value)).collect()
            }
            fn is_same(self, other: Self) -> bool {
                let both_nan = $widen(self).is_nan() && $widen(other).is_nan();
                both_nan || self.to_bits() == other.to_bits()
            }
        }
    )*};
}

floats! {
    f32 as f32: |value: f32| value, |value: f32| value;
    f64 as f64: |value: f64| value, |value: f64| value;
    f16 as f32: f16::to_f32, f16::from_f32;
    bf16 as f32: bf16::to_f32, bf16::from_f32;
}

/// Bytes and windows that hold these values in one of several ways, none of them aligned.
fn laid_out<T: Element>(values: &[T], way: usize) -> (Vec<u8>, Vec<Window>) {
    let (len, b) = (values.len(), size_of::<T>());
    let windows = match way {
        0 => vec![Window::run(0, len, b)],
        1 => vec![Window::run(3, len, b)],
        2 => vec![Window::new(1, [len], [2 * b + 1])],
        3 => {
            let rows = len / 7;
            vec![Window::new(2, [rows, 7], [9 * b, b]), Window::run(2 + rows * 9 * b, len % 7, b)]
        }
        4 => vec![Window::run(len * b, len / 3, b), Window::run(0, len - len / 3, b)],
        _ => {
            let rows = len / 400;
            let rest = Window::new(rows * 401 * b, [len % 400, 1], [b, 7]);
            vec![Window::new(0, [rows, 400], [401 * b, b]), rest]
        }
    };
    let end = windows.iter().map(|window| window.end_bytes(b)).max().unwrap_or(0);
    let mut bytes = vec![0xEE; end + 1];
    for (&value, at) in values.iter().zip(offsets(&windows)) {
        bytes[at..at + b].copy_from_slice(bytemuck::bytes_of(&value));
    }
    (bytes, windows)
}

fn read<T: Element>(bytes: &[u8], at: usize) -> T {
    bytemuck::checked::pod_read_unaligned(&bytes[at..at + size_of::<T>()])
}

/// Reduces `count` terms of `len` elements, whole and in part, in ways drawn.
fn check<T: Model>(draw: &mut Draw, count: usize, len: usize) {
    let b = size_of::<T>();
    let special = T::special();
    let mut some = || (0..len).map(|_| special[draw.below(special.len())]).collect::<Vec<T>>();
    let values: Vec<Vec<T>> = (0..count).map(|_| some()).collect();
    let ways: Vec<usize> = (0..=count).map(|_| draw.below(6)).collect();
    let laid: Vec<_> = values.iter().zip(&ways).map(|(term, &way)| laid_out(term, way)).collect();
    let terms: Vec<Term<'_>> =
        laid.iter().map(|(bytes, windows)| (&bytes[..], &windows[..])).collect();
    for reduction in Reduction::ALL.into_iter().filter(|it| it.supports(T::DTYPE)) {
        let combine = Combine::new(T::DTYPE, reduction, count);
        let expected: Vec<T> = (0..len)
            .map(|at| T::combined(&values.iter().map(|term| term[at]).collect::<Vec<_>>(), combine))
            .collect();
        let case = || format!("{reduction} of {count} x {len} {}, {ways:?}", T::DTYPE);
        let (mut target, windows) = laid_out(&vec![T::default(); len], ways[count]);
        let before = target.clone();
        reduce(&terms, &mut target, &windows, combine).unwrap();
        let places = offsets(&windows);
        for (at, (&place, &expected)) in places.iter().zip(&expected).enumerate() {
            let found: T = read(&target, place);
            assert!(found.is_same(expected), "{}, element {at}: {found} for {expected}", case());
        }
        for place in places {
            target[place..place + b].copy_from_slice(&before[place..place + b]);
        }
        assert_eq!(target, before, "{} wrote beside its windows", case());

        let skip = draw.below(len + 1);
        let take = draw.below(len - skip + 1);
        let mut part = vec![0xEE; take * b + 1];
        reduce_part(&terms, skip, &mut part[1..], combine).unwrap();
        for (at, expected) in expected[skip..skip + take].iter().enumerate() {
            let found: T = read(&part, 1 + at * b);
            assert!(found.is_same(*expected), "{}, element {at} from {skip}", case());
        }
    }
}

#[test]
fn reductions_are_those_of_the_model() {
    let mut draw = Draw(1);
    // Around the tiles of 1, 2, 4 and 8 byte values, and around vectors.
    let lens = [0, 1, 2, 7, 8, 31, 33, 255, 257, 1023, 1025, 2047, 2049, 4097, 8191, 8193];
    for len in lens {
        for count in [1, 2, 3, 4, 5, 8] {
            if len * count > 20_000 {
                continue;
            }
            check::<f32>(&mut draw, count, len);
            check::<f64>(&mut draw, count, len);
            check::<f16>(&mut draw, count, len);
            check::<bf16>(&mut draw, count, len);
            check::<i8>(&mut draw, count, len);
            check::<u8>(&mut draw, count, len);
            check::<i32>(&mut draw, count, len);
            check::<u32>(&mut draw, count, len);
            check::<i64>(&mut draw, count, len);
            check::<u64>(&mut draw, count, len);
            check::<bool>(&mut draw, count, len);
        }
    }
}

/// Loops of drawn extents, laid out in a drawn order with drawn gaps; how many bytes they reach over.
fn drawn_window(draw: &mut Draw, extents: &[usize], bytes: usize) -> (Window, usize) {
    let mut order: Vec<usize> = (0..extents.len()).collect();
    (1..order.len()).for_each(|at| order.swap(at, draw.below(at + 1)));
    let mut strides = vec![0; extents.len()];
    let mut reach = bytes;
    for dim in order {
        strides[dim] = reach + [0, 0, 1, bytes][draw.below(4)];
        reach += strides[dim] * (extents[dim] - 1);
    }
    let window = Window::new(draw.below(5), extents.iter().copied(), strides);
    let end = window.end_bytes(bytes);
    (window, end)
}

#[test]
fn copies_are_those_of_the_model() {
    let mut draw = Draw(2);
    for bytes in [1, 2, 3, 4, 8, 16, 24, 32, 64, 65, 200] {
        for _ in 0..60 {
            let dims = draw.below(5);
            let most = [300, 300, 130, 14, 7][dims];
            let extents: Vec<usize> = (0..dims).map(|_| 1 + draw.below(most)).collect();
            let (from, source_len) = drawn_window(&mut draw, &extents, bytes);
            let (to, target_len) = drawn_window(&mut draw, &extents, bytes);
            let source: Vec<u8> = (0..source_len).map(|_| draw.next() as u8).collect();
            let mut target = vec![0xEE; target_len];
            let mut expected = target.clone();
            let (from, to) = ([from], [to]);
            copy(&source, &from, &mut target, &to, bytes).unwrap();
            for (from, to) in offsets(&from).into_iter().zip(offsets(&to)) {
                expected[to..to + bytes].copy_from_slice(&source[from..from + bytes]);
            }
            assert!(target == expected, "{from:?} to {to:?} of {bytes} bytes");
        }
    }
}

#[test]
fn targets_that_meet_themselves_are_written_in_order() {
    let source: Vec<u8> = (0..120).collect();
    for (from_strides, to_strides) in [([1, 10], [10, 1]), ([1, 10], [1, 0]), ([1, 12], [2, 1])] {
        let (from, to) =
            ([Window::new(0, [10, 9], from_strides)], [Window::new(0, [10, 9], to_strides)]);
        let (mut target, mut expected) = (vec![0xEE; 120], vec![0xEE; 120]);
        copy(&source, &from, &mut target, &to, 1).unwrap();
        for (from, to) in offsets(&from).into_iter().zip(offsets(&to)) {
            expected[to] = source[from];
        }
        assert_eq!(target, expected, "{to:?}");
    }
}

#[test]
fn copies_of_any_length_are_whole() {
    let source: Vec<u8> = (0..70_000u32).map(|at| (at % 251) as u8).collect();
    for len in (0..700).chain([4095, 4096, 4097, 65_535, 69_990]) {
        for (from, to) in [(0, 0), (1, 3), (7, 2)] {
            let mut target = vec![0xEE; source.len() + 1];
            copy(&source, &[Window::run(from, len, 1)], &mut target, &[Window::run(to, len, 1)], 1)
                .unwrap();
            assert_eq!(target[to..to + len], source[from..from + len], "{len}");
            let beside = [&target[..to], &target[to + len..]].concat();
            assert!(beside.iter().all(|&byte| byte == 0xEE), "{len}");
        }
    }
}

#[test]
fn kernels_call_no_allocator() {
    let (source, mut target) = (vec![1u8; 1 << 16], vec![0u8; 1 << 16]);
    let from = [Window::new(0, [4, 3, 5, 7], [4000, 1000, 100, 8])];
    let to = [Window::new(8, [4, 3, 5, 7], [4, 2000, 16, 200])];
    let run = [Window::run(0, 420, 4)];
    let terms: [Term<'_>; 16] = std::array::from_fn(|_| (&source[..], &from[..]));
    let combine = Combine::new(DType::I32, Reduction::Sum, 16);
    let before = allocations();
    copy(&source, &from, &mut target, &to, 4).unwrap();
    copy(&source, &run, &mut target, &to, 4).unwrap();
    reduce(&terms, &mut target, &to, combine).unwrap();
    reduce_part(&terms, 7, &mut target[..400], combine).unwrap();
    assert_eq!(allocations(), before);
}

#[test]
fn parts_beyond_the_terms_are_refused() {
    let run = [Window::run(0, 2, 4)];
    let combine = Combine::new(DType::F32, Reduction::Sum, 1);
    let mut target = [0; 8];
    let refused = reduce_part(&[(&[0; 8], &run)], 1, &mut target, combine);
    assert_eq!(refused, Err(MemError::Counts { source_len: 2, target_len: 3 }));
    let refused = reduce_part(&[(&[0; 8], &run)], usize::MAX, &mut target, combine);
    assert_eq!(refused, Err(MemError::Counts { source_len: 2, target_len: usize::MAX }));
    let refused = reduce_part(&[(&[0; 8], &run)], 0, &mut target[..6], combine);
    assert_eq!(refused, Err(MemError::PartElement { dtype: DType::F32, len_bytes: 6 }));
    assert_eq!(reduce_part(&[], 0, &mut target, combine), Err(MemError::NoTerm));
    assert_eq!(target, [0; 8]);
}
