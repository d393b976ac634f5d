//! What can be wrong with a rank's own call, found before a peer hears of it.

use super::{Call, Operation, Part};
use crate::mem::{MemError, overlapping};
use crate::mesh::Rank;

/// What is wrong with a rank's own call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFault {
    /// The caller is not in the group.
    #[error("the rank is not a member of the group")]
    NotAMember,
    /// The group has a rank that the world has not.
    #[error("the group has rank {rank}, but the world has ranks 0 to {} only", world_len - 1)]
    UnknownRank {
        /// The rank.
        rank: Rank,
        /// How many ranks there are.
        world_len: usize,
    },
    /// The root is no position of the group.
    #[error("position {root} is the root, but the group has {group_len} members")]
    Root {
        /// The root given.
        root: usize,
        /// How many members there are.
        group_len: usize,
    },
    /// Parts are missing, superfluous, repeated or for the wrong peers.
    #[error("{direction} parts are for the positions {given:?}, but have to be for {needed}")]
    Peers {
        /// Which parts.
        direction: Direction,
        /// The peers given.
        given: Vec<usize>,
        /// The peers that the operation needs at this position.
        needed: Peers,
    },
    /// A window reaches past the end of its buffer.
    #[error("{direction} part for position {peer}: {error}")]
    Window {
        /// Which part.
        direction: Direction,
        /// Its peer.
        peer: usize,
        /// What is wrong.
        error: MemError,
    },
    /// Two recv windows share a byte, so the result would depend on the order.
    #[error("recv windows for the positions {first} and {second} share a byte of the target")]
    Overlap {
        /// The peer of the one window.
        first: usize,
        /// The peer of the other window.
        second: usize,
    },
    /// Terms of this type cannot be reduced or divided so.
    #[error("{0}")]
    Reduction(MemError),
    /// The call does not fit itself: what the rank gives itself is not what it expects.
    #[error("the rank gives itself {sent} elements and expects {expected}")]
    OwnCount {
        /// Elements given.
        sent: usize,
        /// Elements expected.
        expected: usize,
    },
    /// A prepared call is made with another buffer than it was prepared for.
    #[error(
        "the {direction} buffer has {given} bytes, but the call was prepared for {prepared}; prepare it for these buffers"
    )]
    BufferLen {
        /// The source, or the target.
        direction: Direction,
        /// Bytes of the buffer given.
        given: usize,
        /// Bytes of the buffer for which the call was prepared.
        prepared: usize,
    },
    /// A prepared call is made on another endpoint than the one that prepared it.
    #[error(
        "the call was prepared by another rank or in another world; prepare it on the endpoint that makes it"
    )]
    Foreign,
    /// The target has been handed out already.
    #[error("the work was waited for twice; its target has been handed out")]
    TargetTaken,
    /// The rank has left and cannot make calls any more.
    #[error("the rank has left its world")]
    Left,
}

/// Which parts of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The send parts.
    Send,
    /// The recv parts.
    Recv,
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Direction::Send => "send",
            Direction::Recv => "recv",
        })
    }
}

/// For which peers an operation needs parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// None.
    Nobody,
    /// One position.
    One(usize),
    /// Every position below this, once each.
    All(usize),
    /// Positions below this, at most once each.
    Some(usize),
}

impl std::fmt::Display for Peers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Peers::Nobody => f.write_str("none"),
            Peers::One(position) => write!(f, "{position}"),
            Peers::All(len) => write!(f, "each of the {len} members once"),
            Peers::Some(len) => write!(f, "the {len} members, at most once each"),
        }
    }
}

