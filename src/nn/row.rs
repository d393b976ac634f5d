//! A linear layer whose inputs are divided among ranks.

use crate::dist::{DistTensor, Loaded, On, Source};
use crate::layout::{Cut, Layout, LayoutError};
use crate::mesh::Axis;
use crate::ops::{self, Chunks};
use crate::plan::{Plan, PlanOptions, Transition, plan};

use super::LayerError;
use super::parameter::{Parameter, Placed, cuts_of, from_start};

const LAYER: &str = "row-parallel linear";

const WEIGHT: Parameter =
    Parameter { layer: LAYER, name: "weight", ndim: 2, placed: Placed::Sharded(1) };
const BIAS: Parameter =
    Parameter { layer: LAYER, name: "bias", ndim: 1, placed: Placed::Replicated };

/// What becomes of the terms that the ranks along a layer's axis compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Every rank gets their sum: an all-reduce.
    #[default]
    Replicate,
    /// Every rank gets a block of this dim of their sum: a reduce-scatter. With the dim of the sequence
    /// this is sequence parallelism. A negative dim counts from the end. Axes that cut the dim already
    /// stay the major ones.
    Shard(isize),
    /// They stay terms: no communication.
    Partial,
}

/// A linear layer, `y = x · wᵀ + b`, whose inputs are divided among the ranks along an axis: each holds
/// some columns of the weight `[out, in]`, and all hold the bias `[out]`.
///
/// The input [.., in] is sharded along the axis on its last dim, as a
/// [`ColumnParallelLinear`](super::ColumnParallelLinear) leaves it. Each rank computes a term of the
/// output [.., out]; [`Output`] says what becomes of the terms. The bias counts once. The axis need not
/// divide the number of inputs.
///
/// # Communication
///
/// One redistribution a call, which [`RowParallelLinear::plan`] shows; with
/// [`RowParallelLinear::with_chunks`] it is carried out in parts, in the background.
///
/// # Source
///
/// Shoeybi et al., *Megatron-LM: training multi-billion parameter language models using model
/// parallelism*, 2019, arXiv 1909.08053, section 3; with a sharded output, Korthikanti et al., *Reducing
/// activation recomputation in large transformer models*, 2022, arXiv 2205.05198, section 4.2.
///
/// # Example
///
/// ```
/// use reshard::nn::RowParallelLinear;
/// use reshard::{Mesh, World};
/// let mesh = Mesh::new([("tp", 2)])?;
/// let outputs = World::run(2, |world| {
///     let on = world.on(&mesh);
///     let column = vec![world.rank() as f32 + 1.0];
///     let bias = on.from_local("R", [1], vec![100.0f32])?;
///     let layer = RowParallelLinear::new("tp", on.from_local("S(1)", [1, 2], column)?)?.with_bias(bias)?;
///     let x = on.from_local("S(1)", [1, 2], vec![10.0f32])?;
///     Ok(layer.forward(&x)?.to_local_vec::<f32>()?)
/// })?;
/// assert_eq!(outputs, [[130.0], [130.0]]);
/// # Ok::<(), reshard::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RowParallelLinear {
    axis: String,
    weight: DistTensor,
    bias: Option<DistTensor>,
    output: Output,
    chunks: Chunks,
}

impl RowParallelLinear {
    /// The layer of a weight `[out, in]` that is sharded along `axis` on dim 1, without bias and with a
    /// replicated output.
    ///
    /// # Errors
    ///
    /// [`LayerError`] if the weight is no matrix or otherwise placed along `axis`.
    pub fn new(axis: impl Into<String>, weight: DistTensor) -> Result<Self, LayerError> {
        let axis = axis.into();
        WEIGHT.check(&weight, &axis)?;
        Ok(Self { axis, weight, bias: None, output: Output::default(), chunks: Chunks::of(1) })
    }

    /// The layer of a full weight `[out, in]`, of which every rank takes its columns.
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

    /// The layer with a bias `[out]` that is replicated along the axis.
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

    /// The layer with a full bias `[out]`, which every rank takes.
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

    /// The layer with another output.
    #[must_use]
    pub fn with_output(self, output: Output) -> Self {
        Self { output, ..self }
    }

    /// The layer with terms that are on their way, chunk by chunk of rows, while the next ones are
    /// computed; without it the output is one chunk. The output is the same bit for bit.
    #[must_use]
    pub fn with_chunks(self, chunks: Chunks) -> Self {
        Self { chunks, ..self }
    }

