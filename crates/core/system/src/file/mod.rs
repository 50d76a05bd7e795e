//! Changing files and directories: links, names, modes, times, locks; the working directory.

pub(crate) mod fnmatch;
pub(crate) mod glob;
pub(crate) mod path;
pub(crate) mod stat;

use crate::file::glob::{entries, read_dir};
use crate::io::{self, Errno, Fd};
use kumi_text::encoding::EncIndex;
use kumi_vm::*;
use rustix::fs::{self, AtFlags, CWD, FileType, FlockOperation, Gid, Mode, OFlags, SeekFrom, Timespec, Timestamps, Uid};
use rustix::io::{fcntl_dupfd_cloexec, retry_on_intr};
use rustix::process::{self, umask};
use std::ffi::CString;
use std::os::fd::IntoRawFd;

pub static TABLE: &[NativeDef] = &[
    n("File.", "rename", 2, 2, |cx, _, a| two(cx, a, "rb_file_s_rename", |x, y| fs::rename(x, y))),
    n("File.", "link", 2, 2, |cx, _, a| two(cx, a, "rb_file_s_link", |x, y| fs::link(x, y))),
    n("File.", "symlink", 2, 2, |cx, _, a| two(cx, a, "rb_file_s_symlink", |x, y| fs::symlink(x, y))),
    n("File.", "readlink", 1, 1, readlink),
    n("File.", "truncate", 2, 2, |cx, _, a| {
        let n = cx.arg_i64(a, 1)?;
        let p = CString::new(cx.arg_path(a, 0)?.bytes()).unwrap_or_default();
        one(cx, a, "rb_file_s_truncate", |_| {
            // SAFETY: p is a terminated string.
            io::result(unsafe { libc::truncate(p.as_ptr(), n) }).map(|_| ())
        })
    }),
    n("File.", "mkfifo", 1, 2, |cx, _, a| {
        let m = if a.len() > 1 { cx.arg_i64(a, 1)? } else { 0o666 };
        one(cx, a, "rb_file_s_mkfifo", |p| fs::mknodat(CWD, p, FileType::Fifo, mode(m), 0))
    }),
    n("File.", "umask", 0, 1, |cx, _, a| {
        let new = if a.is_empty() { None } else { Some(mode(cx.arg_i64(a, 0)?)) };
        let old = umask(new.unwrap_or(Mode::empty()));
        if new.is_none() {
            umask(old);
        }
        Ok(Value::fix(old.bits() as i64))
    })
    .guard(Guard::World),
    intrinsic("__file_unlink", 1, 1, |cx, _, a| one(cx, a, "apply2files", |p| fs::unlink(p))),
    intrinsic("__file_chmod", 2, 2, |cx, _, a| {
        let m = cx.arg_i64(a, 1)?;
        one(cx, a, "apply2files", |p| fs::chmod(p, mode(m)))
    }),
    intrinsic("__file_chown", 4, 4, |cx, _, a| {
        let (u, g) = owners(cx, a, 1)?;
        let flags = followed(a[3]);
        one(cx, a, "apply2files", |p| fs::chownat(CWD, p, u, g, flags))
    }),
    // __file_utime(path, atime seconds or nil for now, its nanoseconds, mtime seconds or nil, its nanoseconds, follow)
    intrinsic("__file_utime", 6, 6, utime),
    n("File", "chmod", 1, 1, |cx, r, a| {
        let m = cx.arg_i64(a, 0)?;
        fd_call(cx, r, |fd| fs::fchmod(fd, mode(m)))
    }),
    n("File", "chown", 2, 2, |cx, r, a| {
        let (u, g) = owners(cx, a, 0)?;
        fd_call(cx, r, |fd| fs::fchown(fd, u, g))
    }),
    n("File", "truncate", 1, 1, |cx, r, a| {
        let n = cx.arg_i64(a, 0)?;
        let io = io::writer(cx, r)?;
        let _ = io.flush();
        fd_call(cx, r, |fd| fs::ftruncate(fd, n as u64))
    }),
    n("File", "flock", 1, 1, flock),
    n("Dir.", "getwd", 0, 0, getwd),
    n("Dir.", "mkdir", 1, 2, |cx, _, a| {
        let m = if a.len() > 1 && !a[1].is_nil() { cx.arg_i64(a, 1)? } else { 0o777 };
        one(cx, a, "dir_s_mkdir", |p| fs::mkdir(p, mode(m)))
    }),
    n("Dir.", "rmdir", 1, 1, |cx, _, a| one(cx, a, "dir_s_rmdir", |p| fs::rmdir(p))),
    n("Dir.", "chroot", 1, 1, |cx, _, a| one(cx, a, "dir_s_chroot", |p| process::chroot(p))),
    n("Dir.", "empty?", 1, 1, |cx, _, a| {
        let p = cx.arg_path(a, 0)?;
        match read_dir(p.bytes()) {
            Ok(v) => Ok(Value::bool(v.iter().all(|(n, _)| n == b"." || n == b".."))),
            Err(Errno::NOTDIR) => Ok(Value::FALSE),
            Err(e) => Err(io::fail(cx, e, "rb_dir_s_empty_p", p.bytes())),
        }
    }),
    intrinsic("__chdir", 1, 1, |cx, _, a| one(cx, a, "dir_chdir0", |p| process::chdir(p))),
    intrinsic("__fchdir", 1, 1, |cx, _, a| {
        let fd = if a[0].is_fix() { cx.arg_c_int(a, 0)? } else { dir(cx, a[0])?.fd };
        process::fchdir(Fd(fd)).map(|()| Value::fix(0)).map_err(|e| io::fail_plain(cx, e, "fchdir"))
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
            let _ = io::close(d.fd);
            d.fd = -1;
        }
        Ok(Value::NIL)
    }),
];

