//! An object is handed over: who gets it has a new root, and who gave it keeps one whose methods raise.
//!
//! **Invariant.** Only the root changes its cell. What it refers to are the same objects as before, and their number costs nothing
//! (`heap/moving.rs`).

use crate::Cx;
use crate::doors::*;
use kumi_heap::*;

impl Cx {
    /// A new object in the place of `v`, with its contents, class, singleton class and instance variables; all methods of `v` raise
    /// `Ractor::MovedError` from now on. Its object id and finalizers stay with it. What can never change is not moved: `v` itself
    /// is given back when it is frozen, a class, a Ractor or a port.
    ///
    /// Takes `v`'s lock: natives that call it must be of [`Guard::None`].
    ///
    /// # Errors
    /// `v` has been moved away already, or is of a kind that is not moved: Threads, Procs, locks and most of what has a payload.
    pub fn move_root(&mut self, v: Value) -> R {
        let Some(h) = v.header() else { return Ok(v) };
        let _held = self.is_contended(v).then(|| v.locked());
        let gone = self.k.ractor_moved;
        if h.class() == gone.val() {
            return Err(self.moved_error("Ractor::MovedError", "can not send any methods to a moved object"));
        }
        if h.frozen() || h.kind == Kind::Class || self.is_a(v, self.k.ractor) || self.is_a(v, self.k.ractor_port) {
            return Ok(v);
        }
        // What others wait in, or a thread is, stays where it is known.
        let stays = match h.kind {
            Kind::Data => !self.is_a(v, self.k.io) && !self.is_a(v, self.k.time),
            Kind::Object => [self.k.thread_group, self.k.enumerator, self.k.yielder, self.k.generator].iter().any(|c| self.is_a(v, *c)),
            _ => false,
        };
        let new = if stays { None } else { self.heap.move_out(v, gone.val()) };
        let Some(new) = new else {
            let name = self.class_name(self.real_class(v));
            return Err(self.moved_error("Ractor::Error", &format!("can not move {name} object.")));
        };
        self.attach_singleton(v, new);
        Ok(new)
    }
    /// The singleton class of `from`, which `to` has now, is that of `to`.
    fn attach_singleton(&mut self, from: Value, to: Value) {
        let Some(s) = to.header().and_then(|h| h.class().as_class()).filter(|s| s.is_singleton()) else { return };
        let _classes = self.lock_classes();
        if s.data.attached == from {
            self.heap.before_store(s.val(), to);
            self.heap.edit(s).data.attached = to;
            if let Some(h) = to.header() {
                h.set(flag::SINGLETON);
            }
        }
    }
    #[cold]
    fn moved_error(&mut self, class: &str, msg: &str) -> Exit {
        let c = self.const_path(class).and_then(|v| v.as_class()).unwrap_or(self.k.standard_error);
        self.raise_msg(c, msg)
    }
}
