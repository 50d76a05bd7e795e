//! Processes: who we are, waiting for children, their status, limits and priorities.

pub(crate) mod env;
pub(crate) mod signal;
pub(crate) mod spawn;

use crate::io::{self, fail_plain};
use kumi_vm::task::Waits;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("Process.", "pid", 0, 0, |_, _, _| Ok(Value::fix(std::process::id() as i64))),
    // SAFETY: touches no memory.
    n("Process.", "ppid", 0, 0, |_, _, _| Ok(Value::fix(unsafe { libc::getppid() } as i64))),
    // SAFETY: touches no memory.
    n("Process.", "getpgrp", 0, 0, |_, _, _| Ok(Value::fix(unsafe { libc::getpgrp() } as i64))),
    // SAFETY: touches no memory.
    n("Process.", "uid", 0, 0, |_, _, _| Ok(Value::fix(unsafe { libc::getuid() } as i64))),
    // SAFETY: touches no memory.
    n("Process.", "gid", 0, 0, |_, _, _| Ok(Value::fix(unsafe { libc::getgid() } as i64))),
    // SAFETY: touches no memory.
    n("Process.", "euid", 0, 0, |_, _, _| Ok(Value::fix(unsafe { libc::geteuid() } as i64))),
    // SAFETY: touches no memory.
    n("Process.", "egid", 0, 0, |_, _, _| Ok(Value::fix(unsafe { libc::getegid() } as i64))),
    intrinsic("__set_id", 2, 2, set_id),
    intrinsic("__set_ids", 3, 3, set_ids),
    n("Process.", "getpgid", 1, 1, |cx, _, a| {
        let p = pid(cx, a, 0)?;
        // SAFETY: touches no memory.
        check(cx, unsafe { libc::getpgid(p) })
    }),
    n("Process.", "setpgid", 2, 2, |cx, _, a| {
        let (p, g) = (pid(cx, a, 0)?, pid(cx, a, 1)?);
        // SAFETY: touches no memory.
        check(cx, unsafe { libc::setpgid(p, g) })
    }),
    // SAFETY: touches no memory.
    n("Process.", "setpgrp", 0, 0, |cx, _, _| check(cx, unsafe { libc::setpgid(0, 0) })),
    n("Process.", "getsid", 0, 1, |cx, _, a| {
        let p = if a.is_empty() { 0 } else { pid(cx, a, 0)? };
        // SAFETY: touches no memory.
        check(cx, unsafe { libc::getsid(p) })
    }),
    // SAFETY: touches no memory.
    n("Process.", "setsid", 0, 0, |cx, _, _| check(cx, unsafe { libc::setsid() })),
    n("Process.", "getpriority", 2, 2, getpriority),
    n("Process.", "setpriority", 3, 3, |cx, _, a| {
        let (k, w, p) = (cx.arg_i64(a, 0)?, cx.arg_i64(a, 1)?, cx.arg_i64(a, 2)?);
        // SAFETY: touches no memory.
        check(cx, unsafe { libc::setpriority(k as _, w as libc::id_t, p as i32) })
    }),
    intrinsic("__getrlimit", 1, 1, getrlimit).guard(Guard::None),
    intrinsic("__setrlimit", 3, 3, setrlimit),
    n("Process.", "groups", 0, 0, groups),
    intrinsic("__setgroups", 1, 1, setgroups),
    intrinsic("__initgroups", 2, 2, |cx, _, a| {
        let u = cx.arg_path(a, 0)?;
        let g = cx.arg_i64(a, 1)?;
        let c = crate::io::open::c_path(cx, u.bytes())?;
        // SAFETY: c is a terminated string.
        check(cx, unsafe { libc::initgroups(c.as_ptr(), g as libc::gid_t) })
    })
    .guard(Guard::World),
    intrinsic("__user_id", 2, 2, user_id).guard(Guard::World),
    intrinsic("__times", 0, 0, times).guard(Guard::None),
    intrinsic("__fork", 0, 0, fork).guard(Guard::None),
    intrinsic("__waitpid", 2, 3, waitpid),
    intrinsic("__last_status", 0, 0, |cx, _, _| Ok(last(cx))).guard(Guard::None),
    intrinsic("__set_last_status", 1, 1, |cx, _, a| {
        set_last(cx, a[0]);
        Ok(a[0])
    })
    .guard(Guard::None),
    intrinsic("__status_new", 2, 2, |cx, _, a| {
        let (p, s) = (cx.arg_i64(a, 0)?, cx.arg_i64(a, 1)?);
        let c = cx.k.process_status;
        Ok(cx.data(c, Status { pid: p as i32, status: s as i32 }))
    })
    .guard(Guard::None),
    n("Process::Status", "pid", 0, 0, |cx, r, _| Ok(Value::fix(this(cx, &r)?.pid as i64))),
    n("Process::Status", "to_i", 0, 0, |cx, r, _| Ok(Value::fix(this(cx, &r)?.status as i64))),
    n("Process::Status", "exited?", 0, 0, |cx, r, _| Ok(Value::bool(libc::WIFEXITED(this(cx, &r)?.status)))),
    n("Process::Status", "signaled?", 0, 0, |cx, r, _| Ok(Value::bool(libc::WIFSIGNALED(this(cx, &r)?.status)))),
    n("Process::Status", "stopped?", 0, 0, |cx, r, _| Ok(Value::bool(libc::WIFSTOPPED(this(cx, &r)?.status)))),
    n("Process::Status", "coredump?", 0, 0, |cx, r, _| Ok(Value::bool(libc::WCOREDUMP(this(cx, &r)?.status)))),
    n("Process::Status", "exitstatus", 0, 0, |cx, r, _| {
        let s = this(cx, &r)?.status;
        Ok(if libc::WIFEXITED(s) { Value::fix(libc::WEXITSTATUS(s) as i64) } else { Value::NIL })
    }),
    n("Process::Status", "termsig", 0, 0, |cx, r, _| {
        let s = this(cx, &r)?.status;
        Ok(if libc::WIFSIGNALED(s) { Value::fix(libc::WTERMSIG(s) as i64) } else { Value::NIL })
    }),
    n("Process::Status", "stopsig", 0, 0, |cx, r, _| {
        let s = this(cx, &r)?.status;
        Ok(if libc::WIFSTOPPED(s) { Value::fix(libc::WSTOPSIG(s) as i64) } else { Value::NIL })
    }),
    n("Process::Status", "success?", 0, 0, |cx, r, _| {
        let s = this(cx, &r)?.status;
        Ok(if libc::WIFEXITED(s) { Value::bool(libc::WEXITSTATUS(s) == 0) } else { Value::NIL })
    }),
];

