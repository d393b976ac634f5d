//! From a plan to what one rank executes.

use crate::base::{Reduction, Region};
use crate::layout::Layout;
use crate::mesh::{Axis, Group, Rank};

use super::program::{BufferId, CallSpec, Instruction, Operation, Part, Program};
use super::reducing::Terms;
use super::spread::{Spread, cuts_of};
use super::step::{Algorithm, Step, StepKind};
use super::windows::{contiguous_offset, windows};
use super::{Plan, messages};

/// The program of one rank; one without instructions for a rank that takes no part.
pub(crate) fn lower(plan: &Plan, rank: Rank) -> Program {
    let mut lowering = Lowering::new(plan, rank);
    for (index, step) in plan.steps.iter().enumerate() {
        lowering.step(index, step);
    }
    lowering.finish()
}

/// What a rank holds while its program is written.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) buffer: BufferId,
    /// What the buffer stores, row major; at least what the layout says.
    pub(crate) region: Region,
}

/// A program under way.
pub(crate) struct Lowering<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) rank: Rank,
    buffers: Vec<usize>,
    instructions: Vec<Instruction>,
    pub(crate) stored: Option<Stored>,
}

impl<'a> Lowering<'a> {
    fn new(plan: &'a Plan, rank: Rank) -> Self {
        let source = plan.transition.source();
        let mut lowering =
            Self { plan, rank, buffers: vec![0], instructions: Vec::new(), stored: None };
        if let Some(position) = source.mesh().position(rank) {
            let region = lowering.spread(source).region(position);
            lowering.buffers[0] = region.len() * plan.element_bytes();
            lowering.stored = Some(Stored { buffer: BufferId::SOURCE, region });
        }
        lowering
    }

    fn step(&mut self, index: usize, step: &Step) {
        match step.kind {
            // What is not needed is left where it is until the end, or until a call reads past it.
            StepKind::Slice => self.slice(step),
            StepKind::Seed => self.seed(step),
            StepKind::Scale => self.scale(step),
            StepKind::AllReduce | StepKind::ReduceScatter | StepKind::Reduce => {
                self.reduce(index, step);
            }
            StepKind::AllGather
            | StepKind::AllToAll
            | StepKind::Permute
            | StepKind::Broadcast
            | StepKind::Scatter
            | StepKind::Gather
            | StepKind::SendRecv
            | StepKind::Exchange => self.exchange(index, step),
        }
    }

    pub(crate) fn spread(&self, layout: &Layout) -> Spread {
        Spread::new(layout.mesh(), &cuts_of(layout), self.plan.transition.shape())
            .expect("a plan's layouts fit its shape")
    }

    pub(crate) fn windows(&self, selected: &Region, stored: &Region) -> Vec<crate::mem::Window> {
        windows(selected, stored, self.plan.element_bytes())
    }

    /// A new buffer for so many elements.
    pub(crate) fn buffer(&mut self, len: usize) -> BufferId {
        self.buffers.push(len * self.plan.element_bytes());
        BufferId(self.buffers.len() - 1)
    }

    pub(crate) fn emit(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
    }

    fn slice(&mut self, step: &Step) {
        let Some(position) = step.target.mesh().position(self.rank) else {
            self.stored = None;
            return;
        };
        if self.stored.is_none() {
            // New to the mesh, so it holds nothing, and the source outside its mesh is empty.
            let region = self.spread(&step.target).region(position);
            self.stored = Some(Stored { buffer: BufferId::SOURCE, region });
        }
    }

    fn scale(&mut self, step: &Step) {
        let Some(stored) = self.stored.clone() else { return };
        let mesh = step.source.mesh();
        let average =
            |layout: &Layout, axis: Axis| layout.normal_partial().contains(&(axis, Reduction::Avg));
        let factor = mesh.axes().fold(1.0, |factor, axis| {
            let len = mesh.axis_len(axis) as f64;
            match (average(&step.source, axis), average(&step.target, axis)) {
                (true, false) => factor / len,
                (true, true) | (false, _) => factor,
            }
        });
        if factor != 1.0 {
            let target = self.buffer(stored.region.len());
            self.emit(Instruction::Scale { source: stored.buffer, target, factor });
            self.stored = Some(Stored { buffer: target, ..stored });
        }
    }

    /// Each rank's target, filled with the identity where it has nothing to add.
    fn seed(&mut self, step: &Step) {
        let Some(stored) = self.stored.clone() else { return };
        let mesh = step.target.mesh();
        let Some(position) = mesh.position(self.rank) else { return };
        let (before, after) = (self.spread(&step.source), self.spread(&step.target));
        let terms = Terms::seeded(step, &before, &mesh.coordinate_at(position));
        let (mine, target) = (before.region(position), after.region(position));
        let adds = terms.adds && !mine.is_empty();
        if adds && mine == target {
            return;
        }
        let buffer = self.buffer(target.len());
        self.emit(Instruction::Fill { target: buffer, reduction: terms.reduction });
        if adds {
            let from = self.windows(&mine, &stored.region);
            let to = self.windows(&mine, &target);
            self.emit(Instruction::Copy { source: stored.buffer, target: buffer, from, to });
        }
        self.stored = Some(Stored { buffer, region: target });
    }

