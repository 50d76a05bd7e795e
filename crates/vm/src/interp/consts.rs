//! Constants, class variables, globals, instance variables: the slow halves.

use super::Outcome;
use crate::doors::NO_METHOD;
use crate::doors::*;
use crate::tasks::frame::Fp;
use crate::{Cx, sym};
use kumi_bytecode::{ConstEntry, Defined, Insn};
use kumi_heap::*;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// In the cache word of a store into an instance variable: the object gets the variable by it.
const ADDS: u32 = 1 << 31;

impl Cx {
    // --- constants ---------------------------------------------------------

    /// A cached constant, when nothing by that name changed and the place is the same.
    #[inline]
    pub(crate) fn const_cached(&self, fp: Fp, name: Sym, cache: &AtomicU64) -> Option<Value> {
        let w = cache.load(Acquire);
        if w == 0 {
            return None;
        }
        // SAFETY: a cache word is the address of an entry of this code, which is kept until a full collection empties both.
        let e = unsafe { &*(w as *const ConstEntry) };
        (e.epoch == self.const_epoch(name).load(Acquire) && e.scope == fp.cref().bits()).then_some(e.value)
    }
    fn const_fill(&mut self, fp: Fp, epoch: u32, cache: &AtomicU64, value: Value) {
        // The entry keeps the place, so that no other is taken for it.
        self.heap.publish(fp.cref());
        let entry = Box::new(ConstEntry { epoch, scope: fp.cref().bits(), value, word: cache });
        cache.store(&raw const *entry as u64, Release);
        crate::cx::runtime::lock(&fp.iseq().const_cache).push(entry);
        self.code_grew(std::mem::size_of::<ConstEntry>());
    }

    /// Modules of the lexical scope, innermost first, Object excluded.
    pub(crate) fn lexical_modules(&self, cref: Value) -> Vec<Gc<ClassObj>> {
        let mut v = Vec::new();
        let mut c = cref.cell::<CrefObj>();
        while let Some(x) = c {
            // A method's own place repeats the module of the scope it was defined in.
            if x.hdr.x.get() & CrefObj::NO_CONST == 0 && x.hdr.aux.get() == CrefObj::NO_METHOD && x.parent != Value::NIL {
                if let Some(m) = x.module.as_class() {
                    v.push(m);
                }
            }
            c = x.parent.cell::<CrefObj>();
        }
        v
    }

    /// Looks a name up lexically, then in the ancestors: value, or what to do (autoload).
    pub(crate) fn lookup_const(&mut self, cref: Value, name: Sym) -> Option<(Gc<ClassObj>, Const)> {
        let scopes = self.lexical_modules(cref);
        for (i, m) in scopes.iter().enumerate() {
            // The top level counts only as an ancestor: below BasicObject it is out of sight.
            if i > 0 && i + 1 == scopes.len() && *m == self.k.object {
                continue;
            }
            if let Some(k) = m.data.consts.get(&name) {
                return Some((*m, k.clone()));
            }
        }
        let base = scopes.first().copied().unwrap_or(self.k.object);
        if let Some((o, k)) = self.find_const(base, name, true) {
            return Some((o, k));
        }
        // Singleton class bodies see the constants of what they are attached to.
        if base.is_singleton() {
            if let Some(c) = base.data.attached.as_class() {
                if let Some((o, k)) = self.find_const(c, name, true) {
                    return Some((o, k));
                }
            }
        }
        None
    }

    #[inline(never)]
    pub(crate) fn const_get(&mut self, dst: usize, name: Sym, cache: &AtomicU64) -> Outcome {
        let fp = self.fp();
        // Read first: a change while we look makes the entry stale, not wrong.
        let epoch = self.const_epoch(name).load(Acquire);
        match self.lookup_const(fp.cref(), name) {
            Some((owner, k)) => self.const_found(dst, owner, name, &k, epoch, Some(cache)),
            None => {
                let scope = self.lexical_modules(fp.cref()).first().copied().unwrap_or(self.k.object);
                let x = self.call(scope.val(), sym::CONST_MISSING, &[Value::sym(name)]);
                self.leaf_exit(x, dst)
            }
        }
    }

