//! A redistribution that has been made before allocates nothing, on any rank: everything it needs was
//! kept. An allocator that counts tells, and shows the first call that asked it for memory.
#![allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
#![allow(unsafe_code, reason = "an allocator is unsafe by its trait")]

use std::alloc::{GlobalAlloc, Layout as Block, System};
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::sync::Barrier;
use std::time::Duration;

use reshard::plan::Transition;
use reshard::{DType, Error, Layout, Mesh, World};

thread_local! {
    static COUNTS: Cell<bool> = const { Cell::new(false) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static FIRST: RefCell<Option<Backtrace>> = const { RefCell::new(None) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The allocator of the system; counts what a thread asks for while it wants that.
struct Counting;

fn count() {
    // A thread that is ending may have lost its counters; nobody asks it any more.
    let _ = COUNTS.try_with(|counts| {
        if counts.replace(false) {
            ALLOCATIONS.set(ALLOCATIONS.get() + 1);
            FIRST.with_borrow_mut(|first| {
                first.get_or_insert_with(Backtrace::force_capture);
            });
            counts.set(true);
        }
    });
}

// SAFETY: every call is passed on as it is to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the rules of this very function.
        unsafe { System.alloc(block) }
    }

    unsafe fn alloc_zeroed(&self, block: Block) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(block) }
    }

    unsafe fn realloc(&self, start: *mut u8, block: Block, len: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(start, block, len) }
    }

    unsafe fn dealloc(&self, start: *mut u8, block: Block) {
        // SAFETY: as above.
        unsafe { System.dealloc(start, block) }
    }
}

/// What a rank does again and again.
type Turn<'a> = Box<dyn FnMut() -> Result<(), Error> + 'a>;

const WARM_UP: usize = 20;
const TURNS: usize = 100;

/// What the ranks allocate in 100 turns after some others: how often, and where first.
///
/// Between turns ranks meet, so that each has dropped what it read of the others.
fn allocations<'a>(
    world_len: usize,
    prepare: impl Fn(&World) -> Result<Turn<'a>, Error> + Sync,
) -> (usize, Option<String>) {
    let meeting = Barrier::new(world_len);
    let world = World::builder(world_len).timeout(Duration::from_secs(60));
    let ranks = world.run(|world| {
        let mut turn = prepare(world)?;
        let mut failed = None;
        for number in 0..WARM_UP + TURNS {
            COUNTS.set(number >= WARM_UP);
            let result = turn();
            COUNTS.set(false);
            failed = failed.or(result.err());
            meeting.wait();
        }
        let first = FIRST.take().map(|first| first.to_string());
        failed.map_or(Ok((ALLOCATIONS.get(), first)), Err)
    });
    let (counts, firsts): (Vec<_>, Vec<_>) = ranks.unwrap().into_iter().unzip();
    (counts.iter().sum(), firsts.into_iter().flatten().next())
}

/// What is carried: the mesh, the layouts' texts, and the shape of f32 elements.
struct Case {
    axes: &'static [(&'static str, usize)],
    from: &'static str,
    to: &'static str,
    shape: [usize; 2],
    launches: usize,
}

const LINE: &[(&str, usize)] = &[("a", 4)];
const SQUARE: &[(&str, usize)] = &[("a", 2), ("b", 2)];

const CASES: [Case; 9] = [
    Case { axes: LINE, from: "S(0)", to: "R", shape: [8, 6], launches: 1 },
    Case { axes: LINE, from: "S(0)", to: "S(1)", shape: [7, 9], launches: 1 },
    Case { axes: LINE, from: "P(sum)", to: "R", shape: [5, 7], launches: 1 },
    // Long enough to be reduced by all ranks together, in several pieces.
    Case { axes: LINE, from: "P(sum)", to: "R", shape: [311, 333], launches: 1 },
    Case { axes: LINE, from: "P(sum)", to: "S(0)", shape: [8, 6], launches: 1 },
    Case { axes: LINE, from: "S(0)", to: "S(0)", shape: [8, 6], launches: 0 },
    Case { axes: LINE, from: "R", to: "S(1)", shape: [8, 6], launches: 0 },
    Case { axes: &[("a", 1)], from: "P(sum)", to: "R", shape: [8, 6], launches: 0 },
    Case { axes: SQUARE, from: "P(sum), S(0)", to: "R, R", shape: [8, 6], launches: 2 },
];

impl Case {
    fn mesh(&self) -> Mesh {
        Mesh::new(self.axes.iter().copied()).unwrap()
    }

    fn layouts(&self) -> [Layout; 2] {
        [self.from, self.to].map(|text| Layout::parse(&self.mesh(), 2, text).unwrap())
    }

    /// Fails if the turns of this case allocate something.
    fn check<'a>(&self, how: &str, prepare: impl Fn(&World) -> Result<Turn<'a>, Error> + Sync) {
        let (count, first) = allocations(self.mesh().len(), prepare);
        let Self { from, to, shape, .. } = self;
        let first = first.unwrap_or_default();
        assert_eq!(count, 0, "{from} -> {to} of {shape:?}, {how}; first at\n{first}");
    }
}

#[test]
fn the_count_sees_all_ranks_and_nothing_else() {
    let (count, first) = allocations(3, |world| {
        let own = usize::from(world.rank() > 0);
        Ok(Box::new(move || {
            drop(std::hint::black_box(Vec::<u8>::with_capacity(own)));
            Ok(())
        }))
    });
    assert_eq!(count, 2 * TURNS);
    assert!(first.unwrap().contains("the_count_sees_all_ranks"));
}

#[test]
fn redistributing_again_allocates_nothing() {
    for case in CASES {
        let [_, to] = case.layouts();
        let (mesh, to) = (case.mesh(), &to);
        case.check("named by a layout", |world| {
            let tensor = world.on(&mesh).full(1.0f32, case.shape, case.from)?;
            assert_eq!(tensor.plan_to(to)?.launches(), case.launches);
            Ok(Box::new(move || tensor.redistribute(to).map(drop)))
        });
        case.check("named by a text", |world| {
            let tensor = world.on(&mesh).full(1.0f32, case.shape, case.from)?;
            Ok(Box::new(move || tensor.redistribute(case.to).map(drop)))
        });
    }
}

#[test]
fn redistributing_into_a_tensor_allocates_nothing() {
    for case in CASES {
        let mesh = case.mesh();
        case.check("into a tensor", |world| {
            let tensor = world.on(&mesh).full(1.0f32, case.shape, case.from)?;
            let mut out = world.on(&mesh).zeros::<f32>(case.shape, case.to)?;
            Ok(Box::new(move || tensor.redistribute_into(&mut out)))
        });
    }
}

#[test]
fn redistributing_bytes_allocates_nothing() {
    for case in CASES.iter().filter(|case| case.launches == 1) {
        let [from, to] = case.layouts();
        let transition = Transition::new(from, to, case.shape, DType::F32).unwrap();
        case.check("on borrowed bytes", |world| {
            let len = |layout: &Layout| {
                layout.region(&case.shape, world.rank()).map(|region| region.len() * 4)
            };
            let source = vec![0; len(transition.source())?];
            let mut target = vec![0; len(transition.target())?];
            let (world, transition) = (world.clone(), &transition);
            Ok(Box::new(move || world.redistribute_bytes(transition, &source, &mut target)))
        });
    }
}
