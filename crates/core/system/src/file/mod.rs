//! Changing files and directories: links, names, modes, times, locks; the working directory.

pub(crate) mod fnmatch;
pub(crate) mod glob;
pub(crate) mod path;
pub(crate) mod stat;

use crate::file::glob::read_dir;
use crate::io;
use crate::io::open::c_path;
use kumi_text::encoding::EncIndex;
use kumi_vm::*;
use std::ffi::CString;

pub static TABLE: &[NativeDef] = &[
    n("File.", "rename", 2, 2, |cx, _, a| {
        two(cx, a, "rb_file_s_rename", |x, y| {
            // SAFETY: both are terminated strings.
            unsafe { libc::rename(x.as_ptr(), y.as_ptr()) }
        })
    }),
    n("File.", "link", 2, 2, |cx, _, a| {
        two(cx, a, "rb_file_s_link", |x, y| {
            // SAFETY: both are terminated strings.
            unsafe { libc::link(x.as_ptr(), y.as_ptr()) }
        })
    }),
    n("File.", "symlink", 2, 2, |cx, _, a| {
        two(cx, a, "rb_file_s_symlink", |x, y| {
            // SAFETY: both are terminated strings.
            unsafe { libc::symlink(x.as_ptr(), y.as_ptr()) }
        })
    }),
    n("File.", "readlink", 1, 1, readlink),
    n("File.", "truncate", 2, 2, |cx, _, a| {
        let n = cx.arg_i64(a, 1)?;
        one(cx, a, "rb_file_s_truncate", |p| {
            // SAFETY: p is a terminated string.
            unsafe { libc::truncate(p.as_ptr(), n) }
        })
    }),
    n("File.", "mkfifo", 1, 2, |cx, _, a| {
        let m = if a.len() > 1 { cx.arg_i64(a, 1)? } else { 0o666 };
        one(cx, a, "rb_file_s_mkfifo", |p| {
            // SAFETY: p is a terminated string.
            unsafe { libc::mkfifo(p.as_ptr(), m as libc::mode_t) }
        })
    }),
    n("File.", "umask", 0, 1, |cx, _, a| {
        let new = if a.is_empty() { None } else { Some(cx.arg_i64(a, 0)?) };
        // SAFETY: touches no memory.
        let old = unsafe {
            match new {
                Some(m) => libc::umask(m as libc::mode_t),
                None => {
                    let m = libc::umask(0);
                    libc::umask(m);
                    m
                }
            }
        };
        Ok(Value::fix(old as i64))
    })
    .guard(Guard::World),
    intrinsic("__file_unlink", 1, 1, |cx, _, a| {
        one(cx, a, "apply2files", |p| {
            // SAFETY: p is a terminated string.
            unsafe { libc::unlink(p.as_ptr()) }
        })
    }),
    intrinsic("__file_chmod", 2, 2, |cx, _, a| {
        let m = cx.arg_i64(a, 1)? as libc::mode_t;
        one(cx, a, "apply2files", |p| {
            // SAFETY: p is a terminated string.
            unsafe { libc::chmod(p.as_ptr(), m) }
        })
    }),
    intrinsic("__file_chown", 4, 4, |cx, _, a| {
        let (u, g) = (owner(cx, a, 1)?, owner(cx, a, 2)?);
        let follow = a[3].truthy();
        one(cx, a, "apply2files", |p| {
            // SAFETY: p is a terminated string.
            unsafe { if follow { libc::chown(p.as_ptr(), u, g) } else { libc::lchown(p.as_ptr(), u, g) } }
        })
    }),
    // __file_utime(path, atime seconds or nil for now, its nanoseconds, mtime seconds or nil, its nanoseconds, follow)
    intrinsic("__file_utime", 6, 6, utime),
    n("File", "chmod", 1, 1, |cx, r, a| {
        let m = cx.arg_i64(a, 0)? as libc::mode_t;
        fd_call(cx, r, |fd| {
            // SAFETY: touches no memory.
            unsafe { libc::fchmod(fd, m) }
        })
    }),
    n("File", "chown", 2, 2, |cx, r, a| {
        let (u, g) = (owner(cx, a, 0)?, owner(cx, a, 1)?);
        fd_call(cx, r, |fd| {
            // SAFETY: touches no memory.
            unsafe { libc::fchown(fd, u, g) }
        })
    }),
    n("File", "truncate", 1, 1, |cx, r, a| {
        let n = cx.arg_i64(a, 0)?;
        let io = io::writer(cx, r)?;
        let _ = io.flush();
        fd_call(cx, r, |fd| {
            // SAFETY: touches no memory.
            unsafe { libc::ftruncate(fd, n) }
        })
    }),
    n("File", "flock", 1, 1, flock),
    n("Dir.", "getwd", 0, 0, getwd),
    n("Dir.", "mkdir", 1, 2, |cx, _, a| {
        let m = if a.len() > 1 && !a[1].is_nil() { cx.arg_i64(a, 1)? } else { 0o777 };
        one(cx, a, "dir_s_mkdir", |p| {
            // SAFETY: p is a terminated string.
            unsafe { libc::mkdir(p.as_ptr(), m as libc::mode_t) }
        })?;
        Ok(Value::fix(0))
    }),
    n("Dir.", "rmdir", 1, 1, rmdir),
    n("Dir.", "chroot", 1, 1, |cx, _, a| {
        one(cx, a, "dir_s_chroot", |p| {
            // SAFETY: p is a terminated string.
            unsafe { libc::chroot(p.as_ptr()) }
        })?;
        Ok(Value::fix(0))
    }),
    n("Dir.", "empty?", 1, 1, |cx, _, a| {
        let p = cx.arg_path(a, 0)?;
        match read_dir(p.bytes()) {
            Ok(v) => Ok(Value::bool(v.iter().all(|(n, _)| n == b"." || n == b".."))),
            Err(libc::ENOTDIR) => Ok(Value::FALSE),
            Err(e) => Err(io::fail(cx, e, "rb_dir_s_empty_p", p.bytes())),
        }
    }),
    intrinsic("__chdir", 1, 1, |cx, _, a| {
        one(cx, a, "dir_chdir0", |p| {
            // SAFETY: p is a terminated string.
            unsafe { libc::chdir(p.as_ptr()) }
        })?;
        Ok(Value::fix(0))
    }),
    intrinsic("__fchdir", 1, 1, |cx, _, a| {
        let fd = if a[0].is_fix() { cx.arg_c_int(a, 0)? } else { dir(cx, a[0])?.fd };
        // SAFETY: touches no memory.
        if unsafe { libc::fchdir(fd) } != 0 {
            let e = io::errno();
            return Err(io::fail_plain(cx, e, "fchdir"));
        }
        Ok(Value::fix(0))
    }),
    intrinsic("__dir_open", 2, 2, dir_open),
    intrinsic("__dir_for_fd", 2, 2, dir_for_fd),
    n("Dir.", "allocate", 0, 0, |cx, c, _| {
        let c = c.as_class().ok_or(Exit::Miss)?;
        Ok(cx.data(c, Dir { fd: -1, names: None, pos: 0, path: None, path_enc: EncIndex::UTF_8, opened: false }))
    }),
    n("Dir", "fileno", 0, 0, |cx, r, _| Ok(Value::fix(dir(cx, r)?.fd as i64))),
    n("Dir", "path", 0, 0, dir_path),
    intrinsic("__dir_read", 1, 1, |cx, _, a| dir_read(cx, a[0], &[])),
    n("Dir", "pos", 0, 0, |cx, r, _| Ok(Value::fix(dir(cx, r)?.pos as i64))),
    n("Dir", "seek", 1, 1, |cx, r, a| {
        let n = cx.arg_i64(a, 0)?;
        dir(cx, r)?.pos = usize::try_from(n).unwrap_or(0);
        Ok(r)
    }),
    n("Dir", "pos=", 1, 1, |cx, r, a| {
        let n = cx.arg_i64(a, 0)?;
        dir(cx, r)?.pos = usize::try_from(n).unwrap_or(0);
        Ok(a[0])
    }),
    n("Dir", "rewind", 0, 0, |cx, r, _| {
        let d = dir(cx, r)?;
        d.pos = 0;
        d.names = None;
        Ok(r)
    }),
    n("Dir", "close", 0, 0, |cx, r, _| {
        let Some(d) = cx.heap.edit_data::<Dir>(r) else { return Err(cx.type_error("uninitialized Dir")) };
        if d.fd >= 0 {
            io::close_fd(d.fd);
            d.fd = -1;
        }
        Ok(Value::NIL)
    }),
];

