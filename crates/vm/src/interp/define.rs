//! Methods, classes and modules come into being.

use super::Outcome;
use super::binder::Strict;
use crate::doors::NO_METHOD;
use crate::doors::ResolvedCall;
use crate::doors::*;
use crate::tasks::frame::Fp;
use crate::world::method::{Body, Indexed, Method};
use crate::{Cx, sym};
use kumi_bytecode::{ISeq, Insn};
use kumi_heap::*;
use std::sync::Arc;

impl Cx {
    /// Where `def` in this frame goes: in a method where it would go beside the method, so in one of a class (`def self.m`) to the class.
    pub(crate) fn definee(&mut self, fp: Fp) -> Result<Gc<ClassObj>, Exit> {
        let mut c = self.lexical_cref(fp).cell::<CrefObj>();
        while let Some(x) = c {
            if !x.definee.is_nil() {
                if let Some(s) = self.singleton_class(x.definee) {
                    return Ok(s);
                }
                return Err(self.type_error("can't define singleton"));
            }
            if let Some(m) = x.module.as_class() {
                return Ok(m);
            }
            c = x.parent.cell::<CrefObj>();
        }
        Ok(self.k.object)
    }
    /// May a method be defined in `owner`?
    fn check_definable(&mut self, owner: Gc<ClassObj>) -> Result<(), Exit> {
        self.check_modifiable(owner)?;
        self.check_method_room()
    }
    /// The lexical place of a frame, for what is defined in it: the enclosing scope, not the method's own place.
    pub(crate) fn lexical_cref(&self, fp: Fp) -> Value {
        let mut v = fp.cref();
        while let Some(c) = v.cell::<CrefObj>() {
            if c.hdr.aux.get() == CrefObj::NO_METHOD {
                break;
            }
            v = c.parent;
        }
        v
    }

    #[inline(never)]
    pub(crate) fn def_method(&mut self, dst: usize, child: usize, name: Sym) -> Outcome {
        let fp = self.fp();
        let owner = match self.definee(fp) {
            Ok(o) => o,
            Err(x) => return self.leaf_exit(x, dst),
        };
        if let Err(x) = self.check_definable(owner) {
            return self.leaf_exit(x, dst);
        }
        let q = fp.iseq().children[child].clone();
        let bits = self.default_bits(fp);
        let special = matches!(
            self.syms.name(name),
            b"initialize" | b"initialize_copy" | b"initialize_clone" | b"initialize_dup" | b"respond_to_missing?"
        );
        let vis = if special {
            Vis::Private
        } else {
            match bits & CrefObj::VISIBILITY {
                CrefObj::PRIVATE => Vis::Private,
                CrefObj::PROTECTED => Vis::Protected,
                _ => Vis::Public,
            }
        };
        self.fp().set_r(dst, Value::sym(name));
        let lex = self.lexical_cref(fp);
        let mut told = self.discarding_def(owner, name);
        if bits & CrefObj::MODULE_FUNC != 0 && self.options.verbose.load(std::sync::atomic::Ordering::Relaxed) == 2 {
            told = self.discarding_both(told, owner, name);
        }
        self.install_code(owner, name, q.clone(), lex, vis);
        if bits & CrefObj::MODULE_FUNC != 0 {
            if let Some(s) = self.singleton_class(owner.val()) {
                self.install_code(s, name, q, lex, Vis::Public);
            }
        }
        self.defined_over(told, owner, name)
    }

    /// Adds a bytecode method with a place of its own.
    pub(crate) fn install_code(&mut self, owner: Gc<ClassObj>, name: Sym, q: Arc<ISeq>, lexical: Value, vis: Vis) -> u32 {
        let _classes = self.lock_classes();
        let cref = self.new_cref(owner.val(), lexical, CrefObj::NO_METHOD, 0);
        let entry = self.code_method(owner, name, q, cref.val(), vis);
        let m = self.add_method(owner, name, entry);
        cref.hdr.aux.set(m);
        m
    }

    /// `method_added` or `singleton_method_added`, when the user has one.
    pub(crate) fn added_hook(&mut self, owner: Gc<ClassObj>, name: Sym) -> Outcome {
        self.method_hook(owner, name, sym::METHOD_ADDED, sym::SINGLETON_METHOD_ADDED)
    }
    pub(crate) fn method_hook(&mut self, owner: Gc<ClassObj>, name: Sym, plain: Sym, single: Sym) -> Outcome {
        if owner.data.refined.is_some() {
            return Outcome::Go;
        }
        let (recv, hook) = if owner.is_singleton() { (owner.data.attached, single) } else { (owner.val(), plain) };
        // Numeric has a hook of its own: numbers refuse singleton methods.
        if self.builtin(recv, hook) && !self.is_a(recv, self.k.numeric) {
            return Outcome::Go;
        }
        let x = self.call(recv, hook, &[Value::sym(name)]);
        self.leaf_exit_drop(x)
    }

