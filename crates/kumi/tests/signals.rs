//! Signals, forks and the end of a program: whoever is told to stop stops at once, and where a program waits an
//! exception is raised there.
//!
//! A bound only tells an answer from a hang.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What programs wait for comes later.
const HANG: Duration = Duration::from_secs(120);

/// The program in a session of its own. It says `ready` on standard error when it is about to wait.
fn start(code: &str) -> Child {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(["-W0", "-e", code]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    c.env_remove("RUBYOPT").env_remove("RUBYLIB");
    // SAFETY: only calls that are allowed between fork and exec.
    unsafe {
        c.pre_exec(|| {
            for s in [libc::SIGINT, libc::SIGTERM] {
                libc::signal(s, libc::SIG_DFL);
            }
            libc::setsid();
            Ok(())
        });
    }
    c.spawn().unwrap()
}

/// Its status, or `None` when it hangs. What it started goes with it.
fn end_of(child: &mut Child) -> Option<std::process::ExitStatus> {
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(s) => break Some(s),
            None if start.elapsed() > HANG => break None,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    // SAFETY: touches no memory; the group is the child's own.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    status
}

/// Sends `signal` some time after the program said that it is ready; to its whole group, as a terminal does, or to it alone. None: it ends
/// by itself.
fn interrupted(code: &str, signal: Option<i32>, group: bool) -> (Option<Output>, String) {
    let mut child = start(code);
    let mut err = child.stderr.take().unwrap();
    let mut said = Vec::new();
    let mut b = [0];
    while !said.ends_with(b"ready\n") && std::io::Read::read(&mut err, &mut b).is_ok_and(|n| n == 1) {
        said.push(b[0]);
    }
    if let Some(signal) = signal {
        std::thread::sleep(Duration::from_millis(200));
        let pid = child.id() as i32;
        // SAFETY: touches no memory.
        unsafe { libc::kill(if group { -pid } else { pid }, signal) };
    }
    let Some(status) = end_of(&mut child) else { return (None, code.to_string()) };
    let mut stdout = Vec::new();
    let _ = std::io::Read::read_to_end(&mut child.stdout.take().unwrap(), &mut stdout);
    let mut stderr = Vec::new();
    let _ = std::io::Read::read_to_end(&mut err, &mut stderr);
    (Some(Output { status, stdout, stderr }), code.to_string())
}

#[test]
fn ctrl_c_is_raised_where_a_program_waits_and_at_once() {
    let fifo = std::env::temp_dir().join(format!("kumi-fifo-{}", std::process::id()));
    let fifo = fifo.to_str().unwrap().to_string();
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let waits = [
        "system('sleep 600')".to_string(),
        "`sleep 600`".to_string(),
        "Process.wait(spawn('sleep 600'))".to_string(),
        "Process.wait(fork { sleep })".to_string(),
        "spawn('sleep 600'); Process.wait".to_string(),
        "spawn('sleep 600'); Process.waitall".to_string(),
        "Process.detach(spawn('sleep 600')).join".to_string(),
        "IO.popen('sleep 600').read".to_string(),
        "Thread.new { sleep }; system('sleep 600')".to_string(),
        "Thread.new { system('sleep 600') }.join".to_string(),
        "gets".to_string(),
        format!("system('true', in: '{fifo}')"),
        format!("File.read('{fifo}')"),
        format!("spawn('true', in: ['{fifo}', 'r'])"),
    ];
    for wait in &waits {
        for group in [false, true] {
            let code = format!("begin; $stderr.puts 'ready'; {wait}; puts 'went on'; rescue Interrupt; puts 'here'; end");
            let (out, code) = interrupted(&code, Some(libc::SIGINT), group);
            let out = out.unwrap_or_else(|| panic!("hangs: {code}"));
            assert_eq!(String::from_utf8_lossy(&out.stdout), "here\n", "{code} (group: {group})");
            assert!(out.status.success(), "{code}");
        }
    }
    let _ = std::fs::remove_file(fifo);
}

#[test]
fn the_end_of_a_program_waits_for_no_reader_that_a_signal_cannot_end() {
    use std::os::unix::process::ExitStatusExt;
    // Nobody reads what they write. Those that have a status end by themselves, all others are told to end.
    let programs = [
        ("r, w = IO.pipe; t = Thread.new { w.write('x' * 200_000) }; sleep 0.1; t.kill; t.join; $stderr.puts 'ready'; exit 3", Some(3)),
        ("r, w = IO.pipe; Thread.new { w.write('x' * 200_000) }; sleep 0.1; $stderr.puts 'ready'; exit 3", Some(3)),
        ("r, w = IO.pipe; w.write('x' * 65536); $stderr.puts 'ready'; w.write 'b'", None),
        ("$stderr.puts 'ready'; puts 'x' * 200_000", None),
        ("$stderr.puts 'ready'; $stdout.write('x' * 65536); $stdout.write('x' * 10)", None),
        ("$stderr.puts 'ready'; at_exit { puts 'x' * 200_000 }", None),
        ("r, w = IO.pipe; w.sync = false; $stderr.puts 'ready'; w.write('x' * 65536); w.write 'b'", None),
        ("$stderr.puts 'ready'; at_exit { sleep }", None),
        ("$stderr.puts 'ready'; at_exit { loop {} }", None),
        ("Thread.new { begin; sleep; ensure; sleep; end }; sleep 0.1; $stderr.puts 'ready'", None),
        // Nor does anybody read what comes on standard error after the first line.
        ("$stderr.puts 'ready'; $stderr.write('x' * 200_000)", None),
        ("$stderr.puts 'ready'; raise 'x' * 200_000", None),
        ("$stderr.puts 'ready'; abort 'x' * 200_000", None),
        ("$stderr.puts 'ready'; at_exit { $stderr.write('x' * 200_000) }", None),
        ("$stderr.puts 'ready'; at_exit { $stderr.puts('x' * 200_000); exit 4 }; exit 3", None),
        ("$stderr.puts 'ready'; at_exit { raise 'x' * 200_000 }", None),
        ("$stderr.puts 'ready'; ObjectSpace.define_finalizer(Object.new, proc { $stderr.write('x' * 200_000) })", None),
        ("$stderr.puts 'ready'; $stderr.write('x' * 65_000); sleep", None),
        ("$stderr.puts 'ready'; Thread.new { raise 'x' * 200_000 }; sleep", None),
        ("$stderr.puts 'ready'; 3.times { Thread.new { raise 'x' * 200_000 } }; Thread.new { sleep }; loop {}", None),
        ("o = Object.new; def o.method_missing(*) = 'x' * 200_000; $stderr.puts 'ready'; $stderr.write(o.text)", None),
    ];
    for (code, status) in programs {
        for signal in [libc::SIGTERM, libc::SIGINT] {
            let (out, code) = interrupted(code, status.is_none().then_some(signal), false);
            let got = out.unwrap_or_else(|| panic!("hangs: {code}")).status;
            match status {
                Some(n) => assert_eq!(got.code(), Some(n), "{code}"),
                None => assert_eq!(got.signal(), Some(signal), "{code}"),
            }
        }
    }
}

#[test]
fn what_nobody_reads_on_standard_error_keeps_no_program() {
    for (code, status) in [
        ("t = Thread.new { $stderr.write('x' * 200_000) }; sleep 0.1; t.kill; t.join; exit 3", 3),
        ("Thread.new { $stderr.write('x' * 200_000) }; sleep 0.1; exit 3", 3),
        ("$stderr.write('x' * 65_536); exit 3", 3),
        ("$stderr.write('x' * 65_536); Process.kill(:KILL, $$)", -1),
    ] {
        let mut child = start(code);
        let end = end_of(&mut child).unwrap_or_else(|| panic!("hangs: {code}"));
        assert_eq!(end.code().unwrap_or(-1), status, "{code}");
    }
}

/// A program that runs by itself: what it prints.
fn prints(code: &str) -> String {
    let mut child = start(code);
    drop(child.stdin.take());
    let status = end_of(&mut child);
    let mut out = String::new();
    let _ = std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out);
    let mut err = String::new();
    let _ = std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut err);
    assert!(status.is_some_and(|s| s.success()), "{code}\n{status:?}\n{out}\n{err}");
    out
}

