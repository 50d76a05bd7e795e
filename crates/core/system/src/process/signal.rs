//! Signals: a handler that only takes note, and what runs at the next safepoint.
//!
//! The operating system knows one handler a process, so the notes are process-wide
//! statics, and one runtime has them (`kumi_vm::signals`). A
//! handler sets a bit and rings for it; its loop then asks [`next`] what to call.

use crate::io::{self, Errno, Fd};
use kumi_vm::*;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// Signals that came and were not yet taken, a bit each.
static PENDING: AtomicU64 = AtomicU64::new(0);

pub static TABLE: &[NativeDef] = &[
    intrinsic("__signal_list", 0, 0, list).guard(Guard::None),
    intrinsic("__trap", 3, 3, trap).guard(Guard::World),
    intrinsic("__trap_of", 1, 1, |cx, _, a| {
        let n = cx.arg_i64(a, 0)? as usize;
        Ok(cx.state::<Traps>().commands.get(n).copied().unwrap_or(Value::NIL))
    })
    .guard(Guard::None),
    intrinsic("__kill", 2, 2, kill).guard(Guard::None),
    intrinsic("__signal_poll", 0, 0, |cx, _, _| {
        if !cx.has_signals() || PENDING.load(Acquire) == 0 {
            return Ok(Value::NIL);
        }
        if cx.worker == 0 {
            return Err(Exit::Again);
        }
        // The main thread's worker calls the handlers.
        cx.wake_main_worker();
        Err(cx.park(now_ns() + 200_000))
    })
    .guard(Guard::None),
    // __signal_action(number): 0 the system's default, 1 ignored, 2 a handler of ours, 3 the one that does nothing (SIGPIPE).
    intrinsic("__signal_action", 1, 1, |cx, _, a| {
        let n = cx.arg_i64(a, 0)? as i32;
        Ok(Value::fix(match current(n) {
            libc::SIG_DFL => 0,
            libc::SIG_IGN => 1,
            other if other == nothing as extern "C" fn(libc::c_int) as libc::sighandler_t => 3,
            _ => 2,
        }))
    })
    .guard(Guard::None),
];

/// Names without SIG; of two names with one number the first is the usual one.
static NAMES: &[(&str, i32)] = &[
    ("EXIT", 0),
    ("HUP", libc::SIGHUP),
    ("INT", libc::SIGINT),
    ("QUIT", libc::SIGQUIT),
    ("ILL", libc::SIGILL),
    ("TRAP", libc::SIGTRAP),
    ("ABRT", libc::SIGABRT),
    ("IOT", libc::SIGABRT),
    ("BUS", libc::SIGBUS),
    ("FPE", libc::SIGFPE),
    ("KILL", libc::SIGKILL),
    ("USR1", libc::SIGUSR1),
    ("SEGV", libc::SIGSEGV),
    ("USR2", libc::SIGUSR2),
    ("PIPE", libc::SIGPIPE),
    ("ALRM", libc::SIGALRM),
    ("TERM", libc::SIGTERM),
    ("CHLD", libc::SIGCHLD),
    ("CLD", libc::SIGCHLD),
    ("CONT", libc::SIGCONT),
    ("STOP", libc::SIGSTOP),
    ("TSTP", libc::SIGTSTP),
    ("TTIN", libc::SIGTTIN),
    ("TTOU", libc::SIGTTOU),
    ("URG", libc::SIGURG),
    ("XCPU", libc::SIGXCPU),
    ("XFSZ", libc::SIGXFSZ),
    ("VTALRM", libc::SIGVTALRM),
    ("PROF", libc::SIGPROF),
    ("WINCH", libc::SIGWINCH),
    ("IO", libc::SIGIO),
    ("POLL", libc::SIGIO),
    ("PWR", libc::SIGPWR),
    ("SYS", libc::SIGSYS),
];

/// What `trap` set, by number: nil is the default, a String a word, a Proc a handler.
#[derive(Default)]
struct Traps {
    commands: Vec<Value>,
    /// What the system did before this runtime set anything, by number.
    before: Vec<(i32, libc::sighandler_t)>,
}

extern "C" fn note(sig: libc::c_int) {
    PENDING.fetch_or(1 << (sig as u64 & 63), AcqRel);
    kumi_vm::signals::ring(|fd| {
        let before = errno::errno();
        let _ = rustix::io::write(Fd(fd), &1u64.to_ne_bytes());
        // What the program was at may ask for the error of its own call.
        errno::set_errno(before);
    });
}
extern "C" fn nothing(_: libc::c_int) {}

