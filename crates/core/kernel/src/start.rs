//! What start-up changes in the class tree besides adding methods: undefined
//! constructors, the main object's own methods, names hidden from Ruby.

use kumi_vm::method::{Body, Method};
use kumi_vm::*;

/// Runs once, after the native tables are in.
pub fn prepare(cx: &mut Cx) {
    let k = &cx.k;
    let no_new = [
        k.nil,
        k.true_class,
        k.false_class,
        k.integer,
        k.float,
        k.symbol,
        k.rational,
        k.complex,
        k.method,
        k.unbound_method,
        k.binding,
        k.encoding,
        k.match_data,
        k.location,
        k.process_status,
        k.refinement,
    ];
    let class = k.class;
    for c in no_new {
        if let Some(s) = cx.singleton_class(c.val()) {
            undef(cx, s, "new");
        }
    }
    let c = cx.k.arith_seq;
    if let Some(s) = cx.singleton_class(c.val()) {
        undef(cx, s, "new");
    }
    for name in ["module_function", "append_features", "prepend_features", "extend_object", "refine"] {
        undef(cx, class, name);
    }
    let refinement = cx.k.refinement;
    for name in ["append_features", "prepend_features", "extend_object"] {
        undef(cx, refinement, name);
    }
    // The main object's methods are the prelude's, which knows its singleton class by a name of its own.
    let (helpers, main) = (cx.k.helpers, cx.intern("Main"));
    let m = cx.main_object;
    if let Some(s) = cx.singleton_class(m) {
        cx.set_const(helpers, main, s.val());
        cx.heap.edit(s).data.name = None;
    }
    let hidden = cx.intern(kumi_vm::HELPERS_KEY);
    let object = cx.k.object;
    if let Some(k) = cx.heap.edit(object).data.consts.get_mut(&hidden) {
        k.private = true;
    }
    // BasicObject's descendants find it without Object.
    let (basic, name) = (cx.k.basic_object, cx.intern("BasicObject"));
    cx.set_const(basic, name, basic.val());
}

/// Modules whose functions are, as by `module_function`, private methods of who includes them.
pub fn share_module_functions(cx: &mut Cx) {
    let object = cx.k.object;
    for (path, left_out) in [
        (&["Process"][..], &["last_status", "exit", "exit!", "abort", "fork", "_fork", "spawn", "exec", "warmup"][..]),
        (&["Process", "UID"], &[]),
        (&["Process", "GID"], &[]),
        (&["Process", "Sys"], &[]),
        (&["Signal"], &[]),
        (&["Marshal"], &[]),
    ] {
        let module = path.iter().try_fold(object, |m, name| {
            let name = cx.intern(name);
            m.data.consts.get(&name).and_then(|k| k.value.as_class())
        });
        let Some(module) = module else { continue };
        let Some(own) = cx.singleton_class(module.val()) else { continue };
        let names: Vec<(Sym, u32)> = own.data.method_order.iter().filter_map(|s| Some((*s, *own.data.methods.get(s)?))).collect();
        for (name, i) in names {
            let text = cx.sym_name(name);
            let m = cx.method(i).clone();
            if m.vis == Vis::Public && !left_out.contains(&text.as_str()) && !module.data.methods.contains_key(&name) {
                cx.add_method(module, name, Method { vis: Vis::Private, owner: module, ..m });
            }
        }
    }
}

fn undef(cx: &mut Cx, c: Gc<ClassObj>, name: &'static str) {
    let name = cx.intern(name);
    let m = Method { builtin: true, ..Method::new(c, name, Body::Undef) };
    cx.add_method(c, name, m);
}
