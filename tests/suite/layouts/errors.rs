//! Every error of a layout, word by word.

use reshard::layout::{Cut, Placement::Shard};
use reshard::{DType, Layout, LayoutError, Mesh, Reduction};

/// Texts that are no layout of one dim, and what the reader says.
const NO_LAYOUTS: &[(&str, &str)] = &[
    ("S(0), R, R)", "expected `,` or the end, found `)`\n  S(0), R, R)\n            ^"),
    ("S(0", "expected `;` or `)`, found the end\n  S(0\n     ^"),
    ("S", "expected `(` and a dim, found the end\n  S\n   ^"),
    ("S(x)", "expected a number, found `x`\n  S(x)\n    ^"),
    (
        "R, Shard(0)",
        "expected a placement: `S(dim)`, `R` or `P(reduction)`, found `Shard`\n  R, Shard(0)\n     ^",
    ),
    ("R,", "expected a placement: `S(dim)`, `R` or `P(reduction)`, found the end\n  R,\n    ^"),
    (
        "P(summ), R",
        "`summ` is no reduction; there are sum, product, min, max and avg\n  P(summ), R\n    ^",
    ),
    ("P(3), R", "expected a reduction, found `3`\n  P(3), R\n    ^"),
    ("S(0; 4)", "expected `seg=`, `unit=` or `sizes=`, found `4`\n  S(0; 4)\n       ^"),
    ("S(0; unit 4)", "expected `=`, found `4`\n  S(0; unit 4)\n            ^"),
    ("S(0; seg=4,)", "expected a number, found `)`\n  S(0; seg=4,)\n             ^"),
    ("S(0; seg=4; seg=4)", "`seg` is given twice\n  S(0; seg=4; seg=4)\n              ^"),
    (
        "S(0; unit=4; sizes=4)",
        "`unit` or `sizes` is given already; a cut has one of them\n  S(0; unit=4; sizes=4)\n               ^",
    ),
    (
        "S(0; unit=99999999999999999999)",
        "99999999999999999999 is too large\n  S(0; unit=99999999999999999999)\n            ^",
    ),
    (
        "S(-99999999999999999999)",
        "-99999999999999999999 is out of range\n  S(-99999999999999999999)\n    ^",
    ),
    ("dp=R, dp=R", "axis `dp` has two placements\n  dp=R, dp=R\n        ^"),
    ("dp=R, S(0)", "the mesh has no axis `S`; its axes are `dp`, `tp`\n  dp=R, S(0)\n        ^"),
    ("dp=R, tp", "expected `=`, found the end\n  dp=R, tp\n          ^"),
    ("dp=R tp=R", "expected `,` or the end, found `tp`\n  dp=R tp=R\n       ^"),
    ("[dp, ]", "expected the name of an axis, found `]`\n  [dp, ]\n       ^"),
    ("[dp..tp]", "expected the name of an axis, found `.`\n  [dp..tp]\n      ^"),
    ("[dp tp]", "expected `.`, `,` or `]`, found `tp`\n  [dp tp]\n      ^"),
    ("[dp(unit=4]", "expected `;` or `)`, found `]`\n  [dp(unit=4]\n            ^"),
    ("[(dp]", "expected `)`, found `]`\n  [(dp]\n      ^"),
    ("[((dp))]", "expected the name of an axis, found `(`\n  [((dp))]\n    ^"),
    ("[dp] P(sum: tp)", "expected `+` or the end, found `P`\n  [dp] P(sum: tp)\n       ^"),
    ("[dp] + R", "expected `P(reduction: axes)`, found `R`\n  [dp] + R\n         ^"),
    ("[dp] + P", "expected `(` and a reduction, found the end\n  [dp] + P\n          ^"),
    (
        "[dp] + P(tp)",
        "`tp` is no reduction; there are sum, product, min, max and avg\n  [dp] + P(tp)\n           ^",
    ),
    (
        "[dp] + P(sum)",
        "expected `:` and the names of axes, found `)`\n  [dp] + P(sum)\n              ^",
    ),
    (
        "[dp] + P(sum: tp",
        "expected `,` or `)`, found the end\n  [dp] + P(sum: tp\n                  ^",
    ),
    ("[dp, -]", "2 dims are given for a tensor of 1\n  [dp, -]\n  ^"),
    ("[]", "0 dims are given for a tensor of 1\n  []\n  ^"),
    ("[größe]", "the mesh has no axis `größe`; its axes are `dp`, `tp`\n  [größe]\n   ^"),
    ("[dp.😀]", "expected the name of an axis, found `😀`\n  [dp.😀]\n      ^"),
    ("[dp,\n\tx]", "the mesh has no axis `x`; its axes are `dp`, `tp`\n  \tx]\n  \t^"),
];

fn mesh() -> Mesh {
    Mesh::new([("dp", 2), ("tp", 4)]).unwrap()
}

fn refused(ndim: usize, text: &str) -> String {
    Layout::parse(&mesh(), ndim, text).unwrap_err().to_string()
}

/// Why a layout of one dim does not fit a length.
fn unfit(text: &str, len: usize) -> String {
    Layout::parse(&mesh(), 1, text).unwrap().region(&[len], 0).unwrap_err().to_string()
}

#[test]
fn text_that_is_no_layout() {
    for (text, shown) in NO_LAYOUTS {
        assert_eq!(&refused(1, text), shown, "{text}");
    }
}

