//! The relayed exchange: receivers of the same elements pass them on.
//!
//! In a direct exchange, the holder of an element sends it to every rank that lacks it. Here some of
//! those messages come from another receiver instead, in a second launch. Each receiver still gets
//! exactly what it lacks, once, so the load that a rank receives stays least; what it sends is evened
//! out by moving messages from the busiest sender to the least busy rank that can pass them on, until
//! nobody sends more than some rank must receive or no move helps.

use std::collections::BTreeMap;

use super::exchange::{Exchange, Flow};
use super::routes::Routes;
use super::traffic::Traffic;

/// A relayed exchange, in two launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relay {
    /// From those that hold.
    pub(crate) first: Vec<Flow>,
    /// From receivers: senders are positions in the target mesh.
    pub(crate) second: Vec<Passed>,
}

/// What a receiver passes on: part of what a holder and the receivers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// Position in the source mesh of a rank that held it.
    pub(crate) holder: usize,
    /// Position in the target mesh of the rank that passes it on.
    pub(crate) sender: usize,
    /// Position in the target mesh.
    pub(crate) receiver: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The elements that one class of holders owes to one group of receivers with equal targets.
#[derive(Debug, Default)]
struct Cell {
    flows: Vec<usize>,
}

/// A flow of the direct exchange, and what becomes of it.
#[derive(Clone, Copy, Debug)]
struct Message {
    flow: Flow,
    cell: usize,
    /// Position in the target mesh of the rank that passes it on, if it is not sent directly.
    passed_by: Option<usize>,
    /// Whether its receiver passes it on, so that it must stay direct.
    is_source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Yes,
    No,
}

/// Whether a rank passes the message on to others already, its load, its position in the target mesh.
type Passer = (Source, usize, usize);

/// Loads are evened out by one message at a time; beyond this many, the rest is left as it is.
const MOST_MOVES_PER_RANK: usize = 64;

/// With more parties than this, messages are too many to move one by one; gathers relieve senders then.
const MOST_PARTIES: usize = 64;

/// A message is divided among at most so many receivers that pass it on.
const MOST_PARTS: usize = 16;

impl Relay {
    /// Nothing if the direct exchange is best, or has too many messages to look at one by one.
    pub(crate) fn new(exchange: &Exchange<'_>) -> Option<Self> {
        if exchange.parties.len() > MOST_PARTIES {
            return None;
        }
        let mut desk = Desk::new(exchange);
        let floor = exchange.most_received();
        let mut moved = false;
        for _ in 0..MOST_MOVES_PER_RANK * exchange.parties.len() {
            if !desk.relieve(floor) {
                break;
            }
            moved = true;
        }
        moved.then(|| desk.relay())
    }

    pub(crate) fn traffic(&self, exchange: &Exchange<'_>) -> Traffic {
        let mut traffic = Traffic::none(exchange.parties.len());
        let party = |position| exchange.parties.at_target(position);
        let mut pairs: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
        for flow in &self.first {
            let pair = (0, exchange.sending_party(flow.sender), party(flow.receiver));
            *pairs.entry(pair).or_default() += flow.end - flow.start;
        }
        for passed in &self.second {
            let pair = (1, party(passed.sender), party(passed.receiver));
            *pairs.entry(pair).or_default() += passed.end - passed.start;
        }
        for ((_, sender, receiver), len) in pairs {
            traffic.message(sender, receiver, len);
        }
        traffic
    }
}

/// All messages of a direct exchange while they are being moved.
struct Desk<'a> {
    exchange: &'a Exchange<'a>,
    messages: Vec<Message>,
    cells: Vec<Cell>,
    /// Elements sent, by party.
    sent: Vec<usize>,
    /// Direct messages by sending party.
    by_sender: Vec<Vec<usize>>,
}

impl<'a> Desk<'a> {
    fn new(exchange: &'a Exchange<'a>) -> Self {
        let parties = exchange.parties.len();
        let mut desk = Self {
            exchange,
            messages: Vec::new(),
            cells: Vec::new(),
            sent: vec![0; parties],
            by_sender: vec![Vec::new(); parties],
        };
        let mut cells: BTreeMap<(Vec<u32>, Vec<u32>, usize), usize> = BTreeMap::new();
        Routes::new(exchange).for_each(|flow| {
            let class = exchange.from.indices(flow.sender).to_vec();
            let group = exchange.to.indices(flow.receiver).to_vec();
            let key = (class, group, exchange.carried_number(flow.sender));
            let next = cells.len();
            let cell = *cells.entry(key).or_insert(next);
            if cell == desk.cells.len() {
                desk.cells.push(Cell::default());
            }
            desk.add_in_parts(flow, cell);
        });
        desk
    }

    /// Adds a flow in parts that different receivers can pass on.
    fn add_in_parts(&mut self, flow: Flow, cell: usize) {
        let len = flow.end - flow.start;
        let parts = self.exchange.replicas(self.exchange.to).min(len).clamp(1, MOST_PARTS);
        for part in 0..parts {
            let start = flow.start + len * part / parts;
            let end = flow.start + len * (part + 1) / parts;
            let flow = Flow { start, end, ..flow };
            self.add(Message { flow, cell, passed_by: None, is_source: Source::No });
        }
    }

