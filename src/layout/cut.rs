//! How one axis divides one dim.

use std::sync::Arc;

use crate::mesh::Axis;

/// How one axis divides the pieces of one dim.
///
/// A dim is a list of pieces, at first one. Axes act from major to minor, and each cuts every piece
/// by itself: first at the boundaries of its segments, then by its [`Rule`].
///
/// # Example
///
/// ```
/// use reshard::Mesh;
/// use reshard::layout::{Cut, Rule};
/// let mesh = Mesh::new([("tp", 2)])?;
/// let heads = Cut::new(mesh.axis("tp")?).unit(64);
/// assert_eq!(heads.rule(), &Rule::Unit(64));
/// assert!(heads.is_held());
/// # Ok::<(), reshard::MeshError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cut {
    axis: Axis,
    held: Held,
    segments: Option<Arc<[usize]>>,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Held {
    Yes,
    No,
}

/// The law by which an axis of `n` coordinates divides a piece.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Blocks of whole units of this many elements: with `units` in the piece, each block has
    /// `units.div_ceil(n)` of them, the last non-empty one fewer, those after it none. A unit of 1
    /// is the law of `torch.chunk`.
    Unit(usize),
    /// The length of each block, one row of `n` lengths for each piece, in order of the pieces.
    Sizes(Arc<[Arc<[usize]>]>),
}

impl Cut {
    /// The axis divides every piece by the chunk law, and ranks hold the block of their coordinate.
    #[must_use]
    pub fn new(axis: Axis) -> Self {
        Self { axis, held: Held::Yes, segments: None, rule: Rule::Unit(1) }
    }

    /// Blocks are whole units of this many elements.
    #[must_use]
    pub fn unit(self, unit: usize) -> Self {
        Self { rule: Rule::Unit(unit), ..self }
    }

    /// Blocks have these lengths, one row for each piece.
    #[must_use]
    pub fn sizes<R: Into<Vec<usize>>>(self, rows: impl IntoIterator<Item = R>) -> Self {
        let rows = rows.into_iter().map(|row| Arc::from(row.into())).collect();
        Self { rule: Rule::Sizes(rows), ..self }
    }

    /// Pieces are first broken into segments of these lengths, which together make the dim.
    #[must_use]
    pub fn segments(self, lens: impl Into<Vec<usize>>) -> Self {
        Self { segments: Some(Arc::from(lens.into())), ..self }
    }

    /// The axis cuts, but ranks hold every block: minor axes take their share of each.
    #[must_use]
    pub fn not_held(self) -> Self {
        Self { held: Held::No, ..self }
    }

    pub(crate) fn with(axis: Axis, segments: Option<Arc<[usize]>>, rule: Rule) -> Self {
        Self { axis, held: Held::Yes, segments, rule }
    }

    /// The same division, held.
    pub(crate) fn held(self) -> Self {
        Self { held: Held::Yes, ..self }
    }

    /// The axis that cuts.
    #[must_use]
    pub const fn axis(&self) -> Axis {
        self.axis
    }

    /// Whether ranks hold only the block of their coordinate.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        matches!(self.held, Held::Yes)
    }

    /// Lengths of the segments, if any.
    #[must_use]
    pub fn segment_lens(&self) -> Option<&[usize]> {
        self.segments.as_deref()
    }

    /// The law of division.
    #[must_use]
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    pub(crate) fn shared_segments(&self) -> Option<Arc<[usize]>> {
        self.segments.clone()
    }
}
