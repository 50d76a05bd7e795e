//! Switches that do something else than run the program, or say how it is read.

use std::io::Write;
use std::process::{Command, Stdio};

/// Standard output and error of the command, which reads `input`.
fn kumi(args: &[&str], input: &str) -> (String, String) {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(args).env_remove("RUBYOPT").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = c.spawn().unwrap();
    // One that asks for nothing may have ended before it is written to.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = child.wait_with_output().unwrap();
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn a_dump_of_instructions_shows_the_program_and_does_not_run_it() {
    let file = std::env::temp_dir().join(format!("kumi-dump-{}.rb", std::process::id()));
    std::fs::write(&file, "def m = 1\nputs 'ran'\n").unwrap();
    for (args, parts) in [
        (vec!["--dump=insns", "-e", "def m = 1; puts 'ran'"], 2),
        (vec!["--dump", "insns", "-e", "puts 'ran'"], 1),
        (vec!["--dump=insns", file.to_str().unwrap()], 2),
    ] {
        let (out, _) = kumi(&args, "");
        assert_eq!(out.matches("== ").count(), parts, "{args:?}\n{out}");
        assert!(!out.lines().any(|l| l == "ran"), "{args:?}");
    }
    let _ = std::fs::remove_file(file);
}

#[test]
fn a_version_comes_before_a_program_on_standard_input_when_that_is_named() {
    let version = kumi(&["--version"], "").0;
    assert_eq!(kumi(&["-v", "-"], "p $VERBOSE").0, format!("{version}true\n"));
    assert_eq!(kumi(&["-v"], "p 1").0, version);
}

#[test]
fn a_program_on_standard_input_has_its_data() {
    let program = "p DATA.equal?(STDIN), DATA.gets, STDIN.gets, DATA.read.size, DATA.read\nputs <<X\n__END__x\nX\n__END__\none\n\u{e9}\n";
    let program = |more: &str| format!("{program}{more}");
    for more in ["", "tail", &"0123456789\n".repeat(30_000)] {
        let want = format!("true\n\"one\\n\"\n\"\u{e9}\\n\"\n{}\n\"\"\n__END__x\n", more.len());
        // A pipe, and a file.
        assert_eq!(kumi(&["-"], &program(more)), (want.clone(), String::new()));
        let file = std::env::temp_dir().join(format!("kumi-data-{}.rb", std::process::id()));
        std::fs::write(&file, program(more)).unwrap();
        let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
        let out = c.env_remove("RUBYOPT").stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stdout), want);
        let _ = std::fs::remove_file(file);
    }
}

#[test]
fn lines_of_no_length_are_refused() {
    for call in ["readlines(0)", "each_line(0) { }"] {
        let (_, err) = kumi(&["-e", &format!("ARGF.{call}")], "a\nb\n");
        assert!(err.contains("invalid limit: 0"), "{call}: {err}");
    }
}

#[test]
fn a_session_takes_its_lines_from_a_file() {
    let file = std::env::temp_dir().join(format!("kumi-irb-{}.rb", std::process::id()));
    std::fs::write(&file, "x = 20\ndef twice(n)\n  n * 2\nend\ntwice(x) + ARGV.size\n$stdin.gets\nraise 'kept going'\n:last\n").unwrap();
    let (out, err) = kumi(&["irb", file.to_str().unwrap(), "a", "b"], "typed\n");
    for value in ["=> 20\n", "=> :twice\n", "=> 42\n", "=> \"typed\\n\"\n", "=> :last\n"] {
        assert!(out.contains(value), "{value}{out}{err}");
    }
    assert!(out.contains("kept going") || err.contains("kept going"), "{out}{err}");
    let _ = std::fs::remove_file(file);
    assert!(kumi(&["irb", "/no/such/file"], "").1.contains("/no/such/file"));
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_ends_nothing_else() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = |args: &[&str], out: Stdio, err: Stdio| {
        let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
        c.args(args).env_remove("RUBYOPT").stdin(Stdio::null()).stdout(out).stderr(err).status().unwrap().code()
    };
    for (args, code) in [
        (vec!["-e", "raise 'x'"], 1),
        (vec!["-e", "abort 'x'"], 1),
        (vec!["-e", "p ("], 1),
        (vec!["there is no such file"], 1),
        (vec!["-e", "warn 1"], 0),
        (vec!["node", "--bogus"], 2),
        (vec!["cert", "colour"], 2),
    ] {
        assert_eq!(status(&args, Stdio::null(), full().into()), Some(code), "{args:?}");
    }
    for args in
        [vec!["-v"], vec!["--help"], vec!["-c", "-e", "1"], vec!["--dump=insns", "-e", "1"], vec!["run", "--help"], vec!["cert", "-h"]]
    {
        assert_eq!(status(&args, full().into(), Stdio::null()), Some(0), "{args:?}");
    }
}

