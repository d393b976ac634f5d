//! Layouts: which elements each rank holds, against the twin; their written forms; their errors.

pub(crate) mod draw;
mod equality;
mod errors;
mod examples;
mod notation;
mod twin;

use proptest::prelude::*;
use reshard::layout::{Cut, Rule};
use reshard::{DType, Layout, Mesh, MeshError, Reduction, Region};

use crate::naive::{Law, Twin};

/// The mesh of the ranks 0, 1, … along the twin's axes.
pub(crate) fn mesh_of(twin: &Twin) -> Mesh {
    Mesh::new(twin.axes()).unwrap()
}

/// The twin's layout, by way of its text.
pub(crate) fn layout_of(twin: &Twin, mesh: &Mesh) -> Layout {
    Layout::parse(mesh, twin.shape.len(), &twin.notation()).unwrap()
}

/// The twin's layout, by way of [`Layout::new`].
fn built(twin: &Twin, mesh: &Mesh) -> Layout {
    let axes: Vec<_> = mesh.axes().collect();
    let cut = |cut: &crate::naive::TwinCut| {
        let mut built = Cut::new(axes[cut.axis]);
        built = match &cut.law {
            Law::Unit(unit) => built.unit(*unit),
            Law::Rows(rows) => built.sizes(rows.iter().cloned()),
        };
        if let Some(lens) = &cut.segments {
            built = built.segments(lens.clone());
        }
        if cut.held { built } else { built.not_held() }
    };
    let dims: Vec<Vec<Cut>> = twin.dims.iter().map(|cuts| cuts.iter().map(cut).collect()).collect();
    let reduction = |name: &str| name.parse::<Reduction>().unwrap();
    let partial = twin.partial.iter().map(|&(axis, name)| (axes[axis], reduction(name)));
    Layout::new(mesh, dims, partial).unwrap()
}

/// The row-major numbers of a region's elements.
fn flat(region: &Region, shape: &[usize]) -> Vec<usize> {
    let mut flat = vec![0];
    for (dim, len) in region.dims().iter().zip(shape) {
        let longer = |&outer: &usize| dim.indices().map(move |i| outer * len + i);
        flat = flat.iter().flat_map(longer).collect();
    }
    flat
}

proptest! {
    /// Every rank of any mesh holds what the twin's coordinate holds.
    #[test]
    fn ranks_hold_what_the_twin_says((twin, ranks) in draw::twins_with_ranks()) {
        let mesh = Mesh::with_ranks(twin.axes(), ranks.clone()).unwrap();
        let layout = layout_of(&twin, &mesh);
        prop_assert_eq!(layout.check(&twin.shape, DType::F32), Ok(()));
        for (coordinate, &rank) in twin.coordinates().iter().zip(&ranks) {
            let region = layout.region(&twin.shape, rank).unwrap();
            prop_assert_eq!(flat(&region, &twin.shape), twin.indices(coordinate), "{:?}", coordinate);
            prop_assert_eq!(region.len(), twin.indices(coordinate).len());
            prop_assert_eq!(region.local_shape(), twin.local_shape(coordinate));
            prop_assert_eq!(region.offset(&twin.shape), twin.offset(coordinate));
        }
        let outside = (0..).find(|rank| !ranks.contains(rank)).unwrap();
        let refused = MeshError::NotAMember { rank: outside, ranks }.into();
        prop_assert_eq!(layout.region(&twin.shape, outside), Err(refused));
    }

    /// Text and [`Layout::new`] make one layout, cut by cut.
    #[test]
    fn text_says_what_cuts_say(twin in draw::twins()) {
        let mesh = mesh_of(&twin);
        let (parsed, built) = (layout_of(&twin, &mesh), built(&twin, &mesh));
        prop_assert_eq!(&parsed, &built);
        prop_assert_eq!(parsed.stable_hash(), built.stable_hash());
        for dim in 0..twin.shape.len() {
            prop_assert_eq!(parsed.cuts(dim), built.cuts(dim));
        }
        prop_assert_eq!(parsed.partial(), built.partial());
    }
}

#[test]
fn a_replicated_layout_is_whole_everywhere() {
    let mesh = Mesh::new([("a", 2), ("b", 3)]).unwrap();
    let layout = Layout::replicated(&mesh, 2);
    assert_eq!(layout.to_string(), "[-, -]");
    assert!((0..6).all(|rank| layout.region(&[2, 5], rank).unwrap() == Region::all(&[2, 5])));
}

#[test]
fn a_reduced_layout_keeps_its_cuts() {
    let mesh = Mesh::new([("a", 2), ("b", 3)]).unwrap();
    let layout = Layout::parse(&mesh, 1, "[a] + P(max: b)").unwrap();
    assert!(layout.is_partial());
    assert_eq!(layout.reduced(), Layout::parse(&mesh, 1, "[a]").unwrap());
    assert!(!layout.reduced().is_partial());
}

/// The longest dims that a word can count are cut as short ones are.
#[test]
fn long_dims_do_not_overflow() {
    let mesh = Mesh::new([("a", 3), ("b", 2)]).unwrap();
    let len = usize::MAX;
    for text in ["[a.b]", "[b.a]", "[(a).b]"] {
        let layout = Layout::parse(&mesh, 1, text).unwrap();
        let total: usize = match text {
            "[(a).b]" => [0, 1].map(|rank| layout.region(&[len], rank).unwrap().len()).iter().sum(),
            _ => (0..6).map(|rank| layout.region(&[len], rank).unwrap().len()).sum(),
        };
        assert_eq!(total, len, "{text}");
    }
    let unit = Layout::parse(&mesh, 1, &format!("[a(unit={len})]")).unwrap();
    let lens: Vec<usize> = [0, 2, 4].map(|rank| unit.region(&[len], rank).unwrap().len()).to_vec();
    assert_eq!(lens, [len, 0, 0]);
    assert_eq!(unit.cuts(0)[0].rule(), &Rule::Unit(len));
}
