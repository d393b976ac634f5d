//! From a transition to the moves that carry it out.

use crate::base::{DType, Reduction};
use crate::layout::Cut;
use crate::mesh::{Axis, Mesh};

use super::bound::{Demands, bound_len};
use super::exchange::Exchange;
use super::parties::Parties;
use super::reduce::Partial;
use super::route::{End, Route, Scene};
use super::spread::{Cuts, Spread, cuts_of};
use super::{PlanError, PlanOptions, Transition};

/// A transition, taken apart.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) transition: &'a Transition,
    pub(crate) parties: Parties,
    /// Axes partial on both sides by reductions that agree: nothing moves along them.
    pub(crate) carried: Vec<Axis>,
    /// Axes of the source whose terms must be combined.
    pub(crate) reduced: Vec<Axis>,
    /// Axes of the target along which values must become terms.
    pub(crate) seeded: Vec<(Axis, Reduction)>,
    source_cuts: Cuts,
    source: Spread,
}

/// What the planner decides: a route to a layout without the seeded axes, where local seeding ends.
#[derive(Debug)]
pub(crate) struct Solution {
    pub(crate) route: Route,
    /// Elements that the busiest rank must send or receive, whatever the plan.
    pub(crate) bound_len: usize,
}

/// More ways than this to leave an axis cut before it becomes partial are not tried.
const MOST_ENDINGS: usize = 24;

impl<'a> Problem<'a> {
    pub(crate) fn new(transition: &'a Transition) -> Result<Self, PlanError> {
        let (source, target) = (transition.source(), transition.target());
        let on_one_mesh = transition.is_on_one_mesh();
        let (before, after) = (source.normal_partial(), target.normal_partial());
        let is_carried = |&(axis, from): &(Axis, Reduction)| {
            let to = after.iter().find(|&&(other, _)| other == axis);
            on_one_mesh && to.is_some_and(|&(_, to)| carries(from, to, transition.dtype()))
        };
        let carried: Vec<Axis> = before.iter().filter(|p| is_carried(p)).map(|p| p.0).collect();
        let not_carried = |&(axis, _): &(Axis, Reduction)| !carried.contains(&axis);
        let reduced = before.iter().copied().filter(not_carried).map(|p| p.0).collect();
        let seeded = after.iter().copied().filter(not_carried).collect();
        let source_cuts = cuts_of(source);
        let spread = Spread::new(source.mesh(), &source_cuts, transition.shape());
        Ok(Self {
            transition,
            parties: Parties::new(source.mesh(), target.mesh()),
            carried,
            reduced,
            seeded,
            source_cuts,
            source: spread.map_err(|error| PlanError::Layout { side: "source", error })?,
        })
    }

