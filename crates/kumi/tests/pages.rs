//! Pages name what is there: each path and each link of README, `docs` and the benches' READMEs leads somewhere.
//!
//! A *path* is a word in backticks that ends like a file of the tree, or whose first part is the name of a folder. It is looked for
//! beside its page, from the root, under `crates`, in a crate without `src` (`vm/tasks/thread.rs`), and as the end of any path
//! (`insn.rs`). Blocks of code are not read; the programs of the first pages are run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Endings of files that pages name.
const ENDINGS: &[&str] = &["rs", "rb", "md", "toml", "svg", "out"];

/// Words of a page that look like paths, and are none of the tree.
const ELSEWHERE: &[(&str, &[&str])] = &[
    // A folder of ruby/spec.
    ("docs/COMPAT.md", &["core/tracepoint"]),
    // The reader's own.
    ("docs/SEGMENTS.md", &["work.rb"]),
    ("docs/OPERATING.md", &["work.rb"]),
    ("docs/GUIDE.md", &["slow.rb", "sample.rb", "grows.rb", "dead.rb", "work.rb", "stands.rb"]),
    // Beside an installed command.
    ("docs/VARIABLES.md", &["lib/kumi"]),
];

/// All files and folders of the tree, from the root, without what builds leave.
struct Tree {
    root: PathBuf,
    paths: BTreeSet<String>,
    /// Names of the folders.
    folders: BTreeSet<String>,
    /// `crates/core/string` and the like.
    crates: Vec<String>,
}

