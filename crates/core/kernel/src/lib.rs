//! Object, Kernel, Module, Class, Method, Exception, ObjectSpace and GC: leaf natives.
//!
//! One file a concept. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.

mod basic;
mod class;
mod consts;
mod copy;
mod cvars;
mod errno;
mod exception;
mod gc;
mod guard;
mod ivars;
mod method;
mod methods;
mod module;
mod object;
mod objspace;
mod spell;
mod start;
mod warning;
mod weak;

use kumi_vm::Cx;

pub use start::share_module_functions;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    for table in [
        basic::TABLE,
        object::TABLE,
        ivars::TABLE,
        copy::TABLE,
        guard::TABLE,
        class::TABLE,
        module::TABLE,
        methods::TABLE,
        consts::TABLE,
        cvars::TABLE,
        method::TABLE,
        errno::TABLE,
        exception::TABLE,
        spell::TABLE,
        gc::TABLE,
        objspace::TABLE,
        weak::TABLE,
        warning::TABLE,
    ] {
        cx.natives(table);
    }
    errno::define(cx);
    start::prepare(cx);
    warning::hook(cx);
}
