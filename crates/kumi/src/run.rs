//! From the command line to an exit status.

use crate::options::{PARAGRAPH, Program, Settings};
use crate::setup::assemble;
use crate::watch;
use kumi_compiler::Options as Compile;
use kumi_heap::Value;
use kumi_vm::{Cx, EncIndex, Exit};
use std::ffi::OsString;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A program text and what its file says about how to run it.
struct Script {
    text: Vec<u8>,
    /// `$0`
    name: String,
    /// First line of `text` in its file.
    line: u32,
    /// Bytes of the file that stand before `text`.
    skipped: usize,
    file: bool,
}

/// The runtime's own settings, as far as they are known before a program is read.
fn runtime_options(s: &Settings) -> kumi_vm::Options {
    let mut o = kumi_vm::Options {
        signals: true,
        verbose: s.verbose.into(),
        debug: s.debug.into(),
        frozen_strings: s.frozen_strings == Some(true),
        backtrace_limit: s.backtrace_limit,
        warn_deprecated: (s.verbose == 2).into(),
        ..Default::default()
    };
    for (name, on) in &s.categories {
        match name.as_str() {
            "deprecated" => o.warn_deprecated = (*on).into(),
            "experimental" => o.warn_experimental = (*on).into(),
            "performance" => o.warn_performance = (*on).into(),
            "strict_unused_block" => o.warn_unused_block = (*on).into(),
            _ => {}
        }
    }
    o
}

/// Runs what the command line asks for; the process's exit status.
pub fn run(mut s: Settings) -> i32 {
    for d in &s.directory {
        if std::env::set_current_dir(d).is_err() {
            return fail(&format!("Can't chdir to {d} (fatal)"));
        }
    }
    let script = match read_script(&mut s) {
        Ok(x) => x,
        Err(m) => return fail(&m),
    };
    let mut options = runtime_options(&s);
    if let Err(m) = crate::node::prepare(&mut options) {
        return fail(&m);
    }
    // The process ends with its program: nothing is freed one by one.
    let mut cx = match assemble(options).map(ManuallyDrop::new) {
        Ok(cx) => cx,
        Err(m) => {
            crate::say::err(format_args!("kumi: the runtime does not start: {m}"));
            return 70;
        }
    };
    if let Err(m) = watch::begin(&mut cx, &s) {
        return fail(&m);
    }
    let globals = s.take_script_switches();
    set_up(&mut cx, &s, &script.name);
    for (name, value) in globals {
        let v = value.map_or(Value::TRUE, |t| cx.str(&t));
        if let Ok(s) = cx.sym_of(name.as_bytes()) {
            cx.set_global_of(s, v);
        }
    }
    if let Err(m) = encodings(&mut cx, &s) {
        return fail(&m);
    }
    if let Err(e) = prepare(&mut cx, &s) {
        by_switch(&mut cx);
        return finish(&mut cx, &s, Some(e));
    }
    let mut script = script;
    name_encoding(&mut script, &s);
    let mut c = Compile::file(&script.name);
    c.line = script.line;
    if script.file {
        let real = kumi_vm::real_path(&script.name);
        let pair = [cx.str(&script.name), cx.str(&real)];
        let pair = cx.array(&pair);
        let (helpers, name) = (cx.k.helpers.val(), cx.intern("@__main_file"));
        cx.ivar_set(helpers, name, pair);
        c.real_path = Some(real);
    }
    c.main_script = true;
    c.loop_mode = s.loop_mode.clone();
    c.frozen_strings = s.frozen_strings == Some(true);
    let compiled = match kumi_compiler::compile_full(&script.text, &c, &mut **cx) {
        Ok(x) => x,
        Err(e) => {
            // What required files printed comes first.
            finish(&mut cx, &s, None);
            crate::say::err(format_args!("{}", e.rendered.trim_end()));
            return 1;
        }
    };
    for w in &compiled.warnings {
        if s.verbose == 2 || (s.verbose == 1 && !w.verbose) {
            crate::say::err(format_args!("{}:{}: warning: {}", script.name, w.line, w.text));
        }
    }
    if s.dump_insns {
        let cx: &Cx = &cx;
        crate::say::out(format_args!("{}", kumi_bytecode::disassemble(&compiled.iseq, &|name| cx.sym_name(name))));
        return 0;
    }
    if s.check_only {
        crate::say::out(format_args!("Syntax OK\n"));
        return 0;
    }
    kumi_vm::memory_limits::forget_startup();
    let done = open_data(&mut cx, &script, compiled.data).and_then(|()| cx.run_main(compiled.iseq));
    finish(&mut cx, &s, done.err())
}

/// Says of the pending exception that a switch led to it: it may have no line to be named.
pub(crate) fn by_switch(cx: &mut Cx) {
    let (exc, name) = (cx.pending.exc, cx.intern("@__by_switch"));
    if exc.is_heap() {
        cx.ivar_set(exc, name, Value::TRUE);
    }
}

