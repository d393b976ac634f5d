//! Column- and row-parallel layers, against the same layers on one rank.

use ndarray::Array2;
use proptest::prelude::*;
use reshard::nn::{ColumnParallelLinear, Input, LayerError, Output, RowParallelLinear};
use reshard::ops::Chunks;
use reshard::plan::StepKind;
use reshard::{DType, DistTensor, Layout, Mesh, Source, World};

use super::run::{product, tensor, wide};
use crate::naive::{Place, Twin};

/// Two layers: [batch, sequence, width] to [.., hidden] and back to [.., out].
#[derive(Clone, Debug)]
struct Drawn {
    dp: usize,
    tp: usize,
    x: [usize; 3],
    hidden: usize,
    out: usize,
    input: Input,
    output: Output,
    chunks: Chunks,
}

prop_compose! {
    fn drawn()(tp in 1usize..=5, x in [1usize..=3, 1usize..=7, 1usize..=5], hidden in 1usize..=9,
               out in 1usize..=6, input in prop_oneof![
                   Just(Input::Replicate), (-3isize..3).prop_map(Input::Shard)
               ], chunks in prop_oneof![
                   Just(Chunks::default()), (1usize..4).prop_map(Chunks::of)
               ], output in prop_oneof![
                   Just(Output::Replicate), Just(Output::Partial), (-3isize..3).prop_map(Output::Shard)
               ])
        (dp in 1..=(8 / tp).min(2), tp in Just(tp), x in Just(x), hidden in Just(hidden),
         out in Just(out), input in Just(input), output in Just(output), chunks in Just(chunks))
        -> Drawn {
        Drawn { dp, tp, x, hidden, out, input, output, chunks }
    }
}

const AXES: [&str; 2] = ["a", "b"];

impl Drawn {
    /// Batches are cut along `a`, layers along `b`.
    fn twin(&self, shape: &[usize], places: [Place; 2]) -> Twin {
        Twin::listed(&[self.dp, self.tp], shape, &places)
    }

    fn whole(&self, shape: &[usize], seed: u64) -> Vec<f64> {
        self.twin(shape, [Place::R, Place::R]).value(seed)
    }

    fn matrix(&self, shape: [usize; 2], seed: u64) -> Array2<f64> {
        Array2::from_shape_vec(shape, self.whole(&shape, seed)).unwrap()
    }

    fn in_twin(&self) -> Twin {
        let along_tp = match self.input {
            Input::Replicate => Place::R,
            Input::Shard(dim) => Place::S(dim.rem_euclid(3) as usize),
        };
        self.twin(&self.x, [Place::S(0), along_tp])
    }

    fn out_twin(&self) -> Twin {
        let along_tp = match self.output {
            Output::Replicate => Place::R,
            Output::Partial => Place::P("sum"),
            Output::Shard(dim) => Place::S(dim.rem_euclid(3) as usize),
        };
        self.twin(&[self.x[0], self.x[1], self.out], [Place::S(0), along_tp])
    }

    /// The output by plain loops; weights from seeds 1 and 2, biases from 3 and 4.
    fn expected(&self, x: &[f64]) -> Vec<f64> {
        let with_bias = |product: Vec<f64>, bias: Vec<f64>| -> Vec<f64> {
            product.iter().enumerate().map(|(at, y)| y + bias[at % bias.len()]).collect()
        };
        let up = self.matrix([self.hidden, self.x[2]], 1).t().to_owned();
        let h = with_bias(product(x, &up), self.whole(&[self.hidden], 3));
        let down = self.matrix([self.out, self.hidden], 2).t().to_owned();
        with_bias(product(&h, &down), self.whole(&[self.out], 4))
    }

