//! One named direction of a mesh.

/// An axis of a mesh: its position among the mesh's axes. Obtained from a mesh by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Axis(pub(crate) usize);

impl Axis {
    /// The position of this axis in its mesh, counted from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}
