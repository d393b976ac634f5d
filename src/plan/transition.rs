//! From one layout to another.

use std::fmt;

use crate::base::{DType, Reduction, StableHash};
use crate::layout::Layout;
use crate::mesh::Axis;

use super::PlanError;

/// A source layout, a target layout, one global shape and one element type: everything that a plan
/// depends on, options aside.
///
/// # Example
///
/// ```
/// use reshard::{DType, Layout, Mesh};
/// use reshard::plan::Transition;
/// let mesh = Mesh::new([("tp", 4)])?;
/// let from = Layout::parse(&mesh, 2, "S(0)")?;
/// let to = Layout::parse(&mesh, 2, "R")?;
/// let transition = Transition::new(from, to, [8, 8], DType::F32)?;
/// assert_eq!(transition.to_string(), "[tp, -] -> [-, -] of f32 [8, 8] on tp=4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    source: Layout,
    target: Layout,
    shape: Vec<usize>,
    dtype: DType,
}

impl Transition {
    /// The transition of a tensor of this shape and element type between two layouts, on one mesh or
    /// on two.
    ///
    /// # Errors
    ///
    /// [`PlanError::Layout`] if a layout does not fit the shape or the element type,
    /// [`PlanError::TooLarge`] if what all ranks hold cannot be counted.
    pub fn new(
        source: Layout,
        target: Layout,
        shape: impl Into<Vec<usize>>,
        dtype: DType,
    ) -> Result<Self, PlanError> {
        let shape = shape.into();
        let fits = |side, layout: &Layout| {
            layout.check(&shape, dtype).map_err(|error| PlanError::Layout { side, error })
        };
        fits("source", &source)?;
        fits("target", &target)?;
        // Counts of a plan add up what all ranks send: twice the tensor for each rank at most, each way.
        let ranks = source.mesh().len() + target.mesh().len();
        let counts =
            shape.iter().try_fold(4 * ranks, |counts, &len| counts.checked_mul(len.max(1)));
        if counts.is_none() {
            return Err(PlanError::TooLarge { shape, ranks });
        }
        Ok(Self { source, target, shape, dtype })
    }

    /// The layout before.
    #[must_use]
    pub fn source(&self) -> &Layout {
        &self.source
    }

    /// The layout after.
    #[must_use]
    pub fn target(&self) -> &Layout {
        &self.target
    }

    /// The global shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Whether both layouts are on one mesh.
    #[must_use]
    pub fn is_on_one_mesh(&self) -> bool {
        self.source.mesh() == self.target.mesh()
    }

    /// The transition that carries gradients back: from the dual of the target to the dual of the
    /// source, where the dual swaps replicated and partial axes (by sum).
    ///
    /// With ⟨x, y⟩ the sum over *all ranks* of the dot products of their raw local tensors, a
    /// transition A between layouts without `avg` has ⟨A x, y⟩ = ⟨x, Aᵀ y⟩; an axis partial by `avg`
    /// carries the factor 1/n, which the dual leaves to the caller's chain rule as `avg` itself.
    ///
    /// # Errors
    ///
    /// [`PlanError::NoAdjoint`] if an axis is partial by `product`, `min` or `max`.
    ///
    /// # Source
    ///
    /// JAX's rule for the cotangent of a replicated value, which is unreduced, and the reverse.
    pub fn adjoint(&self) -> Result<Self, PlanError> {
        let (source, target) = (dual(&self.target)?, dual(&self.source)?);
        Self::new(source, target, self.shape.clone(), self.dtype)
    }

    pub(crate) fn hash(&self) -> u64 {
        let hash = StableHash::new()
            .word(self.source.stable_hash())
            .word(self.target.stable_hash())
            .text(self.dtype.name())
            .len(self.shape.len());
        self.shape.iter().fold(hash, |hash, &len| hash.len(len)).finish()
    }
}

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, target) = (&self.source, &self.target);
        write!(f, "{source} -> {target} of {} {:?} on {}", self.dtype, self.shape, source.mesh())?;
        if !self.is_on_one_mesh() {
            write!(f, " -> {}", target.mesh())?;
        }
        Ok(())
    }
}

fn dual(layout: &Layout) -> Result<Layout, PlanError> {
    let nonlinear = layout.normal_partial().iter().find(|(_, reduction)| !reduction.is_linear());
    if let Some(&(_, reduction)) = nonlinear {
        return Err(PlanError::NoAdjoint { reduction });
    }
    let mesh = layout.mesh();
    let cuts = || (0..layout.ndim()).map(|dim| layout.cuts(dim).to_vec());
    let taken = |axis: Axis| {
        layout.partial().iter().any(|&(partial, _)| partial == axis)
            || cuts().flatten().any(|cut| cut.is_held() && cut.axis() == axis)
    };
    let partial = mesh.axes().filter(|&axis| !taken(axis)).map(|axis| (axis, Reduction::Sum));
    Layout::new(mesh, cuts(), partial).map_err(|error| PlanError::Layout { side: "dual", error })
}