    pub(crate) fn scene(&self) -> Scene<'_> {
        Scene { shape: self.transition.shape(), parties: &self.parties, carried: &self.carried }
    }

    /// The best route there is within the planner's templates.
    pub(crate) fn solve(&self, _options: PlanOptions) -> Result<Solution, PlanError> {
        let mesh = self.transition.target().mesh();
        let cuts = cuts_of(self.transition.target());
        let spread = self.spread(mesh, &cuts)?;
        let exchange = Exchange::new(&self.source, &spread, &self.parties, &self.carried);
        let seeded: Vec<Axis> = self.seeded.iter().map(|&(axis, _)| axis).collect();
        let demands = Demands { exchange: &exchange, reduced: &self.reduced, seeded: &seeded };
        let bound_len = bound_len(&demands);
        let mut best: Option<Solution> = None;
        for cuts in self.endings(&cuts) {
            if best.as_ref().is_some_and(|best| best.route.traffic.busiest_len() <= bound_len) {
                break;
            }
            let Ok(spread) = Spread::new(mesh, &cuts, self.transition.shape()) else { continue };
            let end = End { mesh, cuts: &cuts, spread: &spread };
            let route = self.route_to(end, bound_len);
            if best.as_ref().is_none_or(|best| route.cost() < best.route.cost()) {
                best = Some(Solution { route, bound_len });
            }
        }
        // OK because the target's own cuts are the first ending, and they fit the shape.
        Ok(best.expect("the target's own cuts are an ending"))
    }

    fn spread(&self, mesh: &Mesh, cuts: &Cuts) -> Result<Spread, PlanError> {
        Spread::new(mesh, cuts, self.transition.shape())
            .map_err(|error| PlanError::Layout { side: "target", error })
    }

    fn route_to(&self, to: End<'_>, floor: usize) -> Route {
        let scene = self.scene();
        let mesh = self.transition.source().mesh();
        let from = End { mesh, cuts: &self.source_cuts, spread: &self.source };
        if self.reduced.is_empty() {
            return scene.carry(from, to, floor);
        }
        let is_even = from.spread.is_even() && to.spread.is_even() && from.mesh == to.mesh;
        let launches = if is_even { 2 } else { 3 };
        let partial = Partial { from, reduced: &self.reduced, to, floor, launches };
        // OK because an all-reduce and one exchange always are a route of two launches.
        scene.reduce(partial).expect("an all-reduce and an exchange are always a route")
    }

    /// The cuts from which local seeding can end in the target: along an axis that becomes partial, any
    /// cut minor to all others will do, since the rest of each rank's target is filled with the
    /// reduction's identity. Axes that replicate before have all that they need without a cut.
    fn endings(&self, target: &Cuts) -> Vec<Cuts> {
        let mut endings = vec![target.clone()];
        let replicates = |axis: Axis| {
            self.transition.is_on_one_mesh()
                && !self.source.holds(axis)
                && !self.reduced.contains(&axis)
        };
        let fillable = self.seeded.iter().filter(|&&(_, reduction)| Self::fills(reduction));
        if fillable.clone().next().is_none() {
            return endings;
        }
        if !self.reduced.is_empty() {
            // Terms must be combined first; their value can be cut on any dim, which is less to combine.
            for dim in 0..target.len() {
                let mut cuts = target.clone();
                cuts[dim].extend(fillable.clone().map(|&(axis, _)| Cut::new(axis)));
                endings.push(cuts);
            }
            return endings;
        }
        for &(axis, _) in fillable.filter(|&&(axis, _)| !replicates(axis)) {
            for at in 0..endings.len() {
                for dim in 0..target.len() {
                    if endings.len() < MOST_ENDINGS {
                        endings.extend(self.with_axis(&endings[at], dim, axis));
                    }
                }
            }
        }
        endings
    }

    /// Whether the elements that a rank does not have may be filled with the identity. An average would
    /// have to scale the others up, which can overflow.
    fn fills(reduction: Reduction) -> bool {
        match reduction {
            Reduction::Avg => false,
            Reduction::Sum | Reduction::Product | Reduction::Min | Reduction::Max => true,
        }
    }

    /// The ways to cut a dim by an axis that the target leaves partial: as the source does where the
    /// target keeps its hole or lacks nothing but it, and minor-most.
    fn with_axis(&self, cuts: &Cuts, dim: usize, axis: Axis) -> Vec<Cuts> {
        let mut found = Vec::new();
        let mut push = |list: smallvec::SmallVec<[Cut; 2]>| {
            let mut cuts = cuts.clone();
            cuts[dim] = list;
            if !found.contains(&cuts) {
                found.push(cuts);
            }
        };
        let own = |cut: &&Cut| cut.axis() == axis && cut.is_held();
        let in_source = self
            .transition
            .is_on_one_mesh()
            .then(|| self.source_cuts[dim].iter().find(own))
            .flatten();
        if let Some(hole) = cuts[dim].iter().position(|cut| cut.axis() == axis && !cut.is_held()) {
            let mut list = cuts[dim].clone();
            list[hole] = list[hole].clone().held();
            push(list);
        }
        if let Some(cut) = in_source {
            let mut list = cuts[dim].clone();
            list.push(cut.clone());
            push(list);
        }
        let mut list = cuts[dim].clone();
        list.push(Cut::new(axis));
        push(list);
        found
    }
}

/// Whether an axis that is partial on both sides can stay as it is, but for a local factor. Averages
/// become sums by a division; the reverse could overflow and goes through the value, and so do floats of
/// 5 exponent bits, whose small terms a division would lose.
fn carries(from: Reduction, to: Reduction, dtype: DType) -> bool {
    let divides = from == Reduction::Avg && to == Reduction::Sum && dtype != DType::F16;
    from == to || divides
}
