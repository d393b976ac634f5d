//! Every error text of operations and layers, at least once.

use reshard::nn::{ColumnParallelLinear, Output, RowParallelLinear};
use reshard::ops::{self, Elementwise, OpError};
use reshard::{DType, Layout, Mesh, World};

fn mesh() -> Mesh {
    Mesh::new([("dp", 2), ("tp", 2)]).unwrap()
}

fn layouts(left: &str, right: &str) -> [Layout; 2] {
    [left, right].map(|text| Layout::parse(&mesh(), 2, text).unwrap())
}

fn matmul(left: &str, right: &str) -> String {
    let [left, right] = layouts(left, right);
    ops::matmul_layout(&left, &right).unwrap_err().to_string()
}

fn add(left: &str, right: &str) -> String {
    let [left, right] = layouts(left, right);
    ops::add_layout(&left, &right).unwrap_err().to_string()
}

#[test]
fn the_missing_redistribution_is_named() {
    let table = [
        (
            matmul("tp=S(1)", "R, R"),
            "matmul: axis `tp` cuts dim 1 of the left operand, contracted, but replicates dim 0 of the right operand; redistribute the left operand to `R` along `tp`, or the right operand to `S(0)`",
        ),
        (
            matmul("R, R", "tp=S(0; unit=2)"),
            "matmul: axis `tp` replicates dim 1 of the left operand, but cuts dim 0 of the right operand, contracted; redistribute the left operand to `S(1; unit=2)` along `tp`, or the right operand to `R`",
        ),
        (
            matmul("tp=S(0)", "tp=S(1)"),
            "matmul: axis `tp` cuts dim 0 of the left operand, but cuts dim 1 of the right operand; redistribute the left operand to `R` along `tp`, or the right operand to `R`",
        ),
        (
            matmul("tp=P(sum)", "tp=S(0)"),
            "matmul: axis `tp` is partial by sum in the left operand, but cuts dim 0 of the right operand, contracted; redistribute the left operand to `S(1)` along `tp`, or the right operand to `R`",
        ),
        (
            matmul("tp=P(sum)", "tp=P(sum)"),
            "matmul: axis `tp` is partial by sum in the left operand, but is partial by sum in the right operand; redistribute the left operand to `R` along `tp`, or the right operand to `R`",
        ),
        (
            matmul("tp=P(max)", "R, R"),
            "matmul: the left operand is partial by max along `tp`, and matmul of terms does not give terms of the result; redistribute the left operand to `R` along `tp`, or to `S(dim)` for one of its dims",
        ),
        (
            matmul("[-, dp.tp]", "[tp.dp, -]"),
            "matmul: dim 1 of the left operand is cut by `dp.tp`, but dim 0 of the right operand, which must be cut alike, by `tp.dp`; redistribute one of them to the cuts of the other",
        ),
        (
            add("tp=P(sum)", "tp=P(avg)"),
            "add: axis `tp` is partial by sum in the left operand, but is partial by avg in the right operand; redistribute the left operand to `P(avg)` along `tp`, or the right operand to `P(sum)`",
        ),
        (
            add("dp=S(0)", "R, R"),
            "add: axis `dp` cuts dim 0 of the left operand, but replicates dim 0 of the right operand; redistribute the left operand to `R` along `dp`, or the right operand to `S(0)`",
        ),
        (
            add("tp=S(1)", "tp=P(sum)"),
            "add: axis `tp` cuts dim 1 of the left operand, but is partial by sum in the right operand; redistribute the left operand to `P(sum)` along `tp`, or the right operand to `S(1)`",
        ),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

/// What an error proposes is not only well meant: it works.
#[test]
fn each_remedy_makes_the_operands_fit() {
    let placements = ["R", "S(0)", "S(1)", "P(sum)", "P(avg)"];
    let mesh = Mesh::new([("tp", 2)]).unwrap();
    let parse = |text: &str| Layout::parse(&mesh, 2, text).unwrap();
    let mut tried = 0;
    for (left, right) in placements.iter().flat_map(|a| placements.map(|b| (*a, b))) {
        for rule in [ops::matmul_layout, ops::add_layout, ops::mul_layout] {
            let Err(error) = rule(&parse(left), &parse(right)) else { continue };
            let OpError::Misplaced { remedies, .. } = error else { panic!("{error}") };
            assert_eq!(remedies.len(), 2);
            for remedy in remedies {
                let text = remedy.placement.to_string();
                let (left, right) = match remedy.operand {
                    "left operand" => (text.as_str(), right),
                    _ => (left, text.as_str()),
                };
                let fits = rule(&parse(left), &parse(right));
                assert!(fits.is_ok(), "{left}, {right}: {fits:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 60, "{tried} remedies were tried");
}

#[test]
fn operands_that_no_layout_makes_fit() {
    let [x, w] = layouts("R, R", "R, R");
    let other = Layout::replicated(&Mesh::new([("tp", 4)]).unwrap(), 2);
    let vector = Layout::replicated(&mesh(), 1);
    let text = |result: Result<Layout, OpError>| result.unwrap_err().to_string();
    let einsum = |letters| text(ops::einsum_layout(letters, &x, &w));
    let table = [
        (
            text(ops::matmul_layout(&x, &other)),
            "matmul: the left operand is on mesh dp=2, tp=2 and the right operand on tp=4; redistribute one of them to the other's mesh",
        ),
        (
            text(ops::linear_layout(&x, &vector, None)),
            "linear: the weight must have 2 dims, but has 1",
        ),
        (
            text(ops::matmul_layout(&Layout::replicated(&mesh(), 0), &w)),
            "matmul: the left operand must have 1 or more dims, but has 0",
        ),
        (
            text(ops::add_layout(&vector, &x)),
            "add: the right operand must have 1 or fewer dims, but has 2",
        ),
        (
            text(ops::linear_layout(&x, &w, Some(&layouts("tp=S(0)", "R, R")[0]))),
            "linear: axis `tp` replicates dim 0 of the product, but cuts dim 0 of the bias; redistribute the product to `S(0)` along `tp`, or the bias to `R`",
        ),
        (
            einsum("mk kn -> mn"),
            "einsum: `mk kn -> mn` has no `,`; write the letters of both operands and the result, such as `mk,kn->mn`",
        ),
        (
            einsum("mk,kn"),
            "einsum: `mk,kn` has no `->`; write the letters of both operands and the result, such as `mk,kn->mn`",
        ),
        (
            einsum("mm,mn->n"),
            "einsum: `mm,mn->n` has `m` twice in `mm`; write the letters of both operands and the result, such as `mk,kn->mn`",
        ),
        (
            einsum("m1,mn->n"),
            "einsum: `m1,mn->n` has `1` where a letter should be; write the letters of both operands and the result, such as `mk,kn->mn`",
        ),
        (
            einsum("mk,kn->mp"),
            "einsum: `mk,kn->mp` has `p` in the result only; write the letters of both operands and the result, such as `mk,kn->mn`",
        ),
        (einsum("bmk,kn->bmn"), "einsum: the left operand must have 3 dims, but has 2"),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

#[test]
fn functions_of_terms_are_refused() {
    let [sum, max] = layouts("tp=P(sum)", "tp=P(max)");
    let linear = ops::elementwise_layout("scale", &max, Elementwise::Linear).unwrap_err();
    assert_eq!(
        linear.to_string(),
        "scale: the operand is partial by max along `tp`, and scale of terms does not give terms of the result; redistribute the operand to `R` along `tp`, or to `S(dim)` for one of its dims"
    );
    assert!(ops::elementwise_layout("gelu", &sum, Elementwise::Nonlinear).is_err());
    assert_eq!(ops::elementwise_layout("scale", &sum, Elementwise::Linear).unwrap(), sum);
    assert_eq!(
        ops::cast_layout(&sum, DType::F32, DType::I32).unwrap_err().to_string(),
        "cast: the operand is partial by sum along `tp`, and terms cast from f32 to i32 do not reduce to the cast value; redistribute the operand to `R` along `tp`, or to `S(dim)` for one of its dims, and cast then"
    );
    // A sum of i32 wraps where one of i64 would not.
    assert!(ops::cast_layout(&sum, DType::I32, DType::I64).is_err());
    assert!(ops::cast_layout(&sum, DType::F32, DType::Bf16).is_ok());
}

/// Errors that lengths and element types make, equal on every rank; no rank waits for another.
#[test]
fn tensors_that_do_not_fit() {
    let mesh = mesh();
    let ran = World::run(4, |world| {
        let on = world.on(&mesh);
        let float = on.zeros::<f32>([2, 3], "R, R")?;
        let long = on.zeros::<f32>([4, 3], "R, R")?;
        let truth = on.zeros::<bool>([3, 3], "R, R")?;
        let whole = on.zeros::<i32>([3, 3], "R, R")?;
        let text = |result: Result<_, OpError>| result.unwrap_err().to_string();
        Ok([
            text(ops::matmul(&float, &long)),
            text(ops::matmul(&float, &whole)),
            text(ops::matmul(&truth, &truth)),
            text(ops::gelu(&whole)),
            text(ops::linear(&float, &long, Some(&on.zeros::<f32>([3], "R, R")?))),
            text(ops::elementwise("half", Elementwise::Linear, &whole, |x: f32| x / 2.0)),
        ])
    });
    for found in ran.unwrap() {
        assert_eq!(
            found,
            [
                "matmul: dim 1 of the left operand has length 3, but dim 0 of the right operand has length 4; they must agree",
                "matmul: the left operand is f32 and the right operand i32; cast one of them to the other's element type",
                "matmul: not defined on bool; cast the tensor to a number type",
                "gelu: not defined on i32; cast the tensor to a float type",
                "linear: dim 1 of the product has length 4, but dim 0 of the bias has length 3; they must agree",
                "a tensor of i32 was asked for as f32",
            ]
        );
    }
}

#[test]
fn layers_check_their_parameters() {
    let mesh = mesh();
    let ran = World::run(4, |world| {
        let on = world.on(&mesh);
        let whole = on.zeros::<f32>([4, 3], "R, R")?;
        let rows = on.zeros::<f32>([4, 3], "tp=S(0)")?;
        let columns = on.zeros::<f32>([4, 3], "tp=S(1)")?;
        let column = || ColumnParallelLinear::new("tp", rows.clone());
        let row = || RowParallelLinear::new("tp", columns.clone());
        let x = on.zeros::<f32>([2, 3], "dp=S(0)")?;
        Ok([
            ColumnParallelLinear::new("tp", whole.clone()).unwrap_err().to_string(),
            RowParallelLinear::new("tp", rows.clone()).unwrap_err().to_string(),
            ColumnParallelLinear::new("pp", rows.clone()).unwrap_err().to_string(),
            column()?.with_bias(whole.clone()).unwrap_err().to_string(),
            column()?.with_bias(on.zeros::<f32>([3], "tp=S(0)")?).unwrap_err().to_string(),
            row()?.with_bias(on.zeros::<f32>([4], "tp=S(0)")?).unwrap_err().to_string(),
            row()?.with_bias(on.zeros::<f32>([3], "R, R")?).unwrap_err().to_string(),
            row()?.forward(&x).unwrap_err().to_string(),
            row()?
                .with_output(Output::Shard(2))
                .output_layout(on.zeros::<f32>([2, 3], "tp=S(1)")?.layout())
                .unwrap_err()
                .to_string(),
        ])
    });
    for found in ran.unwrap() {
        assert_eq!(
            found,
            [
                "column-parallel linear: the weight must be placed `S(0)` along `tp`, but its layout is [-, -]; redistribute it",
                "row-parallel linear: the weight must be placed `S(1)` along `tp`, but its layout is [tp, -]; redistribute it",
                "the mesh has no axis `pp`; its axes are `dp`, `tp`",
                "column-parallel linear: the bias has shape [4, 3], but must have ndim 1",
                "column-parallel linear: the bias has length 3, but the weight makes 4 outputs",
                "row-parallel linear: the bias must be placed `R` along `tp`, but its layout is [tp]; redistribute it",
                "row-parallel linear: the bias has length 3, but the weight makes 4 outputs",
                "linear: axis `tp` replicates dim 1 of the input, but cuts dim 1 of the weight, contracted; redistribute the input to `S(1)` along `tp`, or the weight to `R`",
                "axis `tp` shards dim 2 of a tensor of 2 dims",
            ]
        );
    }
}