/// The system's action for a signal, which `new` replaces; `None` when it refuses.
fn action(sig: i32, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    // SAFETY: a zeroed sigaction is valid to write into; handlers are async-signal-safe.
    unsafe {
        let mut old = std::mem::zeroed();
        (libc::sigaction(sig, new.map_or(std::ptr::null(), |n| n), &mut old) == 0).then_some(old)
    }
}
/// Sets the system's action for a signal; false when it refuses.
fn set(sig: i32, handler: libc::sighandler_t) -> bool {
    // SAFETY: all zeros is a sigaction that blocks no signal and has no flags.
    let new = libc::sigaction { sa_sigaction: handler, ..unsafe { std::mem::zeroed() } };
    action(sig, Some(&new)).is_some()
}
fn current(sig: i32) -> libc::sighandler_t {
    action(sig, None).map_or(libc::SIG_DFL, |a| a.sa_sigaction)
}
fn handler() -> libc::sighandler_t {
    note as extern "C" fn(libc::c_int) as libc::sighandler_t
}
/// Signals whose default in Ruby is an exception.
const RAISING: [i32; 7] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGALRM, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];

/// Makes this runtime the one that receives signals, where it is to and no other does.
pub fn boot(cx: &mut Cx) {
    cx.boot().tracers.push(|cx, m| {
        if let Some(t) = cx.state_seen::<Traps>() {
            m.mark_all(&t.commands);
        }
    });
    cx.state::<Traps>().commands = vec![Value::NIL; 65];
    if !cx.options.signals || !cx.claim_signals() {
        return;
    }
    cx.boot().signal_hook = Some(next);
    cx.boot().signal_waits = Some(|| PENDING.load(Acquire) != 0);
    cx.boot().signals_back = Some(put_back);
    for s in RAISING {
        if current(s) == libc::SIG_DFL {
            take(cx, s, handler());
        }
    }
    // Whoever started us may ignore it, and Rust's own start does; a handler is undone by exec, so that no child inherits that.
    take(cx, libc::SIGPIPE, nothing as extern "C" fn(libc::c_int) as libc::sighandler_t);
}
/// `set`, with a note of what it replaces.
fn take(cx: &mut Cx, sig: i32, handler: libc::sighandler_t) -> bool {
    let was = current(sig);
    let done = set(sig, handler);
    let before = &mut cx.state::<Traps>().before;
    if done && !before.iter().any(|(s, _)| *s == sig) {
        before.push((sig, was));
    }
    done
}
/// The runtime ends: the system does again what it did before.
fn put_back(cx: &mut Cx) {
    for (sig, was) in std::mem::take(&mut cx.state::<Traps>().before) {
        set(sig, was);
    }
    PENDING.store(0, Release);
}
/// No signal comes to this thread while it lives; then those that waited do. Dropped on another thread, it is that one's
/// mask that becomes what this one's was.
pub struct Held(libc::sigset_t);
pub fn hold() -> Held {
    // SAFETY: a zeroed set is valid to write into.
    let all = unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        all
    };
    Held(mask(&all))
}
/// Puts a mask in force; what was in force until then.
fn mask(new: &libc::sigset_t) -> libc::sigset_t {
    // SAFETY: both sets are alive, and a zeroed one is valid to write into.
    unsafe {
        let mut old = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, new, &mut old);
        old
    }
}
impl Drop for Held {
    fn drop(&mut self) {
        mask(&self.0);
    }
}
/// Between fork and exec: what calls our handlers does again what the system does by default, then signals that came
/// are let in. System calls only.
pub fn before_exec(held: &Held) {
    for sig in 1..32 {
        let ours = current(sig);
        if ours != libc::SIG_DFL && ours != libc::SIG_IGN {
            set(sig, libc::SIG_DFL);
        }
    }
    mask(&held.0);
}
/// What our handlers caught does what the system does by default, until this is dropped: for an exec in place, which
/// takes the handlers and what they noted with it.
pub struct StoodDown(Vec<(i32, libc::sighandler_t)>);
/// And whether every signal that came so far was answered. Signals are held meanwhile, so that one comes either before,
/// and is told of, or after, and finds the default.
pub fn stand_down(_: &Held) -> (StoodDown, bool) {
    let ours = [handler(), nothing as extern "C" fn(libc::c_int) as libc::sighandler_t];
    let mut were = Vec::new();
    for sig in 1..32 {
        let action = current(sig);
        if ours.contains(&action) && set(sig, libc::SIG_DFL) {
            were.push((sig, action));
        }
    }
    (StoodDown(were), PENDING.load(Acquire) == 0)
}
impl Drop for StoodDown {
    fn drop(&mut self) {
        for (sig, action) in &self.0 {
            set(*sig, *action);
        }
    }
}
/// The program is over, and runs no handlers any more: a signal ends the process.
pub fn let_go() {
    for sig in RAISING {
        if current(sig) == handler() {
            set(sig, libc::SIG_DFL);
        }
    }
}
/// What SIGINT does, while somebody else (a line editor) handles it for a time.
#[derive(Clone, Copy)]
pub struct OnInterrupt(Option<libc::sigaction>);
impl OnInterrupt {
    pub fn now() -> OnInterrupt {
        OnInterrupt(action(libc::SIGINT, None))
    }
    /// Puts it in force; what was in force until then.
    pub fn swap(self) -> OnInterrupt {
        OnInterrupt(action(libc::SIGINT, self.0.as_ref()))
    }
}
/// A child forgets what came before it was made.
pub fn after_fork() {
    PENDING.store(0, Release);
}

