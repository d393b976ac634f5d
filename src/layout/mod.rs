//! Where every element of a tensor lives: pure values, no input or output, no rank of their own.

mod blocks;
mod cut;
mod error;
mod into;
mod notation;
mod placement;
mod regions;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::base::{DType, Reduction, Region, StableHash};
use crate::mesh::{Axis, Mesh, MeshError, Rank};

pub(crate) use blocks::Blocks;
pub use cut::{Cut, Rule};
pub use error::LayoutError;
pub use into::IntoLayout;
pub use notation::ParseLayoutError;
pub use placement::{CutRule, Placement, Placements};
pub(crate) use regions::Regions;

/// Where every element of a tensor lives on a mesh: for each dim the axes that cut it, from major to
/// minor, and beside them the axes along which the tensor is partial. Every other axis replicates.
///
/// A layout does not know the tensor's shape; whether it fits one is checked by
/// [`Layout::check`]. Cloning is cheap; comparing looks at pointers first. Two layouts are equal if
/// they agree once axes of length 1 are left out.
///
/// # Example
///
/// ```
/// use reshard::{Layout, Mesh};
/// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
/// let layout = Layout::parse(&mesh, 1, "[tp.dp]")?;
/// let held = |rank| layout.region(&[5], rank).map(|region| region.dims()[0].indices().collect::<Vec<_>>());
/// assert_eq!(held(0)?, [0, 1]);
/// assert_eq!(held(2)?, [2]);
/// assert_eq!(held(1)?, [3]);
/// assert_eq!(layout.to_string(), "[tp.dp]");
/// # Ok::<(), reshard::LayoutError>(())
/// ```
#[derive(Clone)]
pub struct Layout(Arc<Inner>);

struct Inner {
    mesh: Mesh,
    /// As given, axes of length 1 included.
    dims: Vec<SmallVec<[Cut; 2]>>,
    partial: SmallVec<[(Axis, Reduction); 2]>,
    /// Without axes of length 1.
    normal_dims: Vec<SmallVec<[Cut; 2]>>,
    normal_partial: SmallVec<[(Axis, Reduction); 2]>,
    hash: u64,
}

impl Layout {
    /// The layout that these cuts and partial axes make: `dims` lists, for each dim, its cuts from
    /// major to minor.
    ///
    /// # Errors
    ///
    /// [`LayoutError`] if an axis is used twice, reductions mix or pieces are too many to list.
    pub fn new<C: IntoIterator<Item = Cut>>(
        mesh: &Mesh,
        dims: impl IntoIterator<Item = C>,
        partial: impl IntoIterator<Item = (Axis, Reduction)>,
    ) -> Result<Self, LayoutError> {
        let dims: Vec<SmallVec<[Cut; 2]>> =
            dims.into_iter().map(|cuts| cuts.into_iter().collect()).collect();
        let mut partial: SmallVec<[(Axis, Reduction); 2]> = partial.into_iter().collect();
        partial.sort_unstable();
        check_axes(mesh, &dims, &partial)?;
        check_pieces(mesh, &dims)?;
        let long = |axis: Axis| mesh.axis_len(axis) > 1;
        let normal_partial: SmallVec<[_; 2]> =
            partial.iter().copied().filter(|&(axis, _)| long(axis)).collect();
        check_reductions(&normal_partial)?;
        let normal_dims: Vec<_> = dims.iter().map(|cuts| normal(mesh, cuts)).collect();
        let hash = stable_hash(mesh, &normal_dims, &normal_partial);
        Ok(Self(Arc::new(Inner {
            mesh: mesh.clone(),
            dims,
            partial,
            normal_dims,
            normal_partial,
            hash,
        })))
    }

    /// Every rank holds the whole tensor.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "no axis is used, so none twice")]
    pub fn replicated(mesh: &Mesh, ndim: usize) -> Self {
        let none: [(Axis, Reduction); 0] = [];
        Self::new(mesh, vec![Vec::new(); ndim], none).expect("no axis is used, so none twice")
    }

