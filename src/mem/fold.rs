//! The arithmetic of reductions, tile by tile.

use std::marker::PhantomData;

use smallvec::SmallVec;

use super::Term;
use super::cursor::Cursor;
#[cfg(target_arch = "x86_64")]
use super::f16c;
use super::lane::{Lane, Number};
use super::tile::{First, Last, LastTwo, More, Only, Pair, Rows, RowsMut, Shape};
use super::wide::widest;

/// Bytes calculated with at a time: the totals of a tile, and of a few terms, fit the innermost cache.
const TILE: usize = 8192;

/// Elements combined at once where no totals are kept.
const LONGEST: usize = 1 << 16;

/// Shorter stretches are packed together before they are combined.
const WORTHWHILE: usize = 256;

/// Unless there are not few of them at equal distances, and they fill a vector.
const FEW: usize = 4;
const SHORTEST: usize = 32;

/// How two values become one.
pub(super) trait Join {
    fn join<V: Number>(a: V, b: V) -> V;
}

macro_rules! joins {
    ($($name:ident: $method:ident),*) => {$(
        pub(super) struct $name;
        impl Join for $name {
            #[inline(always)]
            fn join<V: Number>(a: V, b: V) -> V {
                a.$method(b)
            }
        }
    )*};
}

joins!(Sum: add, Product: mul, Least: min, Greatest: max);

/// Terms on their way into a target; the cursors stand at the first element of each.
pub(super) struct Fold<'a> {
    pub(super) terms: SmallVec<[(&'a [u8], Cursor<'a>); 16]>,
    pub(super) target: (&'a mut [u8], Cursor<'a>),
    /// Elements to combine.
    pub(super) len: usize,
    pub(super) divisor: usize,
}

