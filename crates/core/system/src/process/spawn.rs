//! Starting other programs: fork and exec in one native, with everything prepared
//! before the fork, so that the child makes system calls only.
//!
//! The child reports a failure through a pipe that a successful exec closes.

use crate::file::path;
use crate::io::{self, Errno, Fd, fail_plain};
use kumi_vm::*;
use rustix::fs::{Access, FileType, Mode, Stat, access, stat};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_getfd, fcntl_setfd, retry_on_intr};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, chdir, setpgid, umask};
use std::ffi::CString;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

pub static TABLE: &[NativeDef] =
    &[intrinsic("__spawn", 4, 4, spawn).guard(Guard::None), intrinsic("__exec", 5, 5, exec).guard(Guard::None)];

/// What the child does before its program runs.
struct Plan {
    program: CString,
    argv: Vec<CString>,
    envp: Vec<CString>,
    /// (descriptor in the child, descriptor here, or -1 to close it)
    redirects: Vec<(i32, i32)>,
    /// (descriptor in the child, other descriptor in the child), after the redirects
    inner: Vec<(i32, i32)>,
    chdir: Option<CString>,
    pgroup: Option<i32>,
    umask: Option<u32>,
    limits: Vec<(i64, u64, u64)>,
    close_others: bool,
    /// Of the streams among the redirects, whose own ones may be closed meanwhile.
    _copies: Vec<OwnedFd>,
}

fn cstr(cx: &mut Cx, v: Value) -> Result<CString, Exit> {
    let b = v.as_str().map_or(Vec::new(), |s| s.bytes().to_vec());
    CString::new(b).map_err(|_| cx.arg_error("string contains null byte"))
}
/// Characters that need a shell.
fn needs_shell(s: &[u8]) -> bool {
    if s.iter().any(|c| b"*?{}[]<>()~&|\\$;'`\"\n#=%".contains(c)) {
        return true;
    }
    let first = s.split(|c| c.is_ascii_whitespace()).find(|w| !w.is_empty()).unwrap_or(b"");
    const WORDS: &[&[u8]] = &[
        b".",
        b":",
        b"!",
        b"break",
        b"case",
        b"continue",
        b"do",
        b"done",
        b"elif",
        b"else",
        b"esac",
        b"eval",
        b"exec",
        b"exit",
        b"export",
        b"fi",
        b"for",
        b"if",
        b"in",
        b"readonly",
        b"return",
        b"set",
        b"shift",
        b"then",
        b"times",
        b"trap",
        b"unset",
        b"until",
        b"while",
        b"alias",
        b"bg",
        b"cd",
        b"command",
        b"fg",
        b"getopts",
        b"jobs",
        b"read",
        b"type",
        b"ulimit",
        b"umask",
        b"unalias",
        b"wait",
    ];
    WORDS.contains(&first)
}
/// Finds the program in PATH; ENOENT when it is not there.
fn find(name: &[u8], path: &[u8]) -> Result<Vec<u8>, Errno> {
    if name.is_empty() {
        return Err(Errno::NOENT);
    }
    if name.contains(&b'/') {
        return Ok(name.to_vec());
    }
    for dir in path.split(|c| *c == b':') {
        let mut p = if dir.is_empty() { b".".to_vec() } else { dir.to_vec() };
        p.push(b'/');
        p.extend_from_slice(name);
        let is_file = |st: Stat| FileType::from_raw_mode(st.st_mode) == FileType::RegularFile;
        if access(&p, Access::EXEC_OK).is_ok() && stat(&p).is_ok_and(is_file) {
            return Ok(p);
        }
    }
    Err(Errno::NOENT)
}

