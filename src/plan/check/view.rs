//! A step as the checker sees it: who holds what before and after, from the layouts alone.

use crate::base::{Reduction, Region};
use crate::layout::{Layout, Regions};
use crate::mesh::{Axis, Mesh, Rank};

use super::sample;
use crate::plan::{Plan, Step};

/// A layout of a plan, evaluated for every rank of its mesh.
pub(super) struct Stage<'a> {
    pub(super) layout: &'a Layout,
    /// What each position holds.
    pub(super) regions: Vec<Region>,
    /// Axes longer than 1.
    pub(super) partial: Vec<(Axis, Reduction)>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(layout: &'a Layout, shape: &[usize]) -> Result<Self, String> {
        let regions = Regions::new(layout, shape)
            .map_err(|error| format!("layout {layout} does not fit {shape:?}: {error}"))?;
        let mesh = layout.mesh();
        let regions = (0..mesh.len()).map(|position| regions.at(position)).collect();
        let long = |&&(axis, _): &&(Axis, Reduction)| mesh.axis_len(axis) > 1;
        let partial = layout.partial().iter().filter(long).copied().collect();
        Ok(Self { layout, regions, partial })
    }

    pub(super) fn mesh(&self) -> &Mesh {
        self.layout.mesh()
    }

    /// What a rank holds, nothing outside the mesh.
    pub(super) fn region(&self, rank: Rank) -> Option<&Region> {
        self.mesh().position(rank).map(|position| &self.regions[position])
    }

    pub(super) fn len(&self, rank: Rank) -> usize {
        self.region(rank).map_or(0, Region::len)
    }

    pub(super) fn is_partial(&self, axis: Axis) -> bool {
        self.partial.iter().any(|&(partial, _)| partial == axis)
    }
}

/// One step of a plan.
pub(super) struct View<'a> {
    pub(super) plan: &'a Plan,
    pub(super) step: &'a Step,
    pub(super) index: usize,
    pub(super) before: &'a Stage<'a>,
    pub(super) after: &'a Stage<'a>,
}

impl View<'_> {
    pub(super) fn is_on_one_mesh(&self) -> bool {
        self.before.mesh() == self.after.mesh()
    }

    /// The ranks of each group: along the step's axes on one mesh, everyone between two, each rank by
    /// itself for local moves.
    pub(super) fn groups(&self) -> Vec<Vec<Rank>> {
        if self.step.kind().is_local() {
            return self.plan.ranks().iter().map(|&rank| vec![rank]).collect();
        }
        if !self.is_on_one_mesh() {
            return vec![self.plan.ranks().to_vec()];
        }
        let groups = self.before.mesh().groups(self.step.axes());
        groups.iter().map(|group| group.ranks().to_vec()).collect()
    }

    /// What the members of a group hold before, leaving out those that hold nothing.
    pub(super) fn holders(&self, group: &[Rank]) -> Vec<&Region> {
        let held = group.iter().filter_map(|&rank| self.before.region(rank));
        held.filter(|region| !region.is_empty()).collect()
    }

    /// The members of a group whose targets are looked at, with their targets.
    pub(super) fn receivers(&self, group: &[Rank]) -> Vec<(Rank, &Region)> {
        let ranks = sample(group.len()).map(|number| group[number]);
        ranks.filter_map(|rank| self.after.region(rank).map(|region| (rank, region))).collect()
    }
}

/// The regions, each once. Regions of one layout are equal or share nothing.
pub(super) fn distinct<'a>(regions: &[&'a Region]) -> Vec<&'a Region> {
    let mut distinct: Vec<&Region> = Vec::new();
    for &region in regions {
        if !distinct.contains(&region) {
            distinct.push(region);
        }
    }
    distinct
}
