//! What one axis does to one tensor, and lists of it: a view of a layout.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::{Cut, Layout, LayoutError, Rule};
use crate::base::Reduction;
use crate::mesh::{Axis, Mesh};

/// What one axis does to one tensor.
///
/// A negative dim counts from the end. `Display` and `FromStr` agree: `R`, `S(0)`,
/// `S(0; seg=8,4,4; unit=2)`, `P(sum)`.
///
/// # Example
///
/// ```
/// use reshard::Reduction;
/// use reshard::layout::{CutRule, Placement};
/// assert_eq!("S(0)".parse(), Ok(Placement::Shard(0)));
/// assert_eq!("P".parse(), Ok(Placement::Partial(Reduction::Sum)));
/// assert_eq!(CutRule::unit(64).on(0).to_string(), "S(0; unit=64)");
/// ```
#[derive(Clone, Debug)]
pub enum Placement {
    /// Every coordinate holds the same.
    Replicate,
    /// Every coordinate holds its block of this dim, by the law of `torch.chunk`.
    Shard(isize),
    /// Every coordinate holds its block of this dim, by another law; see [`CutRule::on`].
    Cut(isize, CutRule),
    /// Every coordinate holds a term; the value is their reduction.
    Partial(Reduction),
}

impl Placement {
    /// The dim that the axis cuts and the law by which it does.
    fn cut(&self) -> Option<(isize, CutRule)> {
        match self {
            Placement::Shard(dim) => Some((*dim, CutRule::chunk())),
            Placement::Cut(dim, rule) => Some((*dim, rule.clone())),
            Placement::Replicate | Placement::Partial(_) => None,
        }
    }

    fn reduction(&self) -> Option<Reduction> {
        match self {
            Placement::Partial(reduction) => Some(*reduction),
            Placement::Replicate | Placement::Shard(_) | Placement::Cut(..) => None,
        }
    }
}

/// `Shard(dim)` equals a `Cut` of that dim by the chunk law.
impl PartialEq for Placement {
    fn eq(&self, other: &Self) -> bool {
        self.cut() == other.cut() && self.reduction() == other.reduction()
    }
}

impl Eq for Placement {}

impl Hash for Placement {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.cut().hash(state);
        self.reduction().hash(state);
    }
}

/// The law by which an axis divides a dim: segments, if any, that first break it, then a [`Rule`].
///
/// # Example
///
/// ```
/// use reshard::layout::CutRule;
/// let heads = CutRule::unit(64).on(0);
/// let qkv = CutRule::chunk().segments([8, 4, 4]).on(-1);
/// let ragged = CutRule::sizes([7, 0, 1, 2]).on(0);
/// let experts = CutRule::size_rows([[3, 1], [2, 2]]).segments([4, 4]).on(0);
/// assert_eq!(heads.to_string(), "S(0; unit=64)");
/// assert_eq!(qkv.to_string(), "S(-1; seg=8,4,4)");
/// assert_eq!(ragged.to_string(), "S(0; sizes=7,0,1,2)");
/// assert_eq!(experts.to_string(), "S(0; seg=4,4; sizes=3,1/2,2)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CutRule {
    segments: Option<Arc<[usize]>>,
    rule: Rule,
}

impl CutRule {
    /// The law of `torch.chunk`: equal blocks, the last non-empty one shorter, those after it empty.
    #[must_use]
    pub fn chunk() -> Self {
        Self::unit(1)
    }

    /// The chunk law, counted in whole units of this many elements.
    #[must_use]
    pub fn unit(unit: usize) -> Self {
        Self { segments: None, rule: Rule::Unit(unit) }
    }

    /// Blocks of these lengths, one a coordinate.
    #[must_use]
    pub fn sizes(lens: impl Into<Vec<usize>>) -> Self {
        Self::size_rows([lens])
    }

    /// Blocks of these lengths, one row for each piece that the dim is in.
    #[must_use]
    pub fn size_rows<R: Into<Vec<usize>>>(rows: impl IntoIterator<Item = R>) -> Self {
        let rows = rows.into_iter().map(|row| Arc::from(row.into())).collect();
        Self { segments: None, rule: Rule::Sizes(rows) }
    }

    /// The same law, applied to each of the segments of these lengths.
    #[must_use]
    pub fn segments(self, lens: impl Into<Vec<usize>>) -> Self {
        Self { segments: Some(Arc::from(lens.into())), ..self }
    }

