//! Classes, method lookup, constants and globals of one runtime.
//!
//! Invariant: a class's `serial` changes whenever the answer of any method lookup
//! that starts there may change; inline caches and the method cache compare it.

use crate::Cx;
use crate::method::{Body, Method};
use crate::native::{Guard, NativeFn, Vis};
use crate::symbols::sym;
use kumi_heap::{ClassData, ClassObj, Const, Gc, Instance, Role, Sym, Value};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Arc, OnceLock};

macro_rules! classes {
    ($none:ident; $($field:ident $name:literal : $sup:ident $inst:ident),* $(,)? ; modules $($mf:ident $mn:literal),* $(,)?) => {
        /// The built-in classes and modules.
        pub struct Known { $(pub $field: Gc<ClassObj>,)* $(pub $mf: Gc<ClassObj>,)* }
        impl Known {
            /// Stands where `boot`'s result will be; its pointers are never followed.
            pub(crate) fn placeholder() -> Box<Known> {
                let p = dangling();
                Box::new(Known { $($field: p,)* $($mf: p,)* })
            }
            pub(crate) fn boot(w: &mut Cx) -> Known {
                let basic = w.raw_class(None, Instance::Object);
                let $none = basic;
                let mut made: Vec<(&str, Gc<ClassObj>)> = Vec::new();
                $(
                    let $field = if stringify!($field) == "basic_object" { basic } else {
                        let s: Gc<ClassObj> = $sup;
                        w.raw_class(Some(s), Instance::$inst)
                    };
                    made.push(($name, $field));
                )*
                let (object, module, class) = (made[1].1, made[2].1, made[3].1);
                let class_class = class.val();
                for (_, c) in &made {
                    let mut c = *c;
                    c.hdr.class = class_class;
                }
                $( let $mf = { let m = w.raw_module(module.val()); made.push(($mn, m)); m }; )*
                w.name_boot_classes(object, &made);
                Known { $($field,)* $($mf,)* }
            }
            pub(crate) fn trace(&self, m: &mut kumi_heap::Marker) {
                $(m.mark(self.$field.val());)*
                $(m.mark(self.$mf.val());)*
            }
        }
    };
}

