//! A checked list of steps for all ranks.

use std::sync::{Arc, OnceLock};

use crate::base::{Reduction, StableHash};
use crate::layout::Layout;
use crate::mesh::{Axis, Rank};

use super::collective::long_axes;
use super::exchange::Exchange;
use super::ledger::Ledger;
use super::name::named;
use super::parties::Parties;
use super::planner::{Problem, Solution};
use super::route::{End, Leg, Move, layout_of};
use super::spread::{Cuts, Spread, cuts_of};
use super::step::{Algorithm, Step, StepKind};
use super::traffic::Traffic;
use super::{PlanError, PlanOptions, Program, Transition, check};

/// A checked list of steps that carries a tensor from one layout to another: a pure value, equal on
/// every rank that plans the same transition with the same options.
///
/// `Display` prints the steps with their layouts, bytes and messages, and how near the plan is to the
/// lower bound.
///
/// # Example
///
/// ```
/// use reshard::{DType, Layout, Mesh};
/// use reshard::plan::{PlanOptions, StepKind, Transition, plan};
/// let mesh = Mesh::new([("a", 2), ("b", 2)])?;
/// let from = Layout::parse(&mesh, 2, "S(0), S(1)")?;
/// let to = Layout::parse(&mesh, 2, "S(1), S(0)")?;
/// let plan = plan(&Transition::new(from, to, [8, 8], DType::F32)?, &PlanOptions::default())?;
/// assert_eq!(plan.steps().len(), 1);
/// assert_eq!(plan.steps()[0].kind(), StepKind::Permute);
/// assert_eq!(plan.busiest_bytes(), 16 * 4);
/// assert_eq!(plan.ratio(), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) transition: Transition,
    pub(crate) options: PlanOptions,
    pub(crate) parties: Parties,
    pub(crate) carried: Vec<Axis>,
    pub(crate) steps: Vec<Step>,
    pub(crate) traffic: Traffic,
    /// The messages of each step in which senders are chosen, once some rank's program needs them.
    pub(crate) ledgers: Arc<[OnceLock<Ledger>]>,
    pub(crate) bound_len: usize,
    hash: u64,
}

/// Plans a transition: pure, no input or output, no clock, equal on every rank.
///
/// # Errors
///
/// [`PlanError`], equal on every rank; nothing has moved.
///
/// # Source
///
/// Steps 1 to 3 follow Rink et al., *Memory-efficient array redistribution through portable
/// collective communication*, arXiv 2112.01075: slices first, gathers last, no intermediate above the
/// larger of source and target.
pub fn plan(transition: &Transition, options: &PlanOptions) -> Result<Plan, PlanError> {
    let problem = Problem::new(transition)?;
    let solution = problem.solve(*options)?;
    let plan = Writer::new(&problem).write(solution, *options)?;
    if cfg!(debug_assertions) {
        check::check(&plan)?;
    }
    Ok(plan)
}

impl Plan {
    /// What the plan carries out.
    #[must_use]
    pub fn transition(&self) -> &Transition {
        &self.transition
    }

    /// What the plan was chosen by.
    #[must_use]
    pub fn options(&self) -> PlanOptions {
        self.options
    }

    /// The steps in order; none if every rank holds the target already.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The layouts between the steps: one more than there are steps, first the source, last the target.
    pub fn layouts(&self) -> impl Iterator<Item = &Layout> {
        let first = self.steps.is_empty().then_some(self.transition.source());
        let before = self.steps.first().map(Step::source);
        first.into_iter().chain(before).chain(self.steps.iter().map(Step::target))
    }

    /// The ranks that take part: those of the source's mesh by coordinate, then those that only the
    /// target's mesh has. Counts by party are in this order.
    #[must_use]
    pub fn ranks(&self) -> &[Rank] {
        self.parties.ranks()
    }

    /// Bytes that each party sends over the whole plan, in the order of [`Plan::ranks`].
    #[must_use]
    pub fn sent_bytes(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.traffic.sent_len.iter().map(|len| len * self.element_bytes())
    }

    /// Bytes that each party receives over the whole plan, in the order of [`Plan::ranks`].
    #[must_use]
    pub fn received_bytes(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.traffic.received_len.iter().map(|len| len * self.element_bytes())
    }

    /// Bytes sent or received, whichever are more, by the busiest rank over the whole plan.
    #[must_use]
    pub fn busiest_bytes(&self) -> usize {
        self.traffic.busiest_len() * self.element_bytes()
    }

    /// Bytes that the busiest rank sends and receives over the whole plan.
    #[must_use]
    pub fn busiest_rank_bytes(&self) -> (usize, usize) {
        let party = self.traffic.busiest_party();
        let bytes = |lens: &[usize]| lens.get(party).map_or(0, |len| len * self.element_bytes());
        (bytes(&self.traffic.sent_len), bytes(&self.traffic.received_len))
    }

