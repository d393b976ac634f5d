//! One call of a group: what every member gives, what each must get, and running it.

use reshard::comm::{Call, Communicator, Operation, Stamp, Work};
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

    fn submit(&self, endpoint: &dyn Communicator) -> Option<Work> {
        let member = &self.members[self.group.position(endpoint.rank())?];
        let sequence = endpoint.next_sequence(&self.group);
        let call = member.call.clone().stamp(Stamp::new(sequence, "conformance"));
        let mut target = BufferMut::zeroed(member.target_bytes);
        target.as_bytes_mut().fill(BEFORE);
        Some(endpoint.submit(call, member.source.clone(), target).unwrap())
    }

    fn check(&self, endpoint: &dyn Communicator, work: Work) {
        let position = self.group.position(endpoint.rank()).unwrap();
        let target = work.wait().unwrap();
        assert_eq!(
            target.as_bytes(),
            self.members[position].expected,
            "at position {position} of {self:#?}"
        );
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

/// Runs the cases in one world, each rank the ones it is a member of, several on their way at a time
/// and the last of them waited for first.
pub(crate) fn run(engine: Engine, world_len: usize, cases: &[Case]) {
    std::thread::scope(|scope| {
        for endpoint in engine(world_len) {
            scope.spawn(move || {
                for cases in cases.chunks(5) {
                    let works: Vec<_> = cases.iter().map(|case| case.submit(&*endpoint)).collect();
                    for (case, work) in cases.iter().zip(works).rev() {
                        if let Some(work) = work {
                            case.check(&*endpoint, work);
                        }
                    }
                }
            });
        }
    });
}