    /// The ranks that hold the tensor.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.0.mesh
    }

    /// Dims of the tensor.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.0.dims.len()
    }

    /// The cuts of a dim as given, major to minor.
    ///
    /// # Panics
    ///
    /// If the tensor has no such dim.
    #[must_use]
    pub fn cuts(&self, dim: usize) -> &[Cut] {
        &self.0.dims[dim]
    }

    /// The axes along which the tensor is partial, as given, in the mesh's order.
    #[must_use]
    pub fn partial(&self) -> &[(Axis, Reduction)] {
        &self.0.partial
    }

    /// The cuts of a dim without axes of length 1, whose segments pass to the next minor cut.
    pub(crate) fn normal_cuts(&self, dim: usize) -> &[Cut] {
        &self.0.normal_dims[dim]
    }

    /// The partial axes longer than 1.
    pub(crate) fn normal_partial(&self) -> &[(Axis, Reduction)] {
        &self.0.normal_partial
    }

    /// Whether the value needs a reduction over some axis longer than 1.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        !self.0.normal_partial.is_empty()
    }

    /// Checks that the layout fits a shape and an element type.
    ///
    /// # Errors
    ///
    /// [`LayoutError`], equal on every rank.
    pub fn check(&self, shape: &[usize], dtype: DType) -> Result<(), LayoutError> {
        let bytes =
            shape.iter().try_fold(dtype.bytes(), |bytes, &len| bytes.checked_mul(len.max(1)));
        if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(LayoutError::TooLarge { shape: shape.to_vec(), dtype });
        }
        let unsupported = self.normal_partial().iter().find(|(_, r)| !r.supports(dtype));
        if let Some(&(axis, reduction)) = unsupported {
            let axis = self.mesh().name(axis).to_owned();
            return Err(LayoutError::NoSuchReduction { axis, reduction, dtype });
        }
        Regions::new(self, shape).map(|_| ())
    }

    /// The global elements that a rank holds.
    ///
    /// # Errors
    ///
    /// [`LayoutError`] if the layout does not fit the shape or the rank is not in the mesh.
    pub fn region(&self, shape: &[usize], rank: Rank) -> Result<Region, LayoutError> {
        let mesh = self.mesh();
        let position = mesh.position(rank).ok_or_else(|| mesh.not_a_member(rank))?;
        Ok(Regions::new(self, shape)?.at(position))
    }

    /// The same layout with every partial axis replicated.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "axes that differ still do with fewer of them")]
    pub fn reduced(&self) -> Self {
        let none: [(Axis, Reduction); 0] = [];
        Self::new(self.mesh(), self.0.dims.iter().cloned(), none)
            .expect("axes that differ still differ with fewer of them")
    }

    /// A hash of everything that equality looks at; the same on every rank and machine.
    #[must_use]
    pub fn stable_hash(&self) -> u64 {
        self.0.hash
    }
}

impl Layout {
    /// Whether both were given alike, axes of length 1 included: equal layouts may be written in
    /// different ways.
    pub(crate) fn is_given_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self == other && self.0.dims == other.0.dims && self.0.partial == other.0.partial)
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash
                && self.0.mesh == other.0.mesh
                && self.0.normal_dims == other.0.normal_dims
                && self.0.normal_partial == other.0.normal_partial)
    }
}

impl Eq for Layout {}