#[test]
fn a_child_answers_sigterm_from_its_first_moment() {
    let children = [
        "fork { sleep }",
        "fork { loop {} }",
        "fork { Process.wait(fork { sleep 600 }) }",
        "spawn('sleep 600')",
        "fork { exec('sleep', '600') }",
        "fork { Thread.new { loop {} }; sleep }",
    ];
    for beside in ["", "4.times { Thread.new { loop { 1 + 1 } } }; sleep 0.05;", "trap(:INT) { };"] {
        for child in children {
            let code = format!(
                "{beside} n = 0; 10.times {{ pid = {child}; Process.kill(:TERM, pid); \
                 n += 1 if Process.wait2(pid)[1].termsig == 15 }}; puts n; exit!(0) if $stdout.flush"
            );
            assert_eq!(prints(&code), "10\n", "{code}");
        }
    }
}

#[test]
fn two_hundred_children_answer_sigterm_at_once() {
    for beside in ["", "Thread.new { loop { Object.new } };"] {
        let code = format!(
            "{beside} n = 0; 200.times {{ pid = fork {{ sleep }}; Process.kill(:TERM, pid); \
             n += 1 if Process.wait2(pid)[1].termsig == 15 }}; puts n; exit!(0) if $stdout.flush"
        );
        assert_eq!(prints(&code), "200\n", "{code}");
    }
}

