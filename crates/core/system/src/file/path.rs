//! Paths as text: joining, splitting, making absolute. Only `~` and the working
//! directory ask the system.

use crate::file::fnmatch;
use crate::io::{self, Errno};
use kumi_text::encoding::EncIndex;
use kumi_vm::*;
use rustix::fs::{FileType, lstat, readlink};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStringExt;
use std::sync::Mutex;

pub static TABLE: &[NativeDef] = &[
    n("File.", "basename", 1, 2, basename),
    n("File.", "dirname", 1, 2, dirname),
    n("File.", "extname", 1, 1, extname),
    n("File.", "split", 1, 1, split),
    n("File.", "join", 0, -1, join),
    n("File.", "expand_path", 1, 2, |cx, _, a| absolute(cx, a, true)),
    n("File.", "absolute_path", 1, 2, |cx, _, a| absolute(cx, a, false)),
    n("File.", "absolute_path?", 1, 1, |cx, _, a| {
        let p = cx.arg_path(a, 0)?;
        Ok(Value::bool(p.bytes().first() == Some(&b'/')))
    }),
    n("File.", "fnmatch", 2, 3, matches),
    n("File.", "fnmatch?", 2, 3, matches),
    n("File.", "realpath", 1, 2, |cx, _, a| real(cx, a, true)),
    n("File.", "realdirpath", 1, 2, |cx, _, a| real(cx, a, false)),
    n("File.", "path", 1, 1, |cx, _, a| {
        let p = path_arg(cx, a, 0)?;
        Ok(cx.str_enc(p.bytes(), EncIndex::from_u8(p.enc())))
    }),
    n("Dir.", "home", 0, 1, home),
];

