//! What the system knows of a file: File::Stat and the questions of File and FileTest.

use crate::io::open::c_path;
use crate::io::{self, Io};
use kumi_vm::*;

/// The payload of a File::Stat.
pub struct Stat(pub libc::stat);
impl Payload for Stat {
    fn confined(&self) -> bool {
        true
    }
}

/// Asks by path, or by descriptor for a stream. The error number when that fails.
fn of(cx: &mut Cx, a: &[Value], i: usize, follow: bool) -> Result<Result<libc::stat, i32>, Exit> {
    // SAFETY: a zeroed stat is a valid value to write into.
    let mut st: libc::stat = unsafe { std::mem::zeroed() };
    let r = if a[i].as_data::<Io>().is_some() {
        let fd = io::open(cx, a[i])?.fd;
        // SAFETY: st is writable.
        unsafe { libc::fstat(fd, &mut st) }
    } else {
        if a[i].as_str().is_none() && !cx.has_method(a[i], sym::TO_PATH) && cx.has_method(a[i], sym::TO_IO) {
            // Something that has a stream inside: the prelude asks for it.
            return Err(Exit::Miss);
        }
        let p = cx.arg_path(a, i)?;
        let c = c_path(cx, p.bytes())?;
        // SAFETY: c is a terminated string, st is writable.
        unsafe { if follow { libc::stat(c.as_ptr(), &mut st) } else { libc::lstat(c.as_ptr(), &mut st) } }
    };
    Ok(if r == 0 { Ok(st) } else { Err(io::errno()) })
}
/// The stat, or SystemCallError that names the function.
fn must(cx: &mut Cx, a: &[Value], follow: bool, func: &str) -> Result<libc::stat, Exit> {
    match of(cx, a, 0, follow)? {
        Ok(s) => Ok(s),
        Err(e) => {
            let p = a[0].as_str().map_or(Vec::new(), |s| s.bytes().to_vec());
            Err(io::fail(cx, e, func, &p))
        }
    }
}
fn make(cx: &mut Cx, st: libc::stat) -> Value {
    let c = cx.k.file_stat;
    cx.data(c, Stat(st))
}
fn this(cx: &mut Cx, v: Value) -> Result<libc::stat, Exit> {
    match v.as_data::<Stat>() {
        Some(s) => Ok(s.0),
        None => Err(cx.type_error("uninitialized File::Stat")),
    }
}

fn kind(st: &libc::stat) -> u32 {
    st.st_mode & libc::S_IFMT
}
fn kind_name(st: &libc::stat) -> &'static str {
    match kind(st) {
        libc::S_IFREG => "file",
        libc::S_IFDIR => "directory",
        libc::S_IFCHR => "characterSpecial",
        libc::S_IFBLK => "blockSpecial",
        libc::S_IFIFO => "fifo",
        libc::S_IFLNK => "link",
        libc::S_IFSOCK => "socket",
        _ => "unknown",
    }
}
/// Does the user have the permission bit (4 read, 2 write, 1 execute)?
fn may(st: &libc::stat, bit: u32, effective: bool) -> bool {
    // SAFETY: these calls touch no memory.
    let (uid, gid) = unsafe { if effective { (libc::geteuid(), libc::getegid()) } else { (libc::getuid(), libc::getgid()) } };
    if uid == 0 {
        return bit != 1 || st.st_mode & 0o111 != 0;
    }
    if st.st_uid == uid {
        return st.st_mode & (bit << 6) != 0;
    }
    if st.st_gid == gid || in_group(st.st_gid) {
        return st.st_mode & (bit << 3) != 0;
    }
    st.st_mode & bit != 0
}
fn in_group(gid: u32) -> bool {
    let mut g = [0; 256];
    // SAFETY: the array has that many entries.
    let n = unsafe { libc::getgroups(256, g.as_mut_ptr()) };
    n > 0 && g[..n as usize].contains(&gid)
}
fn in_own_group(st: &libc::stat) -> bool {
    // SAFETY: touches no memory.
    st.st_gid == unsafe { libc::getegid() } || in_group(st.st_gid)
}

