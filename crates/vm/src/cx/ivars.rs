//! Instance variables of any object: in its shape's slots, in its class's table, or beside the heap.
//!
//! **Invariant.** A slot holds its value before a shape tells of it, and a name's slot stays the same while others may run.

use crate::Cx;
use kumi_heap::*;

impl Cx {
    /// Instance variable of any object; undef when not set.
    pub fn ivar_get(&mut self, v: Value, name: Sym) -> Value {
        match v.kind() {
            Some(Kind::Object) => {
                let Some(o) = v.cell::<ObjectObj>() else { return Value::UNDEF };
                match self.heap.shapes.slot(o.shape(), name) {
                    Some(i) => o.slot(i),
                    None => Value::UNDEF,
                }
            }
            Some(Kind::Class) => {
                let _classes = self.lock_classes();
                v.as_class().and_then(|c| c.data.ivars.iter().find(|p| p.0 == name).map(|p| p.1)).unwrap_or(Value::UNDEF)
            }
            Some(_) => self.heap.side_ivar(v, name),
            None => Value::UNDEF,
        }
    }
    /// Sets an instance variable (the caller has checked frozenness).
    pub fn ivar_set(&mut self, v: Value, name: Sym, val: Value) {
        match v.kind() {
            Some(Kind::Object) => {
                let Some(o) = v.cell::<ObjectObj>() else { return };
                self.heap.before_store(v, val);
                match self.heap.shapes.slot(o.shape(), name) {
                    Some(i) => self.heap.edit(o).set_slot(i, val),
                    None => {
                        let i = self.heap.shapes.count(o.shape());
                        // The value before the shape that tells of it.
                        self.heap.edit(o).set_slot(i, val);
                        let shape = self.heap.shapes.add(o.shape(), name);
                        o.set_shape(shape);
                        if self.heap.shapes.take_due() {
                            self.heap.request_full();
                        }
                        if let Some(c) = o.hdr.class().as_class() {
                            if c.slots.get() <= i as u16 && i < 60 {
                                c.slots.set(i as u16 + 1);
                            }
                        }
                    }
                }
            }
            Some(Kind::Class) => {
                self.heap.before_store(v, val);
                let _classes = self.lock_classes();
                if let Some(c) = v.as_class() {
                    match c.data.ivars.iter().position(|p| p.0 == name) {
                        Some(i) => self.heap.edit(c).data.ivars[i].1 = val,
                        None => self.heap.edit(c).data.ivars.push((name, val)),
                    }
                }
            }
            Some(_) => self.heap.set_side_ivar(v, name, val),
            None => {}
        }
    }
    /// Names and values of all set instance variables, hidden ones (`@__x`) included.
    pub fn ivars(&self, v: Value) -> Vec<(Sym, Value)> {
        match v.kind() {
            Some(Kind::Object) => {
                let Some(o) = v.cell::<ObjectObj>() else { return Vec::new() };
                let names = self.heap.shapes.names(o.shape());
                names.into_iter().enumerate().map(|(i, s)| (s, o.slot(i as u32))).filter(|p| !p.1.is_undef()).collect()
            }
            Some(Kind::Class) => {
                let _classes = self.lock_classes();
                v.as_class().map_or(Vec::new(), |c| c.data.ivars.clone())
            }
            Some(_) => self.heap.side_ivars(v),
            None => Vec::new(),
        }
    }
    /// Is the name of an instance variable hidden from Ruby?
    pub fn hidden_ivar(&self, s: Sym) -> bool {
        self.syms.name(s).starts_with(b"@__")
    }
    /// Removes an instance variable; its old value.
    pub fn ivar_remove(&mut self, v: Value, name: Sym) -> Option<Value> {
        let old = self.ivar_get(v, name);
        if old.is_undef() {
            return None;
        }
        match v.kind() {
            Some(Kind::Object) if self.is_contended(v) => {
                // Its place stays, so that who stores into another slot just now is not in the wrong one.
                let o = v.cell::<ObjectObj>()?;
                let i = self.heap.shapes.slot(o.shape(), name)?;
                self.heap.edit(o).set_slot(i, Value::UNDEF);
            }
            Some(Kind::Object) => {
                let all = self.ivars(v);
                let o = v.cell::<ObjectObj>()?;
                let n = self.heap.shapes.count(o.shape());
                for i in 0..n {
                    self.heap.edit(o).set_slot(i, Value::UNDEF);
                }
                o.set_shape(ROOT_SHAPE);
                for (s, x) in all {
                    if s != name {
                        self.ivar_set(v, s, x);
                    }
                }
            }
            Some(Kind::Class) => {
                let _classes = self.lock_classes();
                let c = v.as_class()?;
                self.heap.edit(c).data.ivars.retain(|p| p.0 != name)
            }
            _ => self.heap.set_side_ivar(v, name, Value::UNDEF),
        }
        Some(old)
    }
}
