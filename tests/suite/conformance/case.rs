//! One call of a group: what every member gives, what each must get, and running it.

use reshard::comm::{Call, CommError, Communicator, Operation, Prepared, Stamp, Work};
use reshard::mem::{Buffer, BufferMut};
use reshard::{DType, Group};

use super::Engine;
use super::model::{Parts, outcome};
use super::placing::{Style, place};
use super::values::encode;

/// What bytes of a target are before the call.
const BEFORE: u8 = 0xA5;

/// A call of a group, ready to run.
#[derive(Debug)]
pub(crate) struct Case {
    group: Group,
    members: Vec<MemberCase>,
}

/// One member's side.
#[derive(Debug)]
struct MemberCase {
    call: Call,
    source: Buffer,
    target_bytes: usize,
    expected: Vec<u8>,
}

impl Case {
    /// The case in which the members give these parts, laid out in these styles.
    pub(crate) fn new(
        operation: Operation,
        group: &Group,
        dtype: DType,
        given: &[Parts],
        (send_style, recv_style): (Style, Style),
    ) -> Self {
        let gotten = outcome(operation, dtype, given);
        let member = |(given, gotten): (&Parts, &Parts)| {
            let mut call = Call::new(operation, group, dtype);
            let (source, source_parts) = filled(given, send_style, dtype);
            let (expected, target_parts) = filled(gotten, recv_style, dtype);
            for (peer, windows) in source_parts {
                call = call.send(peer, windows);
            }
            for (peer, windows) in target_parts {
                call = call.recv(peer, windows);
            }
            let target_bytes = expected.len();
            MemberCase { call, source: Buffer::from_elements(&source), target_bytes, expected }
        };
        let members = given.iter().zip(&gotten).map(member).collect();
        Self { group: group.clone(), members }
    }

    pub(crate) fn group(&self) -> &Group {
        &self.group
    }

    /// The side of an endpoint's rank, if it is a member.
    pub(crate) fn side<'a>(&'a self, endpoint: &'a dyn Communicator) -> Option<Side<'a>> {
        let position = self.group.position(endpoint.rank())?;
        Some(Side { case: self, member: &self.members[position], endpoint })
    }
}

/// One member's side on its live endpoint.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    case: &'a Case,
    member: &'a MemberCase,
    endpoint: &'a dyn Communicator,
}

impl Side<'_> {
    /// The call, not made yet.
    pub(crate) fn call(&self) -> Call {
        self.member.call.clone()
    }

    /// The number and the text of the next call.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::new(self.endpoint.next_sequence(&self.case.group), "conformance")
    }

    pub(crate) fn prepare(&self) -> Result<Prepared, CommError> {
        let MemberCase { call, source, target_bytes, .. } = self.member;
        self.endpoint.prepare(call.clone(), source.len_bytes(), *target_bytes)
    }

    /// Makes the call as one that is made only once.
    pub(crate) fn submit(&self) -> Result<Work, CommError> {
        let call = self.call().stamp(self.stamp());
        self.endpoint.submit(call, self.member.source.clone(), self.target())
    }

    /// Makes the call, which was prepared.
    pub(crate) fn start(&self, call: &Prepared, stamp: &Stamp) -> Result<Work, CommError> {
        let source = self.member.source.clone();
        self.endpoint.start(call, stamp, source, self.target())
    }

    /// Makes the call, which was prepared, on borrowed memory. The source stays as it is, and the target
    /// becomes what it has to be; after an error it is as it was, unless peers have not read in time.
    pub(crate) fn perform(&self, call: &Prepared, stamp: &Stamp) -> Result<(), CommError> {
        let source = self.member.source.as_bytes().to_vec();
        let mut target = self.target().as_bytes().to_vec();
        let done = self.endpoint.perform(call, stamp, &source, &mut target);
        assert_eq!(source, self.member.source.as_bytes(), "the source was written");
        match &done {
            Ok(()) | Err(CommError::Unread { .. }) => self.check(&target),
            Err(error) => {
                let untouched = target.iter().all(|&byte| byte == BEFORE);
                assert!(untouched, "the target was written although {error}");
            }
        }
        done
    }

    /// Checks the target of a call that is done.
    pub(crate) fn check(&self, target: &[u8]) {
        // Not `assert_eq`, which would print long buffers.
        if target != self.member.expected {
            let differs = target.iter().zip(&self.member.expected).position(|(a, b)| a != b);
            let (rank, group) = (self.endpoint.rank(), &self.case.group);
            panic!(
                "byte {differs:?} is wrong on rank {rank} among {group}: {:?}",
                self.member.call
            );
        }
    }

    fn target(&self) -> BufferMut {
        let mut target = BufferMut::zeroed(self.member.target_bytes);
        target.as_bytes_mut().fill(BEFORE);
        target
    }
}

