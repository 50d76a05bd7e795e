//! A segment's value on its node.
//!
//! **Invariant.** There is the Ruby value, or its encoding, or both, which are the same then: what was encoded is deeply frozen, or
//! is owned and has not been handed over since.

use crate::encode::{self, FILL, Later, Symbols};
use kumi_vm::*;
use kumi_wire::Bytes;
use std::ops::Deref;
use std::sync::Arc;

/// See the module.
#[derive(Clone)]
pub struct Cell {
    /// Undef: only bytes are there.
    value: Value,
    bytes: Option<Arc<Encoded>>,
}

/// A value's bytes.
pub struct Encoded {
    bytes: Bytes,
    /// Of those that came from another node: the symbols that its values have made here.
    symbols: Option<Arc<Symbols>>,
}

impl Deref for Encoded {
    type Target = Bytes;
    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

// SAFETY: the value is published, and no thread but a worker looks into it.
unsafe impl Send for Cell {}
// SAFETY: as above.
unsafe impl Sync for Cell {}

impl Cell {
    /// A value of this node that nobody elsewhere has asked for.
    #[inline]
    pub fn of(value: Value) -> Cell {
        Cell { value, bytes: None }
    }
    /// What came from elsewhere. The symbols are those of the peer that sent it; without, they are bounded for this value alone.
    pub fn encoded(bytes: Bytes, symbols: Option<Arc<Symbols>>) -> Cell {
        Cell { value: Value::UNDEF, bytes: Some(Arc::new(Encoded { bytes, symbols })) }
    }
    /// A value of this node that goes elsewhere.
    pub fn both(value: Value, bytes: Arc<Encoded>) -> Cell {
        Cell { value, bytes: Some(bytes) }
    }
    /// Its encoding, if it has one.
    pub fn bytes(&self) -> Option<&Arc<Encoded>> {
        self.bytes.as_ref()
    }
    /// The value, if there is one.
    #[inline]
    pub fn value(&self) -> Option<Value> {
        (!self.value.is_undef()).then_some(self.value)
    }
    #[inline]
    pub fn mark(&self, mut f: impl FnMut(Value)) {
        if !self.value.is_undef() {
            f(self.value);
        }
    }
    /// The value for Ruby, made of the bytes if need be; what is in `later` is done before Ruby sees it.
    #[inline]
    pub fn hand_over(&self, cx: &mut Cx, owned: bool, later: &mut Later) -> R {
        match (&self.bytes, self.value.is_undef()) {
            (Some(b), true) => match &b.symbols {
                Some(symbols) => later.decode(cx, b, !owned, symbols),
                None => later.decode(cx, b, !owned, &Symbols::default()),
            },
            _ => Ok(self.value),
        }
    }
    /// The same, as the last thing that a native does: Ruby may go on in its place.
    #[inline]
    pub fn hand_over_last(&self, cx: &mut Cx, owned: bool) -> R {
        match (&self.bytes, self.value.is_undef()) {
            (Some(_), true) => self.made(cx, owned),
            _ => Ok(self.value),
        }
    }
    #[cold]
    fn made(&self, cx: &mut Cx, owned: bool) -> R {
        let mut later = Later::default();
        let v = self.hand_over(cx, owned, &mut later)?;
        later.done(cx, FILL, v)
    }
    /// The same with its encoding.
    ///
    /// # Errors
    /// The value can't travel.
    pub fn encode(&self, cx: &mut Cx) -> Result<Cell, Exit> {
        if self.bytes.is_some() {
            return Ok(self.clone());
        }
        let bytes = encode::encode(cx, self.value)?;
        Ok(Cell { value: self.value, bytes: Some(Arc::new(Encoded { bytes: Bytes::from(bytes), symbols: None })) })
    }
}