    fn reduce(&mut self, index: usize, step: &Step) {
        let Some(stored) = self.stored.clone() else { return };
        let mesh = step.source.mesh();
        let Some(position) = mesh.position(self.rank) else { return };
        let (before, after) = (self.spread(&step.source), self.spread(&step.target));
        let group = mesh.group_at(&step.axes, position);
        let member = |number| mesh.member_of_group(&step.axes, position, number);
        let own = mesh.number_in_group(&step.axes, position);
        let (mine, target) = (before.region(position), after.region(position));
        let (reduction, divisor) = Terms::reduced(step);
        let part = |peer: usize, region: &Region| Part {
            peer,
            windows: self.windows(region, &stored.region),
        };
        let (operation, send, from) = match step.kind {
            StepKind::AllReduce => {
                (Operation::AllReduce { reduction, divisor }, vec![part(own, &mine)], own)
            }
            StepKind::Reduce => {
                let has = |&number: &usize| after.lens()[member(number)] > 0;
                let root = (0..group.len()).find(has).unwrap_or(0);
                let operation = Operation::Reduce { root, reduction, divisor };
                (operation, vec![part(root, &mine)], root)
            }
            _ => {
                let to = |number| part(number, &after.region(member(number)));
                let send = (0..group.len()).map(to).collect();
                (Operation::ReduceScatter { reduction, divisor }, send, own)
            }
        };
        let is_root = !matches!(operation, Operation::Reduce { root, .. } if root != own);
        let windows = self.windows(&target, &target);
        let receive = if is_root { vec![Part { peer: from, windows }] } else { Vec::new() };
        let buffer = self.buffer(target.len());
        let call = CallSpec { step: index, operation, group, send, receive };
        self.emit(Instruction::Call { source: stored.buffer, target: buffer, call });
        self.stored = Some(Stored { buffer, region: target });
    }

    fn exchange(&mut self, index: usize, step: &Step) {
        if step.algorithm == Algorithm::Relay {
            return messages::relayed(self, index, step);
        }
        match step.kind {
            StepKind::AllGather
            | StepKind::AllToAll
            | StepKind::Broadcast
            | StepKind::Scatter
            | StepKind::Gather
                if step.source.mesh() == step.target.mesh() =>
            {
                self.collective(index, step);
            }
            _ => messages::direct(self, index, step),
        }
    }

    /// A collective in which each member's part for another is what it holds of the other's target.
    fn collective(&mut self, index: usize, step: &Step) {
        let Some(stored) = self.stored.clone() else { return };
        let mesh = step.source.mesh();
        let Some(position) = mesh.position(self.rank) else { return };
        let (before, after) = (self.spread(&step.source), self.spread(&step.target));
        let group: Group = mesh.group_at(&step.axes, position);
        let member = |number| mesh.member_of_group(&step.axes, position, number);
        let own = mesh.number_in_group(&step.axes, position);
        let (mine, target) = (before.region(position), after.region(position));
        let to = |number: usize| {
            let selected = mine.intersect(&after.region(member(number)));
            Part { peer: number, windows: self.windows(&selected, &stored.region) }
        };
        let from = |number: usize| {
            let selected = before.region(member(number)).intersect(&target);
            Part { peer: number, windows: self.windows(&selected, &target) }
        };
        let root_of =
            |lens: &[usize]| (0..group.len()).find(|&number| lens[member(number)] > 0).unwrap_or(0);
        let everyone = 0..group.len();
        let (operation, send, receive) = match step.kind {
            StepKind::AllGather => {
                let whole = Part { peer: own, windows: self.windows(&mine, &stored.region) };
                (Operation::AllGather, vec![whole], everyone.map(from).collect())
            }
            StepKind::Broadcast => {
                let root = root_of(before.lens());
                let whole = Part { peer: root, windows: self.windows(&mine, &stored.region) };
                let send = if own == root { vec![whole] } else { Vec::new() };
                (Operation::Broadcast { root }, send, vec![from(root)])
            }
            StepKind::Scatter => {
                let root = root_of(before.lens());
                let send = if own == root { everyone.map(to).collect() } else { Vec::new() };
                (Operation::Scatter { root }, send, vec![from(root)])
            }
            StepKind::Gather => {
                let root = root_of(after.lens());
                let receive = if own == root { everyone.map(from).collect() } else { Vec::new() };
                (Operation::Gather { root }, vec![to(root)], receive)
            }
            _ => (
                Operation::AllToAll,
                everyone.clone().map(to).collect(),
                everyone.map(from).collect(),
            ),
        };
        let buffer = self.buffer(target.len());
        let call = CallSpec { step: index, operation, group, send, receive };
        self.emit(Instruction::Call { source: stored.buffer, target: buffer, call });
        self.stored = Some(Stored { buffer, region: target });
    }

    fn finish(mut self) -> Program {
        let target = self.plan.transition.target();
        let Some(position) = target.mesh().position(self.rank) else {
            let (buffers, instructions) = (self.buffers, self.instructions);
            return Program { buffers, instructions, result: None, result_shape: Vec::new() };
        };
        let region = self.spread(target).region(position);
        let stored = self.stored.clone().expect("a rank of the target's mesh stores its target");
        let result = if stored.region == region {
            stored.buffer
        } else {
            let buffer = self.buffer(region.len());
            match contiguous_offset(&region, &stored.region) {
                Some(offset) => self.emit(Instruction::View {
                    source: stored.buffer,
                    target: buffer,
                    offset_bytes: offset * self.plan.element_bytes(),
                }),
                None => {
                    let from = self.windows(&region, &stored.region);
                    let to = self.windows(&region, &region);
                    self.emit(Instruction::Copy {
                        source: stored.buffer,
                        target: buffer,
                        from,
                        to,
                    });
                }
            }
            buffer
        };
        Program {
            buffers: self.buffers,
            instructions: self.instructions,
            result: Some(result),
            result_shape: region.local_shape(),
        }
    }
}
