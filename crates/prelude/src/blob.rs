//! The index as bytes: little-endian words and length-prefixed texts, read without copying. A start reads all of it, so fields are as wide as they must be.

use crate::*;

const MAGIC: &[u8; 8] = b"kumi-pr3";
/// [`TOP`], in two bytes.
const NONE: u16 = u16::MAX;

pub(crate) struct Out(pub(crate) Vec<u8>);

impl Out {
    pub(crate) fn u32(&mut self, n: u32) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }
    fn u16(&mut self, n: u32) {
        let n = u16::try_from(n).expect("a file has less than 65,536 lines and classes, and no method of more bytes");
        self.0.extend_from_slice(&n.to_le_bytes());
    }
    fn class(&mut self, c: ClassRef) {
        self.u16(if c == TOP { NONE.into() } else { c });
    }
    fn byte(&mut self, n: u8) {
        self.0.push(n);
    }
    pub(crate) fn bytes(&mut self, b: &[u8]) {
        self.u32(b.len() as u32);
        self.0.extend_from_slice(b);
    }
    /// A name: at most 255 bytes.
    pub(crate) fn text(&mut self, s: &str) {
        self.byte(u8::try_from(s.len()).expect("a name has at most 255 bytes"));
        self.0.extend_from_slice(s.as_bytes());
    }
}

/// Files and their indexes as one blob.
///
/// # Panics
/// A file is too large for its fields.
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
            o.class(c.parent);
            o.byte(c.what as u8);
            o.text(&c.superclass);
        }
        o.u32(ix.mixins.len() as u32);
        for m in &ix.mixins {
            o.class(m.class);
            o.byte(m.how as u8);
            o.text(&m.module);
        }
        o.u32(ix.defs.len() as u32);
        for d in &ix.defs {
            o.class(d.class);
            o.byte(d.singleton as u8);
            o.text(&d.name);
            o.byte(d.vis as u8);
            o.byte(d.what as u8);
            o.u32(d.from);
            o.u16(d.to - d.from);
            o.u16(d.line);
            o.byte(d.min);
            o.byte(d.max as u8);
        }
        o.u32(ix.aliases.len() as u32);
        for a in &ix.aliases {
            o.class(a.class);
            o.byte(a.singleton as u8);
            o.text(&a.new);
            o.text(&a.old);
        }
        o.u32(ix.undefs.len() as u32);
        for u in &ix.undefs {
            o.class(u.class);
            o.byte(u.singleton as u8);
            o.text(&u.name);
        }
        o.bytes(ix.eager.as_bytes());
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
    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }
    fn u16(&mut self) -> Option<u32> {
        self.take(2)?.try_into().ok().map(|b| u16::from_le_bytes(b).into())
    }
    fn class(&mut self) -> Option<ClassRef> {
        self.u16().map(|c| if c == NONE.into() { TOP } else { c })
    }
    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let n = self.u32()? as usize;
        self.take(n)
    }
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let n = self.byte()?;
        std::str::from_utf8(self.take(n.into())?).ok()
    }
    fn name(&mut self) -> Option<Cow<'a, str>> {
        self.text().map(Cow::Borrowed)
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
        let name = i.name()?;
        let source = Cow::Borrowed(i.bytes()?);
        let frozen_strings = i.byte()? != 0;
        let classes = i.list(|i| {
            let (path, parent) = (i.name()?, i.class()?);
            let what = match i.byte()? {
                0 => Opened::Class,
                1 => Opened::Module,
                _ => Opened::Object,
            };
            Some(ClassRec { path, parent, what, superclass: i.name()? })
        })?;
        let mixins = i.list(|i| {
            let class = i.class()?;
            let how = match i.byte()? {
                0 => Mix::Include,
                1 => Mix::Extend,
                _ => Mix::Prepend,
            };
            Some(Mixin { class, how, module: i.name()? })
        })?;
        let defs = i.list(|i| {
            let (class, singleton, name) = (i.class()?, i.byte()? != 0, i.name()?);
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
            let (from, length, line) = (i.u32()?, i.u16()?, i.u16()?);
            let to = from.checked_add(length)?;
            Some(DefRec { class, singleton, name, vis, what, from, to, line, min: i.byte()?, max: i.byte()? as i8 })
        })?;
        let aliases = i.list(|i| {
            let (class, singleton) = (i.class()?, i.byte()? != 0);
            Some(AliasRec { class, singleton, new: i.name()?, old: i.name()? })
        })?;
        let undefs = i.list(|i| Some(UndefRec { class: i.class()?, singleton: i.byte()? != 0, name: i.name()? }))?;
        let eager = std::str::from_utf8(i.bytes()?).ok()?.into();
        Some(File { name, source, index: FileIndex { frozen_strings, classes, mixins, defs, aliases, undefs, eager } })
    })
}
