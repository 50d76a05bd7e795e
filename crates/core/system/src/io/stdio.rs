//! The standard streams and the globals that name them.
//!
//! Standard output is a buffered stream like any other: lines are flushed at once on
//! a terminal, blocks elsewhere; what is left goes out when the program ends: the prelude
//! flushes, and waits where nobody reads; [`flush_all`] waits for nobody. Standard error is never buffered.

use crate::io::{self, Io};
use kumi_heap::flag;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__stdout_set", 1, 1, |cx, _, a| {
        cx.heap.publish(a[0]);
        cx.state::<Stdio>().stdout = Some(a[0]);
        Ok(a[0])
    })
    .guard(Guard::None),
    intrinsic("__stderr_set", 1, 1, |cx, _, a| {
        cx.heap.publish(a[0]);
        cx.state::<Stdio>().stderr = Some(a[0]);
        Ok(a[0])
    })
    .guard(Guard::None),
    intrinsic("__class_called", 2, 2, |cx, _, a| {
        let name = cx.arg_str(a, 1)?;
        if let Some(c) = a[0].as_class() {
            cx.heap.edit(c).data.name = Some(name.bytes().into());
        }
        Ok(a[0])
    })
    .guard(Guard::Classes),
    // Streams that hold bytes which nobody is about to write. What an interrupted write left is not among them.
    intrinsic("__unflushed", 0, 0, |cx, _, _| {
        let holds = |v: Value| match v.as_data::<Io>() {
            Some(io) if v.kind() == Some(Kind::Data) => io.fd >= 0 && !io.sync && !io.wbuf.is_empty() && io.writers.is_empty(),
            _ => false,
        };
        let found = if cx.state::<Stdio>().others {
            cx.find_cells(holds)
        } else {
            let firsts: Vec<Value> = firsts(cx).collect();
            let held = |v: &Value| {
                let _l = cx.lock_objects(*v, &[]);
                holds(*v)
            };
            firsts.into_iter().filter(held).collect()
        };
        Ok(cx.array_vec(found))
    })
    .guard(Guard::None),
    intrinsic("__flush_all", 0, 0, |cx, _, _| {
        flush_all(cx);
        Ok(Value::NIL)
    })
    .guard(Guard::None),
];

/// What `$stdout` and its kin are now. Values are published before they come here.
#[derive(Default)]
pub struct Stdio {
    pub stdout: Option<Value>,
    pub stderr: Option<Value>,
    pub original_stdout: Option<Value>,
    /// `$,` `$/` `$\` `$;`
    pub ofs: Option<Value>,
    pub rs: Option<Value>,
    pub ors: Option<Value>,
    pub fs: Option<Value>,
    /// `$.`
    pub lineno: i64,
    /// How often opening failed in a row because there are no descriptors left.
    pub shortage: u32,
    /// Streams made besides the standard ones: only then is there anything more to flush at the end.
    pub others: bool,
    /// A write had to wait since the process began.
    pub waited: bool,
}

fn state(cx: &Cx) -> Option<&Stdio> {
    cx.state_seen::<Stdio>()
}
fn trace(cx: &Cx, m: &mut Marker) {
    if let Some(s) = state(cx) {
        for v in [s.stdout, s.stderr, s.original_stdout, s.ofs, s.rs, s.ors, s.fs].into_iter().flatten() {
            m.mark(v);
        }
    }
}