fn one(cx: &mut Cx, a: &[Value], func: &str, f: impl Fn(&CString) -> i32) -> R {
    let p = cx.arg_path(a, 0)?;
    let c = c_path(cx, p.bytes())?;
    loop {
        if f(&c) == 0 {
            return Ok(Value::fix(0));
        }
        match io::errno() {
            libc::EINTR => {}
            e => return Err(io::fail(cx, e, func, p.bytes())),
        }
    }
}
fn two(cx: &mut Cx, a: &[Value], func: &str, f: impl Fn(&CString, &CString) -> i32) -> R {
    let (p, q) = (cx.arg_path(a, 0)?, cx.arg_path(a, 1)?);
    let (x, y) = (c_path(cx, p.bytes())?, c_path(cx, q.bytes())?);
    if f(&x, &y) == 0 {
        return Ok(Value::fix(0));
    }
    let e = io::errno();
    let both = format!("({}, {})", String::from_utf8_lossy(p.bytes()), String::from_utf8_lossy(q.bytes()));
    Err(io::fail(cx, e, func, both.as_bytes()))
}
fn fd_call(cx: &mut Cx, r: Value, f: impl Fn(i32) -> i32) -> R {
    let io = io::open(cx, r)?;
    if f(io.fd) == 0 {
        return Ok(Value::fix(0));
    }
    let (e, l) = (io::errno(), io.label());
    Err(io::fail_plain(cx, e, &l))
}
/// A user or group number; nil and -1 leave it as it is.
fn owner(cx: &mut Cx, a: &[Value], i: usize) -> Result<u32, Exit> {
    if a[i].is_nil() { Ok(u32::MAX) } else { Ok(cx.arg_i64(a, i)? as u32) }
}
fn readlink(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = cx.arg_path(a, 0)?;
    let c = c_path(cx, p.bytes())?;
    let mut b = vec![0u8; 4096];
    // SAFETY: c is a terminated string, the vector is writable for its length.
    let n = unsafe { libc::readlink(c.as_ptr(), b.as_mut_ptr().cast(), b.len()) };
    if n < 0 {
        let e = io::errno();
        return Err(io::fail(cx, e, "rb_readlink", p.bytes()));
    }
    Ok(cx.str_enc(&b[..n as usize], EncIndex::UTF_8))
}
fn utime(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut ts = [libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW }; 2];
    for (k, t) in ts.iter_mut().enumerate() {
        if !a[1 + 2 * k].is_nil() {
            t.tv_sec = cx.arg_i64(a, 1 + 2 * k)?;
            t.tv_nsec = cx.arg_i64(a, 2 + 2 * k)?;
        }
    }
    let flag = if a[5].truthy() { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
    one(cx, a, "apply2files", |p| {
        // SAFETY: p is a terminated string, ts has two entries.
        unsafe { libc::utimensat(libc::AT_FDCWD, p.as_ptr(), ts.as_ptr(), flag) }
    })
}
fn flock(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    let op = cx.arg_i64(a, 0)? as i32;
    let io = io::open(cx, r)?;
    let _ = io.flush();
    // SAFETY: touches no memory. Without LOCK_NB it is asked again every few milliseconds, so that others run.
    if unsafe { libc::flock(io.fd, op | libc::LOCK_NB) } == 0 {
        return Ok(Value::fix(0));
    }
    match io::errno() {
        libc::EWOULDBLOCK if op & libc::LOCK_NB != 0 => Ok(Value::FALSE),
        libc::EWOULDBLOCK => {
            cx.pending.deadline = crate::io::state::monotonic() + 5_000_000;
            Err(Exit::Park)
        }
        libc::EINTR => Err(Exit::Again),
        e => {
            let l = io.label();
            Err(io::fail_plain(cx, e, &l))
        }
    }
}
fn getwd(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    match path::cwd() {
        Ok(d) => Ok(cx.str_enc(&d, EncIndex::UTF_8)),
        Err(e) => Err(io::fail(cx, e, "rb_dir_getwd", b"")),
    }
}
fn rmdir(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    one(cx, a, "dir_s_rmdir", |p| {
        // SAFETY: p is a terminated string.
        unsafe { libc::rmdir(p.as_ptr()) }
    })?;
    Ok(Value::fix(0))
}

