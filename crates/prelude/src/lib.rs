//! An index over the prelude's Ruby files, so that start-up parses nothing.
//!
//! The build indexes `prelude/*.rb` once and stores sources and index in the binary.
//! At start-up the runtime walks the index: it makes classes, mixes modules in and
//! enters every `def` as *source not compiled yet*. What is left of a file (constants,
//! computed definitions) is its *eager* text, which runs once in file order.
//!
//! Order at start-up, over all files: classes, mixins, methods, aliases, what is undefined, eager texts.
//! An alias may therefore name a method that stands further down, but none that eager
//! code defines.
//!
//! The standard library is packed, too: each text by itself, for a program reads few of them.
//! Packed texts have neither comments nor indentation; their lines are those of the files.

mod bare;
mod blob;
mod index;
mod library;

pub use blob::{pack, unpack};
pub use index::index;
pub use library::{open, pack_library, unpack_library};
use std::borrow::Cow;
use std::path::Path;

/// Which `self` a body has: index into [`FileIndex::classes`], or [`TOP`].
pub type ClassRef = u32;
/// The top of a file: `Object`.
pub const TOP: ClassRef = u32::MAX;

/// What a body belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    Class,
    Module,
    /// An object of its own (`NAME = Object.new` and `class << NAME` at the top of a file): methods and mixins are its singleton
    /// class's.
    Object,
}

/// A `class` or `module` body. A class opened twice has two entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassRec<'a> {
    /// The name as written: `A`, `A::B`.
    pub path: Cow<'a, str>,
    /// The body it stands in; always an earlier entry.
    pub parent: ClassRef,
    pub what: Opened,
    /// Constant path of the superclass as written; empty when none was.
    pub superclass: Cow<'a, str>,
}

/// How a module is mixed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    Include,
    Extend,
    Prepend,
}

/// `include M`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixin<'a> {
    pub class: ClassRef,
    pub how: Mix,
    pub module: Cow<'a, str>,
}

/// Method visibility, and what `module_function` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Public,
    Private,
    Protected,
    /// A private instance method and a public singleton one.
    ModuleFunction,
}

/// What calling the method does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Runs the text of the `def`.
    Code,
    /// `attr_reader`, `attr_writer`
    AttrGet,
    AttrSet,
}

/// A method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefRec<'a> {
    pub class: ClassRef,
    /// `def self.x`, or inside `class << self`.
    pub singleton: bool,
    pub name: Cow<'a, str>,
    pub vis: Visibility,
    pub what: What,
    /// Byte range of the `def`; what it is for accessors says nothing.
    pub from: u32,
    pub to: u32,
    /// Its first line.
    pub line: u32,
    /// Fewest and most positional arguments (most: -1 for any number).
    pub min: u8,
    pub max: i8,
}

/// `alias_method :new, :old`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasRec<'a> {
    pub class: ClassRef,
    pub singleton: bool,
    pub new: Cow<'a, str>,
    pub old: Cow<'a, str>,
}

/// `undef_method :name`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefRec<'a> {
    pub class: ClassRef,
    pub singleton: bool,
    pub name: Cow<'a, str>,
}

/// What one file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileIndex<'a> {
    /// `# frozen_string_literal: true`
    pub frozen_strings: bool,
    pub classes: Vec<ClassRec<'a>>,
    pub mixins: Vec<Mixin<'a>>,
    pub defs: Vec<DefRec<'a>>,
    pub aliases: Vec<AliasRec<'a>>,
    pub undefs: Vec<UndefRec<'a>>,
    /// All other statements, each inside its class bodies, on the lines they have in the file.
    pub eager: Cow<'a, str>,
}

/// A file with its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File<'a> {
    /// Base name.
    pub name: Cow<'a, str>,
    pub source: Cow<'a, [u8]>,
    pub index: FileIndex<'a>,
}

/// Reads and indexes the `.rb` files of a folder in alphabetical order (`00_*.rb` thus first).
///
/// # Errors
/// The folder or a file cannot be read, or a file does not parse: a message for the person who edits it.
pub fn read_dir(dir: &Path) -> Result<Vec<File<'static>>, String> {
    files(dir, |source| source)
}

/// What the build packs of them: texts have neither comments nor indentation, and sources are nothing but the texts of methods. The
/// rest is in the indexes.
///
/// # Errors
/// As [`read_dir`].
pub fn read_dir_bare(dir: &Path) -> Result<Vec<File<'static>>, String> {
    let mut files = files(dir, |source| bare::bare(&source))?;
    for f in &mut files {
        let mut methods = Vec::new();
        for d in &mut f.index.defs {
            let text = if d.what == What::Code { d.from as usize..d.to as usize } else { 0..0 };
            d.from = methods.len() as u32;
            methods.extend_from_slice(&f.source[text]);
            d.to = methods.len() as u32;
        }
        f.source = methods.into();
    }
    Ok(files)
}

fn files(dir: &Path, text: impl Fn(Vec<u8>) -> Vec<u8>) -> Result<Vec<File<'static>>, String> {
    let list = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut paths: Vec<_> = list.filter_map(|e| e.ok().map(|e| e.path())).filter(|p| p.extension().is_some_and(|e| e == "rb")).collect();
    paths.sort();
    let mut files = Vec::with_capacity(paths.len());
    for p in paths {
        let source = text(std::fs::read(&p).map_err(|e| format!("{}: {e}", p.display()))?);
        let index = index(&source).map_err(|e| format!("{}:{e}", p.display()))?;
        let name = p.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        files.push(File { name: name.into(), source: source.into(), index });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bare_prelude_has_the_same_methods_on_the_same_lines() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prelude");
        let (full, bare) = (read_dir(&dir).unwrap(), read_dir_bare(&dir).unwrap());
        assert!(!full.is_empty() && full.len() == bare.len());
        for (f, b) in full.iter().zip(&bare) {
            assert_eq!((&f.name, &f.index.classes, &f.index.aliases), (&b.name, &b.index.classes, &b.index.aliases));
            assert_eq!(f.index.eager.trim_end().lines().count(), b.index.eager.trim_end().lines().count(), "{}", f.name);
            for (d, e) in f.index.defs.iter().zip(&b.index.defs) {
                assert_eq!(DefRec { from: 0, to: 0, ..d.clone() }, DefRec { from: 0, to: 0, ..e.clone() });
                let text = |f: &File<'_>, d: &DefRec<'_>| f.source[d.from as usize..d.to as usize].to_vec();
                if d.what == What::Code {
                    assert_eq!(bare::bare(&text(f, d)), text(b, e), "{}: {}", f.name, d.name);
                }
            }
            assert_eq!(f.index.defs.len(), b.index.defs.len());
        }
        assert_eq!(unpack(&pack(&bare)).unwrap(), bare);
    }
}
