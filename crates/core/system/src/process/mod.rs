//! Processes: who we are, waiting for children, their status, limits and priorities.

pub(crate) mod env;
pub(crate) mod signal;
pub(crate) mod spawn;

use crate::file::path;
use crate::io::{self, Errno, fail_plain};
use kumi_vm::task::Wait;
use kumi_vm::*;
use rustix::fs::Uid;
use rustix::process::*;
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};

pub static TABLE: &[NativeDef] = &[
    n("Process.", "pid", 0, 0, |_, _, _| Ok(Value::fix(std::process::id() as i64))),
    n("Process.", "ppid", 0, 0, |_, _, _| Ok(Value::fix(Pid::as_raw(getppid()) as i64))),
    n("Process.", "getpgrp", 0, 0, |_, _, _| Ok(Value::fix(getpgrp().as_raw_pid() as i64))),
    n("Process.", "uid", 0, 0, |_, _, _| Ok(Value::fix(getuid().as_raw() as i64))),
    n("Process.", "gid", 0, 0, |_, _, _| Ok(Value::fix(getgid().as_raw() as i64))),
    n("Process.", "euid", 0, 0, |_, _, _| Ok(Value::fix(geteuid().as_raw() as i64))),
    n("Process.", "egid", 0, 0, |_, _, _| Ok(Value::fix(getegid().as_raw() as i64))),
    intrinsic("__set_ids", 3, 3, set_ids),
    n("Process.", "getpgid", 1, 1, |cx, _, a| {
        let p = pid(cx, a, 0, Errno::SRCH)?;
        check(cx, getpgid(p).map(Pid::as_raw_pid))
    }),
    n("Process.", "setpgid", 2, 2, |cx, _, a| {
        // Of group 0 the kernel makes that of the process, and looks at the sign then.
        let other = if cx.arg_c_int(a, 1)? == 0 { Errno::INVAL } else { Errno::SRCH };
        let (g, p) = (pid(cx, a, 1, Errno::INVAL)?, pid(cx, a, 0, other)?);
        check(cx, setpgid(p, g).map(|()| 0))
    }),
    n("Process.", "setpgrp", 0, 0, |cx, _, _| check(cx, setpgid(None, None).map(|()| 0))),
    n("Process.", "getsid", 0, 1, |cx, _, a| {
        let p = if a.is_empty() { None } else { pid(cx, a, 0, Errno::SRCH)? };
        check(cx, getsid(p).map(Pid::as_raw_pid))
    }),
    n("Process.", "setsid", 0, 0, |cx, _, _| check(cx, setsid().map(Pid::as_raw_pid))),
    n("Process.", "getpriority", 2, 2, |cx, _, a| {
        let r = match cx.arg_i64(a, 0)? {
            PROCESS => getpriority_process(pid(cx, a, 1, Errno::SRCH)?),
            GROUP => getpriority_pgrp(pid(cx, a, 1, Errno::SRCH)?),
            USER => getpriority_user(Uid::from_raw_unchecked(cx.arg_i64(a, 1)? as u32)),
            _ => Err(Errno::INVAL),
        };
        check(cx, r)
    }),
    n("Process.", "setpriority", 3, 3, |cx, _, a| {
        let n = cx.arg_i64(a, 2)? as i32;
        let r = match cx.arg_i64(a, 0)? {
            PROCESS => setpriority_process(pid(cx, a, 1, Errno::SRCH)?, n),
            GROUP => setpriority_pgrp(pid(cx, a, 1, Errno::SRCH)?, n),
            USER => setpriority_user(Uid::from_raw_unchecked(cx.arg_i64(a, 1)? as u32), n),
            _ => Err(Errno::INVAL),
        };
        check(cx, r.map(|()| 0))
    }),
    intrinsic("__getrlimit", 1, 1, getrlimit).guard(Guard::None),
    intrinsic("__setrlimit", 3, 3, setrlimit),
    n("Process.", "groups", 0, 0, groups),
    intrinsic("__setgroups", 1, 1, setgroups),
    intrinsic("__initgroups", 2, 2, |cx, _, a| {
        let u = cx.arg_path(a, 0)?;
        let g = cx.arg_i64(a, 1)?;
        let c = CString::new(u.bytes()).unwrap_or_default();
        // SAFETY: c is a terminated string.
        check(cx, io::result(unsafe { libc::initgroups(c.as_ptr(), g as libc::gid_t) }))
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

/// Whose priority is meant.
const PROCESS: i64 = libc::PRIO_PROCESS as i64;
const GROUP: i64 = libc::PRIO_PGRP as i64;
const USER: i64 = libc::PRIO_USER as i64;

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
        ("PRIO_PROCESS", PROCESS),
        ("PRIO_PGRP", GROUP),
        ("PRIO_USER", USER),
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
/// A process or group, none for 0; `wrong` for what is none.
fn pid(cx: &mut Cx, a: &[Value], i: usize, wrong: Errno) -> Result<Option<Pid>, Exit> {
    let n = cx.arg_c_int(a, i)?;
    if n < 0 { Err(fail_plain(cx, wrong, "")) } else { Ok(Pid::from_raw(n)) }
}
fn check(cx: &mut Cx, r: Result<i32, Errno>) -> R {
    r.map(|n| Value::fix(n as i64)).map_err(|e| fail_plain(cx, e, ""))
}
/// __set_ids(which, a, b): which 0 setuid, 1 setgid, 2 setreuid, 3 setregid, 4 setresuid (a, b, b), 5 setresgid. These
/// are the C library's, which sets them for all threads.
fn set_ids(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (k, x, y) = (cx.arg_i64(a, 0)?, cx.arg_i64(a, 1)? as u32, cx.arg_i64(a, 2)? as u32);
    // SAFETY: touch no memory.
    let r = io::result(unsafe {
        match k {
            0 => libc::setuid(x),
            1 => libc::setgid(x),
            2 => libc::setreuid(x, y),
            3 => libc::setregid(x, y),
            4 => libc::setresuid(x, y, y),
            _ => libc::setresgid(x, y, y),
        }
    });
    check(cx, r)
}
/// A limit of this process by its number, which `new` replaces.
fn limits(resource: i64, new: Option<libc::rlimit>) -> Result<libc::rlimit, Errno> {
    let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let new = new.as_ref().map_or(std::ptr::null(), |l| l as *const libc::rlimit);
    // SAFETY: `new` is null or readable, `old` is writable.
    io::result(unsafe { libc::prlimit(0, resource as _, new, &mut old) }).map(|_| old)
}
fn getrlimit(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let l = limits(cx.arg_i64(a, 0)?, None).map_err(|e| fail_plain(cx, e, ""))?;
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
    limits(k, Some(l)).map(|_| Value::NIL).map_err(|e| fail_plain(cx, e, ""))
}
fn groups(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let all = getgroups().map_err(|e| fail_plain(cx, e, ""))?;
    Ok(cx.array_vec(all.iter().map(|g| Value::fix(g.as_raw() as i64)).collect()))
}
fn setgroups(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let l = cx.arg_array(a, 0)?;
    let mut g: Vec<libc::gid_t> = Vec::new();
    for v in l.seen() {
        g.push(cx.arg_i64(&[v], 0)? as libc::gid_t);
    }
    // SAFETY: the vector has that many entries.
    check(cx, io::result(unsafe { libc::setgroups(g.len(), g.as_ptr()) }))?;
    Ok(a[0])
}
/// __user_id(name, group?): the number of a user or group, nil when there is none.
fn user_id(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_path(a, 0)?;
    let id = match a[1].truthy() {
        true => CString::new(s.bytes()).ok().and_then(|c| {
            // SAFETY: c is a terminated string; the result is null, or read before anything else asks (`Guard::World`).
            unsafe { libc::getgrnam(c.as_ptr()).as_ref() }.map(|g| g.gr_gid)
        }),
        false => path::user(Some(s.bytes())).map(|u| u.0),
    };
    Ok(id.map_or(Value::NIL, |i| Value::fix(i as i64)))
}
/// __times(): user, system, children's user and system seconds.
fn times(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut out = Vec::new();
    for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
        // SAFETY: a zeroed rusage is a valid value to write into.
        let u = unsafe {
            let mut u: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &mut u);
            u
        };
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
    let mut e = None;
    let forked = cx.fork_world(|| {
        // SAFETY: the other OS threads are stopped; the child goes on with a copy of this one.
        let p = io::result(unsafe { libc::fork() });
        if p == Ok(0) {
            crate::process::signal::after_fork();
        }
        e = p.err();
        p.unwrap_or(-1)
    });
    match forked {
        // Another worker stopped the world first.
        None => Err(Exit::Again),
        Some(0) => {
            cx.after_fork();
            drop(held);
            Ok(Value::NIL)
        }
        Some(p) => e.map_or(Ok(Value::fix(p as i64)), |e| Err(fail_plain(cx, e, "fork(2)"))),
    }
}
/// Descriptors of children that somebody waits for, by number, as long as the child is there.
#[derive(Default)]
struct Children(Vec<(i32, OwnedFd)>);

/// The descriptor that can be read from when child `pid` has ended; `None` where there is none.
fn child_fd(cx: &mut Cx, pid: Pid) -> Option<i32> {
    let n = pid.as_raw_pid();
    if let Some(c) = cx.state::<Children>().0.iter().find(|c| c.0 == n) {
        return Some(c.1.as_raw_fd());
    }
    let fd = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let number = fd.as_raw_fd();
    cx.state::<Children>().0.push((n, fd));
    Some(number)
}
/// The child is not there any more: others that wait for it look again.
fn child_gone(cx: &mut Cx, pid: i32) {
    let fd = {
        let list = &mut cx.state::<Children>().0;
        list.iter().position(|c| c.0 == pid).map(|i| list.swap_remove(i).1)
    };
    if let Some(fd) = fd {
        cx.closing(fd.as_raw_fd());
    }
}
/// A child's children are others.
fn forget_children(cx: &mut Cx) {
    cx.state::<Children>().0.clear();
}

/// The number and status of a child that has changed, if one has. `p`: a child, 0: one of this group, -1: any, less: of a group.
fn wait_for(p: i32, flags: i32) -> Result<Option<(i32, i32)>, Errno> {
    let options = WaitOptions::from_bits_retain(flags as u32);
    let found = match p {
        0.. => rustix::process::waitpid(Pid::from_raw(p), options),
        -1 => wait(options),
        _ => waitpgid(p.checked_neg().and_then(Pid::from_raw).ok_or(Errno::SRCH)?, options),
    };
    Ok(found?.map(|(pid, status)| (pid.as_raw_pid(), status.as_raw())))
}
/// __waitpid(pid, flags): the Process::Status of a child that ended, nil with WNOHANG when none did. The task waits, never
/// the worker, so that a signal or another thread's interrupt ends the wait.
fn waitpid(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = cx.arg_c_int(a, 0)?;
    let flags = cx.arg_i64(a, 1)? as i32;
    let found = wait_for(p, flags | libc::WNOHANG);
    if found != Ok(None) && matches!(cx.task.wait(), Wait::Child { .. }) {
        cx.task.set_wait(Wait::Nothing);
    }
    match found {
        Ok(Some((pid, status))) => {
            if !libc::WIFSTOPPED(status) && !libc::WIFCONTINUED(status) {
                child_gone(cx, pid);
            }
            let c = cx.k.process_status;
            let v = cx.data(c, Status { pid, status });
            if a.len() < 3 {
                set_last(cx, v);
            }
            Ok(v)
        }
        Ok(None) if flags & libc::WNOHANG != 0 => Ok(Value::NIL),
        Ok(None) => {
            if let Some(pid) = Pid::from_raw(p.max(0)).filter(|_| flags == 0 && !cx.hooked()) {
                if let Some(fd) = child_fd(cx, pid) {
                    return Err(cx.park_io(fd, true, false));
                }
            }
            // The longer it takes, the rarer the looks.
            let now = now_ns();
            let since = match cx.task.take_wait() {
                Wait::Child { since } => since,
                _ => now,
            };
            cx.task.set_wait(Wait::Child { since });
            let pause = (now.saturating_sub(since) / 8).clamp(300_000, 20_000_000);
            Err(cx.park(now + pause))
        }
        Err(Errno::INTR) => Err(Exit::Again),
        Err(e) => {
            if p > 0 {
                child_gone(cx, p);
            }
            Err(fail_plain(cx, e, ""))
        }
    }
}