    /// Bytes that some rank must send or receive, whatever the plan.
    #[must_use]
    pub fn bound_bytes(&self) -> usize {
        self.bound_len * self.element_bytes()
    }

    /// [`Plan::busiest_bytes`] over [`Plan::bound_bytes`]: 1 is a proof that no plan moves less. `None`
    /// if something moves and the bound is 0, which then proves nothing.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        match (self.traffic.busiest_len(), self.bound_len) {
            (0, _) => Some(1.0),
            (_, 0) => None,
            (busiest, bound) => Some(busiest as f64 / bound as f64),
        }
    }

    /// Collectives that the steps take.
    #[must_use]
    pub fn launches(&self) -> usize {
        self.steps.iter().map(Step::launches).sum()
    }

    /// Messages sent or received, whichever are more, by the rank that has most.
    #[must_use]
    pub fn busiest_messages(&self) -> usize {
        self.traffic.busiest_messages()
    }

    /// Whether nothing is sent.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.launches() == 0
    }

    /// The most bytes of tensors that each party holds at once: the source, and the input and output of
    /// a step; in the order of [`Plan::ranks`].
    ///
    /// # Panics
    ///
    /// Never: every layout of a plan fits its shape.
    #[must_use]
    pub fn peak_bytes(&self) -> Vec<usize> {
        let held = |layout: &Layout| {
            let spread = Spread::new(layout.mesh(), &cuts_of(layout), self.transition.shape());
            let spread = spread.expect("a plan's layouts fit its shape");
            let at = |rank: &Rank| layout.mesh().position(*rank).map_or(0, |at| spread.lens()[at]);
            self.ranks().iter().map(at).collect::<Vec<_>>()
        };
        let all: Vec<Vec<usize>> = self.layouts().map(held).collect();
        let peak = |party: usize| {
            let source = all[0][party];
            let mut most = source;
            for (index, pair) in all.windows(2).enumerate() {
                let input = if index == 0 { 0 } else { pair[0][party] };
                most = most.max(source + input + pair[1][party]);
            }
            most * self.element_bytes()
        };
        (0..self.parties.len()).map(peak).collect()
    }

    /// Replays the plan on regions.
    ///
    /// # Errors
    ///
    /// [`PlanError::Broken`] with the first promise that does not hold.
    pub fn check(&self) -> Result<(), PlanError> {
        check::check(self)
    }

    /// What a rank executes; nothing for a rank that takes no part.
    #[must_use]
    pub fn program(&self, rank: Rank) -> Program {
        super::lower::lower(self, rank)
    }

    /// A hash of the transition, the options, the crate's version and every step; the same on every
    /// rank and machine. Ranks compare it before they move anything.
    #[must_use]
    pub fn stable_hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn element_bytes(&self) -> usize {
        self.transition.dtype().bytes()
    }
}

/// Writes a route out as steps.
struct Writer<'a> {
    problem: &'a Problem<'a>,
    steps: Vec<Step>,
    layout: Layout,
    partial: Vec<(Axis, Reduction)>,
}

impl<'a> Writer<'a> {
    fn new(problem: &'a Problem<'a>) -> Self {
        let layout = problem.transition.source().clone();
        let partial = layout.normal_partial().to_vec();
        Self { problem, steps: Vec::new(), layout, partial }
    }

    fn write(mut self, solution: Solution, options: PlanOptions) -> Result<Plan, PlanError> {
        let transition = self.problem.transition;
        self.scale();
        for leg in &solution.route.legs {
            self.leg(leg)?;
        }
        if !self.problem.seeded.is_empty() {
            self.push(StepKind::Seed, Vec::new(), transition.target().clone(), None);
        }
        if let Some(last) = self.steps.last_mut() {
            last.target = transition.target().clone();
        }
        let hash = self.hash(options);
        let ledgers: Arc<[_]> = self.steps.iter().map(|_| OnceLock::new()).collect();
        Ok(Plan {
            transition: transition.clone(),
            options,
            parties: self.problem.parties.clone(),
            carried: self.problem.carried.clone(),
            steps: self.steps,
            traffic: solution.route.traffic,
            bound_len: solution.bound_len,
            ledgers,
            hash,
        })
    }

    /// Averages become sums along carried axes.
    fn scale(&mut self) {
        let after = self.problem.transition.target().normal_partial();
        let mut differs = false;
        for (axis, reduction) in &mut self.partial {
            if self.problem.carried.contains(axis) {
                let to = after.iter().find(|(other, _)| other == axis).map_or(*reduction, |p| p.1);
                differs |= to != *reduction;
                *reduction = to;
            }
        }
        if differs {
            let cuts = cuts_of(&self.layout);
            let layout = layout_of(self.layout.mesh(), &cuts, &self.partial);
            self.push(StepKind::Scale, Vec::new(), layout, None);
        }
    }