    #[inline(never)]
    pub(crate) fn def_singleton(&mut self, reg: usize, child: usize, name: Sym) -> Outcome {
        let fp = self.fp();
        let obj = fp.r(reg);
        let Some(owner) = self.singleton_class(obj) else {
            let x = self.type_error("can't define singleton");
            return self.leaf_exit(x, reg);
        };
        if let Err(x) = self.check_modifiable(owner) {
            return self.leaf_exit(x, reg);
        }
        if let Err(x) = self.check_method_room() {
            return self.leaf_exit(x, reg);
        }
        let q = fp.iseq().children[child].clone();
        let lex = self.lexical_cref(fp);
        let told = self.discarding_def(owner, name);
        self.install_code(owner, name, q, lex, Vis::Public);
        fp.set_r(reg, Value::sym(name));
        self.defined_over(told, owner, name)
    }

    /// `class`, `module`, `class <<`.
    #[inline(never)]
    pub(crate) fn class_def(&mut self, i: Insn) -> Outcome {
        let fp = self.fp();
        let body = &fp.iseq().bodies[i.c()];
        let q = fp.iseq().children[body.child as usize].clone();
        let (scope, sup) = (fp.r(i.b()), fp.r(i.b() + 1));
        let name = body.name;
        let dst = i.a();
        let opened = if i.x() == 2 {
            match self.singleton_class(scope) {
                Some(s) => Ok((s, false)),
                None => Err(self.type_error("can't define singleton")),
            }
        } else {
            let target = if scope.is_undef() {
                Ok(self.lexical_modules(fp.cref()).first().copied().unwrap_or(self.k.object))
            } else {
                scope.as_class().ok_or(())
            };
            match target {
                Ok(t) => self.open_module(t, name, sup, i.x() == 0, scope.is_undef()),
                Err(()) => Err(self.call_helper("not_a_module", &[scope])),
            }
        };
        let (class, fresh) = match opened {
            Ok(o) => o,
            Err(x) => return self.leaf_exit(x, dst),
        };
        if fresh {
            let line = fp.iseq().line_at((((self.pc as usize - fp.iseq().code.as_ptr() as usize) / 8) as u32).saturating_sub(1));
            let t = if scope.is_undef() {
                self.lexical_modules(fp.cref()).first().copied().unwrap_or(self.k.object)
            } else {
                scope.as_class().unwrap_or(self.k.object)
            };
            let _classes = self.lock_classes();
            if let Some(k) = self.heap.edit(t).data.consts.get_mut(&name) {
                k.file = Some(fp.iseq().path.clone());
                k.line = line;
            }
        }
        let lex = self.lexical_cref(fp);
        let cref = self.new_cref(class.val(), lex, CrefObj::NO_METHOD, CrefObj::PUBLIC);
        let inherited = fresh && i.x() == 0 && {
            let s = class.data.superclass.unwrap_or(self.k.object);
            !self.builtin(s.val(), sym::INHERITED)
        };
        let added = fresh && {
            let t = if scope.is_undef() { self.lexical_modules(fp.cref()).first().copied().unwrap_or(self.k.object).val() } else { scope };
            !self.builtin(t, sym::CONST_ADDED)
        };
        let r = ResolvedCall::new(class.val(), Args::new(), dst, 0);
        if inherited || added {
            // The hooks run first, then the body: a helper makes both calls.
            let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
            hdr.x.put(ProcObj::LAMBDA);
            let nil = Value::NIL;
            let p = self.heap.proc(ProcObj {
                hdr,
                iseq: &*q as *const ISeq as u64,
                self_val: class.val(),
                env: nil,
                cref: cref.val(),
                block: nil,
                home: nil,
            });
            let t = if scope.is_undef() { self.lexical_modules(fp.cref()).first().copied().unwrap_or(self.k.object).val() } else { scope };
            let sup = if inherited { class.data.superclass.map_or(Value::NIL, |s| s.val()) } else { Value::NIL };
            let owner = if added { t } else { Value::NIL };
            let x = self.call_helper("class_body", &[p.val(), class.val(), sup, owner, Value::sym(name)]);
            return self.leaf_exit(x, dst);
        }
        self.push_code(&q, r, cref.val(), Value::NIL, Value::NIL, Strict::Yes, 0)
    }