#[test]
fn a_child_is_ended_by_a_pipe_that_nobody_reads_whatever_its_parent_ignored() {
    let code = r#"p trap("PIPE", "SYSTEM_DEFAULT"); trap("PIPE", "DEFAULT")
        system("yes | head -n 1; grep -c 'SigIgn:.*1...$' /proc/self/status")
        pid = spawn("yes", out: (r, w = IO.pipe).last); w.close; r.gets; r.close
        Process.wait(pid); p $?.termsig"#;
    assert_eq!(prints(code), "nil\ny\n0\n13\n");
}

#[test]
fn a_signal_that_came_before_an_exec_is_not_lost_with_the_program() {
    for (first, ways) in [("", "[15]"), ("trap(:TERM) { exit!(3) };", "[3, 15]")] {
        let code = format!(
            "{first} words = ['0'] * 20_000; ends = 100.times.map do |i| \
               pid = fork {{ exec('sleep', '600', *words) }}; sleep i * 0.0002; Process.kill(:TERM, pid); \
               s = Process.wait2(pid)[1]; s.termsig || s.exitstatus \
             end; p ends.uniq.sort | {ways}; exit!(0) if $stdout.flush"
        );
        assert_eq!(prints(&code), format!("{ways}\n"), "{code}");
    }
}

#[test]
fn the_block_of_a_fork_has_no_way_out_into_the_parents_code() {
    let ways = [
        ("fork do break end; puts 'on'", 1),
        ("fork do next end; puts 'on'", 0),
        ("def m = fork { return 1 }; m; puts 'on'", 1),
        ("catch(:a) { fork do throw :a end }; puts 'on'", 1),
        ("loop { fork do break end; break }; puts 'on'", 1),
        ("[1].each { fork do break end }; puts 'on'", 1),
        ("Fiber.new { fork { Fiber.yield 1 } }.resume; puts 'on'", 1),
        ("fork { exit 4 }; puts 'on'", 4),
        ("fork { raise 'x' }; puts 'on'", 1),
    ];
    for (code, status) in ways {
        let code = format!("$stdout.sync = true; {code}; Process.wait; p $?.exitstatus");
        assert_eq!(prints(&code), format!("on\n{status}\n"), "{code}");
    }
}

