//! Names of symbols, for threads that are no workers.

use crate::Cx;
use crate::cx::runtime::Runtime;
use kumi_heap::Sym;
use std::sync::{Arc, Weak};

/// Tells names of a runtime's symbols on any thread. Keeps no runtime.
#[derive(Clone)]
pub struct Names(Weak<Runtime>);

impl Names {
    /// The name of a symbol that something keeps alive meanwhile. `None`: it is not of ASCII alone, or the runtime has ended.
    pub fn ascii(&self, s: Sym) -> Option<String> {
        let rt = self.0.upgrade()?;
        let name = rt.syms.name(s);
        if name.is_ascii() { std::str::from_utf8(name).ok().map(str::to_owned) } else { None }
    }
}

impl Cx {
    /// See [`Names`].
    pub fn names(&self) -> Names {
        Names(Arc::downgrade(&self.runtime()))
    }
}