    /// The value of a constant that was looked up at `epoch`: loaded first, or warned of, where it has to be.
    fn const_found(&mut self, dst: usize, owner: Gc<ClassObj>, name: Sym, k: &Const, epoch: u32, cache: Option<&AtomicU64>) -> Outcome {
        let fp = self.fp();
        if k.value.is_undef() || self.loads_elsewhere(k) {
            return self.autoload(owner, name, k, dst, 2);
        }
        if k.deprecated {
            return self.const_warn(owner, name, k.value, dst);
        }
        if let Err(x) = self.check_const(fp, owner, name, k.value) {
            return self.leaf_exit(x, dst);
        }
        if let Some(cache) = cache.filter(|_| k.loading == 0 && self.const_cacheable(k.value)) {
            self.const_fill(fp, epoch, cache, k.value);
        }
        fp.set_r(dst, k.value);
        Outcome::Go
    }

    #[inline(never)]
    pub(crate) fn const_at(&mut self, dst: usize, scope: Value, name: Sym, cache: Option<&AtomicU64>) -> Outcome {
        let fp = self.fp();
        let epoch = self.const_epoch(name).load(Acquire);
        let Some(c) = scope.as_class() else {
            let x = self.call_helper("not_a_module", &[scope]);
            return self.leaf_exit(x, dst);
        };
        let found = self.find_const(c, name, false);
        // `Foo::Bar` does not find Object's constants through a class.
        let found = found.filter(|(o, _)| *o != self.k.object || c == self.k.object || c.role == Role::Module);
        match found {
            Some((owner, k)) => {
                if k.private && (fp.r(0) != scope || cache.is_some()) && !fp.iseq().system {
                    let x = self.private_const(owner, scope, name);
                    return self.leaf_exit(x, dst);
                }
                self.const_found(dst, owner, name, &k, epoch, cache)
            }
            None => {
                let x = self.call(scope, sym::CONST_MISSING, &[Value::sym(name)]);
                self.leaf_exit(x, dst)
            }
        }
    }
    /// A private constant asked for from outside: const_missing when the user has one, else NameError.
    pub(crate) fn private_const(&mut self, owner: Gc<ClassObj>, scope: Value, name: Sym) -> Exit {
        if !self.builtin(scope, sym::CONST_MISSING) {
            return self.call(scope, sym::CONST_MISSING, &[Value::sym(name)]);
        }
        let n = self.sym_name(name);
        let on = self.class_name(owner);
        let full = if owner == self.k.object { n } else { format!("{on}::{n}") };
        self.name_error(&format!("private constant {full} referenced"), owner.val(), name)
    }
    fn const_warn(&mut self, owner: Gc<ClassObj>, name: Sym, v: Value, dst: usize) -> Outcome {
        let x = self.call_helper("const_deprecated", &[owner.val(), Value::sym(name), v]);
        self.leaf_exit(x, dst)
    }
    /// Is another thread loading the file of this constant, so that it may be half made?
    pub fn loads_elsewhere(&self, k: &Const) -> bool {
        k.loading != 0 && k.loading != self.task.root()
    }
    /// Loads the file of an autoload constant, then runs the instruction of `words` words again.
    fn autoload(&mut self, owner: Gc<ClassObj>, name: Sym, k: &Const, dst: usize, words: usize) -> Outcome {
        let path = k.autoload.clone().unwrap_or_default();
        let p = self.str_enc(&path, crate::EncIndex::UTF_8);
        let _ = words;
        let x = self.call_helper("autoload_const", &[owner.val(), Value::sym(name), p]);
        self.leaf_exit(x, dst)
    }

