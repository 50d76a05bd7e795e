//! Running text: the program, required files, `eval`, prelude texts.

use crate::Cx;
use crate::doors::*;
use crate::names::symbols::sym;
use crate::tasks::frame::{Fp, ff};
use kumi_bytecode::{HEADER, ISeq, Kind as Code, Op, ScopeNames};
use kumi_compiler::{self as compiler, CompileEnv};
use kumi_heap::*;
use std::sync::Arc;

/// What `binding` captures: enough to run more code in a scope.
pub struct EvalScope {
    pub self_val: Value,
    pub env: Value,
    pub names: Option<Arc<ScopeNames>>,
    pub cref: Value,
    pub block: Value,
    pub home: Value,
    pub path: Arc<str>,
    pub line: u32,
    pub(crate) in_method: bool,
    /// What frames of the place are called in a backtrace: its method's or file's label, and in how many blocks it lies.
    pub label: Arc<str>,
    pub depth: u16,
}

impl Payload for EvalScope {
    fn confined(&self) -> bool {
        true
    }
    fn trace(&self, m: &mut Marker) {
        for v in [self.self_val, self.env, self.cref, self.block, self.home] {
            m.mark(v);
        }
        if let (true, Some(n)) = (m.rows(), &self.names) {
            n.each_sym(&mut |s| m.sym(*s));
        }
    }
}

impl CompileEnv for Cx {
    fn intern(&mut self, name: &[u8]) -> Sym {
        if self.weak_names {
            if let Ok(s) = self.sym_of(name) {
                return s;
            }
            self.pending.exc = Value::NIL;
        }
        self.syms.intern(name)
    }
    fn name(&self, s: Sym) -> Vec<u8> {
        self.syms.name(s).to_vec()
    }
    fn intrinsic(&self, name: &str) -> Option<u16> {
        self.intrinsic_ids.get(name).copied()
    }
    fn regex_error(&mut self, source: &[u8], options: u8, enc: crate::EncIndex) -> Option<String> {
        let s = self.str_enc(source, enc);
        let kept = self.pending.exc;
        let failed = matches!(self.regexp(s, options), Err(Exit::Raise));
        let exc = std::mem::replace(&mut self.pending.exc, kept);
        if !failed {
            return None;
        }
        let message = self.ivar_get(exc, crate::sym::IV_MESSAGE);
        Some(message.as_str().map_or_else(String::new, |m| String::from_utf8_lossy(m.bytes()).into_owned()))
    }
    fn regex_complaints(&mut self, source: &[u8], options: u8) -> Vec<String> {
        if self.options.verbose.load(std::sync::atomic::Ordering::Relaxed) < 2 {
            return Vec::new();
        }
        let Some((f, _)) = self.intrinsic_fn("__regexp_complaints") else { return Vec::new() };
        let s = self.str_enc(source, crate::EncIndex::UTF_8);
        let said = f(self, Value::NIL, &[s, Value::fix(options as i64)]).ok().and_then(|v| v.as_array());
        said.iter().flat_map(|a| a.seen()).filter_map(|v| Some(String::from_utf8_lossy(v.as_str()?.bytes()).into_owned())).collect()
    }
    fn takes_block(&mut self, name: Sym) {
        self.syms.set_takes_block(name);
    }
    fn is_called_away(&mut self) -> bool {
        let Some(mut p) = self.compiling else { return false };
        let away = p.is_over(self);
        self.compiling = Some(p);
        away
    }
}

/// The parse of a long text, done away from the worker, and how it was asked for.
struct ParsedAway {
    path: Arc<str>,
    line: u32,
    scope: Option<Arc<ScopeNames>>,
    out: Result<compiler::Parsed, compiler::SyntaxError>,
}

/// Parsing takes so long, in nanoseconds for each byte.
const PARSING: u64 = 20;
/// More bytes are parsed aside: what is wrong from end to end (`"(" * 2_000_000`) takes hundreds of times as long.
const LONG_TEXT: usize = 200_000;

/// Where a file really is at this moment; a file inside the binary is where its name says.
pub fn real_path(path: &str) -> Arc<str> {
    if path.starts_with("<internal:") {
        return path.into();
    }
    std::fs::canonicalize(path).map_or_else(|_| path.into(), |p| p.to_string_lossy().into())
}

