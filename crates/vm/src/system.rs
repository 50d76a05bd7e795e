//! Prelude text through compiler and loop.

use crate::Cx;
use crate::compile::{self, CompileEnv, Options};
use crate::iseq::ISeq;
use crate::native::{Exit, R};
use kumi_heap::Sym;
use std::rc::Rc;

impl CompileEnv for Cx {
    fn intern(&mut self, name: &[u8]) -> Sym {
        self.syms.intern(name)
    }
    fn name(&self, s: Sym) -> Vec<u8> {
        self.syms.name(s).to_vec()
    }
    fn intrinsic(&self, name: &str) -> Option<u16> {
        self.intrinsic_ids.get(name).copied()
    }
}

impl Cx {
    fn system_options(path: &str, line: u32, frozen: bool) -> Options {
        let mut o = Options::file(path);
        o.line = line;
        o.system = true;
        o.frozen_strings = frozen;
        o
    }

    /// Compiles one `def` of the prelude.
    pub(crate) fn compile_system_method(&mut self, src: &[u8], path: Rc<str>, line: u32, frozen: bool) -> Result<Rc<ISeq>, Exit> {
        let o = Self::system_options(&path, line, frozen);
        compile::compile_method(src, &o, self).map_err(|e| self.raise_msg(self.k.syntax_error, &e.rendered))
    }

    /// Runs prelude text at the top level.
    pub fn eval_system(&mut self, src: &[u8], path: &str, line: u32) -> R {
        let o = Self::system_options(path, line, false);
        match compile::compile(src, &o, self) {
            Ok(_) => Err(self.runtime_error("this build has no loop")),
            Err(e) => Err(self.raise_msg(self.k.syntax_error, &e.rendered)),
        }
    }
}

impl Cx {
    /// Runs a compiled program. Only while nothing runs.
    ///
    /// # Errors
    /// `Exit::Raise`, with the exception in `pending.exc`.
    pub fn run_main(&mut self, iseq: Rc<ISeq>) -> Result<(), Exit> {
        let _ = iseq;
        Err(self.runtime_error("this build has no loop"))
    }
    /// Calls a method of `KumiSys`. Only while nothing runs.
    ///
    /// # Errors
    /// `Exit::Raise`, with the exception in `pending.exc`.
    pub fn call_helper_top(&mut self, name: &str, args: &[kumi_heap::Value]) -> R {
        let _ = args;
        Err(self.runtime_error(&format!("KumiSys.{name}: this build has no loop")))
    }
}
