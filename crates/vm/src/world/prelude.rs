//! The prelude: built-in classes written in Ruby, compiled when first called.
//!
//! Start-up enters every `def` as [`Body::Lazy`] from the index that the build made
//! (see `kumi_prelude`); nothing is parsed but the eager texts. A `def` whose class
//! has a native of that name becomes the native's twin: one method entry, the native
//! first, the Ruby body when the native answers `Miss`.

use crate::Cx;
use crate::doors::NO_METHOD;
use crate::doors::{Exit, Vis};
use crate::world::method::{Body, Method};
use kumi_bytecode::ISeq;
use kumi_heap::{ClassObj, CrefObj, Gc, Role, Sym, Value};
use kumi_prelude::{ClassRef, DefRec, File, Mix, Opened, TOP, Visibility, What};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Where a lazily compiled method's text is.
pub struct LazyMethod {
    /// Index into `sources`.
    pub file: u16,
    pub from: u32,
    pub to: u32,
    pub line: u32,
    /// Filled by the first call.
    pub code: OnceLock<Arc<ISeq>>,
}

/// One file of the prelude.
pub struct Source {
    /// `<internal:array>`: what `source_location` and `__FILE__` show.
    pub path: Arc<str>,
    pub text: Cow<'static, [u8]>,
    pub frozen_strings: bool,
}

/// Sources and what has been indexed in them.
#[derive(Default)]
pub struct Prelude {
    /// The packed prelude of the binary; empty when none was linked in.
    pub blob: &'static [u8],
    pub sources: Vec<Source>,
    pub methods: Vec<LazyMethod>,
}

/// A class body of one file: what `self` is, and the place its constants are looked up from.
#[derive(Clone, Copy)]
struct Open {
    class: Gc<ClassObj>,
    cref: Value,
}

impl Cx {
    /// The packed prelude that [`Cx::load_prelude`] reads.
    pub fn embed_prelude(&mut self, blob: &'static [u8]) {
        self.boot().prelude.blob = blob;
    }