impl<'a> Fold<'a> {
    pub(super) fn new(
        terms: &[Term<'a>],
        skip: usize,
        target: (&'a mut [u8], Cursor<'a>),
        (len, divisor): (usize, usize),
    ) -> Self {
        let start = |&(bytes, windows): &Term<'a>| (bytes, Cursor::skipping(windows, skip));
        Self { terms: terms.iter().map(start).collect(), target, len, divisor }
    }

    /// Combines all terms.
    pub(super) fn run<L: Lane, J: Join>(mut self) {
        let mut few = [0u64; 32];
        let mut many;
        let totals: &mut [u64] =
            if self.len.saturating_mul(size_of::<L::Value>()) <= size_of_val(&few) {
                &mut few
            } else {
                many = [0u64; TILE / 8];
                &mut many
            };
        let totals: &mut [L::Value] = bytemuck::cast_slice_mut(totals);
        let mut rooms = None;
        while self.len > 0 {
            let together = self.together::<L>().min(totals.len()).min(self.len);
            let most = if self.needs_totals::<L>() { totals.len() } else { LONGEST };
            let rows = self.rows::<L>(together).min(self.len.min(most) / together).max(1);
            let (row_bytes, whole) = (together * L::BYTES, together == self.len);
            let many = rows >= FEW && row_bytes >= SHORTEST;
            let (shape, rooms) = if whole || many || row_bytes >= WORTHWHILE {
                (Shape { rows, len: together }, Default::default())
            } else {
                let rooms = rooms.get_or_insert_with(Self::rooms);
                let len = totals.len().min(self.len);
                (Shape { rows: 1, len }, rooms.each_mut().map(|room| &mut room[..]))
            };
            let len = shape.rows * shape.len;
            let totals = &mut totals[..if self.needs_totals::<L>() { len } else { 0 }];
            self.tile::<L, J>(shape, totals, rooms);
            self.len -= len;
        }
    }

    /// Where elements that lie apart are packed.
    fn rooms() -> [[u8; TILE]; 3] {
        [[0; TILE]; 3]
    }

    /// How many elements lie one after another in all terms and in the target.
    fn together<L: Lane>(&mut self) -> usize {
        let cursors = self.terms.iter_mut().map(|(_, cursor)| cursor);
        let stretches = cursors.chain([&mut self.target.1]).map(|cursor| {
            let len = cursor.available();
            if cursor.is_together(len, L::BYTES) { len } else { 1 }
        });
        stretches.min().unwrap_or(0)
    }

    /// Whether values are kept between one pass over a tile and the next.
    fn needs_totals<L: Lane>(&self) -> bool {
        self.terms.len() > 2 || L::IS_F16
    }

    /// How many rows of so many elements that lie together come next in all terms and in the target.
    fn rows<L: Lane>(&mut self, len: usize) -> usize {
        let cursors = self.terms.iter_mut().map(|(_, cursor)| cursor);
        let rows = cursors.chain([&mut self.target.1]).map(|cursor| cursor.rows(len, L::BYTES).0);
        rows.min().unwrap_or(1).max(1)
    }

    /// Combines rows of elements; there is a total for each if there need be. Without rooms to pack them
    /// in, those of a row lie together.
    fn tile<L: Lane, J: Join>(
        &mut self,
        shape: Shape,
        totals: &mut [L::Value],
        rooms: [&mut [u8]; 3],
    ) {
        let (len, divisor) = (shape.rows * shape.len, self.divisor);
        let [left, right, packed] = rooms;
        let (target, cursor) = &mut self.target;
        let direct = packed.is_empty();
        let target = if direct {
            let (_, stride) = cursor.rows(shape.len, L::BYTES);
            let start = cursor.take_rows(shape.rows, shape.len);
            RowsMut { bytes: &mut target[start..], stride }
        } else {
            RowsMut { bytes: &mut packed[..len * L::BYTES], stride: 0 }
        };
        let count = self.terms.len();
        let mut terms = Terms { rest: self.terms.iter_mut(), shape, element_bytes: L::BYTES };
        let join = PhantomData::<(L, J)>;
        match count {
            #[cfg(target_arch = "x86_64")]
            _ if L::IS_F16 && f16c::is_known() => {
                let totals: &mut [f32] = bytemuck::cast_slice_mut(totals);
                f16c::start(shape, terms.next(left), totals);
                (1..count).for_each(|_| f16c::combine::<J>(shape, terms.next(left), totals));
                f16c::finish(shape, totals, divisor, target);
            }
            1 => widest(Only { shape, term: terms.next(left), target, divisor, join }),
            2 => {
                let terms = [terms.next(left), terms.next(right)];
                widest(Pair { shape, terms, target, divisor, join });
            }
            _ => {
                widest(First { shape, terms: [terms.next(left), terms.next(right)], totals, join });
                for _ in 0..(count - 3) / 2 {
                    let terms = [terms.next(left), terms.next(right)];
                    widest(More { shape, terms, totals, join });
                }
                if count.is_multiple_of(2) {
                    let terms = [terms.next(left), terms.next(right)];
                    widest(LastTwo { shape, terms, totals, target, divisor, join });
                } else {
                    let term = terms.next(left);
                    widest(Last { shape, term, totals, target, divisor, join });
                }
            }
        }
        if !direct {
            let (target, cursor) = &mut self.target;
            cursor.scatter(&packed[..len * L::BYTES], target, L::BYTES);
        }
    }
}

/// The terms of a tile, one after another.
struct Terms<'t, 'a> {
    rest: std::slice::IterMut<'t, (&'a [u8], Cursor<'a>)>,
    shape: Shape,
    element_bytes: usize,
}

impl<'a> Terms<'_, 'a> {
    /// The next term's elements, packed into `room`, if there is one, where they lie apart.
    fn next<'b>(&mut self, room: &'b mut [u8]) -> Rows<'b>
    where
        'a: 'b,
    {
        let Shape { rows, len } = self.shape;
        let Some((bytes, cursor)) = self.rest.next() else { return Rows { bytes: &[], stride: 0 } };
        if !room.is_empty() {
            return Rows { bytes: cursor.fetch(bytes, len, room, self.element_bytes), stride: 0 };
        }
        let (_, stride) = cursor.rows(len, self.element_bytes);
        Rows { bytes: &bytes[cursor.take_rows(rows, len)..], stride }
    }
}