impl Cx {
    /// Compiles text and keeps the code.
    ///
    /// # Errors
    /// A pending SyntaxError with the marked source.
    pub(crate) fn compile_text(&mut self, src: &[u8], opts: &compiler::Options) -> Result<Arc<ISeq>, Exit> {
        self.compile_with_warnings(src, opts).map(|c| c.0)
    }
    /// As above; the parser's warnings that `$VERBOSE` lets through come along, as lines.
    fn compile_with_warnings(&mut self, src: &[u8], opts: &compiler::Options) -> Result<(Arc<ISeq>, Vec<String>), Exit> {
        // Names in text that is evaluated live as long as its code; a file is there to stay.
        self.weak_names = opts.kind == Code::Eval;
        let compiled = self.compile_here_or_away(src, opts);
        self.weak_names = false;
        let compiled = compiled?;
        if self.syms.take_overflow() {
            return Err(self.no_memory("too many symbols"));
        }
        match compiled {
            Ok(c) => {
                self.register_code(&c.iseq);
                let verbose = self.get_global("$VERBOSE");
                let lines = c
                    .warnings
                    .iter()
                    .filter(|w| !verbose.is_nil() && (!w.verbose || verbose.truthy()))
                    .map(|w| format!("{}:{}: warning: {}\n", opts.path, w.line, w.text))
                    .collect();
                Ok((c.iseq, lines))
            }
            Err(e) => Err(self.syntax_error(e, &opts.path)),
        }
    }
    /// A long text is parsed aside. While the code is made the native may be called away, to begin anew afterwards.
    fn compile_here_or_away(
        &mut self,
        src: &[u8],
        opts: &compiler::Options,
    ) -> Result<Result<compiler::Compiled, compiler::SyntaxError>, Exit> {
        if opts.system {
            // Nothing runs that could be interrupted.
            return Ok(compiler::compile_full(src, opts, self));
        }
        let ns = if src.len() > LONG_TEXT {
            crate::tasks::detach::VERY_LONG.max(src.len() as u64 * PARSING)
        } else {
            src.len() as u64 * PARSING
        };
        if !self.worth_detaching(ns) {
            self.compiling = Some(self.patience());
            let compiled = compiler::compile_full(src, opts, self);
            return self.unless_called_away(compiled);
        }
        let same = |a: &Option<Arc<ScopeNames>>, b: &Option<Arc<ScopeNames>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        let parsed = match self.detached::<ParsedAway>() {
            Some(p) if p.out.as_ref().is_ok_and(|p| p.text() != src) => {
                let parse_options = compiler::ParseOptions::new(opts, self);
                compiler::Parsed::new(src.into(), opts, parse_options)
            }
            Some(p) if p.path == opts.path && p.line == opts.line && same(&p.scope, &opts.scope) => p.out,
            Some(_) => {
                let parse_options = compiler::ParseOptions::new(opts, self);
                compiler::Parsed::new(src.into(), opts, parse_options)
            }
            None => {
                let (text, o, parse_options) = (Box::<[u8]>::from(src), opts.clone(), compiler::ParseOptions::new(opts, self));
                return Err(self.detach(ns, Value::NIL, move |_| ParsedAway {
                    out: compiler::Parsed::new(text, &o, parse_options),
                    path: o.path,
                    line: o.line,
                    scope: o.scope,
                }));
            }
        };
        let parsed = match parsed {
            Ok(p) => p,
            Err(e) => return Ok(Err(e)),
        };
        self.compiling = Some(self.patience());
        let compiled = parsed.compile(opts, self);
        self.unless_called_away(compiled)
    }
    fn unless_called_away<T>(&mut self, compiled: T) -> Result<T, Exit> {
        match self.compiling.take() {
            Some(p) if p.was_over() => Err(p.leave(self)),
            _ => Ok(compiled),
        }
    }
    pub(crate) fn syntax_error(&mut self, e: compiler::SyntaxError, path: &str) -> Exit {
        let exc = self.make_exc(self.k.syntax_error, &e.message);
        let r = self.str(&e.rendered);
        let n = self.intern("@__rendered");
        self.ivar_set(exc, n, r);
        let p = self.str(path);
        let n = self.intern("@__path");
        self.ivar_set(exc, n, p);
        self.raise(exc)
    }
    /// Compiles one `def` of the prelude.
    pub(crate) fn compile_system_method(&mut self, src: &[u8], path: Arc<str>, line: u32, frozen: bool) -> Result<Arc<ISeq>, Exit> {
        let opts = compiler::Options { line, system: true, frozen_strings: frozen, ..compiler::Options::file(&path) };
        compiler::compile_method(src, &opts, self).map_err(|e| {
            let exc = self.make_exc(self.k.syntax_error, &e.rendered);
            self.raise(exc)
        })
    }
    /// Runs prelude text at the top level, while nothing else runs.
    pub fn eval_system(&mut self, src: &[u8], path: &str, line: u32) -> R {
        let opts = compiler::Options { line, system: true, ..compiler::Options::file(path) };
        let q = self.compile_text(src, &opts)?;
        let (me, cref) = (self.main_object, self.top_cref);
        self.run_top(&q, me, cref).map_err(|e| self.raise(e))
    }

