//! A segment's value on its node.
//!
//! **Invariant.** There is the Ruby value, or its encoding, or both, which are the same then: what was encoded is deeply frozen, or
//! is owned and has not been handed over since.

use crate::encode;
use kumi_vm::*;
use kumi_wire::Bytes;
use std::sync::Arc;

/// See the module.
#[derive(Clone)]
pub struct Cell {
    /// Undef: only bytes are there.
    value: Value,
    bytes: Option<Arc<Bytes>>,
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
    /// What came from elsewhere.
    pub fn encoded(bytes: Bytes) -> Cell {
        Cell { value: Value::UNDEF, bytes: Some(Arc::new(bytes)) }
    }
    /// A value of this node that goes elsewhere.
    pub fn both(value: Value, bytes: Arc<Bytes>) -> Cell {
        Cell { value, bytes: Some(bytes) }
    }
    /// Its encoding, if it has one.
    pub fn bytes(&self) -> Option<&Arc<Bytes>> {
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
    /// The value for Ruby, made of the bytes if need be.
    #[inline]
    pub fn hand_over(&self, cx: &mut Cx, owned: bool) -> R {
        match (&self.bytes, self.value.is_undef()) {
            (Some(b), true) => encode::decode(cx, b, !owned),
            _ => Ok(self.value),
        }
    }
    /// The same, as the last thing that a native does: Ruby may go on in its place.
    #[inline]
    pub fn hand_over_last(&self, cx: &mut Cx, owned: bool) -> R {
        match (&self.bytes, self.value.is_undef()) {
            (Some(b), true) => encode::decode_last(cx, b, !owned),
            _ => Ok(self.value),
        }
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
        Ok(Cell { value: self.value, bytes: Some(Arc::new(Bytes::from(bytes))) })
    }
}
