//! The programs of the ranks keep to their buffers and agree with each other.

use crate::mem::Window;
use crate::mesh::Rank;

use super::view::Stage;
use super::{Promise, promise};
use crate::plan::{BufferId, CallSpec, Instruction, Operation, Part, Plan, Program};

/// Programs of some parties.
pub(super) fn sound(plan: &Plan, stages: &[Stage<'_>], programs: &[(usize, Program)]) -> Promise {
    for (party, program) in programs {
        let rank = plan.ranks()[*party];
        let named = |broken| format!("the program of rank {rank} {broken}");
        Reading::new(plan, program).all().map_err(named)?;
        ends(plan, stages, (rank, program)).map_err(named)?;
    }
    for (party, program) in programs {
        for (number, call) in numbered(program) {
            let rank = plan.ranks()[*party];
            agrees(plan, programs, rank, (number, call))
                .map_err(|broken| format!("in step {}, rank {rank} {broken}", call.step))?;
        }
    }
    Ok(())
}

/// It starts with the rank's source and ends with its target.
fn ends(plan: &Plan, stages: &[Stage<'_>], (rank, program): (Rank, &Program)) -> Promise {
    let bytes = plan.element_bytes();
    let (first, stored) = (stages[0].len(rank) * bytes, program.buffers()[0]);
    promise(stored == first, || format!("reads a source of {stored} bytes, not {first}"))?;
    let target = plan.transition().target();
    let region = target.region(plan.transition().shape(), rank).ok();
    let len = region.as_ref().map(|region| region.len() * bytes);
    let result = program.result().map(|buffer| program.buffers()[buffer.index()]);
    promise(result == len, || format!("ends with {result:?} bytes, not {len:?}"))?;
    let shape = region.map(|region| region.local_shape()).unwrap_or_default();
    let stated = program.result_shape();
    promise(stated == shape, || format!("ends with the shape {stated:?}, not {shape:?}"))
}

/// A program while it is read: what has been written so far.
struct Reading<'a> {
    program: &'a Program,
    element_bytes: usize,
    /// Elements written, by buffer; a buffer is whole when all of it has been written once.
    written: Vec<usize>,
    read: Vec<bool>,
}

impl<'a> Reading<'a> {
    fn new(plan: &Plan, program: &'a Program) -> Self {
        let buffers = program.buffers();
        let element_bytes = plan.element_bytes();
        let mut written = vec![0; buffers.len()];
        written[0] = buffers[0] / element_bytes;
        Self { program, element_bytes, written, read: vec![false; buffers.len()] }
    }

    fn all(mut self) -> Promise {
        for (at, instruction) in self.program.instructions().iter().enumerate() {
            self.instruction(instruction)
                .map_err(|broken| format!("at instruction {at} {broken}"))?;
        }
        match self.program.result() {
            Some(result) => self.reads_all(result),
            None => Ok(()),
        }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Promise {
        match instruction {
            Instruction::View { source, target, offset_bytes } => {
                self.reads_all(*source)?;
                let end = offset_bytes + self.bytes(*target);
                let held = self.bytes(*source);
                promise(end <= held, || format!("sees {end} bytes of {held}"))?;
                self.fills(*target)
            }
            Instruction::Fill { target, .. } => {
                // What is filled may be written over once.
                promise(self.written[target.index()] == 0, || format!("fills {target:?} late"))
            }
            Instruction::Copy { source, target, from, to } => {
                same_lens(from, to, "copies")?;
                self.reads(*source, from)?;
                self.writes(*target, to)
            }
            Instruction::Scale { source, target, .. } => {
                self.reads_all(*source)?;
                let (from, to) = (self.bytes(*source), self.bytes(*target));
                promise(from == to, || format!("scales {from} bytes into {to}"))?;
                self.fills(*target)
            }
            Instruction::Call { source, target, call } => {
                for part in &call.send {
                    self.reads(*source, &part.windows)?;
                }
                for part in &call.receive {
                    self.writes(*target, &part.windows)?;
                }
                Ok(())
            }
        }
    }

    fn bytes(&self, buffer: BufferId) -> usize {
        self.program.buffers()[buffer.index()]
    }

    /// The buffer is whole, unless it was filled, and from now on never written.
    fn reads_all(&mut self, buffer: BufferId) -> Promise {
        self.reads_some(buffer, self.bytes(buffer) / self.element_bytes)
    }

    /// So much has been written at least: after the first of two launches there may be gaps.
    fn reads(&mut self, buffer: BufferId, windows: &[Window]) -> Promise {
        self.inside(buffer, windows)?;
        self.reads_some(buffer, windows.iter().map(Window::len).sum())
    }

    fn reads_some(&mut self, buffer: BufferId, len: usize) -> Promise {
        self.read[buffer.index()] = true;
        let written = self.written[buffer.index()];
        let fills = |instruction: &Instruction| matches!(instruction, Instruction::Fill { target, .. } if *target == buffer);
        promise(len <= written || self.program.instructions().iter().any(fills), || {
            format!("reads {len} elements of {buffer:?}, which has {written}")
        })
    }

    fn fills(&mut self, buffer: BufferId) -> Promise {
        let len = self.bytes(buffer) / self.element_bytes;
        self.counts(buffer, len)
    }

    fn writes(&mut self, buffer: BufferId, windows: &[Window]) -> Promise {
        self.inside(buffer, windows)?;
        self.counts(buffer, windows.iter().map(Window::len).sum())
    }

    fn counts(&mut self, buffer: BufferId, len: usize) -> Promise {
        let fresh = buffer != BufferId::SOURCE && !self.read[buffer.index()];
        promise(fresh || len == 0, || format!("writes {buffer:?} after it was read"))?;
        self.written[buffer.index()] += len;
        let (written, whole) =
            (self.written[buffer.index()], self.bytes(buffer) / self.element_bytes);
        promise(written <= whole, || {
            format!("writes {written} elements to the {whole} of {buffer:?}")
        })
    }

    fn inside(&self, buffer: BufferId, windows: &[Window]) -> Promise {
        let bytes = self.bytes(buffer);
        let end = windows.iter().map(|window| window.end_bytes(self.element_bytes)).max();
        promise(end.is_none_or(|end| end <= bytes), || {
            format!("reaches byte {} of the {bytes} of {buffer:?}", end.unwrap_or_default())
        })
    }
}

fn same_lens(from: &[Window], to: &[Window], does: &str) -> Promise {
    let lens = |windows: &[Window]| windows.iter().map(Window::len).collect::<Vec<_>>();
    let (from, to) = (lens(from), lens(to));
    promise(from == to, || format!("{does} windows of {from:?} elements to windows of {to:?}"))
}

/// Each call with its number among those of its step.
fn numbered(program: &Program) -> impl Iterator<Item = (usize, &CallSpec)> {
    let mut last = (usize::MAX, 0);
    program.calls().map(move |call| {
        last = if last.0 == call.step { (call.step, last.1 + 1) } else { (call.step, 0) };
        (last.1, call)
    })
}

/// Every member of a call's group makes the same call, and sends what the others receive.
fn agrees(
    plan: &Plan,
    programs: &[(usize, Program)],
    rank: Rank,
    (number, call): (usize, &CallSpec),
) -> Promise {
    let Some(own) = call.group.position(rank) else {
        return Err(format!("calls a group {} that it is not in", call.group));
    };
    for (party, program) in programs {
        let Some(peer) = call.group.position(plan.ranks()[*party]) else { continue };
        let same = |(n, other): &(usize, &CallSpec)| *n == number && other.step == call.step;
        let Some((_, other)) = numbered(program).find(same) else {
            return Err(format!("calls rank {}, which makes no such call", plan.ranks()[*party]));
        };
        let alike = other.operation == call.operation && other.group == call.group;
        promise(alike, || {
            let (rank, ours, theirs) = (plan.ranks()[*party], call.operation, other.operation);
            let (group, others) = (&call.group, &other.group);
            format!("calls {ours:?} of group {group}, rank {rank} {theirs:?} of group {others}")
        })?;
        meets((call, own), (other, peer)).map_err(|broken| {
            format!("and rank {} disagree: the first {broken}", plan.ranks()[*party])
        })?;
    }
    Ok(())
}

/// What one member sends another is what the other expects, window by window.
fn meets((from, own): (&CallSpec, usize), (to, peer): (&CallSpec, usize)) -> Promise {
    let (send, receive) = match from.operation {
        Operation::AllGather => (windows(&from.send, own), windows(&to.receive, own)),
        // Every member's term of a part has the shape of the part.
        Operation::ReduceScatter { .. } => (windows(&from.send, peer), windows(&to.receive, peer)),
        Operation::AllReduce { .. } => (windows(&from.send, own), windows(&to.receive, peer)),
        Operation::Reduce { root, .. } if peer == root => {
            (windows(&from.send, root), windows(&to.receive, root))
        }
        Operation::Broadcast { root } if own == root => {
            (windows(&from.send, root), windows(&to.receive, root))
        }
        Operation::Reduce { .. } | Operation::Broadcast { .. } => return Ok(()),
        Operation::AllToAll
        | Operation::Scatter { .. }
        | Operation::Gather { .. }
        | Operation::Exchange => (windows(&from.send, peer), windows(&to.receive, own)),
    };
    same_lens(send, receive, "sends")
}

fn windows(parts: &[Part], peer: usize) -> &[Window] {
    parts.iter().find(|part| part.peer == peer).map_or(&[], |part| &part.windows)
}