/// A directory being read. Names are read when first asked for; positions count them.
pub struct Dir {
    fd: i32,
    names: Option<Vec<Vec<u8>>>,
    pos: usize,
    path: Option<Vec<u8>>,
    path_enc: EncIndex,
    opened: bool,
}
impl Payload for Dir {}
impl Drop for Dir {
    fn drop(&mut self) {
        if self.fd >= 0 {
            io::close_fd(self.fd);
        }
    }
}
fn dir(cx: &mut Cx, v: Value) -> Result<&'static mut Dir, Exit> {
    // SAFETY: the cell's lock is held around each native of the class, which asks once.
    match unsafe { v.payload_mut::<Dir>() } {
        Some(d) if d.fd >= 0 => Ok(d),
        Some(d) if d.opened => Err(io::io_error(cx, "closed directory")),
        _ => Err(io::io_error(cx, "uninitialized Dir")),
    }
}
/// __dir_open(dir, path)
fn dir_open(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = cx.arg_path(a, 1)?;
    let c = c_path(cx, p.bytes())?;
    // SAFETY: c is a terminated string.
    let fd = unsafe { libc::open(c.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC) };
    if fd < 0 {
        let e = io::errno();
        return Err(io::fail(cx, e, "dir_initialize", p.bytes()));
    }
    if let Some(d) = cx.heap.edit_data::<Dir>(a[0]) {
        if d.fd >= 0 {
            io::close_fd(d.fd);
        }
        d.fd = fd;
        d.path = Some(p.bytes().to_vec());
        d.path_enc = EncIndex::from_u8(p.enc());
        d.names = None;
        d.pos = 0;
        d.opened = true;
    }
    Ok(a[0])
}
fn dir_for_fd(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let fd = cx.arg_i64(a, 1)? as i32;
    // SAFETY: a zeroed stat is a valid value to write into; st is writable.
    let r = unsafe {
        let mut st: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &mut st) != 0 {
            io::errno()
        } else if st.st_mode & libc::S_IFMT != libc::S_IFDIR {
            libc::ENOTDIR
        } else {
            0
        }
    };
    if r != 0 {
        return Err(io::fail_plain(cx, r, "fdopendir"));
    }
    if let Some(d) = cx.heap.edit_data::<Dir>(a[0]) {
        d.fd = fd;
        d.opened = true;
    }
    Ok(a[0])
}
fn dir_path(cx: &mut Cx, r: Value, _: &[Value]) -> R {
    let Some(d) = r.as_data::<Dir>() else { return Err(cx.type_error("uninitialized Dir")) };
    match d.path.clone() {
        Some(p) => Ok(cx.str_enc(&p, d.path_enc)),
        None => Ok(Value::NIL),
    }
}
fn dir_read(cx: &mut Cx, r: Value, _: &[Value]) -> R {
    let d = dir(cx, r)?;
    if d.names.is_none() {
        let own = format!("/proc/self/fd/{}", d.fd);
        let p = match &d.path {
            _ if std::path::Path::new(&own).exists() => own.into_bytes(),
            Some(p) => p.clone(),
            None => Vec::new(),
        };
        d.names = Some(read_dir(&p).unwrap_or_default().into_iter().map(|x| x.0).collect());
    }
    let name = d.names.as_ref().and_then(|v| v.get(d.pos)).cloned();
    match name {
        Some(b) => {
            d.pos += 1;
            Ok(cx.str_enc(&b, EncIndex::UTF_8))
        }
        None => Ok(Value::NIL),
    }
}
