//! Frozen strings made one: literals and `String#-@`.
//!
//! Invariant: at most one live string of this table has given bytes in a given encoding. The
//! table keeps none of them alive: what dies in a collection leaves it before cells are swept.
//! Its lock is an innermost one.

use crate::{Cx, EncIndex};
use kumi_budget::Grow;
use kumi_heap::*;
use parking_lot::Mutex;
use std::collections::HashMap;

#[derive(Default)]
struct Table(Mutex<HashMap<(Box<[u8]>, u8), Value>>);
impl Payload for Table {
    fn weak(&mut self, alive: &dyn Fn(Value) -> bool) {
        self.0.get_mut().retain(|_, v| alive(*v));
    }
}
/// The cell that holds the table.
#[derive(Default)]
struct Place(Option<Value>);

impl Cx {
    /// The cell of the table, made on first use.
    fn fstrings(&mut self) -> Value {
        let there = self.state::<Place>().0;
        match there {
            Some(v) => v,
            None => {
                let v = self.data(self.k.object, Table::default());
                self.keep(v);
                let first = *self.state::<Place>().0.get_or_insert(v);
                if first == v {
                    self.heap.add_weak(v);
                }
                first
            }
        }
    }
    /// The one frozen plain String of these bytes.
    pub fn fstring(&mut self, bytes: &[u8], enc: EncIndex) -> Value {
        let cell = self.fstrings();
        let table = table_of(&cell);
        let key = (Box::from(bytes), enc.as_u8());
        if let Some(v) = table.0.lock().get(&key) {
            return *v;
        }
        let v = self.str_enc(bytes, enc);
        self.heap.publish(v);
        table.add(key, v)
    }
    /// The one frozen String equal to the plain string `s`: itself when it is frozen and the first.
    pub fn fstring_of(&mut self, s: Gc<StrObj>) -> Value {
        let cell = self.fstrings();
        let table = table_of(&cell);
        let key: (Box<[u8]>, u8) = (Vec::copy(s.bytes()).into_boxed_slice(), s.enc());
        if let Some(v) = table.0.lock().get(&key) {
            return *v;
        }
        let v = if s.val().frozen() { s.val() } else { self.str_enc(&key.0, EncIndex::from_u8(key.1)) };
        self.heap.publish(v);
        table.add(key, v)
    }
    /// Whether `s` stands for all plain Strings of its bytes: it can have no methods of its own.
    pub(crate) fn is_fstring(&mut self, s: Gc<StrObj>) -> bool {
        if !s.val().frozen() {
            return false;
        }
        let key = (Box::from(s.bytes()), s.enc());
        let cell = self.fstrings();
        table_of(&cell).0.lock().get(&key) == Some(&s.val())
    }
}

fn table_of(cell: &Value) -> &Table {
    match cell.as_data::<Table>() {
        Some(t) => t,
        None => unreachable!("the cell was made with this payload"),
    }
}

impl Table {
    /// Enters `v`, which is published, unless another worker was faster: the string that is in the table.
    fn add(&self, key: (Box<[u8]>, u8), v: Value) -> Value {
        if let Some(h) = v.header() {
            h.set(flag::FROZEN);
        }
        *self.0.lock().entry(key).or_insert(v)
    }
}
