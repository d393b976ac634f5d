//! Runs the programs of all ranks in one thread, by the plainest reading of what each instruction
//! says, on lists of numbers. It stands in for engines where meshes are too large to execute, and
//! shows that programs mean the right thing before an engine runs them.

use std::collections::BTreeMap;

use reshard::mem::Window;
use reshard::plan::{CallSpec, Instruction, Operation, Part, Plan, Program};
use reshard::{Rank, Reduction};

/// Bytes of the elements that are replayed: `f64`.
const ELEMENT_BYTES: usize = 8;

/// One rank under way.
struct Player {
    program: Program,
    buffers: Vec<Vec<f64>>,
    next: usize,
}

/// The locals after a plan for `f64`, by rank, from those before.
///
/// Panics if calls do not meet, or an instruction reaches outside its buffers.
pub(crate) fn replay(plan: &Plan, locals: &BTreeMap<Rank, Vec<f64>>) -> BTreeMap<Rank, Vec<f64>> {
    let mut players: BTreeMap<Rank, Player> = plan
        .ranks()
        .iter()
        .map(|&rank| (rank, Player::new(plan.program(rank), locals.get(&rank))))
        .collect();
    loop {
        let mut moved = false;
        players.values_mut().for_each(|player| moved |= player.run_local());
        let waiting: Vec<CallSpec> = players.values().filter_map(Player::call).cloned().collect();
        for call in waiting {
            moved |= meet(&mut players, &call);
        }
        if !moved {
            break;
        }
    }
    let unfinished = players.iter().find(|(_, player)| player.call().is_some());
    assert!(unfinished.is_none(), "rank {:?} waits for ever in {plan:?}", unfinished.map(|p| p.0));
    let results = players.into_iter().filter_map(|(rank, player)| Some((rank, player.result()?)));
    results.collect()
}

/// Carries out a call if all its members have come to it.
fn meet(players: &mut BTreeMap<Rank, Player>, call: &CallSpec) -> bool {
    let members = call.group.ranks();
    let own: Option<Vec<CallSpec>> =
        members.iter().map(|rank| players[rank].call().cloned()).collect();
    let Some(calls) = own else { return false };
    if calls.iter().any(|other| other.group != call.group || other.step != call.step) {
        return false;
    }
    for other in &calls {
        assert_eq!(other.operation, call.operation, "members of {:?} disagree", call.group);
    }
    let sources: Vec<Vec<f64>> = members.iter().map(|rank| players[rank].call_source()).collect();
    for (position, rank) in members.iter().enumerate() {
        let received = received(position, &calls, &sources);
        players.get_mut(rank).expect("a member plays").finish_call(received);
    }
    true
}

/// What a member gets, with the places it goes to.
fn received(own: usize, calls: &[CallSpec], sources: &[Vec<f64>]) -> Vec<(usize, f64)> {
    let mut all = Vec::new();
    for part in &calls[own].receive {
        let places = places(part);
        let values = match calls[own].operation {
            Operation::AllReduce { reduction, divisor }
            | Operation::ReduceScatter { reduction, divisor }
            | Operation::Reduce { reduction, divisor, .. } => {
                let scattered = matches!(calls[own].operation, Operation::ReduceScatter { .. });
                let terms: Vec<Vec<f64>> = (0..calls.len())
                    .map(|from| {
                        let sent = &calls[from].send;
                        let to = |sent: &&Part| !scattered || sent.peer == own;
                        read(sent.iter().find(to).expect("a term is sent"), &sources[from])
                    })
                    .collect();
                (0..places.len()).map(|i| combined(&terms, i, reduction, divisor)).collect()
            }
            Operation::AllGather | Operation::Broadcast { .. } => {
                read(&calls[part.peer].send[0], &sources[part.peer])
            }
            Operation::AllToAll
            | Operation::Scatter { .. }
            | Operation::Gather { .. }
            | Operation::Exchange => {
                let gather = match calls[own].operation {
                    Operation::Gather { root } => root,
                    _ => own,
                };
                let sent = calls[part.peer].send.iter().find(|sent| sent.peer == gather);
                read(sent.expect("what is received is sent"), &sources[part.peer])
            }
        };
        assert_eq!(values.len(), places.len(), "counts of {:?}", calls[own]);
        all.extend(places.into_iter().zip(values));
    }
    all
}

