//! Prelude text through compiler and loop.

use crate::Cx;
use crate::iseq::ISeq;
use crate::native::{Exit, R};
use std::rc::Rc;

impl Cx {
    /// Compiles one `def` of the prelude.
    pub(crate) fn compile_system_method(&mut self, src: &[u8], path: Rc<str>, line: u32, frozen: bool) -> Result<Rc<ISeq>, Exit> {
        let _ = (src, frozen);
        Err(self.runtime_error(&format!("{path}:{line}: this build has no compiler")))
    }

    /// Runs prelude text at the top level.
    pub(crate) fn eval_system(&mut self, src: &[u8], path: &str, line: u32) -> R {
        let _ = src;
        Err(self.runtime_error(&format!("{path}:{line}: this build has no compiler")))
    }
}
