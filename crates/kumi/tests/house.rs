//! The house: arrows between crates run down only, and the rooms of a crate have no cycle.
//!
//! What is read is the text: `[dependencies]` of each crate, and paths from `crate` or `super` in its sources. A *room* is a
//! folder of a crate's sources with a `mod.rs`. A module with parts (`name.rs` beside `name/`) and a file of the root are
//! modules like any other, and may know each other; but no way from a room through them may lead back to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// From the bottom: a crate may depend on those of lines above its own, and of its own line on none.
const FLOORS: &[&[&str]] = &[
    &["budget", "sched", "prelude", "xml", "wire", "membership", "history", "chance", "schedule", "record"],
    &["num", "text", "source", "segments", "remote", "simulate"],
    &["heap", "regexp", "flow", "link", "store", "redis"],
    &["bytecode"],
    &["compiler"],
    &["vm"],
    &["core/kernel", "core/numeric", "core/collection", "core/concurrency"],
    &["core/string"],
    &["core/system", "core/library"],
    &["core/net", "core/stream", "core/segments"],
    &["core/remote", "core/schedule"],
    &["kumi"],
    &["spec", "faults"],
];

/// What all rooms of a crate extend (`Cx`; `Heap` and what the heaps share): its fields are of all rooms' types, and each room adds methods to it. Arrows from and to
/// it are those of the subject itself, and not counted; `boot` fills it.
const SUBJECTS: &[(&str, &[&str])] = &[("vm", &["cx", "boot"]), ("heap", &["heap", "shared"])];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Folders of crates, as `FLOORS` names them.
fn all() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for dir in [crates(), crates().join("core")] {
        for e in std::fs::read_dir(&dir).unwrap().flatten().filter(|e| e.path().join("Cargo.toml").exists()) {
            found.insert(e.path().strip_prefix(crates()).unwrap().to_str().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn every_crate_has_its_floor() {
    let listed: Vec<&str> = FLOORS.concat();
    let there = all();
    assert_eq!(there.len(), listed.len(), "a crate is listed twice, or not at all");
    assert!(listed.iter().all(|c| there.contains(*c)), "{listed:?} {there:?}");
}

#[test]
fn arrows_between_crates_run_down() {
    let floor = |c: &str| FLOORS.iter().position(|f| f.contains(&c)).unwrap_or_else(|| panic!("{c} has no floor"));
    for name in all() {
        let toml = std::fs::read_to_string(crates().join(&name).join("Cargo.toml")).unwrap();
        let mut section = "";
        for line in toml.lines() {
            if line.starts_with('[') {
                section = line;
            }
            let Some((_, path)) = line.split_once("path = \"").filter(|_| section.contains("dependencies")) else { continue };
            let to = crates().join(&name).join(path.split('"').next().unwrap());
            let to = to.canonicalize().unwrap_or_else(|_| panic!("{name}: {line}"));
            let to = to.strip_prefix(crates().canonicalize().unwrap()).unwrap().to_str().unwrap().to_owned();
            assert!(floor(&to) < floor(&name) || section.contains("dev-"), "{name} (floor {}) knows {to}", floor(&name));
        }
    }
}

#[test]
fn rooms_of_a_crate_have_no_cycle() {
    let mut wrong = Vec::new();
    for name in all() {
        let arrows = arrows(&crates().join(&name).join("src"), &name);
        for (room, _) in arrows.iter().filter(|(m, _)| m.1) {
            if let Some(way) = way_back(&arrows, room) {
                wrong.push(format!("{name}: {}", way.join(" -> ")));
            }
        }
    }
    assert!(wrong.is_empty(), "rooms that know each other:\n{}", wrong.join("\n"));
}

/// A module of a crate's root, and whether it is a room.
type Module = (String, bool);

/// Source files; unit tests may know whom they like.
fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for e in std::fs::read_dir(dir).unwrap().flatten() {
        if e.path().is_dir() {
            sources(&e.path(), out);
        } else if e.path().extension().is_some_and(|x| x == "rs") && e.file_name() != "tests.rs" {
            out.push(e.path());
        }
    }
}

/// Which modules of the root each knows.
fn arrows(src: &Path, name: &str) -> BTreeMap<Module, BTreeSet<Module>> {
    let subject = SUBJECTS.iter().find(|s| s.0 == name).map_or(&[][..], |s| s.1);
    let root = ["lib.rs", "main.rs"].iter().map(|f| src.join(f)).find(|p| p.exists()).unwrap();
    let mut modules = BTreeMap::new();
    for e in std::fs::read_dir(src).unwrap().flatten() {
        let file = e.file_name().into_string().unwrap();
        let module = file.strip_suffix(".rs").unwrap_or(&file).to_owned();
        let is_room = e.path().join("mod.rs").exists();
        if e.path() != root && !subject.contains(&module.as_str()) && (is_room || !modules.contains_key(&module)) {
            modules.insert(module, is_room);
        }
    }
    // Names that the root gives out again.
    let mut given = BTreeMap::new();
    for path in uses(&std::fs::read_to_string(&root).unwrap()) {
        let parts: Vec<&str> = path.split("::").collect();
        let module = if parts[0] == "crate" || parts[0] == "self" { parts.get(1) } else { parts.first() };
        if let Some(m) = module.filter(|m| modules.contains_key(**m)) {
            given.insert(parts.last().unwrap().split(" as ").last().unwrap().to_owned(), m.to_string());
        }
    }
    let mut out: BTreeMap<Module, BTreeSet<Module>> = modules.iter().map(|(m, r)| ((m.clone(), *r), BTreeSet::new())).collect();
    let mut files = Vec::new();
    sources(src, &mut files);
    for file in files.iter().filter(|f| **f != root) {
        let below: Vec<&str> = file.strip_prefix(src).unwrap().iter().map(|p| p.to_str().unwrap()).collect();
        let from = below[0].strip_suffix(".rs").unwrap_or(below[0]);
        let Some(room) = modules.get(from) else { continue };
        // Levels of `super` that lead to the root.
        let depth = if below.last() == Some(&"mod.rs") { below.len() - 1 } else { below.len() };
        for path in paths(&std::fs::read_to_string(file).unwrap()) {
            let mut parts = path.split("::").peekable();
            let mut ups = 0;
            while parts.next_if_eq(&"super").is_some() {
                ups += 1;
            }
            if ups != depth && !(ups == 0 && parts.next_if_eq(&"crate").is_some()) {
                continue;
            }
            let Some(first) = parts.next().map(|p| p.split(' ').next().unwrap_or(p)) else { continue };
            let to = given.get(first).map_or(first, |m| m.as_str());
            if let Some(is_room) = modules.get(to).filter(|_| to != from) {
                out.get_mut(&(from.to_owned(), *room)).unwrap().insert((to.to_owned(), *is_room));
            }
        }
    }
    out
}

/// Text without comments, and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    text.lines().map(|l| l.split("//").next().unwrap_or(l)).collect::<Vec<_>>().join("\n")
}
/// Paths of `use` declarations, groups taken apart.
fn uses(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for decl in code(text).split("use ").skip(1) {
        expand("", decl.split(';').next().unwrap_or(""), &mut out);
    }
    out
}
/// Those and paths inside expressions.
fn paths(text: &str) -> Vec<String> {
    let mut out = uses(text);
    let text = code(text);
    for start in ["crate::", "super::"] {
        for (at, _) in text.match_indices(start) {
            let before = text[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                out.push(text[at..].chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect());
            }
        }
    }
    out
}
fn expand(before: &str, path: &str, out: &mut Vec<String>) {
    let path = path.trim();
    let Some((head, group)) = path.split_once('{') else {
        out.push(format!("{before}{path}"));
        return;
    };
    let (mut depth, mut item) = (0, String::new());
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&format!("{before}{head}"), &std::mem::take(&mut item), out);
                continue;
            }
            _ => {}
        }
        item.push(c);
    }
    if !item.trim().is_empty() {
        expand(&format!("{before}{head}"), &item, out);
    }
}

