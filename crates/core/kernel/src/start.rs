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
    // The main object's methods are the prelude's, in a module of its singleton class.
    let helpers = cx.k.helpers;
    let main = cx.define_module(helpers, "Main");
    let m = cx.main_object;
    if let Some(s) = cx.singleton_class(m) {
        cx.include_module(s, main);
    }
    let hidden = cx.intern("KumiSys");
    let mut object = cx.k.object;
    if let Some(k) = object.data.consts.get_mut(&hidden) {
        k.private = true;
    }
    // BasicObject's descendants find it without Object.
    let (basic, name) = (cx.k.basic_object, cx.intern("BasicObject"));
    cx.set_const(basic, name, basic.val());
}

fn undef(cx: &mut Cx, c: Gc<ClassObj>, name: &str) {
    let name = cx.intern(name);
    let m = Method {
        native: None,
        min: 0,
        max: -1,
        vis: Vis::Public,
        builtin: true,
        ruby2_keywords: false,
        body: Body::Undef,
        cref: Value::NIL,
        owner: c,
        name,
        called: name,
        guard: kumi_vm::Guard::None,
        forced: Default::default(),
    };
    cx.add_method(c, name, m);
}
