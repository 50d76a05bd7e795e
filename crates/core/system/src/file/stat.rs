//! What the system knows of a file: File::Stat and the questions of File and FileTest.

use crate::io::{self, Errno, Fd, Io};
use kumi_vm::*;
use rustix::fs::{self, Access, AtFlags, CWD, FileType, Stat, StatxFlags};
use rustix::process::{getegid, geteuid, getgid, getgroups, getuid};

/// The payload of a File::Stat: nothing before `initialize`.
struct Held(Option<Stat>);
impl Payload for Held {
    fn confined(&self) -> bool {
        true
    }
}

/// Asks by path, or by descriptor for a stream. The error number when that fails.
fn of(cx: &mut Cx, a: &[Value], i: usize, follow: bool) -> Result<Result<Stat, Errno>, Exit> {
    if a[i].as_data::<Io>().is_some() {
        return Ok(fs::fstat(Fd(io::open(cx, a[i])?.fd)));
    }
    if a[i].as_str().is_none() && !cx.has_method(a[i], sym::TO_PATH) && cx.has_method(a[i], sym::TO_IO) {
        // Something that has a stream inside: the prelude asks for it.
        return Err(Exit::Miss);
    }
    let p = cx.arg_path(a, i)?;
    Ok(if follow { fs::stat(p.bytes()) } else { fs::lstat(p.bytes()) })
}
/// The stat, or SystemCallError that names the function.
fn must(cx: &mut Cx, a: &[Value], follow: bool, func: &str) -> Result<Stat, Exit> {
    of(cx, a, 0, follow)?.map_err(|e| {
        let p = a[0].as_str().map_or(Vec::new(), |s| s.bytes().to_vec());
        io::fail(cx, e, func, &p)
    })
}
fn make(cx: &mut Cx, st: Stat) -> Value {
    let c = cx.k.file_stat;
    cx.data(c, Held(Some(st)))
}
fn this(cx: &mut Cx, v: Value) -> Result<Stat, Exit> {
    v.as_data::<Held>().and_then(|s| s.0).ok_or_else(|| cx.type_error("uninitialized File::Stat"))
}

fn kind(st: &Stat) -> FileType {
    FileType::from_raw_mode(st.st_mode)
}
fn kind_name(st: &Stat) -> &'static str {
    match kind(st) {
        FileType::RegularFile => "file",
        FileType::Directory => "directory",
        FileType::CharacterDevice => "characterSpecial",
        FileType::BlockDevice => "blockSpecial",
        FileType::Fifo => "fifo",
        FileType::Symlink => "link",
        FileType::Socket => "socket",
        FileType::Unknown => "unknown",
    }
}
/// Does the user have the permission bit (4 read, 2 write, 1 execute)?
fn may(st: &Stat, bit: u32, effective: bool) -> bool {
    let (uid, gid) = if effective { (geteuid(), getegid()) } else { (getuid(), getgid()) };
    if uid.is_root() {
        return bit != 1 || st.st_mode & 0o111 != 0;
    }
    if st.st_uid == uid.as_raw() {
        return st.st_mode & (bit << 6) != 0;
    }
    if st.st_gid == gid.as_raw() || in_group(st.st_gid) {
        return st.st_mode & (bit << 3) != 0;
    }
    st.st_mode & bit != 0
}
fn in_group(gid: u32) -> bool {
    getgroups().is_ok_and(|all| all.iter().any(|g| g.as_raw() == gid))
}
fn in_own_group(st: &Stat) -> bool {
    st.st_gid == getegid().as_raw() || in_group(st.st_gid)
}

