//! Random programs: calls of random groups, each made and waited for in some way, and one fault.

use reshard::comm::Operation;
use reshard::{DType, Group, Reduction};

use crate::conformance::case::Case;
use crate::conformance::list::{Kind, given};
use crate::conformance::placing::Style;

/// Numbers drawn from a seed.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, len: usize) -> usize {
        // Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % len as u64) as usize
    }

    pub(super) fn pick<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }
}

/// What a rank does with one of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Waits,
    Performs,
    Drops,
    /// Waits at the end of the program.
    WaitsLate,
    Leaks,
}

/// What one rank does wrong at one of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    PanicsBefore,
    PanicsDuring,
    PanicsAfter,
    Returns,
    Skips,
    SwapsWithNext,
    OtherDType,
    OtherCounts,
    Stalls,
    /// Makes the call and neither waits for it nor gives it up, while others lend their memory.
    NeverReads,
}

pub(super) const FAULTS: [Fault; 10] = [
    Fault::PanicsBefore,
    Fault::PanicsDuring,
    Fault::PanicsAfter,
    Fault::Returns,
    Fault::Skips,
    Fault::SwapsWithNext,
    Fault::OtherDType,
    Fault::OtherCounts,
    Fault::Stalls,
    Fault::NeverReads,
];

/// One call of a program.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) case: Case,
    /// By rank of the world.
    pub(super) ways: Vec<Way>,
}

impl Step {
    pub(super) fn lends(&self) -> bool {
        self.case.group().ranks().iter().any(|&rank| self.ways[rank] == Way::Performs)
    }
}

/// A program that all ranks of a world run, but for one fault.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) world_len: usize,
    pub(super) steps: Vec<Step>,
    pub(super) fault: Fault,
    /// The rank at fault, and the step at which it is.
    pub(super) odd: usize,
    pub(super) at: usize,
    /// What the rank at fault calls instead.
    pub(super) instead: Option<Case>,
}

/// What a case is made of.
struct Drawn {
    kind: Kind,
    group: Group,
    dtype: DType,
    reduction: Reduction,
    root: usize,
    len: usize,
    styles: (Style, Style),
}

const TYPES: [DType; 6] = [DType::F32, DType::I32, DType::F16, DType::Bf16, DType::U8, DType::I8];

/// Another type of as many bytes.
fn other(dtype: DType) -> DType {
    match dtype {
        DType::F32 => DType::I32,
        DType::F16 => DType::Bf16,
        DType::Bf16 => DType::F16,
        DType::U8 => DType::I8,
        DType::I8 => DType::U8,
        _ => DType::F32,
    }
}

impl Drawn {
    fn new(draw: &mut Draw, groups: &[Group]) -> Self {
        let long = draw.below(40) == 0;
        let group = groups[draw.below(groups.len())].clone();
        let root = draw.below(group.len());
        Self {
            kind: if long { Kind::AllReduce } else { draw.pick(&Kind::ALL) },
            group,
            dtype: draw.pick(&TYPES),
            reduction: draw.pick(&[Reduction::Sum, Reduction::Max]),
            root,
            // From 256 KiB on a reduction is done by all ranks together, however few they are.
            len: if long { 263_000 + draw.below(5000) } else { 1 + draw.below(40) },
            styles: match long {
                true => (Style::Packed, Style::Packed),
                false => (draw.pick(&Style::ALL), draw.pick(&Style::ALL)),
            },
        }
    }

    fn case(&self, dtype: DType, more: usize) -> Case {
        let operation: Operation = self.kind.operation(self.root, self.reduction, 1);
        let counts = |from: usize, to: usize| (self.len + from + 2 * to) % (self.len + 1) + more;
        let given = given(operation, dtype, self.group.len(), &counts);
        Case::new(operation, &self.group, dtype, &given, self.styles)
    }
}

impl Schedule {
    /// The program of a seed, with one of the faults in turn.
    pub(super) fn new(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let world_len = 2 + draw.below(4);
        let mut groups = vec![Group::world(world_len)];
        for _ in 0..3 {
            groups.push(some_ranks(&mut draw, world_len));
        }
        let steps_len = 3 + draw.below(8);
        let mut drawn: Vec<Drawn> =
            (0..steps_len).map(|_| Drawn::new(&mut draw, &groups)).collect();
        let fault = FAULTS[seed as usize % FAULTS.len()];
        let at = draw.below(steps_len);
        if fault == Fault::NeverReads {
            // Somebody else takes part, so that somebody can lend.
            drawn[at].group = groups[0].clone();
            drawn[at].root = 0;
        }
        let odd = draw.pick(drawn[at].group.ranks());
        let instead = match fault {
            Fault::OtherDType => Some(drawn[at].case(other(drawn[at].dtype), 0)),
            Fault::OtherCounts => Some(drawn[at].case(drawn[at].dtype, 1)),
            _ => None,
        };
        let mut steps: Vec<Step> = drawn
            .iter()
            .map(|drawn| Step {
                case: drawn.case(drawn.dtype, 0),
                ways: ways(&mut draw, world_len),
            })
            .collect();
        if fault == Fault::NeverReads {
            steps[at].ways.fill(Way::Performs);
        }
        Self { world_len, steps, fault, odd, at, instead }
    }
}

fn some_ranks(draw: &mut Draw, world_len: usize) -> Group {
    let mut ranks: Vec<usize> = (0..world_len).collect();
    for index in (1..world_len).rev() {
        ranks.swap(index, draw.below(index + 1));
    }
    ranks.truncate(1 + draw.below(world_len));
    Group::new(ranks).unwrap()
}

/// How ranks make a call: who lends its memory waits until all have read it, so that nobody may wait late
/// where somebody lends.
fn ways(draw: &mut Draw, world_len: usize) -> Vec<Way> {
    let lent = [Way::Performs, Way::Performs, Way::Waits, Way::Drops];
    let given = [Way::Waits, Way::Waits, Way::WaitsLate, Way::Drops, Way::Leaks];
    let of: &[Way] = if draw.below(2) == 0 { &lent } else { &given };
    (0..world_len).map(|_| draw.pick(of)).collect()
}