    fn add(&mut self, message: Message) {
        let index = self.messages.len();
        self.cells[message.cell].flows.push(index);
        if message.passed_by.is_none() {
            let sender = self.exchange.sending_party(message.flow.sender);
            self.sent[sender] += message.len();
            self.by_sender[sender].push(index);
        }
        self.messages.push(message);
    }

    /// Takes a message, or part of one, from the busiest sender that can be relieved. Relieving others
    /// than the very busiest makes room for its messages. False if nobody can be relieved or need be.
    fn relieve(&mut self, floor: usize) -> bool {
        let mut order: Vec<usize> = (0..self.sent.len()).collect();
        order.sort_by_key(|&party| std::cmp::Reverse(self.sent[party]));
        if self.sent[order[0]] <= floor {
            return false;
        }
        let least = self.sent[order[order.len() - 1]];
        for sender in order {
            if self.sent[sender] <= least + 1 {
                return false;
            }
            if let Some((load, index, passer)) = self.relief_of(sender) {
                let spare = (self.sent[sender] - load) / 2;
                self.pass_on(index, passer, spare.clamp(1, self.messages[index].len()));
                return true;
            }
        }
        false
    }

    /// The message of a sender that the least busy rank can pass on, if that makes loads more even:
    /// that rank's load, the message and the rank.
    fn relief_of(&self, sender: usize) -> Option<(usize, usize, usize)> {
        let mut best = None;
        // Messages of the same elements differ only in whom they must not be passed on by.
        let mut passers: BTreeMap<(usize, usize, usize), [Option<Passer>; 2]> = BTreeMap::new();
        for &index in &self.by_sender[sender] {
            let message = &self.messages[index];
            if message.is_source == Source::Yes {
                continue;
            }
            let key = (message.cell, message.flow.start, message.flow.end);
            let two = passers.entry(key).or_insert_with(|| self.passers(message, sender));
            let mut others = two.iter().flatten();
            if let Some(&(_, load, receiver)) = others.find(|p| p.2 != message.flow.receiver) {
                let relief = (load, index, receiver);
                best = Some(best.map_or(relief, |best: (usize, usize, usize)| best.min(relief)));
            }
        }
        best
    }

    /// The two best ranks of those that get all of a message directly, if passing it on makes loads
    /// more even: those that pass it on to others already, then the least busy.
    fn passers(&self, message: &Message, sender: usize) -> [Option<Passer>; 2] {
        let (flow, before) = (message.flow, self.sent[sender]);
        let [mut first, mut second]: [Option<Passer>; 2] = [None, None];
        for &other in &self.cells[message.cell].flows {
            let other = &self.messages[other];
            let covers = other.flow.start <= flow.start && flow.end <= other.flow.end;
            let receiver = other.flow.receiver;
            let load = self.sent[self.exchange.parties.at_target(receiver)];
            if other.passed_by.is_some() || !covers || load + 1 >= before {
                continue;
            }
            let found = (other.is_source, load, receiver);
            match first {
                Some(best) if best.2 == receiver => first = Some(best.min(found)),
                Some(best) if best <= found => {
                    second = Some(second.map_or(found, |next| next.min(found)));
                }
                Some(_) | None => (first, second) = (Some(found), first),
            }
        }
        [first, second]
    }

    fn pass_on(&mut self, index: usize, passer: usize, len: usize) {
        let message = self.messages[index];
        let at = message.flow.start + len;
        let sender = self.exchange.sending_party(message.flow.sender);
        self.sent[sender] -= message.len();
        self.by_sender[sender].retain(|&other| other != index);
        self.messages[index].flow.end = at;
        self.messages[index].passed_by = Some(passer);
        self.sent[self.exchange.parties.at_target(passer)] += len;
        for &other in &self.cells[message.cell].flows {
            let other = &mut self.messages[other];
            let meets = other.flow.start < at && message.flow.start < other.flow.end;
            if other.passed_by.is_none() && other.flow.receiver == passer && meets {
                other.is_source = Source::Yes;
            }
        }
        if at < message.flow.end {
            let flow = Flow { start: at, ..message.flow };
            self.add(Message { flow, ..message });
        }
    }

    fn relay(self) -> Relay {
        let mut relay = Relay { first: Vec::new(), second: Vec::new() };
        for Message { flow, passed_by, .. } in self.messages {
            match passed_by {
                None => relay.first.push(flow),
                Some(sender) => relay.second.push(Passed {
                    holder: flow.sender,
                    sender,
                    receiver: flow.receiver,
                    start: flow.start,
                    end: flow.end,
                }),
            }
        }
        relay.first.sort_unstable_by_key(|flow| (flow.receiver, flow.sender, flow.start));
        relay.second.sort_unstable_by_key(|p| (p.receiver, p.sender, p.holder, p.start));
        relay
    }
}

impl Message {
    fn len(&self) -> usize {
        self.flow.end - self.flow.start
    }
}
