//! The standard library inside the binary: files under the virtual folder `<internal:lib>`.
//!
//! `require` treats that folder as any other entry of `$LOAD_PATH`, but reads its
//! files here. `KUMI_LIB=dir` puts a real folder in its place.

use crate::Cx;
use crate::doors::{Guard, NativeDef, R, intrinsic};
use kumi_heap::Value;

/// Name of the virtual folder.
pub const LIB_DIR: &str = "<internal:lib>";

/// Embedded files, sorted by path (`json/pure.rb`); their texts are packed (see `kumi_prelude`).
#[derive(Default)]
pub struct Library {
    files: Vec<(&'static str, &'static [u8])>,
}

impl Library {
    /// The text of `<internal:lib>/json.rb` (or of `json.rb`).
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        kumi_prelude::open(self.packed(path)?)
    }
    /// Is there such a file?
    pub fn has(&self, path: &str) -> bool {
        self.packed(path).is_some()
    }
    fn packed(&self, path: &str) -> Option<&'static [u8]> {
        let rel = path.strip_prefix(LIB_DIR).map_or(path, |p| p.trim_start_matches('/'));
        self.files.binary_search_by(|f| f.0.cmp(rel)).ok().map(|i| self.files[i].1)
    }
    /// Paths of all embedded files, sorted, without the virtual folder.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|f| f.0)
    }
}

impl Cx {
    /// Gives the runtime its embedded library, as `kumi_prelude::pack_library` packed it, sorted by path. Other bytes make an empty one.
    pub fn embed_library(&mut self, blob: &'static [u8]) {
        let files = kumi_prelude::unpack_library(blob).unwrap_or_default();
        debug_assert!(files.is_sorted_by_key(|f| f.0));
        self.state::<Library>().files = files;
        self.natives(TABLE);
    }
}

/// `__lib_file(path)`: text of an embedded library file, or nil.
fn lib_file(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let path = String::from_utf8_lossy(cx.arg_str(args, 0)?.bytes()).into_owned();
    if !path.starts_with(LIB_DIR) {
        return Ok(Value::NIL);
    }
    let text = cx.state::<Library>().file(&path);
    Ok(match text {
        Some(b) => cx.str_enc(&b, crate::EncIndex::UTF_8),
        None => Value::NIL,
    })
}

/// `__lib_file?(path)`: is there such an embedded library file?
fn lib_file_p(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let path = String::from_utf8_lossy(cx.arg_str(args, 0)?.bytes()).into_owned();
    Ok(Value::bool(path.starts_with(LIB_DIR) && cx.state::<Library>().has(&path)))
}

static TABLE: &[NativeDef] =
    &[intrinsic("__lib_file", 1, 1, lib_file).guard(Guard::None), intrinsic("__lib_file?", 1, 1, lib_file_p).guard(Guard::None)];
