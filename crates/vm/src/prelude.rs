//! The prelude: built-in classes written in Ruby, compiled when first called.

use kumi_heap::Value;
use crate::iseq::ISeq;
use crate::Cx;
use crate::native::Exit;
use std::rc::Rc;

/// Where a lazily compiled method's text is.
pub struct LazyMethod {
    /// Index into `sources`.
    pub file: u16,
    pub from: u32,
    pub to: u32,
    pub line: u32,
}

/// Sources and what has been indexed in them.
#[derive(Default)]
pub struct Prelude {
    pub sources: Vec<(Rc<str>, Rc<[u8]>)>,
    pub methods: Vec<LazyMethod>,
}

impl Cx {
    /// Compiles the prelude method `i`.
    pub(crate) fn compile_lazy(&mut self, i: u32) -> Result<Rc<ISeq>, Exit> {
        let _ = (i, Value::NIL);
        Err(self.runtime_error("prelude method is missing"))
    }
}
