//! An object is moved: a new cell takes over what it holds, and nobody sees anything in the old one any more.
//!
//! **Invariant.** A buffer has one owner: the new cell has it from the moment on that the old one has lost it. Who looked at the
//! old cell before still reads that buffer, so the new cell is known to others wherever the old one was: then what it replaces is
//! kept until they are done (`lockfree/deferred.rs`). It gets its state while it is empty, so that no element has to be looked at; those of
//! the old one have that state already. The slots of an Object or a Struct stay as they were, for who has looked at the class already: nobody who
//! comes later sees them.

use super::Heap;
use crate::cells::array::{ArrayBuf, Held};
use crate::cells::header::{Gc, Header, Kind, flag};
use crate::cells::layout::*;
use crate::nursery::LEAVE;
use crate::space::{IN, OUTSIDE};
use crate::{ArrayObj, HashData, HashObj, ROOT_SHAPE, Value};
use std::sync::atomic::Ordering::*;

impl Heap {
    /// A new cell of the class and kind of `v` with all that it holds, in constant time whatever the number of elements; `v` becomes a
    /// frozen object of class `gone`, which shows nothing of it. Its object id, finalizers and singleton class's attachment are not moved. `None`, and nothing
    /// has changed: cells of this kind are not moved.
    ///
    /// The caller has `v`'s lock where others may reach it.
    pub fn move_out(&mut self, v: Value, gone: Value) -> Option<Value> {
        let h = v.header()?;
        let new = match h.kind {
            Kind::Array => {
                let mut old = Held::new(v.as_array()?);
                let new = self.like(h, ArrayObj::new(h.class(), ArrayBuf::new()), 0);
                new.hdr.x.set(h.x.get());
                *Held::new(new).vec() = old.steal();
                new.val()
            }
            Kind::Str => {
                let s = v.as_str()?;
                let new = self.like(h, StrObj { hdr: Header::new(h.class(), Kind::Str), buf: StrBuf::new() }, 0);
                new.hdr.x.set(s.state());
                self.edit(new).buf = self.edit(s).buf.steal();
                s.changed();
                new.val()
            }
            Kind::Hash => {
                let old = v.as_hash()?;
                let new = self.like(h, HashObj { hdr: Header::new(h.class(), Kind::Hash), h: HashData::default() }, 0);
                new.hdr.x.set(h.x.get());
                let all = self.edit(old).h.steal();
                self.edit(new).h = all;
                new.val()
            }
            Kind::Object => {
                let o = v.cell::<ObjectObj>()?;
                let n = h.x.get();
                let mut hdr = Header::new(h.class(), Kind::Object);
                hdr.x.put(n);
                let new = self.like(h, ObjectObj::empty(hdr), n as usize);
                let shape = o.shape();
                for i in 0..n as u32 {
                    self.edit(new).set_slot(i, o.slot(i));
                }
                self.edit(new).ext = self.edit(o).ext.steal();
                new.set_shape(shape);
                o.set_shape(ROOT_SHAPE);
                new.val()
            }
            Kind::Struct => {
                let s = v.cell::<StructObj>()?;
                let all = s.slots().to_vec();
                let new = self.structure(h.class(), h.x.get());
                // A large cell is not born private.
                self.before_store_all(new.val(), &all);
                new.put(all.iter().copied());
                new.val()
            }
            Kind::Data => {
                let d = v.cell::<DataObj>()?;
                // The new cell is everybody's.
                self.publish(v);
                let new = self.data(h.class(), Gone).cell::<DataObj>()?;
                new.hdr.x.set(h.x.get());
                let empty = std::mem::replace(&mut self.edit(new).payload, Box::new(Gone));
                let moved = std::mem::replace(&mut self.edit(d).payload, empty);
                self.edit(new).payload = moved;
                new.val()
            }
            _ => return None,
        };
        self.move_side_ivars(v, new);
        self.before_store(v, gone);
        h.set_class(gone);
        h.clear(flag::SINGLETON);
        h.set(flag::FROZEN);
        Some(new)
    }
    /// An empty cell, with room for `slots` values behind it, that is where `old` is: a nursery's collection looks at all that its cells
    /// hold, which a large array outside is not to be brought back to.
    fn like<T>(&mut self, old: &Header, cell: T, slots: usize) -> Gc<T> {
        let birth = if self.nurseries() { old.flags.load(Relaxed) & LEAVE } else { LEAVE };
        let place = if birth == 0 { IN } else { OUTSIDE };
        let p = self.raw(size_of::<T>() + slots * 8, place) as *mut T;
        // SAFETY: a fresh cell of that size, which starts with a Header.
        let new = unsafe {
            p.write(cell);
            *(*(p as *mut Header)).flags.get_mut() |= birth;
            let s = p.add(1) as *mut Value;
            for i in 0..slots {
                s.add(i).write(Value::UNDEF);
            }
            Gc::from_ptr(p)
        };
        if birth == flag::OUT {
            self.confined_born();
        }
        new
    }
    fn move_side_ivars(&mut self, from: Value, to: Value) {
        let (Some(h), Some(n)) = (from.header(), to.header()) else { return };
        if h.has(flag::IVARS) {
            // Tables know shared cells only; the old one is shared, and so is what it holds.
            self.publish(to);
            self.shared.move_side_ivars(from, to);
            n.set(flag::IVARS);
            h.clear(flag::IVARS);
        }
    }
}

/// Payload of an object that was moved.
struct Gone;
impl Payload for Gone {}
