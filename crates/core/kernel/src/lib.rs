//! Object, Kernel, Module, Class, Method, Exception, ObjectSpace and GC: leaf natives.
//!
//! One file a concept. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.
#![deny(missing_docs)]

mod basic;
mod error;
mod gc;
mod ivars;
mod module;
mod object;
mod start;

use kumi_vm::Cx;

pub use start::share_module_functions;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    for table in [
        basic::TABLE,
        object::TABLE,
        ivars::TABLE,
        object::copy::TABLE,
        object::recursion::TABLE,
        module::class::TABLE,
        module::TABLE,
        module::methods::TABLE,
        module::consts::TABLE,
        module::cvars::TABLE,
        module::method::TABLE,
        error::errno::TABLE,
        error::exception::TABLE,
        error::spell::TABLE,
        gc::TABLE,
        object::objspace::TABLE,
        object::weak::TABLE,
        error::warning::TABLE,
    ] {
        cx.natives(table);
    }
    error::errno::define(cx);
    start::prepare(cx);
    error::warning::hook(cx);
}
