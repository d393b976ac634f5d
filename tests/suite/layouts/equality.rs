//! When two layouts are equal, and what may name one.

use proptest::prelude::*;
use reshard::layout::{
    CutRule,
    Placement::{self, Partial, Replicate, Shard},
};
use reshard::{IntoLayout, Layout, Mesh, Placements, Reduction};

use super::{draw, layout_of, mesh_of};

fn mesh() -> Mesh {
    Mesh::new([("one", 1), ("a", 2), ("b", 2)]).unwrap()
}

/// Whether two texts mean one layout of two dims.
fn same(left: &str, right: &str) -> bool {
    let [left, right] = [left, right].map(|text| Layout::parse(&mesh(), 2, text).unwrap());
    assert!(left != right || left.stable_hash() == right.stable_hash());
    left == right
}

#[test]
fn axes_of_length_1_do_not_count() {
    assert!(same("[one, -]", "[-, -]"));
    assert!(same("[-, -] + P(sum: one)", "[-, -]"));
    assert!(same("[a, b] + P(min: one)", "[a.one, b]"));
    assert!(same("[(one).a, -]", "[a, -]"));
    assert!(same("[-, -] + P(max: one) + P(sum: a)", "[-, -] + P(sum: a)"));
    assert!(!same("[a, -]", "[b, -]"));
    assert!(!same("[a, -]", "[-, -]"));
}

#[test]
fn segments_of_an_axis_of_length_1_pass_to_the_next() {
    assert!(same("[one(seg=4,2).a, -]", "[a(seg=4,2), -]"));
    assert!(!same("[one(seg=4,2).a, -]", "[a, -]"));
    assert!(same("[a.one(seg=4,2), -]", "[a, -]"));
    assert!(same("[one(seg=4,2).a(seg=3,3), -]", "[a(seg=3,1,2), -]"));
    // An empty segment is a piece with a row of its own.
    assert!(same("[one(seg=0,4).a(seg=4; sizes=0,0/3,1), -]", "[a(seg=0,4; sizes=0,0/3,1), -]"));
    // Once the dim is in pieces, an empty segment breaks nothing.
    let rows = "a(seg=0,1,3; sizes=1,0/0,1/1,1)";
    assert!(same(&format!("[one(seg=2,2).{rows}, -]"), "[a(seg=1,1,2; sizes=1,0/0,1/1,1), -]"));
    let layout = Layout::parse(&mesh(), 1, "[one(seg=0,4).a(seg=4; sizes=0,0/3,1)]").unwrap();
    assert_eq!([0, 2].map(|rank| layout.region(&[4], rank).unwrap().len()), [3, 1]);
}

#[test]
fn an_axis_that_nobody_minor_feels_does_not_count() {
    assert!(same("[a.(b), -]", "[a, -]"));
    assert!(!same("[(b).a, -]", "[a, -]"));
}

#[test]
fn order_of_axes_counts_on_one_dim_only() {
    assert!(!same("[a.b, -]", "[b.a, -]"));
    assert!(same("[-, -] + P(sum: b, a)", "[-, -] + P(sum: a) + P(sum: b)"));
}

#[test]
fn negative_dims_count_from_the_end() {
    assert!(same("R, S(-1), S(-2)", "R, S(1), S(0)"));
    assert!(same("a=S(-2; unit=3)", "[a(unit=3), -]"));
}

#[test]
fn the_mesh_counts() {
    let other = Mesh::with_ranks([("one", 1), ("a", 2), ("b", 2)], [1, 0, 2, 3]).unwrap();
    let text = "[a, b]";
    assert_ne!(Layout::parse(&mesh(), 2, text), Layout::parse(&other, 2, text));
    assert_eq!(Layout::parse(&mesh(), 2, text), Layout::parse(&mesh(), 2, text));
}

#[test]
fn the_chunk_law_is_plain_sharding() {
    let cut = Placement::Cut(1, CutRule::unit(1));
    assert_eq!(cut, Shard(1));
    assert_ne!(cut, Shard(0));
    assert_ne!(CutRule::unit(2).on(1), Shard(1));
    assert_ne!(Shard(0), Replicate);
    assert_ne!(Partial(Reduction::Min), Partial(Reduction::Max));
    let layout = [Replicate, cut, Replicate].into_layout(&mesh(), 2).unwrap();
    assert_eq!(layout, "[-, a]".into_layout(&mesh(), 2).unwrap());
}

#[test]
fn many_things_name_a_layout() {
    let mesh = mesh();
    let list = [Replicate, Shard(0), Partial(Reduction::Sum)];
    let layout = Layout::parse(&mesh, 1, "[a] + P(sum: b)").unwrap();
    let placements: Placements = list.iter().cloned().collect();
    let text = "b=P, a=S(0)".to_owned();
    let named = [
        (&text).into_layout(&mesh, 1),
        text.clone().into_layout(&mesh, 1),
        (&list).into_layout(&mesh, 1),
        list[..].into_layout(&mesh, 1),
        list.to_vec().into_layout(&mesh, 1),
        list.into_layout(&mesh, 1),
        (&placements).into_layout(&mesh, 1),
        placements.into_layout(&mesh, 1),
        (&layout).into_layout(&mesh, 1),
    ];
    assert!(named.iter().all(|own| own.as_ref() == Ok(&layout)), "{named:?}");
    let elsewhere = Mesh::new([("x", 5)]).unwrap();
    assert_eq!(layout.clone().into_layout(&elsewhere, 1).unwrap().mesh(), &mesh);
}

proptest! {
    /// Leaving out axes of length 1 that break nothing changes neither equality nor regions.
    #[test]
    fn dropping_axes_of_length_1_changes_nothing(twin in draw::twins()) {
        let mut bare = twin.clone();
        for cuts in &mut bare.dims {
            cuts.retain(|cut| twin.mesh[cut.axis] > 1 || cut.segments.is_some());
        }
        bare.partial.retain(|&(axis, _)| twin.mesh[axis] > 1);
        let mesh = mesh_of(&twin);
        let (full, bare) = (layout_of(&twin, &mesh), layout_of(&bare, &mesh));
        prop_assert_eq!(&full, &bare);
        prop_assert_eq!(full.stable_hash(), bare.stable_hash());
        for rank in 0..mesh.len() {
            prop_assert_eq!(full.region(&twin.shape, rank), bare.region(&twin.shape, rank));
        }
    }
}
