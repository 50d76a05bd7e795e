//! Classes and modules.
//!
//! `serial` names the state of a class's method table and of all it inherits:
//! whoever changes a method, an include or a superclass gives the class and all
//! its descendants fresh serials, so that an inline cache needs one comparison.

use crate::cells::header::{Half, Header, Kind, Layout, Word};
use crate::lockfree::rcu::RcuCell;
use crate::{Gc, Marker, Sym, Value};
use rustc_hash::FxHashMap;
use std::ops::{Deref, DerefMut};

/// What `allocate` makes for instances of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instance {
    /// A plain object.
    Object,
    /// A String.
    Str,
    /// An Array.
    Array,
    /// A Hash.
    Hash,
    /// Struct or Data with that many members.
    Struct(u16),
    /// A class.
    Class,
    /// A module.
    Module,
    /// A Rust payload made by the class's own native `allocate`/`new`.
    Data,
    /// `allocate` is undefined (Integer, Symbol, NilClass, ...).
    None,
}

/// What kind of module a class cell is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A class.
    Class,
    /// A module.
    Module,
    /// The singleton class of one object.
    Singleton,
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Const {
    /// The value; undef while only an autoload path is known.
    pub value: Value,
    /// The file that `autoload` names for it, until it was loaded.
    pub autoload: Option<Box<[u8]>>,
    /// Number of the thread that is loading its file, 0 when none is: until that is done, others wait for it.
    pub loading: u64,
    /// `private_constant`
    pub private: bool,
    /// `deprecate_constant`: its use is warned of.
    pub deprecated: bool,
    /// Where it was set; `None` by the runtime's own code.
    pub file: Option<std::sync::Arc<str>>,
    /// The line in that file.
    pub line: u32,
}

/// The cell.
#[repr(C)]
pub struct ClassObj {
    /// What every cell begins with.
    pub hdr: Header,
    /// See the module: read without a lock.
    pub serial: Word,
    /// What kind of module it is.
    pub role: Role,
    /// Inline instance-variable slots for the next object: the most that were seen.
    pub slots: Half,
    /// All the rest. Changed under the class lock.
    pub data: Tables,
}
// SAFETY: repr(C), header first, kind used here only.
unsafe impl Layout for ClassObj {
    const KIND: Kind = Kind::Class;
}

/// A class's tables, which note that somebody may have changed them: they change by many ways, and a young collection
/// looks at the changed ones only.
pub struct Tables {
    data: Box<ClassData>,
    /// Since the last collection. Whoever changes them has them to itself.
    changed: bool,
}

impl Tables {
    pub(crate) fn new(data: ClassData) -> Tables {
        Tables { data: Box::new(data), changed: true }
    }
    /// Were they changed since this was last asked?
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }
    pub(crate) fn is_changed(&self) -> bool {
        self.changed
    }
    /// To change what is no reference that keeps anything alive.
    pub(crate) fn unnoted(&mut self) -> &mut ClassData {
        &mut self.data
    }
}

impl Deref for Tables {
    type Target = ClassData;
    #[inline(always)]
    fn deref(&self) -> &ClassData {
        &self.data
    }
}

impl DerefMut for Tables {
    #[inline]
    fn deref_mut(&mut self) -> &mut ClassData {
        self.changed = true;
        &mut self.data
    }
}

/// Everything of a class that calls do not read.
pub struct ClassData {
    /// Full name (`A::B`); `None` for anonymous ones.
    pub name: Option<Box<[u8]>>,
    /// The name came from set_temporary_name or an anonymous parent.
    pub temporary: bool,
    /// Lexical parent, for names of nested constants.
    pub superclass: Option<Gc<ClassObj>>,
    /// Own methods: index into the runtime's method table.
    pub methods: FxHashMap<Sym, u32>,
    /// Own methods in definition order.
    pub method_order: Vec<Sym>,
    /// Own constants.
    pub consts: FxHashMap<Sym, Const>,
    /// Own constants in definition order.
    pub const_order: Vec<Sym>,
    /// Own class variables in definition order.
    pub cvars: Vec<(Sym, Value)>,
    /// The class object's own instance variables in definition order.
    pub ivars: Vec<(Sym, Value)>,
    /// Modules included here, first included first.
    pub includes: Vec<Gc<ClassObj>>,
    /// Modules prepended here, first prepended first.
    pub prepends: Vec<Gc<ClassObj>>,
    /// Method resolution order: this module's own linearisation, superclass's included. What is in it is also a
    /// superclass, included or prepended here or further up.
    pub mro: RcuCell<Vec<Gc<ClassObj>>>,
    /// How much of the mro is not the superclass's.
    pub own_places: usize,
    /// Classes and modules whose mro contains this one directly (subclasses, includers). Weak.
    pub dependents: Vec<Gc<ClassObj>>,
    /// Singleton class: whose.
    pub attached: Value,
    /// What `allocate` makes.
    pub instance: Instance,
    /// Refinements: (refined class, refinement module); a refinement: refined class.
    pub refinements: Vec<(Gc<ClassObj>, Gc<ClassObj>)>,
    /// A refinement's: the class that it refines.
    pub refined: Option<Gc<ClassObj>>,
    /// Struct and Data members.
    pub members: Vec<Sym>,
}

impl ClassData {
    /// Of a nameless class without methods or constants.
    pub fn new(superclass: Option<Gc<ClassObj>>, instance: Instance) -> ClassData {
        ClassData {
            name: None,
            temporary: false,
            superclass,
            methods: FxHashMap::default(),
            method_order: Vec::new(),
            consts: FxHashMap::default(),
            const_order: Vec::new(),
            cvars: Vec::new(),
            ivars: Vec::new(),
            includes: Vec::new(),
            prepends: Vec::new(),
            mro: RcuCell::default(),
            own_places: 0,
            dependents: Vec::new(),
            attached: Value::NIL,
            instance,
            refinements: Vec::new(),
            refined: None,
            members: Vec::new(),
        }
    }

    pub(crate) fn trace(&self, m: &mut Marker) {
        if let Some(s) = self.superclass {
            m.mark(s.val());
        }
        for c in self.consts.values() {
            m.mark(c.value);
        }
        for (_, v) in self.cvars.iter().chain(&self.ivars) {
            m.mark(*v);
        }
        for c in self.includes.iter().chain(&self.prepends).chain(self.mro.iter()) {
            m.mark(c.val());
        }
        m.mark(self.attached);
        for (a, b) in &self.refinements {
            m.mark(a.val());
            m.mark(b.val());
        }
        if let Some(r) = self.refined {
            m.mark(r.val());
        }
        if m.rows() {
            for (s, n) in &self.methods {
                m.sym(*s);
                m.method(*n);
            }
            m.syms(self.method_order.iter().chain(self.consts.keys()).chain(&self.const_order).chain(&self.members));
            m.syms(self.cvars.iter().chain(&self.ivars).map(|(s, _)| s));
        }
    }
}

impl ClassObj {
    /// Is it a class, singleton classes included?
    pub fn is_class(&self) -> bool {
        self.role != Role::Module
    }
    /// Is it a singleton class?
    pub fn is_singleton(&self) -> bool {
        self.role == Role::Singleton
    }
    /// Where its tables lie.
    #[inline(always)]
    pub(crate) fn tables(&self) -> *const u8 {
        &raw const *self.data.data as *const u8
    }
    /// Is `other` among the ancestors (self included)?
    pub fn inherits(&self, other: Gc<ClassObj>) -> bool {
        self.data.mro.contains(&other)
    }
}