/// The questions that File, FileTest and File::Stat share.
fn ask(name: Q, st: &libc::stat) -> Value {
    // SAFETY: the id calls touch no memory.
    let (euid, _) = unsafe { (libc::geteuid(), 0) };
    Value::bool(match name {
        Q::Exist => true,
        Q::File => kind(st) == libc::S_IFREG,
        Q::Directory => kind(st) == libc::S_IFDIR,
        Q::Symlink => kind(st) == libc::S_IFLNK,
        Q::Pipe => kind(st) == libc::S_IFIFO,
        Q::Socket => kind(st) == libc::S_IFSOCK,
        Q::Blockdev => kind(st) == libc::S_IFBLK,
        Q::Chardev => kind(st) == libc::S_IFCHR,
        Q::Setuid => st.st_mode & libc::S_ISUID != 0,
        Q::Setgid => st.st_mode & libc::S_ISGID != 0,
        Q::Sticky => st.st_mode & libc::S_ISVTX != 0,
        Q::Zero => st.st_size == 0,
        Q::Owned => st.st_uid == euid,
        Q::GrpOwned => in_own_group(st),
        Q::Readable => may(st, 4, true),
        Q::Writable => may(st, 2, true),
        Q::Executable => may(st, 1, true),
        Q::ReadableReal => may(st, 4, false),
        Q::WritableReal => may(st, 2, false),
        Q::ExecutableReal => may(st, 1, false),
        Q::WorldReadable => return if st.st_mode & 4 != 0 { Value::fix((st.st_mode & 0o777) as i64) } else { Value::NIL },
        Q::WorldWritable => return if st.st_mode & 2 != 0 { Value::fix((st.st_mode & 0o777) as i64) } else { Value::NIL },
        Q::Size => return if st.st_size > 0 { Value::fix(st.st_size) } else { Value::NIL },
    })
}
#[derive(Clone, Copy, PartialEq)]
enum Q {
    Exist,
    File,
    Directory,
    Symlink,
    Pipe,
    Socket,
    Blockdev,
    Chardev,
    Setuid,
    Setgid,
    Sticky,
    Zero,
    Owned,
    GrpOwned,
    Readable,
    Writable,
    Executable,
    ReadableReal,
    WritableReal,
    ExecutableReal,
    WorldReadable,
    WorldWritable,
    Size,
}
fn by_path(cx: &mut Cx, a: &[Value], q: Q) -> R {
    if let (Q::Readable | Q::Writable | Q::Executable | Q::ReadableReal | Q::WritableReal | Q::ExecutableReal, Some(_)) = (q, a[0].as_str())
    {
        return access(cx, a, q);
    }
    Ok(match of(cx, a, 0, q != Q::Symlink)? {
        Ok(st) => ask(q, &st),
        Err(_) if matches!(q, Q::WorldReadable | Q::WorldWritable | Q::Size) => Value::NIL,
        Err(_) => Value::FALSE,
    })
}
/// Permissions as the system decides them.
fn access(cx: &mut Cx, a: &[Value], q: Q) -> R {
    let p = cx.arg_path(a, 0)?;
    let c = c_path(cx, p.bytes())?;
    let mode = match q {
        Q::Readable | Q::ReadableReal => libc::R_OK,
        Q::Writable | Q::WritableReal => libc::W_OK,
        _ => libc::X_OK,
    };
    let real = matches!(q, Q::ReadableReal | Q::WritableReal | Q::ExecutableReal);
    // SAFETY: c is a terminated string.
    let r = unsafe { libc::faccessat(libc::AT_FDCWD, c.as_ptr(), mode, if real { 0 } else { libc::AT_EACCESS }) };
    Ok(Value::bool(r == 0))
}

macro_rules! questions {
    ($($name:literal $q:ident),* $(,)?) => {
        pub static QUESTIONS: &[NativeDef] = &[
            $(n("File.", $name, 1, 1, |cx, _, a| by_path(cx, a, Q::$q)),
              n("FileTest.", $name, 1, 1, |cx, _, a| by_path(cx, a, Q::$q)),
              private("FileTest", $name, 1, 1, |cx, _, a| by_path(cx, a, Q::$q)),
              n("File::Stat", $name, 0, 0, |cx, r, _| { let st = this(cx, r)?; Ok(ask(Q::$q, &st)) }),)*
        ];
    };
}
questions! {
    "exist?" Exist, "file?" File, "directory?" Directory, "symlink?" Symlink, "pipe?" Pipe, "socket?" Socket,
    "blockdev?" Blockdev, "chardev?" Chardev, "setuid?" Setuid, "setgid?" Setgid, "sticky?" Sticky,
    "owned?" Owned, "grpowned?" GrpOwned, "readable?" Readable, "writable?" Writable, "executable?" Executable,
    "readable_real?" ReadableReal, "writable_real?" WritableReal, "executable_real?" ExecutableReal,
    "world_readable?" WorldReadable, "world_writable?" WorldWritable, "size?" Size,
}

