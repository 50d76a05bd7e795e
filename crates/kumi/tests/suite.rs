//! Every program in tests/lang and tests/system prints what stands beside it, with the collector idle and
//! with the collector running at seeded safepoints, and with stacks that move wherever they could grow.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn programs(dir: &str) -> Vec<PathBuf> {
    let d = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(dir);
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(d).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "rb")).collect();
    all.sort();
    assert!(!all.is_empty());
    all
}

/// A development mode of the runtime, with its rhythm.
#[derive(Clone, Copy)]
enum Stress {
    None,
    Collector(u32),
    Stack(u32),
}

/// Output and exit status, or why there is none.
fn run(program: &Path, stress: Stress, limit: Duration) -> Result<(Vec<u8>, String, Option<i32>), String> {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.arg("-W0").arg(program.file_name().unwrap()).current_dir(program.parent().unwrap());
    c.env_remove("RUBYOPT").env_remove("RUBYLIB").env_remove("KUMI_PRELUDE");
    match stress {
        Stress::None => {}
        Stress::Collector(n) => {
            c.env("KUMI_GC_STRESS", n.to_string());
        }
        Stress::Stack(n) => {
            c.env("KUMI_STACK_STRESS", n.to_string());
        }
    }
    c.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = c.spawn().map_err(|e| e.to_string())?;
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let out = std::thread::spawn(move || {
        let mut b = Vec::new();
        let _ = std::io::Read::read_to_end(&mut out, &mut b);
        b
    });
    let err = std::thread::spawn(move || {
        let mut b = Vec::new();
        let _ = std::io::Read::read_to_end(&mut err, &mut b);
        String::from_utf8_lossy(&b).into_owned()
    });
    let start = Instant::now();
    let status = loop {
        if let Some(s) = child.try_wait().map_err(|e| e.to_string())? {
            break s;
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("still running after {limit:?}"));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ok((out.join().unwrap(), err.join().unwrap(), status.code()))
}

/// The first line that differs.
fn difference(want: &[u8], got: &[u8]) -> Option<String> {
    if want == got {
        return None;
    }
    let (w, g) = (String::from_utf8_lossy(want), String::from_utf8_lossy(got));
    let (mut w, mut g) = (w.lines(), g.lines());
    let mut n = 0;
    loop {
        n += 1;
        let (a, b) = (w.next(), g.next());
        if a != b || a.is_none() {
            return Some(format!("output line {n}\n    want {}\n    got  {}", a.unwrap_or("(end)"), b.unwrap_or("(end)")));
        }
    }
}

fn check_all(dir: &str, stress: Stress, limit: Duration) {
    let all = programs(dir);
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                while let Some(p) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let want = std::fs::read(p.with_extension("out")).unwrap_or_default();
                    let trouble = match run(p, stress, limit) {
                        Err(e) => Some(e),
                        Ok((out, err, status)) => difference(&want, &out)
                            .or_else(|| (status != Some(0)).then(|| format!("exit status {status:?}")))
                            .map(|d| format!("{d}\n    stderr {}", err.lines().take(3).collect::<Vec<_>>().join(" | "))),
                    };
                    if let Some(t) = trouble {
                        failures.lock().unwrap().push(format!("{}: {t}", p.file_name().unwrap().to_string_lossy()));
                    }
                }
            });
        }
    });
    let mut f = failures.into_inner().unwrap();
    f.sort();
    assert!(f.is_empty(), "{} of {} programs in tests/{dir} fail\n{}", f.len(), all.len(), f.join("\n"));
}

fn seed(default: u32) -> u32 {
    std::env::var("KUMI_TEST_SEED").ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn programs_print_what_is_recorded() {
    check_all("lang", Stress::None, Duration::from_secs(60));
    check_all("system", Stress::None, Duration::from_secs(60));
    check_all("stack", Stress::None, Duration::from_secs(60));
}

// KUMI_TEST_SEED picks another rhythm.
#[test]
fn programs_print_the_same_under_collector_stress() {
    let k = seed(97);
    check_all("lang", Stress::Collector(k), Duration::from_secs(240));
    check_all("system", Stress::Collector(k), Duration::from_secs(240));
}

#[test]
fn the_kernel_suite_holds_with_a_collection_at_every_safepoint() {
    check_all("kernel", Stress::Collector(1), Duration::from_secs(240));
}

#[test]
fn programs_print_the_same_while_stacks_move_at_every_call() {
    for dir in ["lang", "kernel", "system"] {
        check_all(dir, Stress::Stack(1), Duration::from_secs(240));
    }
    check_all("stack", Stress::Stack(seed(5)), Duration::from_secs(240));
}
