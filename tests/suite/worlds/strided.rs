//! A communicator that takes no strided parts gets packed ones, and the elements arrive all the same.

use std::sync::Arc;

use reshard::comm::{
    Call, CommError, Communicator, Departure, Part, Prepared, Recording, Stamp, Work,
};
use reshard::mem::{Buffer, BufferMut};
use reshard::mesh::Rank;
use reshard::{Group, Mesh, World};

use super::FAR;
use super::redistributing::{all_pairs, carried};
use crate::naive::Twin;

/// A communicator that insists on one contiguous window a part.
#[derive(Debug)]
struct Contiguous(Arc<dyn Communicator>);

impl Contiguous {
    fn check(parts: &[Part], call: &Call) {
        for part in parts {
            let contiguous =
                |window: &_| reshard::mem::Window::is_contiguous(window, call.dtype.bytes());
            assert!(matches!(&part.windows[..], [w] if contiguous(w)), "{part:?} of {call:?}");
        }
    }
}

impl Communicator for Contiguous {
    fn rank(&self) -> Rank {
        self.0.rank()
    }
    fn world_len(&self) -> usize {
        self.0.world_len()
    }
    fn name(&self) -> &'static str {
        "contiguous"
    }
    fn takes_strided(&self) -> bool {
        false
    }
    fn prepare(&self, call: Call, source: usize, target: usize) -> Result<Prepared, CommError> {
        Self::check(&call.send, &call);
        Self::check(&call.recv, &call);
        self.0.prepare(call, source, target)
    }
    fn start(
        &self,
        call: &Prepared,
        stamp: &Stamp,
        source: Buffer,
        target: BufferMut,
    ) -> Result<Work, CommError> {
        self.0.start(call, stamp, source, target)
    }
    fn note(&self, stamp: &Stamp) {
        self.0.note(stamp);
    }
    fn next_sequence(&self, scope: &Group) -> u64 {
        self.0.next_sequence(scope)
    }
    fn leave(&self, departure: Departure) {
        self.0.leave(departure);
    }
    fn recorder(&self) -> Recording {
        self.0.recorder()
    }
}

fn check(mesh: &Mesh, pairs: &[(&Twin, &Twin)]) {
    let world = World::builder(mesh.len()).timeout(FAR).wrap(|inner| Arc::new(Contiguous(inner)));
    let ranks = world.run(|world| {
        let each = pairs.iter().map(|&pair| carried(world, mesh, pair, 8));
        each.collect::<Result<Vec<_>, _>>()
    });
    let ranks = ranks.unwrap();
    for (number, (source, target)) in pairs.iter().enumerate() {
        let locals: Vec<Vec<f64>> = ranks.iter().map(|rank| rank[number].clone()).collect();
        let (from, to) = (source.notation(), target.notation());
        assert_eq!(target.assemble(&locals), source.value(8), "{from} -> {to}");
    }
}

#[test]
fn all_pairs_of_placements_are_packed() {
    for (lens, shape) in [([2, 2], [4, 6]), ([2, 3], [5, 3])] {
        let twins = all_pairs(lens, &shape, "sum");
        let mesh = Mesh::new(twins[0].axes()).unwrap();
        let pairs: Vec<_> = twins.iter().flat_map(|a| twins.iter().map(move |b| (a, b))).collect();
        check(&mesh, &pairs);
    }
}