/// Time.at(seconds, nanoseconds, :nsec), by the class itself.
fn time(cx: &mut Cx, sec: i64, nsec: i64) -> R {
    let (at, unit) = (cx.intern("at"), cx.sym("nsec"));
    let t = cx.k.time.val();
    let s = cx.int(sec);
    Err(cx.call(t, at, &[s, Value::fix(nsec), unit]))
}
fn birth(cx: &mut Cx, a: &[Value]) -> R {
    // SAFETY: a zeroed statx is a valid value to write into.
    let mut x: libc::statx = unsafe { std::mem::zeroed() };
    let (fd, c, flag, p) = match a[0].as_data::<Io>() {
        Some(io) => (io.fd, c_path(cx, b"")?, libc::AT_EMPTY_PATH, io.label().into_bytes()),
        None => {
            let p = cx.arg_path(a, 0)?;
            (libc::AT_FDCWD, c_path(cx, p.bytes())?, 0, p.bytes().to_vec())
        }
    };
    // SAFETY: c is a terminated string, x is writable.
    if unsafe { libc::statx(fd, c.as_ptr(), flag, libc::STATX_BTIME, &mut x) } != 0 {
        let e = io::errno();
        return Err(io::fail(cx, e, "rb_file_s_birthtime", &p));
    }
    if x.stx_mask & libc::STATX_BTIME == 0 {
        return Err(cx.raise_msg(cx.k.not_implemented_error, "birthtime is unimplemented on this filesystem"));
    }
    time(cx, x.stx_btime.tv_sec, x.stx_btime.tv_nsec as i64)
}