/// A way from `from` back to it.
fn way_back(arrows: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> Option<Vec<String>> {
    let mut came: BTreeMap<Module, Module> = BTreeMap::new();
    let mut todo = vec![from.clone()];
    while let Some(m) = todo.pop() {
        for to in &arrows[&m] {
            if to == from {
                let mut way = vec![from.0.clone()];
                let mut at = m.clone();
                while at != *from {
                    way.push(at.0.clone());
                    at = came[&at].clone();
                }
                way.push(from.0.clone());
                way.reverse();
                return Some(way);
            }
            if !came.contains_key(to) {
                came.insert(to.clone(), m.clone());
                todo.push(to.clone());
            }
        }
    }
    None
}

#[test]
fn cycles_are_found() {
    let dir = std::env::temp_dir().join(format!("kumi-house-{}", std::process::id()));
    for d in ["a", "b"] {
        std::fs::create_dir_all(dir.join(d)).unwrap();
    }
    let write = |file: &str, text: &str| std::fs::write(dir.join(file), text).unwrap();
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::Gift;\n");
    write("a/mod.rs", "use super::b::{self, Thing};\n");
    write("b/mod.rs", "mod inner;\n");
    write("b/inner.rs", "fn f() -> crate::Gift { todo() }\n");
    write("c.rs", "// crate::a is not meant\n");
    let room = ("a".to_owned(), true);
    assert_eq!(way_back(&arrows(&dir, "x"), &room), None);
    write("c.rs", "use crate::{a::X, d};\n");
    assert_eq!(way_back(&arrows(&dir, "x"), &room), Some(["a", "b", "c", "a"].map(String::from).to_vec()));
    std::fs::remove_dir_all(&dir).unwrap();
}
