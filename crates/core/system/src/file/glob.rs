//! `Dir.glob`: directories walked by the components of a pattern.
//!
//! `**/` descends into directories but not through symbolic links, and not into
//! hidden ones unless dots match. Results keep the text that the pattern has.

use crate::file::fnmatch::{DOTMATCH, EXTGLOB, braces, component, magic, unescape};
use crate::io::{self, Errno};
use kumi_text::encoding::EncIndex;
use kumi_vm::*;
use rustix::fs::{Dir, FileType, Mode, OFlags, lstat, stat};
use std::os::fd::OwnedFd;

pub static TABLE: &[NativeDef] = &[intrinsic("__dir_glob", 4, 4, glob), intrinsic("__dir_list", 2, 2, list)];

/// Names in a directory, `.` and `..` included, with what each is, as far as the directory tells.
pub fn read_dir(path: &[u8]) -> Result<Vec<(Vec<u8>, FileType)>, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map(|fd| entries(fd).collect())
}
/// The same of an open directory, from where it stands.
pub fn entries(fd: OwnedFd) -> impl Iterator<Item = (Vec<u8>, FileType)> {
    Dir::new(fd).into_iter().flatten().map_while(Result::ok).map(|e| (e.file_name().to_bytes().to_vec(), e.file_type()))
}
fn type_of(path: &[u8], follow: bool) -> Option<FileType> {
    let st = if follow { stat(path) } else { lstat(path) };
    st.ok().map(|st| FileType::from_raw_mode(st.st_mode))
}

struct Walk {
    base: Vec<u8>,
    flags: u32,
    sort: bool,
    out: Vec<Vec<u8>>,
}

impl Walk {
    /// Where a result text is on disk.
    fn disk(&self, p: &[u8]) -> Vec<u8> {
        let p: &[u8] = if p.is_empty() { b"." } else { p };
        if self.base.is_empty() || p.first() == Some(&b'/') {
            return p.to_vec();
        }
        let mut v = self.base.clone();
        v.push(b'/');
        v.extend_from_slice(p);
        v
    }
    fn names(&self, dir: &[u8]) -> Vec<(Vec<u8>, FileType)> {
        let mut v = read_dir(&self.disk(dir)).unwrap_or_default();
        if self.sort {
            v.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        }
        v
    }
    fn is_dir(&self, path: &[u8], hint: FileType, follow: bool) -> bool {
        match hint {
            FileType::Directory => true,
            FileType::Symlink if !follow => false,
            FileType::Symlink | FileType::Unknown => type_of(&self.disk(path), follow) == Some(FileType::Directory),
            _ => false,
        }
    }
    /// Matches `comps` below `prefix` (text with its trailing slash, or empty). `deep`: inside a `**/`.
    fn walk(&mut self, prefix: &[u8], comps: &[&[u8]], deep: bool, depth: u32) {
        if depth > 512 {
            return;
        }
        let Some((first, rest)) = comps.split_first() else { return };
        if *first == b"**" && !rest.is_empty() {
            let mut rest = rest;
            while rest.len() > 1 && rest[0] == b"**" {
                rest = &rest[1..];
            }
            self.descend(prefix, rest, deep, depth);
            return;
        }
        if first.is_empty() && rest.is_empty() {
            // The pattern ends in a slash: directories only.
            let p = &prefix[..prefix.len().saturating_sub(1)];
            if !prefix.is_empty() && type_of(&self.disk(if p.is_empty() { b"/" } else { p }), true) == Some(FileType::Directory) {
                self.out.push(prefix.to_vec());
            }
            return;
        }
        if first.is_empty() {
            let mut p = prefix.to_vec();
            p.push(b'/');
            self.walk(&p, rest, deep, depth + 1);
            return;
        }
        if !magic(first, self.flags) {
            let mut p = prefix.to_vec();
            p.extend_from_slice(&unescape(first, self.flags));
            if rest.is_empty() {
                if type_of(&self.disk(&p), false).is_some() {
                    self.out.push(p);
                }
                return;
            }
            if type_of(&self.disk(&p), true) == Some(FileType::Directory) {
                p.push(b'/');
                self.walk(&p, rest, false, depth + 1);
            }
            return;
        }
        for (name, kind) in self.names(prefix) {
            self.entry(prefix, &name, kind, first, rest, deep, depth);
        }
    }
    #[allow(clippy::too_many_arguments)]
    fn entry(&mut self, prefix: &[u8], name: &[u8], kind: FileType, first: &[u8], rest: &[&[u8]], deep: bool, depth: u32) {
        if name == b".." || name == b"." && (deep || !rest.is_empty()) {
            return;
        }
        if !component(first, name, self.flags) {
            return;
        }
        let mut p = prefix.to_vec();
        p.extend_from_slice(name);
        if rest.is_empty() {
            self.out.push(p);
        } else if self.is_dir(&p, kind, true) {
            p.push(b'/');
            self.walk(&p, rest, false, depth + 1);
        }
    }
    /// `**/rest`: here and in every directory below.
    fn descend(&mut self, prefix: &[u8], rest: &[&[u8]], deep: bool, depth: u32) {
        if depth > 512 {
            return;
        }
        let first = rest[0];
        let plain = rest.len() == 1 && !first.is_empty() && magic(first, self.flags);
        if !plain {
            self.walk(prefix, rest, deep, depth + 1);
        }
        for (name, kind) in self.names(prefix) {
            if plain && (name != b"." || self.flags & DOTMATCH != 0) {
                self.entry(prefix, &name, kind, first, &[], deep, depth);
            }
            if name == b"." || name == b".." || name.first() == Some(&b'.') && self.flags & DOTMATCH == 0 {
                continue;
            }
            let mut p = prefix.to_vec();
            p.extend_from_slice(&name);
            if self.is_dir(&p, kind, false) {
                p.push(b'/');
                self.descend(&p, rest, true, depth + 1);
            }
        }
    }
}

