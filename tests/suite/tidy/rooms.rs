//! Which room may use which: every path in every file, comments and doc links included.

use std::collections::BTreeMap;

use super::source::{Source, in_name, line_of, words};

/// Every room with the rooms it may use. A change here is a change of the architecture.
const ROOMS: [(&str, &[&str]); 10] = [
    ("base", &[]),
    ("mem", &["base"]),
    ("mesh", &["mem", "base"]),
    ("layout", &["mesh", "mem", "base"]),
    ("plan", &["layout", "mesh", "mem", "base"]),
    ("comm", &["mesh", "mem", "base"]),
    ("exec", &["plan", "layout", "comm", "mesh", "mem", "base"]),
    ("dist", &["exec", "plan", "layout", "comm", "mesh", "mem", "base"]),
    ("ops", &["dist", "exec", "plan", "layout", "comm", "mesh", "mem", "base"]),
    ("nn", &["ops", "dist", "exec", "plan", "layout", "comm", "mesh", "mem", "base"]),
];

/// What the front page `lib.rs` re-exports, with the room that each name comes from.
pub(super) struct Exports<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Exports<'a> {
    pub(super) fn of(front_page: &'a Source) -> Self {
        let code = &front_page.code;
        let mut rooms = BTreeMap::new();
        for at in words(code, "pub use") {
            let path = &code[at + "pub use".len()..];
            let Some((room, names)) = path.split_once("::") else { continue };
            for (_, name) in heads(names) {
                rooms.insert(name, room.trim());
            }
        }
        Self(rooms)
    }

    fn room<'b>(&'b self, name: &'b str) -> Option<&'b str> {
        let is_room = ROOMS.iter().any(|&(room, _)| room == name);
        if is_room { Some(name) } else { self.0.get(name).copied() }
    }
}

/// Every path of the file that leaves its room for one that it may not use.
pub(super) fn violations(source: &Source, exports: &Exports<'_>) -> Vec<String> {
    if source.path == "src/lib.rs" || source.under("src/bin") {
        return Vec::new();
    }
    let own = source.path.split('/').nth(1).unwrap_or_default();
    let Some(&(_, allowed)) = ROOMS.iter().find(|&&(room, _)| room == own) else {
        return vec![
            source.at(1, &format!("`{own}` is no room; rooms are listed in the tidy test")),
        ];
    };
    let mut found = Vec::new();
    for (at, name) in names_from_root(source) {
        let what = match exports.room(name) {
            Some(room) if room == own || allowed.contains(&room) => continue,
            Some(room) => format!("{own} may not use {room}"),
            None => format!("`{name}` names no room; write `crate::` and the room"),
        };
        found.push(source.at(line_of(&source.text, at), &what));
    }
    found
}

/// Every name that the file takes from the root of the crate, by `crate::` or by enough `super::`.
fn names_from_root(source: &Source) -> Vec<(usize, &str)> {
    let text = source.text.as_str();
    let mut starts: Vec<usize> = words(text, "crate::").map(|at| at + "crate::".len()).collect();
    for at in words(text, "super::").filter(|&at| !text[..at].ends_with("super::")) {
        let after = text[at..].trim_start_matches("super::");
        let end = text.len() - after.len();
        let supers = (end - at) / "super::".len();
        let nested = heads(after).iter().any(|&(_, name)| name == "super");
        if supers >= depth(source, at) || nested {
            starts.push(end);
        }
    }
    starts.sort_unstable();
    let names = |start| heads(&text[start..]).into_iter().map(move |(at, name)| (start + at, name));
    starts.into_iter().flat_map(names).collect()
}

/// How many `super::` lead from a place in the file to the root of the crate.
fn depth(source: &Source, at: usize) -> usize {
    let file = source.path.trim_end_matches("/mod.rs").split('/').count() - 1;
    let mut open: Vec<&str> = Vec::new();
    for line in source.code.lines().take(line_of(&source.text, at)) {
        let indent = &line[..line.len() - line.trim_start().len()];
        if open.last().is_some_and(|indent| line.trim_end() == format!("{indent}}}")) {
            open.pop();
        }
        if line.trim_end().ends_with('{') && words(line, "mod").next().is_some() {
            open.push(indent);
        }
    }
    file + open.len()
}