#[test]
fn a_switch_that_is_none_names_the_command_that_tells_more() {
    for (args, says) in [
        (vec!["--bogus"], "kumi: invalid option --bogus"),
        (vec!["node", "east", "--bogus"], "kumi node: unknown option --bogus\nkumi node --help tells more.\n"),
        (vec!["run", "--bogus"], "kumi run: unknown option --bogus\nkumi run --help tells more.\n"),
        (vec!["run", "--nodes", "2", "--bogus"], "kumi run: unknown option --bogus\n"),
        (vec!["node", "a", "-e", "1", "--log-level", "info"], "kumi node: unknown option --log-level: name it before the program\n"),
        (vec!["node", "a", "-e", "1", "--web=x"], "kumi node: unknown option --web: name it before the program\n"),
        (vec!["run", "-e", "1", "--nodes", "2"], "kumi run: unknown option --nodes: name it before the program\n"),
        (vec!["run", "--nodes", "2", "/no/such.rb"], "kumi run: /no/such.rb: the program can't be read: No such file or directory\n"),
        (vec!["-r", "nolib", "-e", "1"], "kumi: cannot load such file -- nolib (LoadError)\n"),
        (vec!["irb", "-r", "nolib"], "kumi: cannot load such file -- nolib (LoadError)\n"),
        (vec!["-E", "foo", "-e", "1"], "kumi: unknown encoding name - foo (RuntimeError)\n"),
        (vec!["--encoding", "utf-8:foo", "-e", "1"], "kumi: unknown encoding name - foo (RuntimeError)\n"),
        (vec!["irb", "--bogus"], "kumi irb: invalid option --bogus"),
        (vec!["--profile-out", "x", "-e", "1"], "--profile-out goes with --profile"),
        (vec!["node", "east", "--name", "west"], "one name, not east and west"),
        (vec!["node", "--config", "there is no such file", "-e", "1"], "the configuration can't be read"),
        (vec!["node", "a b", "--check"], "a node's name is 1 to 64 bytes"),
    ] {
        let (_, err) = kumi(&args, "");
        assert!(err.contains(says), "{args:?}: {err}");
    }
    let refused = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_kumi")).args(args).stderr(Stdio::null()).status().unwrap().code();
    assert_eq!((refused(&["run", "--bogus"]), refused(&["node", "a", "-e", "1", "--web=x"])), (Some(2), Some(2)));
    // A library that is there and fails has a place to name.
    let (_, err) = kumi(&["-r", "json", "-e", "raise LoadError, 'x', []"], "");
    assert_eq!(err, "x (LoadError)\n");
}

#[test]
fn pages_of_help_are_those_of_their_commands_and_stand_in_line() {
    for args in [&["irb", "--help"][..], &["irb", "-h"]] {
        assert!(kumi(args, "").0.starts_with("Usage: kumi irb "), "{args:?}");
    }
    use std::os::unix::process::CommandExt;
    let out = Command::new(env!("CARGO_BIN_EXE_kumi")).arg0("irb").arg("--help").env_remove("RUBYOPT").output().unwrap();
    assert!(String::from_utf8(out.stdout).unwrap().starts_with("Usage: kumi irb "));
    let all = |of: &[&str]| kumi(of, "").0;
    assert!(all(&["--help"]).contains("\n  --version, --copyright\n") && all(&["--help"]).contains("\n  KUMI_WORKERS "));
    let top = all(&["top", "--help"]);
    assert!(top.contains("\n  -h, --help ") && top.contains("\n      --token TOKEN "), "{top}");
}

/// Names of files may be of an encoding other than UTF-8.
#[test]
fn arguments_are_the_bytes_that_were_given() {
    use std::os::unix::ffi::OsStrExt;
    let folder = std::env::temp_dir().join(format!("kumi-bytes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"d\xe9j.rb");
    std::fs::write(folder.join(name), "p ARGV, File.exist?(ARGV[0])").unwrap();
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_kumi")).arg(name).arg(name).arg("b").current_dir(&folder).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "[\"d\\xE9j.rb\", \"b\"]\ntrue\n", "{}", String::from_utf8_lossy(&out.stderr));
}

/// Ctrl-C alone leads back to the prompt.
#[test]
fn a_session_ends_by_signals() {
    let (out, _) = kumi(&["irb"], "p :begun\n$stdout.flush\nProcess.kill(:TERM, Process.pid); sleep 20\np :went_on\n");
    assert!(out.contains(":begun") && !out.contains(":went_on"), "{out}");
    let (out, _) = kumi(&["irb"], "Process.kill(:INT, Process.pid); sleep 20\np :went_on\n");
    assert!(out.contains(":went_on"), "{out}");
}

#[test]
fn top_sends_no_token_in_the_clear() {
    let (out, err) = kumi(&["top", "https://127.0.0.1:1/?token=secret"], "");
    assert!(out.is_empty() && err.starts_with("kumi top: https is not spoken here"), "{err}");
}
