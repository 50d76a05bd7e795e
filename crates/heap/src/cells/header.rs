//! The two-word header every cell starts with, and typed pointers to cells.
//!
//! The flags of a cell that a second thread may reach change only by atomic read-modify-write: the
//! lock bit among them belongs to whoever set it, the others to all. While one thread alone can reach a cell, it also
//! stores them plainly: when the cell is made, is published or its nursery retires (`nursery.rs`). `x` and `aux` are atomic words: who
//! writes them holds the lock, or runs alone; others read them meanwhile. So is the class, which changes when an object gets a
//! singleton class: it is published like what stands in a slot.

use crate::Value;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::*};

/// Cells start at multiples of this.
pub const GRANULE: usize = 16;
/// Largest cell that shares a block with others.
pub const MAX_CELL: usize = 2048;

/// What a cell is. Decides its layout, how it is traced and what must be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// On a free list. Must be zero: fresh blocks are zeroed memory.
    Free = 0,
    /// An ordinary object ([`ObjectObj`](crate::ObjectObj)).
    Object,
    /// A class, module or singleton class ([`ClassObj`](crate::ClassObj)).
    Class,
    /// A double that is no flonum.
    Float,
    /// An Integer that is no fixnum.
    Big,
    /// A String ([`StrObj`](crate::StrObj)).
    Str,
    /// An Array ([`ArrayObj`](crate::ArrayObj)).
    Array,
    /// A Hash ([`HashObj`](crate::HashObj)).
    Hash,
    /// A Range ([`RangeObj`](crate::RangeObj)).
    Range,
    /// Rational and Complex: two values.
    Pair,
    /// Struct and Data instances: a fixed number of value slots.
    Struct,
    /// A closure ([`ProcObj`](crate::ProcObj)).
    Proc,
    /// Captured variables of one scope activation.
    Env,
    /// What code of a frame needs to know of its place: lexical module, method, visibility.
    Cref,
    /// Tells whether the frame a Proc was made in still runs.
    Home,
    /// A non-local exit in flight, seen only by ensure handlers.
    Unwind,
    /// Anything with a Rust payload: Regexp, MatchData, IO, Time, Thread, ...
    Data,
    /// A packed row and the values of those of its fields that were asked for.
    Record,
}

impl Kind {
    /// All kinds, each at its own number.
    pub(crate) const ALL: [Kind; 18] = {
        use Kind::*;
        [Free, Object, Class, Float, Big, Str, Array, Hash, Range, Pair, Struct, Proc, Env, Cref, Home, Unwind, Data, Record]
    };
}
const _: () = {
    let mut i = 0;
    while i < Kind::ALL.len() {
        assert!(Kind::ALL[i] as usize == i);
        i += 1;
    }
};

/// Header flags.
pub mod flag {
    /// Ruby code may not change it. Kinds that never change are born with it.
    pub const FROZEN: u8 = 1;
    /// A second Thread may reach it: changes take its lock. Only ever set, with `OUT`, never cleared.
    pub const SHARED: u8 = 2;
    /// Instance variables in the heap's side table.
    pub const IVARS: u8 = 4;
    /// The class pointer is a singleton class.
    pub const SINGLETON: u8 = 8;
    /// The per-object lock (`lock.rs`).
    pub const LOCK: u8 = 16;
    /// The side tables know it: it has an object id or finalizers.
    pub const SIDE: u8 = 32;
    /// Not its worker's nursery collection's affair: born outside a nursery, retired or published.
    /// Only ever set, never cleared.
    pub const OUT: u8 = 64;
    /// Neither the cell nor anything that it reaches can ever change, so that Ractors may share it: all are frozen. Only ever
    /// set, and only when all are (`heap/share.rs`).
    pub const SHAREABLE: u8 = 128;
}

/// First two words of every cell.
#[repr(C)]
pub struct Header {
    class: AtomicU64,
    /// The layout of what follows.
    pub kind: Kind,
    /// Bits of [`flag`].
    pub flags: AtomicU8,
    /// Object: inline slot count. Record: fields. Str: encoding (low byte) and code range (high byte). Hash: 1, made from keywords.
    /// Array: 1, a list. Others: free use.
    pub x: Half,
    /// Object: shape. Record: bytes of its row. Others: free use.
    pub aux: Word,
}

