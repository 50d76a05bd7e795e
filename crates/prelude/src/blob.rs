//! The index as bytes: numbers of seven bits a byte, the low ones first, and length-prefixed texts, read without copying.

use crate::*;

const MAGIC: &[u8; 8] = b"kumi-pr3";

pub(crate) struct Out(pub(crate) Vec<u8>);

impl Out {
    pub(crate) fn u32(&mut self, mut n: u32) {
        while n > 0x7f {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }
    fn byte(&mut self, n: u8) {
        self.0.push(n);
    }
    pub(crate) fn bytes(&mut self, b: &[u8]) {
        self.u32(b.len() as u32);
        self.0.extend_from_slice(b);
    }
    pub(crate) fn text(&mut self, s: &str) {
        self.bytes(s.as_bytes());
    }
}

/// Files and their indexes as one blob.
pub fn pack(files: &[File<'_>]) -> Vec<u8> {
    let mut o = Out(MAGIC.to_vec());
    o.u32(files.len() as u32);
    for f in files {
        o.text(&f.name);
        o.bytes(&f.source);
        let ix = &f.index;
        o.byte(ix.frozen_strings as u8);
        o.u32(ix.classes.len() as u32);
        for c in &ix.classes {
            o.text(&c.path);
            o.u32(c.parent);
            o.byte(c.what as u8);
            o.text(&c.superclass);
        }
        o.u32(ix.mixins.len() as u32);
        for m in &ix.mixins {
            o.u32(m.class);
            o.byte(m.how as u8);
            o.text(&m.module);
        }
        o.u32(ix.defs.len() as u32);
        for d in &ix.defs {
            o.u32(d.class);
            o.byte(d.singleton as u8);
            o.text(&d.name);
            o.byte(d.vis as u8);
            o.byte(d.what as u8);
            o.u32(d.from);
            o.u32(d.to - d.from);
            o.u32(d.line);
            o.byte(d.min);
            o.byte(d.max as u8);
        }
        o.u32(ix.aliases.len() as u32);
        for a in &ix.aliases {
            o.u32(a.class);
            o.byte(a.singleton as u8);
            o.text(&a.new);
            o.text(&a.old);
        }
        o.u32(ix.undefs.len() as u32);
        for u in &ix.undefs {
            o.u32(u.class);
            o.byte(u.singleton as u8);
            o.text(&u.name);
        }
        o.text(&ix.eager);
    }
    o.0
}

pub(crate) struct In<'a>(pub(crate) &'a [u8]);

impl<'a> In<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (a, b) = self.0.split_at_checked(n)?;
        self.0 = b;
        Some(a)
    }
    #[inline]
    fn u32(&mut self) -> Option<u32> {
        let first = self.byte()?;
        if first < 0x80 { Some(u32::from(first)) } else { self.longer(first) }
    }
    /// The rest of a number that takes more than a byte.
    fn longer(&mut self, first: u8) -> Option<u32> {
        let mut n = u32::from(first & 0x7f);
        for shift in [7, 14, 21, 28] {
            let b = self.byte()?;
            n |= u32::from(b & 0x7f) << shift;
            if b < 0x80 {
                return Some(n);
            }
        }
        None
    }
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (&b, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(b)
    }
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let n = self.u32()? as usize;
        self.take(n)
    }
    fn text(&mut self) -> Option<Cow<'a, str>> {
        std::str::from_utf8(self.bytes()?).ok().map(Cow::Borrowed)
    }
    pub(crate) fn list<T>(&mut self, mut f: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n = self.u32()? as usize;
        let mut v = Vec::with_capacity(n.min(self.0.len()));
        for _ in 0..n {
            v.push(f(self)?);
        }
        Some(v)
    }
}

/// What [`pack`] packed. `None`: these bytes are something else.
pub fn unpack(blob: &[u8]) -> Option<Vec<File<'_>>> {
    let mut i = In(blob);
    if i.take(8)? != MAGIC {
        return None;
    }
    i.list(|i| {
        let name = i.text()?;
        let source = Cow::Borrowed(i.bytes()?);
        let frozen_strings = i.byte()? != 0;
        let classes = i.list(|i| {
            let (path, parent) = (i.text()?, i.u32()?);
            let what = match i.byte()? {
                0 => Opened::Class,
                1 => Opened::Module,
                _ => Opened::Object,
            };
            Some(ClassRec { path, parent, what, superclass: i.text()? })
        })?;
        let mixins = i.list(|i| {
            let class = i.u32()?;
            let how = match i.byte()? {
                0 => Mix::Include,
                1 => Mix::Extend,
                _ => Mix::Prepend,
            };
            Some(Mixin { class, how, module: i.text()? })
        })?;
        let defs = i.list(|i| {
            let (class, singleton, name) = (i.u32()?, i.byte()? != 0, i.text()?);
            let vis = match i.byte()? {
                0 => Visibility::Public,
                1 => Visibility::Private,
                2 => Visibility::Protected,
                _ => Visibility::ModuleFunction,
            };
            let what = match i.byte()? {
                0 => What::Code,
                1 => What::AttrGet,
                _ => What::AttrSet,
            };
            let (from, length, line) = (i.u32()?, i.u32()?, i.u32()?);
            let to = from.checked_add(length)?;
            Some(DefRec { class, singleton, name, vis, what, from, to, line, min: i.byte()?, max: i.byte()? as i8 })
        })?;
        let aliases = i.list(|i| {
            let (class, singleton) = (i.u32()?, i.byte()? != 0);
            Some(AliasRec { class, singleton, new: i.text()?, old: i.text()? })
        })?;
        let undefs = i.list(|i| Some(UndefRec { class: i.u32()?, singleton: i.byte()? != 0, name: i.text()? }))?;
        let eager = i.text()?;
        Some(File { name, source, index: FileIndex { frozen_strings, classes, mixins, defs, aliases, undefs, eager } })
    })
}