#[test]
fn children_draw_numbers_of_their_own() {
    let each = "def four = 4.times.map { r, w = IO.pipe; pid = fork { w.write(yield.to_s); exit!(0) }; w.close; \
                x = r.read; Process.wait(pid); x }.uniq.size; ";
    for (draw, different) in [
        ("srand(5); rand", 4),
        ("rand; p four { rand(1 << 40) }; rand", 4),
        ("srand(5); p four { (1..20).to_a.shuffle }; rand", 4),
        ("Random.rand", 4),
        ("Random.new_seed", 4),
        ("require 'securerandom'; SecureRandom.hex", 4),
        ("$g ||= Random.new(1); $g.rand(1000)", 1),
        ("'abc'.hash", 1),
    ] {
        let (first, last) = draw.rsplit_once("; ").map_or(("", draw), |x| x);
        let code = format!("{each} {first}; p four {{ {last} }}");
        assert!(prints(&code).lines().all(|l| l == different.to_string()), "{code}");
    }
}

#[test]
fn a_child_waits_for_nothing_that_only_a_thread_of_its_parent_could_end() {
    let dir = std::env::temp_dir().join(format!("kumi-signals-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let slow = dir.join("slow_file.rb");
    std::fs::write(&slow, "sleep 1\nmodule SlowFile; X = 1; end\n").unwrap();
    let slow = slow.to_str().unwrap();
    let beside = [
        (format!("autoload :SlowFile, '{slow}'; Thread.new {{ SlowFile::X }}"), "SlowFile::X".to_string()),
        (format!("Thread.new {{ require '{slow}' }}"), format!("require '{slow}'")),
        ("M = Mutex.new; Thread.new { M.synchronize { sleep } }".into(), "M.synchronize { 1 }".into()),
        ("require 'monitor'; M = Monitor.new; Thread.new { M.synchronize { sleep } }".into(), "M.synchronize { 1 }".into()),
        ("Q = Queue.new; Thread.new { Q.pop }".into(), "Q << 1; Q.pop".into()),
        (
            "8.times { Thread.new { loop { Class.new; rand.to_s.to_sym; [3, 1].sort } } }".into(),
            "GC.start; Thread.new { Class.new }.join".into(),
        ),
        ("4.times { Thread.new { loop { File.read('/etc/passwd'); Dir.children('/') } } }".into(), "File.read('/etc/passwd')".into()),
        // A thread of the pool is in the system's resolver, whose locks the child must not wait for.
        (
            "require 'socket'; 4.times { Thread.new { loop { Addrinfo.getaddrinfo('x.invalid', 80) rescue Thread.pass } } }".into(),
            "Addrinfo.getaddrinfo('localhost', 80) rescue 1".into(),
        ),
        (
            "require 'socket'; 4.times { Thread.new { loop { Addrinfo.getaddrinfo('localhost', 80) rescue Thread.pass } } }".into(),
            "Thread.new { TCPSocket.new('x.invalid', 80) rescue 1 }.join".into(),
        ),
    ];
    for (before, child) in beside {
        let code = format!("{before}; sleep 0.2; 5.times {{ Process.wait(fork {{ {child} }}); p $?.exitstatus }}; $stdout.flush; exit!(0)");
        assert_eq!(prints(&code), "0\n".repeat(5), "{code}");
    }
    let _ = std::fs::remove_dir_all(dir);
}

#[test]
fn what_a_parents_thread_waits_to_write_is_not_written_by_the_child() {
    let code = "r, w = IO.pipe; t = Thread.new { w.write('x' * 200_000); w.close }; sleep 0.2; \
                Process.wait(fork { r.close }); n = r.read.size; t.join; p n";
    assert_eq!(prints(code), "200000\n");
}
