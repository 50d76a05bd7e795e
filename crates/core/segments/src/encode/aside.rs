//! Encoding beside the workers: what is deeply frozen and made of a few kinds of values is read by any thread, also while the workers
//! compute or the collector works.
//!
//! **Invariant.** A frozen String, Array, Hash or Range of these classes themselves is never written again, and cells do not move. So
//! whoever keeps a deeply frozen value alive reads it without a lock. That is the caller's to do, by a root that the collector sees.

use super::write::{Encoder, Stop, Walker, write_by};
use kumi_vm::*;
use kumi_wire::Writer;

/// Elements of a container, and bytes of a value, that are written beside the workers: whoever does it has others to serve.
const MOST: usize = 8192;

/// What has to be known of a runtime.
pub struct Aside {
    names: Names,
    string: Value,
    array: Value,
    hash: Value,
    range: Value,
}
// SAFETY: the classes live as long as the runtime, and are compared only.
unsafe impl Send for Aside {}

impl Aside {
    /// Of this runtime.
    pub fn new(cx: &Cx) -> Aside {
        let [string, array, hash, range] = [cx.k.string, cx.k.array, cx.k.hash, cx.k.range].map(|c| c.val());
        Aside { names: cx.names(), string, array, hash, range }
    }
    /// The bytes of `v`. `None`: it is large, or a part of it is of another kind, or not frozen: a worker may know it.
    ///
    /// # Safety
    /// Something that the collector sees keeps `v` alive meanwhile.
    pub unsafe fn encode(&mut self, v: Value) -> Option<Vec<u8>> {
        let _catcher = kumi_budget::Catcher::new();
        // What it has changed is dropped.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| write_by(self, v))).ok().flatten()
    }
}

impl Walker for Aside {
    fn step(&mut self, _: &mut Option<Patience>, written: usize) -> Result<(), Stop> {
        if written > MOST { Err(Stop::Because("")) } else { Ok(()) }
    }
    fn takes(&self, s: &StrObj) -> bool {
        s.hdr.class() == self.string && s.hdr.has(flag::FROZEN) && !s.hdr.has(flag::IVARS) && s.bytes().len() <= MOST
    }
    fn symbol(&mut self, out: &mut Writer, s: Sym) -> Result<(), Stop> {
        // Other names have an encoding that is kept elsewhere.
        let name = self.names.ascii(s).ok_or(Stop::Because(""))?;
        out.symbol(&name);
        Ok(())
    }
    fn one(&mut self, encoder: &mut Encoder, v: Value) -> Result<(), Stop> {
        if encoder.plain(self, v)? {
            return Ok(());
        }
        let unknown = Err(Stop::Because(""));
        let Some(h) = v.header() else { return unknown };
        let class = match h.kind {
            // A number is what it is, frozen or not.
            Kind::Big if v.as_big().is_some_and(|b| b.n.byte_len() > MOST) => return unknown,
            Kind::Float | Kind::Big => return encoder.parts(self, v, h.kind),
            Kind::Array if v.as_array().is_some_and(|a| a.len() <= MOST) => self.array,
            Kind::Hash if v.as_hash().is_some_and(|h| h.h.len() <= MOST) => self.hash,
            Kind::Range => self.range,
            _ => return unknown,
        };
        if h.class() != class || !h.has(flag::FROZEN) || h.has(flag::IVARS) {
            return unknown;
        }
        encoder.parts(self, v, h.kind)
    }
}
