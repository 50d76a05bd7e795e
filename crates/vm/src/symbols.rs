//! Interned names. The first ones are constants, so that Rust code can name them.

use crate::stable::StableVec;
use kumi_heap::Sym;
use rustc_hash::FxHashMap;
use std::sync::RwLock;

macro_rules! known {
    ($($name:ident $text:literal),* $(,)?) => {
        /// Symbols the runtime itself uses, in id order.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u32)]
        enum Known { $($name),* }
        /// Names of well-known symbols.
        pub mod sym {
            use super::{Known, Sym};
            $(pub const $name: Sym = Sym(Known::$name as u32);)*
        }
        const KNOWN: &[&str] = &[$($text),*];
    };
}

known! {
    EMPTY "", INITIALIZE "initialize", INITIALIZE_COPY "initialize_copy", INITIALIZE_CLONE "initialize_clone",
    INITIALIZE_DUP "initialize_dup", NEW "new", ALLOCATE "allocate", CALL "call", YIELD "yield", EACH "each", TO_S "to_s", INSPECT "inspect",
    TO_A "to_a", TO_ARY "to_ary", TO_STR "to_str", TO_SYM "to_sym", TO_PROC "to_proc", TO_HASH "to_hash", TO_H "to_h",
    TO_I "to_i", TO_INT "to_int", TO_F "to_f", TO_R "to_r", TO_C "to_c", TO_PATH "to_path", TO_IO "to_io",
    HASH "hash", EQL "eql?", EQUAL "equal?", EQ "==", NEQ "!=", EQQ "===", MATCH "=~", NMATCH "!~", CMP "<=>",
    PLUS "+", MINUS "-", MUL "*", DIV "/", MOD "%", POW "**", LT "<", LE "<=", GT ">", GE ">=",
    SHL "<<", SHR ">>", AND "&", OR "|", XOR "^", NOT "!", TILDE "~", UMINUS "-@", UPLUS "+@", AREF "[]", ASET "[]=",
    BACKTICK "`", METHOD_MISSING "method_missing", RESPOND_TO "respond_to?", RESPOND_TO_MISSING "respond_to_missing?",
    CONST_MISSING "const_missing", INHERITED "inherited", INCLUDED "included", EXTENDED "extended", PREPENDED "prepended",
    METHOD_ADDED "method_added", METHOD_REMOVED "method_removed", METHOD_UNDEFINED "method_undefined",
    SINGLETON_METHOD_ADDED "singleton_method_added", SINGLETON_METHOD_REMOVED "singleton_method_removed",
    SINGLETON_METHOD_UNDEFINED "singleton_method_undefined", CONST_ADDED "const_added",
    APPEND_FEATURES "append_features", EXTEND_OBJECT "extend_object", PREPEND_FEATURES "prepend_features",
    COERCE "coerce", SUCC "succ", SIZE "size", LENGTH "length", MESSAGE "message", BACKTRACE "backtrace", CAUSE "cause",
    FULL_MESSAGE "full_message", DETAILED_MESSAGE "detailed_message", EXCEPTION "exception", SET_BACKTRACE "set_backtrace",
    NAME "name", BEGIN "begin", END "end", FIRST "first", LAST "last", MIN "min", MAX "max", SEND "send", __SEND__ "__send__",
    PUBLIC_SEND "public_send", INSTANCE_EVAL "instance_eval", CLASS_EVAL "class_eval", MODULE_EVAL "module_eval", INSTANCE_EXEC "instance_exec",
    CLASS_EXEC "class_exec", MODULE_EXEC "module_exec", LAMBDA "lambda", PROC "proc", LOOP "loop", RAISE "raise", REQUIRE "require",
    DECONSTRUCT "deconstruct", DECONSTRUCT_KEYS "deconstruct_keys", NIL_P "nil?", EMPTY_P "empty?", KEY_P "key?", IS_A "is_a?", KIND_OF "kind_of?",
    INSTANCE_OF "instance_of?", CLASS "class", FREEZE "freeze", FROZEN_P "frozen?", DUP "dup", CLONE "clone", OBJECT_ID "object_id", WRITE "write",
    PUTS "puts", PRINT "print", P "p", DEFAULT "default", JOIN "join", KEYS "keys", VALUES "values", UNPACK "unpack", ENCODING "encoding",
    PRED "pred", ABS "abs", ZERO_P "zero?", CLOSE "close", READ "read", TO_ENUM "to_enum", LAST_MATCH "last_match", PRIVATE "private",
    // Hidden instance variables of built-in objects (names without @ are invisible to Ruby).
    IV_MESSAGE "@__message", IV_BACKTRACE "@__backtrace", IV_CAUSE "@__cause", IV_LOCATIONS "@__locations", IV_NAME "@__name",
    IV_RECEIVER "@__receiver", IV_KEY "@__key", IV_ARGS "@__args", IV_RESULT "@__result", IV_REASON "@__reason", IV_STATUS "@__status",
    IV_ERRNO "@__errno", IV_TAG "@__tag", IV_VALUE "@__value", IV_PRIVATE_CALL "@__private_call",
    ATTACHED "__attached__", OBJECT "Object", TOPLEVEL "TOPLEVEL_BINDING", MAIN "main", AT_EXIT "at_exit",
}

/// The symbol table of one runtime. Append-only: names are read without a lock.
pub struct SymTab {
    names: StableVec<Box<[u8]>>,
    ids: RwLock<FxHashMap<Box<[u8]>, Sym>>,
}

impl Default for SymTab {
    fn default() -> Self {
        let t = SymTab { names: StableVec::new(1 << 26), ids: RwLock::default() };
        t.ids.write().unwrap_or_else(|e| e.into_inner()).reserve(4096);
        for k in KNOWN {
            t.intern(k.as_bytes());
        }
        t
    }
}

impl SymTab {
    pub fn intern(&self, name: &[u8]) -> Sym {
        if let Some(s) = self.find(name) {
            return s;
        }
        let mut ids = self.ids.write().unwrap_or_else(|e| e.into_inner());
        if let Some(&s) = ids.get(name) {
            return s;
        }
        let s = Sym(self.names.push(name.into()) as u32);
        ids.insert(name.into(), s);
        s
    }
    /// The symbol if the name was ever interned.
    pub fn find(&self, name: &[u8]) -> Option<Sym> {
        self.ids.read().unwrap_or_else(|e| e.into_inner()).get(name).copied()
    }
    pub fn name(&self, s: Sym) -> &[u8] {
        self.names.get(s.0 as usize).map_or(b"", |n| n)
    }
    pub fn count(&self) -> usize {
        self.names.len()
    }
}
