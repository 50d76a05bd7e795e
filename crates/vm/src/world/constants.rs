//! Constants, and the names that classes get by them.
//!
//! **Invariant.** Whoever changes what a name may mean raises that name's epoch (`const_changed`) afterwards: cached lookups
//! compare it. A class keeps the first permanent name it is given.

use crate::Cx;
use kumi_heap::{ClassObj, Const, Gc, Role, Sym, Value};
use std::sync::atomic::Ordering::*;

impl Cx {
    pub(super) fn put_const(&mut self, scope: Gc<ClassObj>, s: Sym, value: Value) {
        let d = &mut self.heap.edit(scope).data;
        let mut new = Const { value, autoload: None, loading: 0, private: false, deprecated: false, file: None, line: 0 };
        match d.consts.get_mut(&s) {
            // It is set again since its class got a name.
            Some(k) if k.value == value => return,
            Some(k) => {
                // A name that was made private or deprecated stays so until it is removed.
                (new.private, new.deprecated) = (k.private, k.deprecated);
                if k.loading != 0 {
                    (new.autoload, new.loading) = (k.autoload.take(), k.loading);
                }
            }
            None => d.const_order.push(s),
        }
        d.consts.insert(s, new);
    }
    /// Sets a constant, naming an anonymous class or module by it.
    pub fn set_const(&mut self, scope: Gc<ClassObj>, name: Sym, value: Value) {
        let _classes = self.lock_classes();
        self.heap.publish(value);
        self.put_const(scope, name, value);
        self.const_changed(name);
        if let Some(c) = value.as_class() {
            if c.data.name.is_none() || c.data.temporary {
                let top = scope == self.k.object;
                let own = self.syms.name(name).to_vec();
                let outer_temporary = !top && (scope.data.name.is_none() || scope.data.temporary);
                if c.data.temporary && outer_temporary {
                    return;
                }
                let full = if top {
                    own
                } else {
                    let outer = self.class_name(scope);
                    [outer.as_bytes(), &b"::"[..], &own].concat()
                };
                self.heap.edit(c).data.temporary = outer_temporary;
                self.heap.edit(c).data.name = Some(full.into());
                if !outer_temporary {
                    self.name_nested(c);
                }
            }
        }
    }
    /// A class got its permanent name: so do the ones nested in it that had none.
    fn name_nested(&mut self, c: Gc<ClassObj>) {
        let nested: Vec<(Sym, Value)> = c.data.consts.iter().map(|(s, k)| (*s, k.value)).collect();
        for (s, v) in nested {
            if let Some(n) = v.as_class() {
                if n != c && (n.data.name.is_none() || n.data.temporary) {
                    self.set_const(c, s, v);
                }
            }
        }
    }
    /// Invalidates cached lookups of that name.
    pub fn const_changed(&mut self, name: Sym) {
        self.const_epoch(name).fetch_add(1, Release);
    }
    /// Finds the constant in `class` and its ancestors (and Object for modules when `object`): owner and entry.
    pub fn find_const(&self, class: Gc<ClassObj>, name: Sym, object: bool) -> Option<(Gc<ClassObj>, Const)> {
        let _classes = self.lock_classes();
        let look = |c: &Gc<ClassObj>| c.data.consts.get(&name).map(|k| (*c, k.clone()));
        class
            .data
            .mro
            .iter()
            .find_map(look)
            .or_else(|| if object && class.role == Role::Module { self.k.object.data.mro.iter().find_map(look) } else { None })
    }
    /// A constant by path from Object (`"Encoding::UTF_8"`), for native code.
    pub fn const_path(&mut self, path: &str) -> Option<Value> {
        self.const_path_by(path, |cx, name| cx.syms.find(name.as_bytes()))
    }
    /// The same for a path in the runtime's own texts.
    pub fn own_path(&mut self, path: &str) -> Option<Value> {
        self.const_path_by(path, |cx, name| Some(cx.own_const(name)))
    }
    /// What a constant's name in the runtime's own texts stands for.
    pub(crate) fn own_const(&mut self, name: &str) -> Sym {
        self.syms.intern(if name == kumi_bytecode::HELPERS { kumi_bytecode::HELPERS_KEY } else { name }.as_bytes())
    }
    fn const_path_by(&mut self, path: &str, key: fn(&mut Cx, &str) -> Option<Sym>) -> Option<Value> {
        let _classes = self.lock_classes();
        let mut at = self.k.object;
        let mut v = Value::NIL;
        let mut rest = Some(path);
        while let Some(path) = rest {
            let part;
            (part, rest) = split_scope(path);
            let s = key(self, part)?;
            v = at.data.consts.get(&s)?.value;
            if let Some(c) = v.as_class() {
                at = c;
            }
        }
        Some(v)
    }
}

/// `A` and `B::C` of `A::B::C`. Start-up asks a thousand times: `split` sets up more than these paths are long.
fn split_scope(path: &str) -> (&str, Option<&str>) {
    match path.as_bytes().windows(2).position(|w| w == b"::") {
        Some(i) => (&path[..i], Some(&path[i + 2..])),
        None => (path, None),
    }
}