    #[inline(never)]
    pub(crate) fn const_set_op(&mut self, scope: Option<Value>, name: Sym, v: Value) -> Outcome {
        let fp = self.fp();
        let target = match scope {
            Some(s) => match s.as_class() {
                Some(c) => c,
                None => {
                    let x = self.call_helper("not_a_module", &[s]);
                    return self.leaf_exit_drop(x);
                }
            },
            None => self.lexical_modules(fp.cref()).first().copied().unwrap_or(self.k.object),
        };
        if let Err(x) = self.check_frozen(target.val()) {
            return self.leaf_exit_drop(x);
        }
        if self.isolated_code(fp) && !self.shareable(v) {
            let x = self.isolation_error("can not set constants with non-shareable objects by non-main Ractors");
            return self.leaf_exit_drop(x);
        }
        let classes = self.lock_classes();
        let old = target.data.consts.get(&name).cloned();
        let again = old.as_ref().is_some_and(|k| !k.value.is_undef());
        self.set_const(target, name, v);
        let t = target;
        let line = fp.iseq().line_at((((self.pc as usize - fp.iseq().code.as_ptr() as usize) / 8) as u32).saturating_sub(1));
        if let Some(k) = self.heap.edit(t).data.consts.get_mut(&name) {
            if k.loading == 0 {
                k.autoload = None;
            }
            k.file = (!fp.iseq().system).then(|| fp.iseq().path.clone());
            k.line = line;
            if let Some(o) = &old {
                k.private = o.private;
            }
        }
        drop(classes);
        if again && !fp.iseq().system {
            let prev = old.map(|o| (o.file.map_or(Value::NIL, |f| self.str(&f)), o.line)).unwrap_or((Value::NIL, 0));
            let x = self.call_helper("const_redefined", &[target.val(), Value::sym(name), prev.0, Value::fix(prev.1 as i64)]);
            return self.leaf_exit_drop(x);
        }
        if !self.builtin(target.val(), sym::CONST_ADDED) {
            let x = self.call(target.val(), sym::CONST_ADDED, &[Value::sym(name)]);
            return self.leaf_exit_drop(x);
        }
        Outcome::Go
    }

    // --- class variables ------------------------------------------------------

    fn cvar_scope(&mut self, fp: Fp) -> Option<Gc<ClassObj>> {
        let mut c = fp.cref().cell::<CrefObj>();
        while let Some(x) = c {
            if x.hdr.x.get() & CrefObj::NO_CONST == 0 && !x.parent.is_nil() {
                if let Some(m) = x.module.as_class() {
                    if !m.is_singleton() {
                        return Some(m);
                    }
                    // class << self: the variables of the class it belongs to.
                    if let Some(a) = m.data.attached.as_class() {
                        return Some(a);
                    }
                }
            }
            c = x.parent.cell::<CrefObj>();
        }
        None
    }
    /// The class or module in whose ancestry the variable lives.
    pub(crate) fn find_cvar(&self, c: Gc<ClassObj>, name: Sym) -> Option<Gc<ClassObj>> {
        let _classes = self.lock_classes();
        // The topmost definition wins (CRuby reports overtaken ones).
        c.data
            .mro
            .iter()
            .rev()
            .copied()
            .find(|m| m.data.cvars.iter().any(|v| v.0 == name))
            .or_else(|| if c.is_singleton() { c.data.attached.as_class().and_then(|a| self.find_cvar(a, name)) } else { None })
    }
    fn nearest_cvar(&self, c: Gc<ClassObj>, name: Sym) -> Option<Gc<ClassObj>> {
        let _classes = self.lock_classes();
        c.data.mro.iter().copied().find(|m| m.data.cvars.iter().any(|v| v.0 == name))
    }
    #[inline(never)]
    pub(crate) fn cvar_get(&mut self, fp: Fp, name: Sym) -> R {
        let _classes = self.lock_classes();
        let Some(c) = self.cvar_scope(fp) else { return Err(self.runtime_error("class variable access from toplevel")) };
        self.check_cvar()?;
        match self.find_cvar(c, name) {
            Some(o) if o.role != Role::Module && self.nearest_cvar(c, name).is_some_and(|near| near != o) => {
                // Defined here first, then further up as well.
                let n = self.sym_name(name);
                let near = self.nearest_cvar(c, name).unwrap_or(c);
                let (a, b) = (self.class_name(near), self.class_name(o));
                Err(self.runtime_error(&format!("class variable {n} of {a} is overtaken by {b}")))
            }
            Some(o) => Ok(o.data.cvars.iter().find(|v| v.0 == name).map_or(Value::NIL, |v| v.1)),
            None => {
                let n = self.sym_name(name);
                let on = self.class_name(c);
                Err(self.name_error(&format!("uninitialized class variable {n} in {on}"), c.val(), name))
            }
        }
    }
    #[inline(never)]
    pub(crate) fn cvar_set(&mut self, fp: Fp, name: Sym, v: Value) -> Result<(), Exit> {
        let Some(c) = self.cvar_scope(fp) else { return Err(self.runtime_error("class variable access from toplevel")) };
        self.check_cvar()?;
        self.set_cvar(c, name, v)
    }
    /// Sets a class variable where it is defined, else in `c`.
    pub(crate) fn set_cvar(&mut self, c: Gc<ClassObj>, name: Sym, v: Value) -> Result<(), Exit> {
        let _classes = self.lock_classes();
        let o = self.find_cvar(c, name).unwrap_or(c);
        self.check_frozen(o.val())?;
        self.heap.before_store(o.val(), v);
        match o.data.cvars.iter().position(|x| x.0 == name) {
            Some(i) => self.heap.edit(o).data.cvars[i].1 = v,
            None => self.heap.edit(o).data.cvars.push((name, v)),
        }
        Ok(())
    }

