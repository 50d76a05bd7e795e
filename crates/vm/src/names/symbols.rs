//! Interned names. The first ones are constants, so that Rust code can name them.

use crate::names::stable::StableVec;
use kumi_heap::{Sym, SymMarks};
use rustc_hash::FxHashMap;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*, fence};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

macro_rules! known {
    ($($name:ident $text:literal),* $(,)?) => {
        /// Symbols the runtime itself uses, in id order.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u32)]
        enum Known { $($name),* }
        /// Names of well-known symbols.
        pub mod sym {
            use super::{Known, Sym};
            $(#[doc = concat!("`` ", $text, " ``")] pub const $name: Sym = Sym(Known::$name as u32);)*
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
    IV_ERRNO "@__errno", IV_TAG "@__tag", IV_VALUE "@__value", IV_PRIVATE_CALL "@__private_call", IV_KEYWORD_INIT "@__keyword_init",
    ATTACHED "__attached__", OBJECT "Object", TOPLEVEL "TOPLEVEL_BINDING", MAIN "main", AT_EXIT "at_exit",
}

/// Symbols that text from outside may make: the last of the table are kept for what the runtime itself names.
const MOST: usize = 1 << 25;
const RESERVE: usize = 1 << 16;
/// So many symbols may be made between two full collections, or as many as lived after the last one.
const LEAST_MADE: usize = 1 << 15;

/// A symbol's name. A row is written before anyone has its symbol, and again, at the earliest, after a stop at which
/// nobody had it.
struct Row {
    name: UnsafeCell<Box<[u8]>>,
    /// It never dies.
    pinned: AtomicBool,
    /// A method that a program has by this name uses a block.
    takes_block: AtomicBool,
}
// SAFETY: see `Row`.
unsafe impl Sync for Row {}

#[derive(Default)]
struct Ids {
    of: FxHashMap<Box<[u8]>, Sym>,
    /// Rows of symbols that died.
    free: Vec<Sym>,
}

/// The symbol table of one runtime. Names are read without a lock.
///
/// **Invariant.** A name has one symbol at a time. A symbol of [`SymTab::intern`] lives as long as the table; one of
/// [`SymTab::intern_weak`] until a full collection finds that no value and no table names it. Then its row, and so its
/// number, is used again: whoever keeps a symbol across safepoints shows it to the collector
/// ([`Marker`](kumi_heap::Marker)), or asks `intern` for it.
pub struct SymTab {
    rows: StableVec<Row>,
    ids: RwLock<Ids>,
    /// Symbols made since the last full collection, and how many may be.
    made: AtomicUsize,
    most_made: AtomicUsize,
    /// Those before it are pinned: they were made at boot.
    first: AtomicU32,
    /// There was no row left for a name.
    overflow: AtomicBool,
    /// There may be some that can die.
    weak: AtomicBool,
}

impl Default for SymTab {
    fn default() -> Self {
        let t = SymTab {
            rows: StableVec::new(MOST),
            ids: RwLock::default(),
            made: AtomicUsize::new(0),
            most_made: AtomicUsize::new(LEAST_MADE),
            first: AtomicU32::new(u32::MAX),
            overflow: AtomicBool::new(false),
            weak: AtomicBool::new(false),
        };
        t.write().of.reserve(4096);
        for k in KNOWN {
            t.intern(k.as_bytes());
        }
        t
    }
}

impl SymTab {
    fn read(&self) -> RwLockReadGuard<'_, Ids> {
        self.ids.read().unwrap_or_else(|e| e.into_inner())
    }
    fn write(&self) -> RwLockWriteGuard<'_, Ids> {
        self.ids.write().unwrap_or_else(|e| e.into_inner())
    }
    /// The symbol of a name that the runtime or the program's text holds: it never dies.
    pub(crate) fn intern(&self, name: &[u8]) -> Sym {
        match self.enter(name, true) {
            Some(s) => s,
            None => {
                self.overflow.store(true, Relaxed);
                Sym(0)
            }
        }
    }
    /// The symbol of a name that came in while the program ran. `None`: the table is full.
    pub(crate) fn intern_weak(&self, name: &[u8]) -> Option<Sym> {
        self.enter(name, false)
    }
    fn enter(&self, name: &[u8], pin: bool) -> Option<Sym> {
        if let Some(s) = self.find(name) {
            // Whoever has asked for it holds no safepoint back, so that it cannot die before it is pinned.
            if pin && s.0 >= self.first.load(Relaxed) {
                self.rows[s.0 as usize].pinned.store(true, Relaxed);
            }
            return Some(s);
        }
        if !pin {
            kumi_budget::ask(2 * name.len());
        }
        let mut ids = self.write();
        if let Some(&s) = ids.of.get(name) {
            if pin {
                self.rows[s.0 as usize].pinned.store(true, Relaxed);
            }
            return Some(s);
        }
        if !pin && ids.of.len() == ids.of.capacity() {
            kumi_budget::ask(2 * ids.of.len() * size_of::<(Box<[u8]>, Sym)>());
        }
        let s = match ids.free.pop() {
            Some(s) => {
                let row = &self.rows[s.0 as usize];
                // SAFETY: nobody has the symbol of a free row.
                unsafe { *row.name.get() = name.into() };
                row.pinned.store(pin, Relaxed);
                row.takes_block.store(false, Relaxed);
                // Whoever stores the symbol stores it after its name; `name` has the other half.
                fence(Release);
                s
            }
            None => {
                if self.rows.len() >= self.rows.most().saturating_sub(if pin { 0 } else { RESERVE }) {
                    return None;
                }
                let (pinned, takes_block) = (AtomicBool::new(pin), AtomicBool::new(false));
                Sym(self.rows.push(Row { name: UnsafeCell::new(name.into()), pinned, takes_block })? as u32)
            }
        };
        ids.of.insert(name.into(), s);
        if !pin {
            self.weak.store(true, Relaxed);
        }
        self.made.fetch_add(1, Relaxed);
        Some(s)
    }
    /// The symbol of that name, if there is one now.
    pub fn find(&self, name: &[u8]) -> Option<Sym> {
        self.read().of.get(name).copied()
    }
    /// A symbol's name, good until the next safepoint.
    pub fn name(&self, s: Sym) -> &[u8] {
        match self.rows.get(s.0 as usize) {
            Some(r) => {
                fence(Acquire);
                // SAFETY: see `Row`: who has the symbol came by it after its name was written.
                unsafe { &*r.name.get() }
            }
            None => b"",
        }
    }
    /// Does a method of this name in some text that was compiled use a block?
    pub(crate) fn takes_block(&self, s: Sym) -> bool {
        self.rows.get(s.0 as usize).is_some_and(|r| r.takes_block.load(Relaxed))
    }
    pub(crate) fn set_takes_block(&self, s: Sym) {
        if let Some(r) = self.rows.get(s.0 as usize) {
            r.takes_block.store(true, Relaxed);
        }
    }
    /// Symbols there are.
    pub fn count(&self) -> usize {
        self.rows.len() - self.read().free.len()
    }
    /// Is there a symbol of that number now?
    pub fn is_there(&self, s: Sym) -> bool {
        self.find(self.name(s)) == Some(s)
    }
    /// All of them.
    pub fn all(&self) -> Vec<Sym> {
        let mut v: Vec<Sym> = self.read().of.values().copied().collect();
        v.sort_unstable();
        v
    }
    /// Can it die?
    pub(crate) fn is_weak(&self, s: Sym) -> bool {
        s.0 >= self.first.load(Relaxed) && self.rows.get(s.0 as usize).is_some_and(|r| !r.pinned.load(Relaxed))
    }
    /// Was there no room for a name since this was last asked?
    pub(crate) fn take_overflow(&self) -> bool {
        self.overflow.load(Relaxed) && self.overflow.swap(false, Relaxed)
    }
    /// Were so many made that a full collection should look for dead ones?
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.made.load(Relaxed) >= self.most_made.load(Relaxed)
    }
    /// All made so far stay: booting is over.
    pub(crate) fn pin_all(&self) {
        self.first.store(self.rows.len() as u32, Relaxed);
    }
    /// Where a full collection marks symbols; `None`: none of them can die. The world is stopped.
    pub(crate) fn marks(&self) -> Option<SymMarks> {
        self.weak.load(Relaxed).then(|| SymMarks::new(self.first.load(Relaxed), self.rows.len() as u32))
    }
    /// Forgets the symbols that are neither pinned nor marked: true when there were any. The world is stopped.
    pub(crate) fn sweep(&self, marks: &SymMarks) -> bool {
        let mut ids = self.write();
        let Ids { of, free } = &mut *ids;
        let before = free.len();
        let first = self.first.load(Relaxed) as usize;
        let mut weak = false;
        for (i, row) in self.rows.iter().enumerate().skip(first) {
            let s = Sym(i as u32);
            if row.pinned.load(Relaxed) {
                continue;
            }
            // SAFETY: the world is stopped, and nobody looks at names meanwhile.
            let name = unsafe { &mut *row.name.get() };
            if marks.is_marked(s) {
                debug_assert_eq!(of.get(&**name), Some(&s), "somebody names a symbol that died");
                weak = true;
                continue;
            }
            if of.get(&**name) == Some(&s) {
                of.remove(&**name);
                *name = Box::default();
                free.push(s);
            }
        }
        let live = self.rows.len().saturating_sub(first + free.len());
        self.weak.store(weak, Relaxed);
        self.made.store(0, Relaxed);
        self.most_made.store(live.max(LEAST_MADE), Relaxed);
        if of.capacity() > 4 * of.len() + 8192 {
            of.shrink_to(2 * of.len());
        }
        free.len() != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_symbol_gives_its_number_to_another_name() {
        let t = SymTab::default();
        let known = t.intern(b"size");
        t.pin_all();
        let names = [&b"kept"[..], b"dead", b"pinned"];
        let [kept, dead, pinned] = names.map(|n| t.intern_weak(n).unwrap());
        assert_eq!(t.intern(b"pinned"), pinned);
        let m = t.marks().unwrap();
        m.mark(kept);
        assert!(t.sweep(&m));
        assert_eq!((t.find(b"kept"), t.find(b"dead"), t.find(b"pinned")), (Some(kept), None, Some(pinned)));
        assert_eq!(t.intern_weak(b"another"), Some(dead));
        assert_eq!((t.name(dead), t.name(known), t.is_weak(dead), t.is_weak(known)), (&b"another"[..], &b"size"[..], true, false));
        assert_eq!(t.intern_weak(b"empty soon"), Some(Sym(pinned.0 + 1)));
        // Nothing is marked: all but what is pinned goes.
        assert!(t.sweep(&t.marks().unwrap()) && t.marks().is_none());
        assert_eq!((t.find(b"kept"), t.find(b"pinned")), (None, Some(pinned)));
    }
}