pub static TABLE: &[NativeDef] = &[
    n("File.", "stat", 1, 1, |cx, _, a| {
        let st = must(cx, a, true, "rb_file_s_stat")?;
        Ok(make(cx, st))
    }),
    n("File.", "lstat", 1, 1, |cx, _, a| {
        let st = must(cx, a, false, "rb_file_s_lstat")?;
        Ok(make(cx, st))
    }),
    n("File.", "size", 1, 1, size),
    n("FileTest.", "size", 1, 1, size),
    n("File.", "empty?", 1, 1, |cx, _, a| by_path(cx, a, Q::Zero)),
    n("FileTest.", "empty?", 1, 1, |cx, _, a| by_path(cx, a, Q::Zero)),
    private("FileTest", "zero?", 1, 1, |cx, _, a| by_path(cx, a, Q::Zero)),
    n("File::Stat", "zero?", 0, 0, |cx, r, _| {
        let st = this(cx, r)?;
        Ok(ask(Q::Zero, &st))
    }),
    n("File.", "ftype", 1, 1, |cx, _, a| {
        let st = must(cx, a, false, "rb_file_s_ftype")?;
        Ok(cx.str(kind_name(&st)))
    }),
    n("File.", "identical?", 2, 2, identical),
    n("FileTest.", "identical?", 2, 2, identical),
    n("File.", "atime", 1, 1, |cx, _, a| {
        let st = must(cx, a, true, "rb_file_s_atime")?;
        time(cx, st.st_atime, st.st_atime_nsec)
    }),
    n("File.", "mtime", 1, 1, |cx, _, a| {
        let st = must(cx, a, true, "rb_file_s_mtime")?;
        time(cx, st.st_mtime, st.st_mtime_nsec)
    }),
    n("File.", "ctime", 1, 1, |cx, _, a| {
        let st = must(cx, a, true, "rb_file_s_ctime")?;
        time(cx, st.st_ctime, st.st_ctime_nsec)
    }),
    n("File.", "birthtime", 1, 1, |cx, _, a| birth(cx, a)),
    n("File::Stat.", "allocate", 0, 0, |cx, c, _| {
        let c = c.as_class().ok_or(Exit::Miss)?;
        // SAFETY: a zeroed stat is a valid value.
        Ok(cx.data(c, Stat(unsafe { std::mem::zeroed() })))
    }),
    private("File::Stat", "initialize", 1, 1, |cx, r, a| {
        let st = must(cx, a, true, "rb_file_s_stat")?;
        if let Some(s) = cx.heap.edit_data::<Stat>(r) {
            s.0 = st;
        }
        Ok(r)
    }),
    private("File::Stat", "initialize_copy", 1, 1, |cx, r, a| {
        let st = this(cx, a[0])?;
        if let Some(s) = cx.heap.edit_data::<Stat>(r) {
            s.0 = st;
        }
        Ok(r)
    }),
    intrinsic("__io_stat", 1, 1, |cx, _, a| {
        let fd = io::open(cx, a[0])?.fd;
        // SAFETY: a zeroed stat is a valid value to write into.
        let mut st: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: st is writable.
        if unsafe { libc::fstat(fd, &mut st) } != 0 {
            let e = io::errno();
            return Err(io::fail_plain(cx, e, ""));
        }
        Ok(make(cx, st))
    }),
    n("File", "size", 0, 0, |cx, r, _| {
        let io = io::open(cx, r)?;
        if io.writable {
            let _ = io.flush();
        }
        let st = must(cx, &[r], true, "rb_file_size")?;
        Ok(Value::fix(st.st_size))
    }),
    n("File", "lstat", 0, 0, |cx, r, _| {
        let io = io::open(cx, r)?;
        let st = match io.path.clone() {
            Some(p) => {
                let v = cx.str_enc(&p, EncIndex::UTF_8);
                must(cx, &[v], false, "rb_file_lstat")?
            }
            None => must(cx, &[r], true, "rb_file_lstat")?,
        };
        Ok(make(cx, st))
    }),
    n("File", "atime", 0, 0, |cx, r, _| {
        let st = must(cx, &[r], true, "rb_file_atime")?;
        time(cx, st.st_atime, st.st_atime_nsec)
    }),
    n("File", "mtime", 0, 0, |cx, r, _| {
        let io = io::open(cx, r)?;
        let _ = io.flush();
        let st = must(cx, &[r], true, "rb_file_mtime")?;
        time(cx, st.st_mtime, st.st_mtime_nsec)
    }),
    n("File", "ctime", 0, 0, |cx, r, _| {
        let st = must(cx, &[r], true, "rb_file_ctime")?;
        time(cx, st.st_ctime, st.st_ctime_nsec)
    }),
    n("File", "birthtime", 0, 0, |cx, r, _| {
        io::open(cx, r)?;
        birth(cx, &[r])
    }),
    n("File::Stat", "atime", 0, 0, |cx, r, _| {
        let st = this(cx, r)?;
        time(cx, st.st_atime, st.st_atime_nsec)
    }),
    n("File::Stat", "mtime", 0, 0, |cx, r, _| {
        let st = this(cx, r)?;
        time(cx, st.st_mtime, st.st_mtime_nsec)
    }),
    n("File::Stat", "ctime", 0, 0, |cx, r, _| {
        let st = this(cx, r)?;
        time(cx, st.st_ctime, st.st_ctime_nsec)
    }),
    n("File::Stat", "ftype", 0, 0, |cx, r, _| {
        let st = this(cx, r)?;
        Ok(cx.str(kind_name(&st)))
    }),
    n("File::Stat", "size", 0, 0, |cx, r, _| Ok(Value::fix(this(cx, r)?.st_size))),
    n("File::Stat", "mode", 0, 0, |cx, r, _| Ok(Value::fix(this(cx, r)?.st_mode as i64))),
    n("File::Stat", "uid", 0, 0, |cx, r, _| Ok(Value::fix(this(cx, r)?.st_uid as i64))),
    n("File::Stat", "gid", 0, 0, |cx, r, _| Ok(Value::fix(this(cx, r)?.st_gid as i64))),
    n("File::Stat", "nlink", 0, 0, |cx, r, _| Ok(Value::fix(this(cx, r)?.st_nlink as i64))),
    n("File::Stat", "blksize", 0, 0, |cx, r, _| Ok(Value::fix(this(cx, r)?.st_blksize as _))),
    n("File::Stat", "blocks", 0, 0, |cx, r, _| Ok(Value::fix(this(cx, r)?.st_blocks))),
    n("File::Stat", "ino", 0, 0, |cx, r, _| {
        let i = this(cx, r)?.st_ino;
        Ok(cx.uint(i))
    }),
    n("File::Stat", "dev", 0, 0, |cx, r, _| {
        let i = this(cx, r)?.st_dev;
        Ok(cx.uint(i))
    }),
    n("File::Stat", "rdev", 0, 0, |cx, r, _| {
        let i = this(cx, r)?.st_rdev;
        Ok(cx.uint(i))
    }),
    n("File::Stat", "dev_major", 0, 0, |cx, r, _| Ok(Value::fix(libc::major(this(cx, r)?.st_dev) as i64))),
    n("File::Stat", "dev_minor", 0, 0, |cx, r, _| Ok(Value::fix(libc::minor(this(cx, r)?.st_dev) as i64))),
    n("File::Stat", "rdev_major", 0, 0, |cx, r, _| Ok(Value::fix(libc::major(this(cx, r)?.st_rdev) as i64))),
    n("File::Stat", "rdev_minor", 0, 0, |cx, r, _| Ok(Value::fix(libc::minor(this(cx, r)?.st_rdev) as i64))),
    n("File::Stat", "<=>", 1, 1, |cx, r, a| {
        let Some(o) = a[0].as_data::<Stat>() else { return Ok(Value::NIL) };
        let s = this(cx, r)?;
        let k = (s.st_mtime, s.st_mtime_nsec).cmp(&(o.0.st_mtime, o.0.st_mtime_nsec));
        Ok(Value::fix(k as i64))
    }),
];

fn size(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(io) = io::stream(a[0]) {
        let _ = io.flush();
    }
    let st = must(cx, a, true, "rb_file_s_size")?;
    Ok(Value::fix(st.st_size))
}
fn identical(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (x, y) = (of(cx, a, 0, true)?, of(cx, a, 1, true)?);
    Ok(Value::bool(matches!((x, y), (Ok(x), Ok(y)) if x.st_dev == y.st_dev && x.st_ino == y.st_ino)))
}
