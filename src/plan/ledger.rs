//! All messages of one step in which senders are chosen, by party.

use super::exchange::{Exchange, Flow};
use super::relay::{Passed, Relay};
use super::routes::Routes;

/// The messages of a step, computed once for all ranks.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    first: Vec<Flow>,
    second: Vec<Passed>,
    /// Indices into the messages that a party sends or receives, ascending.
    first_of: Vec<Vec<usize>>,
    second_of: Vec<Vec<usize>>,
}

impl Ledger {
    /// A direct exchange.
    pub(crate) fn direct(exchange: &Exchange<'_>) -> Self {
        let mut first = Vec::new();
        Routes::new(exchange).for_each(|flow| first.push(flow));
        first.sort_unstable_by_key(|flow| (flow.receiver, flow.sender, flow.start));
        Self::new(exchange, first, Vec::new())
    }

    /// A relayed exchange.
    pub(crate) fn relayed(exchange: &Exchange<'_>, relay: &Relay) -> Self {
        Self::new(exchange, relay.first.clone(), relay.second.clone())
    }

    fn new(exchange: &Exchange<'_>, first: Vec<Flow>, second: Vec<Passed>) -> Self {
        let at_target = |position| exchange.parties.at_target(position);
        let pairs = first.iter().map(|flow| (flow.sender, at_target(flow.receiver)));
        let first_of = by_party(exchange, pairs);
        let pairs =
            second.iter().map(|passed| (at_target(passed.sender), at_target(passed.receiver)));
        let second_of = by_party(exchange, pairs);
        Self { first, second, first_of, second_of }
    }

    /// The messages of the first launch that a party sends or receives.
    pub(crate) fn first(&self, party: usize) -> impl Iterator<Item = &Flow> {
        self.first_of[party].iter().map(|&index| &self.first[index])
    }

    /// The messages of the second launch that a party sends or receives.
    pub(crate) fn second(&self, party: usize) -> impl Iterator<Item = &Passed> {
        self.second_of[party].iter().map(|&index| &self.second[index])
    }
}

fn by_party(
    exchange: &Exchange<'_>,
    pairs: impl Iterator<Item = (usize, usize)>,
) -> Vec<Vec<usize>> {
    let mut of = vec![Vec::new(); exchange.parties.len()];
    for (index, (sender, receiver)) in pairs.enumerate() {
        of[sender].push(index);
        if receiver != sender {
            of[receiver].push(index);
        }
    }
    of
}
