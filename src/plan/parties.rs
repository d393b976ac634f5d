//! The ranks that take part in a transition.

use crate::mesh::{Mesh, Rank};

/// The ranks of the source mesh by position, then those that only the target mesh has. A *party* is
/// an index into this list; on one mesh it is the position.
#[derive(Clone, Debug)]
pub(crate) struct Parties {
    ranks: Vec<Rank>,
    /// By position in the target mesh.
    of_target: Vec<usize>,
    source_len: usize,
}

impl Parties {
    pub(crate) fn new(source: &Mesh, target: &Mesh) -> Self {
        let mut ranks = source.ranks().to_vec();
        if source == target {
            let of_target = (0..ranks.len()).collect();
            return Self { source_len: ranks.len(), ranks, of_target };
        }
        let of_target = target.ranks().iter().map(|&rank| {
            source.position(rank).unwrap_or_else(|| {
                ranks.push(rank);
                ranks.len() - 1
            })
        });
        let of_target = of_target.collect();
        Self { source_len: source.len(), ranks, of_target }
    }

    pub(crate) fn len(&self) -> usize {
        self.ranks.len()
    }

    pub(crate) fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// The party at a position of the target mesh.
    pub(crate) fn at_target(&self, position: usize) -> usize {
        self.of_target[position]
    }

    /// The party's position in the source mesh.
    pub(crate) fn in_source(&self, party: usize) -> Option<usize> {
        (party < self.source_len).then_some(party)
    }
}