/// Checks a call of `rank`; the rank's position in the group.
pub(crate) fn validate(
    call: &Call,
    rank: Rank,
    world_len: usize,
    (source_bytes, target_bytes): (usize, usize),
) -> Result<usize, CallFault> {
    let group = &call.group;
    let own = group.position(rank).ok_or(CallFault::NotAMember)?;
    if let Some(&rank) = group.ranks().iter().find(|&&rank| rank >= world_len) {
        return Err(CallFault::UnknownRank { rank, world_len });
    }
    if let Some(root) = call.operation.root().filter(|&root| root >= group.len()) {
        return Err(CallFault::Root { root, group_len: group.len() });
    }
    if let Some(combine) = call.operation.combine(call.dtype) {
        combine.check().map_err(CallFault::Reduction)?;
    }
    let (send, recv) = needed(call.operation, own, group.len());
    check_peers(&call.send, Direction::Send, send)?;
    check_peers(&call.recv, Direction::Recv, recv)?;
    check_windows(call, Direction::Send, source_bytes)?;
    check_windows(call, Direction::Recv, target_bytes)?;
    check_overlap(call)?;
    let count = |part: Option<&Part>| part.map_or(0, Part::len);
    let (sent, expected) = (count(call.part_to(own, own)), count(call.part_from(own, own)));
    if sent != expected {
        return Err(CallFault::OwnCount { sent, expected });
    }
    Ok(own)
}

/// For which peers the member at `own` gives send and recv parts.
fn needed(operation: Operation, own: usize, group_len: usize) -> (Peers, Peers) {
    let all = Peers::All(group_len);
    let at_root = |root: usize, peers: Peers| if own == root { peers } else { Peers::Nobody };
    match operation {
        Operation::AllGather => (Peers::One(own), all),
        Operation::AllReduce { .. } => (Peers::One(own), Peers::One(own)),
        Operation::ReduceScatter { .. } => (all, Peers::One(own)),
        Operation::AllToAll => (all, all),
        Operation::Broadcast { root } => (at_root(root, Peers::One(root)), Peers::One(root)),
        Operation::Scatter { root } => (at_root(root, all), Peers::One(root)),
        Operation::Gather { root } => (Peers::One(root), at_root(root, all)),
        Operation::Reduce { root, .. } => (Peers::One(root), at_root(root, Peers::One(root))),
        Operation::Exchange => (Peers::Some(group_len), Peers::Some(group_len)),
        Operation::Barrier => (Peers::Nobody, Peers::Nobody),
    }
}

fn check_peers(parts: &[Part], direction: Direction, needed: Peers) -> Result<(), CallFault> {
    let mut peers: Vec<usize> = parts.iter().map(|part| part.peer).collect();
    peers.sort_unstable();
    let distinct = peers.windows(2).all(|pair| pair[0] != pair[1]);
    let in_range = |len: usize| peers.last().is_none_or(|&peer| peer < len);
    let fits = match needed {
        Peers::Nobody => peers.is_empty(),
        Peers::One(peer) => peers == [peer],
        Peers::All(len) => peers.len() == len && distinct && in_range(len),
        Peers::Some(len) => distinct && in_range(len),
    };
    if fits {
        return Ok(());
    }
    let given = parts.iter().map(|part| part.peer).collect();
    Err(CallFault::Peers { direction, given, needed })
}

fn check_windows(call: &Call, direction: Direction, len_bytes: usize) -> Result<(), CallFault> {
    let parts = match direction {
        Direction::Send => &call.send,
        Direction::Recv => &call.recv,
    };
    for part in parts {
        for window in &part.windows {
            window
                .check_within(len_bytes, call.dtype.bytes())
                .map_err(|error| CallFault::Window { direction, peer: part.peer, error })?;
        }
    }
    Ok(())
}

fn check_overlap(call: &Call) -> Result<(), CallFault> {
    let flat = || call.recv.iter().flat_map(|part| part.windows.iter().map(|w| (part.peer, w)));
    let windows: Vec<_> = flat().map(|(_, window)| window).collect();
    match overlapping(&windows, call.dtype.bytes()) {
        None => Ok(()),
        Some((first, second)) => {
            let peers: Vec<_> = flat().map(|(peer, _)| peer).collect();
            Err(CallFault::Overlap { first: peers[first], second: peers[second] })
        }
    }
}