fn fail(message: &str) -> i32 {
    crate::say::err(format_args!("kumi: {message}"));
    1
}

/// The program text: `-e`, a file, standard input.
fn read_script(s: &mut Settings) -> Result<Script, String> {
    let mut x = Script { text: Vec::new(), name: "-".into(), line: 1, skipped: 0, file: false };
    match &s.program {
        Program::Text(t) => {
            x.text = t.clone().into_bytes();
            x.name = "-e".into();
            return Ok(x);
        }
        Program::Stdin | Program::Repl(_) => {
            std::io::stdin().lock().read_to_end(&mut x.text).map_err(|e| format!("standard input: {e}"))?;
        }
        Program::File(f) => {
            let path = if s.search_path { in_path(f) } else { script_path(f) };
            x.name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                return Err(format!("Is a directory -- {f} (LoadError)"));
            }
            x.text = std::fs::read(&path).map_err(|e| format!("{} -- {f} (LoadError)", os_message(&e)))?;
            x.file = true;
        }
    }
    if s.skip_to_shebang {
        let mut at = 0;
        loop {
            let rest = x.text.get(at..).filter(|r| !r.is_empty()).ok_or("no Ruby script found in input (LoadError)")?;
            let end = rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |p| p + 1);
            if rest.starts_with(b"#!") && has_ruby(&rest[..end]) {
                break;
            }
            at += end;
            x.line += 1;
        }
        x.skipped = at;
        x.text.drain(..at);
    }
    if x.text.starts_with(b"#!") {
        let end = x.text.iter().position(|&b| b == b'\n').unwrap_or(x.text.len());
        let line = String::from_utf8_lossy(&x.text[..end]).into_owned();
        if let Some(p) = line.find("ruby") {
            let words: Vec<String> = line[p..].split_whitespace().skip(1).take_while(|w| w.starts_with('-')).map(str::to_string).collect();
            if !words.is_empty() {
                shebang_switches(s, &words);
            }
        }
    }
    Ok(x)
}

/// Switches on the `#!` line count as if given before those of the command line.
fn shebang_switches(s: &mut Settings, words: &[String]) {
    let Ok(extra) = Settings::parse(words) else { return };
    s.verbose = s.verbose.max(extra.verbose);
    s.debug |= extra.debug;
    s.script_switches |= extra.script_switches;
    for c in extra.loop_mode.chars().filter(|c| !s.loop_mode.contains(*c)).collect::<Vec<_>>() {
        s.loop_mode.push(c);
    }
    s.includes.extend(extra.includes);
    s.requires.extend(extra.requires);
    s.field_separator = s.field_separator.take().or(extra.field_separator);
    s.record_separator = s.record_separator.or(extra.record_separator);
    s.external = s.external.take().or(extra.external);
    s.internal = s.internal.take().or(extra.internal);
    s.frozen_strings = s.frozen_strings.or(extra.frozen_strings);
}

fn has_ruby(line: &[u8]) -> bool {
    line.windows(4).any(|w| w == b"ruby") || line.windows(4).any(|w| w == b"kumi")
}

