//! Hostile programs end in Ruby exceptions: every program in tests/bad_input prints what is
//! recorded beside it. Never a signal, never an internal error.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// Output, errors and exit status of a program that has `limit` to end in.
fn run(dir: &Path, args: &[&str], env: &[(&str, &str)], limit: Duration) -> (String, String, Option<i32>) {
    let out_file = tempfile("out", args, env);
    let err_file = tempfile("err", args, env);
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.arg("-W0")
        .args(args)
        .current_dir(dir)
        .env_remove("RUBYOPT")
        .env_remove("RUBYLIB")
        .env_remove("KUMI_PRELUDE")
        .env_remove("RUST_BACKTRACE");
    c.env("KUMI_HEAP_MAX", "512M").envs(env.iter().copied()).stdin(Stdio::null());
    c.stdout(std::fs::File::create(&out_file).unwrap()).stderr(std::fs::File::create(&err_file).unwrap());
    let mut child = c.spawn().unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(s) = child.try_wait().unwrap() {
            break s;
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{args:?} {env:?}: still running after {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let read = |p: &Path| {
        let text = String::from_utf8_lossy(&std::fs::read(p).unwrap_or_default()).into_owned();
        let _ = std::fs::remove_file(p);
        text
    };
    (read(&out_file), read(&err_file), status.code())
}

fn tempfile(what: &str, args: &[&str], env: &[(&str, &str)]) -> PathBuf {
    let id: String = format!("{args:?}{env:?}").chars().filter(char::is_ascii_alphanumeric).collect();
    std::env::temp_dir().join(format!("kumi-bad-{}-{id}.{what}", std::process::id()))
}

#[test]
fn hostile_programs_end_in_exceptions() {
    let dir = tests().join("bad_input");
    let mut names: Vec<String> =
        std::fs::read_dir(&dir).unwrap().filter_map(|e| e.unwrap().file_name().into_string().ok()).filter(|n| n.ends_with(".rb")).collect();
    names.sort();
    assert!(!names.is_empty());
    for name in names {
        let want = std::fs::read_to_string(dir.join(&name).with_extension("out")).unwrap();
        let (out, err, status) = run(&dir, &[&name], &[], Duration::from_secs(240));
        for (i, line) in want.lines().enumerate() {
            assert_eq!(line, out.lines().nth(i).unwrap_or("(end)"), "{name}: line {}\n{err}", i + 1);
        }
        assert_eq!(want, out, "{name}\n{err}");
        assert_eq!(status, Some(0), "{name}\n{err}");
    }
}
