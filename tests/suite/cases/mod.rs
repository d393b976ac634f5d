//! Faults that users of systems of this kind met, each with the right answer: one test for every case
//! of `data/cases.toml`.

mod calls;
mod moves;
mod plans;
mod values;

use ndarray::ArrayD;
use reshard::{Error, Mesh, World};

/// Ties the cases of the file to their tests.
macro_rules! cases {
    ($($id:literal => $test:path),* $(,)?) => {
        const CASES: &[(&str, fn())] = &[$(($id, $test)),*];
    };
}

cases! {
    "nested-gather-uneven" => moves::nested_gather_uneven,
    "permuted-ranks" => moves::permuted_ranks,
    "global-shape-from-uneven-locals" => calls::global_shape_from_uneven_locals,
    "empty-blocks-cut-twice" => moves::empty_blocks_cut_twice,
    "contiguous-after-gather" => moves::contiguous_after_gather,
    "axes-in-other-order" => moves::axes_in_other_order,
    "uneven-load" => calls::uneven_load,
    "partial-value-needs-reduction" => values::partial_value_needs_reduction,
    "constant-on-partial" => values::constant_on_partial,
    "replicas-bitwise-equal" => values::replicas_bitwise_equal,
    "fuse-over-axes" => plans::fuse_over_axes,
    "swap-is-a-permutation" => plans::swap_is_a_permutation,
    "aligned-outer-shard-stays" => plans::aligned_outer_shard_stays,
    "triangle" => plans::triangle,
    "negative-dim" => plans::negative_dim,
    "relayout-between-meshes" => moves::relayout_between_meshes,
    "unit-axes" => plans::unit_axes,
    "shard-transpose-one-message" => plans::shard_transpose_one_message,
    "avg-in-half-precision" => values::avg_in_half_precision,
    "integers-stay-integers" => values::integers_stay_integers,
    "no-writes-into-the-callers-data" => calls::no_writes_into_the_callers_data,
    "rank-outside-the-mesh" => calls::rank_outside_the_mesh,
    "ragged" => moves::ragged,
    "merged-qkv" => moves::merged_qkv,
    "heads-stay-whole" => moves::heads_stay_whole,
    "early-return" => calls::early_return,
    "mismatched-calls" => calls::mismatched_calls,
}

#[test]
fn every_case_of_the_file_has_a_right_answer() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cases.toml");
    let text = std::fs::read_to_string(path).expect("the cases are in the repository");
    let file: toml::Table = text.parse().expect("they are TOML");
    let ids = file["case"].as_array().expect("cases").iter().map(|case| case["id"].as_str());
    let ids: Vec<&str> = ids.map(|id| id.expect("a case has an id")).collect();
    assert_eq!(ids, CASES.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    for (id, test) in CASES {
        assert!(std::panic::catch_unwind(test).is_ok(), "case {id}");
    }
}

/// What every rank returned.
fn run<T: Send>(n: usize, closure: impl Fn(&World) -> Result<T, Error> + Sync) -> Vec<T> {
    World::run(n, closure).unwrap_or_else(|error| panic!("{error}"))
}

fn mesh<const N: usize>(axes: [(&'static str, usize); N]) -> Mesh {
    Mesh::new(axes).expect("a mesh of the cases")
}

/// The tensor whose elements are their own row-major numbers.
fn numbered(shape: &[usize]) -> ArrayD<f32> {
    let len = shape.iter().product::<usize>();
    let elements = (0..len).map(|number| number as f32).collect();
    ArrayD::from_shape_vec(shape, elements).expect("as many elements as the shape has")
}

/// Carries the numbered tensor from one layout to another and back to `R`: the locals in between,
/// after it was compared on every rank.
fn carried(mesh: &Mesh, shape: &[usize], from: &str, to: &str) -> Vec<Vec<f32>> {
    let world_len = mesh.ranks().iter().max().expect("a mesh has a rank") + 1;
    run(world_len, |world| {
        let on = world.on(mesh);
        let tensor = on.distribute(reshard::Source::Everywhere, || numbered(shape), from)?;
        let moved = tensor.redistribute(to)?;
        if !moved.is_here() {
            return Ok(Vec::new());
        }
        assert_eq!(moved.full::<f32>()?, numbered(shape), "{from} -> {to} of {shape:?}");
        moved.to_local_vec()
    })
}
