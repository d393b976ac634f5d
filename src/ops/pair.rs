//! The layout rule of every operation on two tensors: which layouts go together, and what comes out.

use crate::base::Reduction;
use crate::layout::{Cut, Layout, Placement};
use crate::mesh::Axis;

use super::OpError;
use super::error::Remedy;
use super::role::{Label, Operand, Role, placement_of, written};

/// How the operation treats terms of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// Linear in each operand: terms of one times the whole of the other are terms of the result.
    Product,
    /// Linear in both together: terms of both add up, and a whole operand counts once.
    Sum,
}

/// Two operands, and the labels of the result. A label that the result lacks is summed over.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub operation: &'static str,
    pub law: Law,
    pub left: Operand<'a>,
    pub right: Operand<'a>,
    pub output: &'a [Label],
}

impl Pair<'_> {
    /// The layout of the result.
    ///
    /// | axis in one operand | in the other | in the result |
    /// |---|---|---|
    /// | R | R | R |
    /// | cuts a dim | cuts the same dim alike, or R if it has no such dim | cuts that dim; P(sum) if the result has no such dim |
    /// | P(sum), P(avg) | R | the same |
    /// | P(sum), P(avg) | the same, where [`Law::Sum`] holds | the same |
    pub(super) fn layout(&self) -> Result<Layout, OpError> {
        let mesh = self.left.layout.mesh();
        if mesh != self.right.layout.mesh() {
            return Err(self.meshes_differ());
        }
        self.check_ndim(self.left)?;
        self.check_ndim(self.right)?;
        linear_terms(self.operation, self.left)?;
        linear_terms(self.operation, self.right)?;
        self.check_cuts()?;
        let mut partial = Vec::new();
        for axis in mesh.axes() {
            partial.extend(self.reduction_along(axis)?.map(|reduction| (axis, reduction)));
        }
        let dims = self.output.iter().map(|&label| self.cuts_of(label).to_vec());
        Ok(Layout::new(mesh, dims, partial)?)
    }

    /// The length of every dim of the result.
    pub(super) fn shape(&self, left: &[usize], right: &[usize]) -> Result<Vec<usize>, OpError> {
        for (left_dim, &label) in self.left.labels.iter().enumerate() {
            let Some(right_dim) = self.right.dim_of(label) else { continue };
            let (left_len, right_len) = (left[left_dim], right[right_dim]);
            if left_len != right_len {
                let (operation, left, right) = (self.operation, self.left.name, self.right.name);
                return Err(OpError::Lengths {
                    operation,
                    left,
                    left_dim,
                    left_len,
                    right,
                    right_dim,
                    right_len,
                });
            }
        }
        let len_of = |&label: &Label| {
            let from_left = self.left.dim_of(label).map(|dim| left[dim]);
            from_left.or_else(|| self.right.dim_of(label).map(|dim| right[dim])).unwrap_or(1)
        };
        Ok(self.output.iter().map(len_of).collect())
    }

    fn cuts_of(&self, label: Label) -> &[Cut] {
        let from = |operand: &Operand<'_>| operand.dim_of(label);
        match (from(&self.left), from(&self.right)) {
            (Some(dim), _) => self.left.layout.normal_cuts(dim),
            (None, Some(dim)) => self.right.layout.normal_cuts(dim),
            (None, None) => &[],
        }
    }

    /// The reduction of the result's terms along an axis, if it is partial there.
    fn reduction_along(&self, axis: Axis) -> Result<Option<Reduction>, OpError> {
        let summed = |operand: &Operand<'_>, dim: usize| {
            (!self.output.contains(&operand.labels[dim])).then_some(Reduction::Sum)
        };
        let (left, right) = (self.left.role(axis), self.right.role(axis));
        match (left, right) {
            (Role::Replicate, Role::Replicate) => Ok(None),
            (Role::Cut(i, _), Role::Cut(j, _)) if self.left.labels[i] == self.right.labels[j] => {
                Ok(summed(&self.left, i))
            }
            (Role::Cut(i, _), Role::Replicate)
                if self.right.dim_of(self.left.labels[i]).is_none() =>
            {
                Ok(summed(&self.left, i))
            }
            (Role::Replicate, Role::Cut(j, _))
                if self.left.dim_of(self.right.labels[j]).is_none() =>
            {
                Ok(summed(&self.right, j))
            }
            (Role::Partial(reduction), Role::Replicate)
            | (Role::Replicate, Role::Partial(reduction)) => Ok(Some(reduction)),
            (Role::Partial(a), Role::Partial(b)) if a == b && self.law == Law::Sum => Ok(Some(a)),
            (
                Role::Replicate | Role::Cut(..) | Role::Partial(_),
                Role::Replicate | Role::Cut(..) | Role::Partial(_),
            ) => Err(self.misplaced(axis, left, right)),
        }
    }

    /// Dims of one label must be cut alike. Where one axis alone makes the difference, what it does to
    /// each operand says more, and [`Pair::reduction_along`] finds it.
    fn check_cuts(&self) -> Result<(), OpError> {
        for (left_dim, &label) in self.left.labels.iter().enumerate() {
            let Some(right_dim) = self.right.dim_of(label) else { continue };
            let left = self.left.layout.normal_cuts(left_dim);
            let right = self.right.layout.normal_cuts(right_dim);
            if left == right || left.len() + right.len() == 1 {
                continue;
            }
            return Err(OpError::CutOtherwise {
                operation: self.operation,
                left: self.left.name,
                left_dim,
                left_cuts: written(self.left.layout, left_dim),
                right: self.right.name,
                right_dim,
                right_cuts: written(self.right.layout, right_dim),
            });
        }
        Ok(())
    }

    fn check_ndim(&self, operand: Operand<'_>) -> Result<(), OpError> {
        let (ndim, needed) = (operand.layout.ndim(), operand.labels.len());
        if ndim == needed {
            return Ok(());
        }
        let (operation, operand) = (self.operation, operand.name);
        Err(OpError::Ndim { operation, operand, ndim, needed: needed.to_string() })
    }

    fn meshes_differ(&self) -> OpError {
        OpError::Meshes {
            operation: self.operation,
            left: self.left.name,
            left_mesh: self.left.layout.mesh().to_string(),
            right: self.right.name,
            right_mesh: self.right.layout.mesh().to_string(),
        }
    }

    fn misplaced(&self, axis: Axis, left: Role<'_>, right: Role<'_>) -> OpError {
        let situation = format!(
            "{}, but {}",
            self.says(self.left, left, right),
            self.says(self.right, right, left)
        );
        let for_left =
            Remedy { operand: self.left.name, placement: self.wanted(&self.left, right) };
        let for_right =
            Remedy { operand: self.right.name, placement: self.wanted(&self.right, left) };
        OpError::Misplaced {
            operation: self.operation,
            axis: self.left.layout.mesh().name(axis).to_owned(),
            situation,
            remedies: vec![for_left, for_right],
        }
    }

    fn says(&self, operand: Operand<'_>, role: Role<'_>, other: Role<'_>) -> String {
        let opposite = if operand.name == self.left.name { self.right } else { self.left };
        let facing = match other {
            Role::Cut(dim, _) => operand.dim_of(opposite.labels[dim]),
            Role::Replicate | Role::Partial(_) => None,
        };
        let contracted = match role {
            Role::Cut(dim, _) => !self.output.contains(&operand.labels[dim]),
            Role::Replicate | Role::Partial(_) => false,
        };
        let words = operand.says(role, facing);
        if contracted { format!("{words}, contracted") } else { words }
    }

    /// What an axis should do to an operand, given what it does to the other one.
    fn wanted(&self, operand: &Operand<'_>, other: Role<'_>) -> Placement {
        let opposite = if operand.name == self.left.name { &self.right } else { &self.left };
        match other {
            Role::Cut(dim, cut) => match operand.dim_of(opposite.labels[dim]) {
                Some(own) => placement_of(cut, own),
                None => Placement::Replicate,
            },
            Role::Partial(reduction) if self.law == Law::Sum => Placement::Partial(reduction),
            Role::Partial(_) | Role::Replicate => Placement::Replicate,
        }
    }
}

/// Of partial tensors, only those whose terms are summed or averaged may be operands.
fn linear_terms(operation: &'static str, operand: Operand<'_>) -> Result<(), OpError> {
    let layout = operand.layout;
    match layout.normal_partial().iter().find(|(_, reduction)| !reduction.is_linear()) {
        None => Ok(()),
        Some(&(axis, reduction)) => Err(OpError::Terms {
            operation,
            operand: operand.name,
            axis: layout.mesh().name(axis).to_owned(),
            reduction,
        }),
    }
}
