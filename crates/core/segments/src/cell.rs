//! A segment's value on its node.
//!
//! **Invariant.** There is the Ruby value, or its encoding, or both, which are the same then: what was encoded is deeply frozen, or
//! is owned and has not been handed over since.

use crate::encode::{self, FILL, Later, Symbols};
use crate::luggage::{self, Luggage};
use kumi_vm::*;
use kumi_wire::{Bytes, Trace};
use std::sync::Arc;

/// See the module.
#[derive(Clone)]
pub struct Cell {
    /// Undef: only bytes are there.
    value: Value,
    more: Option<Arc<More>>,
}

/// What most values have not.
#[derive(Clone, Default)]
struct More {
    bytes: Option<Bytes>,
    /// Of bytes that came from another node: the symbols that its values have made here.
    symbols: Option<Arc<Symbols>>,
    /// Of bytes with references in them.
    luggage: Option<Arc<dyn Luggage>>,
    /// On whose behalf it was put.
    trace: Option<Arc<Trace>>,
}

// SAFETY: the value is published, and no thread but a worker looks into it.
unsafe impl Send for Cell {}
// SAFETY: as above.
unsafe impl Sync for Cell {}

impl Cell {
    /// A value of this node that nobody elsewhere has asked for.
    #[inline]
    pub fn of(value: Value) -> Cell {
        Cell { value, more: None }
    }
    /// What came from elsewhere. The symbols are those of the peer that sent it; without, they are bounded for this value alone.
    pub fn encoded(bytes: Bytes, symbols: Option<Arc<Symbols>>) -> Cell {
        Cell { value: Value::UNDEF, more: Some(Arc::new(More { bytes: Some(bytes), symbols, ..More::default() })) }
    }
    /// The same, with what its references stand for.
    pub fn with_luggage(mut self, luggage: Option<Arc<dyn Luggage>>) -> Cell {
        if luggage.is_some() {
            Arc::make_mut(self.more.get_or_insert_default()).luggage = luggage;
        }
        self
    }
    /// What references in its encoding stand for, if there are any.
    pub fn luggage(&self) -> Option<&Arc<dyn Luggage>> {
        self.more.as_ref()?.luggage.as_ref()
    }
    /// The same, of which this is the value.
    pub fn made_of(&self, value: Value) -> Cell {
        Cell { value, more: self.more.clone() }
    }
    /// The same, on that behalf.
    pub fn traced(mut self, trace: Option<Arc<Trace>>) -> Cell {
        if trace.is_some() {
            Arc::make_mut(self.more.get_or_insert_default()).trace = trace;
        }
        self
    }
    /// On whose behalf it was put.
    #[inline]
    pub fn trace(&self) -> Option<&Arc<Trace>> {
        self.more.as_ref()?.trace.as_ref()
    }
    /// Its encoding, if it has one.
    pub fn bytes(&self) -> Option<&Bytes> {
        self.more.as_ref()?.bytes.as_ref()
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
        match self.more.as_deref() {
            Some(More { bytes: Some(b), symbols, luggage, .. }) if self.value.is_undef() => {
                let references = match luggage {
                    Some(l) => l.values(cx)?,
                    None => Vec::new(),
                };
                match symbols {
                    Some(symbols) => later.decode_with(cx, b, !owned, symbols, &references),
                    None => later.decode_with(cx, b, !owned, &Symbols::default(), &references),
                }
            }
            _ => Ok(self.value),
        }
    }
    /// The same, as the last thing that a native does: Ruby may go on in its place.
    #[inline]
    pub fn hand_over_last(&self, cx: &mut Cx, owned: bool) -> R {
        if self.value.is_undef() { self.made(cx, owned) } else { Ok(self.value) }
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
        if self.bytes().is_some() {
            return Ok(self.clone());
        }
        let (bytes, luggage) = luggage::encode(cx, self.value)?;
        Ok(self.with_bytes(Bytes::from(bytes)).with_luggage(luggage))
    }
    /// The same of an argument of the running native, which has changed nothing so far.
    ///
    /// # Errors
    /// The value can't travel; or the native is called again when a large one is encoded.
    pub fn encode_argument(&self, cx: &mut Cx) -> Result<Cell, Exit> {
        match encode::large_argument(cx, self.value)? {
            Some(bytes) => Ok(self.with_bytes(Bytes::from(bytes))),
            None => self.encode(cx),
        }
    }
    /// The same with this encoding.
    pub fn with_bytes(&self, bytes: Bytes) -> Cell {
        let trace = self.trace().cloned();
        Cell { value: self.value, more: Some(Arc::new(More { bytes: Some(bytes), trace, ..More::default() })) }
    }
    /// The same without the value where it has an encoding: nothing that has to be kept alive.
    pub fn to_send(mut self) -> Cell {
        if self.bytes().is_some() {
            self.value = Value::UNDEF;
        }
        self
    }
}
