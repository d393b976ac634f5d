//! The written forms: what is shown is read back, and no text makes the reader panic.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use reshard::layout::{CutRule, Placement, Rule};
use reshard::{Layout, LayoutError, Mesh, Placements, Reduction};

use super::{draw, layout_of, mesh_of};
use crate::naive::Twin;

/// Words of the notation.
const WORDS: [&str; 29] = [
    "[",
    "]",
    "(",
    ")",
    ".",
    "·",
    ",",
    ";",
    ":",
    "/",
    "=",
    "+",
    "-",
    " ",
    "a",
    "b",
    "S",
    "R",
    "P",
    "sum",
    "avg",
    "unit",
    "seg",
    "sizes",
    "S(0)",
    "0",
    "1",
    "4",
    "99999999999999999999",
];

fn placement() -> impl Strategy<Value = Placement> {
    let lens = || vec(0_usize..20, 0..4);
    let law = prop_oneof![
        any::<usize>().prop_map(CutRule::unit),
        vec(lens(), 1..4).prop_map(CutRule::size_rows),
    ];
    let cut = (law, proptest::option::of(lens()), any::<isize>());
    prop_oneof![
        Just(Placement::Replicate),
        any::<isize>().prop_map(Placement::Shard),
        select(&Reduction::ALL[..]).prop_map(Placement::Partial),
        cut.prop_map(|(law, segments, dim)| match segments {
            Some(lens) => law.segments(lens).on(dim),
            None => law.on(dim),
        }),
    ]
}

/// Whether a list of placements could mean the twin's layout.
fn is_listable(twin: &Twin) -> bool {
    twin.dims.iter().all(|cuts| {
        let mut long: Vec<_> = cuts.iter().filter(|cut| twin.mesh[cut.axis] > 1).collect();
        while long.last().is_some_and(|cut| !cut.held) {
            long.pop();
        }
        long.iter().all(|cut| cut.held) && long.windows(2).all(|pair| pair[0].axis < pair[1].axis)
    })
}

/// Words of the notation and anything else, in any order.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        9 => select(&WORDS[..]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    vec(word, 0..24).prop_map(|words| words.concat())
}

/// A good text with one character taken out and another put in.
fn damaged() -> impl Strategy<Value = (Twin, String)> {
    (draw::twins(), any::<(usize, usize, char)>()).prop_map(|(twin, (out, at, put))| {
        let mut text: Vec<char> = twin.notation().chars().collect();
        text.remove(out % text.len());
        text.insert(at % (text.len() + 1), put);
        (twin, text.into_iter().collect())
    })
}

/// Reads a text; what is read is shown and read again, what is not is an error that shows where.
fn read(mesh: &Mesh, ndim: usize, text: &str) {
    match Layout::parse(mesh, ndim, text) {
        Ok(layout) => {
            assert_eq!(Layout::parse(mesh, ndim, &layout.to_string()), Ok(layout), "{text:?}");
        }
        Err(LayoutError::Parse(error)) => {
            assert_eq!(error.text, text);
            assert!(text.is_char_boundary(error.position), "{error:?}");
            let shown = error.to_string();
            assert!(shown.starts_with(&error.message) && shown.ends_with('^'), "{shown}");
        }
        Err(_) => {}
    }
}