fn same_enc(cx: &mut Cx, like: Gc<StrObj>, b: &[u8]) -> Value {
    let e = EncIndex::from_u8(like.enc());
    cx.str_enc(b, e)
}
fn ascii_compatible(cx: &mut Cx, s: Gc<StrObj>) -> Result<(), Exit> {
    let e = EncIndex::from_u8(s.enc());
    if e.is_ascii_compatible() {
        return Ok(());
    }
    let m = format!("path name must be ASCII-compatible string ({}): ", e.name());
    let m = format!("{m}{:?}", String::from_utf8_lossy(s.bytes()));
    Err(cx.raise_msg(cx.k.compatibility_error, &m))
}
/// Argument `i` as a path whose text can be taken apart.
fn path_arg(cx: &mut Cx, a: &[Value], i: usize) -> Result<Gc<StrObj>, Exit> {
    if let Some(s) = a[i].as_str() {
        ascii_compatible(cx, s)?;
    }
    cx.arg_path(a, i)
}
/// The path without slashes at its end (one stays when it is all there is).
fn trimmed(p: &[u8]) -> &[u8] {
    let mut n = p.len();
    while n > 1 && p[n - 1] == b'/' {
        n -= 1;
    }
    &p[..n]
}
/// The last component.
pub fn base_of(p: &[u8]) -> &[u8] {
    let t = trimmed(p);
    if t == b"/" {
        return t;
    }
    match memchr::memrchr(b'/', t) {
        Some(i) => &t[i + 1..],
        None => t,
    }
}
fn basename(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = path_arg(cx, a, 0)?;
    let base = base_of(p.bytes());
    let mut n = base.len();
    if a.len() == 2 {
        let s = cx.arg_str(a, 1)?;
        let suf = s.bytes();
        if suf == b".*" {
            if let Some(d) = memchr::memrchr(b'.', base) {
                if d > 0 {
                    n = d;
                }
            }
        } else if base.len() > suf.len() && base.ends_with(suf) {
            n -= suf.len();
        }
    }
    let b = base[..n].to_vec();
    Ok(same_enc(cx, p, &b))
}
/// The path without its last component.
pub fn dir_of(p: &[u8]) -> &[u8] {
    let lead = p.iter().take_while(|c| **c == b'/').count();
    let t = trimmed(p);
    match memchr::memrchr(b'/', t) {
        None => b".",
        Some(i) => {
            let mut n = i;
            while n > 0 && t[n - 1] == b'/' {
                n -= 1;
            }
            if n == 0 || n < lead { b"/" } else { &t[lead.saturating_sub(1)..n] }
        }
    }
}
fn dirname(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = path_arg(cx, a, 0)?;
    let level = if a.len() == 2 { cx.arg_i64(a, 1)? } else { 1 };
    if level < 0 {
        return Err(cx.arg_error(&format!("negative level: {level}")));
    }
    // Each step leaves a part of the one before, and looks at what it takes away.
    let b = p.bytes();
    let lead = b.iter().take_while(|c| **c == b'/').count();
    let mut d = if b.is_empty() { b"." } else { &b[lead.saturating_sub(1)..] };
    for _ in 0..level {
        d = dir_of(d);
        if matches!(d, b"." | b"/") {
            break;
        }
    }
    Ok(same_enc(cx, p, d))
}
/// The extension with its dot, empty when there is none.
pub fn ext_of(p: &[u8]) -> &[u8] {
    let base = base_of(p);
    let start = base.iter().take_while(|c| **c == b'.').count();
    match memchr::memrchr(b'.', &base[start..]) {
        Some(i) if start + i > 0 => {
            let e = &base[start + i..];
            if e.len() == 1 { b"." } else { e }
        }
        None if start > 0 && start == base.len() => b"",
        _ => b"",
    }
}
fn extname(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = path_arg(cx, a, 0)?;
    let e = ext_of(p.bytes()).to_vec();
    Ok(same_enc(cx, p, &e))
}
fn split(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = path_arg(cx, a, 0)?;
    let d = dir_of(p.bytes());
    let b = base_of(p.bytes()).to_vec();
    let (d, b) = (same_enc(cx, p, d), same_enc(cx, p, &b));
    Ok(cx.array(&[d, b]))
}
/// Adds one part with one slash between.
fn join_part(out: &mut Vec<u8>, part: &[u8], first: bool) {
    if first {
        out.extend_from_slice(part);
        return;
    }
    if part.first() == Some(&b'/') {
        while out.last() == Some(&b'/') {
            out.pop();
        }
    } else if out.last() != Some(&b'/') {
        out.push(b'/');
    }
    out.extend_from_slice(part);
}
fn join(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut out = Vec::new();
    let mut enc = None;
    for (i, v) in a.iter().enumerate() {
        let s = v.as_str().ok_or(Exit::Miss)?;
        if s.bytes().contains(&0) {
            return Err(cx.arg_error("string contains null byte"));
        }
        ascii_compatible(cx, s)?;
        let e = EncIndex::from_u8(s.enc());
        match enc {
            None => enc = Some(e),
            Some(o) if o != e => {
                // Text beyond ASCII decides.
                if !s.bytes().is_ascii() {
                    if !out.is_ascii() {
                        let m = format!("incompatible character encodings: {} and {}", o.inspect_name(), e.inspect_name());
                        return Err(cx.raise_msg(cx.k.compatibility_error, &m));
                    }
                    enc = Some(e);
                }
            }
            _ => {}
        }
        join_part(&mut out, s.bytes(), i == 0);
    }
    Ok(cx.str_enc(&out, enc.unwrap_or(EncIndex::US_ASCII)))
}
/// How messages name an encoding.
trait InspectName {
    fn inspect_name(&self) -> String;
}
impl InspectName for EncIndex {
    fn inspect_name(&self) -> String {
        if *self == EncIndex::BINARY { "BINARY (ASCII-8BIT)".into() } else { self.name().into() }
    }
}

/// The working directory.
pub fn cwd() -> Result<Vec<u8>, Errno> {
    std::env::current_dir().map(|p| p.into_os_string().into_vec()).map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::NOENT))
}
/// Home directory of the user of this process.
fn own_home(cx: &mut Cx) -> Result<Vec<u8>, Exit> {
    match std::env::var_os("HOME") {
        Some(h) => Ok(h.into_vec()),
        None => {
            let dir = user(None).map(|u| u.1);
            dir.ok_or_else(|| cx.arg_error("couldn't find HOME environment -- expanding '~'"))
        }
    }
}
/// The C library has one answer at a time.
static USERS: Mutex<()> = Mutex::new(());