    /// The output [.., out] for an input [.., in].
    ///
    /// # Communication
    ///
    /// Every rank of the mesh calls this. What moves is [`RowParallelLinear::plan`], with more than one
    /// chunk in parts; see [`ops::scattered_linear`].
    ///
    /// # Errors
    ///
    /// [`LayerError::Op`] if the input is not sharded along the axis as the weight is or does not fit it;
    /// it says which redistribution is missing. [`LayerError::Dist`] if the communication fails.
    pub fn forward(&self, x: &DistTensor) -> Result<DistTensor, LayerError> {
        // Errors of layouts come before the work.
        let target = self.output_layout(x.layout())?;
        let y = match self.chunks == Chunks::of(1) {
            true => ops::linear(x, &self.weight, None)?.redistribute(&target)?,
            false => ops::scattered_linear(x, &self.weight, &target, self.chunks)?,
        };
        let Some(bias) = &self.bias else { return Ok(y) };
        let layout = self.bias_layout(bias, &target)?;
        if layout == *bias.layout() {
            return Ok(ops::add(&y, bias)?);
        }
        Ok(ops::add(&y, &bias.redistribute(layout)?)?)
    }

    /// The layout of the output for an input of this layout.
    ///
    /// # Errors
    ///
    /// As [`RowParallelLinear::forward`]; [`LayerError::Layout`] if the output has no dim to be sharded.
    pub fn output_layout(&self, input: &Layout) -> Result<Layout, LayerError> {
        let target = self.target(&self.terms_layout(input)?)?;
        match &self.bias {
            Some(bias) => Ok(ops::add_layout(&target, &self.bias_layout(bias, &target)?)?),
            None => Ok(target),
        }
    }

    /// The communication of one call, for an input of this layout and shape.
    ///
    /// # Errors
    ///
    /// [`LayerError`] if the layer cannot take such an input.
    pub fn plan(&self, input: &Layout, shape: &[usize]) -> Result<Plan, LayerError> {
        let (terms, mut shape) = (self.terms_layout(input)?, shape.to_vec());
        if let Some(last) = shape.last_mut() {
            *last = self.weight.shape()[0];
        }
        let target = self.target(&terms)?;
        let transition = Transition::new(terms, target, shape, self.weight.dtype())?;
        Ok(plan(&transition, &PlanOptions::default())?)
    }

    /// The axis along which the inputs are divided.
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

    /// What becomes of the terms.
    #[must_use]
    pub fn output(&self) -> Output {
        self.output
    }

    fn own_axis(&self) -> Result<Axis, LayerError> {
        Ok(self.weight.layout().mesh().axis(&self.axis)?)
    }

    fn terms_layout(&self, input: &Layout) -> Result<Layout, LayerError> {
        Ok(ops::linear_layout(input, self.weight.layout(), None)?)
    }

    /// The layout of the output, given that of the terms.
    fn target(&self, terms: &Layout) -> Result<Layout, LayerError> {
        let axis = self.own_axis()?;
        let kept = terms.partial().iter().copied().filter(|&(partial, _)| partial != axis);
        let reduced = Layout::new(terms.mesh(), cuts_of(terms), kept)?;
        match self.output {
            Output::Partial => Ok(terms.clone()),
            Output::Replicate => Ok(reduced),
            Output::Shard(dim) => {
                let ndim = terms.ndim();
                let missing = || LayoutError::NoSuchDim { axis: self.axis.clone(), dim, ndim };
                let dim = from_start(dim, ndim).ok_or_else(missing)?;
                sharded(&reduced, dim, axis)
            }
        }
    }

    /// The layout in which the bias is added: where the output's last dim is sharded along the axis, each
    /// rank takes its part of the bias, which it has.
    fn bias_layout(&self, bias: &DistTensor, target: &Layout) -> Result<Layout, LayerError> {
        let axis = self.own_axis()?;
        let last = target.ndim().saturating_sub(1);
        if target.cuts(last).iter().any(|cut| cut.is_held() && cut.axis() == axis) {
            sharded(bias.layout(), 0, axis)
        } else {
            Ok(bias.layout().clone())
        }
    }
}

/// The layout with a dim cut once more, by an axis that has been free.
fn sharded(layout: &Layout, dim: usize, axis: Axis) -> Result<Layout, LayerError> {
    if layout.mesh().axis_len(axis) == 1 {
        return Ok(layout.clone());
    }
    let mut cuts = cuts_of(layout);
    cuts[dim].push(Cut::new(axis));
    Ok(Layout::new(layout.mesh(), cuts, layout.partial().iter().copied())?)
}
