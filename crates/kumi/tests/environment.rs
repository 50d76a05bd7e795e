//! A variable with a value that cannot be used is named at the start, with what is accepted.

use std::process::Command;

/// Standard output and error of a program under one variable.
fn under(name: &str, value: &str, args: &[&str]) -> (String, String) {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    for (k, _) in std::env::vars().filter(|(k, _)| k.starts_with("KUMI_") || k.starts_with("RUBY")) {
        c.env_remove(k);
    }
    let out = c.args(args).env(name, value).output().unwrap();
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// Words of a text that name variables.
fn named(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
    words.filter(|w| w.starts_with("KUMI_") || w.starts_with("RUBY_") && w.contains("_VM_STACK_")).collect()
}

/// Variables that are on or off: whatever is not 0 is on.
const SWITCHES: &[&str] = &["KUMI_VERIFY", "KUMI_TWIN_STRESS", "KUMI_SEGMENT_STRESS"];

#[test]
fn every_variable_of_the_documents_tells_when_it_cannot_be_used() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/VARIABLES.md")).unwrap();
    let page = page.split("## Of tests and tools").next().unwrap();
    let rows: String = page.lines().filter(|l| l.starts_with("| `")).filter_map(|l| l.split(" | ").next()).collect();
    let (help, _) = under("KUMI_WORKERS", "1", &["--help"]);
    let mut names = [named(&rows), named(&help)].concat();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 21, "{names:?}");
    for name in names {
        if SWITCHES.contains(&name) {
            assert_eq!(under(name, "no such thing", &["-e", "print 1"]), ("1".into(), String::new()), "{name}");
            continue;
        }
        // Only `kumi node` and `kumi top` read them, and tell of them.
        if name.starts_with("KUMI_NODE_") || name == "KUMI_TOP_TOKEN" {
            continue;
        }
        // Whatever is no level of the log is a file; one that cannot be written ends the program.
        if name == "KUMI_GC_LOG" {
            let (out, err) = under(name, "/nowhere/at/all", &["-e", "print 1"]);
            assert!(out.is_empty() && err.contains("/nowhere/at/all") && err.ends_with("(KUMI_GC_LOG)\n"), "{err}");
            continue;
        }
        let (out, err) = under(name, "no such thing", &["-e", "print 1"]);
        let lines: Vec<&str> = err.lines().filter(|l| l.starts_with("kumi: warning: ")).collect();
        assert_eq!(lines.len(), 1, "{name}: {err}");
        assert!(lines[0].contains(name) && lines[0].contains("no such thing") && lines[0].contains("accepted: "), "{name}: {err}");
        // Without its own sources of the built-in classes no program runs.
        if name != "KUMI_PRELUDE" {
            assert_eq!((out.as_str(), err.lines().count()), ("1", 1), "{name}: {err}");
        }
        assert_eq!(under(name, "", &["-e", "print 1"]), ("1".into(), String::new()), "{name}");
    }
}

#[test]
fn a_library_that_is_not_there_is_named_and_not_what_it_would_have_had() {
    let (out, err) = under("KUMI_LIB", "/no/such/folder", &["-e", "require 'json'"]);
    assert!(out.is_empty() && err.contains("cannot load such file -- json (LoadError)") && !err.contains("Gem"), "{err}");
    let (_, err) = under("RUBYOPT", "-rnope", &["-e", "1"]);
    assert_eq!(err, "kumi: cannot load such file -- nope (LoadError)\n");
}

#[test]
fn usual_values_are_used_without_a_word() {
    for (name, value) in [
        ("KUMI_WORKERS", "2"),
        ("KUMI_HEAP_MAX", "512M"),
        ("KUMI_TLH", "off"),
        ("KUMI_WINDOW", "64"),
        ("KUMI_YOUNG", "8"),
        ("KUMI_TLH_SITES", "static"),
        ("KUMI_TLH_RATIO", "8"),
        ("KUMI_SCHED_STRESS", "7"),
        ("RUBY_THREAD_VM_STACK_SIZE", "1048576"),
    ] {
        assert_eq!(under(name, value, &["-e", "print 1"]), ("1".into(), String::new()), "{name}");
    }
    // A limit that cannot be used limits nothing.
    let limit = ["-W0", "-e", "print GC.stat(:heap_max)"];
    assert_eq!(under("KUMI_HEAP_MAX", "0", &limit), under("KUMI_HEAP_MAX", "", &limit));
    // All that is wrong is told, and `-W0` tells nothing.
    assert_eq!(under("KUMI_WINDOW", "7", &["-W0", "-e", "print 1"]), ("1".into(), String::new()));
    assert!(under("KUMI_WINDOW", "7", &["-e", "1"]).1.contains("a number from 8 to 256"));
}