/// Arguments of both intrinsics: (command, environment, redirects, options).
/// command: [line] for one command line, [program, argv0, arguments ...] else.
/// environment: [unset others?, [name, value or nil] ...]. redirects: triples (descriptor in the child, kind, x): a stream or a descriptor
/// here (0), to be closed (1), a descriptor of the child (3). options: [chdir, pgroup, umask, limits, close others].
fn plan(cx: &mut Cx, a: &[Value]) -> Result<Plan, Exit> {
    let cmd = cx.arg_array(a, 0)?;
    let env = cx.arg_array(a, 1)?;
    let (cmd, env) = (cmd.seen(), env.seen());
    let mut vars: Vec<(Vec<u8>, Vec<u8>)> = if env.get(0).is_some_and(|v| v.truthy()) {
        Vec::new()
    } else {
        std::env::vars_os().map(|(k, v)| (k.into_vec(), v.into_vec())).collect()
    };
    let mut own_path = None;
    for p in env.iter().skip(1) {
        let Some(p) = p.as_array() else { continue };
        let k = p.get(0).and_then(|k| k.as_str()).map_or(Vec::new(), |s| s.bytes().to_vec());
        if k.contains(&b'=') || k.is_empty() {
            return Err(cx.arg_error(&format!("environment name contains a equal : {}", String::from_utf8_lossy(&k))));
        }
        let v = p.get(1).unwrap_or(Value::NIL);
        vars.retain(|x| x.0 != k);
        if let Some(s) = v.as_str() {
            if k == b"PATH" {
                own_path = Some(s.bytes().to_vec());
            }
            vars.push((k, s.bytes().to_vec()));
        } else if k == b"PATH" {
            own_path = Some(b"/bin:/usr/bin".to_vec());
        }
    }
    let mut envp = Vec::new();
    for (k, v) in vars {
        let mut e = k;
        e.push(b'=');
        e.extend_from_slice(&v);
        match CString::new(e) {
            Ok(c) => envp.push(c),
            Err(_) => return Err(cx.arg_error("string contains null byte")),
        }
    }
    let (name, argv): (Vec<u8>, Vec<CString>) = if cmd.len() == 1 {
        let line = cstr(cx, cmd.get(0).unwrap_or(Value::NIL))?;
        if needs_shell(line.as_bytes()) {
            (b"/bin/sh".to_vec(), vec![c"sh".into(), c"-c".into(), line])
        } else {
            let words: Vec<CString> =
                line.as_bytes().split(|c| c.is_ascii_whitespace()).filter(|w| !w.is_empty()).filter_map(|w| CString::new(w).ok()).collect();
            match words.first() {
                Some(w) => (w.as_bytes().to_vec(), words.clone()),
                None => return Err(fail_plain(cx, Errno::NOENT, &line.to_string_lossy())),
            }
        }
    } else {
        let name = cstr(cx, cmd.get(0).unwrap_or(Value::NIL))?;
        let mut argv = Vec::new();
        for v in cmd.from(1) {
            argv.push(cstr(cx, v)?);
        }
        (name.into_bytes(), argv)
    };
    let search = own_path.unwrap_or_else(|| std::env::var_os("PATH").map_or(b"/usr/local/bin:/usr/bin:/bin".to_vec(), |p| p.into_vec()));
    let o = cx.arg_array(a, 3)?;
    let at = |i: usize| o.get(i).unwrap_or(Value::NIL);
    let chdir = if at(0).is_nil() { None } else { Some(cstr(cx, at(0))?) };
    let program = match find(&name, &search) {
        Ok(p) => p,
        Err(e) => return Err(fail_plain(cx, e, &String::from_utf8_lossy(&name))),
    };
    let Ok(program) = CString::new(program) else { return Err(cx.arg_error("string contains null byte")) };
    let mut plan = Plan {
        program,
        argv,
        envp,
        redirects: Vec::new(),
        inner: Vec::new(),
        chdir,
        pgroup: at(1).as_fix().map(|g| g as i32),
        umask: at(2).as_fix().map(|m| m as u32),
        limits: Vec::new(),
        close_others: at(4).truthy(),
        _copies: Vec::new(),
    };
    if let Some(l) = at(3).as_array() {
        for x in l.seen() {
            if let Some(x) = x.as_array() {
                let g = |i: usize| match x.get(i) {
                    Some(v) if v.is_fix() => v.fix_val() as u64,
                    _ => libc::RLIM_INFINITY,
                };
                plan.limits.push((g(0) as i64, g(1), g(2)));
            }
        }
    }
    let r = cx.arg_array(a, 2)?;
    for t in r.seen().to_vec().chunks(3) {
        let [fd, kind, x] = t else { continue };
        let fd = fd.as_fix().unwrap_or(-1) as i32;
        match kind.as_fix() {
            Some(0) if x.is_fix() => plan.redirects.push((fd, x.fix_val() as i32)),
            Some(0) => {
                let copy = io::own_fd(cx, *x)?;
                plan.redirects.push((fd, copy.as_raw_fd()));
                plan._copies.push(copy);
            }
            Some(1) => plan.redirects.push((fd, -1)),
            _ => plan.inner.push((fd, x.as_fix().unwrap_or(-1) as i32)),
        }
    }
    Ok(plan)
}