/// Makes the three streams, their constants and globals.
pub fn boot(cx: &mut Cx) {
    let mut made = Vec::new();
    for (fd, name, path) in [(0, "STDIN", "<STDIN>"), (1, "STDOUT", "<STDOUT>"), (2, "STDERR", "<STDERR>")] {
        let class = cx.k.io;
        let mut io = Io::default();
        io.fd = fd;
        io.readable = fd == 0;
        io.writable = fd != 0;
        io.sync = fd == 2;
        io.tty = fd == 1 && io::is_tty(1);
        io.path = Some(path.as_bytes().to_vec());
        io.opened = true;
        io.standard = true;
        let v = cx.data(class, io);
        let s = cx.intern(name);
        let object = cx.k.object;
        cx.set_const(object, s, v);
        cx.keep(v);
        made.push(v);
    }
    cx.set_global("$stdin", made[0]);
    let rs = cx.str("\n");
    if let Some(h) = rs.header() {
        h.set(flag::FROZEN);
    }
    cx.heap.publish(rs);
    *cx.state::<Stdio>() =
        Stdio { stdout: Some(made[1]), stderr: Some(made[2]), original_stdout: Some(made[1]), rs: Some(rs), ..Stdio::default() };
    cx.boot().tracers.push(trace);
    cx.boot().fork_hooks.push(after_fork);
    cx.hook_global("$stdout", Some(|cx, _, _| Ok(stdout(cx))), Some(set_stdout));
    cx.hook_global("$stderr", Some(|cx, _, _| Ok(stderr(cx))), Some(set_stderr));
    cx.hook_global("$,", Some(|cx, _, _| Ok(cx.state::<Stdio>().ofs.unwrap_or(Value::NIL))), Some(set_ofs));
    cx.hook_global("$/", Some(|cx, _, _| Ok(cx.state::<Stdio>().rs.unwrap_or(Value::NIL))), Some(set_rs));
    cx.hook_global("$\\", Some(|cx, _, _| Ok(cx.state::<Stdio>().ors.unwrap_or(Value::NIL))), Some(set_ors));
    cx.hook_global("$;", Some(|cx, _, _| Ok(cx.state::<Stdio>().fs.unwrap_or(Value::NIL))), Some(set_fs));
    cx.hook_global("$.", Some(|cx, _, _| Ok(Value::fix(cx.state::<Stdio>().lineno))), Some(set_lineno));
    cx.hook_global("$_", Some(last_line), Some(set_last_line));
    cx.hook_global(
        "$FILENAME",
        Some(|cx, _, _| {
            let (argf, m) = (cx.const_path("ARGF").unwrap_or(Value::NIL), cx.intern("filename"));
            Err(cx.call(argf, m, &[]))
        }),
        Some(read_only),
    );
    cx.hook_global("$=", Some(|cx, _, _| ineffective(cx, Value::FALSE, "")), Some(|cx, _, a| ineffective(cx, a[1], "; ignored")));
    for (new, old) in [("$>", "$stdout"), ("$-0", "$/"), ("$-F", "$;")] {
        let (n, o) = (cx.intern(new), cx.intern(old));
        cx.alias_global(n, o);
    }
}

/// `$stdout`
pub fn stdout(cx: &mut Cx) -> Value {
    cx.state::<Stdio>().stdout.unwrap_or(Value::NIL)
}
/// `$stderr`
pub fn stderr(cx: &mut Cx) -> Value {
    cx.state::<Stdio>().stderr.unwrap_or(Value::NIL)
}

