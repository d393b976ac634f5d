//! What can be wrong with a layer's parameters or input.

use std::sync::Arc;

use crate::dist;
use crate::layout::LayoutError;
use crate::mesh::MeshError;
use crate::ops::OpError;
use crate::plan::PlanError;

/// Parameters that do not make a layer, or an input that it cannot take.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayerError {
    /// A parameter is not placed as the layer needs it.
    #[error(
        "{layer}: the {parameter} must be placed `{needed}` along `{axis}`, but its layout is {layout}; redistribute it"
    )]
    Parameter {
        /// The layer.
        layer: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The layer's axis.
        axis: String,
        /// What the axis should do to the parameter.
        needed: &'static str,
        /// The parameter's layout.
        layout: String,
    },
    /// A parameter has the wrong number of dims.
    #[error("{layer}: the {parameter} has shape {shape:?}, but must have ndim {needed}")]
    Ndim {
        /// The layer.
        layer: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The parameter's shape.
        shape: Vec<usize>,
        /// Dims that it should have.
        needed: usize,
    },
    /// The bias has another length than the layer has outputs.
    #[error("{layer}: the bias has length {given}, but the weight makes {needed} outputs")]
    BiasLength {
        /// The layer.
        layer: &'static str,
        /// Length of the bias.
        given: usize,
        /// Outputs of the weight.
        needed: usize,
    },
    /// The mesh has no such axis.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// No such layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Layouts, shapes or element types do not go together.
    #[error(transparent)]
    Op(#[from] OpError),
    /// The communication cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A tensor could not be made or redistributed.
    #[error(transparent)]
    Dist(#[from] dist::Error),
}

impl From<LayerError> for dist::Error {
    /// What stems from this crate keeps its variant.
    fn from(error: LayerError) -> Self {
        match error {
            LayerError::Mesh(error) => error.into(),
            LayerError::Layout(error) => error.into(),
            LayerError::Op(error) => error.into(),
            LayerError::Plan(error) => error.into(),
            LayerError::Dist(error) => error,
            LayerError::Parameter { .. }
            | LayerError::Ndim { .. }
            | LayerError::BiasLength { .. } => Self::Operands(Arc::new(error)),
        }
    }
}