    // --- globals -----------------------------------------------------------------

    #[inline(never)]
    pub(crate) fn global_get(&mut self, name: Sym) -> R {
        let i = self.global_index(name)?;
        let hooks = self.globals[i].hooks();
        self.check_global(name, hooks.0.is_some() || hooks.1.is_some())?;
        match hooks.0 {
            Some(f) => self.run_native(f, Guard::World, Value::NIL, &[Value::sym(name)]),
            None => {
                let g = &self.globals[i];
                let (v, unset) = (g.value(), !g.defined());
                if unset && self.options.verbose.load(Relaxed) == 2 && self.tells_unset(name) {
                    return Err(self.call_helper("global_unset", &[Value::sym(name)]));
                }
                Ok(v)
            }
        }
    }
    /// Is it told with `-w` that this global has no value yet? Those of punctuation and `$-x` are the runtime's.
    #[cold]
    fn tells_unset(&self, name: Sym) -> bool {
        !self.in_system() && self.syms.name(name).get(1).is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_' || *c >= 0x80)
    }
    #[inline(never)]
    pub(crate) fn global_set(&mut self, name: Sym, v: Value) -> Result<(), Exit> {
        self.heap.publish(v);
        self.global_set_shared(name, v)
    }
    /// The same of a value that was born shared, without the barrier.
    pub(crate) fn global_set_shared(&mut self, name: Sym, v: Value) -> Result<(), Exit> {
        let i = self.global_index(name)?;
        let hooks = self.globals[i].hooks();
        self.check_global(name, hooks.0.is_some() || hooks.1.is_some())?;
        match hooks.1 {
            Some(f) => {
                self.run_native(f, Guard::World, Value::NIL, &[Value::sym(name), v])?;
            }
            None => self.globals[i].set(v),
        }
        if self.globals[i].traced() {
            return Err(self.call_helper("traced_global", &[Value::sym(name), v]));
        }
        Ok(())
    }
    /// Is the global set (`defined?($x)`)?
    pub(crate) fn global_defined(&self, name: Sym) -> bool {
        self.global_ids.read().unwrap_or_else(|e| e.into_inner()).get(&name).is_some_and(|&i| self.globals[i].defined())
    }
    /// Names of all global variables.
    pub(crate) fn global_names(&self) -> Vec<Sym> {
        self.global_ids
            .read()
            .unwrap_or_else(|e| e.into_inner())
            .iter()
            .filter(|(_, i)| self.globals[**i].defined())
            .map(|(s, _)| *s)
            .collect()
    }

    // --- instance variables ----------------------------------------------------------