fn mode(m: i64) -> Mode {
    Mode::from_bits_retain(m as u32)
}
fn followed(follow: Value) -> AtFlags {
    if follow.truthy() { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW }
}
fn one(cx: &mut Cx, a: &[Value], func: &str, f: impl Fn(&[u8]) -> Result<(), Errno>) -> R {
    let p = cx.arg_path(a, 0)?;
    retry_on_intr(|| f(p.bytes())).map(|()| Value::fix(0)).map_err(|e| io::fail(cx, e, func, p.bytes()))
}
fn two(cx: &mut Cx, a: &[Value], func: &str, f: impl Fn(&[u8], &[u8]) -> Result<(), Errno>) -> R {
    let (p, q) = (cx.arg_path(a, 0)?, cx.arg_path(a, 1)?);
    f(p.bytes(), q.bytes()).map(|()| Value::fix(0)).map_err(|e| {
        let both = format!("({}, {})", String::from_utf8_lossy(p.bytes()), String::from_utf8_lossy(q.bytes()));
        io::fail(cx, e, func, both.as_bytes())
    })
}
fn fd_call(cx: &mut Cx, r: Value, f: impl Fn(Fd) -> Result<(), Errno>) -> R {
    let io = io::open(cx, r)?;
    f(Fd(io.fd)).map(|()| Value::fix(0)).map_err(|e| io::failed(cx, io, e))
}
/// Numbers of a user and a group; nil and -1 leave what it is.
fn owners(cx: &mut Cx, a: &[Value], at: usize) -> Result<(Option<Uid>, Option<Gid>), Exit> {
    let mut id = |i: usize| match a[i].is_nil() {
        true => Ok(None),
        false => cx.arg_i64(a, i).map(|n| Some(n as u32).filter(|n| *n != u32::MAX)),
    };
    Ok((id(at)?.map(Uid::from_raw), id(at + 1)?.map(Gid::from_raw)))
}
fn readlink(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = cx.arg_path(a, 0)?;
    let to = fs::readlink(p.bytes(), Vec::new()).map_err(|e| io::fail(cx, e, "rb_readlink", p.bytes()))?;
    Ok(cx.str_enc(to.as_bytes(), EncIndex::UTF_8))
}
fn utime(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut at = |i: usize| match a[i].is_nil() {
        true => Ok(Timespec { tv_sec: 0, tv_nsec: fs::UTIME_NOW }),
        false => Ok(Timespec { tv_sec: cx.arg_i64(a, i)?, tv_nsec: cx.arg_i64(a, i + 1)? }),
    };
    let times = Timestamps { last_access: at(1)?, last_modification: at(3)? };
    one(cx, a, "apply2files", |p| fs::utimensat(CWD, p, &times, followed(a[5])))
}
fn flock(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    let op = cx.arg_i64(a, 0)? as i32;
    let io = io::open(cx, r)?;
    let _ = io.flush();
    // Without LOCK_NB it is asked again every few milliseconds, so that others run.
    let done = match op & !libc::LOCK_NB {
        libc::LOCK_SH => fs::flock(Fd(io.fd), FlockOperation::NonBlockingLockShared),
        libc::LOCK_EX => fs::flock(Fd(io.fd), FlockOperation::NonBlockingLockExclusive),
        libc::LOCK_UN => fs::flock(Fd(io.fd), FlockOperation::NonBlockingUnlock),
        _ => Err(Errno::INVAL),
    };
    match done {
        Ok(()) => Ok(Value::fix(0)),
        Err(Errno::WOULDBLOCK) if op & libc::LOCK_NB != 0 => Ok(Value::FALSE),
        Err(Errno::WOULDBLOCK) => {
            cx.pending.deadline = now_ns() + 5_000_000;
            Err(Exit::Park)
        }
        Err(Errno::INTR) => Err(Exit::Again),
        Err(e) => Err(io::failed(cx, io, e)),
    }
}
fn getwd(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    match path::cwd() {
        Ok(d) => Ok(cx.str_enc(&d, EncIndex::UTF_8)),
        Err(e) => Err(io::fail(cx, e, "rb_dir_getwd", b"")),
    }
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
            let _ = io::close(self.fd);
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
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = fs::open(p.bytes(), flags, Mode::empty()).map_err(|e| io::fail(cx, e, "dir_initialize", p.bytes()))?;
    if let Some(d) = cx.heap.edit_data::<Dir>(a[0]) {
        if d.fd >= 0 {
            let _ = io::close(d.fd);
        }
        d.fd = fd.into_raw_fd();
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
    match io::file_type(fd) {
        Ok(FileType::Directory) => {}
        other => return Err(io::fail_plain(cx, other.err().unwrap_or(Errno::NOTDIR), "fdopendir")),
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
        // Its place may have been moved by whoever had it before.
        let _ = fs::seek(Fd(d.fd), SeekFrom::Start(0));
        // One of its own has a place of its own; a child of a fork has this one too.
        let own = fs::openat(Fd(d.fd), c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        match own.or_else(|_| fcntl_dupfd_cloexec(Fd(d.fd), 3)) {
            Ok(own) => d.names = Some(entries(own).map(|(name, _)| name).collect()),
            Err(e) => return Err(io::fail_plain(cx, e, "dir_read")),
        }
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