    /// Finds or makes the class or module `name` in `scope`. The flag: it is new.
    fn open_module(
        &mut self,
        scope: Gc<ClassObj>,
        name: Sym,
        sup: Value,
        class: bool,
        lexical: bool,
    ) -> Result<(Gc<ClassObj>, bool), Exit> {
        let _classes = self.lock_classes();
        let word = if class { "class" } else { "module" };
        let sup_class = if sup.is_undef() {
            None
        } else {
            match sup.as_class() {
                Some(c) if c.role == Role::Class => Some(c),
                Some(c) if c.is_singleton() => return Err(self.type_error("can't make subclass of singleton class")),
                _ => {
                    return Err(self
                        .type_error("superclass must be an instance of Class (given an instance of {})")
                        .into_described(self, sup));
                }
            }
        };
        let found = scope.data.consts.get(&name).cloned();
        // The file of an autoload constant is being loaded by this thread: here comes its definition.
        let expected = |k: &Const| k.value.is_undef() && k.loading == self.task.root();
        if let Some(k) = found.filter(|k| !expected(k)) {
            if k.private && !lexical {
                return Err(self.private_const(scope, scope.val(), name));
            }
            if k.value.is_undef() || self.loads_elsewhere(&k) {
                let path = k.autoload.clone().unwrap_or_default();
                let p = self.str_enc(&path, crate::EncIndex::UTF_8);
                // SAFETY: the instruction that runs ends before pc and has one word.
                self.pc = unsafe { self.pc.sub(1) };
                let mut x = self.call_helper("autoload_open", &[scope.val(), Value::sym(name), p]);
                if let Some(c) = &mut self.pending.call {
                    c.result = Value::NIL;
                }
                if x != Exit::Call {
                    x = Exit::Raise;
                }
                return Err(x);
            }
            let text = self.sym_name(name);
            let Some(c) = k.value.as_class().filter(|c| (c.role == Role::Class) == class) else {
                let full = if scope == self.k.object { text } else { format!("{}::{text}", self.class_name(scope)) };
                let place = k
                    .file
                    .as_ref()
                    .map_or(String::new(), |f| format!("\n{f}:{}: previous definition of {} was here", k.line, self.sym_name(name)));
                return Err(self.type_error(&format!("{full} is not a {word}{place}")));
            };
            if let Some(s) = sup_class {
                let mut real = c.data.superclass;
                while let Some(r) = real.filter(|r| r.is_singleton()) {
                    real = r.data.superclass;
                }
                if real != Some(s) {
                    return Err(self.type_error(&format!("superclass mismatch for class {text}")));
                }
            }
            return Ok((c, false));
        }
        self.check_frozen(scope.val())?;
        let c = if class {
            let s = sup_class.unwrap_or(self.k.object);
            if s == self.k.class {
                return Err(self.type_error("can't make subclass of Class"));
            }
            self.new_class(s)
        } else {
            self.new_module()
        };
        self.set_const(scope, name, c.val());
        Ok((c, true))
    }