    // The cache word of a store: the object's shape above; below slot plus one, or the shape that it gets with this variable,
    // marked by `ADDS`.
    #[cold]
    #[inline(never)]
    pub(crate) fn ivar_get_slow(&mut self, s: Value, name: Sym, cache: &AtomicU64) -> R {
        if let Some(o) = s.cell::<ObjectObj>() {
            return Ok(match self.heap.shapes.slot(o.shape(), name) {
                Some(i) => {
                    cache.store((o.shape() as u64) << 32 | (i + 1) as u64, Relaxed);
                    let v = o.slot(i);
                    if v.is_undef() { Value::NIL } else { v }
                }
                None => Value::NIL,
            });
        }
        let v = self.ivar_get(s, name);
        if self.task.isolated && s.as_class().is_some() && self.isolated_code(self.fp()) && !self.shareable(v) {
            return Err(
                self.isolation_error("can not get unshareable values from instance variables of classes/modules from non-main Ractors")
            );
        }
        Ok(if v.is_undef() { Value::NIL } else { v })
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn ivar_set_slow(&mut self, s: Value, name: Sym, v: Value, cache: &AtomicU64) -> Outcome {
        if s.frozen() {
            let x = self.frozen_error(s);
            return self.leaf_exit_drop(x);
        }
        if self.task.isolated && s.as_class().is_some() && self.isolated_code(self.fp()) {
            let x = self.isolation_error("can not set instance variables of classes/modules by non-main Ractors");
            return self.leaf_exit_drop(x);
        }
        let before = s.cell::<ObjectObj>().map_or(ROOT_SHAPE, |o| o.shape());
        self.ivar_set_locked(s, name, v);
        if let Some(o) = s.cell::<ObjectObj>() {
            let after = o.shape();
            if let Some(i) = self.heap.shapes.slot(after, name) {
                let added = after != before && self.heap.shapes.count(before) == i && after < ADDS;
                let w = if added { (before as u64) << 32 | (ADDS | after) as u64 } else { (after as u64) << 32 | (i + 1) as u64 };
                cache.store(w, Relaxed);
            }
        }
        Outcome::Go
    }
    /// `@name = v` where the cache word says that an object of this shape gets the variable as its next one. False: it does
    /// not, or others may look on.
    #[inline(always)]
    pub(crate) fn slot_add(&mut self, o: Gc<ObjectObj>, w: u64, v: Value) -> bool {
        let (before, low) = ((w >> 32) as u32, w as u32);
        if before != o.shape() || low & ADDS == 0 || self.is_parallel() || o.hdr.frozen() {
            return false;
        }
        let Some(i) = self.heap.shapes.known_count(before).filter(|i| *i < o.hdr.x.get() as u32) else { return false };
        self.heap.before_store(o.val(), v);
        // The value before the shape that tells of it.
        self.heap.edit(o).set_slot(i, v);
        o.set_shape(low & !ADDS);
        true
    }

    /// Sets an instance variable from the loop: under the object's lock while others run and may reach it.
    pub(crate) fn ivar_set_locked(&mut self, s: Value, name: Sym, v: Value) {
        if !self.is_parallel() {
            self.ivar_set(s, name, v);
        } else if s.is_kind(Kind::Object) && !s.needs_lock() {
            deferred::alone(|| self.ivar_set(s, name, v));
        } else {
            let _l = s.locked();
            self.ivar_set(s, name, v);
        }
    }
    /// Stores into slot `k` of an object whose shape has it.
    #[inline(always)]
    pub(crate) fn slot_set(&mut self, o: Gc<ObjectObj>, k: u32, v: Value) {
        self.heap.before_store(o.val(), v);
        if self.is_parallel() && k >= o.hdr.x.get() as u32 {
            slot_set_outside(self, o, k, v);
        } else {
            self.heap.edit(o).set_slot(k, v);
        }
    }

    // --- defined? ---------------------------------------------------------------------

    #[inline(never)]
    pub(crate) fn defined_op(&mut self, fp: Fp, i: Insn) -> R {
        let name = || fp.iseq().syms[i.c()];
        let all = [
            Defined::Ivar,
            Defined::Global,
            Defined::Cvar,
            Defined::Const,
            Defined::ConstAt,
            Defined::ConstTop,
            Defined::Method,
            Defined::Fcall,
            Defined::Super,
            Defined::Yield,
            Defined::NthRef,
            Defined::BackRef,
        ];
        let Some(kind) = all.get(i.x() as usize).copied() else { return Ok(Value::NIL) };
        let is = |k: &Const| !k.value.is_undef() || k.autoload.is_some();
        let (yes, what) = match kind {
            Defined::Ivar => (!self.ivar_get(fp.r(0), name()).is_undef(), "instance-variable"),
            Defined::Global => (self.global_defined(name()), "global-variable"),
            Defined::Cvar => {
                let c = self.cvar_scope(fp);
                (c.is_some_and(|c| self.find_cvar(c, name()).is_some()), "class variable")
            }
            Defined::Const => (self.lookup_const(fp.cref(), name()).is_some_and(|(_, k)| is(&k)), "constant"),
            Defined::ConstAt => {
                let c = fp.r(i.b()).as_class();
                let yes = c.is_some_and(|c| {
                    self.find_const(c, name(), false).is_some_and(|(o, k)| {
                        is(&k) && (!k.private || fp.r(0) == c.val()) && (o != self.k.object || c == self.k.object || c.role == Role::Module)
                    })
                });
                if !yes {
                    // `A::b` may be a method as well.
                    let v = fp.r(i.b());
                    let class = self.class_of(v);
                    let m = self.find_method(class, name());
                    if m != NO_METHOD && self.methods[m as usize].vis == Vis::Public {
                        return Ok(self.str_frozen("method"));
                    }
                }
                (yes, "constant")
            }
            Defined::ConstTop => (self.find_const(self.k.object, name(), false).is_some_and(|(_, k)| is(&k) && !k.private), "constant"),
            Defined::Method | Defined::Fcall => {
                let recv = if kind == Defined::Method { fp.r(i.b()) } else { fp.r(0) };
                let class = self.class_of(recv);
                let (m, _) = self.lookup_in(fp, class, name());
                let seen = m != NO_METHOD
                    && (kind == Defined::Fcall
                        || match self.methods[m as usize].vis {
                            Vis::Public => true,
                            Vis::Private => false,
                            Vis::Protected => {
                                let o = self.methods[m as usize].owner;
                                self.is_a(fp.r(0), o)
                            }
                        });
                if !seen && m == NO_METHOD && !self.builtin(recv, sym::RESPOND_TO_MISSING) {
                    let pv = Value::bool(kind == Defined::Fcall);
                    return Err(self.call_helper("defined_method", &[recv, Value::sym(name()), pv]));
                }
                (seen, "method")
            }
            Defined::Super => {
                let yes = match self.current_method(fp) {
                    Some(m) => {
                        let e = &self.methods[m as usize];
                        let n = e.name;
                        let class = self.class_of(fp.r(0));
                        self.next_method(class, m, n) != NO_METHOD
                    }
                    None => false,
                };
                (yes, "super")
            }
            Defined::Yield => (!fp.block().is_nil(), "yield"),
            Defined::NthRef => (!self.nth_ref(i.c() as i32)?.is_nil(), "global-variable"),
            Defined::BackRef => (!self.back_ref(i.c() as u8)?.is_nil(), "global-variable"),
        };
        Ok(if yes { self.str_frozen(what) } else { Value::NIL })
    }
    pub(crate) fn str_frozen(&mut self, s: &str) -> Value {
        let v = self.str_ascii(s);
        if let Some(h) = v.header() {
            h.set(flag::FROZEN);
        }
        v
    }
}

/// Stores into a slot outside the cell, which may be moving, while others run.
#[inline(never)]
fn slot_set_outside(cx: &mut Cx, o: Gc<ObjectObj>, k: u32, v: Value) {
    if !o.val().needs_lock() {
        return deferred::alone(|| cx.heap.edit(o).set_slot(k, v));
    }
    let _l = o.val().locked();
    cx.heap.edit(o).set_slot(k, v);
}