proptest! {
    #[test]
    fn placements_are_read_back(list in vec(placement(), 0..5)) {
        for one in &list {
            prop_assert_eq!(&one.to_string().parse::<Placement>().unwrap(), one);
        }
        let list = Placements::from(list);
        prop_assert_eq!(list.to_string().parse::<Placements>().unwrap(), list);
    }

    #[test]
    fn layouts_are_read_back(twin in draw::twins()) {
        let (mesh, ndim) = (mesh_of(&twin), twin.shape.len());
        let layout = layout_of(&twin, &mesh);
        let again = Layout::parse(&mesh, ndim, &layout.to_string()).unwrap();
        prop_assert_eq!(&again, &layout);
        prop_assert_eq!(again.to_string(), layout.to_string());
        prop_assert!((0..ndim).all(|dim| again.cuts(dim) == layout.cuts(dim)));
    }

    /// The list is there exactly if one exists, and means the layout in both its forms.
    #[test]
    fn the_list_of_a_layout_means_it(twin in draw::twins()) {
        let (mesh, ndim) = (mesh_of(&twin), twin.shape.len());
        let layout = layout_of(&twin, &mesh);
        let list = layout.placements();
        prop_assert_eq!(list.is_some(), is_listable(&twin), "{}", layout);
        if let Some(list) = list {
            prop_assert_eq!(&Layout::from_placements(&mesh, ndim, &list).unwrap(), &layout);
            prop_assert_eq!(&Layout::parse(&mesh, ndim, &list.to_string()).unwrap(), &layout);
            let named = twin.axes().into_iter().zip(list.iter()).rev();
            let named: Vec<_> = named.map(|((name, _), one)| format!("{name} = {one}")).collect();
            prop_assert_eq!(&Layout::parse(&mesh, ndim, &named.join(",")).unwrap(), &layout);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in texts(), ndim in 0_usize..3) {
        read(&Mesh::new([("a", 2), ("b", 3)]).unwrap(), ndim, &text);
        let _ = text.parse::<Placement>();
        let _ = text.parse::<Placements>();
    }

    #[test]
    fn no_damage_makes_the_reader_panic((twin, text) in damaged()) {
        read(&mesh_of(&twin), twin.shape.len(), &text);
    }

    #[test]
    fn no_string_makes_the_reader_panic(text in any::<String>()) {
        read(&Mesh::new([("a", 2)]).unwrap(), 1, &text);
    }
}

#[test]
fn placements_are_shown_as_documented() {
    let shown = |placement: Placement| placement.to_string();
    assert_eq!(shown(Placement::Replicate), "R");
    assert_eq!(shown(Placement::Shard(-1)), "S(-1)");
    assert_eq!(shown(Placement::Partial(Reduction::Product)), "P(product)");
    assert_eq!(shown(CutRule::unit(64).on(0)), "S(0; unit=64)");
    assert_eq!(shown(CutRule::chunk().segments([8, 4, 4]).on(0)), "S(0; seg=8,4,4)");
    assert_eq!(shown(CutRule::unit(2).segments([8, 4, 4]).on(0)), "S(0; seg=8,4,4; unit=2)");
    assert_eq!(shown(CutRule::sizes([7, 0, 1, 2]).on(0)), "S(0; sizes=7,0,1,2)");
    let rows = CutRule::size_rows([[3, 1], [2, 2]]).segments([4, 4]);
    assert_eq!(rows.segment_lens(), Some(&[4, 4][..]));
    assert!(matches!(rows.rule(), Rule::Sizes(rows) if rows.len() == 2));
    assert_eq!(shown(rows.on(0)), "S(0; seg=4,4; sizes=3,1/2,2)");
}

#[test]
fn blanks_are_free_and_sum_is_the_usual_reduction() {
    let read = |text: &str| text.parse::<Placement>().unwrap();
    assert_eq!(read(" S ( - 1 ; unit = 2 ;\n seg = 8 , 4 ) "), read("S(-1;seg=8,4;unit=2)"));
    assert_eq!(read("P"), Placement::Partial(Reduction::Sum));
    assert_eq!(read(" P ( max ) "), Placement::Partial(Reduction::Max));
    assert_eq!("".parse::<Placements>().unwrap(), Placements::default());
    assert_eq!(" S(0; seg=1,2) ,R".parse::<Placements>().unwrap().to_string(), "S(0; seg=1,2), R");
}

#[test]
fn layouts_are_shown_in_one_form() {
    let mesh = Mesh::new([("dp", 2), ("tp", 2), ("pp", 2)]).unwrap();
    let shown = |text| Layout::parse(&mesh, 2, text).unwrap().to_string();
    for (text, form) in [
        ("S(0), S(0), P", "[dp.tp, -] + P(sum: pp)"),
        ("pp=P(sum), tp=S(0), dp=S(0)", "[dp.tp, -] + P(sum: pp)"),
        (" [ dp · tp , - ] + P ( sum : pp ) ", "[dp.tp, -] + P(sum: pp)"),
        ("pp=R", "[-, -]"),
        ("S(1), R, S(0; seg=8,4,4)", "[pp(seg=8,4,4), dp]"),
        ("[tp(unit=64), -]", "[tp(unit=64), -]"),
        ("[tp(seg=4,4; sizes=3,1/2,2), -]", "[tp(seg=4,4; sizes=3,1/2,2), -]"),
        ("[-, ( dp ( unit = 2 ) ) . tp]", "[-, (dp(unit=2)).tp]"),
        ("[-, -] + P(avg: pp) + P(sum: tp, dp)", "[-, -] + P(sum: dp, tp) + P(avg: pp)"),
    ] {
        assert_eq!(shown(text), form, "{text}");
    }
    let layout = Layout::parse(&mesh, 2, "[dp, tp]").unwrap();
    assert_eq!(format!("{layout:?}"), "Layout([dp, tp] on dp=2, tp=2, pp=2)");
}

#[test]
fn names_of_any_alphabet_are_read() {
    let mesh = Mesh::new([("größe", 2), ("S", 2), ("_x1", 2)]).unwrap();
    for text in ["[größe._x1, S]", "[-, (S).größe] + P(sum: _x1)", "[S(unit=2), -]"] {
        assert_eq!(Layout::parse(&mesh, 2, text).unwrap().to_string(), text);
    }
    let named = Layout::parse(&mesh, 2, "S = S(1), größe=P").unwrap();
    assert_eq!(named.to_string(), "[-, S] + P(sum: größe)");
}
