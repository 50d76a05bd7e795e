//! A native looks at an Array once.
//!
//! What one look gives has a type (`Seen`): it stays as it was found, and cannot be asked anew. But an Array can be looked at
//! twice, and beside others the second look may find another length. So the sources are read: in one function, what is looked
//! at by `seen()` is looked at by nothing else under that name. Who holds the Array (`Held`) may, for it stands still.

use std::path::{Path, PathBuf};

/// Functions that may, and why.
const ARGUED: &[(&str, &str)] = &[
    ("refinements_inside", "its list is looked at again after its own push; what it misses then is another activation's"),
    ("run_in", "the looks are in different instructions"),
];
const LOOKS: [&str; 6] = ["seen()", "len()", "is_empty()", "get(", "first()", "last()"];

/// The text with comments and literals blanked, byte for byte.
fn code_only(text: &str) -> String {
    let (s, mut out, mut i) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while i < s.len() {
        let end = match s[i] {
            b'/' if s.get(i + 1) == Some(&b'/') => s[i..].iter().position(|c| *c == b'\n').map_or(s.len(), |n| i + n),
            b'"' => {
                let mut j = i + 1;
                while j < s.len() && s[j] != b'"' {
                    j += 1 + usize::from(s[j] == b'\\');
                }
                (j + 1).min(s.len())
            }
            b'\'' if s.get(i + 2) == Some(&b'\'') => i + 3,
            b'\'' if s.get(i + 1) == Some(&b'\\') => s[i + 2..].iter().skip(1).position(|c| *c == b'\'').map_or(s.len(), |n| i + n + 4),
            _ => i,
        };
        if end == i {
            out.push(s[i]);
            i += 1;
        } else {
            out.extend(s[i..end].iter().map(|c| if *c == b'\n' { b'\n' } else { b' ' }));
            i = end;
        }
    }
    String::from_utf8(out.into_iter().map(|c| if c.is_ascii() { c } else { b' ' }).collect()).unwrap()
}
fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}
/// Where `name` stands as a word of its own, and no field of something.
fn places<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let s = text.as_bytes();
    text.match_indices(name)
        .map(|m| m.0)
        .filter(move |&at| (at == 0 || !is_word(s[at - 1]) && s[at - 1] != b'.') && s.get(at + name.len()).is_none_or(|c| !is_word(*c)))
}
/// Every function's name and its text from the parameters on.
fn functions(code: &str) -> Vec<(&str, &str)> {
    let s = code.as_bytes();
    let mut all = Vec::new();
    for at in places(code, "fn") {
        let rest = &code[at + 2..];
        let name = rest.trim_start();
        let name = &name[..name.bytes().position(|c| !is_word(c)).unwrap_or(0)];
        let Some(open) = rest.find(['{', ';']).filter(|o| rest.as_bytes()[*o] == b'{' && !name.is_empty()) else { continue };
        let (mut depth, mut end) = (0, at + 2 + open);
        while end < s.len() {
            depth += i32::from(s[end] == b'{') - i32::from(s[end] == b'}');
            end += 1;
            if depth == 0 {
                break;
            }
        }
        all.push((name, &code[at..end]));
    }
    all
}
/// Names that a function looks at more than once.
fn looked_at_again(body: &str) -> Vec<String> {
    let mut names: Vec<&str> = body
        .match_indices(".seen()")
        .map(|(at, _)| {
            let from = body[..at].bytes().rposition(|c| !is_word(c)).map_or(0, |p| p + 1);
            &body[from..at]
        })
        .filter(|n| !n.is_empty() && !n.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    names.sort();
    names.dedup();
    let again = |name: &&str| {
        // From here on the name is that of a look.
        let mut until = body.len();
        for at in places(body, name) {
            if body[at + name.len()..].starts_with(".seen()") {
                let from = body[..at].rfind([';', '{', '}']).map_or(0, |p| p + 1);
                let statement = &body[from..at + body[at..].find(';').unwrap_or(0)];
                let named = statement.find('=').map_or("", |eq| &statement[..eq]);
                if named.trim_start().starts_with("let ") && places(named, name).next().is_some() {
                    until = at + 1;
                    break;
                }
            }
        }
        let held = places(body, name).any(|at| {
            let from = body[..at].rfind([';', '{', '}']).map_or(0, |p| p + 1);
            let line = &body[from..at + body[at..].find([';', '{']).unwrap_or(0)];
            let bound = line.trim_start().starts_with("let ") && line.find('=').is_some_and(|eq| from + eq > at);
            bound && ["me_mut(", "me_held(", "Held::new"].iter().any(|h| line.contains(h))
                || body[at + name.len()..].trim_start_matches(':').trim_start().starts_with("Held")
        });
        let looks = places(body, name)
            .filter(|&at| at < until)
            .filter(|&at| body[at + name.len()..].strip_prefix('.').is_some_and(|r| LOOKS.iter().any(|l| r.starts_with(l))));
        !held && looks.count() > 1
    };
    names.into_iter().filter(again).map(String::from).collect()
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn natives_look_at_an_array_once() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
    let mut files = Vec::new();
    sources(&crates.join("core"), &mut files);
    sources(&crates.join("vm/src"), &mut files);
    let (mut found, mut looks, mut used) = (Vec::new(), 0, Vec::new());
    for file in &files {
        let code = code_only(&std::fs::read_to_string(file).unwrap());
        looks += code.matches(".seen()").count();
        for (name, body) in functions(&code) {
            for what in looked_at_again(body) {
                match ARGUED.iter().find(|a| a.0 == name) {
                    Some(a) => used.push(a.0),
                    None => found.push(format!("{}: {name} looks at `{what}` more than once", file.display())),
                }
            }
        }
    }
    assert!(looks > 80, "only {looks} looks were found");
    assert!(found.is_empty(), "let x = x.seen() first, and go on with that:\n{}", found.join("\n"));
    for (name, _) in ARGUED {
        assert!(used.contains(name), "{name} is argued for in vain");
    }
}

/// What the test is there for is found, and what is right is not.
#[test]
fn a_planted_second_look_is_found() {
    let again = |text: &str| {
        let code = code_only(text);
        functions(&code).iter().flat_map(|f| looked_at_again(f.1)).collect::<Vec<_>>()
    };
    assert_eq!(again("fn f(a: Gc<ArrayObj>) { let n = a.len(); for v in a.seen().part(0..n) {} }"), ["a"]);
    assert_eq!(again("fn f() { let (x, y) = (g(), g()); if x.seen().len() > 0 { h(x.seen().to_vec()); y.seen(); } }"), ["x"]);
    assert_eq!(again("fn f() { if b.is_empty() { return; }\n let all = b.seen(); all.len(); all.get(0) }"), ["b"]);
    assert_eq!(again("fn f() { let a = me(); let a = a.seen(); a.len(); a.get(1); }"), [""; 0]);
    assert_eq!(again("fn f() { let (a, b) = (a.seen(), b.seen()); a.len() + b.len() }"), [""; 0]);
    assert_eq!(again("fn f() { let mut a = me_mut(cx, recv)?; a.len(); a.seen(); }"), [""; 0]);
    assert_eq!(again("fn f(mut a: Held, n: usize) { a.len(); a.seen(); }"), [""; 0]);
    assert_eq!(again("fn f() { a.seen(); } fn g() { // a.seen()\n a.len(); \"a.seen()\"; '\\''; }"), [""; 0]);
}