/// Where sources of redirections stand meanwhile.
const SPARE: i32 = 64;

/// Everything between fork and exec. System calls only.
fn prepare(p: &Plan, spare: &mut [(i32, i32)]) -> Result<(), Errno> {
    if let Some(g) = p.pgroup {
        setpgid(None, if g < 0 { return Err(Errno::INVAL) } else { Pid::from_raw(g) })?;
    }
    if let Some(m) = p.umask {
        umask(Mode::from_bits_retain(m));
    }
    // Sources first get out of the way of targets.
    for (to, (fd, src)) in spare.iter_mut().zip(&p.redirects) {
        *to = (*fd, if *src < 0 { -1 } else { fcntl_dupfd_cloexec(Fd(*src), SPARE)?.into_raw_fd() });
    }
    for (fd, src) in spare.iter() {
        if *src < 0 {
            let _ = io::close(*fd);
        } else {
            io::dup_over(*src, *fd, false)?;
        }
    }
    for (fd, src) in &p.inner {
        io::dup_over(*src, *fd, false)?;
    }
    if p.close_others {
        for fd in (3..1024).filter(|fd| !p.redirects.iter().chain(&p.inner).any(|r| r.0 == *fd)) {
            if let Ok(flags) = fcntl_getfd(Fd(fd)) {
                let _ = fcntl_setfd(Fd(fd), flags | FdFlags::CLOEXEC);
            }
        }
    }
    if let Some(d) = &p.chdir {
        chdir(d)?;
    }
    // The descriptors above may lie beyond what the program is to have.
    for (k, cur, max) in &p.limits {
        super::limits(*k, Some(libc::rlimit { rlim_cur: *cur, rlim_max: *max }))?;
    }
    Ok(())
}
/// Becomes the program. Returns only when something failed. System calls only.
///
/// # Safety
/// Runs in a fresh child, or in a process that is about to be replaced.
unsafe fn become_it(p: &Plan, x: &mut Arrays) -> Errno {
    // SAFETY: the caller's promise.
    let e = prepare(p, &mut x.spare).map_or_else(|e| e, |()| unsafe { execute(p, x) });
    for (_, source) in x.spare.iter().filter(|s| s.1 >= SPARE) {
        let _ = io::close(*source);
    }
    e
}
/// # Safety
/// As for [`become_it`].
unsafe fn execute(p: &Plan, x: &Arrays) -> Errno {
    // SAFETY: all strings are terminated and alive; arrays end in null.
    unsafe {
        libc::execve(p.program.as_ptr(), x.argv.as_ptr(), x.envp.as_ptr());
        let e = io::errno();
        if e == Errno::NOEXEC {
            libc::execve(c"/bin/sh".as_ptr(), x.shell.as_ptr(), x.envp.as_ptr());
        }
        e
    }
}
struct Arrays {
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
    shell: Vec<*const libc::c_char>,
    spare: Vec<(i32, i32)>,
}
fn arrays(p: &Plan) -> Arrays {
    let end = std::iter::once(std::ptr::null());
    let argv: Vec<_> = p.argv.iter().map(|c| c.as_ptr()).chain(end.clone()).collect();
    let envp = p.envp.iter().map(|c| c.as_ptr()).chain(end).collect();
    let mut shell = vec![c"sh".as_ptr(), p.program.as_ptr()];
    shell.extend(argv.iter().skip(1));
    Arrays { argv, envp, shell, spare: vec![(-1, -1); p.redirects.len()] }
}
/// The name in the error message.
fn shown(p: &Plan, e: Errno) -> String {
    match &p.chdir {
        Some(d) if e == Errno::NOENT && stat(d).is_err() => d.to_string_lossy().into_owned(),
        _ => p.argv.first().map_or(String::new(), |_| {
            let name = p.program.as_bytes();
            let plain = p.argv.first().is_some_and(|a| path::base_of(name) == a.as_bytes());
            if plain { p.argv[0].to_string_lossy().into_owned() } else { p.program.to_string_lossy().into_owned() }
        }),
    }
}
fn spawn(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    crate::io::stdio::flush_std(cx)?;
    let p = plan(cx, a)?;
    let mut x = arrays(&p);
    let (r, w) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| fail_plain(cx, e, ""))?;
    // A signal to the child is its own from the first moment on: our handlers do not take it.
    let held = crate::process::signal::hold();
    // SAFETY: the child makes system calls only.
    let forked = io::result(unsafe { libc::fork() });
    if forked == Ok(0) {
        crate::process::signal::before_exec(&held);
        drop(r);
        let w = fcntl_dupfd_cloexec(&w, 200).unwrap_or(w);
        // SAFETY: this is the child; what it needs was prepared.
        unsafe {
            let e = become_it(&p, &mut x);
            let _ = rustix::io::write(&w, &e.raw_os_error().to_ne_bytes());
            libc::_exit(127);
        }
    }
    drop(held);
    drop(w);
    let pid = forked.map_err(|e| fail_plain(cx, e, "fork(2)"))?;
    let mut e = [0; 4];
    if retry_on_intr(|| rustix::io::read(&r, &mut e)) == Ok(4) {
        let _ = super::wait_for(pid, 0);
        let e = Errno::from_raw_os_error(i32::from_ne_bytes(e));
        return Err(fail_plain(cx, e, &shown(&p, e)));
    }
    Ok(Value::fix(pid as i64))
}
/// __exec(command, environment, redirects, options, at all costs). Returns only when a signal has come that a poll has
/// to answer first, and never at all costs.
fn exec(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    crate::io::stdio::flush_std(cx)?;
    let p = plan(cx, a)?;
    let mut x = arrays(&p);
    let held = crate::process::signal::hold();
    let (down, answered) = crate::process::signal::stand_down(&held);
    if !answered && !a[4].truthy() {
        return Ok(Value::NIL);
    }
    drop(held);
    // SAFETY: on success nothing of this process is left; on failure the error is raised.
    let e = unsafe { become_it(&p, &mut x) };
    drop(down);
    let name = shown(&p, e);
    Err(fail_plain(cx, e, &name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_needed_for_its_own_words_and_characters() {
        for (line, want) in [
            ("ls -l", false),
            ("  ls -l", false),
            ("", false),
            ("/bin/true", false),
            ("ls | wc", true),
            ("ls > x", true),
            ("echo $HOME", true),
            ("A=1 ls", true),
            ("cd /", true),
            ("exit 3", true),
            ("\texit 3", true),
            ("exits 3", false),
            ("echo exit", false),
        ] {
            assert_eq!(needs_shell(line.as_bytes()), want, "{line:?}");
        }
    }

    #[test]
    fn programs_are_found_in_the_path() {
        assert_eq!(find(b"sh", b"/no/such/folder:/bin"), Ok(b"/bin/sh".to_vec()));
        assert_eq!(find(b"sh", b"/no/such/folder"), Err(Errno::NOENT));
        assert_eq!(find(b"", b"/bin"), Err(Errno::NOENT));
        // A folder is no program, and what has a slash is not looked for.
        assert_eq!(find(b"bin", b"/usr"), Err(Errno::NOENT));
        assert_eq!(find(b"no/such", b"/bin"), Ok(b"no/such".to_vec()));
    }
}