    /// Enters the prelude's classes and methods and runs its eager texts. With
    /// `KUMI_PRELUDE=dir` in the environment the files of that folder are indexed
    /// instead of the ones in the binary.
    ///
    /// # Errors
    /// A message that says which file is wrong, and where.
    pub fn load_prelude(&mut self) -> Result<(), String> {
        let files: Vec<File<'static>> = match std::env::var_os("KUMI_PRELUDE") {
            Some(dir) if !dir.is_empty() => kumi_prelude::read_dir(dir.as_ref())?,
            _ if self.prelude.blob.is_empty() => return Ok(()),
            _ => kumi_prelude::unpack(self.prelude.blob).ok_or("the embedded prelude is damaged")?,
        };
        let mut bodies: Vec<Vec<Open>> = Vec::with_capacity(files.len());
        for f in &files {
            bodies.push(self.open_classes(f)?);
        }
        for (f, open) in files.iter().zip(&bodies) {
            self.mix_in(f, open)?;
        }
        for (f, open) in files.iter().zip(&bodies) {
            self.enter_methods(f, open);
        }
        for (f, open) in files.iter().zip(&bodies) {
            self.enter_aliases(f, open)?;
        }
        for (f, open) in files.iter().zip(&bodies) {
            self.undefine(f, open)?;
        }
        self.kernel_functions();
        // Entries were made behind the method cache's back.
        self.touch(self.k.basic_object);
        for open in bodies.iter().flatten() {
            if open.class.role == Role::Module {
                self.touch(open.class);
            }
        }
        let first = self.prelude.sources.len() - files.len();
        for (i, f) in files.iter().enumerate() {
            if !f.index.eager.trim().is_empty() {
                let path = self.prelude.sources[first + i].path.clone();
                self.eval_system(f.index.eager.as_bytes(), &path, 1).map_err(|e| self.describe_exit(&path, e))?;
            }
        }
        // From here on a definition of an operator is a user's.
        self.boot().booted = true;
        self.rt.pin_tables();
        Ok(())
    }

    /// Kernel's functions can be called on Kernel itself too.
    fn kernel_functions(&mut self) {
        let kernel = self.k.kernel;
        let Some(single) = self.singleton_class(kernel.val()) else { return };
        for name in kernel.data.method_order.clone() {
            let Some(&i) = kernel.data.methods.get(&name) else { continue };
            let text = self.syms.name(name);
            let internal = text.starts_with(b"initialize") || text == b"respond_to_missing?" || text == b"instance_variables_to_inspect";
            if self.methods[i as usize].vis != Vis::Private || internal || single.data.methods.contains_key(&name) {
                continue;
            }
            let mut m = self.methods[i as usize].clone();
            m.vis = Vis::Public;
            m.owner = single;
            let Some(k) = self.new_method(m) else { continue };
            self.heap.edit(single).data.methods.insert(name, k);
            self.heap.edit(single).data.method_order.push(name);
        }
    }

    fn describe_exit(&mut self, path: &str, e: Exit) -> String {
        let exc = self.pending.exc;
        if e != Exit::Raise || !exc.is_heap() {
            return format!("{path}: {e:?} while the prelude was loaded");
        }
        let class = self.real_class(exc);
        let class = self.class_name(class);
        let message = self.ivar_get(exc, crate::sym::IV_MESSAGE);
        let message = message.as_str().map_or(String::new(), |s| String::from_utf8_lossy(s.bytes()).into_owned());
        format!("{path}: {message} ({class})")
    }

    /// The class behind a name in a body: lexically, then from Object.
    fn prelude_const(&mut self, f: &File<'_>, open: &[Open], mut at: ClassRef, name: &str) -> Option<Gc<ClassObj>> {
        let mut parts = name.trim_start_matches("::").split("::");
        let head = self.own_const(parts.next()?);
        let mut found = None;
        while at != TOP && found.is_none() && !name.starts_with("::") {
            found = open.get(at as usize).and_then(|o| o.class.data.consts.get(&head)).map(|c| c.value);
            at = f.index.classes.get(at as usize).map_or(TOP, |c| c.parent);
        }
        let mut c = found.or_else(|| self.k.object.data.consts.get(&head).map(|c| c.value))?.as_class()?;
        for p in parts {
            let p = self.syms.intern(p.as_bytes());
            c = c.data.consts.get(&p)?.value.as_class()?;
        }
        Some(c)
    }

    /// Finds or makes the classes and modules of a file.
    fn open_classes(&mut self, f: &File<'static>) -> Result<Vec<Open>, String> {
        let base = f.name.strip_suffix(".rb").unwrap_or(&f.name);
        self.boot().prelude.sources.push(Source {
            path: format!("<internal:{base}>").into(),
            text: f.source.clone(),
            frozen_strings: f.index.frozen_strings,
        });
        let top = self.top_cref;
        let mut open: Vec<Open> = Vec::with_capacity(f.index.classes.len());
        for c in &f.index.classes {
            let (outer, parent_cref) = match open.get(c.parent as usize) {
                Some(o) => (o.class, o.cref),
                None => (self.k.object, top),
            };
            let path = c.path.trim_start_matches("::");
            let (scope, last) = match path.rsplit_once("::") {
                Some((p, l)) => match self.prelude_const(f, &open, c.parent, p) {
                    Some(s) => (s, l),
                    None => return Err(format!("{}: {p} is not defined", f.name)),
                },
                None if c.path.starts_with("::") => (self.k.object, path),
                None => (outer, path),
            };
            let name = self.own_const(last);
            if c.what == Opened::Object {
                let object = self.heap.object(self.k.object);
                self.set_const(scope, name, object);
                let single = self.singleton_class(object).ok_or_else(|| format!("{}: {path} is no object", f.name))?;
                let cref = self.new_cref(single.val(), parent_cref, CrefObj::NO_METHOD, CrefObj::PUBLIC).val();
                open.push(Open { class: single, cref });
                continue;
            }
            let class = match scope.data.consts.get(&name).map(|k| k.value) {
                Some(v) => v.as_class().ok_or_else(|| format!("{}: {path} is not a class or module", f.name))?,
                None => {
                    let made = if c.what == Opened::Module {
                        self.new_module()
                    } else if c.superclass.is_empty() {
                        self.new_class(self.k.object)
                    } else {
                        let sup = self.prelude_const(f, &open, c.parent, &c.superclass);
                        let sup = sup.ok_or_else(|| format!("{}: superclass {} is not defined", f.name, c.superclass))?;
                        self.new_class(sup)
                    };
                    self.set_const(scope, name, made.val());
                    made
                }
            };
            let cref = self.new_cref(class.val(), parent_cref, CrefObj::NO_METHOD, CrefObj::PUBLIC).val();
            open.push(Open { class, cref });
        }
        Ok(open)
    }

    fn mix_in(&mut self, f: &File<'_>, open: &[Open]) -> Result<(), String> {
        for m in &f.index.mixins {
            let class = open.get(m.class as usize).map_or(self.k.object, |o| o.class);
            let module = self.prelude_const(f, open, m.class, &m.module);
            let module = module.ok_or_else(|| format!("{}: module {} is not defined", f.name, m.module))?;
            match m.how {
                Mix::Include => self.include_module(class, module),
                Mix::Prepend => self.prepend_module(class, module),
                Mix::Extend => {
                    if let Some(s) = self.singleton_class(class.val()) {
                        self.include_module(s, module);
                    }
                }
            }
        }
        Ok(())
    }

    fn enter_methods(&mut self, f: &File<'_>, open: &[Open]) {
        // `open_classes` ran for all files before: find this file's source by its place from the end.
        let base = f.name.strip_suffix(".rb").unwrap_or(&f.name);
        let file = self
            .prelude
            .sources
            .iter()
            .rposition(|s| s.path.strip_prefix("<internal:").and_then(|p| p.strip_suffix('>')) == Some(base))
            .unwrap_or(0) as u16;
        for d in &f.index.defs {
            let Open { class, cref } = match open.get(d.class as usize) {
                Some(o) => *o,
                None => Open { class: self.k.object, cref: self.top_cref },
            };
            let name = self.syms.intern(d.name.as_bytes());
            let body = match d.what {
                What::Code => {
                    self.boot().prelude.methods.push(LazyMethod { file, from: d.from, to: d.to, line: d.line, code: OnceLock::new() });
                    Body::Lazy(self.prelude.methods.len() as u32 - 1)
                }
                What::AttrGet => Body::AttrGet(self.syms.intern(format!("@{}", d.name).as_bytes())),
                What::AttrSet => Body::AttrSet(self.syms.intern(format!("@{}", d.name.trim_end_matches('=')).as_bytes())),
            };
            let (vis, both) = match d.vis {
                Visibility::Public => (Vis::Public, false),
                Visibility::Private => (Vis::Private, false),
                Visibility::Protected => (Vis::Protected, false),
                Visibility::ModuleFunction => (Vis::Private, !d.singleton),
            };
            if d.singleton || both {
                if let Some(s) = self.singleton_class(class.val()) {
                    let v = if both { Vis::Public } else { vis };
                    self.enter(s, name, d, body.clone(), cref, v);
                }
            }
            if !d.singleton {
                self.enter(class, name, d, body, cref, vis);
            }
        }
    }

    /// One method entry, or the twin of the native that has this name.
    fn enter(&mut self, owner: Gc<ClassObj>, name: Sym, d: &DefRec<'_>, body: Body, cref: Value, vis: Vis) {
        if let Some(&i) = owner.data.methods.get(&name) {
            if (i as usize) < self.methods.len() {
                // SAFETY: boot: this is the only worker, and nothing runs.
                let m = unsafe { self.methods.row_mut(i as usize) };
                if m.native.is_some() && matches!(m.body, Body::Native) {
                    m.body = body;
                    m.cref = cref;
                    return;
                }
            }
        }
        let made = self.new_method(Method { min: d.min, max: d.max, vis, builtin: true, cref, ..Method::new(owner, name, body) });
        let Some(i) = made else { return };
        if self.heap.edit(owner).data.methods.insert(name, i).is_none() {
            self.heap.edit(owner).data.method_order.push(name);
        }
    }

    fn enter_aliases(&mut self, f: &File<'_>, open: &[Open]) -> Result<(), String> {
        for a in &f.index.aliases {
            let class = open.get(a.class as usize).map_or(self.k.object, |o| o.class);
            let owner = if a.singleton { self.singleton_class(class.val()).unwrap_or(class) } else { class };
            let (new, old) = (self.syms.intern(a.new.as_bytes()), self.syms.intern(a.old.as_bytes()));
            let mut i = owner.data.methods.get(&old).copied().unwrap_or(NO_METHOD);
            if i == NO_METHOD {
                i = self.find_method(owner, old);
            }
            if i == NO_METHOD && owner.role == Role::Module {
                i = self.find_method(self.k.object, old);
            }
            let Some(m) = self.methods.get(i as usize) else {
                let class = self.class_name(class);
                return Err(format!("{}: alias {}: {class} has no method {}", f.name, a.new, a.old));
            };
            let m = Method { called: new, ..m.clone() };
            let Some(at) = self.new_method(m) else { continue };
            if self.heap.edit(owner).data.methods.insert(new, at).is_none() {
                self.heap.edit(owner).data.method_order.push(new);
            }
        }
        Ok(())
    }

    fn undefine(&mut self, f: &File<'_>, open: &[Open]) -> Result<(), String> {
        for u in &f.index.undefs {
            let class = open.get(u.class as usize).map_or(self.k.object, |o| o.class);
            let owner = if u.singleton { self.singleton_class(class.val()).unwrap_or(class) } else { class };
            let name = self.syms.intern(u.name.as_bytes());
            self.undef_method(owner, name).map_err(|e| self.describe_exit(&f.name, e))?;
        }
        Ok(())
    }

    /// Compiles the prelude method `i`, once.
    pub(crate) fn compile_lazy(&mut self, i: u32) -> Result<Arc<ISeq>, Exit> {
        let Some(m) = self.prelude.methods.get(i as usize) else {
            return Err(self.runtime_error("prelude method is missing"));
        };
        if let Some(c) = m.code.get() {
            return Ok(c.clone());
        }
        let (line, from, to) = (m.line, m.from as usize, m.to as usize);
        let Some(s) = self.prelude.sources.get(m.file as usize) else {
            return Err(self.runtime_error("prelude method is missing"));
        };
        let (path, frozen) = (s.path.clone(), s.frozen_strings);
        let text = s.text.get(from..to).unwrap_or_default().to_vec();
        let code = self.compile_system_method(&text, path, line, frozen)?;
        Ok(self.prelude.methods[i as usize].code.get_or_init(|| code).clone())
    }
}
