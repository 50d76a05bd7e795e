//! Work on a String's bytes that is done away from the worker when it is long.
//!
//! Invariant: the work reads the bytes where they are, which the cells it keeps hold still. What it made counts if the String is what it
//! was; else it is made again where it is asked for.

use crate::text::*;
use kumi_vm::*;
use std::marker::PhantomData;

struct Made<F, T> {
    text: Text,
    out: T,
    kind: PhantomData<F>,
}

/// `f` of the bytes of `s`, which takes about `ns` nanoseconds: a native's only piece of work of this kind, before it changes anything.
#[inline]
pub fn away<T: 'static, F: FnOnce(&[u8]) -> T + 'static>(cx: &mut Cx, s: Str, ns: u64, f: F) -> Result<T, Exit> {
    if cx.worth_detaching(ns) { go(cx, s, &[], ns, f) } else { Ok(f(s.bytes())) }
}
/// The same of two Strings.
#[inline]
pub fn away_both<T: 'static, F: FnOnce(&[u8], &[u8]) -> T + 'static>(cx: &mut Cx, s: Str, o: Str, ns: u64, f: F) -> Result<T, Exit> {
    if !cx.worth_detaching(ns) {
        return Ok(f(s.bytes(), o.bytes()));
    }
    let other = Text::of(o);
    go(cx, s, &[o.val()], ns, move |b| other.with(|o| f(b, o)))
}
#[cold]
#[inline(never)]
fn go<T: 'static, F: FnOnce(&[u8]) -> T + 'static>(cx: &mut Cx, s: Str, also: &[Value], ns: u64, f: F) -> Result<T, Exit> {
    // What a look at the String keeps in it is there before it is compared.
    range(s);
    match cx.detached::<Made<F, T>>() {
        Some(m) if m.text == Text::of(s) => Ok(m.out),
        Some(_) => Ok(f(s.bytes())),
        None => {
            let text = Text::of(s);
            let keep = [&[s.val()], also].concat();
            Err(cx.detach_keeping(ns, &keep, move |_| Made { out: text.with(f), text, kind: PhantomData::<F> }))
        }
    }
}

/// The text that a detached search reads, in place.
#[derive(Clone, PartialEq)]
pub struct Text {
    /// The String, which the work keeps.
    pub cell: Value,
    /// Where its bytes were and how many, and what it says of its changes.
    at: usize,
    len: usize,
    state: u16,
}

impl Text {
    /// What `s` holds now.
    pub fn of(s: Str) -> Text {
        let state = s.state();
        let b = s.bytes();
        Text { cell: s.val(), at: b.as_ptr().addr(), len: b.len(), state }
    }
    pub fn with<T>(&self, f: impl FnOnce(&[u8]) -> T) -> T {
        match self.cell.as_str() {
            Some(s) => f(s.bytes()),
            None => f(b""),
        }
    }
}
