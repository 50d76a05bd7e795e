//! Classes and modules come into being, singleton classes included; the class of a value.
//!
//! **Invariant.** Every class has a singleton class, whose superclass is its superclass's singleton class: so class methods
//! are inherited. Other objects get theirs when first asked for.

use crate::Cx;
use kumi_heap::{ClassData, ClassObj, Gc, Instance, Role, Value};

impl Cx {
    pub(super) fn raw_class(&mut self, sup: Option<Gc<ClassObj>>, inst: Instance) -> Gc<ClassObj> {
        let c = self.heap.class(Value::FALSE, Role::Class, ClassData::new(sup, inst));
        self.link_class(c);
        c
    }
    pub(super) fn raw_module(&mut self, meta: Value) -> Gc<ClassObj> {
        let c = self.heap.class(meta, Role::Module, ClassData::new(None, Instance::None));
        self.link_class(c);
        c
    }
    /// A class below `sup`, with a singleton class as CRuby gives it (class methods are inherited through it).
    pub fn new_class(&mut self, sup: Gc<ClassObj>) -> Gc<ClassObj> {
        let inst = sup.data.instance;
        let c = self.heap.class(self.k.class.val(), Role::Class, ClassData::new(Some(sup), inst));
        c.slots.set(sup.slots.get());
        self.link_class(c);
        // Class methods are inherited along singleton classes, so every class has one.
        self.singleton_class_of(c.val());
        c
    }
    /// Gives every class made so far its singleton class.
    pub(crate) fn boot_singletons(&mut self) {
        let mut all = vec![self.k.basic_object];
        let mut i = 0;
        while i < all.len() {
            let c = all[i];
            all.extend(c.data.dependents.iter().filter(|d| d.role == Role::Class).copied());
            self.singleton_class_of(c.val());
            i += 1;
        }
        // Class itself had no singleton class when the first ones were made.
        let meta = self.k.class.hdr.class();
        for c in all {
            if let Some(s) = c.hdr.class().as_class() {
                s.hdr.set_class(meta);
            }
        }
    }
    /// A module without a name.
    pub fn new_module(&mut self) -> Gc<ClassObj> {
        let c = self.heap.class(self.k.module.val(), Role::Module, ClassData::new(None, Instance::None));
        self.link_class(c);
        c
    }
    /// Defines (or finds) a class named `name` in `scope`, for native set-up code.
    pub fn define_class(&mut self, scope: Gc<ClassObj>, name: &str, sup: Gc<ClassObj>) -> Gc<ClassObj> {
        let _classes = self.lock_classes();
        let s = self.syms.intern(name.as_bytes());
        if let Some(c) = scope.data.consts.get(&s).and_then(|c| c.value.as_class()) {
            return c;
        }
        let c = self.new_class(sup);
        self.set_const(scope, s, c.val());
        c
    }
    /// Defines (or finds) a module named `name` in `scope`, for native set-up code.
    pub fn define_module(&mut self, scope: Gc<ClassObj>, name: &str) -> Gc<ClassObj> {
        let _classes = self.lock_classes();
        let s = self.syms.intern(name.as_bytes());
        if let Some(c) = scope.data.consts.get(&s).and_then(|c| c.value.as_class()) {
            return c;
        }
        let c = self.new_module();
        self.set_const(scope, s, c.val());
        c
    }
    /// The singleton class of `v`, made when missing. `None` for values that cannot have one.
    pub fn singleton_class(&mut self, v: Value) -> Option<Gc<ClassObj>> {
        match v {
            Value::NIL => Some(self.k.nil),
            Value::TRUE => Some(self.k.true_class),
            Value::FALSE => Some(self.k.false_class),
            _ if !v.is_heap() => None,
            _ if matches!(v.kind(), Some(kumi_heap::Kind::Float | kumi_heap::Kind::Big)) => None,
            _ if v.as_str().is_some_and(|s| self.is_fstring(s)) => None,
            _ => Some(self.singleton_class_of(v)),
        }
    }
    fn singleton_class_of(&mut self, v: Value) -> Gc<ClassObj> {
        let _classes = self.lock_classes();
        let Some(h) = v.header_mut() else { return self.k.object };
        if let Some(c) = h.class().as_class() {
            if c.is_singleton() && c.data.attached == v {
                return c;
            }
        }
        let cur = h.class();
        let sup = match v.as_class() {
            Some(c) if c.role != Role::Module => match c.data.superclass {
                // The singleton class of a class inherits from its superclass's singleton class.
                Some(s) => self.singleton_class_of(s.val()),
                None => self.k.class,
            },
            _ => cur.as_class().unwrap_or(self.k.object),
        };
        // Until it has one of its own, it answers to what its superclass's singleton class offers.
        let meta = sup.hdr.class();
        let inst = sup.data.instance;
        let mut d = ClassData::new(Some(sup), inst);
        // Classes are everybody's, and this one refers to its object.
        self.heap.publish(v);
        d.attached = v;
        let s = self.heap.class(meta, Role::Singleton, d);
        s.slots.set(sup.slots.get());
        if h.has(kumi_heap::flag::FROZEN) {
            s.hdr.set(kumi_heap::flag::FROZEN);
        }
        self.heap.before_store(v, s.val());
        // Linked before others can find it.
        self.link_class(s);
        h.set_class(s.val());
        h.set(kumi_heap::flag::SINGLETON);
        // Subclasses made earlier inherit its methods from now on: each gets one of its own.
        if let Some(c) = v.as_class().filter(|c| c.role == Role::Class) {
            for d in c.data.dependents.clone() {
                if d.role == Role::Class && d.data.superclass == Some(c) {
                    self.singleton_class_of(d.val());
                }
            }
        }
        s
    }
    /// Class of a value, singleton classes included: where method lookup starts.
    #[inline(always)]
    pub fn class_of(&self, v: Value) -> Gc<ClassObj> {
        if v.is_heap() {
            // SAFETY: the class word of an ordinary cell is a class cell.
            return unsafe { v.header().unwrap_unchecked().class().cell_unchecked() };
        }
        if v.is_fix() {
            return self.k.integer;
        }
        if v.is_flo() {
            return self.k.float;
        }
        match v {
            Value::NIL => self.k.nil,
            Value::TRUE => self.k.true_class,
            Value::FALSE => self.k.false_class,
            _ if v.is_sym() => self.k.symbol,
            _ => self.k.basic_object,
        }
    }
    /// `Object#class`: without singleton classes.
    pub fn real_class(&self, v: Value) -> Gc<ClassObj> {
        let mut c = self.class_of(v);
        while c.is_singleton() {
            c = c.data.superclass.unwrap_or(self.k.object);
        }
        c
    }
    /// `v.is_a?(class)`
    #[inline]
    pub fn is_a(&self, v: Value, class: Gc<ClassObj>) -> bool {
        let c = self.class_of(v);
        c == class || c.inherits(class)
    }
}
