//! Pure-Ruby gems as Debian packages them do their ordinary work as under CRuby: each program
//! in tests/gems prints what CRuby printed (`tests/gems/record`). The test of a gem that is not installed counts as
//! ignored. The packages are `ruby-NAME`.

use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Debian puts gems that belong to no Ruby version, and libraries without a gem's folder.
const GEMS: &str = "/usr/share/rubygems-integration/all/gems";
const VENDOR: &str = "/usr/lib/ruby/vendor_ruby";

/// The load path of every installed gem.
fn load_path() -> Vec<PathBuf> {
    let mut all = Vec::new();
    let Ok(gems) = std::fs::read_dir(GEMS) else { return all };
    for gem in gems.flatten() {
        let lib = gem.path().join("lib");
        // concurrent-ruby keeps its files one folder deeper.
        let inner = lib.join("concurrent-ruby");
        all.extend([inner, lib].into_iter().filter(|l| l.is_dir()));
    }
    all.sort();
    all.push(VENDOR.into());
    all
}

/// Runs one gem's program.
fn gem(name: &str, path: &[PathBuf]) {
    let dir = folder();
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.arg("-W0").args(path.iter().flat_map(|l| [Path::new("-I"), l])).arg(format!("{name}.rb")).current_dir(&dir);
    c.env_remove("RUBYOPT").env_remove("RUBYLIB").env_remove("KUMI_PRELUDE").env_remove("KUMI_LIB").stdin(Stdio::null());
    let out = c.output().unwrap();
    let want = String::from_utf8(std::fs::read(dir.join(format!("{name}.out"))).unwrap()).unwrap();
    let got = String::from_utf8_lossy(&out.stdout);
    for (i, line) in want.lines().enumerate() {
        let g = got.lines().nth(i).unwrap_or("(end)");
        assert_eq!(line, g, "{name}: output line {}\n{}", i + 1, String::from_utf8_lossy(&out.stderr));
    }
    assert_eq!(want, got, "{name}");
    assert!(out.status.success(), "{name}: {:?}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/gems")
}

fn main() {
    let path = load_path();
    let programs = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "rb"));
    let mut names: Vec<String> = programs.map(|p| p.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    let trials = names.into_iter().map(|name| {
        let there = path.iter().any(|l| l.join(format!("{name}.rb")).exists());
        let path = path.clone();
        Trial::test(name.clone(), move || Ok(gem(&name, &path))).with_ignored_flag(!there)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}
