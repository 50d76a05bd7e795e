//! String, Symbol, Regexp, MatchData, Encoding: leaf natives.
//!
//! One file a concept. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.

pub mod away;
mod basic;
mod convert;
mod crypt;
mod edit;
pub mod encoding;
mod escape;
mod format;
pub mod matchdata;
mod pack;
pub mod regexp;
mod regexp_methods;
mod regexp_search;
mod search;
mod slice;
mod split;
mod strscan;
mod sub;
pub mod symbol;
pub mod text;
mod transcode;

pub use matchdata::{back_ref, nth_match};

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    encoding::boot(cx);
    transcode::boot(cx);
    symbol::boot(cx);
    for table in [
        basic::TABLE,
        convert::TABLE,
        edit::TABLE,
        encoding::TABLE,
        escape::TABLE,
        format::TABLE,
        matchdata::TABLE,
        pack::TABLE,
        regexp_methods::TABLE,
        search::TABLE,
        slice::TABLE,
        split::TABLE,
        strscan::TABLE,
        sub::TABLE,
        symbol::TABLE,
        transcode::TABLE,
    ] {
        cx.natives(table);
    }
}