    /// The placement that cuts this dim so.
    #[must_use]
    pub fn on(self, dim: isize) -> Placement {
        if self == Self::chunk() { Placement::Shard(dim) } else { Placement::Cut(dim, self) }
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

    pub(super) const fn from_parts(segments: Option<Arc<[usize]>>, rule: Rule) -> Self {
        Self { segments, rule }
    }

    pub(super) fn of(cut: &Cut) -> Self {
        Self { segments: cut.shared_segments(), rule: cut.rule().clone() }
    }

    pub(super) fn by(self, axis: Axis) -> Cut {
        Cut::with(axis, self.segments, self.rule)
    }
}

/// One placement an axis, in the order of the mesh's axes.
///
/// Where several axes cut one dim, the first of them is the major one, as in PyTorch.
///
/// # Example
///
/// ```
/// use reshard::layout::{Placement, Placements};
/// let list: Placements = "S(0), R".parse()?;
/// assert_eq!(*list, [Placement::Shard(0), Placement::Replicate]);
/// assert_eq!(list.to_string(), "S(0), R");
/// # Ok::<(), reshard::layout::ParseLayoutError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Placements(Vec<Placement>);

impl Placements {
    /// The placements, one an axis.
    #[must_use]
    pub fn as_slice(&self) -> &[Placement] {
        &self.0
    }
}

impl Deref for Placements {
    type Target = [Placement];

    fn deref(&self) -> &[Placement] {
        &self.0
    }
}

impl From<Vec<Placement>> for Placements {
    fn from(list: Vec<Placement>) -> Self {
        Self(list)
    }
}

impl FromIterator<Placement> for Placements {
    fn from_iter<I: IntoIterator<Item = Placement>>(list: I) -> Self {
        Self(list.into_iter().collect())
    }
}

impl Layout {
    /// The layout of a tensor of `ndim` dims that has one placement along each axis of the mesh; the
    /// first of several axes that cut one dim is the major one.
    ///
    /// # Errors
    ///
    /// [`LayoutError`] if the placements are not one an axis, a dim is out of range or reductions mix.
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::layout::Placement::{Replicate, Shard};
    /// use reshard::{Layout, Mesh};
    /// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
    /// assert_eq!(Layout::from_placements(&mesh, 2, &[Shard(-1), Replicate])?.to_string(), "[-, dp]");
    /// # Ok::<(), reshard::LayoutError>(())
    /// ```
    pub fn from_placements(
        mesh: &Mesh,
        ndim: usize,
        placements: &[Placement],
    ) -> Result<Self, LayoutError> {
        let (given, needed) = (placements.len(), mesh.axes().len());
        if given != needed {
            return Err(LayoutError::PlacementCount { given, needed, mesh: mesh.to_string() });
        }
        let mut dims = vec![Vec::new(); ndim];
        let mut partial = Vec::new();
        for (axis, placement) in mesh.axes().zip(placements) {
            if let Some((dim, rule)) = placement.cut() {
                let axis_name = || mesh.name(axis).to_owned();
                let index = from_start(dim, ndim).ok_or_else(|| LayoutError::NoSuchDim {
                    axis: axis_name(),
                    dim,
                    ndim,
                })?;
                dims[index].push(rule.by(axis));
            }
            partial.extend(placement.reduction().map(|reduction| (axis, reduction)));
        }
        Self::new(mesh, dims, partial)
    }

    /// The layout as one placement an axis, or `None` if no such list means this layout: some dim is
    /// cut by axes in another order than the mesh's, or by an axis that is not held.
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::{Layout, Mesh};
    /// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
    /// let listed = Layout::parse(&mesh, 1, "[dp.tp]")?.placements();
    /// assert_eq!(listed.map(|list| list.to_string()).as_deref(), Some("S(0), S(0)"));
    /// assert_eq!(Layout::parse(&mesh, 1, "[tp.dp]")?.placements(), None);
    /// # Ok::<(), reshard::LayoutError>(())
    /// ```
    #[must_use]
    pub fn placements(&self) -> Option<Placements> {
        let normal = || {
            let dims = (0..self.ndim()).map(|dim| self.normal_cuts(dim));
            listed(self.mesh(), dims, self.normal_partial())
        };
        // Axes of length 1 are shown as given unless they alone hinder.
        listed(self.mesh(), (0..self.ndim()).map(|dim| self.cuts(dim)), self.partial())
            .or_else(normal)
    }
}

fn from_start(dim: isize, ndim: usize) -> Option<usize> {
    let index = if dim < 0 { ndim.checked_add_signed(dim) } else { usize::try_from(dim).ok() };
    index.filter(|&index| index < ndim)
}

fn listed<'a>(
    mesh: &Mesh,
    dims: impl Iterator<Item = &'a [Cut]>,
    partial: &[(Axis, Reduction)],
) -> Option<Placements> {
    let mut list = vec![Placement::Replicate; mesh.axes().len()];
    for (dim, cuts) in (0..).zip(dims) {
        if !cuts.iter().all(Cut::is_held) || !cuts.is_sorted_by_key(Cut::axis) {
            return None;
        }
        for cut in cuts {
            list[cut.axis().index()] = CutRule::of(cut).on(dim);
        }
    }
    for &(axis, reduction) in partial {
        list[axis.index()] = Placement::Partial(reduction);
    }
    Some(Placements(list))
}
