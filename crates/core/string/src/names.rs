//! What names of symbols are encoded in.
//!
//! Invariant: the symbol table knows names by their bytes. A name of ASCII characters is
//! US-ASCII; any other is UTF-8 unless it was first made from a string of another encoding,
//! which is noted here.

use crate::text::*;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;
use std::collections::HashMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// Encodings of symbols that are neither US-ASCII nor UTF-8; strings made by `Symbol#name`.
#[derive(Default)]
pub struct SymState {
    encs: RwLock<HashMap<Sym, EncIndex>>,
    /// There are such encodings at all.
    some: AtomicBool,
    /// Bits of strings, which live as long as their symbols.
    pub names: RwLock<HashMap<Sym, u64>>,
}
/// Keeps the strings of [`SymState`], and forgets those of symbols that died.
pub fn boot(cx: &mut Cx) {
    cx.boot().tracers.push(|cx, m| {
        if let Some(st) = cx.state_seen::<SymState>() {
            st.names.read().unwrap_or_else(|e| e.into_inner()).values().for_each(|v| m.mark(Value::from_bits(*v)));
        }
    });
    cx.boot().sym_sweepers.push(|rt, lives| {
        if let Some(st) = rt.state_seen::<SymState>() {
            st.names.write().unwrap_or_else(|e| e.into_inner()).retain(|y, _| lives(*y));
            st.encs.write().unwrap_or_else(|e| e.into_inner()).retain(|y, _| lives(*y));
        }
    });
}
/// The encoding of a symbol.
pub fn sym_enc(cx: &mut Cx, y: Sym) -> EncIndex {
    let st = cx.shared_state::<SymState>();
    if st.some.load(Acquire) {
        if let Some(e) = st.encs.read().unwrap_or_else(|e| e.into_inner()).get(&y) {
            return *e;
        }
    }
    if cx.syms.name(y).is_ascii() { EncIndex::US_ASCII } else { EncIndex::UTF_8 }
}
/// The symbol named by a string; EncodingError for a broken one.
pub fn intern_str(cx: &mut Cx, s: Str) -> R {
    let e = enc(s);
    if is_ascii(s) || e == EncIndex::UTF_8 {
        if range(s) == CodeRange::Broken {
            return Err(cx.bad_name(s));
        }
        return cx.sym_of(s.bytes()).map(Value::sym);
    }
    if range(s) == CodeRange::Broken {
        return Err(cx.bad_name(s));
    }
    let known = cx.syms.find(s.bytes()).is_some();
    let y = cx.sym_of(s.bytes())?;
    if !known {
        let st = cx.shared_state::<SymState>();
        st.encs.write().unwrap_or_else(|e| e.into_inner()).insert(y, e);
        st.some.store(true, Release);
    }
    Ok(Value::sym(y))
}
/// A new string with the symbol's name.
pub fn name_str(cx: &mut Cx, y: Sym) -> Value {
    let e = sym_enc(cx, y);
    let b = cx.syms.name(y).to_vec();
    cx.str_enc(&b, e)
}
