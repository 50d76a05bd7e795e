//! Frozen strings made one: literals and `String#-@`.
//!
//! Invariant: at most one live string of this table has given bytes in a given encoding. The
//! table keeps none of them alive: what dies in a collection leaves it before cells are swept.

use crate::{Cx, EncIndex};
use kumi_heap::*;
use std::collections::HashMap;

#[derive(Default)]
struct Table(HashMap<(Box<[u8]>, u8), Value>);
impl Payload for Table {
    fn weak(&mut self, alive: &dyn Fn(Value) -> bool) {
        self.0.retain(|_, v| alive(*v));
    }
}
/// The cell that holds the table.
#[derive(Default)]
struct Place(Option<Value>);

impl Cx {
    fn fstrings(&mut self) -> &'static mut Table {
        let cell = match self.state::<Place>().0 {
            Some(v) => v,
            None => {
                let v = self.data(self.k.object, Table::default());
                self.keep(v);
                self.heap.add_weak(v);
                self.state::<Place>().0 = Some(v);
                v
            }
        };
        match cell.as_data::<Table>() {
            Some(t) => t,
            None => unreachable!("the cell was made with this payload"),
        }
    }
    /// The one frozen plain String of these bytes.
    pub fn fstring(&mut self, bytes: &[u8], enc: EncIndex) -> Value {
        if let Some(v) = self.fstrings().0.get(&(Box::from(bytes), enc.as_u8())) {
            return *v;
        }
        let v = self.str_enc(bytes, enc);
        self.add_fstring(v);
        v
    }
    /// The one frozen String equal to the plain string `s`: itself when it is frozen and the first.
    pub fn fstring_of(&mut self, s: Gc<StrObj>) -> Value {
        if let Some(v) = self.fstrings().0.get(&(Box::from(s.bytes()), s.enc())) {
            return *v;
        }
        if !s.val().frozen() {
            return self.fstring(s.bytes(), EncIndex::from_u8(s.enc()));
        }
        self.add_fstring(s.val());
        s.val()
    }
    fn add_fstring(&mut self, v: Value) {
        if let Some(h) = v.header() {
            h.set(flag::FROZEN);
        }
        if let Some(s) = v.as_str() {
            self.fstrings().0.insert((Box::from(s.bytes()), s.enc()), v);
        }
    }
}