/// The call for the next signal that came, if any.
fn next(cx: &mut Cx) -> Option<Call> {
    let all = PENDING.load(Acquire);
    if all == 0 {
        return None;
    }
    let sig = all.trailing_zeros();
    let rest = PENDING.fetch_and(!(1 << sig), AcqRel) & !(1 << sig);
    if rest != 0 {
        cx.heap.poll.store(true, Release);
    }
    let command = cx.state::<Traps>().commands.get(sig as usize).copied().unwrap_or(Value::NIL);
    let x = cx.call_helper("signal_came", &[Value::fix(sig as i64), command]);
    debug_assert!(x == Exit::Call);
    cx.pending.call.take()
}

fn list(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut v = Vec::new();
    for (name, n) in NAMES {
        v.push(cx.str(name));
        v.push(Value::fix(*n as i64));
    }
    Ok(cx.array_vec(v))
}
/// __trap(number, what, command): `what` 0: Ruby's default, 1: ignore, 2: the system's default, 3: `command` is called.
/// The old command.
fn trap(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (n, what) = (cx.arg_i64(a, 0)? as i32, cx.arg_i64(a, 1)?);
    if n > 0 {
        let h = match what {
            0 if RAISING.contains(&n) => handler(),
            0 if n == libc::SIGPIPE => nothing as extern "C" fn(libc::c_int) as libc::sighandler_t,
            1 => libc::SIG_IGN,
            3 => handler(),
            _ => libc::SIG_DFL,
        };
        if !cx.has_signals() {
            let what = format!("can't trap SIG{}: the process's signals are not this runtime's (Options::signals)", name_of(n));
            return Err(cx.arg_error(&what));
        }
        if !take(cx, n, h) {
            return Err(io::fail_plain(cx, Errno::INVAL, &format!("SIG{}", name_of(n))));
        }
    }
    cx.heap.publish(a[2]);
    let list = &mut cx.state::<Traps>().commands;
    let Some(slot) = list.get_mut(n as usize) else { return Ok(Value::NIL) };
    Ok(std::mem::replace(slot, a[2]))
}
fn name_of(n: i32) -> String {
    NAMES.iter().find(|p| p.1 == n).map_or(n.to_string(), |p| p.0.to_string())
}
/// __kill(pid, number)
fn kill(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (pid, sig) = (cx.arg_i64(a, 0)?, cx.arg_i64(a, 1)?);
    // A signal to ourselves goes to this thread, so that it has come before the call returns.
    let own = pid == std::process::id() as i64 && sig != 0;
    // SAFETY: touches no memory.
    let r = unsafe { if own { libc::raise(sig as i32) } else { libc::kill(pid as libc::pid_t, sig as i32) } };
    if r == 0 { Ok(Value::fix(1)) } else { Err(io::fail_plain(cx, io::errno(), "")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_named_and_others_are_numbers() {
        assert_eq!((name_of(libc::SIGINT), name_of(libc::SIGKILL), name_of(0)), ("INT".into(), "KILL".into(), "EXIT".into()));
        assert_eq!(name_of(999), "999");
    }
}
