//! Readers: public methods that give a part of their receiver and run no Ruby. Natives that look at one part of many
//! objects read it here, and leave to Ruby what is no reader.

use crate::doors::NO_METHOD;
use crate::doors::Vis;
use crate::world::hot::decoded;
use crate::world::method::Body;
use crate::{Cx, StructObj, Sym, Value};

impl Cx {
    /// What `v.name` is when that is a field of a record, a member of a Struct or an `attr_reader`. `None` when it is
    /// something else, or raises: then call it.
    pub fn plain_read(&mut self, v: Value, name: Sym) -> Option<Value> {
        let class = self.class_of(v);
        let m = self.find_method(class, name);
        if m == NO_METHOD {
            return None;
        }
        let e = &self.methods[m as usize];
        if e.vis != Vis::Public {
            return None;
        }
        match e.body {
            Body::MemberGet(k) => v.cell::<StructObj>()?.slots().get(k as usize),
            Body::Indexed(x) => match if x.field { decoded(v, x.index) } else { None } {
                Some(known) => Some(known),
                None => (x.f)(self, v, x.index).ok(),
            },
            Body::AttrGet(s) => Some(self.attr_get(v, s.0)),
            _ => None,
        }
    }
}