    /// Runs a compiled program. Only while nothing runs.
    ///
    /// # Errors
    /// `Exit::Raise`, with the exception in `pending.exc`.
    pub fn run_main(&mut self, iseq: Arc<ISeq>) -> Result<(), Exit> {
        self.register_code(&iseq);
        let (me, cref) = (self.main_object, self.top_cref);
        self.enter_bottom(&iseq, me, cref);
        self.show_locals(&iseq);
        self.record_begin();
        self.run();
        self.record_end();
        self.outcome().map(|_| ()).map_err(|e| self.raise(e))
    }
    /// The locals of the program that is about to run are those of `TOPLEVEL_BINDING`, where it names that.
    fn show_locals(&mut self, q: &ISeq) {
        let binding = self.k.object.data.consts.get(&sym::TOPLEVEL).map(|c| c.value).unwrap_or(Value::NIL);
        if !q.has_env || !q.shows_locals || binding.as_data::<EvalScope>().is_none() {
            return;
        }
        // The environment exists already, as that of an `eval` does.
        let e = self.heap.env(Value::NIL, q.env_names.len() as u32).val();
        q.has_its_env();
        self.fp().set_env(e);
        self.extend_scope(binding, e, q.parent_names.clone());
    }
    /// A Binding has a new innermost environment.
    pub(crate) fn extend_scope(&mut self, binding: Value, env: Value, names: Option<Arc<ScopeNames>>) {
        self.heap.before_store(binding, env);
        if let Some(s) = self.heap.edit_data::<EvalScope>(binding) {
            (s.env, s.names) = (env, names);
        }
    }
    /// A Binding has new variables, in an environment of their own.
    pub(crate) fn add_locals(&mut self, binding: Value, names: Vec<Sym>, values: &[Value]) {
        let Some(s) = binding.as_data::<EvalScope>() else { return };
        let e = self.heap.env(s.env, names.len() as u32);
        for (i, v) in values.iter().enumerate() {
            self.heap.before_store(e.val(), *v);
            e.set(i, *v);
        }
        let names = ScopeNames { names, parent: s.names.clone(), match_slot: None, params: Vec::new(), implicit: None };
        self.extend_scope(binding, e.val(), Some(Arc::new(names)));
    }
    /// Calls a method of `KumiSys`. Only while nothing runs.
    ///
    /// # Errors
    /// `Exit::Raise`, with the exception in `pending.exc`.
    pub fn call_helper_top(&mut self, name: &str, args: &[Value]) -> R {
        let (h, mid) = (self.k.helpers.val(), CompileEnv::intern(self, name.as_bytes()));
        self.call_top(h, mid, args).map_err(|e| self.raise(e))
    }

