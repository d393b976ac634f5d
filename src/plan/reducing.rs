//! How terms combine in a step, and how values become terms.

use crate::base::Reduction;

use super::spread::Spread;
use super::step::Step;

/// What a rank adds where values become terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Terms {
    /// Whether the rank adds what it holds; if not, it adds the identity.
    pub(crate) adds: bool,
    /// The reduction whose identity fills the rest.
    pub(crate) reduction: Reduction,
}

impl Terms {
    /// What the rank at a coordinate adds in a step that seeds.
    ///
    /// Along an axis that cut before, each rank adds its part, which the planner never lets an average
    /// be seeded from. Along one that replicated, only coordinate 0 adds to a sum or product; all ranks repeat the
    /// value for `min`, `max` and `avg`, whose reduction of equal terms is that term.
    pub(crate) fn seeded(step: &Step, before: &Spread, coordinate: &[usize]) -> Self {
        let mut terms = Self { adds: true, reduction: Reduction::Sum };
        let partial_before = step.source.normal_partial();
        for &(axis, reduction) in step.target.normal_partial() {
            if partial_before.iter().any(|&(other, _)| other == axis) {
                continue;
            }
            terms.reduction = reduction;
            let repeats = match reduction {
                Reduction::Sum | Reduction::Product => false,
                Reduction::Min | Reduction::Max | Reduction::Avg => true,
            };
            terms.adds &= repeats || before.holds(axis) || coordinate[axis.index()] == 0;
        }
        terms
    }

    /// How a step's groups combine their terms: the reduction, and what a sum is divided by, which is
    /// the product of the lengths of the axes along which the tensor is an average.
    pub(crate) fn reduced(step: &Step) -> (Reduction, usize) {
        let partial = step.source.normal_partial();
        let along = partial.iter().filter(|(axis, _)| step.axes.contains(axis));
        let (mut reduction, mut divisor) = (Reduction::Sum, 1);
        for &(axis, own) in along {
            if own == Reduction::Avg {
                divisor *= step.source.mesh().axis_len(axis);
            } else {
                reduction = own;
            }
        }
        (reduction, divisor)
    }
}