impl Tree {
    fn read() -> Tree {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let mut tree = Tree { root: root.clone(), paths: BTreeSet::new(), folders: BTreeSet::new(), crates: Vec::new() };
        tree.walk(&root);
        tree.crates = tree.paths.iter().filter_map(|p| p.strip_suffix("/Cargo.toml")).map(String::from).collect();
        tree
    }
    fn walk(&mut self, dir: &Path) {
        for e in std::fs::read_dir(dir).unwrap().flatten() {
            let path = e.path();
            let name = path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned();
            if name == "target" || name == ".git" || name == "bench/out" {
                continue;
            }
            self.paths.insert(name);
            if e.file_type().unwrap().is_dir() {
                self.folders.insert(e.file_name().into_string().unwrap());
                self.walk(&path);
            }
        }
    }
    /// Pages that are read.
    fn pages(&self) -> Vec<&String> {
        let is_page = |p: &&String| {
            p.as_str() == "README.md" || p.starts_with("docs/") && p.ends_with(".md") || p.starts_with("bench/") && p.ends_with("README.md")
        };
        self.paths.iter().filter(is_page).collect()
    }
    /// The path from the root that is meant by one that a page in `folder` names.
    fn find(&self, folder: &str, path: &str) -> Option<String> {
        let path = path.trim_end_matches('/');
        let mut tried = vec![join(folder, path), join("", path), join("crates", path)];
        for c in &self.crates {
            let short = c.strip_prefix("crates/").unwrap_or(c);
            if let Some(rest) = path.strip_prefix(short).and_then(|r| r.strip_prefix('/')) {
                tried.push(join(&format!("{c}/src"), rest));
            }
        }
        let end = format!("/{path}");
        tried.into_iter().find(|t| self.is_there(t)).or_else(|| self.paths.iter().find(|p| p.ends_with(&end)).cloned())
    }
    /// The texts of a file, or of all files below a folder.
    fn text(&self, path: &str) -> String {
        let below = format!("{path}/");
        let files = self.paths.iter().filter(|p| *p == path || p.starts_with(&below));
        files.filter_map(|p| std::fs::read_to_string(self.root.join(p)).ok()).collect()
    }
    /// A path from the root, in which `*` stands for any name.
    fn is_there(&self, path: &str) -> bool {
        if path.is_empty() || !path.contains('*') {
            return path.is_empty() || self.paths.contains(path);
        }
        let like =
            |p: &String| p.split('/').count() == path.split('/').count() && p.split('/').zip(path.split('/')).all(|(a, b)| matches(a, b));
        self.paths.iter().any(like)
    }
    /// Does a word in backticks mean a path of the tree?
    fn means_a_path(&self, word: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./*".contains(c);
        if !word.chars().all(plain) || word.starts_with(['/', '-', '*']) || !word.contains(|c: char| c.is_ascii_lowercase()) {
            return false;
        }
        // `DIR/results.json`, `x.rb`: the reader's own.
        if word.split('/').any(|part| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase())) {
            return false;
        }
        let named = word.rsplit_once('.').is_some_and(|(name, end)| name.len() > 1 && ENDINGS.contains(&end));
        named
            || word
                .split_once('/')
                .is_some_and(|(first, rest)| rest.is_empty() || [".", ".."].contains(&first) || self.folders.contains(first))
    }
}

/// Does a name fit a pattern with at most one `*`?
fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((a, b)) => name.len() >= a.len() + b.len() && name.starts_with(a) && name.ends_with(b),
    }
}

/// A path from a folder, with `.` and `..` resolved.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The words of a piece of code that may be paths. Behind `spec/run` stand folders of ruby/spec.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split_whitespace().take(if code.starts_with("spec/run ") { 1 } else { usize::MAX })
}

/// What a page names in one line: words in backticks, and targets of links.
fn named(line: &str) -> (Vec<&str>, Vec<&str>) {
    let words = line.split('`').skip(1).step_by(2).flat_map(words).map(|w| w.trim_matches([',', ';', '(', ')'])).collect();
    let links = line.split("](").skip(1).filter_map(|l| l.split_once(')')).map(|(target, _)| target).collect();
    (words, links)
}

/// The name by which a link finds a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || "_- ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Lines of a page's text, numbered, without blocks of code.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(n, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!code && !fence).then_some((n + 1, line))
    })
}

/// What is wrong with a page, a line each.
fn wrong(tree: &Tree, page: &str, text: &str) -> Vec<String> {
    let folder = page.rsplit_once('/').map_or("", |(f, _)| f);
    let elsewhere = |w: &str| ELSEWHERE.iter().any(|(p, words)| *p == page && words.contains(&w));
    let mut out = Vec::new();
    for (n, line) in lines(text) {
        let (words, links) = named(line);
        for word in words.into_iter().filter(|w| tree.means_a_path(w) && !elsewhere(w)) {
            if tree.find(folder, word).is_none() {
                out.push(format!("{page}:{n}: {word} is not there"));
            }
        }
        let all: Vec<&str> = line.split(|c: char| c.is_whitespace() || "`,|".contains(c)).collect();
        for pair in all.windows(2).filter(|p| p[0] == "--test") {
            let forms = [format!("/tests/{}.rs", pair[1]), format!("/tests/{}/main.rs", pair[1])];
            if !tree.paths.iter().any(|p| p.starts_with("crates/") && forms.iter().any(|f| p.ends_with(f))) {
                out.push(format!("{page}:{n}: there is no test {}", pair[1]));
            }
        }
        for link in links.into_iter().filter(|l| !l.contains("://") && !l.starts_with("mailto:")) {
            let (file, part) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.to_string() } else { join(folder, file) };
            if !tree.is_there(&target) {
                out.push(format!("{page}:{n}: {link} leads nowhere"));
            } else if !part.is_empty() {
                let there = std::fs::read_to_string(tree.root.join(&target)).unwrap_or_default();
                if !lines(&there).any(|(_, l)| l.starts_with('#') && anchor(l) == part) {
                    out.push(format!("{page}:{n}: {target} has no heading for #{part}"));
                }
            }
        }
    }
    out
}

#[test]
fn every_path_of_the_pages_is_there() {
    let tree = Tree::read();
    let pages = tree.pages();
    assert!(pages.len() > 30, "{pages:?}");
    let mut all = Vec::new();
    for page in pages {
        all.extend(wrong(&tree, page, &std::fs::read_to_string(tree.root.join(page)).unwrap()));
    }
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}

/// What a row of "Where do I…" names behind a path and is not found in that file.
fn lost(tree: &Tree, row: &str) -> Vec<String> {
    let Some((_, places)) = row.split_once(" | ") else { return Vec::new() };
    let mut out = Vec::new();
    let mut text = None;
    for word in places.split('`').skip(1).step_by(2) {
        if tree.means_a_path(word) {
            text = tree.find("docs", word).map(|p| tree.text(&p));
        } else if !text.as_ref().is_some_and(|t| t.contains(word.trim_end_matches(':'))) {
            out.push(word.to_owned());
        }
    }
    out
}

#[test]
fn where_do_i_names_what_is_there() {
    let tree = Tree::read();
    let page = std::fs::read_to_string(tree.root.join("docs/HACKING.md")).unwrap();
    let (_, rest) = page.split_once("## Where do I").unwrap();
    let rows: Vec<&str> = rest.split("\n## ").next().unwrap().lines().filter(|l| l.starts_with("| ")).collect();
    assert!(rows.len() > 50, "{}", rows.len());
    let wrong: Vec<_> = rows.iter().map(|r| (r, lost(&tree, r))).filter(|(_, l)| !l.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(lost(&tree, "| a task | `kumi/options.rs` `Settings`, `no_such_name` |"), ["no_such_name"]);
}

/// Blocks of Ruby of a page.
fn programs(text: &str) -> Vec<&str> {
    text.split("```ruby\n").skip(1).filter_map(|t| t.split("```").next()).collect()
}

#[test]
fn programs_of_the_first_pages_run_as_they_stand() {
    let root = Tree::read().root;
    for (page, least) in [("README.md", 3), ("docs/GUIDE.md", 4)] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let programs = programs(&text);
        assert!(programs.len() >= least, "{page}: {}", programs.len());
        let saved = saved(&text);
        for program in programs.into_iter().filter(|p| !saved.values().any(|s| s == p)) {
            let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
            let out = c.args(["-e", program]).env_remove("RUBYOPT").current_dir(std::env::temp_dir()).output().unwrap();
            let err = String::from_utf8_lossy(&out.stderr);
            assert!(out.status.success() && !err.contains("rror"), "{page}:\n{program}\n{err}");
        }
    }
}

/// Programs of a page that are to be saved, by their names.
fn saved(text: &str) -> BTreeMap<&str, &str> {
    let named = text.split("Save this as `").skip(1).filter_map(|t| Some((t.split_once('`')?.0, *programs(t).first()?)));
    named.collect()
}

/// Commands of a page, each with what it is said to print.
fn sessions(text: &str) -> Vec<(&str, Vec<&str>)> {
    let blocks = text.split("\n```\n$ ").skip(1).filter_map(|t| t.split_once("\n```"));
    blocks
        .map(|(block, _)| {
            block.split_once('\n').map_or((block, Vec::new()), |(c, rest)| (c, rest.lines().filter(|l| !l.starts_with("$ ")).collect()))
        })
        .collect()
}

/// A place in a program, with the method, that a line of output names; nothing else of it is the same twice.
fn place(line: &str) -> Option<&str> {
    let start = line.split_once(".rb:").map(|(before, _)| before.rfind(' ').map_or(0, |at| at + 1))?;
    Some(line[start..].trim_end())
}

#[test]
fn commands_of_the_guide_print_what_they_are_said_to() {
    let text = std::fs::read_to_string(Tree::read().root.join("docs/GUIDE.md")).unwrap();
    let folder = std::env::temp_dir().join(format!("kumi-guide-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, program) in saved(&text) {
        std::fs::write(folder.join(name), program).unwrap();
    }
    // In place of the hand that sends the signal; what ends it if nothing comes of that.
    let kick = "Thread.new do\n  sleep 0.1 until Thread.list.size == 4 && Thread.list.all? { |t| t.backtrace&.any? }\n  \
                Process.kill(:QUIT, $$)\n  sleep 20\n  exit!\nend\n";
    std::fs::write(folder.join("kick.rb"), kick).unwrap();
    let sessions = sessions(&text);
    assert!(sessions.len() >= 7, "{sessions:?}");
    for (command, shows) in sessions {
        let words: Vec<&str> = command.split(' ').filter(|w| *w != "&").collect();
        let (variables, words) = words.split_at(words.iter().position(|w| *w == "kumi").unwrap());
        let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
        c.envs(variables.iter().filter_map(|v| v.split_once('='))).env_remove("RUBYOPT").current_dir(&folder);
        let stays = words.last() == Some(&"work.rb");
        c.args(if stays { &["-r", "./kick.rb"][..] } else { &[] }).args(&words[1..]);
        let mut child = c.stderr(std::process::Stdio::piped()).spawn().unwrap();
        let wanted: BTreeSet<&str> = shows.iter().filter_map(|l| place(l)).collect();
        // Which lines come first where samples are taken is chance, and so is where a thread that runs just is.
        let least = match () {
            () if command.contains("sample.rb") => 2,
            () if stays => wanted.len() - 1,
            () => wanted.len(),
        };
        let found = |said: &str| wanted.iter().filter(|w| said.contains(**w)).count();
        let mut said = String::new();
        let mut lines = std::io::BufReader::new(child.stderr.take().unwrap());
        while std::io::BufRead::read_line(&mut lines, &mut said).unwrap() > 0 {
            if stays && found(&said) >= least {
                let _ = child.kill();
            }
        }
        let _ = child.wait();
        assert!(found(&said) >= least && shows.first().is_none_or(|l| starts_alike(l, &said)), "{command}\n{said}\n{wanted:?}");
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// Does a line of the text begin as this one does, before the first figure?
fn starts_alike(line: &str, text: &str) -> bool {
    let head = line.split(|c: char| c.is_ascii_digit()).next().unwrap_or("").trim();
    text.lines().any(|l| l.trim_start().starts_with(head))
}

#[test]
fn every_variable_that_is_read_has_a_row() {
    let tree = Tree::read();
    let page = std::fs::read_to_string(tree.root.join("docs/VARIABLES.md")).unwrap();
    let rows: String = page.lines().filter(|l| l.starts_with("| `")).collect();
    // Of what is there for tests alone HACKING says what it reads.
    let of_tests = |p: &str| p.starts_with("crates/chance/") || p.ends_with("/fuzz.rs");
    let sources = tree.paths.iter().filter(|p| p.starts_with("crates/") && p.contains("/src/") && p.ends_with(".rs") && !of_tests(p));
    let mut read = BTreeSet::new();
    for text in sources.map(|p| std::fs::read_to_string(tree.root.join(p)).unwrap()) {
        let quoted = text.split('"').map(String::from);
        let name = |w: &String| w.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        read.extend(quoted.filter(|w| w.starts_with("KUMI_") && name(w) || w.starts_with("RUBY_") && w.contains("_VM_STACK_")));
    }
    assert!(read.len() >= 22, "{read:?}");
    let missing: Vec<&String> = read.iter().filter(|n| !rows.contains(&format!("`{n}`"))).collect();
    assert!(missing.is_empty(), "read, and not in docs/VARIABLES.md: {missing:?}");
}

#[test]
fn a_path_that_is_not_there_is_found() {
    let tree = Tree::read();
    let good = "`crates/kumi/src/main.rs`, `vm/interp/run.rs`, `core/*`, `insn.rs`, `prelude/`, `../bench/run --against KUMI`, `DIR/x.json`, \
                `a/b`, `-I/x.rb`, [x](HACKING.md#tests), [y](https://example.org/no.md)\n```\n`no/where.rs`\n```\n";
    assert_eq!(wrong(&tree, "docs/HACKING.md", good), Vec::<String>::new());
    let bad = "text\n`vm/interp/no_such.rs` and `crates/nowhere/`\n[x](nowhere.md), [y](XML.md#no-such-heading), `nothing_of_this_name.rb`\n\
               `cargo test -p kumi --test house --test no_such_test`";
    let found = wrong(&tree, "docs/HACKING.md", bad);
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found[0] == "docs/HACKING.md:2: vm/interp/no_such.rs is not there", "{found:?}");
}