macro_rules! racing {
    ($($(#[$doc:meta])* $t:ident $u:ident $a:ident;)*) => { $(
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $t($a);

        impl $t {
            /// Holds `n`.
            #[inline(always)]
            pub const fn new(n: $u) -> $t {
                $t($a::new(n))
            }
            /// Reads it, ordered with nothing.
            #[inline(always)]
            pub fn get(&self) -> $u {
                self.0.load(Relaxed)
            }
            /// Writes it, ordered with nothing.
            #[inline(always)]
            pub fn set(&self, n: $u) {
                self.0.store(n, Relaxed)
            }
            /// The same for who has it to itself.
            #[inline(always)]
            pub fn put(&mut self, n: $u) {
                *self.0.get_mut() = n
            }
            /// For what must be ordered.
            #[inline(always)]
            pub fn word(&self) -> &$a {
                &self.0
            }
        }
    )* };
}
racing! {
    /// Sixteen bits that others may read while they are written. Reading and writing by `get` and `set` is ordered with nothing.
    Half u16 AtomicU16;
    /// Thirty-two such bits.
    Word u32 AtomicU32;
}

impl Header {
    /// The header of a new cell without flags.
    #[inline(always)]
    pub fn new(class: Value, kind: Kind) -> Header {
        Header::with(class, kind, 0)
    }
    /// Class cell; false for internal kinds.
    #[inline(always)]
    pub fn class(&self) -> Value {
        Value::from_bits(self.class.load(Acquire))
    }
    /// Whoever goes on from the class finds it whole. The caller runs the barrier.
    #[inline(always)]
    pub fn set_class(&self, class: Value) {
        self.class.store(class.bits(), Release);
    }
    /// The header of a new cell with flags.
    #[inline(always)]
    pub fn with(class: Value, kind: Kind, flags: u8) -> Header {
        Header { class: AtomicU64::new(class.bits()), kind, flags: AtomicU8::new(flags), x: Half::new(0), aux: Word::new(0) }
    }
    /// Is any of these flags set?
    #[inline(always)]
    pub fn has(&self, f: u8) -> bool {
        self.flags.load(Relaxed) & f != 0
    }
    /// Sets flags.
    #[inline]
    pub fn set(&self, f: u8) {
        self.flags.fetch_or(f, AcqRel);
    }
    /// Clears flags.
    #[inline]
    pub fn clear(&self, f: u8) {
        self.flags.fetch_and(!f, AcqRel);
    }
    /// Is [`flag::FROZEN`] set?
    #[inline]
    pub fn frozen(&self) -> bool {
        self.has(flag::FROZEN)
    }
}

/// A cell layout: a `#[repr(C)]` struct that starts with a [`Header`].
///
/// # Safety
/// The struct must be `#[repr(C)]` with a `Header` first and `KIND` must be used by no other layout.
pub unsafe trait Layout {
    /// The kind whose cells have this layout.
    const KIND: Kind;
}

/// A typed pointer to a live cell. `Copy`; derefs to the layout, for reading and for what stands being changed beside others
/// (words, [`crate::RaceVec`], [`crate::HashData`]). Other changes go through [`crate::Heap::edit`].
#[repr(transparent)]
pub struct Gc<T>(NonNull<T>);

impl<T> Clone for Gc<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Gc<T> {}
impl<T> PartialEq for Gc<T> {
    #[inline(always)]
    fn eq(&self, o: &Self) -> bool {
        self.0 == o.0
    }
}
impl<T> Eq for Gc<T> {}
impl<T> std::hash::Hash for Gc<T> {
    fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
        (self.0.as_ptr() as usize).hash(h)
    }
}
impl<T> Deref for Gc<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: a Gc is only made from a live cell of the right kind, and cells do not move.
        unsafe { self.0.as_ref() }
    }
}
impl<T> Gc<T> {
    /// The cell, to be changed; [`crate::Heap::edit`] is the safe way.
    ///
    /// # Safety
    /// Nobody else changes it meanwhile: its lock is held, or others cannot reach it. And this thread holds no other reference to what is changed.
    #[inline(always)]
    pub unsafe fn alone<'a>(self) -> &'a mut T {
        // SAFETY: as for deref; the caller's promise.
        unsafe { &mut *self.0.as_ptr() }
    }
}
impl<T> std::fmt::Debug for Gc<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}", self.0.as_ptr() as usize)
    }
}

impl<T> Gc<T> {
    pub(crate) fn from_ptr(p: *mut T) -> Gc<T> {
        Gc(NonNull::new(p).expect("cell"))
    }
    /// The cell as a value.
    #[inline(always)]
    pub fn val(self) -> Value {
        Value::from_bits(self.0.as_ptr() as u64)
    }
}

impl Value {
    /// The cell as layout `T`, when its kind says so.
    #[inline(always)]
    pub fn cell<T: Layout>(self) -> Option<Gc<T>> {
        if self.is_kind(T::KIND) {
            // SAFETY: the kind byte names the layout (Layout's contract).
            Some(unsafe { self.cell_unchecked() })
        } else {
            None
        }
    }
    /// The cell as layout `T` without a look at its kind.
    ///
    /// # Safety
    /// The value must be a heap cell of kind `T::KIND`.
    #[inline(always)]
    pub unsafe fn cell_unchecked<T: Layout>(self) -> Gc<T> {
        debug_assert!(self.is_kind(T::KIND));
        // SAFETY: not null by the caller's promise.
        Gc(unsafe { NonNull::new_unchecked(self.bits() as *mut T) })
    }
    /// The header for writing its plain fields (flags are set through a shared one).
    #[inline(always)]
    pub fn header_mut(self) -> Option<Gc<Header>> {
        self.is_heap().then(|| Gc::from_ptr(self.bits() as *mut Header))
    }
}