    #[inline(never)]
    pub(crate) fn undef_op(&mut self, name: Value) -> Outcome {
        let fp = self.fp();
        let owner = match self.definee(fp) {
            Ok(o) => o,
            Err(x) => return self.leaf_exit_drop(x),
        };
        let Some(name) = name.as_sym() else { return Outcome::Go };
        match self.undef_method(owner, name) {
            Ok(()) => self.undefined_over(owner, name),
            Err(x) => self.leaf_exit_drop(x),
        }
    }
    /// `undef name`: calls no longer find it, here and above.
    pub fn undef_method(&mut self, owner: Gc<ClassObj>, name: Sym) -> Result<(), Exit> {
        let _classes = self.lock_classes();
        self.check_definable(owner)?;
        let mut found = self.find_method(owner, name);
        if let Some(r) = owner.data.refined.filter(|_| found == NO_METHOD) {
            found = self.find_method(r, name);
        }
        if found == NO_METHOD && owner.role == Role::Module {
            found = self.find_method(self.k.object, name);
        }
        if found == NO_METHOD {
            return Err(self.undefined_for(owner, name));
        }
        let entry = Method::new(owner, name, Body::Undef);
        self.add_method(owner, name, entry);
        Ok(())
    }
    /// "undefined method 'x' for class 'Foo'"
    pub(crate) fn undefined_for(&mut self, owner: Gc<ClassObj>, name: Sym) -> Exit {
        let n = self.sym_name(name);
        let on = self.class_name(owner);
        let word = if owner.role == Role::Module { "module" } else { "class" };
        self.name_error(&format!("undefined method '{n}' for {word} '{on}'"), owner.val(), name)
    }
    /// Defines a method without arguments that runs `f` with the receiver and `index`, for about as much as an
    /// `attr_reader` costs.
    pub fn define_indexed(&mut self, class: Gc<ClassObj>, name: Sym, f: IndexedFn, index: u32, vis: Vis) {
        let body = Body::Indexed(Indexed { f, index, field: false });
        self.add_indexed(class, name, body, vis);
    }
    /// As [`Cx::define_indexed`], for field `index` of records: where it is decoded already its value is the answer; `f` runs
    /// for one that is pending or removed, and for receivers that are no records.
    pub fn define_field(&mut self, class: Gc<ClassObj>, name: Sym, f: IndexedFn, index: u32, vis: Vis) {
        let body = Body::Indexed(Indexed { f, index, field: true });
        self.add_indexed(class, name, body, vis);
    }
    fn add_indexed(&mut self, class: Gc<ClassObj>, name: Sym, body: Body, vis: Vis) {
        let m = Method { vis, min: 0, max: 0, ..Method::new(class, name, body) };
        self.add_method(class, name, m);
    }

