//! Groups along axes, sub-meshes and flattened meshes.

use super::{Axis, Group, Mesh, MeshError, Rank, check_distinct};

impl Mesh {
    /// The group of `rank` along `axes`: the ranks that share its coordinate on every other axis,
    /// ordered by their coordinates on `axes`, the last given varying fastest.
    ///
    /// # Errors
    ///
    /// [`MeshError::NotAMember`] if the rank is not in the mesh.
    ///
    /// # Example
    ///
    /// ```
    /// # use reshard::Mesh;
    /// let mesh = Mesh::with_ranks([("a", 2), ("b", 2)], [3, 1, 0, 2])?;
    /// let (a, b) = (mesh.axis("a")?, mesh.axis("b")?);
    /// assert_eq!(mesh.group(&[b], 0)?.ranks(), [0, 2]);
    /// assert_eq!(mesh.group(&[b, a], 0)?.ranks(), [3, 0, 1, 2]);
    /// # Ok::<(), reshard::MeshError>(())
    /// ```
    pub fn group(&self, axes: &[Axis], rank: Rank) -> Result<Group, MeshError> {
        let position = self.position(rank).ok_or_else(|| self.not_a_member(rank))?;
        Ok(self.group_at(axes, position))
    }

    /// The group along `axes` of the rank at a position.
    pub(crate) fn group_at(&self, axes: &[Axis], position: usize) -> Group {
        let mut coordinate = self.coordinate_at(position);
        axes.iter().for_each(|axis| coordinate[axis.0] = 0);
        let len = axes.iter().map(|&axis| self.axis_len(axis)).product();
        let member = |mut number: usize| {
            for &axis in axes.iter().rev() {
                coordinate[axis.0] = number % self.axis_len(axis);
                number /= self.axis_len(axis);
            }
            self.0.ranks[self.position_at(&coordinate)]
        };
        Group::of_distinct((0..len).map(member))
    }

    /// Where a position stands in its group along `axes`.
    pub(crate) fn number_in_group(&self, axes: &[Axis], position: usize) -> usize {
        let coordinate = self.coordinate_at(position);
        axes.iter().fold(0, |number, &axis| number * self.axis_len(axis) + coordinate[axis.0])
    }

    /// The position of the member of a position's group along `axes` that stands at `number`.
    pub(crate) fn member_of_group(&self, axes: &[Axis], position: usize, number: usize) -> usize {
        let mut coordinate = self.coordinate_at(position);
        let mut number = number;
        for &axis in axes.iter().rev() {
            coordinate[axis.0] = number % self.axis_len(axis);
            number /= self.axis_len(axis);
        }
        self.position_at(&coordinate)
    }

    /// How many ranks a group along `axes` has.
    #[must_use]
    pub fn group_len(&self, axes: &[Axis]) -> usize {
        axes.iter().map(|&axis| self.axis_len(axis)).product()
    }

    /// Every group along `axes`, ordered by the coordinates on the other axes.
    #[must_use]
    pub fn groups(&self, axes: &[Axis]) -> Vec<Group> {
        let first = |&position: &usize| {
            let coordinate = self.coordinate_at(position);
            axes.iter().all(|axis| coordinate[axis.0] == 0)
        };
        (0..self.len()).filter(first).map(|position| self.group_at(axes, position)).collect()
    }

    /// The group of all ranks, ordered by coordinate.
    #[must_use]
    pub fn all(&self) -> Group {
        Group::of_distinct(self.0.ranks.iter().copied())
    }

    /// The sub-mesh of the named axes, in the order named, that `rank` is part of: the other axes are
    /// fixed at its coordinate.
    ///
    /// # Errors
    ///
    /// [`MeshError`] if a name is unknown or repeated, or the rank is not in the mesh.
    ///
    /// # Example
    ///
    /// ```
    /// # use reshard::Mesh;
    /// let mesh = Mesh::new([("dp", 2), ("tp", 3)])?;
    /// assert_eq!(mesh.submesh(&["tp"], 4)?.to_string(), "tp=3 ranks [3, 4, 5]");
    /// # Ok::<(), reshard::MeshError>(())
    /// ```
    pub fn submesh(&self, names: &[&str], rank: Rank) -> Result<Mesh, MeshError> {
        let axes = self.named(names)?;
        let group = self.group(&axes, rank)?;
        let lens = axes.iter().map(|&axis| self.axis_len(axis));
        Mesh::with_ranks(names.iter().copied().zip(lens), group.ranks().iter().copied())
    }

    /// The mesh in which the named axes, major to minor as named, have become one axis `into`, which
    /// stands where the first of them stood.
    ///
    /// # Errors
    ///
    /// [`MeshError`] if a name is unknown or repeated, or `into` is another axis's name.
    ///
    /// # Example
    ///
    /// ```
    /// # use reshard::Mesh;
    /// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
    /// assert_eq!(mesh.flatten(&["dp", "tp"], "all")?.to_string(), "all=4");
    /// assert_eq!(mesh.flatten(&["tp", "dp"], "all")?.ranks(), [0, 2, 1, 3]);
    /// # Ok::<(), reshard::MeshError>(())
    /// ```
    pub fn flatten(&self, names: &[&str], into: &str) -> Result<Mesh, MeshError> {
        let merged = self.named(names)?;
        let Some(&first) = merged.first() else { return Ok(self.clone()) };
        let outer: Vec<Axis> = self.axes().filter(|axis| !merged.contains(axis)).collect();
        let before = outer.iter().filter(|axis| **axis < first).count();
        let mut axes: Vec<(String, usize)> =
            outer.iter().map(|&axis| (self.name(axis).to_owned(), self.axis_len(axis))).collect();
        axes.insert(before, (into.to_owned(), merged.iter().map(|&a| self.axis_len(a)).product()));
        let mut order = outer;
        order.splice(before..before, merged);
        let ranks = self.group_at(&order, 0);
        Mesh::with_ranks(axes, ranks.ranks().iter().copied())
    }

    fn named(&self, names: &[&str]) -> Result<Vec<Axis>, MeshError> {
        let axes = names.iter().map(|name| self.axis(name)).collect::<Result<Vec<_>, _>>()?;
        let indices: Vec<usize> = axes.iter().map(|axis| axis.0).collect();
        match check_distinct(&indices) {
            Ok(()) => Ok(axes),
            Err(_) => {
                let twice = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
                let name = twice.map_or_else(String::new, |(_, name)| (*name).to_owned());
                Err(MeshError::AxisTwice { name })
            }
        }
    }

    pub(crate) fn not_a_member(&self, rank: Rank) -> MeshError {
        MeshError::NotAMember { rank, ranks: self.0.ranks.clone() }
    }
}