fn check_write(cx: &mut Cx, a: &[Value]) -> Result<(), Exit> {
    let (name, v) = (a[0], a[1]);
    if v.as_data::<Io>().is_some() || cx.has_method(v, sym::WRITE) {
        return Ok(());
    }
    Err(cx.call_helper("set_output", &[name, v]))
}
fn set_stdout(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    check_write(cx, a)?;
    cx.heap.publish(a[1]);
    cx.state::<Stdio>().stdout = Some(a[1]);
    Ok(a[1])
}
fn set_stderr(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    check_write(cx, a)?;
    cx.heap.publish(a[1]);
    cx.state::<Stdio>().stderr = Some(a[1]);
    Ok(a[1])
}
/// The new value of a variable that holds a String, published.
fn string_or_nil(cx: &mut Cx, a: &[Value], regexp: bool) -> Result<Option<Value>, Exit> {
    let v = a[1];
    if v.is_nil() {
        return Ok(None);
    }
    if v.as_str().is_some() || regexp && cx.is_a(v, cx.k.regexp) {
        cx.heap.publish(v);
        return Ok(Some(v));
    }
    let name = a[0].as_sym().map_or(String::new(), |s| cx.sym_name(s));
    let what = if regexp { "String or Regexp" } else { "String" };
    Err(cx.type_error(&format!("value of {name} must be {what}")))
}
/// Deprecated variables warn when they get a value and such warnings are on.
fn deprecated(cx: &mut Cx, a: &[Value]) -> R {
    if cx.options.warn_deprecated.load(std::sync::atomic::Ordering::Relaxed) && !a[1].is_nil() {
        return Err(cx.call_helper("deprecated_global", &[a[0], a[1]]));
    }
    Ok(a[1])
}
fn set_ofs(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = string_or_nil(cx, a, false)?;
    cx.state::<Stdio>().ofs = v;
    deprecated(cx, a)
}
/// `$_`: each thread has its own.
fn last_line(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let (t, s) = (cx.current_thread(), cx.intern("@__last_line"));
    let v = cx.ivar_get(t, s);
    Ok(if v.is_undef() { Value::NIL } else { v })
}
fn set_last_line(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (t, s) = (cx.current_thread(), cx.intern("@__last_line"));
    cx.ivar_set(t, s, a[1]);
    Ok(a[1])
}
/// A global whose value nobody assigns.
fn read_only(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = a[0].as_sym().unwrap_or(sym::EMPTY);
    let name = cx.sym_name(s);
    Err(cx.name_error(&format!("{name} is a read-only variable"), Value::NIL, s))
}
/// `$=` means nothing any more: a warning, and the value.
fn ineffective(cx: &mut Cx, value: Value, more: &str) -> R {
    let text = cx.str(&format!("variable $= is no longer effective{more}"));
    Err(cx.call_helper("ineffective", &[text, value]))
}
/// The separator as it is kept: a frozen String, the given one if that is what it is.
fn frozen_plain(cx: &mut Cx, v: Value) -> Value {
    let Some(s) = v.as_str() else { return v };
    if v.frozen() && cx.class_of(v) == cx.k.string && cx.ivars(v).is_empty() {
        return v;
    }
    let class = cx.k.string.val();
    let copy = cx.heap.str(class, s.bytes(), s.enc()).val();
    if let Some(h) = copy.header() {
        h.set(flag::FROZEN);
    }
    // What was given was published by the assignment; this was born here, and goes into the runtime's state.
    cx.heap.publish(copy);
    copy
}
fn set_rs(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = string_or_nil(cx, a, false)?;
    let v = v.map(|v| frozen_plain(cx, v));
    cx.state::<Stdio>().rs = v;
    deprecated(cx, a)
}
fn set_ors(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = string_or_nil(cx, a, false)?;
    cx.state::<Stdio>().ors = v;
    deprecated(cx, a)
}
fn set_fs(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = string_or_nil(cx, a, true)?;
    cx.state::<Stdio>().fs = v;
    deprecated(cx, a)
}
fn set_lineno(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Ok(n) = cx.arg_i64(a, 1) else { return Err(cx.call_helper("set_lineno", &[a[1]])) };
    cx.state::<Stdio>().lineno = n;
    Ok(a[1])
}

/// Writes out what standard output and error hold, before another process may write there. Not under a guard. Parks when
/// nobody reads; then nothing has happened that may not happen again.
pub fn flush_std(cx: &mut Cx) -> Result<(), Exit> {
    for v in firsts(cx) {
        if v.kind() != Some(Kind::Data) || !v.try_lock() {
            continue;
        }
        let r = match crate::io::stream(v) {
            // Where others wait to write, they see to it.
            Some(io) if io.fd >= 0 && io.writers.is_empty() => crate::io::write::settle(cx, io),
            _ => Ok(()),
        };
        v.unlock();
        r?;
    }
    Ok(())
}
fn firsts(cx: &mut Cx) -> impl Iterator<Item = Value> + use<> {
    let s = cx.state::<Stdio>();
    [s.original_stdout, s.stdout, s.stderr].into_iter().flatten()
}
/// Writes out what streams still hold as far as nobody need wait for that: the very end of the program, after
/// `KumiSys.flush_streams`. Not under a guard.
pub fn flush_all(cx: &mut Cx) {
    firsts(cx).for_each(flush_free);
    let others = cx.state::<Stdio>().others;
    if others {
        cx.each_cell(flush_free);
    }
}
/// Writes out a stream that nobody is at work on.
fn flush_free(v: Value) {
    if v.kind() == Some(Kind::Data) && v.try_lock() {
        if let Some(io) = crate::io::stream(v).filter(|io| io.fd >= 0) {
            io.flush_now();
        }
        v.unlock();
    }
}
/// The bytes of writes that wait in the parent are the parent's to write.
pub fn after_fork(cx: &mut Cx) {
    if cx.state::<Stdio>().waited {
        cx.state::<Stdio>().waited = false;
        cx.each_cell(|v| {
            if let Some(io) = crate::io::stream(v).filter(|io| v.kind() == Some(Kind::Data) && !io.writers.is_empty()) {
                io.writers.clear();
                io.wbuf.clear();
            }
        });
    }
}
