//! Elements arrive where the layout says.

use reshard::{Layout, Mesh, Source};

use super::{carried, mesh, numbered, run};

/// First numbers of the rows of a [n, 1] tensor that each local holds.
fn rows(locals: &[Vec<f32>]) -> Vec<Vec<usize>> {
    let row = |local: &Vec<f32>| local.iter().map(|&number| number as usize).collect();
    locals.iter().map(row).collect()
}

pub(super) fn nested_gather_uneven() {
    let mesh = mesh([("a", 2), ("b", 2)]);
    for shape in [[5, 3], [6, 3], [7, 3], [8, 3], [6, 1], [7, 2]] {
        carried(&mesh, &shape, "S(0), S(0)", "R, R");
        carried(&mesh, &shape, "S(0), S(0)", "R, S(0)");
    }
    let lens = carried(&mesh, &[5, 3], "R, R", "S(0), S(0)");
    assert_eq!(lens.iter().map(Vec::len).collect::<Vec<_>>(), [6, 3, 3, 3]);
}

pub(super) fn permuted_ranks() {
    let mesh = Mesh::with_ranks([("a", 4)], [3, 1, 0, 2]).unwrap();
    let held = rows(&carried(&mesh, &[8], "R", "S(0)"));
    assert_eq!(held, [vec![4, 5], vec![2, 3], vec![6, 7], vec![0, 1]]);
    carried(&mesh, &[8], "S(0)", "R");
    let some = Mesh::with_ranks([("a", 2)], [1, 3]).unwrap();
    let held = run(4, |world| {
        let on = world.on(&some);
        let tensor = on.distribute(Source::Everywhere, || numbered(&[6]), "S(0)")?;
        let summed = tensor.redistribute("R")?.redistribute("P(sum)")?.redistribute("S(0)")?;
        if summed.is_here() { summed.to_local_vec::<f32>() } else { Ok(Vec::new()) }
    });
    assert_eq!(rows(&held), [vec![], vec![0, 1, 2], vec![], vec![3, 4, 5]]);
}

pub(super) fn empty_blocks_cut_twice() {
    let mesh = mesh([("a", 2), ("b", 4)]);
    let layout = Layout::parse(&mesh, 1, "S(0), S(0)").unwrap();
    let offset = |rank| layout.region(&[2], rank).unwrap().offset(&[2])[0];
    assert_eq!((0..8).map(offset).collect::<Vec<_>>(), [0, 2, 2, 2, 1, 2, 2, 2]);
    carried(&mesh, &[2], "S(0), S(0)", "R, R");
}

pub(super) fn contiguous_after_gather() {
    let mesh = mesh([("a", 4)]);
    let shape = [2, 5, 3];
    run(4, |world| {
        let on = world.on(&mesh);
        let tensor = on.distribute(Source::Everywhere, || numbered(&shape), "S(1)")?;
        let own = tensor.local::<f32>()?;
        let lens = own.shape().to_vec();
        let standard = [lens[1] * lens[2], lens[2], 1].map(|stride| stride as isize);
        assert!(own.is_empty() || own.strides() == standard, "{:?}", own.strides());
        let whole = tensor.redistribute("R")?;
        assert!(whole.local::<f32>()?.is_standard_layout());
        assert_eq!(whole.local::<f32>()?, numbered(&shape));
        Ok(())
    });
}

pub(super) fn axes_in_other_order() {
    let mesh = mesh([("dp", 2), ("tp", 2)]);
    let held = rows(&carried(&mesh, &[6], "R, R", "[tp.dp]"));
    assert_eq!(held, [vec![0, 1], vec![3, 4], vec![2], vec![5]]);
    for shape in [&[6][..], &[4, 1], &[5], &[7]] {
        let layout = if shape.len() == 1 { "[tp.dp]" } else { "[tp.dp, -]" };
        carried(&mesh, shape, layout, "R, R");
        carried(&mesh, shape, layout, "S(0), S(0)");
    }
}

pub(super) fn relayout_between_meshes() {
    let (from, to) = (mesh([("a", 2), ("b", 2)]), mesh([("c", 4)]));
    let held = run(4, |world| {
        let tensor =
            world.on(&from).distribute(Source::Everywhere, || numbered(&[4, 4]), "S(0), S(1)")?;
        let target = Layout::parse(&to, 2, "S(0)")?;
        let plan = tensor.plan_to(&target)?;
        // Of its row of 4 each rank has 2 at most: 8 of 16 elements cross, each once.
        let crossing: usize = plan.received_bytes().sum::<usize>() / 4;
        assert!(crossing <= 16 - 4, "{crossing} elements cross");
        let moved = tensor.redistribute(&target)?;
        assert_eq!(moved.layout().mesh(), &to);
        assert_eq!(moved.full::<f32>()?, numbered(&[4, 4]));
        moved.to_local_vec::<f32>()
    });
    let row = |row: usize| (4 * row..4 * row + 4).collect::<Vec<_>>();
    assert_eq!(rows(&held), (0..4).map(row).collect::<Vec<_>>());
    // Equal placements on another mesh are a real move.
    let (first, second) = (
        Mesh::with_ranks([("c", 2)], [0, 1]).unwrap(),
        Mesh::with_ranks([("c", 2)], [1, 0]).unwrap(),
    );
    let held = run(2, |world| {
        let tensor = world.on(&first).distribute(Source::Everywhere, || numbered(&[4]), "S(0)")?;
        tensor.redistribute(Layout::parse(&second, 1, "S(0)")?)?.to_local_vec::<f32>()
    });
    assert_eq!(rows(&held), [vec![2, 3], vec![0, 1]]);
}

pub(super) fn ragged() {
    let mesh = mesh([("a", 4)]);
    for sizes in ["7,0,1,2", "10,0,0,0", "0,0,0,10", "3,3,3,1"] {
        let ragged = format!("S(0; sizes={sizes})");
        for other in ["R", "S(0)", "S(1)", "S(0; sizes=1,2,3,4)", "S(0; sizes=0,10,0,0)"] {
            carried(&mesh, &[10, 2], &ragged, other);
            carried(&mesh, &[10, 2], other, &ragged);
        }
    }
}

pub(super) fn merged_qkv() {
    let mesh = mesh([("tp", 2)]);
    let held = carried(&mesh, &[16, 4], "R", "S(0; seg=8,4,4)");
    let rows_of = |local: &Vec<f32>| local.iter().step_by(4).map(|&n| n as usize / 4).collect();
    let rows: Vec<Vec<usize>> = held.iter().map(rows_of).collect();
    assert_eq!(rows, [vec![0, 1, 2, 3, 8, 9, 12, 13], vec![4, 5, 6, 7, 10, 11, 14, 15]]);
    carried(&mesh, &[16, 4], "S(0; seg=8,4,4)", "R");
    carried(&mesh, &[16, 4], "S(0; seg=8,4,4)", "S(1)");
}

pub(super) fn heads_stay_whole() {
    let mesh = mesh([("tp", 4)]);
    let lens = |shape: [usize; 2]| {
        let held = carried(&mesh, &shape, "R", "S(0; unit=64)");
        held.iter().map(|local| local.len() / shape[1]).collect::<Vec<_>>()
    };
    assert_eq!(lens([640, 8]), [192, 192, 192, 64]);
    assert_eq!(lens([192, 8]), [64, 64, 64, 0]);
    let error = Layout::parse(&mesh, 2, "S(0; unit=64)").unwrap().region(&[100, 8], 0).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("64") && message.contains("100"), "{message}");
}