    /// Runs code as the main task's first frame. Only while nothing runs.
    ///
    /// # Errors
    /// The exception (or Unwind cell) that left it.
    pub(crate) fn run_top(&mut self, q: &ISeq, self_val: Value, cref: Value) -> Result<Value, Value> {
        self.enter_bottom(q, self_val, cref);
        self.run();
        self.outcome()
    }
    /// Calls a method as the main task's first frame. Only while nothing runs.
    pub(crate) fn call_top(&mut self, recv: Value, mid: Sym, args: &[Value]) -> Result<Value, Value> {
        let q = self.bottom_code();
        let (me, cref) = (self.main_object, self.top_cref);
        self.enter_bottom(&q, me, cref);
        let call = Call::new(Target::Name(mid), recv, Args::from_slice(args));
        let first = self.do_call(call, 1, 0);
        self.run_from(first);
        self.outcome()
    }
    fn outcome(&mut self) -> Result<Value, Value> {
        let left = self.task.left();
        self.task.stage = crate::tasks::task::Stage::Begun;
        left
    }
    /// `R[1]` is returned: the code below a task's first call.
    pub(crate) fn bottom_code(&mut self) -> Arc<ISeq> {
        if let Some(q) = self.bottom.get() {
            return q.clone();
        }
        let opts = compiler::Options { system: true, ..compiler::Options::file("<internal:task>") };
        let q = match compiler::compile(b"x = nil; x", &opts, self) {
            Ok(q) => q,
            Err(e) => unreachable!("constant text compiles: {}", e.rendered),
        };
        self.register_code(&q);
        let ret = kumi_bytecode::Insn::new(Op::Ret, 0, 1, 0, 0);
        q.code[0].store(ret.0, std::sync::atomic::Ordering::Relaxed);
        self.bottom.get_or_init(|| q).clone()
    }
    /// The first frame of the current task.
    pub(crate) fn enter_bottom(&mut self, q: &ISeq, self_val: Value, cref: Value) {
        let need = HEADER as usize + q.nregs as usize;
        let max = self.stack_sizes.max(!self.task.is_root());
        if need > self.task.stack.capacity() && !self.task.stack.grow(need, max, &self.stack_sizes) {
            // Some hundred bytes were refused: as for any other allocation, there is no way on.
            kumi_budget::last_words();
        }
        self.stack_end = self.task.stack.end_ptr();
        let fp: Fp = self.frame_at(HEADER as usize);
        fp.nil_fill(0, q.nregs as usize);
        fp.set_link(0, 0, ff::FINISH);
        fp.set_iseq(q);
        fp.set_ret(q.code.as_ptr());
        fp.set_cref(cref);
        fp.set_block(Value::NIL);
        fp.set_env(Value::NIL);
        fp.set_parent(Value::NIL);
        fp.set_r(0, self_val);
        self.fp = fp.0;
        self.pc = q.code.as_ptr();
        self.task.begin();
    }

    /// `TOPLEVEL_BINDING`: the main object's scope, with the variables that evals and the REPL make.
    pub fn toplevel_binding(&mut self) -> Value {
        let scope = EvalScope {
            self_val: self.main_object,
            env: Value::NIL,
            names: None,
            cref: self.top_cref,
            block: Value::NIL,
            home: Value::NIL,
            path: "<main>".into(),
            line: 1,
            in_method: false,
            label: "<main>".into(),
            depth: 0,
        };
        let c = self.k.binding;
        self.data(c, scope)
    }
    /// A Binding of the nearest user frame.
    pub(crate) fn capture_binding(&mut self) -> Value {
        match self.user_frame() {
            Some(f) => self.binding_of(f),
            None => Value::NIL,
        }
    }
    /// A Binding of a frame of the running task.
    pub(crate) fn binding_of(&mut self, f: Fp) -> Value {
        let w = f.block();
        let block = self.block_value(w);
        let slot = self.slot_of(f);
        let home = self.home_for(slot, u32::MAX);
        let q = f.iseq();
        let pc = self.user_pc(f);
        let scope = EvalScope {
            self_val: f.r(0),
            env: f.env(),
            names: q.parent_names.clone(),
            cref: f.cref(),
            block,
            home,
            path: q.path.clone(),
            line: q.line_at(pc),
            in_method: self.current_method(f).is_some(),
            label: q.label.clone(),
            depth: q.block_depth,
        };
        let c = self.k.binding;
        self.data(c, scope)
    }
    /// Index of the instruction that frame `f` is at.
    pub(crate) fn user_pc(&self, f: Fp) -> u32 {
        let mut at = self.fp();
        let mut ret = self.pc;
        while at != f && at.flags() & ff::FINISH == 0 {
            ret = at.ret();
            at = at.prev();
        }
        (((ret as usize).wrapping_sub(f.iseq().code.as_ptr() as usize) / 8) as u32).saturating_sub(1)
    }