#[test]
fn layouts_that_cannot_be() {
    assert_eq!(
        refused(2, "S(0)"),
        "1 placements are given for a mesh of 2 axes (dp=2, tp=4); give one an axis, `R` where nothing is cut, or name the axes that do something, as in `dp=S(0)`"
    );
    assert_eq!(refused(2, "R, S(2)"), "axis `tp` shards dim 2 of a tensor of 2 dims");
    assert_eq!(refused(2, "dp=S(-3)"), "axis `dp` shards dim -3 of a tensor of 2 dims");
    assert_eq!(refused(0, "S(0), R"), "axis `dp` shards dim 0 of a tensor of 0 dims");
    let twice = "axis `dp` is used twice; an axis cuts one dim or is partial, not both";
    for text in ["[dp, dp]", "[dp.dp, -]", "[dp, -] + P(sum: dp)", "[-, -] + P(sum: dp, dp)"] {
        assert_eq!(refused(2, text), twice, "{text}");
    }
    let many = format!("[-, {}dp]", "(dp).".repeat(22));
    assert_eq!(
        refused(2, &many),
        "dim 1 is cut into more than 4194304 pieces; cut it by fewer axes"
    );
    assert_eq!(
        refused(1, "P(avg), P(max)"),
        "axes are partial by `avg` and by `max`; partial axes share one reduction, only sum and avg mix"
    );
}

#[test]
fn axes_of_another_mesh() {
    let larger = Mesh::new([("x", 2), ("y", 2), ("z", 2)]).unwrap();
    let z = larger.axis("z").unwrap();
    let shown = "the mesh has no axis `number 2`; its axes are `dp`, `tp`";
    let cuts = [Cut::new(z), Cut::new(z).not_held()];
    for cut in cuts {
        let error = Layout::new(&mesh(), [[cut]], []).unwrap_err();
        assert_eq!(error.to_string(), shown);
    }
    let no_dims: [[Cut; 0]; 0] = [];
    let error = Layout::new(&mesh(), no_dims, [(z, Reduction::Sum)]).unwrap_err();
    assert_eq!(error.to_string(), shown);
}

#[test]
fn cuts_that_do_not_fit_the_dim() {
    assert_eq!(
        unfit("[tp(seg=4,5)]", 10),
        "axis `tp` cuts dim 0 by segments [4, 5], which sum to 9, but the dim has length 10"
    );
    let max = usize::MAX;
    assert_eq!(
        unfit(&format!("[tp(seg={max},1)]"), 0),
        format!(
            "axis `tp` cuts dim 0 by segments [{max}, 1], which sum to 18446744073709551616, but the dim has length 0"
        )
    );
    assert_eq!(
        unfit("[dp.tp(unit=4)]", 16 + 6),
        "axis `tp` cuts dim 0 by units of 4, but a piece of length 11 is no multiple of 4"
    );
    assert_eq!(
        unfit("[tp(unit=0)]", 0),
        "axis `tp` cuts dim 0 by units of 0, but a piece of length 0 is no multiple of 0"
    );
    assert_eq!(
        unfit("[dp.tp(sizes=1,1,1,1)]", 8),
        "axis `tp` cuts dim 0 by 1 rows of sizes, but the dim comes to it in 2 pieces; give one row for each"
    );
    assert_eq!(
        unfit("[tp(sizes=4,4)]", 8),
        "axis `tp` cuts dim 0 by sizes [4, 4], but has 4 coordinates"
    );
    assert_eq!(
        unfit("[dp(seg=4,4; sizes=3,1/2,3)]", 8),
        "axis `dp` cuts dim 0 by sizes [2, 3], which sum to 5, but the piece has length 4"
    );
    assert_eq!(
        unfit(&format!("[dp(sizes={max},1)]"), 0),
        format!(
            "axis `dp` cuts dim 0 by sizes [{max}, 1], which sum to 18446744073709551616, but the piece has length 0"
        )
    );
}

#[test]
fn shapes_and_types_that_do_not_fit() {
    let layout = Layout::parse(&mesh(), 2, "[dp, -] + P(avg: tp)").unwrap();
    let check = |shape: &[usize], dtype| layout.check(shape, dtype).unwrap_err().to_string();
    assert_eq!(check(&[4], DType::F32), "a layout of 2 dims does not fit shape [4] of 1 dims");
    assert_eq!(check(&[4, 4], DType::I32), "axis `tp` is partial by avg, which i32 does not have");
    let half = usize::MAX / 2;
    assert_eq!(
        check(&[half, 2], DType::F64),
        format!(
            "a tensor of shape [{half}, 2] and type f64 has more bytes than a machine can address"
        )
    );
    assert_eq!(layout.check(&[4, 4], DType::Bf16), Ok(()));
    let outside = layout.region(&[4, 4], 8).unwrap_err();
    assert_eq!(outside.to_string(), "rank 8 is not in the mesh of ranks [0, 1, 2, 3, 4, 5, 6, 7]");
}

#[test]
fn errors_carry_what_went_wrong() {
    let error = Layout::from_placements(&mesh(), 3, &[Shard(-4), Shard(0)]).unwrap_err();
    assert_eq!(error, LayoutError::NoSuchDim { axis: "dp".to_owned(), dim: -4, ndim: 3 });
    let Err(LayoutError::Parse(error)) = Layout::parse(&mesh(), 1, "[ü]") else { panic!() };
    assert_eq!((error.text.as_str(), error.position), ("[ü]", 1));
}
