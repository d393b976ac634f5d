//! What one axis does to one operand, and the words for it.

use crate::base::Reduction;
use crate::layout::{Cut, CutRule, Layout, Placement, Rule};
use crate::mesh::Axis;

/// Stands for a dim: dims of two operands that have one label are run through together.
pub(super) type Label = u32;

/// An operand as a rule sees it.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    /// What messages call it, such as `left operand`.
    pub name: &'static str,
    pub layout: &'a Layout,
    /// One a dim.
    pub labels: &'a [Label],
}

/// What one axis does to one operand.
#[derive(Clone, Copy)]
pub(super) enum Role<'a> {
    Replicate,
    Cut(usize, &'a Cut),
    Partial(Reduction),
}

impl<'a> Operand<'a> {
    /// The dim that has a label.
    pub(super) fn dim_of(&self, label: Label) -> Option<usize> {
        self.labels.iter().position(|&own| own == label)
    }

    pub(super) fn role(&self, axis: Axis) -> Role<'a> {
        let partial = self.layout.normal_partial().iter().find(|&&(own, _)| own == axis);
        if let Some(&(_, reduction)) = partial {
            return Role::Partial(reduction);
        }
        let held = |cut: &&Cut| cut.is_held() && cut.axis() == axis;
        let cut_of = |dim| self.layout.normal_cuts(dim).iter().find(held).map(|cut| (dim, cut));
        match (0..self.layout.ndim()).find_map(cut_of) {
            Some((dim, cut)) => Role::Cut(dim, cut),
            None => Role::Replicate,
        }
    }

    /// The role in words: what the axis does. `other` is the dim that faces a cut of the other operand.
    pub(super) fn says(&self, role: Role<'_>, other: Option<usize>) -> String {
        match (role, other) {
            (Role::Cut(dim, _), _) => format!("cuts dim {dim} of the {}", self.name),
            (Role::Partial(reduction), _) => {
                format!("is partial by {reduction} in the {}", self.name)
            }
            (Role::Replicate, Some(dim)) => format!("replicates dim {dim} of the {}", self.name),
            (Role::Replicate, None) => format!("replicates the {}", self.name),
        }
    }
}

/// The placement by which an axis cuts a dim as it cuts another.
pub(super) fn placement_of(cut: &Cut, dim: usize) -> Placement {
    let law = match cut.rule() {
        Rule::Unit(unit) => CutRule::unit(*unit),
        Rule::Sizes(rows) => CutRule::size_rows(rows.iter().map(|row| row.to_vec())),
    };
    let law = match cut.segment_lens() {
        Some(lens) => law.segments(lens),
        None => law,
    };
    // A tensor cannot have more dims than `isize` counts: its shape is a list in memory.
    law.on(isize::try_from(dim).unwrap_or(isize::MAX))
}

/// The cuts of a dim as notation writes them, such as `tp.dp`, or `-`.
pub(super) fn written(layout: &Layout, dim: usize) -> String {
    let none: [(Axis, Reduction); 0] = [];
    let alone = Layout::new(layout.mesh(), [layout.normal_cuts(dim).iter().cloned()], none);
    alone.map_or_else(
        |error| error.to_string(),
        |alone| alone.to_string().trim_matches(['[', ']']).to_owned(),
    )
}