fn os_message(e: &std::io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

/// The bytes of the program's arguments, the last ones of this process: names of files may be of another encoding.
fn as_given(args: &[String]) -> Vec<Vec<u8>> {
    let all: Vec<OsString> = std::env::args_os().collect();
    let last = all.len().checked_sub(args.len()).map_or(&[][..], |from| &all[from..]);
    let same = last.len() == args.len() && last.iter().zip(args).all(|(given, a)| given.to_string_lossy() == a.as_str());
    match same {
        true => last.iter().map(|a| a.as_bytes().to_vec()).collect(),
        false => args.iter().map(|a| a.clone().into_bytes()).collect(),
    }
}

/// The path of a script, as it was given.
fn script_path(f: &str) -> PathBuf {
    let given = std::env::args_os().skip(1).find(|a| a.to_string_lossy() == f);
    given.map_or_else(|| f.into(), PathBuf::from)
}

fn in_path(f: &str) -> PathBuf {
    if f.contains('/') {
        return f.into();
    }
    let path = std::env::var_os("RUBYPATH").into_iter().chain(std::env::var_os("PATH"));
    path.flat_map(|p| std::env::split_paths(&p).collect::<Vec<_>>()).map(|d| d.join(f)).find(|p| p.is_file()).unwrap_or_else(|| f.into())
}

/// Globals and constants that every program finds.
pub(crate) fn set_up(cx: &mut Cx, s: &Settings, name: &str) {
    let zero = cx.str(name);
    cx.set_global("$0", zero);
    let (program_name, zero) = (cx.intern("$PROGRAM_NAME"), cx.intern("$0"));
    cx.alias_global(program_name, zero);

    for (name, on) in [("$-a", s.loop_mode.contains('a')), ("$-l", s.loop_mode.contains('l')), ("$-p", s.loop_mode.contains('p'))] {
        cx.set_global(name, Value::bool(on));
    }
    if s.backtrace_limit >= 0 {
        let (helpers, limit) = (cx.k.helpers.val(), cx.intern("@__backtrace_limit"));
        cx.ivar_set(helpers, limit, Value::fix(s.backtrace_limit));
    }

    let args: Vec<Value> = as_given(&s.args).into_iter().map(|a| cx.str_vec(a, EncIndex::UTF_8)).collect();
    let argv = cx.array_vec(args);
    let (object, argv_name) = (cx.k.object, cx.intern("ARGV"));
    cx.set_const(object, argv_name, argv);
    cx.set_global("$*", argv);
    if s.no_gems {
        // `gem` stays a method that is not there. The text is the runtime's own, and cannot raise.
        let _ = cx.eval_system(b"Kernel.__send__(:remove_method, :gem)", "<internal:command>", 1);
    } else {
        let gem = cx.intern("Gem");
        cx.set_autoload(object, gem, b"rubygems".as_slice().into());
    }

    let mut dirs: Vec<String> = s.includes.iter().map(|d| absolute(d)).collect();
    if let Ok(lib) = std::env::var("RUBYLIB") {
        dirs.extend(lib.split(':').filter(|d| !d.is_empty()).map(absolute));
    }
    dirs.push(library_dir());
    let load_path = shared_array(cx, &["$:", "$LOAD_PATH", "$-I"]);
    let (name, helpers) = (cx.intern("resolve_feature_path"), cx.class_of(cx.k.helpers.val()));
    let m = cx.find_method(helpers, name);
    if let (Some(own), Some(e)) = (cx.singleton_class(load_path), (m != kumi_vm::NO_METHOD).then(|| cx.method(m).clone())) {
        cx.copy_method(helpers, own, name, &e);
    }
    shared_array(cx, &["$\"", "$LOADED_FEATURES"]);
    for d in dirs {
        let v = cx.str(&d);
        if let Some(a) = load_path.as_array() {
            cx.push(a, v);
        }
    }
}

/// An Array in a global of several names, made unless it is there.
fn shared_array(cx: &mut Cx, names: &[&'static str]) -> Value {
    let v = match cx.get_global(names[0]) {
        v if v.as_array().is_some() => v,
        _ => cx.array(&[]),
    };
    cx.set_global(names[0], v);
    let first = cx.intern(names[0]);
    for n in &names[1..] {
        let n = cx.intern(n);
        cx.alias_global(n, first);
    }
    v
}

fn absolute(d: &str) -> String {
    let p = Path::new(d);
    std::path::absolute(p).unwrap_or_else(|_| p.to_path_buf()).to_string_lossy().into_owned()
}

/// Where the standard library is: `KUMI_LIB`, `lib/kumi` beside the executable's folder, or inside the binary.
pub(crate) fn library_dir() -> String {
    if let Ok(d) = std::env::var("KUMI_LIB") {
        if !d.is_empty() {
            // As `require` will name its files.
            return std::fs::canonicalize(&d).map_or_else(|_| absolute(&d), |p| p.to_string_lossy().into_owned());
        }
    }
    let near = std::env::current_exe().ok().and_then(|e| Some(e.parent()?.parent()?.join("lib/kumi")));
    match near {
        Some(d) if d.is_dir() => d.to_string_lossy().into_owned(),
        _ => kumi_vm::library::LIB_DIR.to_string(),
    }
}

/// A Ruby string literal of a text.
pub(crate) fn quote(t: &str) -> String {
    let mut out = String::from("\"");
    for c in t.chars() {
        match c {
            '"' | '\\' | '#' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\0' => out.push_str("\\0"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `-K` names the encoding of the program text; a comment in the text itself goes first.
fn name_encoding(script: &mut Script, s: &Settings) {
    let Some(enc) = &s.source_encoding else { return };
    let head: Vec<&[u8]> = script.text.splitn(3, |b| *b == b'\n').take(2).collect();
    if head.iter().any(|l| l.starts_with(b"#") && l.windows(6).any(|w| w == b"coding")) {
        return;
    }
    let line = format!("# encoding: {enc}\n");
    script.skipped = script.skipped.wrapping_sub(line.len());
    script.line = script.line.saturating_sub(1);
    script.text.splice(0..0, line.into_bytes());
}

/// `DATA`: the program's file, or standard input, read from behind `__END__`.
fn open_data(cx: &mut Cx, script: &Script, data: Option<usize>) -> Result<(), Exit> {
    let Some(at) = data.filter(|_| script.file || script.name == "-") else { return Ok(()) };
    let ruby = if script.file {
        format!("DATA = File.open({})\nDATA.seek({})\n", quote(&script.name), at.wrapping_add(script.skipped))
    } else {
        // It was read to its end. What can go back does; else a pipe has the rest.
        let rest = script.text.get(at..).unwrap_or_default();
        let hex: String = rest.iter().map(|b| format!("{b:02x}")).collect();
        format!(
            "DATA = STDIN
begin
  DATA.seek(-{}, IO::SEEK_CUR)
rescue Errno::ESPIPE
  from, to = IO.pipe
  to.binmode
  rest = ['{hex}'].pack('H*')
  rest.size <= 4096 ? to.write(rest) && to.close : KumiSys.thread_apart('rest of standard input') {{ to.write(rest); to.close }}
  DATA.reopen(from)
  from.close
end
",
            rest.len()
        )
    };
    cx.eval_system(ruby.as_bytes(), "<internal:command>", 1).map(|_| ())
}

/// The encodings that the command line names.
fn encodings(cx: &mut Cx, s: &Settings) -> Result<(), String> {
    for (which, name) in [("external", &s.external), ("internal", &s.internal)] {
        let Some(name) = name else { continue };
        let ruby = format!("Encoding.default_{which} = {}", quote(name));
        cx.eval_system(ruby.as_bytes(), "<internal:command>", 1).map_err(|_| format!("unknown encoding name - {name} (RuntimeError)"))?;
    }
    Ok(())
}

/// What few command lines ask for is said in Ruby, and run before the program.
fn prepare(cx: &mut Cx, s: &Settings) -> Result<(), Exit> {
    let mut ruby = String::new();
    match s.record_separator {
        Some(PARAGRAPH) => ruby.push_str("$/ = \"\".freeze\n"),
        Some(n) if n > 0xff => ruby.push_str("$/ = nil\n"),
        Some(n) => ruby.push_str(&format!("$/ = {n}.chr.freeze\n")),
        None => {}
    }
    for (letter, name) in [('a', "$-a"), ('l', "$-l"), ('p', "$-p")] {
        cx.set_global(name, Value::bool(s.loop_mode.contains(letter)));
    }
    if s.loop_mode.contains(['n', 'p']) {
        ruby.push_str("KumiSys.line_functions\n");
    }
    if s.loop_mode.contains('l') {
        ruby.push_str("$\\ = $/\n");
    }
    if let Some(f) = &s.field_separator {
        ruby.push_str(&format!("$; = Regexp.new({})\n", quote(f)));
    }
    if let Some(ext) = &s.in_place {
        ruby.push_str(&format!("ARGF.inplace_mode = {}\n", quote(ext)));
    }
    for r in &s.requires {
        ruby.push_str(&format!("require {}\n", quote(r)));
    }
    if ruby.is_empty() { Ok(()) } else { cx.eval_system(ruby.as_bytes(), "<internal:command>", 1).map(|_| ()) }
}

/// The end of a program: `at_exit` blocks, the report of an uncaught exception, the exit status.
pub(crate) fn finish(cx: &mut Cx, s: &Settings, exit: Option<Exit>) -> i32 {
    let exc = match exit {
        None => Value::NIL,
        Some(_) => cx.pending.exc,
    };
    let status = match cx.call_helper_top("finish", &[exc]) {
        Ok(v) => v.as_fix().unwrap_or(1),
        // A signal that came at the very end.
        Err(_) => match signal_of(cx) {
            Some(n) => -n,
            None => last_words(cx, exc),
        },
    };
    kumi_core_system::let_go();
    kumi_core_system::flush_all(cx);
    watch::end(cx, s);
    // A negative status: die by that signal, as the default action would have it.
    if status < 0 {
        // SAFETY: plain system calls; nothing runs after them but the exit.
        unsafe {
            libc::signal(-status as i32, libc::SIG_DFL);
            libc::raise(-status as i32);
        }
    }
    status as i32
}

/// The number of the signal that the pending exception stands for.
pub(crate) fn signal_of(cx: &mut Cx) -> Option<i64> {
    let (e, class) = (cx.pending.exc, cx.k.signal_exception);
    if !e.is_heap() || !cx.is_a(e, class) {
        return None;
    }
    let number = cx.intern("@__signo");
    cx.ivar_get(e, number).as_fix()
}

/// The report itself failed: say what is known without running Ruby.
fn last_words(cx: &mut Cx, exc: Value) -> i64 {
    for e in [exc, cx.pending.exc] {
        if e.is_heap() {
            let class = cx.real_class(e);
            let class = cx.class_name(class);
            let message = cx.ivar_get(e, kumi_vm::sym::IV_MESSAGE);
            crate::say::err(format_args!("kumi: {} ({class})", cx.text(message)));
        }
    }
    1
}
