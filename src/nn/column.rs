//! A linear layer whose outputs are divided among ranks.

use crate::dist::{DistTensor, Loaded, On, Source};
use crate::layout::Layout;
use crate::ops;

use super::LayerError;
use super::parameter::{Parameter, Placed};

const LAYER: &str = "column-parallel linear";

const WEIGHT: Parameter =
    Parameter { layer: LAYER, name: "weight", ndim: 2, placed: Placed::Sharded(0) };
const BIAS: Parameter =
    Parameter { layer: LAYER, name: "bias", ndim: 1, placed: Placed::Sharded(0) };

/// A linear layer, `y = x · wᵀ + b`, whose outputs are divided among the ranks along an axis: each holds
/// some rows of the weight `[out, in]` and the same elements of the bias `[out]`.
///
/// The input [.., in] is replicated along the axis; the output [.., out] is sharded along it on its last
/// dim. Nothing communicates. The axis need not divide the number of outputs.
///
/// # Source
///
/// Shoeybi et al., *Megatron-LM: training multi-billion parameter language models using model
/// parallelism*, 2019, arXiv 1909.08053, section 3.
///
/// # Example
///
/// ```
/// use reshard::nn::ColumnParallelLinear;
/// use reshard::{Mesh, World};
/// let mesh = Mesh::new([("tp", 2)])?;
/// let outputs = World::run(2, |world| {
///     let on = world.on(&mesh);
///     // Three outputs on two ranks: rank 0 computes two of them.
///     let rows = if world.rank() == 0 { vec![1.0f32, 2.0] } else { vec![3.0] };
///     let layer = ColumnParallelLinear::new("tp", on.from_local("S(0)", [3, 1], rows)?)?;
///     let x = on.from_local("R", [1, 1], vec![10.0f32])?;
///     Ok(layer.forward(&x)?.to_local_vec::<f32>()?)
/// })?;
/// assert_eq!(outputs, [vec![10.0, 20.0], vec![30.0]]);
/// # Ok::<(), reshard::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ColumnParallelLinear {
    axis: String,
    weight: DistTensor,
    bias: Option<DistTensor>,
}

impl ColumnParallelLinear {
    /// The layer of a weight `[out, in]` that is sharded along `axis` on dim 0, without bias.
    ///
    /// # Errors
    ///
    /// [`LayerError`] if the weight is no matrix or otherwise placed along `axis`.
    pub fn new(axis: impl Into<String>, weight: DistTensor) -> Result<Self, LayerError> {
        let axis = axis.into();
        WEIGHT.check(&weight, &axis)?;
        Ok(Self { axis, weight, bias: None })
    }

    /// The layer of a full weight `[out, in]`, of which every rank takes its rows.
    ///
    /// # Communication
    ///
    /// As [`On::distribute`]: none if every rank gives the weight, a scatter if one does.
    ///
    /// # Errors
    ///
    /// [`LayerError`] if the axis is unknown or the weight is no matrix or cannot be given.
    pub fn distribute<L: Loaded>(
        on: &On,
        axis: &str,
        source: Source,
        weight: impl FnOnce() -> L,
    ) -> Result<Self, LayerError> {
        let layout = WEIGHT.placed.layout(on.mesh(), axis, WEIGHT.ndim)?;
        Self::new(axis, on.distribute(source, weight, layout)?)
    }

    /// The layer with a bias `[out]` that is sharded along the axis.
    ///
    /// # Errors
    ///
    /// [`LayerError`] if the bias does not fit the weight.
    pub fn with_bias(self, bias: DistTensor) -> Result<Self, LayerError> {
        BIAS.check(&bias, &self.axis)?;
        let (given, needed) = (bias.shape()[0], self.weight.shape()[0]);
        if given != needed {
            return Err(LayerError::BiasLength { layer: LAYER, given, needed });
        }
        Ok(Self { bias: Some(bias), ..self })
    }

    /// The layer with a full bias `[out]`, of which every rank takes its elements.
    ///
    /// # Communication
    ///
    /// As [`On::distribute`].
    ///
    /// # Errors
    ///
    /// [`LayerError`] if the bias does not fit the weight or cannot be given.
    pub fn distribute_bias<L: Loaded>(
        self,
        on: &On,
        source: Source,
        bias: impl FnOnce() -> L,
    ) -> Result<Self, LayerError> {
        let layout = BIAS.placed.layout(on.mesh(), &self.axis, BIAS.ndim)?;
        let bias = on.distribute(source, bias, layout)?;
        self.with_bias(bias)
    }

    /// The output [.., out] for an input [.., in], sharded along the axis on its last dim. Local.
    ///
    /// # Errors
    ///
    /// [`LayerError::Op`] if the input is not replicated along the axis or does not fit the weight; it
    /// says which redistribution is missing.
    pub fn forward(&self, x: &DistTensor) -> Result<DistTensor, LayerError> {
        Ok(ops::linear(x, &self.weight, self.bias.as_ref())?)
    }

    /// The layout of the output for an input of this layout.
    ///
    /// # Errors
    ///
    /// As [`ColumnParallelLinear::forward`].
    pub fn output_layout(&self, input: &Layout) -> Result<Layout, LayerError> {
        let bias = self.bias.as_ref().map(DistTensor::layout);
        Ok(ops::linear_layout(input, self.weight.layout(), bias)?)
    }

    /// The axis along which the outputs are divided.
    #[must_use]
    pub fn axis(&self) -> &str {
        &self.axis
    }

    /// The weight `[out, in]`.
    #[must_use]
    pub fn weight(&self) -> &DistTensor {
        &self.weight
    }

    /// The bias `[out]`, if there is one.
    #[must_use]
    pub fn bias(&self) -> Option<&DistTensor> {
        self.bias.as_ref()
    }
}