    #[inline(never)]
    pub(crate) fn alias_op(&mut self, new: Value, old: Value) -> Outcome {
        let fp = self.fp();
        let owner = match self.definee(fp) {
            Ok(o) => o,
            Err(x) => return self.leaf_exit_drop(x),
        };
        let (Some(new), Some(old)) = (new.as_sym(), old.as_sym()) else { return Outcome::Go };
        let told = self.discarding(owner, new);
        match self.alias_method(owner, new, old) {
            Ok(()) => self.defined_over(told, owner, new),
            Err(x) => self.leaf_exit_drop(x),
        }
    }
    /// `alias new old` in `owner`, without hooks.
    pub fn alias_method(&mut self, owner: Gc<ClassObj>, new: Sym, old: Sym) -> Result<(), Exit> {
        let _classes = self.lock_classes();
        self.check_definable(owner)?;
        let mut m = self.find_method(owner, old);
        let mut vis = None;
        if m != NO_METHOD {
            if matches!(self.methods[m as usize].body, Body::Zsuper) {
                vis = Some(self.methods[m as usize].vis);
            }
            m = self.real_method(owner, m);
        } else if let Some(r) = owner.data.refined {
            m = self.find_method(r, old);
        } else if owner.role == Role::Module {
            m = self.find_method(self.k.object, old);
        }
        if m == NO_METHOD {
            return Err(self.undefined_for(owner, old));
        }
        self.force_lazy(m)?;
        let _ = self.methods[m as usize].aliased.set(());
        let mut e = self.methods[m as usize].settled();
        if let Some(v) = vis {
            e.vis = v;
        }
        let system = self.fp.is_null() || self.fp().iseq().system && self.user_frame().is_none();
        // An alias keeps owner and name of the original, so that super goes on from there.
        e.builtin = e.builtin && system;
        e.called = new;
        if new == sym::NOT {
            self.not_redefined.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        let place = self.own_place(&mut e, None);
        let Some(i) = self.new_method(e) else { return Err(self.no_memory("too many methods")) };
        if let Some(c) = place {
            c.hdr.aux.set(i);
        }
        if self.heap.edit(owner).data.methods.insert(new, i).is_none() {
            self.heap.edit(owner).data.method_order.push(new);
        }
        self.touch(owner);
        Ok(())
    }

    /// A place of its own for a copy of an entry, whose number its maker writes into it: a frame's place names the entry that
    /// runs, for `super` and `__callee__`. `module`: the module it is copied into.
    pub(crate) fn own_place(&mut self, e: &mut Method, module: Option<(Gc<ClassObj>, Gc<ClassObj>)>) -> Option<Gc<CrefObj>> {
        // A lazy body makes its place when it is compiled.
        e.forced = Default::default();
        let old = e.cref.cell::<CrefObj>().filter(|c| c.hdr.aux.get() != CrefObj::NO_METHOD)?;
        let module = match module {
            Some((from, to)) if old.module == from.val() => to.val(),
            _ => old.module,
        };
        let place = self.new_cref(module, old.parent, CrefObj::NO_METHOD, old.hdr.x.get());
        for v in [old.refinements, old.definee] {
            self.heap.before_store(place.val(), v);
        }
        self.heap.edit(place).refinements = old.refinements;
        self.heap.edit(place).definee = old.definee;
        e.cref = place.val();
        Some(place)
    }
    /// Enters a copy of `e` of `from` into `to` under the same name (`clone`, `dup`, `import_methods`): its own methods belong to `to` then.
    pub fn copy_method(&mut self, from: Gc<ClassObj>, to: Gc<ClassObj>, mid: Sym, e: &Method) -> Option<Gc<CrefObj>> {
        let _classes = self.lock_classes();
        let mut e = e.clone();
        if e.owner == from {
            e.owner = to;
        }
        let mut place = self.own_place(&mut e, Some((from, to)));
        let i = self.add_method(to, mid, e);
        if let Some(c) = &mut place {
            c.hdr.aux.set(i);
        }
        place
    }

    /// `define_method(name, body)`: body is a Proc, a Method or an UnboundMethod's entry.
    pub(crate) fn define_proc_method(&mut self, owner: Gc<ClassObj>, name: Sym, prc: Value, vis: Vis) -> Result<u32, Exit> {
        let _classes = self.lock_classes();
        self.check_definable(owner)?;
        let outer = prc.as_proc().map_or(Value::NIL, |p| p.cref);
        let cref = self.new_cref(owner.val(), outer, CrefObj::NO_METHOD, CrefObj::NO_CONST);
        let mut e = Method::new(owner, name, Body::Proc(prc));
        e.cref = cref.val();
        e.vis = vis;
        let m = self.add_method(owner, name, e);
        cref.hdr.aux.set(m);
        Ok(m)
    }

    /// What `private` and its like have set for the place in which `f` runs: a class's body, an evaluated text or a block that is
    /// evaluated for a module, also within a method. A method's own place has nothing of the kind, but that of one whose body is a block
    /// has what the block's place has.
    fn default_bits(&self, f: Fp) -> u16 {
        let mut c = f.cref().cell::<CrefObj>();
        while let Some(x) = c {
            let m = x.hdr.aux.get();
            if m == CrefObj::NO_METHOD {
                return x.hdr.x.get();
            }
            if !matches!(self.methods[m as usize].body, Body::Proc(_)) {
                break;
            }
            c = x.parent.cell::<CrefObj>();
        }
        0
    }
    /// Where they set it: in a method, for the place around it.
    fn visibility_place(f: Fp) -> Option<Gc<CrefObj>> {
        let mut c = f.cref().cell::<CrefObj>()?;
        while c.hdr.aux.get() != CrefObj::NO_METHOD {
            c = c.parent.cell::<CrefObj>()?;
        }
        Some(c)
    }
    /// Default visibility for `def` in the nearest user frame.
    pub(crate) fn set_default_visibility(&mut self, vis: Vis, module_func: bool) {
        if let Some(f) = self.user_frame() {
            // eval and blocks share the scope's place.
            if let Some(c) = Self::visibility_place(f) {
                let bits = match vis {
                    Vis::Public => CrefObj::PUBLIC,
                    Vis::Private => CrefObj::PRIVATE,
                    Vis::Protected => CrefObj::PROTECTED,
                };
                c.hdr.x.set((c.hdr.x.get() & CrefObj::NO_CONST) | bits | if module_func { CrefObj::MODULE_FUNC } else { 0 });
            }
        }
    }
    /// Visibility and module_function in force in the nearest user frame.
    pub(crate) fn default_visibility(&mut self) -> (Vis, bool) {
        let Some(f) = self.user_frame() else { return (Vis::Public, false) };
        let bits = self.default_bits(f);
        let v = match bits & CrefObj::VISIBILITY {
            CrefObj::PRIVATE => Vis::Private,
            CrefObj::PROTECTED => Vis::Protected,
            _ => Vis::Public,
        };
        (v, bits & CrefObj::MODULE_FUNC != 0)
    }
}

/// Fills a "{}" in the message of the pending exception with the class of a value.
trait Described {
    fn into_described(self, cx: &mut Cx, v: Value) -> Exit;
}
impl Described for Exit {
    fn into_described(self, cx: &mut Cx, v: Value) -> Exit {
        let e = cx.pending.exc;
        let m = cx.ivar_get(e, sym::IV_MESSAGE);
        let t = cx.text(m).replace("{}", &cx.describe_type(v));
        let s = cx.str(&t);
        cx.ivar_set(e, sym::IV_MESSAGE, s);
        self
    }
}