/// The first name of a path, or of every path in a group `{a, b::{c, d}}`, each with its offset.
fn heads(path: &str) -> Vec<(usize, &str)> {
    let name_at = |at: usize| {
        let rest = &path[at..];
        let start = at + rest.len() - rest.trim_start().len();
        let name = path[start..]
            .find(|c| !in_name(c))
            .map_or(&path[start..], |len| &path[start..start + len]);
        (start, if name.is_empty() { path.get(start..start + 1).unwrap_or("") } else { name })
    };
    if !path.starts_with('{') {
        return vec![name_at(0)];
    }
    let mut found = vec![name_at(1)];
    let mut open = 0;
    for (at, c) in path.char_indices() {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            ',' if open == 1 => found.push(name_at(at + 1)),
            _ => {}
        }
        if open == 0 {
            break;
        }
    }
    found.retain(|&(_, name)| name != "}");
    found
}

/// The rooms that `lib.rs` declares are those of the table.
pub(super) fn undeclared(front_page: &Source) -> Vec<String> {
    let declared = front_page.code.lines().filter_map(|line| line.strip_suffix(';'));
    let declared = declared.filter_map(|line| line.split_once("mod "));
    let declared: Vec<&str> = declared.map(|(_, name)| name).collect();
    let known: Vec<&str> = ROOMS.iter().map(|&(room, _)| room).collect();
    let strange = declared.iter().filter(|name| !known.contains(name));
    let missing = known.iter().filter(|name| !declared.contains(name));
    strange
        .chain(missing)
        .map(|name| format!("src/lib.rs: room `{name}` is not in both lists"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRONT: &str = "pub mod base;\npub use mesh::{Axis, Mesh};\npub use plan::Plan;\n";

    fn check(path: &str, text: &str) -> Vec<String> {
        let front = Source::new("src/lib.rs", FRONT);
        violations(&Source::new(path, text), &Exports::of(&front))
    }

    #[test]
    fn a_path_against_the_arrows_is_reported_with_its_line() {
        let text = "//! Bytes.\n\nuse crate::mesh::Mesh;\nuse crate::layout::Layout;\n";
        assert_eq!(check("src/comm/mod.rs", text), ["src/comm/mod.rs:4: comm may not use layout"]);
        assert_eq!(check("src/plan/mod.rs", text), [""; 0]);
    }

    #[test]
    fn groups_comments_and_doc_links_count() {
        let text =
            "use crate::{\n    base::DType,\n    plan::{Plan, Step},\n};\n/// See [`crate::comm`].";
        let found = check("src/layout/cut.rs", text);
        let wanted = ["3: layout may not use plan", "5: layout may not use comm"];
        assert_eq!(found, wanted.map(|what| format!("src/layout/cut.rs:{what}")));
    }

    #[test]
    fn supers_are_counted_from_the_module_they_stand_in() {
        let leaves = "use super::super::plan::Plan;";
        let wanted = ["src/mesh/axis.rs:1: mesh may not use plan"];
        assert_eq!(check("src/mesh/axis.rs", leaves), wanted);
        assert_eq!(check("src/mesh/axis/name.rs", leaves), [""; 0]);
        assert_eq!(check("src/mesh/mod.rs", "use super::plan::Plan;").len(), 1);
        let tests = "fn f() {}\nmod tests {\n    use super::*;\n    use super::plan;\n}\nuse super::plan;\n";
        assert_eq!(check("src/mesh/mod.rs", tests), ["src/mesh/mod.rs:6: mesh may not use plan"]);
        assert_eq!(check("src/mesh/axis.rs", "use super::{super::plan::Plan};").len(), 1);
    }

    #[test]
    fn re_exports_lead_to_their_room() {
        assert_eq!(check("src/layout/mod.rs", "use crate::Mesh;"), [""; 0]);
        assert_eq!(check("src/layout/mod.rs", "use crate::Plan;").len(), 1);
        assert_eq!(check("src/layout/mod.rs", "use crate::*;").len(), 1);
        assert_eq!(check("src/tools/mod.rs", "").len(), 1);
    }

    #[test]
    fn the_front_page_declares_every_room() {
        let found =
            undeclared(&Source::new("src/lib.rs", "pub mod base;\nmod tools;\nmod book {\n}\n"));
        assert_eq!(found.len(), 10, "{found:?}");
    }

    #[test]
    fn the_table_is_closed() {
        for (room, uses) in ROOMS {
            for used in uses {
                let (_, further) = ROOMS.iter().find(|(name, _)| name == used).unwrap();
                let open = further.iter().find(|name| !uses.contains(name));
                assert_eq!(open, None, "{room} may use {used} but not all that {used} may use");
                assert!(!further.contains(&room), "{room} and {used} use each other");
            }
        }
    }
}
