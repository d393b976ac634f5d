//! A linear layer whose outputs are divided among ranks.

use crate::dist::{DistTensor, Loaded, On, Source};
use crate::layout::{Layout, LayoutError};
use crate::ops::{self, Chunks};
use crate::plan::{Plan, PlanOptions, Transition, plan};

use super::LayerError;
use super::parameter::{Parameter, Placed, cuts_of, from_start};

const LAYER: &str = "column-parallel linear";

const WEIGHT: Parameter =
    Parameter { layer: LAYER, name: "weight", ndim: 2, placed: Placed::Sharded(0) };
const BIAS: Parameter =
    Parameter { layer: LAYER, name: "bias", ndim: 1, placed: Placed::Sharded(0) };

/// What the ranks along a layer's axis hold of its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// All of it, as the layer needs it: no communication.
    #[default]
    Replicate,
    /// A block of this dim, which the layer gathers: an all-gather. With the dim of the sequence this is
    /// sequence parallelism, and undoes [`Output::Shard`](super::Output::Shard). A negative dim counts
    /// from the end.
    Shard(isize),
}

/// A linear layer, `y = x · wᵀ + b`, whose outputs are divided among the ranks along an axis: each holds
/// some rows of the weight `[out, in]` and the same elements of the bias `[out]`.
///
/// The input [.., in] is replicated along the axis, unless [`Input`] says that the layer gathers it; the
/// output [.., out] is sharded along it on its last dim. The axis need not divide the number of outputs.
///
/// # Communication
///
/// None, or the gathering of the input, which [`ColumnParallelLinear::plan`] shows; with
/// [`ColumnParallelLinear::with_chunks`] it is carried out in parts, in the background.
///
/// # Source
///
/// Shoeybi et al., *Megatron-LM: training multi-billion parameter language models using model
/// parallelism*, 2019, arXiv 1909.08053, section 3; with a sharded input, Korthikanti et al., *Reducing
/// activation recomputation in large transformer models*, 2022, arXiv 2205.05198, section 4.2.
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
    input: Input,
    chunks: Chunks,
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
        Ok(Self { axis, weight, bias: None, input: Input::default(), chunks: Chunks::of(1) })
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

    /// The layer with another input.
    #[must_use]
    pub fn with_input(self, input: Input) -> Self {
        Self { input, ..self }
    }

    /// The layer with an input of which further rows are on their way, chunk by chunk, while those that
    /// have come are multiplied; without it the input is one chunk. The output is the same bit for bit.
    #[must_use]
    pub fn with_chunks(self, chunks: Chunks) -> Self {
        Self { chunks, ..self }
    }

    /// The output [.., out] for an input [.., in], sharded along the axis on its last dim.
    ///
    /// # Communication
    ///
    /// None with [`Input::Replicate`]; else every rank of the mesh calls this, and what moves is
    /// [`ColumnParallelLinear::plan`], with more than one chunk in parts; see [`ops::gathered_linear`].
    ///
    /// # Errors
    ///
    /// [`LayerError::Op`] if the input is not replicated along the axis, or not after it was gathered, or
    /// does not fit the weight; it says which redistribution is missing. [`LayerError::Layout`] if there is
    /// no dim to be gathered, [`LayerError::Dist`] if the communication fails.
    pub fn forward(&self, x: &DistTensor) -> Result<DistTensor, LayerError> {
        let (weight, bias) = (&self.weight, self.bias.as_ref());
        // Errors of layouts come before anything moves.
        self.output_layout(x.layout())?;
        Ok(match self.input {
            Input::Replicate => ops::linear(x, weight, bias)?,
            Input::Shard(_) => {
                let whole = self.gathered(x.layout())?;
                ops::gathered_linear(x, &whole, weight, bias, self.chunks)?
            }
        })
    }

    /// The layout of the output for an input of this layout.
    ///
    /// # Errors
    ///
    /// As [`ColumnParallelLinear::forward`].
    pub fn output_layout(&self, input: &Layout) -> Result<Layout, LayerError> {
        let bias = self.bias.as_ref().map(DistTensor::layout);
        Ok(ops::linear_layout(&self.gathered(input)?, self.weight.layout(), bias)?)
    }

    /// The communication of one call, for an input of this layout and shape.
    ///
    /// # Errors
    ///
    /// [`LayerError`] if the layer cannot take such an input.
    pub fn plan(&self, input: &Layout, shape: &[usize]) -> Result<Plan, LayerError> {
        self.output_layout(input)?;
        let (whole, dtype) = (self.gathered(input)?, self.weight.dtype());
        let transition = Transition::new(input.clone(), whole, shape, dtype)?;
        Ok(plan(&transition, &PlanOptions::default())?)
    }

    /// The layout of the input when it is multiplied.
    fn gathered(&self, input: &Layout) -> Result<Layout, LayerError> {
        let Input::Shard(dim) = self.input else { return Ok(input.clone()) };
        let (axis, ndim) = (input.mesh().axis(&self.axis)?, input.ndim());
        let missing = || LayoutError::NoSuchDim { axis: self.axis.clone(), dim, ndim };
        let dim = from_start(dim, ndim).ok_or_else(missing)?;
        let mut cuts = cuts_of(input);
        cuts[dim].retain(|cut| cut.axis() != axis);
        Ok(Layout::new(input.mesh(), cuts, input.partial().iter().copied())?)
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

    /// What the ranks hold of the input.
    #[must_use]
    pub fn input(&self) -> Input {
        self.input
    }
}