classes! {
    none;
    basic_object "BasicObject": none Object,
    object "Object": basic_object Object,
    module "Module": object Module,
    class "Class": module Class,
    refinement "Refinement": module None,
    nil "NilClass": object None,
    true_class "TrueClass": object None,
    false_class "FalseClass": object None,
    numeric "Numeric": object Object,
    integer "Integer": numeric None,
    float "Float": numeric None,
    rational "Rational": numeric None,
    complex "Complex": numeric None,
    string "String": object Str,
    symbol "Symbol": object None,
    array "Array": object Array,
    hash "Hash": object Hash,
    range "Range": object Object,
    proc_class "Proc": object None,
    method "Method": object None,
    unbound_method "UnboundMethod": object None,
    binding "Binding": object None,
    regexp "Regexp": object Data,
    match_data "MatchData": object None,
    struct_class "Struct": object Struct0,
    data "Data": object Struct0,
    set "Set": object Object,
    encoding "Encoding": object None,
    time "Time": object Data,
    io "IO": object Data,
    file "File": io Data,
    file_stat "File::Stat": object Data,
    dir "Dir": object Data,
    random_base "Random::Base": object Data,
    random "Random": random_base Data,
    thread "Thread": object None,
    mutex "Thread::Mutex": object Data,
    queue "Thread::Queue": object Data,
    sized_queue "Thread::SizedQueue": queue Data,
    condvar "Thread::ConditionVariable": object Data,
    monitor "Monitor": object Data,
    ractor "Ractor": object Object,
    ractor_port "Ractor::Port": object Object,
    location "Thread::Backtrace::Location": object Object,
    thread_group "ThreadGroup": object Object,
    fiber "Fiber": object Data,
    enumerator "Enumerator": object Object,
    lazy "Enumerator::Lazy": enumerator Object,
    yielder "Enumerator::Yielder": object Object,
    generator "Enumerator::Generator": object Object,
    chain "Enumerator::Chain": enumerator Object,
    product "Enumerator::Product": enumerator Object,
    arith_seq "Enumerator::ArithmeticSequence": enumerator None,
    producer "Enumerator::Producer": object Object,
    weak_map "ObjectSpace::WeakMap": object Data,
    weak_key_map "ObjectSpace::WeakKeyMap": object Data,
    process_status "Process::Status": object None,
    exception "Exception": object Object,
    no_memory_error "NoMemoryError": exception Object,
    script_error "ScriptError": exception Object,
    load_error "LoadError": script_error Object,
    not_implemented_error "NotImplementedError": script_error Object,
    syntax_error "SyntaxError": script_error Object,
    security_error "SecurityError": exception Object,
    signal_exception "SignalException": exception Object,
    interrupt "Interrupt": signal_exception Object,
    system_exit "SystemExit": exception Object,
    system_stack_error "SystemStackError": exception Object,
    standard_error "StandardError": exception Object,
    argument_error "ArgumentError": standard_error Object,
    uncaught_throw_error "UncaughtThrowError": argument_error Object,
    encoding_error "EncodingError": standard_error Object,
    compatibility_error "Encoding::CompatibilityError": encoding_error Object,
    undefined_conversion_error "Encoding::UndefinedConversionError": encoding_error Object,
    invalid_byte_sequence_error "Encoding::InvalidByteSequenceError": encoding_error Object,
    converter_not_found_error "Encoding::ConverterNotFoundError": encoding_error Object,
    fiber_error "FiberError": standard_error Object,
    io_error "IOError": standard_error Object,
    eof_error "EOFError": io_error Object,
    index_error "IndexError": standard_error Object,
    key_error "KeyError": index_error Object,
    stop_iteration "StopIteration": index_error Object,
    closed_queue_error "ClosedQueueError": stop_iteration Object,
    local_jump_error "LocalJumpError": standard_error Object,
    name_error "NameError": standard_error Object,
    no_method_error "NoMethodError": name_error Object,
    range_error "RangeError": standard_error Object,
    float_domain_error "FloatDomainError": range_error Object,
    regexp_error "RegexpError": standard_error Object,
    regexp_timeout_error "Regexp::TimeoutError": regexp_error Object,
    runtime_error "RuntimeError": standard_error Object,
    frozen_error "FrozenError": runtime_error Object,
    system_call_error "SystemCallError": standard_error Object,
    thread_error "ThreadError": standard_error Object,
    type_error "TypeError": standard_error Object,
    zero_division_error "ZeroDivisionError": standard_error Object,
    no_matching_pattern_error "NoMatchingPatternError": standard_error Object,
    no_matching_pattern_key_error "NoMatchingPatternKeyError": no_matching_pattern_error Object,
    ;
    modules
    kernel "Kernel", comparable "Comparable", enumerable "Enumerable", math "Math", gc "GC", objspace "ObjectSpace",
    process "Process", signal "Signal", marshal "Marshal", errno "Errno", file_test "FileTest", warning "Warning",
    file_constants "File::Constants", random_formatter "Random::Formatter", ruby_vm "RubyVM", helpers "KumiSys",
}

#[allow(non_upper_case_globals)]
trait Struct0 {
    const Struct0: Instance = Instance::Struct(0);
}
impl Struct0 for Instance {}

fn dangling() -> Gc<ClassObj> {
    // SAFETY: a non-null aligned word; `Known::boot` replaces it before anything looks at it.
    unsafe { std::mem::transmute::<usize, Gc<ClassObj>>(64) }
}

/// One entry of the global method cache.
#[derive(Clone, Copy)]
pub(crate) struct CacheEntry {
    serial: u32,
    mid: u32,
    method: u32,
}

