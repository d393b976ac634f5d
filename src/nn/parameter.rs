//! What a layer asks of its parameters.

use crate::dist::DistTensor;
use crate::layout::{Cut, Layout};
use crate::mesh::{Axis, Mesh};

use super::LayerError;

/// What the layer's axis does to a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    Sharded(usize),
    Replicated,
}

impl Placed {
    const fn written(self) -> &'static str {
        match self {
            Placed::Sharded(0) => "S(0)",
            Placed::Sharded(_) => "S(1)",
            Placed::Replicated => "R",
        }
    }

    /// The layout of a parameter of `ndim` dims that nothing but the axis cuts.
    pub(super) fn layout(self, mesh: &Mesh, axis: &str, ndim: usize) -> Result<Layout, LayerError> {
        let axis = mesh.axis(axis)?;
        let cuts = |dim| match self {
            Placed::Sharded(own) if own == dim => vec![Cut::new(axis)],
            Placed::Sharded(_) | Placed::Replicated => Vec::new(),
        };
        Ok(Layout::new(mesh, (0..ndim).map(cuts), [])?)
    }
}

/// A parameter's part in its layer, for checks and messages.
#[derive(Clone, Copy)]
pub(super) struct Parameter {
    pub layer: &'static str,
    pub name: &'static str,
    pub ndim: usize,
    pub placed: Placed,
}

impl Parameter {
    /// Checks dims and placement of a tensor that is to be this parameter.
    pub(super) fn check(self, tensor: &DistTensor, axis: &str) -> Result<(), LayerError> {
        let Self { layer, name: parameter, ndim: needed, placed } = self;
        if tensor.shape().len() != needed {
            return Err(LayerError::Ndim {
                layer,
                parameter,
                shape: tensor.shape().to_vec(),
                needed,
            });
        }
        let layout = tensor.layout();
        let own = layout.mesh().axis(axis)?;
        let short = layout.mesh().axis_len(own) == 1;
        if short || placement(layout, own) == Some(placed) {
            return Ok(());
        }
        let (axis, needed, layout) = (axis.to_owned(), placed.written(), layout.to_string());
        Err(LayerError::Parameter { layer, parameter, axis, needed, layout })
    }
}

/// What an axis does; nothing if the tensor is partial along it.
fn placement(layout: &Layout, axis: Axis) -> Option<Placed> {
    let cuts =
        |dim: &usize| layout.cuts(*dim).iter().any(|cut| cut.is_held() && cut.axis() == axis);
    if layout.partial().iter().any(|&(partial, _)| partial == axis) {
        return None;
    }
    Some((0..layout.ndim()).find(cuts).map_or(Placed::Replicated, Placed::Sharded))
}

/// The cuts of every dim.
pub(super) fn cuts_of(layout: &Layout) -> Vec<Vec<Cut>> {
    (0..layout.ndim()).map(|dim| layout.cuts(dim).to_vec()).collect()
}

/// A dim counted from the start, if there is such a dim.
pub(super) fn from_start(dim: isize, ndim: usize) -> Option<usize> {
    let index = if dim < 0 { ndim.checked_add_signed(dim) } else { usize::try_from(dim).ok() };
    index.filter(|&index| index < ndim)
}