fn combined(terms: &[Vec<f64>], i: usize, reduction: Reduction, divisor: usize) -> f64 {
    let mut terms = terms.iter().map(|term| term[i]);
    let first = terms.next().expect("a group has a member");
    let all = match reduction {
        Reduction::Sum | Reduction::Avg => terms.fold(first, |all, term| all + term),
        Reduction::Product => terms.fold(first, |all, term| all * term),
        Reduction::Min => terms.fold(first, f64::min),
        Reduction::Max => terms.fold(first, f64::max),
    };
    all / divisor as f64
}

fn read(part: &Part, source: &[f64]) -> Vec<f64> {
    places(part).into_iter().map(|place| source[place]).collect()
}

fn places(part: &Part) -> Vec<usize> {
    part.windows.iter().flat_map(window_places).collect()
}

/// The elements of a window, the last loop running fastest.
fn window_places(window: &Window) -> Vec<usize> {
    let mut offsets = vec![window.offset_bytes()];
    for (&extent, &stride) in window.extents().iter().zip(window.strides_bytes()) {
        offsets = offsets.iter().flat_map(|&o| (0..extent).map(move |i| o + i * stride)).collect();
    }
    offsets.into_iter().map(|offset| offset / ELEMENT_BYTES).collect()
}

impl Player {
    fn new(program: Program, local: Option<&Vec<f64>>) -> Self {
        let mut buffers: Vec<Vec<f64>> =
            program.buffers().iter().map(|&bytes| vec![f64::NAN; bytes / ELEMENT_BYTES]).collect();
        buffers[0] = local.cloned().unwrap_or_default();
        assert_eq!(buffers[0].len() * ELEMENT_BYTES, program.buffers()[0], "the source's length");
        Self { program, buffers, next: 0 }
    }

    fn call(&self) -> Option<&CallSpec> {
        match self.program.instructions().get(self.next) {
            Some(Instruction::Call { call, .. }) => Some(call),
            _ => None,
        }
    }

    fn call_source(&self) -> Vec<f64> {
        match &self.program.instructions()[self.next] {
            Instruction::Call { source, .. } => self.buffers[source.index()].clone(),
            other => panic!("{other:?} is no call"),
        }
    }

    fn finish_call(&mut self, received: Vec<(usize, f64)>) {
        if let Instruction::Call { target, .. } = &self.program.instructions()[self.next] {
            let buffer = &mut self.buffers[target.index()];
            received.into_iter().for_each(|(place, value)| buffer[place] = value);
        }
        self.next += 1;
    }

    fn run_local(&mut self) -> bool {
        let start = self.next;
        while self.next < self.program.instructions().len() && self.call().is_none() {
            self.local();
            self.next += 1;
        }
        self.next > start
    }

    fn local(&mut self) {
        match self.program.instructions()[self.next].clone() {
            Instruction::View { source, target, offset_bytes } => {
                let start = offset_bytes / ELEMENT_BYTES;
                let len = self.buffers[target.index()].len();
                let seen = self.buffers[source.index()][start..start + len].to_vec();
                self.buffers[target.index()] = seen;
            }
            Instruction::Fill { target, reduction } => {
                let identity = match reduction {
                    Reduction::Sum | Reduction::Avg => -0.0,
                    Reduction::Product => 1.0,
                    Reduction::Min => f64::INFINITY,
                    Reduction::Max => f64::NEG_INFINITY,
                };
                self.buffers[target.index()].fill(identity);
            }
            Instruction::Copy { source, target, from, to } => {
                let from: Vec<usize> = from.iter().flat_map(window_places).collect();
                let to: Vec<usize> = to.iter().flat_map(window_places).collect();
                assert_eq!(from.len(), to.len(), "a copy's windows");
                for (from, to) in from.into_iter().zip(to) {
                    self.buffers[target.index()][to] = self.buffers[source.index()][from];
                }
            }
            Instruction::Scale { source, target, factor } => {
                let scaled = self.buffers[source.index()].iter().map(|value| value * factor);
                self.buffers[target.index()] = scaled.collect();
            }
            other => panic!("{other:?} is not local"),
        }
    }

    fn result(self) -> Option<Vec<f64>> {
        let result = self.buffers[self.program.result()?.index()].clone();
        assert_eq!(result.len(), self.program.result_shape().iter().product::<usize>());
        Some(result)
    }
}