    fn forward(
        &self,
        world: &World,
        mesh: &Mesh,
        x: &DistTensor,
    ) -> Result<DistTensor, LayerError> {
        let on = world.on(mesh);
        let narrow = |array: Array2<f64>| array.mapv(|element| element as f32);
        let up = || narrow(self.matrix([self.hidden, self.x[2]], 1));
        let down = || narrow(self.matrix([self.out, self.hidden], 2));
        let bias = |len: usize, seed| {
            self.whole(&[len], seed).iter().map(|&e| e as f32).collect::<Vec<_>>()
        };
        let from = Source::Rank(world.len() - 1);
        let up = ColumnParallelLinear::distribute(&on, AXES[1], Source::Everywhere, up)?
            .distribute_bias(&on, from, || bias(self.hidden, 3))?
            .with_input(self.input)
            .with_chunks(self.chunks);
        let down = RowParallelLinear::distribute(&on, AXES[1], from, down)?
            .distribute_bias(&on, Source::Everywhere, || bias(self.out, 4))?
            .with_output(self.output)
            .with_chunks(self.chunks);
        let plan = up.plan(x.layout(), x.shape())?;
        let is_one = mesh.axis_len(mesh.axis(AXES[1])?) == 1;
        assert_eq!(plan.is_local(), is_one || self.input == Input::Replicate);
        let h = up.forward(x)?;
        assert_eq!(*h.layout(), up.output_layout(x.layout())?);
        assert_eq!(*h.layout(), Layout::parse(mesh, 3, "S(0), S(2)")?);
        let y = down.forward(&h)?;
        assert_eq!(*y.layout(), down.output_layout(h.layout())?);
        let plan = down.plan(h.layout(), h.shape())?;
        assert_eq!(plan.transition().target().reduced(), y.layout().reduced());
        assert_eq!(plan.is_local(), is_one || self.output == Output::Partial);
        Ok(y)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn two_layers_are_the_layers_on_one_rank(drawn in drawn(), seed in 10u64..1000) {
        let (input, out) = (drawn.in_twin(), drawn.out_twin());
        let mesh = Mesh::new(input.axes()).unwrap();
        let expected = drawn.expected(&input.value(seed));
        let ran = World::run(mesh.len(), |world| {
            let x = tensor::<f32>(world, &mesh, &input, seed)?;
            let y = drawn.forward(world, &mesh, &x)?;
            assert_eq!(*y.layout(), Layout::parse(&mesh, 3, &out.notation())?);
            Ok((wide(&y.to_local_vec::<f32>()?), wide(&y.full::<f32>()?.into_raw_vec_and_offset().0)))
        });
        let (locals, full): (Vec<_>, Vec<_>) = ran.unwrap().into_iter().unzip();
        prop_assert_eq!(out.assemble(&locals), expected.clone());
        prop_assert!(full.iter().all(|full| *full == expected));
    }
}

/// Sequence parallel: the layer gathers its input, and says so; a dim that is not there is an error.
#[test]
fn a_sharded_input_is_gathered() {
    let mesh = Mesh::new([("tp", 4)]).unwrap();
    let kinds = World::run(4, |world| {
        let on = world.on(&mesh);
        let layer = ColumnParallelLinear::new("tp", on.zeros::<f32>([8, 16], "S(0)")?)?;
        let x = on.zeros::<f32>([4, 16], "S(0)")?;
        assert!(layer.forward(&x).is_err(), "nothing is gathered without being asked for");
        let missing = layer.clone().with_input(Input::Shard(2)).forward(&x).unwrap_err();
        assert_eq!(missing.to_string(), "axis `tp` shards dim 2 of a tensor of 2 dims");
        let layer = layer.with_input(Input::Shard(-2));
        let plan = layer.plan(x.layout(), x.shape())?;
        Ok(plan.steps().iter().map(|step| step.kind()).collect::<Vec<_>>())
    });
    assert!(kinds.unwrap().iter().all(|kinds| *kinds == [StepKind::AllGather]));
}

/// A layer author's choice of output is the choice of one collective.
#[test]
fn plans_are_the_collectives_that_one_expects() {
    let mesh = Mesh::new([("tp", 4)]).unwrap();
    let kinds = World::run(4, |world| {
        let on = world.on(&mesh);
        let weight = on.zeros::<f32>([8, 16], "S(1)")?;
        let x = on.zeros::<f32>([4, 16], "S(1)")?;
        let kinds = |output| -> Result<Vec<StepKind>, LayerError> {
            let layer = RowParallelLinear::new("tp", weight.clone())?.with_output(output);
            let plan = layer.plan(x.layout(), x.shape())?;
            assert_eq!(
                (plan.transition().shape(), plan.transition().dtype()),
                (&[4, 8][..], DType::F32)
            );
            Ok(plan.steps().iter().map(|step| step.kind()).collect())
        };
        Ok([kinds(Output::Replicate)?, kinds(Output::Shard(0))?, kinds(Output::Partial)?])
    });
    let expected = [vec![StepKind::AllReduce], vec![StepKind::ReduceScatter], vec![]];
    assert!(kinds.unwrap().iter().all(|kinds| *kinds == expected));
}
