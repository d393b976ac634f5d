//! Layouts worked out by hand: crate and twin must both give what is written here.

use reshard::{Layout, Mesh};

use super::{flat, layout_of, mesh_of};
use crate::naive::{Place, Twin, TwinCut};

/// The indices that each rank holds, in rank order.
fn holds(text: &str, twin: &Twin, expected: &[&[usize]]) {
    let mesh = mesh_of(twin);
    let layout = Layout::parse(&mesh, twin.shape.len(), text).unwrap();
    assert_eq!(layout, layout_of(twin, &mesh), "{text}");
    for ((rank, coordinate), &indices) in twin.coordinates().iter().enumerate().zip(expected) {
        let region = layout.region(&twin.shape, rank).unwrap();
        assert_eq!(flat(&region, &twin.shape), indices, "rank {rank} of {text}");
        assert_eq!(twin.indices(coordinate), indices, "the twin at {coordinate:?} of {text}");
    }
    assert_eq!(expected.len(), mesh.len());
}

/// Lengths of the local dims, in rank order.
fn lens(text: &str, axes: &[(&'static str, usize)], len: usize) -> Vec<usize> {
    let mesh = Mesh::new(axes.iter().copied()).unwrap();
    let layout = Layout::parse(&mesh, 1, text).unwrap();
    mesh.ranks().iter().map(|&rank| layout.region(&[len], rank).unwrap().len()).collect()
}

#[test]
fn blocks_are_those_of_torch_chunk() {
    let cut = |text, ways, len| lens(text, &[("a", ways)], len);
    assert_eq!(cut("S(0)", 4, 5), [2, 2, 1, 0]);
    assert_eq!(cut("S(0)", 4, 8), [2, 2, 2, 2]);
    assert_eq!(cut("S(0)", 4, 2), [1, 1, 0, 0]);
    assert_eq!(cut("S(0)", 4, 9), [3, 3, 3, 0]);
    assert_eq!(cut("S(0)", 3, 0), [0, 0, 0]);
    assert_eq!(cut("S(0; unit=64)", 4, 640), [192, 192, 192, 64]);
    assert_eq!(cut("S(0; sizes=7,0,1,2)", 4, 10), [7, 0, 1, 2]);
}

#[test]
fn two_axes_on_one_dim_cut_one_after_the_other() {
    assert_eq!(lens("S(0), S(0)", &[("a", 2), ("b", 2)], 5), [2, 1, 1, 1]);
    let twin = Twin::listed(&[2, 2], &[5], &[Place::S(0), Place::S(0)]);
    holds("[a.b]", &twin, &[&[0, 1], &[2], &[3], &[4]]);
    let twin = Twin::replicated(&[2, 2], &[5]).cut(0, TwinCut::on(1)).cut(0, TwinCut::on(0));
    holds("[b·a]", &twin, &[&[0, 1], &[3], &[2], &[4]]);
}

#[test]
fn a_merged_projection_keeps_its_segments_together() {
    let qkv = TwinCut::on(0).segments(&[8, 4, 4]);
    let twin = Twin::replicated(&[2], &[16]).cut(0, qkv.clone());
    let halves: [&[usize]; 2] = [&[0, 1, 2, 3, 8, 9, 12, 13], &[4, 5, 6, 7, 10, 11, 14, 15]];
    holds("S(0; seg=8,4,4)", &twin, &halves);
    let twin = Twin::replicated(&[3], &[16]).cut(0, qkv.unit(2));
    let thirds: [&[usize]; 3] = [&[0, 1, 2, 3, 8, 9, 12, 13], &[4, 5, 6, 7, 10, 11, 14, 15], &[]];
    holds("S(0; seg=8,4,4; unit=2)", &twin, &thirds);
}

#[test]
fn a_strided_layout_takes_its_share_of_every_block() {
    let twin =
        Twin::replicated(&[2, 2], &[8]).cut(0, TwinCut::on(0).not_held()).cut(0, TwinCut::on(1));
    let (even, odd): (&[usize], &[usize]) = (&[0, 1, 4, 5], &[2, 3, 6, 7]);
    holds("[(a).b]", &twin, &[even, odd, even, odd]);
    let unit = TwinCut::on(0).unit(2).not_held();
    let twin = Twin::replicated(&[2, 2], &[6]).cut(0, unit).cut(0, TwinCut::on(1));
    let (even, odd): (&[usize], &[usize]) = (&[0, 1, 4], &[2, 3, 5]);
    holds("[(a(unit=2)).b]", &twin, &[even, odd, even, odd]);
}

/// The tokens of two source ranks, four each, sorted by expert; each source sends its own counts.
#[test]
fn experts_hold_a_run_of_every_sources_tokens() {
    let dispatch = TwinCut::on(0).segments(&[4, 4]).rows(&[&[3, 1], &[2, 2]]);
    let twin = Twin::replicated(&[2], &[8]).cut(0, dispatch);
    holds("S(0; seg=4,4; sizes=3,1/2,2)", &twin, &[&[0, 1, 2, 4, 5], &[3, 6, 7]]);
    let silent = TwinCut::on(0).segments(&[0, 3]).rows(&[&[0, 0], &[3, 0]]);
    let twin = Twin::replicated(&[2], &[3]).cut(0, silent);
    holds("S(0; seg=0,3; sizes=0,0/3,0)", &twin, &[&[0, 1, 2], &[]]);
}

#[test]
fn dims_are_cut_one_by_one() {
    let twin = Twin::listed(&[2, 2], &[2, 3], &[Place::S(1), Place::S(0)]);
    holds("S(-1), S(0)", &twin, &[&[0, 1], &[3, 4], &[2], &[5]]);
    let twin = Twin::listed(&[2, 2], &[3], &[Place::R, Place::S(0)]);
    holds("R, S(0)", &twin, &[&[0, 1], &[2], &[0, 1], &[2]]);
    let scalar = Twin::listed(&[2], &[], &[Place::P("sum")]);
    holds("[] + P(sum: a)", &scalar, &[&[0], &[0]]);
}

#[test]
fn an_empty_block_starts_where_the_dim_ends() {
    let mesh = Mesh::new([("a", 4)]).unwrap();
    let layout = Layout::parse(&mesh, 2, "S(1)").unwrap();
    let offset = |rank| layout.region(&[2, 5], rank).unwrap().offset(&[2, 5]);
    assert_eq!([0, 1, 2, 3].map(offset), [[0, 0], [0, 2], [0, 4], [0, 5]]);
    let twin = Twin::listed(&[4], &[2, 5], &[Place::S(1)]);
    assert_eq!(twin.offset(&[3]), [0, 5]);
}