type PlacedParts = Vec<(usize, Vec<reshard::mem::Window>)>;

/// A buffer with the parts in it, and their windows by peer.
fn filled(parts: &Parts, style: Style, dtype: DType) -> (Vec<u8>, PlacedParts) {
    let lens: Vec<usize> = parts.iter().map(|(_, values)| values.len()).collect();
    let (placed, bytes) = place(&lens, style, dtype.bytes());
    let mut buffer = vec![BEFORE; bytes];
    let mut windows = Vec::new();
    for ((peer, values), placed) in parts.iter().zip(placed) {
        assert_eq!(values.len(), placed.offsets.len());
        for (&value, &offset) in values.iter().zip(&placed.offsets) {
            buffer[offset..offset + dtype.bytes()].copy_from_slice(&encode(value, dtype));
        }
        windows.push((*peer, placed.windows));
    }
    (buffer, windows)
}

/// How ranks make their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Each once; several are on their way at a time, and the last of them is waited for first.
    Submitted,
    /// Each prepared once and started three times, the last of which is waited for first.
    Prepared,
    /// All ranks on borrowed memory.
    Lent,
    /// Some ranks on borrowed memory, others on buffers, which are which changes from call to call.
    Mixed,
}

const WAYS: [Way; 4] = [Way::Submitted, Way::Prepared, Way::Lent, Way::Mixed];

/// Runs the cases in one world for each way to make calls, each rank the ones it is a member of.
pub(crate) fn run(engine: Engine, world_len: usize, cases: &[Case]) {
    for way in WAYS {
        std::thread::scope(|scope| {
            for endpoint in engine(world_len) {
                scope.spawn(move || match way {
                    Way::Submitted => cases.chunks(5).for_each(|some| submitted(some, &*endpoint)),
                    Way::Prepared | Way::Lent | Way::Mixed => {
                        for (number, case) in cases.iter().enumerate() {
                            one(case, number, way, &*endpoint);
                        }
                    }
                });
            }
        });
    }
}

fn submitted(cases: &[Case], endpoint: &dyn Communicator) {
    let sides = cases.iter().filter_map(|case| case.side(endpoint));
    let works: Vec<_> = sides.map(|side| (side, side.submit().unwrap())).collect();
    for (side, work) in works.into_iter().rev() {
        side.check(work.wait().unwrap().as_bytes());
    }
}

/// Makes the call of one case, the `number`-th, in another way than by submitting it.
fn one(case: &Case, number: usize, way: Way, endpoint: &dyn Communicator) {
    let Some(side) = case.side(endpoint) else { return };
    let call = side.prepare().unwrap();
    let lends = way == Way::Lent || (endpoint.rank() + number).is_multiple_of(2);
    match way {
        Way::Submitted | Way::Prepared => {
            let works = [0; 3].map(|_| side.start(&call, &side.stamp()).unwrap());
            for work in works.into_iter().rev() {
                side.check(work.wait().unwrap().as_bytes());
            }
        }
        Way::Lent | Way::Mixed if lends => side.perform(&call, &side.stamp()).unwrap(),
        Way::Lent | Way::Mixed => {
            side.check(side.start(&call, &side.stamp()).unwrap().wait().unwrap().as_bytes());
        }
    }
}