    fn leg(&mut self, leg: &Leg) -> Result<(), PlanError> {
        let mesh = self.layout.mesh().clone();
        match &leg.step {
            Move::Slice(mesh, cuts) => {
                let layout = layout_of(mesh, cuts, &self.partial);
                self.push(StepKind::Slice, Vec::new(), layout, None);
            }
            Move::ReduceScatter(axes, cuts) => {
                self.partial.retain(|(axis, _)| !axes.contains(axis));
                let layout = layout_of(&mesh, cuts, &self.partial);
                let (from, to) = (self.spread(&self.layout)?, self.spread(&layout)?);
                let to_one = super::collective::is_to_one(&from, &to);
                let kind = if to_one { StepKind::Reduce } else { StepKind::ReduceScatter };
                self.push(kind, axes.clone(), layout, Some(&leg.traffic));
            }
            Move::AllReduce(axes) => {
                self.partial.retain(|(axis, _)| !axes.contains(axis));
                let layout = layout_of(&mesh, &cuts_of(&self.layout), &self.partial);
                self.push(StepKind::AllReduce, axes.clone(), layout, Some(&leg.traffic));
            }
            Move::Exchange(mesh, cuts) => {
                let layout = layout_of(mesh, cuts, &self.partial);
                let (kind, axes) = self.name(&layout, cuts, &leg.traffic)?;
                self.push(kind, axes, layout, Some(&leg.traffic));
            }
            Move::Relay(mesh, cuts, relay) => {
                let one_mesh = mesh == self.layout.mesh();
                let axes = if one_mesh { self.free_to_move() } else { Vec::new() };
                let layout = layout_of(mesh, cuts, &self.partial);
                self.push(StepKind::Exchange, axes, layout, Some(&leg.traffic));
                let step = self.steps.last_mut().expect("one was pushed");
                step.algorithm = Algorithm::Relay;
                step.relay = Some(relay.clone());
            }
        }
        Ok(())
    }

    /// The axes along which elements may move.
    fn free_to_move(&self) -> Vec<Axis> {
        long_axes(self.layout.mesh(), |axis| !self.problem.carried.contains(&axis))
    }

    fn name(
        &self,
        target: &Layout,
        cuts: &Cuts,
        traffic: &Traffic,
    ) -> Result<(StepKind, Vec<Axis>), PlanError> {
        let (from, to) = (self.spread(&self.layout)?, self.spread(target)?);
        let before = cuts_of(&self.layout);
        let exchange = Exchange::new(&from, &to, &self.problem.parties, &self.problem.carried);
        let source = End { mesh: self.layout.mesh(), cuts: &before, spread: &from };
        let target = End { mesh: target.mesh(), cuts, spread: &to };
        Ok(named(&exchange, source, target, traffic))
    }

    fn spread(&self, layout: &Layout) -> Result<Spread, PlanError> {
        Spread::new(layout.mesh(), &cuts_of(layout), self.problem.transition.shape())
            .map_err(|error| PlanError::Layout { side: "intermediate", error })
    }

    fn push(&mut self, kind: StepKind, axes: Vec<Axis>, target: Layout, traffic: Option<&Traffic>) {
        let parties = self.problem.parties.len();
        let one_mesh = self.layout.mesh() == target.mesh();
        let group_len = match (kind.is_local(), one_mesh) {
            (true, _) => 1,
            (false, true) => target.mesh().group_len(&axes),
            (false, false) => parties,
        };
        let source = std::mem::replace(&mut self.layout, target.clone());
        let traffic = traffic.cloned().unwrap_or_else(|| Traffic::none(parties));
        let element_bytes = self.problem.transition.dtype().bytes();
        let algorithm = kind.algorithm();
        self.steps.push(Step {
            kind,
            algorithm,
            axes,
            group_len,
            source,
            target,
            traffic,
            element_bytes,
            relay: None,
        });
    }

    fn hash(&self, options: PlanOptions) -> u64 {
        let mut hash = StableHash::new()
            .text(env!("CARGO_PKG_VERSION"))
            .word(self.problem.transition.hash())
            .word(options.hash());
        for step in &self.steps {
            hash = hash
                .text(step.kind.name())
                .text(step.algorithm.name())
                .word(step.target.stable_hash());
            hash = step.axes.iter().fold(hash, |hash, axis| hash.len(axis.index()));
        }
        hash.finish()
    }
}