    /// Runs text in a Binding, in the native's place. `self_val` and `cref` replace the binding's when given.
    pub(crate) fn eval_in(
        &mut self,
        binding: Value,
        src: (&[u8], crate::EncIndex),
        path: &str,
        line: u32,
        self_val: Option<Value>,
        cref: Option<Value>,
    ) -> Exit {
        let Some(s) = binding.as_data::<EvalScope>() else { return self.type_error("wrong argument type (expected binding)") };
        let opts = compiler::Options {
            line,
            kind: Code::Eval,
            scope: s.names.clone(),
            refined: cref.unwrap_or(s.cref).cell::<CrefObj>().is_some_and(|c| !c.refinements.is_nil()),
            eval_in_method: s.in_method,
            label: s.label.clone(),
            block_depth: s.depth,
            encoding: Some(src.1),
            frozen_strings: self.options.frozen_strings,
            ..compiler::Options::file(path)
        };
        let (q, warnings) = match self.compile_with_warnings(src.0, &opts) {
            Ok(q) => q,
            Err(x) => return x,
        };
        let mut env = s.env;
        if q.has_env {
            let e = self.heap.env(s.env, q.env_names.len() as u32);
            env = e.val();
            // The environment exists already, so that the Binding keeps it.
            q.has_its_env();
            self.extend_scope(binding, env, q.parent_names.clone());
        }
        let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
        hdr.aux.put(u32::MAX);
        let p = self.heap.proc(ProcObj {
            hdr,
            iseq: &*q as *const ISeq as u64,
            self_val: self_val.unwrap_or(s.self_val),
            env,
            cref: cref.unwrap_or(s.cref),
            block: s.block,
            home: s.home,
        });
        if !warnings.is_empty() {
            return self.warn_first("warn_and_call", &warnings, p.val());
        }
        if self.trace.on {
            let text = self.str_enc(src.0, src.1);
            self.script_compiled(text);
        }
        self.pending.call = Some(Call::new(Target::Proc(p.val()), Value::NIL, Args::new()));
        Exit::Call
    }
    /// Tells what the parser had to say of a text, then runs it.
    fn warn_first(&mut self, helper: &'static str, warnings: &[String], body: Value) -> Exit {
        let lines: Vec<Value> = warnings.iter().map(|w| self.str(w)).collect();
        let lines = self.array(&lines);
        self.call_helper(helper, &[lines, body])
    }
    /// Runs the code of a file, in the native's place.
    pub(crate) fn run_file_code(&mut self, iseq: u64, cref: Value, self_val: Value) -> Exit {
        let code = Target::Code { iseq, cref, env: Value::NIL, block: Value::NIL };
        self.pending.call = Some(Call::new(code, self_val, Args::new()));
        Exit::Call
    }
    /// Runs the text of a file at the top level, in the native's place.
    pub fn load_text(&mut self, src: &[u8], path: &str, self_val: Value, cref: Value) -> Exit {
        let opts = compiler::Options {
            label: "<top (required)>".into(),
            real_path: Some(real_path(path)),
            library: self.options.is_own(path),
            frozen_strings: self.options.frozen_strings,
            ..compiler::Options::file(path)
        };
        let (q, warnings) = match self.compile_with_warnings(src, &opts) {
            Ok(q) => q,
            Err(x) => return x,
        };
        let iseq = &*q as *const ISeq as u64;
        if !warnings.is_empty() && !opts.library {
            let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
            hdr.aux.put(u32::MAX);
            let (env, block, home) = (Value::NIL, Value::NIL, Value::NIL);
            let p = self.heap.proc(ProcObj { hdr, iseq, self_val, env, cref, block, home });
            return self.warn_first("warn_and_load", &warnings, p.val());
        }
        self.script_compiled(Value::NIL);
        self.run_file_code(iseq, cref, self_val)
    }
    /// A fresh top-level place (each file has its own default visibility and refinements).
    pub(crate) fn file_cref(&mut self) -> Value {
        let o = self.k.object.val();
        self.new_cref(o, Value::NIL, CrefObj::NO_METHOD, CrefObj::PRIVATE).val()
    }
}
