//! String, Symbol, Regexp, MatchData, Encoding: leaf natives.
//!
//! One file a concept. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.
#![deny(missing_docs)]

mod away;
pub mod encoding;
mod names;
mod regexp;
mod string;
mod symbol;
mod text;

pub use names::{intern_str, sym_enc};

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    encoding::boot(cx);
    encoding::transcode::boot(cx);
    names::boot(cx);
    for table in [
        string::build::TABLE,
        string::chars::TABLE,
        string::compare::TABLE,
        string::compatible::TABLE,
        string::copy::TABLE,
        string::crypt::TABLE,
        string::convert::TABLE,
        string::edit::TABLE,
        encoding::TABLE,
        string::escape::TABLE,
        string::format::TABLE,
        regexp::matchdata::TABLE,
        string::pack::TABLE,
        regexp::methods::TABLE,
        string::search::TABLE,
        string::slice::TABLE,
        string::split::TABLE,
        regexp::strscan::TABLE,
        string::sub::TABLE,
        symbol::TABLE,
        encoding::transcode::TABLE,
    ] {
        cx.natives(table);
    }
}
