//! Whether the calls of ranks that meet fit each other.

use super::{Call, CallRecord, Difference, Part, Side, Stamp};

/// Two calls that do not fit: in what, and the positions of both; the second is the odd one where
/// that can be told.
pub(crate) struct Misfit {
    pub(crate) difference: Difference,
    pub(crate) positions: [usize; 2],
}

/// A call as it was made.
pub(crate) type Stamped<'a> = (&'a Call, &'a Stamp);

impl Misfit {
    /// Both sides, of the calls in which the misfit was found.
    pub(crate) fn sides(&self, calls: &[Stamped<'_>]) -> Box<[Side; 2]> {
        Box::new(self.positions.map(|position| {
            let (call, stamp) = calls[position];
            Side { rank: call.group.ranks()[position], call: CallRecord::of(call, stamp) }
        }))
    }
}

/// Compares the calls of all members, in group order: operation, element type, stamp, and what every
/// member gives every other with what that one expects.
pub(crate) fn check(calls: &[Stamped<'_>]) -> Result<(), Misfit> {
    check_heads(calls)?;
    for from in 0..calls.len() {
        for to in 0..calls.len() {
            let (sent, expected) = counts(calls, from, to);
            if sent != expected {
                return Err(misfit(calls, from, to));
            }
        }
    }
    Ok(())
}

/// How many elements one member gives another, and how many that one expects.
fn counts(calls: &[Stamped<'_>], from: usize, to: usize) -> (usize, usize) {
    let len = |part: Option<&Part>| part.map_or(0, Part::len);
    let (sender, receiver) = (calls[from].0, calls[to].0);
    (len(sender.part_to(from, to)), len(receiver.part_from(to, from)))
}

/// The misfit of a count; the odd one is who misfits more other members, else who has fewer to agree
/// with, else the sender.
fn misfit(calls: &[Stamped<'_>], from: usize, to: usize) -> Misfit {
    let flows = |a: usize, b: usize| [counts(calls, a, b), counts(calls, b, a)];
    let fits = |a: usize, b: usize| flows(a, b).iter().all(|(sent, expected)| sent == expected);
    let agrees = |a: usize, b: usize| fits(a, b) && flows(a, b).iter().any(|&(sent, _)| sent > 0);
    let others = |position: usize| (0..calls.len()).filter(move |&other| other != position);
    let oddness = |position: usize| {
        let misfits = others(position).filter(|&other| !fits(position, other)).count();
        let agreeing = others(position).filter(|&other| agrees(position, other)).count();
        (misfits, std::cmp::Reverse(agreeing))
    };
    let (sent, expected) = counts(calls, from, to);
    let ranks = calls[from].0.group.ranks();
    let (sender, receiver) = (ranks[from], ranks[to]);
    let difference = Difference::Count { sender, sent, receiver, expected };
    let positions = if oddness(to) > oddness(from) { [from, to] } else { [to, from] };
    Misfit { difference, positions }
}

/// Compares all but the counts with what most members say.
fn check_heads(calls: &[Stamped<'_>]) -> Result<(), Misfit> {
    let Some(first) = calls.first() else { return Ok(()) };
    if calls.iter().all(|call| difference(*first, *call).is_none()) {
        return Ok(());
    }
    let agreeing = |position: usize| {
        calls.iter().filter(|call| difference(calls[position], **call).is_none()).count()
    };
    let usual = (0..calls.len()).rev().max_by_key(|&position| agreeing(position)).unwrap_or(0);
    for (odd, call) in calls.iter().enumerate() {
        if let Some(difference) = difference(calls[usual], *call) {
            return Err(Misfit { difference, positions: [usual, odd] });
        }
    }
    Ok(())
}

fn difference((a, a_stamp): Stamped<'_>, (b, b_stamp): Stamped<'_>) -> Option<Difference> {
    let stamps = stamp_difference(a_stamp, b_stamp);
    if stamps.is_some() {
        stamps
    } else if a.operation != b.operation {
        Some(Difference::Operation)
    } else if a.dtype != b.dtype {
        Some(Difference::DType)
    } else {
        None
    }
}

/// In what stamps differ that have to be equal; their texts may differ.
pub(crate) fn stamp_difference(a: &Stamp, b: &Stamp) -> Option<Difference> {
    if a.sequence != b.sequence {
        Some(Difference::Sequence)
    } else if a.plan != b.plan {
        Some(Difference::Plan)
    } else if a.step != b.step {
        Some(Difference::Step)
    } else {
        None
    }
}