/// __dir_glob(pattern, base or nil, flags, sort)
fn glob(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let pat = cx.arg_path(a, 0)?;
    let base = if a[1].is_nil() { Vec::new() } else { cx.arg_path(a, 1)?.bytes().to_vec() };
    let flags = cx.arg_i64(a, 2)? as u32 | EXTGLOB;
    let enc = EncIndex::from_u8(pat.enc());
    let enc = if enc == EncIndex::US_ASCII { EncIndex::UTF_8 } else { enc };
    let w = Walk { base, flags, sort: a[3].truthy(), out: Vec::new() };
    let pat = pat.bytes().to_vec();
    let out = if cx.others_alive() || cx.job_ready() { cx.offload(move || run(w, &pat))? } else { run(w, &pat) };
    let v: Vec<Value> = out.iter().map(|p| cx.str_enc(p, enc)).collect();
    Ok(cx.array_vec(v))
}
/// All paths that match.
fn run(mut w: Walk, pat: &[u8]) -> Vec<Vec<u8>> {
    for p in braces(pat, w.flags) {
        if p.is_empty() {
            continue;
        }
        let comps: Vec<&[u8]> = p.split(|c| *c == b'/').collect();
        if p[0] == b'/' {
            if comps.len() == 2 && comps[1].is_empty() {
                w.out.push(b"/".to_vec());
            } else {
                w.walk(b"/", &comps[1..], false, 0);
            }
        } else {
            w.walk(b"", &comps, false, 0);
        }
    }
    w.out
}
/// __dir_list(path, error function name): the names in a directory.
fn list(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = cx.arg_path(a, 0)?;
    let path = p.bytes().to_vec();
    let names = if cx.others_alive() || cx.job_ready() { cx.offload(move || read_dir(&path))? } else { read_dir(&path) };
    match names {
        Ok(names) => {
            let v: Vec<Value> = names.iter().map(|(n, _)| cx.str_enc(n, EncIndex::UTF_8)).collect();
            Ok(cx.array_vec(v))
        }
        Err(e) => {
            let f = cx.text(a[1]);
            Err(io::fail(cx, e, &f, p.bytes()))
        }
    }
}
