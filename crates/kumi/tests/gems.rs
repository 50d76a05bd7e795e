//! Pure-Ruby gems as Debian packages them do their ordinary work as under CRuby: each program
//! in tests/gems prints what CRuby printed (`tests/gems/record`). The test of a gem that is not installed counts as
//! ignored. The packages are `ruby-NAME`.

use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Debian puts gems, which kumi finds by itself, and libraries that are in no gem's folder.
const GEMS: &str = "/usr/share/rubygems-integration/all/gems";
const VENDOR: &str = "/usr/lib/ruby/vendor_ruby";

/// How a gem is found, if it is installed.
enum Found {
    Gem,
    /// In a folder that holds more than this library (another Ruby's rubygems, for one).
    Library,
}
fn find(name: &str) -> Option<Found> {
    let is_gem = |e: std::fs::DirEntry| e.path().join("lib").join(format!("{name}.rb")).exists();
    if std::fs::read_dir(GEMS).is_ok_and(|mut all| all.any(|e| e.is_ok_and(is_gem))) {
        return Some(Found::Gem);
    }
    Path::new(VENDOR).join(format!("{name}.rb")).exists().then_some(Found::Library)
}

/// A folder with nothing but one library of [`VENDOR`]. Removed with this.
struct Alone(PathBuf);
impl Alone {
    fn new(name: &str) -> Alone {
        let dir = std::env::temp_dir().join(format!("kumi-gems-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        for file in [name.to_string(), format!("{name}.rb")] {
            let _ = std::os::unix::fs::symlink(Path::new(VENDOR).join(&file), dir.join(&file));
        }
        Alone(dir)
    }
}
impl Drop for Alone {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs one gem's program.
fn gem(name: &str, found: Found) {
    let dir = folder();
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.arg("-W0");
    let alone = matches!(found, Found::Library).then(|| Alone::new(name));
    if let Some(Alone(folder)) = &alone {
        c.arg("-I").arg(folder);
    }
    c.arg(format!("{name}.rb")).current_dir(&dir);
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
    let programs = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "rb"));
    let mut names: Vec<String> = programs.map(|p| p.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    let trials = names.into_iter().map(|name| {
        let (title, found) = (name.clone(), find(&name));
        let absent = found.is_none();
        let run = move || {
            gem(&name, found.ok_or("it is not installed")?);
            Ok(())
        };
        Trial::test(title, run).with_ignored_flag(absent)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}