/// The payload of a Process::Status: what waitpid told.
pub struct Status {
    pub pid: i32,
    pub status: i32,
}
impl Payload for Status {
    fn confined(&self) -> bool {
        true
    }
    fn shares(&self) -> bool {
        true
    }
}

/// Hooks `$?` and `$$`.
pub fn boot(cx: &mut Cx) {
    cx.boot().fork_hooks.push(forget_children);
    cx.hook_global("$?", Some(|cx, _, _| Ok(last(cx))), Some(read_only));
    cx.hook_global("$$", Some(|_, _, _| Ok(Value::fix(std::process::id() as i64))), Some(read_only));
    let process = cx.k.process;
    for (name, v) in [
        ("WNOHANG", libc::WNOHANG as i64),
        ("WUNTRACED", libc::WUNTRACED as i64),
        ("PRIO_PROCESS", 0),
        ("PRIO_PGRP", 1),
        ("PRIO_USER", 2),
        ("RLIMIT_CPU", libc::RLIMIT_CPU as i64),
        ("RLIMIT_FSIZE", libc::RLIMIT_FSIZE as i64),
        ("RLIMIT_DATA", libc::RLIMIT_DATA as i64),
        ("RLIMIT_STACK", libc::RLIMIT_STACK as i64),
        ("RLIMIT_CORE", libc::RLIMIT_CORE as i64),
        ("RLIMIT_RSS", libc::RLIMIT_RSS as i64),
        ("RLIMIT_NPROC", libc::RLIMIT_NPROC as i64),
        ("RLIMIT_NOFILE", libc::RLIMIT_NOFILE as i64),
        ("RLIMIT_MEMLOCK", libc::RLIMIT_MEMLOCK as i64),
        ("RLIMIT_AS", libc::RLIMIT_AS as i64),
        ("RLIMIT_SIGPENDING", libc::RLIMIT_SIGPENDING as i64),
        ("RLIMIT_MSGQUEUE", libc::RLIMIT_MSGQUEUE as i64),
        ("RLIMIT_NICE", libc::RLIMIT_NICE as i64),
        ("RLIMIT_RTPRIO", libc::RLIMIT_RTPRIO as i64),
        ("RLIMIT_RTTIME", libc::RLIMIT_RTTIME as i64),
    ] {
        let s = cx.intern(name);
        cx.set_const(process, s, Value::fix(v));
    }
    for name in ["RLIM_INFINITY", "RLIM_SAVED_MAX", "RLIM_SAVED_CUR"] {
        let s = cx.intern(name);
        let v = cx.uint(libc::RLIM_INFINITY);
        cx.set_const(process, s, v);
    }
}
fn read_only(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = a[0].as_sym().unwrap_or(sym::EMPTY);
    let name = cx.sym_name(s);
    Err(cx.name_error(&format!("{name} is a read-only variable"), Value::NIL, s))
}
/// `$?` of the running thread, which keeps it.
fn last(cx: &mut Cx) -> Value {
    let (t, s) = (cx.current_thread(), cx.intern("@__last_status"));
    let v = cx.ivar_get(t, s);
    if v.is_undef() { Value::NIL } else { v }
}
fn set_last(cx: &mut Cx, v: Value) {
    let (t, s) = (cx.current_thread(), cx.intern("@__last_status"));
    cx.ivar_set(t, s, v);
}
fn this<'v>(cx: &mut Cx, v: &'v Value) -> Result<&'v Status, Exit> {
    v.as_data::<Status>().ok_or_else(|| cx.type_error("uninitialized Process::Status"))
}
fn pid(cx: &mut Cx, a: &[Value], i: usize) -> Result<libc::pid_t, Exit> {
    cx.arg_c_int(a, i)
}
fn check(cx: &mut Cx, r: i32) -> R {
    if r < 0 {
        let e = io::errno();
        return Err(fail_plain(cx, e, ""));
    }
    Ok(Value::fix(r as i64))
}
/// __set_id(which, number): which 0 uid, 1 gid, 2 euid, 3 egid.
fn set_id(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (k, n) = (cx.arg_i64(a, 0)?, cx.arg_i64(a, 1)? as u32);
    let keep = u32::MAX;
    // SAFETY: touch no memory.
    let r = unsafe {
        match k {
            0 => libc::setreuid(n, keep),
            1 => libc::setregid(n, keep),
            2 => libc::setreuid(keep, n),
            _ => libc::setregid(keep, n),
        }
    };
    check(cx, r)
}
/// __set_ids(which, a, b): which 0 setuid, 1 setgid, 2 setreuid, 3 setregid, 4 setresuid (a, b, b), 5 setresgid.
fn set_ids(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (k, x, y) = (cx.arg_i64(a, 0)?, cx.arg_i64(a, 1)? as u32, cx.arg_i64(a, 2)? as u32);
    // SAFETY: touch no memory.
    let r = unsafe {
        match k {
            0 => libc::setuid(x),
            1 => libc::setgid(x),
            2 => libc::setreuid(x, y),
            3 => libc::setregid(x, y),
            4 => libc::setresuid(x, y, y),
            _ => libc::setresgid(x, y, y),
        }
    };
    check(cx, r)
}
fn getpriority(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (k, w) = (cx.arg_i64(a, 0)?, cx.arg_i64(a, 1)?);
    // SAFETY: errno's address is valid; the rest touches no memory.
    let (r, e) = unsafe {
        *libc::__errno_location() = 0;
        let r = libc::getpriority(k as _, w as libc::id_t);
        (r, *libc::__errno_location())
    };
    if r == -1 && e != 0 {
        return Err(fail_plain(cx, e, ""));
    }
    Ok(Value::fix(r as i64))
}
fn getrlimit(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let k = cx.arg_i64(a, 0)?;
    let mut l = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: l is writable.
    let r = unsafe { libc::getrlimit(k as _, &mut l) };
    check(cx, r)?;
    let (x, y) = (cx.uint(l.rlim_cur), cx.uint(l.rlim_max));
    Ok(cx.array(&[x, y]))
}
fn limit(cx: &mut Cx, a: &[Value], i: usize) -> Result<u64, Exit> {
    if a[i].as_big().is_some() {
        return Ok(a[i].as_big().and_then(|b| b.n.to_string_radix(10).parse().ok()).unwrap_or(u64::MAX));
    }
    Ok(cx.arg_i64(a, i)? as u64)
}
fn setrlimit(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let k = cx.arg_i64(a, 0)?;
    let l = libc::rlimit { rlim_cur: limit(cx, a, 1)?, rlim_max: limit(cx, a, 2)? };
    // SAFETY: l is readable.
    let r = unsafe { libc::setrlimit(k as _, &l) };
    check(cx, r)?;
    Ok(Value::NIL)
}
fn groups(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut g = vec![0; 65536];
    // SAFETY: the vector has that many entries.
    let n = unsafe { libc::getgroups(65536, g.as_mut_ptr()) };
    if n < 0 {
        return check(cx, n);
    }
    let v: Vec<Value> = g[..n as usize].iter().map(|g| Value::fix(*g as i64)).collect();
    Ok(cx.array_vec(v))
}
fn setgroups(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let l = cx.arg_array(a, 0)?;
    let mut g: Vec<libc::gid_t> = Vec::new();
    for v in l.seen() {
        g.push(cx.arg_i64(&[v], 0)? as libc::gid_t);
    }
    // SAFETY: the vector has that many entries.
    let r = unsafe { libc::setgroups(g.len(), g.as_ptr()) };
    check(cx, r)?;
    Ok(a[0])
}
/// __user_id(name, group?): the number of a user or group, nil when there is none.
fn user_id(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_path(a, 0)?;
    let c = crate::io::open::c_path(cx, s.bytes())?;
    // SAFETY: c is a terminated string; the result is read before anything else asks.
    let id = unsafe {
        if a[1].truthy() {
            let g = libc::getgrnam(c.as_ptr());
            if g.is_null() { None } else { Some((*g).gr_gid) }
        } else {
            let p = libc::getpwnam(c.as_ptr());
            if p.is_null() { None } else { Some((*p).pw_uid) }
        }
    };
    Ok(id.map_or(Value::NIL, |i| Value::fix(i as i64)))
}
/// __times(): user, system, children's user and system seconds.
fn times(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut out = Vec::new();
    for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
        // SAFETY: a zeroed rusage is a valid value to write into.
        let mut u: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: u is writable.
        unsafe { libc::getrusage(who, &mut u) };
        for t in [u.ru_utime, u.ru_stime] {
            out.push(cx.float(t.tv_sec as f64 + t.tv_usec as f64 / 1e6));
        }
    }
    Ok(cx.array_vec(out))
}
/// __fork(): the child's number, nil in the child.
fn fork(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.need_main_worker()?;
    crate::io::stdio::flush_std(cx)?;
    // A signal that comes from here on waits until the child, or the parent, is ready for it: none is lost.
    let held = crate::process::signal::hold();
    // While the world is stopped no other worker holds a lock of the runtime or of the allocator.
    let forked = cx.fork_world(|| {
        // SAFETY: the other OS threads stand still; the child goes on with a copy of this one.
        let p = unsafe { libc::fork() };
        if p == 0 {
            crate::process::signal::after_fork();
        }
        p
    });
    let e = io::errno();
    match forked {
        // Another worker stopped the world first.
        None => Err(Exit::Again),
        Some(0) => {
            cx.after_fork();
            drop(held);
            Ok(Value::NIL)
        }
        Some(p) if p > 0 => Ok(Value::fix(p as i64)),
        _ => Err(fail_plain(cx, e, "fork(2)")),
    }
}
/// Descriptors of children that somebody waits for, by number, as long as the child is there.
#[derive(Default)]
struct Children(Vec<(i32, i32)>);