pub(crate) const CACHE_SIZE: usize = 4096;
/// No such method.
pub const NO_METHOD: u32 = u32::MAX;

pub(crate) fn empty_cache() -> Box<[CacheEntry]> {
    vec![CacheEntry { serial: 0, mid: 0, method: NO_METHOD }; CACHE_SIZE].into_boxed_slice()
}

/// A global variable.
#[derive(Default)]
pub struct Global {
    /// The value's bits, such that zero is nil.
    value: AtomicU64,
    defined: AtomicBool,
    /// Hooked: reads and writes call these natives (recv nil; args: name symbol, value). Set once.
    hooks: OnceLock<(Option<NativeFn>, Option<NativeFn>)>,
}

impl Global {
    pub fn value(&self) -> Value {
        Value::from_bits(self.value.load(Acquire) ^ Value::NIL.bits())
    }
    /// Sets it to a published value.
    pub(crate) fn set(&self, v: Value) {
        self.value.store(v.bits() ^ Value::NIL.bits(), Release);
        self.defined.store(true, Relaxed);
    }
    pub fn defined(&self) -> bool {
        self.defined.load(Relaxed)
    }
    pub fn hooks(&self) -> (Option<NativeFn>, Option<NativeFn>) {
        self.hooks.get().copied().unwrap_or((None, None))
    }
    fn hook(&self, get: Option<NativeFn>, set: Option<NativeFn>) {
        let _ = self.hooks.set((get, set));
        self.defined.store(true, Relaxed);
    }
}

impl Cx {
    fn raw_class(&mut self, sup: Option<Gc<ClassObj>>, inst: Instance) -> Gc<ClassObj> {
        let c = self.heap.class(Value::FALSE, Role::Class, ClassData::new(sup, inst));
        self.link_class(c);
        c
    }
    fn raw_module(&mut self, meta: Value) -> Gc<ClassObj> {
        let c = self.heap.class(meta, Role::Module, ClassData::new(None, Instance::None));
        self.link_class(c);
        c
    }

    fn name_boot_classes(&mut self, object: Gc<ClassObj>, made: &[(&str, Gc<ClassObj>)]) {
        for (full, c) in made {
            let mut c = *c;
            c.data.name = Some(full.as_bytes().into());
        }
        for (full, c) in made {
            let (mut scope, last) = match full.rsplit_once("::") {
                // Scopes that are created later (Thread::Backtrace) are made here.
                Some((p, l)) => (self.boot_scope(object, made, p), l),
                None => (object, *full),
            };
            let s = self.syms.intern(last.as_bytes());
            {
                Self::put_const(&mut scope, s, c.val());
            }
        }
    }
    fn boot_scope(&mut self, object: Gc<ClassObj>, made: &[(&str, Gc<ClassObj>)], path: &str) -> Gc<ClassObj> {
        if let Some(p) = made.iter().find(|p| p.0 == path) {
            return p.1;
        }
        let (mut outer, last) = match path.rsplit_once("::") {
            Some((p, l)) => (self.boot_scope(object, made, p), l),
            None => (object, path),
        };
        let s = self.syms.intern(last.as_bytes());
        if let Some(c) = outer.data.consts.get(&s) {
            if let Some(c) = c.value.as_class() {
                return c;
            }
        }
        let mut c = self.raw_class(Some(object), Instance::None);
        c.hdr.class = made[0].1.hdr.class;
        c.data.name = Some(path.as_bytes().into());
        Self::put_const(&mut outer, s, c.val());
        c
    }
    fn put_const(scope: &mut Gc<ClassObj>, s: Sym, value: Value) {
        let d = &mut scope.data;
        let (autoload, loading) = match d.consts.get_mut(&s) {
            Some(k) if k.loading != 0 => (k.autoload.take(), k.loading),
            _ => (None, 0),
        };
        if d.consts.insert(s, Const { value, autoload, loading, private: false, deprecated: false, file: None, line: 0 }).is_none() {
            d.const_order.push(s);
        }
    }

