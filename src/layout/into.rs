//! Everything a caller may name a layout with.

use super::{Layout, LayoutError, Placement, Placements};
use crate::mesh::Mesh;

/// What names a layout: a text in any of the written forms, placements one an axis, or a layout.
///
/// # Example
///
/// ```
/// use reshard::layout::{IntoLayout, Placement::{Replicate, Shard}};
/// use reshard::Mesh;
/// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
/// let layout = "dp=S(0)".into_layout(&mesh, 2)?;
/// assert_eq!(layout, [Shard(0), Replicate].into_layout(&mesh, 2)?);
/// assert_eq!(layout, "[dp, -]".into_layout(&mesh, 2)?);
/// # Ok::<(), reshard::LayoutError>(())
/// ```
pub trait IntoLayout {
    /// The layout named, of a tensor of `ndim` dims on `mesh`. A [`Layout`] stays as it is and keeps
    /// its own mesh: that is how another mesh is named.
    ///
    /// # Errors
    ///
    /// [`LayoutError`] if there is no such layout.
    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError>;

    /// The text, if it is one: equal texts name the same layout of a mesh, so it need not be read twice.
    fn text(&self) -> Option<&str> {
        None
    }
}

impl IntoLayout for Layout {
    fn into_layout(self, _mesh: &Mesh, _ndim: usize) -> Result<Layout, LayoutError> {
        Ok(self)
    }
}

impl IntoLayout for &Layout {
    fn into_layout(self, _mesh: &Mesh, _ndim: usize) -> Result<Layout, LayoutError> {
        Ok(self.clone())
    }
}

impl IntoLayout for &str {
    fn text(&self) -> Option<&str> {
        Some(self)
    }

    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError> {
        Layout::parse(mesh, ndim, self)
    }
}

impl IntoLayout for String {
    fn text(&self) -> Option<&str> {
        Some(self)
    }

    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError> {
        Layout::parse(mesh, ndim, &self)
    }
}

impl IntoLayout for &String {
    fn text(&self) -> Option<&str> {
        Some(self)
    }

    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError> {
        Layout::parse(mesh, ndim, self)
    }
}

impl IntoLayout for &[Placement] {
    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError> {
        Layout::from_placements(mesh, ndim, self)
    }
}

impl<const N: usize> IntoLayout for [Placement; N] {
    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError> {
        Layout::from_placements(mesh, ndim, &self)
    }
}

impl<const N: usize> IntoLayout for &[Placement; N] {
    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError> {
        Layout::from_placements(mesh, ndim, self)
    }
}

impl IntoLayout for Vec<Placement> {
    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError> {
        Layout::from_placements(mesh, ndim, &self)
    }
}

impl IntoLayout for Placements {
    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError> {
        Layout::from_placements(mesh, ndim, &self)
    }
}

impl IntoLayout for &Placements {
    fn into_layout(self, mesh: &Mesh, ndim: usize) -> Result<Layout, LayoutError> {
        Layout::from_placements(mesh, ndim, self)
    }
}