/// A descriptor that can be read from when the child has ended.
#[cfg(target_os = "linux")]
fn pidfd_open(pid: i32) -> i32 {
    // SAFETY: touches no memory. The descriptor is closed by exec.
    unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) as i32 }
}
#[cfg(not(target_os = "linux"))]
fn pidfd_open(_: i32) -> i32 {
    -1
}
/// The descriptor to wait for child `pid` with; `None` where there is none.
fn child_fd(cx: &mut Cx, pid: i32) -> Option<i32> {
    if let Some(c) = cx.state::<Children>().0.iter().find(|c| c.0 == pid) {
        return Some(c.1);
    }
    let fd = pidfd_open(pid);
    if fd < 0 {
        return None;
    }
    cx.state::<Children>().0.push((pid, fd));
    Some(fd)
}
/// The child is not there any more: others that wait for it look again.
fn child_gone(cx: &mut Cx, pid: i32) {
    let fd = {
        let list = &mut cx.state::<Children>().0;
        list.iter().position(|c| c.0 == pid).map(|i| list.swap_remove(i).1)
    };
    if let Some(fd) = fd {
        cx.closing(fd);
        io::close_fd(fd);
    }
}
/// A child's children are others.
fn forget_children(cx: &mut Cx) {
    for (_, fd) in std::mem::take(&mut cx.state::<Children>().0) {
        io::close_fd(fd);
    }
}

