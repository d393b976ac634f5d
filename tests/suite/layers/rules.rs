//! Every pair of placements on a mesh of two axes: which go together, and what comes out.

use reshard::ops::{self, OpError};
use reshard::{Layout, Mesh};

/// What one axis does to the operands of an operation, and so to the result.
type Row = (&'static str, &'static str, &'static str);

const PLACEMENTS: [&str; 6] = ["R", "S(0)", "S(1)", "P(sum)", "P(avg)", "P(max)"];

const MATMUL: [Row; 8] = [
    ("R", "R", "R"),
    ("S(0)", "R", "S(0)"),
    ("R", "S(1)", "S(1)"),
    ("S(1)", "S(0)", "P(sum)"),
    ("P(sum)", "R", "P(sum)"),
    ("R", "P(sum)", "P(sum)"),
    ("P(avg)", "R", "P(avg)"),
    ("R", "P(avg)", "P(avg)"),
];

const LINEAR: [Row; 8] = [
    ("R", "R", "R"),
    ("S(0)", "R", "S(0)"),
    ("R", "S(0)", "S(1)"),
    ("S(1)", "S(1)", "P(sum)"),
    ("P(sum)", "R", "P(sum)"),
    ("R", "P(sum)", "P(sum)"),
    ("P(avg)", "R", "P(avg)"),
    ("R", "P(avg)", "P(avg)"),
];

const ADD: [Row; 9] = [
    ("R", "R", "R"),
    ("S(0)", "S(0)", "S(0)"),
    ("S(1)", "S(1)", "S(1)"),
    ("P(sum)", "P(sum)", "P(sum)"),
    ("P(avg)", "P(avg)", "P(avg)"),
    ("P(sum)", "R", "P(sum)"),
    ("R", "P(sum)", "P(sum)"),
    ("P(avg)", "R", "P(avg)"),
    ("R", "P(avg)", "P(avg)"),
];

const MUL: [Row; 7] = [
    ("R", "R", "R"),
    ("S(0)", "S(0)", "S(0)"),
    ("S(1)", "S(1)", "S(1)"),
    ("P(sum)", "R", "P(sum)"),
    ("R", "P(sum)", "P(sum)"),
    ("P(avg)", "R", "P(avg)"),
    ("R", "P(avg)", "P(avg)"),
];

/// Compares an operation on two matrices with its table, for every pair of placements along each of two
/// axes; pairs that are no layout by themselves are left out.
fn holds(table: &[Row], rule: impl Fn(&Layout, &Layout) -> Result<Layout, OpError>) {
    let mesh = Mesh::new([("a", 2), ("b", 3)]).unwrap();
    let pairs = || PLACEMENTS.iter().flat_map(|left| PLACEMENTS.map(|right| (*left, right)));
    let (mut fitting, mut refused) = (0, 0);
    for (a_left, a_right) in pairs() {
        for (b_left, b_right) in pairs() {
            let list = |a: &str, b: &str| Layout::parse(&mesh, 2, &format!("{a}, {b}"));
            let (Ok(left), Ok(right)) = (list(a_left, b_left), list(a_right, b_right)) else {
                continue;
            };
            let row = |left, right| table.iter().find(|row| (row.0, row.1) == (left, right));
            let found = rule(&left, &right);
            match (row(a_left, a_right), row(b_left, b_right)) {
                (Some(a), Some(b)) => {
                    assert_eq!(found.unwrap(), list(a.2, b.2).unwrap(), "{left}, {right}");
                    fitting += 1;
                }
                (None, _) | (_, None) => {
                    assert!(found.is_err(), "{left}, {right} -> {found:?}");
                    refused += 1;
                }
            }
        }
    }
    assert_eq!(fitting, table.len() * table.len());
    assert!(refused > 900, "{refused} pairs were refused");
}

#[test]
fn matmul_goes_by_its_table() {
    holds(&MATMUL, ops::matmul_layout);
}

#[test]
fn linear_goes_by_its_table() {
    holds(&LINEAR, |x, w| ops::linear_layout(x, w, None));
}

#[test]
fn add_goes_by_its_table() {
    holds(&ADD, ops::add_layout);
}

#[test]
fn mul_goes_by_its_table() {
    holds(&MUL, ops::mul_layout);
}

#[test]
fn matmul_is_the_einsum_of_its_letters() {
    holds(&MATMUL, |x, w| ops::einsum_layout("mk, kn -> mn", x, w));
    // The result may have its letters in another order.
    let transposed = MATMUL.map(|(x, w, y)| match y {
        "S(0)" => (x, w, "S(1)"),
        "S(1)" => (x, w, "S(0)"),
        other => (x, w, other),
    });
    holds(&transposed, |x, w| ops::einsum_layout("mk,kn->nm", x, w));
}

/// Order of axes, laws, holes and segments pass through, and must agree where dims meet.
#[test]
fn cuts_pass_through_whole() {
    let mesh = Mesh::new([("a", 2), ("b", 2), ("c", 1)]).unwrap();
    let layout = |ndim, text: &str| Layout::parse(&mesh, ndim, text).unwrap();
    let table = [
        ("[b.a, -]", "[-, -]", Some("[b.a, -]")),
        ("[-, (a).b]", "[(a).b, -]", Some("[-, -] + P(sum: b)")),
        ("[-, b.a]", "[b.a, -]", Some("[-, -] + P(sum: a, b)")),
        ("[-, b.a]", "[a.b, -]", None),
        ("[-, (a).b]", "[b, -]", None),
        ("[-, a(unit=2)]", "[a(unit=2), b(seg=4,4)]", Some("[-, b(seg=4,4)] + P(sum: a)")),
        ("[-, a(unit=2)]", "[a, -]", None),
        ("[-, a(sizes=3,5)]", "[a(sizes=3,5), -]", Some("[-, -] + P(sum: a)")),
        ("[-, a(sizes=3,5)]", "[a(sizes=5,3), -]", None),
        ("[c, -]", "[c, c.a]", Some("[-, a]")),
        ("[(a).b, -] + P(sum: a)", "[-, -]", Some("[(a).b, -] + P(sum: a)")),
    ];
    for (x, w, expected) in table {
        let Ok(x) = Layout::parse(&mesh, 2, x) else { panic!("{x}") };
        let Ok(w) = Layout::parse(&mesh, 2, w) else { continue };
        let found = ops::matmul_layout(&x, &w);
        assert_eq!(found.ok(), expected.map(|text| layout(2, text)), "{x}, {w}");
    }
    assert_eq!(
        ops::matmul_layout(&layout(4, "[a, -, b, -]"), &layout(2, "c=S(1)")).unwrap(),
        layout(4, "[a, -, b, -]")
    );
}

/// A bias of the last dim only: what cuts other dims replicates it.
#[test]
fn a_bias_is_cut_as_the_last_dim() {
    let mesh = Mesh::new([("dp", 2), ("tp", 2)]).unwrap();
    let table = [
        ("S(0), S(2)", "R, S(0)", Some("S(0), S(2)")),
        ("S(1), P(sum)", "R, R", Some("S(1), P(sum)")),
        ("P(avg), R", "P(avg), R", Some("P(avg), R")),
        ("S(0), S(2)", "R, R", None),
        ("S(0), R", "S(0), R", None),
    ];
    for (a, b, expected) in table {
        let [x, bias] =
            [(3, a), (1, b)].map(|(ndim, text)| Layout::parse(&mesh, ndim, text).unwrap());
        let expected = expected.map(|text| Layout::parse(&mesh, 3, text).unwrap());
        assert_eq!(ops::add_layout(&x, &bias).ok(), expected, "{a} + {b}");
    }
}
