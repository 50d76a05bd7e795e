//! The built-in classes and modules that the runtime itself names, in one table, and how they are made at boot.
//!
//! **Invariant.** A class stands in the table after its superclass. Only `Known::boot` reads it, once for each runtime.

use crate::Cx;
use kumi_bytecode::{HELPERS, HELPERS_KEY};
use kumi_heap::{ClassObj, Gc, Instance};

macro_rules! classes {
    ($none:ident; $($field:ident $name:literal : $sup:ident $inst:ident),* $(,)? ; modules $($mf:ident $mn:literal),* $(,)?) => {
        /// The built-in classes and modules.
        pub struct Known {
            $(#[doc = concat!("`", $name, "`")] pub $field: Gc<ClassObj>,)*
            $(#[doc = concat!("`", $mn, "`")] pub $mf: Gc<ClassObj>,)*
        }
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
                    let c = *c;
                    c.hdr.set_class(class_class);
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
    ractor_moved "Ractor::MovedObject": basic_object Object,
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

impl Cx {
    fn name_boot_classes(&mut self, object: Gc<ClassObj>, made: &[(&str, Gc<ClassObj>)]) {
        for (full, c) in made {
            let c = *c;
            self.heap.edit(c).data.name = Some(full.as_bytes().into());
        }
        for (full, c) in made {
            let (scope, last) = match full.rsplit_once("::") {
                // Scopes that are created later (Thread::Backtrace) are made here.
                Some((p, l)) => (self.boot_scope(object, made, p), l),
                None => (object, *full),
            };
            let s = self.syms.intern(if *full == HELPERS { HELPERS_KEY } else { last }.as_bytes());
            self.put_const(scope, s, c.val());
        }
    }
    fn boot_scope(&mut self, object: Gc<ClassObj>, made: &[(&str, Gc<ClassObj>)], path: &str) -> Gc<ClassObj> {
        if let Some(p) = made.iter().find(|p| p.0 == path) {
            return p.1;
        }
        let (outer, last) = match path.rsplit_once("::") {
            Some((p, l)) => (self.boot_scope(object, made, p), l),
            None => (object, path),
        };
        let s = self.syms.intern(last.as_bytes());
        if let Some(c) = outer.data.consts.get(&s) {
            if let Some(c) = c.value.as_class() {
                return c;
            }
        }
        let c = self.raw_class(Some(object), Instance::None);
        c.hdr.set_class(made[0].1.hdr.class());
        self.heap.edit(c).data.name = Some(path.as_bytes().into());
        self.put_const(outer, s, c.val());
        c
    }
}