/// __waitpid(pid, flags): the Process::Status of a child that ended, nil with WNOHANG when none did. The task waits, never
/// the worker, so that a signal or another thread's interrupt ends the wait.
fn waitpid(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = pid(cx, a, 0)?;
    let flags = cx.arg_i64(a, 1)? as i32;
    let mut s = 0;
    // SAFETY: s is writable.
    let r = unsafe { libc::waitpid(p, &mut s, flags | libc::WNOHANG) };
    let e = io::errno();
    if r != 0 && cx.task.waits == Waits::Child {
        cx.task.waits = Waits::Nothing;
    }
    if r > 0 {
        if !libc::WIFSTOPPED(s) && !libc::WIFCONTINUED(s) {
            child_gone(cx, r);
        }
        let c = cx.k.process_status;
        let v = cx.data(c, Status { pid: r, status: s });
        if a.len() < 3 {
            set_last(cx, v);
        }
        return Ok(v);
    }
    if r == 0 {
        if flags & libc::WNOHANG != 0 {
            return Ok(Value::NIL);
        }
        if p > 0 && flags == 0 && !cx.hooked() {
            if let Some(fd) = child_fd(cx, p) {
                return Err(cx.park_io(fd, true, false));
            }
        }
        // The longer it takes, the rarer the looks.
        let now = now_ns();
        if cx.task.waits != Waits::Child {
            cx.task.waits = Waits::Child;
            cx.task.since = now;
        }
        let pause = (now.saturating_sub(cx.task.since) / 8).clamp(300_000, 20_000_000);
        return Err(cx.park(now + pause));
    }
    match e {
        libc::EINTR => Err(Exit::Again),
        e => {
            if p > 0 {
                child_gone(cx, p);
            }
            if a.len() < 3 {
                set_last(cx, Value::NIL);
            }
            Err(fail_plain(cx, e, ""))
        }
    }
}