/// The questions that File, FileTest and File::Stat share.
fn ask(name: Q, st: &Stat) -> Value {
    Value::bool(match name {
        Q::Exist => true,
        Q::File => kind(st) == FileType::RegularFile,
        Q::Directory => kind(st) == FileType::Directory,
        Q::Symlink => kind(st) == FileType::Symlink,
        Q::Pipe => kind(st) == FileType::Fifo,
        Q::Socket => kind(st) == FileType::Socket,
        Q::Blockdev => kind(st) == FileType::BlockDevice,
        Q::Chardev => kind(st) == FileType::CharacterDevice,
        Q::Setuid => st.st_mode & 0o4000 != 0,
        Q::Setgid => st.st_mode & 0o2000 != 0,
        Q::Sticky => st.st_mode & 0o1000 != 0,
        Q::Zero => st.st_size == 0,
        Q::Owned => st.st_uid == geteuid().as_raw(),
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
    let mode = match q {
        Q::Readable | Q::ReadableReal => Access::READ_OK,
        Q::Writable | Q::WritableReal => Access::WRITE_OK,
        _ => Access::EXEC_OK,
    };
    let real = matches!(q, Q::ReadableReal | Q::WritableReal | Q::ExecutableReal);
    let flags = if real { AtFlags::empty() } else { AtFlags::EACCESS };
    Ok(Value::bool(fs::accessat(CWD, p.bytes(), mode, flags).is_ok()))
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
    let (x, p) = match a[0].as_data::<Io>() {
        Some(io) => (fs::statx(Fd(io.fd), "", AtFlags::EMPTY_PATH, StatxFlags::BTIME), io.label().into_bytes()),
        None => {
            let p = cx.arg_path(a, 0)?;
            (fs::statx(CWD, p.bytes(), AtFlags::empty(), StatxFlags::BTIME), p.bytes().to_vec())
        }
    };
    let x = x.map_err(|e| io::fail(cx, e, "rb_file_s_birthtime", &p))?;
    if x.stx_mask & StatxFlags::BTIME.bits() == 0 {
        return Err(cx.raise_msg(cx.k.not_implemented_error, "birthtime is unimplemented on this filesystem"));
    }
    time(cx, x.stx_btime.tv_sec, i64::from(x.stx_btime.tv_nsec))
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
        Ok(cx.data(c, Held(None)))
    }),
    private("File::Stat", "initialize", 1, 1, |cx, r, a| {
        let st = must(cx, a, true, "rb_file_s_stat")?;
        if let Some(s) = cx.heap.edit_data::<Held>(r) {
            s.0 = Some(st);
        }
        Ok(r)
    }),
    private("File::Stat", "initialize_copy", 1, 1, |cx, r, a| {
        let Some(st) = a[0].as_data::<Held>().map(|s| s.0) else { return Err(cx.type_error("wrong argument class")) };
        if let Some(s) = cx.heap.edit_data::<Held>(r) {
            s.0 = st;
        }
        Ok(r)
    }),
    intrinsic("__stat_unset", 1, 1, |_, _, a| Ok(Value::bool(a[0].as_data::<Held>().is_some_and(|s| s.0.is_none())))),
    intrinsic("__io_stat", 1, 1, |cx, _, a| {
        let st = fs::fstat(Fd(io::open(cx, a[0])?.fd)).map_err(|e| io::fail_plain(cx, e, ""))?;
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
    n("File::Stat", "dev_major", 0, 0, |cx, r, _| Ok(Value::fix(fs::major(this(cx, r)?.st_dev) as i64))),
    n("File::Stat", "dev_minor", 0, 0, |cx, r, _| Ok(Value::fix(fs::minor(this(cx, r)?.st_dev) as i64))),
    n("File::Stat", "rdev_major", 0, 0, |cx, r, _| Ok(Value::fix(fs::major(this(cx, r)?.st_rdev) as i64))),
    n("File::Stat", "rdev_minor", 0, 0, |cx, r, _| Ok(Value::fix(fs::minor(this(cx, r)?.st_rdev) as i64))),
    n("File::Stat", "<=>", 1, 1, |cx, r, a| {
        if a[0].as_data::<Held>().is_none() {
            return Ok(Value::NIL);
        }
        let (s, o) = (this(cx, r)?, this(cx, a[0])?);
        let k = (s.st_mtime, s.st_mtime_nsec).cmp(&(o.st_mtime, o.st_mtime_nsec));
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