impl std::hash::Hash for Layout {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

fn check_axes(
    mesh: &Mesh,
    dims: &[SmallVec<[Cut; 2]>],
    partial: &[(Axis, Reduction)],
) -> Result<(), LayoutError> {
    let foreign = |axis: &Axis| axis.index() >= mesh.shape().len();
    let cuts = || dims.iter().flatten();
    let partial = || partial.iter().map(|&(axis, _)| axis);
    if let Some(axis) = cuts().map(Cut::axis).chain(partial()).find(foreign) {
        return Err(unknown(mesh, axis));
    }
    // An axis that cuts without being held is free to do something else.
    let mut used = vec![false; mesh.shape().len()];
    for axis in cuts().filter(|cut| cut.is_held()).map(Cut::axis).chain(partial()) {
        if std::mem::replace(&mut used[axis.index()], true) {
            return Err(LayoutError::AxisTwice { axis: mesh.name(axis).to_owned() });
        }
    }
    Ok(())
}

fn unknown(mesh: &Mesh, axis: Axis) -> LayoutError {
    let axes = mesh.axes().map(|own| format!("`{}`", mesh.name(own))).collect::<Vec<_>>();
    let name = format!("number {}", axis.index());
    MeshError::UnknownAxis { name, axes: axes.join(", ") }.into()
}

/// An axis that is not held may cut again and again, so a short text could ask for any number of pieces.
fn check_pieces(mesh: &Mesh, dims: &[SmallVec<[Cut; 2]>]) -> Result<(), LayoutError> {
    const LIMIT: usize = 1 << 22;
    let pieces = |cuts: &SmallVec<[Cut; 2]>| {
        cuts.iter().fold(1usize, |pieces, cut| {
            let bounds = cut.segment_lens().map_or(0, |lens| lens.len().saturating_sub(1));
            pieces.saturating_add(bounds).saturating_mul(mesh.axis_len(cut.axis()))
        })
    };
    match dims.iter().position(|cuts| pieces(cuts) > LIMIT) {
        Some(dim) => Err(LayoutError::TooManyPieces { dim, limit: LIMIT }),
        None => Ok(()),
    }
}

fn check_reductions(partial: &[(Axis, Reduction)]) -> Result<(), LayoutError> {
    let Some((&(_, first), rest)) = partial.split_first() else { return Ok(()) };
    let differs = |&&(_, second): &&(Axis, Reduction)| {
        second != first && !(first.is_linear() && second.is_linear())
    };
    match rest.iter().find(differs) {
        Some(&(_, second)) => Err(LayoutError::MixedReductions { first, second }),
        None => Ok(()),
    }
}

/// Leaves out axes of length 1. What such an axis does to minor axes is to break pieces at its
/// segments, so these pass to the next cut; minor-most, it does nothing.
fn normal(mesh: &Mesh, cuts: &[Cut]) -> SmallVec<[Cut; 2]> {
    let mut out: SmallVec<[Cut; 2]> = SmallVec::new();
    let mut passed: Option<Arc<[usize]>> = None;
    for cut in cuts {
        let segments = match (passed.take(), cut.shared_segments()) {
            (Some(a), Some(b)) => Some(merged(&a, &b)),
            (a, b) => a.or(b),
        };
        if mesh.axis_len(cut.axis()) == 1 {
            passed = segments;
            continue;
        }
        let kept = Cut::with(cut.axis(), segments, cut.rule().clone());
        out.push(if cut.is_held() { kept } else { kept.not_held() });
    }
    // A cut that is not held matters only to those minor to it.
    while out.last().is_some_and(|last| !last.is_held()) {
        out.pop();
    }
    out
}

/// The segments `a`, broken at the boundaries of `b`; empty ones stay, since each is a piece that may
/// have a row of sizes.
fn merged(a: &[usize], b: &[usize]) -> Arc<[usize]> {
    if a.len() < 2 {
        return Arc::from(b);
    }
    let bounds = |lens: &[usize]| -> Vec<usize> {
        let next = |end: &mut usize, &len: &usize| {
            *end = end.saturating_add(len);
            Some(*end)
        };
        lens.iter().scan(0, next).collect()
    };
    let inner = bounds(b);
    let mut lens = Vec::new();
    let mut start = 0;
    for end in bounds(a) {
        for &bound in &inner {
            if start < bound && bound < end {
                lens.push(bound - start);
                start = bound;
            }
        }
        lens.push(end - start);
        start = end;
    }
    lens.into()
}

fn stable_hash(mesh: &Mesh, dims: &[SmallVec<[Cut; 2]>], partial: &[(Axis, Reduction)]) -> u64 {
    let mut hash = StableHash::new().word(mesh.stable_hash()).len(dims.len());
    for cuts in dims {
        hash = hash.len(cuts.len());
        for cut in cuts {
            hash = hash.len(cut.axis().index()).len(usize::from(cut.is_held()));
            let segments = cut.segment_lens();
            hash = hash.len(segments.map_or(usize::MAX, <[usize]>::len));
            hash = segments.unwrap_or_default().iter().fold(hash, |hash, &len| hash.len(len));
            match cut.rule() {
                Rule::Unit(unit) => hash = hash.word(1).len(*unit),
                Rule::Sizes(rows) => {
                    hash = hash.word(2).len(rows.len());
                    for row in rows.iter() {
                        hash = row.iter().fold(hash.len(row.len()), |hash, &len| hash.len(len));
                    }
                }
            }
        }
    }
    for &(axis, reduction) in partial {
        hash = hash.len(axis.index()).text(reduction.name());
    }
    hash.finish()
}