    // --- making classes ------------------------------------------------------

    /// A class below `sup`, with a singleton class as CRuby gives it (class methods are inherited through it).
    pub fn new_class(&mut self, sup: Gc<ClassObj>) -> Gc<ClassObj> {
        let inst = sup.data.instance;
        let mut c = self.heap.class(self.k.class.val(), Role::Class, ClassData::new(Some(sup), inst));
        c.slots = sup.slots;
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
        let meta = self.k.class.hdr.class;
        for c in all {
            if let Some(mut s) = c.hdr.class.as_class() {
                s.hdr.class = meta;
            }
        }
    }
    pub fn new_module(&mut self) -> Gc<ClassObj> {
        let c = self.heap.class(self.k.module.val(), Role::Module, ClassData::new(None, Instance::None));
        self.link_class(c);
        c
    }
    /// Defines (or finds) a class named `name` in `scope`, for native set-up code.
    pub fn define_class(&mut self, scope: Gc<ClassObj>, name: &str, sup: Gc<ClassObj>) -> Gc<ClassObj> {
        let _classes = self.lock_classes();
        let s = self.intern(name);
        if let Some(c) = scope.data.consts.get(&s).and_then(|c| c.value.as_class()) {
            return c;
        }
        let c = self.new_class(sup);
        self.set_const(scope, s, c.val());
        c
    }
    pub fn define_module(&mut self, scope: Gc<ClassObj>, name: &str) -> Gc<ClassObj> {
        let _classes = self.lock_classes();
        let s = self.intern(name);
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
            _ => Some(self.singleton_class_of(v)),
        }
    }
    fn singleton_class_of(&mut self, v: Value) -> Gc<ClassObj> {
        let _classes = self.lock_classes();
        let Some(mut h) = v.header_mut() else { return self.k.object };
        if let Some(c) = h.class.as_class() {
            if c.is_singleton() && c.data.attached == v {
                return c;
            }
        }
        let cur = h.class;
        let sup = match v.as_class() {
            Some(c) if c.role != Role::Module => match c.data.superclass {
                // The singleton class of a class inherits from its superclass's singleton class.
                Some(s) => self.singleton_class_of(s.val()),
                None => self.k.class,
            },
            _ => cur.as_class().unwrap_or(self.k.object),
        };
        // Until it has one of its own, it answers to what its superclass's singleton class offers.
        let meta = sup.hdr.class;
        let inst = sup.data.instance;
        let mut d = ClassData::new(Some(sup), inst);
        // Classes are everybody's, and this one refers to its object.
        self.heap.publish(v);
        d.attached = v;
        let mut s = self.heap.class(meta, Role::Singleton, d);
        s.slots = sup.slots;
        if h.has(kumi_heap::flag::FROZEN) {
            s.hdr.set(kumi_heap::flag::FROZEN);
        }
        self.heap.before_store(v, s.val());
        h.class = s.val();
        h.set(kumi_heap::flag::SINGLETON);
        self.link_class(s);
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
            return unsafe { v.header().unwrap_unchecked().class.cell_unchecked() };
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

    // --- resolution order ------------------------------------------------------

    /// Computes the mro of a new class and registers it with its parents.
    fn link_class(&mut self, c: Gc<ClassObj>) {
        let _classes = self.lock_classes();
        let mut c = c;
        if let Some(mut s) = c.data.superclass {
            s.data.dependents.push(c);
        }
        self.order(c);
        c.serial = self.next_serial();
    }
    /// Sets the method resolution order of `c`.
    fn order(&mut self, c: Gc<ClassObj>) {
        let mro = Self::linearise(c);
        for m in &mro {
            self.heap.before_store(c.val(), m.val());
        }
        c.data.mro.set(mro);
    }
    fn next_serial(&mut self) -> u32 {
        self.serial.fetch_add(1, Relaxed) + 1
    }
    fn linearise(c: Gc<ClassObj>) -> Vec<Gc<ClassObj>> {
        let upper: Vec<Gc<ClassObj>> = c.data.superclass.map(|s| s.data.mro.clone()).unwrap_or_default();
        let mut out: Vec<Gc<ClassObj>> = Vec::with_capacity(upper.len() + 4);
        for p in c.data.prepends.iter().rev() {
            for m in p.data.mro.iter() {
                if !out.contains(m) {
                    out.push(*m);
                }
            }
        }
        out.push(c);
        for i in c.data.includes.iter().rev() {
            for m in i.data.mro.iter() {
                if !out.contains(m) && !upper.contains(m) {
                    out.push(*m);
                }
            }
        }
        out.extend(upper);
        out
    }
    /// After an include, prepend or superclass change: new mro and serials for `c` and all that depend on it.
    pub fn relink(&mut self, c: Gc<ClassObj>) {
        let _classes = self.lock_classes();
        let mut c = c;
        self.order(c);
        c.serial = self.next_serial();
        for d in c.data.dependents.clone() {
            if d != c {
                self.relink(d);
            }
        }
    }
    /// After a method change in `c`: fresh serials for it and all that inherit from it.
    pub fn touch(&mut self, c: Gc<ClassObj>) {
        let _classes = self.lock_classes();
        let mut c = c;
        c.serial = self.next_serial();
        for d in c.data.dependents.clone() {
            if d != c {
                self.touch(d);
            }
        }
    }
    /// `c.include(m)` without hooks.
    pub fn include_module(&mut self, c: Gc<ClassObj>, m: Gc<ClassObj>) {
        let _classes = self.lock_classes();
        let (mut c, mut m) = (c, m);
        if c.data.includes.contains(&m) {
            return;
        }
        self.heap.before_store(c.val(), m.val());
        c.data.includes.push(m);
        m.data.dependents.push(c);
        self.relink(c);
        self.consts_moved(m);
    }
    /// A module was mixed in somewhere: its constants may now be what a cached lookup should find.
    fn consts_moved(&mut self, m: Gc<ClassObj>) {
        for a in m.data.mro.clone() {
            for name in a.data.const_order.clone() {
                self.const_changed(name);
            }
        }
    }
    /// `c.prepend(m)` without hooks.
    pub fn prepend_module(&mut self, c: Gc<ClassObj>, m: Gc<ClassObj>) {
        let _classes = self.lock_classes();
        let (mut c, mut m) = (c, m);
        if c.data.prepends.contains(&m) {
            return;
        }
        self.heap.before_store(c.val(), m.val());
        c.data.prepends.push(m);
        m.data.dependents.push(c);
        self.relink(c);
        self.consts_moved(m);
        if self.booted {
            self.check_basic_ops(c, None);
        }
    }

    // --- methods ---------------------------------------------------------------

    /// Adds a method entry to `class` without hooks.
    pub fn add_method(&mut self, class: Gc<ClassObj>, mid: Sym, m: Method) -> u32 {
        let _classes = self.lock_classes();
        let mut class = class;
        if let Body::Proc(p) = m.body {
            self.heap.publish(p);
        }
        let user = !m.builtin;
        let i = self.methods.push(m) as u32;
        if class.data.methods.insert(mid, i).is_none() {
            class.data.method_order.push(mid);
        }
        self.touch(class);
        if user && self.booted {
            self.check_basic_ops(class, Some(mid));
        }
        i
    }
    /// A user changed `class`: if that may redefine an operator the loop has built in, take the fast paths back.
    fn check_basic_ops(&mut self, class: Gc<ClassObj>, mid: Option<Sym>) {
        let k = &self.k;
        let basic = [
            k.integer,
            k.float,
            k.string,
            k.array,
            k.hash,
            k.symbol,
            k.nil,
            k.true_class,
            k.false_class,
            k.numeric,
            k.comparable,
            k.object,
            k.kernel,
            k.basic_object,
        ];
        if !basic.contains(&class) {
            return;
        }
        let op = mid.is_none_or(|m| {
            matches!(
                self.syms.name(m),
                b"+" | b"-"
                    | b"*"
                    | b"/"
                    | b"%"
                    | b"<"
                    | b"<="
                    | b">"
                    | b">="
                    | b"=="
                    | b"!="
                    | b"!"
                    | b"<<"
                    | b">>"
                    | b"&"
                    | b"|"
                    | b"^"
                    | b"-@"
                    | b"[]"
                    | b"[]="
                    | b"==="
            )
        });
        // Definitions further up (Comparable, Object) do not shadow the built-in entries.
        let direct = [k.integer, k.float, k.string, k.array, k.hash, k.symbol, k.nil, k.true_class, k.false_class].contains(&class);
        if op && (direct || mid == Some(sym::NOT) || mid.is_none()) {
            self.ops_redefined.store(true, Relaxed);
            self.dequicken_all();
        }
    }

    /// Index of the method `mid` found from `class`, `NO_METHOD` when there is none or it is undefined.
    #[inline]
    pub fn find_method(&mut self, class: Gc<ClassObj>, mid: Sym) -> u32 {
        let slot = (class.serial.wrapping_mul(0x9e37_79b1) ^ mid.0.wrapping_mul(0x85eb_ca6b)) as usize % CACHE_SIZE;
        let e = self.cache[slot];
        if e.serial == class.serial && e.mid == mid.0 {
            return e.method;
        }
        let _classes = self.lock_classes();
        let method = self.search(&class.data.mro, mid);
        self.cache[slot] = CacheEntry { serial: class.serial, mid: mid.0, method };
        method
    }
    fn search(&self, mro: &[Gc<ClassObj>], mid: Sym) -> u32 {
        for c in mro {
            if let Some(&i) = c.data.methods.get(&mid) {
                match self.methods[i as usize].body {
                    Body::Undef => return NO_METHOD,
                    Body::Zsuper => return self.resolve_zsuper(mro, *c, mid, i),
                    _ => return i,
                }
            }
        }
        NO_METHOD
    }
    /// A visibility-only entry is found as it is; the call looks further up with [`Cx::next_method`].
    fn resolve_zsuper(&self, mro: &[Gc<ClassObj>], at: Gc<ClassObj>, mid: Sym, i: u32) -> u32 {
        let rest = mro.iter().position(|c| *c == at).map_or(&[][..], |p| &mro[p + 1..]);
        if self.search(rest, mid) == NO_METHOD { NO_METHOD } else { i }
    }
    /// The method `super` finds: after `owner` in the order of `class`.
    pub fn next_method(&mut self, class: Gc<ClassObj>, owner: Gc<ClassObj>, mid: Sym) -> u32 {
        let _classes = self.lock_classes();
        let mro = class.data.mro.clone();
        match mro.iter().position(|c| *c == owner) {
            Some(p) => self.search(&mro[p + 1..], mid),
            None => NO_METHOD,
        }
    }
    /// Method `mid` of `class` looked up from `at` on (inclusive).
    pub(crate) fn search_from(&mut self, class: Gc<ClassObj>, at: Gc<ClassObj>, mid: Sym) -> u32 {
        let mro = class.data.mro.clone();
        let Some(p) = mro.iter().position(|c| *c == at) else { return NO_METHOD };
        for c in &mro[p..] {
            if let Some(&m) = c.data.methods.get(&mid) {
                return if matches!(self.methods[m as usize].body, Body::Undef) { NO_METHOD } else { m };
            }
        }
        NO_METHOD
    }
    /// Follows visibility-only entries to the code.
    pub fn real_method(&mut self, class: Gc<ClassObj>, i: u32) -> u32 {
        let mut i = i;
        while i != NO_METHOD && matches!(self.methods[i as usize].body, Body::Zsuper) {
            let (o, n) = (self.methods[i as usize].owner, self.methods[i as usize].called);
            i = self.next_method(class, o, n);
        }
        i
    }
    /// Would `v.mid` run the runtime's own definition?
    #[inline]
    pub fn builtin(&mut self, v: Value, mid: Sym) -> bool {
        let c = self.class_of(v);
        let m = self.find_method(c, mid);
        m != NO_METHOD && self.methods[m as usize].builtin
    }
    /// Does `v` have a method `mid` (any visibility)?
    pub fn has_method(&mut self, v: Value, mid: Sym) -> bool {
        let c = self.class_of(v);
        self.find_method(c, mid) != NO_METHOD
    }
    /// The entry at `i`.
    #[inline(always)]
    pub fn method(&self, i: u32) -> &Method {
        &self.methods[i as usize]
    }
    /// A method that runs bytecode.
    pub fn code_method(&mut self, owner: Gc<ClassObj>, name: Sym, iseq: Arc<crate::ISeq>, cref: Value, vis: Vis) -> Method {
        Method {
            native: None,
            guard: Guard::None,
            min: 0,
            max: -1,
            vis,
            builtin: iseq.system,
            ruby2_keywords: false,
            body: Body::Code(iseq),
            cref,
            owner,
            name,
            called: name,
            forced: Default::default(),
        }
    }

    // --- constants ---------------------------------------------------------------

    /// Sets a constant, naming an anonymous class or module by it.
    pub fn set_const(&mut self, scope: Gc<ClassObj>, name: Sym, value: Value) {
        let _classes = self.lock_classes();
        let mut scope = scope;
        self.heap.publish(value);
        Self::put_const(&mut scope, name, value);
        self.const_changed(name);
        if let Some(mut c) = value.as_class() {
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
                c.data.temporary = outer_temporary;
                c.data.name = Some(full.into());
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
        let _classes = self.lock_classes();
        let mut at = self.k.object;
        let mut v = Value::NIL;
        for part in path.split("::") {
            let s = self.intern(part);
            v = at.data.consts.get(&s)?.value;
            if let Some(c) = v.as_class() {
                at = c;
            }
        }
        Some(v)
    }

    // --- globals -------------------------------------------------------------------

    /// Index of a global variable, made when missing.
    pub fn global_index(&mut self, name: Sym) -> usize {
        if let Some(&i) = self.global_ids.read().unwrap_or_else(|e| e.into_inner()).get(&name) {
            return i;
        }
        let mut ids = self.global_ids.write().unwrap_or_else(|e| e.into_inner());
        *ids.entry(name).or_insert_with(|| self.globals.push(Global::default()))
    }
    /// Sets a plain global from native code.
    pub fn set_global(&mut self, name: &str, v: Value) {
        let s = self.intern(name);
        let i = self.global_index(s);
        self.heap.publish(v);
        self.globals[i].set(v);
    }
    /// The value that Ruby code sees: hooks are asked.
    pub fn get_global(&mut self, name: &str) -> Value {
        let s = self.intern(name);
        let i = self.global_index(s);
        match self.globals[i].hooks().0 {
            Some(f) => f(self, Value::NIL, &[Value::sym(s)]).unwrap_or(Value::NIL),
            None => self.globals[i].value(),
        }
    }
    /// A global whose reads and writes are natives (arguments: name symbol, value).
    pub fn hook_global(&mut self, name: &str, get: Option<NativeFn>, set: Option<NativeFn>) {
        let s = self.intern(name);
        let i = self.global_index(s);
        self.globals[i].hook(get, set);
    }
    /// `alias $new $old`: both names mean one variable.
    #[inline(never)]
    pub fn alias_global(&mut self, new: Sym, old: Sym) {
        let i = self.global_index(old);
        self.global_ids.write().unwrap_or_else(|e| e.into_inner()).insert(new, i);
    }
}