/// Number and home directory of a user, of the one of this process without a name.
pub fn user(name: Option<&[u8]>) -> Option<(u32, Vec<u8>)> {
    let name = name.map(CString::new).transpose().ok()?;
    let _held = USERS.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: the name is terminated; the result is null, or valid until the next call, which the lock holds off.
    unsafe {
        let found = name.map_or_else(|| libc::getpwuid(rustix::process::getuid().as_raw()), |n| libc::getpwnam(n.as_ptr()));
        found.as_ref().map(|p| (p.pw_uid, CStr::from_ptr(p.pw_dir).to_bytes().to_vec()))
    }
}
fn user_home(cx: &mut Cx, name: &[u8]) -> Result<Vec<u8>, Exit> {
    if let Some((_, home)) = user(Some(name)) {
        return Ok(home);
    }
    Err(cx.arg_error(&format!("user {} doesn't exist", String::from_utf8_lossy(name))))
}
fn home(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let h = match a.first() {
        Some(v) if !v.is_nil() => {
            let u = cx.arg_str(a, 0)?;
            user_home(cx, u.bytes())?
        }
        _ => {
            let h = own_home(cx)?;
            if h.first() != Some(&b'/') {
                return Err(cx.arg_error("non-absolute home"));
            }
            h
        }
    };
    Ok(cx.str_enc(&h, EncIndex::UTF_8))
}
/// Replaces a leading `~` or `~user`.
fn tilde(cx: &mut Cx, p: &[u8]) -> Result<Option<Vec<u8>>, Exit> {
    if p.first() != Some(&b'~') {
        return Ok(None);
    }
    let end = memchr::memchr(b'/', p).unwrap_or(p.len());
    let h = if end == 1 { own_home(cx)? } else { user_home(cx, &p[1..end])? };
    if h.first() != Some(&b'/') {
        let m = if end == 1 {
            "non-absolute home".to_string()
        } else {
            format!("non-absolute home of {}", String::from_utf8_lossy(&p[1..end]))
        };
        return Err(cx.arg_error(&m));
    }
    let mut h = h;
    h.extend_from_slice(&p[end..]);
    Ok(Some(h))
}
/// `base/p` without `.`, `..` and double slashes. `base` is absolute.
pub fn resolve(base: &[u8], p: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    let whole: [&[u8]; 2] = if p.first() == Some(&b'/') { [b"", p] } else { [base, p] };
    for x in whole {
        for c in x.split(|c| *c == b'/') {
            match c {
                b"" | b"." => {}
                b".." => {
                    parts.pop();
                }
                _ => parts.push(c),
            }
        }
    }
    let mut out = Vec::with_capacity(base.len() + p.len() + 1);
    for c in parts {
        out.push(b'/');
        out.extend_from_slice(c);
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out
}
fn absolute(cx: &mut Cx, a: &[Value], home: bool) -> R {
    let p = path_arg(cx, a, 0)?;
    let dir = match a.get(1) {
        Some(v) if !v.is_nil() => Some(cx.arg_path(a, 1)?),
        _ => None,
    };
    let own = if home { tilde(cx, p.bytes())? } else { None };
    let text = own.as_deref().unwrap_or(p.bytes());
    let base = if text.first() == Some(&b'/') {
        b"/".to_vec()
    } else {
        let cwd = || cwd().unwrap_or_else(|_| b"/".to_vec());
        match dir {
            Some(d) => {
                let t = if home { tilde(cx, d.bytes())? } else { None };
                let d = t.as_deref().unwrap_or(d.bytes());
                if d.first() == Some(&b'/') { resolve(b"/", d) } else { resolve(&cwd(), d) }
            }
            None => cwd(),
        }
    };
    let mut r = resolve(&base, text);
    // Several slashes at the start stay as they are.
    let lead = text.iter().take_while(|c| **c == b'/').count();
    if lead > 1 && lead < text.len() {
        r.splice(0..0, std::iter::repeat_n(b'/', lead - 1));
    }
    let e = EncIndex::from_u8(p.enc());
    let e = if e == EncIndex::US_ASCII && !r.is_ascii() { EncIndex::UTF_8 } else { e };
    Ok(cx.str_enc(&r, e))
}
fn matches(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let pat = cx.arg_str(a, 0)?;
    let path = cx.arg_path(a, 1)?;
    let flags = if a.len() > 2 { cx.arg_i64(a, 2)? as u32 } else { 0 };
    Ok(Value::bool(fnmatch::matches(pat.bytes(), path.bytes(), flags)))
}
/// realpath; without `strict` the last component need not exist.
fn real(cx: &mut Cx, a: &[Value], strict: bool) -> R {
    let p = cx.arg_path(a, 0)?;
    let mut full = p.bytes().to_vec();
    if let Some(v) = a.get(1) {
        if !v.is_nil() && full.first() != Some(&b'/') {
            let d = cx.arg_path(a, 1)?;
            let mut x = d.bytes().to_vec();
            x.push(b'/');
            x.extend_from_slice(&full);
            full = x;
        }
    }
    let base = if full.first() == Some(&b'/') { Vec::new() } else { cwd().unwrap_or_default() };
    let base = if base == b"/" { Vec::new() } else { base };
    let e = EncIndex::from_u8(p.enc());
    match follow(base, &full, strict, &mut 0) {
        Ok(r) => {
            let r = if r.is_empty() { b"/".to_vec() } else { r };
            let e = if e.is_ascii_compatible() && (r.is_ascii() || e != EncIndex::US_ASCII) { e } else { EncIndex::UTF_8 };
            Ok(cx.str_enc(&r, e))
        }
        Err(n) => Err(io::fail(cx, n, "rb_realpath_internal", p.bytes())),
    }
}
/// Walks `path` from the resolved `at` (empty: the root), following links.
fn follow(mut at: Vec<u8>, path: &[u8], strict: bool, links: &mut u32) -> Result<Vec<u8>, Errno> {
    if path.first() == Some(&b'/') {
        at.clear();
    }
    let parts: Vec<&[u8]> = path.split(|c| *c == b'/').filter(|c| !c.is_empty() && *c != b".").collect();
    for (i, c) in parts.iter().enumerate() {
        if *c == b".." {
            let n = memchr::memrchr(b'/', &at).unwrap_or(0);
            at.truncate(n);
            continue;
        }
        let mut next = at.clone();
        next.push(b'/');
        next.extend_from_slice(c);
        match lstat(&next).map(|st| FileType::from_raw_mode(st.st_mode)) {
            Ok(FileType::Symlink) => {
                *links += 1;
                if *links > 40 {
                    return Err(Errno::LOOP);
                }
                let to = readlink(&next, Vec::new())?;
                at = follow(at, to.as_bytes(), strict || i + 1 < parts.len(), links)?;
            }
            Ok(_) => at = next,
            Err(e) if strict || e != Errno::NOENT || i + 1 < parts.len() => return Err(e),
            Err(_) => at = next,
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(b: &[u8]) -> &str {
        std::str::from_utf8(b).unwrap()
    }

    /// Path, `File.dirname`, `File.basename`, `File.extname`, as CRuby gives them.
    #[test]
    fn paths_are_taken_apart() {
        for (path, dir, base, ext) in [
            ("", ".", "", ""),
            ("/", "/", "/", ""),
            ("//", "/", "/", ""),
            ("a", ".", "a", ""),
            ("a/", ".", "a", ""),
            ("/a", "/", "a", ""),
            ("/a/", "/", "a", ""),
            ("a/b", "a", "b", ""),
            ("a//b//", "a", "b", ""),
            ("//a", "/", "a", ""),
            ("//a/b", "/a", "b", ""),
            ("/a/b.rb", "/a", "b.rb", ".rb"),
            ("a.rb", ".", "a.rb", ".rb"),
            (".rb", ".", ".rb", ""),
            ("..", ".", "..", ""),
            ("...", ".", "...", ""),
            ("a.", ".", "a.", "."),
            ("a..", ".", "a..", "."),
            ("a.b.c", ".", "a.b.c", ".c"),
            (".a.b", ".", ".a.b", ".b"),
            ("a/.b", "a", ".b", ""),
            ("a.b/c", "a.b", "c", ""),
            ("..a", ".", "..a", ""),
            ("a.b/", ".", "a.b", ".b"),
            ("a /b c.d e", "a ", "b c.d e", ".d e"),
        ] {
            let b = path.as_bytes();
            assert_eq!((shown(dir_of(b)), shown(base_of(b)), shown(ext_of(b))), (dir, base, ext), "{path:?}");
        }
    }

    #[test]
    fn parts_are_joined_by_one_slash() {
        for (parts, want) in [
            (&["a", "b"][..], "a/b"),
            (&["a/", "b"], "a/b"),
            (&["a", "/b"], "a/b"),
            (&["a//", "//b"], "a//b"),
            (&["", "b"], "/b"),
            (&["a", ""], "a/"),
            (&["/", "b"], "/b"),
            (&["/", "/"], "/"),
            (&["", ""], "/"),
            (&["a", "b", "c"], "a/b/c"),
            (&["a/", "/", "b"], "a/b"),
        ] {
            let mut out = Vec::new();
            parts.iter().enumerate().for_each(|(i, part)| join_part(&mut out, part.as_bytes(), i == 0));
            assert_eq!(shown(&out), want, "{parts:?}");
        }
    }

    #[test]
    fn paths_are_resolved_without_looking_at_files() {
        for (base, path, want) in [
            ("/a/b", "c", "/a/b/c"),
            ("/a/b", "../c", "/a/c"),
            ("/a/b", "/c/./d//e/", "/c/d/e"),
            ("/a", "../../..", "/"),
            ("/", ".", "/"),
            ("/a/b", "", "/a/b"),
            ("/a", "b/../c/..", "/a"),
            ("/a/b", "...", "/a/b/..."),
        ] {
            assert_eq!(shown(&resolve(base.as_bytes(), path.as_bytes())), want, "{path:?} in {base:?}");
        }
    }
}
