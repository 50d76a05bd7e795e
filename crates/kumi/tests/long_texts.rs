//! The time to read a text grows with its length, not with its square: long lists of everything that the grammar repeats
//! are compiled, or refused, soon. The bounds tell an answer from a hang and are no measure.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a program from standard input; its output and errors.
fn run(name: &str, text: &str) -> (String, String) {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.arg("-W0").arg("-").env_remove("RUBYOPT").env_remove("RUBYLIB").env_remove("KUMI_PRELUDE").env_remove("KUMI_LIB");
    let mut child = c.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = text.to_string();
    let feed = std::thread::spawn(move || {
        let _ = stdin.write_all(text.as_bytes());
    });
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{name}: no answer for a minute");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    feed.join().unwrap();
    let out = child.wait_with_output().unwrap();
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// `n` pieces, joined.
fn list(n: usize, between: &str, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect::<Vec<_>>().join(between)
}

#[test]
fn long_literals_and_lists_are_compiled_or_refused_soon() {
    const N: usize = 100_000;
    let a = |i: usize| format!("a{i}");
    let texts: Vec<(&str, String)> = vec![
        ("hex", format!("x = 0x{}", "f".repeat(1_000_000))),
        ("octal", format!("x = 0o{}", "7".repeat(1_000_000))),
        ("binary", format!("x = 0b{}", "10".repeat(500_000))),
        ("underscored", format!("x = {}", "9_9".repeat(200_000))),
        ("rational", format!("x = {}.5r", "9".repeat(300_000))),
        ("locals", list(N, "\n", |i| format!("a{i} = {i}"))),
        ("captured", format!("{}\nproc {{ {} }}", list(N, "\n", |i| format!("a{i} = {i}")), list(N, ";", a))),
        ("parameters", format!("def m({}) = 1", list(N, ",", a))),
        ("optional parameters", format!("def m({}) = 1", list(N, ",", |i| format!("a{i}=1")))),
        ("keyword parameters", format!("def m({}) = 1", list(N, ",", |i| format!("a{i}: 1")))),
        ("destructured parameters", format!("proc {{ |{}| }}", list(N, ",", |i| format!("(a{i},)")))),
        ("passed on", format!("def m({}) = super", list(50_000, ",", a))),
        ("flip-flops", format!("x = 1\n{}", list(N / 2, "\n", |_| "1 if (x == 1)..(x == 2)".into()))),
        ("eval of captured", format!("{}\nb = binding\nb.eval({:?})", list(30_000, "\n", |i| format!("a{i} = {i}")), list(30_000, ";", a))),
        ("when", format!("case 5\n{}\nend", list(N, "\n", |i| format!("when {i} then {i}")))),
        ("hash", format!("x = {{{}}}", list(N, ",", |i| format!("a{i}: {i}")))),
        ("keywords", format!("def m(**k) = k.size\nm({})", list(N, ",", |i| format!("a{i}: {i}")))),
        ("array", format!("x = [{}]", list(N, ",", |i| format!("'a{i}'")))),
        ("interpolation", format!("x = 1\ny = \"{}\"", list(N, "", |_| "b#{x}".into()))),
        ("stores", list(20_000, "\n", |i| format!("@a{i} = 'x'"))),
        ("methods", list(N / 4, "\n", |i| format!("def m{i}(a) = a"))),
        ("constants", list(20_000, "\n", |i| format!("A{i} = {i}"))),
        ("assigned at once", format!("{} = 1", list(N, ",", a))),
        ("chain", format!("x = 1\nx{}", ".itself".repeat(N))),
        ("sum", format!("x = 1\nx{}", " + 1".repeat(N))),
        ("rescues", format!("begin\n1\n{}end", "rescue ArgumentError => e\n2\n".repeat(N))),
        ("branches", format!("x = 1\nif x == 0\n{}end", list(N, "", |i| format!("elsif x == {i}\n")))),
        ("blocks", format!("{}1{}", "proc { ".repeat(3000), " }".repeat(3000))),
    ];
    for (name, text) in texts {
        let (out, err) = run(name, &format!("{text}\nputs 'done'\n"));
        assert!(out == "done\n" || err.contains("(SyntaxError)"), "{name}: {out} {}", &err[..err.len().min(500)]);
    }
}

#[test]
fn a_yaml_flow_collection_may_have_many_lines() {
    let (out, err) = run(
        "yaml",
        r#"
        require "yaml"
        p YAML.load("[" + (1..20_000).map { "a#{it}" }.join(",\n ") + "]").size
        p YAML.load("{" + (1..20_000).map { "a#{it}: 'b\n  c'" }.join(",\n ") + "}").values.uniq
        p YAML.load("x: \"" + "line\n " * 20_000 + "\"")["x"].size
        p YAML.load("[a b\n c, d#e, f #g\n, 'x\n\n y', {? a : [b]}, \"\\\\\n\", h: i,\n]")
        "#,
    );
    assert_eq!(
        out, "20000\n[\"b c\"]\n100000\n[\"a b c\", \"d#e\", \"f\", \"x\\ny\", {\"a\" => [\"b\"]}, \"\\\\ \", {\"h\" => \"i\"}]\n",
        "{err}"
    );
}

/// A hostile YAML text is read or refused soon, and ends neither the process nor its native stack.
#[test]
fn hostile_yaml_texts_are_read_or_refused_soon() {
    let n = 300_000;
    let texts = [
        ("open brackets", "\"[\" * N"),
        ("open braces", "\"{\" * N"),
        ("pairs in brackets", "\"[a: \" * N"),
        ("mappings in keys", "\"{a: b, \" * N"),
        ("a wide list in deep ones", "\"[\" * 9000 + \"a, \" * N"),
        ("dashes", "\"- \" * N"),
        ("question marks", "\"? \" * N"),
        ("ever deeper blocks", "(0...1500).map { \" \" * it + \"a:\\n\" }.join"),
        ("aliases", "\"- &a x\\n\" + \"- *a\\n\" * N"),
        ("anchors", "(0...N).map { \"- &a#{it} x\\n\" }.join"),
        ("a flow list", "\"[\" + \"a, \" * N + \"]\""),
        ("tabs", "\"a:\" + \"\\t\" * N + \"b\""),
        ("zeros", "\"a: b\\n\" + \"\\0\" * N"),
        ("wrong UTF-8", "\"a: b\\n\" + \"\\xe3\\x81\" * N"),
        ("an open quote", "\"[\" + \"'\" * (2 * N + 1)"),
        ("escapes", "'\"' + '\\x41' * N + '\"'"),
        ("newlines", "\"a: |\\n\" + \"\\n\" * N"),
        ("a key that is too long", "\"k\" * N + \": v\""),
        ("colons", "\"a:\" * N"),
        ("directives", "(0...10_000).map { \"%TAG !a#{it}! x\\n\" }.join + \"--- a\""),
        ("a long tag for short ones", "\"%TAG !a! #{\"x\" * 100_000}\\n---\\n\" + \"- !a!y z\\n\" * 1000"),
        ("documents", "\"--- a\\n\" * N"),
    ];
    for (name, text) in texts {
        let text = format!(
            "require 'psych'\nN = {n}\ns = {text}\nclass Nothing < Psych::Handler; end\n\
             begin\n Psych::Parser.new(Nothing.new).parse(s)\n puts 'read'\nrescue Psych::SyntaxError\n puts 'refused'\nend"
        );
        let (out, err) = run(name, &text);
        assert!(out == "read\n" || out == "refused\n", "{name}: {out} {}", &err[..err.len().min(500)]);
    }
    let deep = "require 'psych'\nx = Psych.load('[' * 9000 + ']' * 9000)\nn = 0\nwhile x = x[0]\n n += 1\nend\np n\n";
    assert_eq!(run("deep", deep).0, "8999\n");
}
