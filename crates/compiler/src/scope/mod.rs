//! Scope analysis: which locals live in registers and which in a heap environment.
//!
//! One pass over the tree before any code is made. Invariant afterwards: a local
//! that a nested block (or an `eval`) can reach has a slot in its scope's
//! environment; every other local belongs to the registers of its own frame only.
//! Blocks, lambdas and the bodies of `for` are nested scopes; methods, class
//! bodies, files and eval texts are *method-like*: they own `$~` and flip-flop state.

pub(crate) mod locals;
pub(crate) mod params;

pub use crate::scope::params::{ParamList, block_param_list, param_list};
use kumi_bytecode::ParamKind;
use ruby_prism::*;
use std::collections::{HashMap, HashSet};

/// Index into [`Analysis::scopes`].
pub type ScopeId = usize;
/// Bytes of a local's name. Hidden locals begin with a NUL or are `*`, `**`, `&`.
pub type Name = Vec<u8>;

/// Hidden local that holds the last match (`$~`).
pub const MATCH: &[u8] = b"\0~";
/// Hidden local of a block that uses `it`.
pub const IT: &[u8] = b"\0it";
/// The one name of an environment that holds nothing.
const LEVEL: &[u8] = b"\0level";
/// Deepest nesting that is compiled.
pub const MAX_DEPTH: u32 = 10_000;

/// What a scope is the body of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScopeKind {
    Top,
    Eval,
    Method,
    Class,
    Block,
    Lambda,
    /// Body of a `for`: runs as a block, but all its locals belong to the scope around it.
    For,
}

impl ScopeKind {
    /// Owns `$~` and ends the reach of its locals.
    pub fn method_like(self) -> bool {
        matches!(self, ScopeKind::Top | ScopeKind::Eval | ScopeKind::Method | ScopeKind::Class)
    }
}

/// One scope and what became of its locals.
#[derive(Debug)]
pub struct Scope {
    pub kind: ScopeKind,
    pub parent: Option<ScopeId>,
    /// Named locals, parameters first.
    pub locals: Vec<Name>,
    /// Hidden locals.
    pub hidden: Vec<Name>,
    /// The same, to be asked for one.
    hides: HashSet<Name>,
    pub params: ParamList,
    /// The parameters' names.
    pub param_names: HashSet<Name>,
    pub captured: HashSet<Name>,
    /// A `binding` or `eval` can reach every local.
    pub all: bool,
    /// Names used otherwise than as `&name` of a call in this very scope.
    pub plain_use: HashSet<Name>,
    /// Names used otherwise than to be counted, looked into or passed on: see [`Scope::passes`].
    pub object_use: HashSet<Name>,
    /// Where the scopes directly inside this one begin.
    pub inner: Vec<u32>,
    /// Environment slots, filled by [`Analysis::finish`].
    pub env: Vec<Name>,
    pub slots: HashMap<Name, u16>,
}

impl Scope {
    pub fn has_env(&self) -> bool {
        !self.env.is_empty()
    }
    /// Is the rest parameter `name` never looked at as an object? It is read by `__pack`, `__rest`, `__ary_len`, `__ary_at`, `__hash_len`
    /// and as the only splat of a call; nobody then knows whether an Array or Hash was made for it.
    pub fn passes(&self, name: &[u8]) -> bool {
        !self.all && !self.object_use.contains(name)
    }
    /// Does it have this hidden local?
    pub fn hides(&self, name: &[u8]) -> bool {
        self.hides.contains(name)
    }
}

/// The scopes of one text.
#[derive(Debug, Default)]
pub struct Analysis {
    pub scopes: Vec<Scope>,
    by_node: HashMap<(u32, u8), ScopeId>,
    pub too_deep: bool,
    /// The text brings refinements into force (`using`, `refine`): its operators are calls like any other.
    pub refined: bool,
}

/// Which kind of node opened a scope: with its offset this names the scope.
#[derive(Clone, Copy)]
pub enum Opens {
    Program,
    Def,
    Class,
    Module,
    Singleton,
    Block,
    Lambda,
    For,
}

impl Analysis {
    /// Analyses a whole program. `eval`: its locals belong to a binding.
    pub fn run(node: &Node<'_>, eval: bool) -> Analysis {
        let mut a = Analyzer { an: Analysis::default(), stack: Vec::new(), depth: 0, eval };
        a.visit(node);
        let mut an = a.an;
        an.finish();
        an
    }

    /// The scope that the node at this offset opened.
    pub fn scope_of(&self, offset: u32, opens: Opens) -> ScopeId {
        self.by_node.get(&(offset, opens as u8)).copied().unwrap_or(0)
    }

    /// The method-like scope around (or equal to) `s`.
    pub fn home(&self, mut s: ScopeId) -> ScopeId {
        while !self.scopes[s].kind.method_like() {
            match self.scopes[s].parent {
                Some(p) => s = p,
                None => break,
            }
        }
        s
    }

    fn finish(&mut self) {
        // Any block may set the last match of its method: it must be able to reach it.
        for s in 0..self.scopes.len() {
            let home = self.home(s);
            if home != s && self.scopes[home].hides(MATCH) {
                self.scopes[home].captured.insert(MATCH.to_vec());
            }
        }
        for s in &mut self.scopes {
            let whole = s.all || s.kind == ScopeKind::Eval;
            let mut env: Vec<Name> = Vec::new();
            s.slots.clear();
            for n in s.locals.iter().chain(s.hidden.iter()) {
                let hidden_in_eval = s.kind == ScopeKind::Eval && !s.all && s.hides(n);
                if (s.captured.contains(n) || whole && !hidden_in_eval) && !s.slots.contains_key(n) {
                    s.slots.insert(n.clone(), env.len().min(65_535) as u16);
                    env.push(n.clone());
                }
            }
            // A binding tells its block's parameters from those around it by their level.
            if s.all && env.is_empty() && s.parent.is_some() {
                s.slots.insert(LEVEL.to_vec(), 0);
                env.push(LEVEL.to_vec());
            }
            s.env = env;
        }
    }
}

/// Hidden name of the state of the flip-flop at `offset`.
pub fn flip_flop(offset: u32) -> Name {
    format!("\0f{offset}").into_bytes()
}

/// A name that a binding shows; numbered parameters are none since Ruby 4.0.
pub fn visible(name: &[u8]) -> bool {
    !matches!(name, [] | [0, ..] | [b'*', ..] | [b'&', ..] | [b'_', b'1'..=b'9'])
}

/// What Ruby calls an implicit parameter.
pub fn shown(name: &[u8]) -> Name {
    if name == IT { b"it".to_vec() } else { name.to_vec() }
}

struct Analyzer {
    an: Analysis,
    stack: Vec<ScopeId>,
    depth: u32,
    eval: bool,
}

impl Analyzer {
    /// What is in a scope that was opened, and its end.
    fn body<'pr>(&mut self, body: Option<Node<'pr>>) {
        if let Some(b) = body {
            self.visit(&b);
        }
        self.close();
        self.leave();
    }
    fn open(&mut self, offset: u32, opens: Opens, kind: ScopeKind, locals: Vec<Name>, params: ParamList) {
        let parent = if kind.method_like() { None } else { self.stack.last().copied() };
        if let Some(p) = parent {
            self.an.scopes[p].inner.push(offset);
        }
        let mut names: Vec<Name> = Vec::new();
        let mut hidden: Vec<Name> = Vec::new();
        let mut seen: HashSet<Name> = HashSet::new();
        for p in &params.list {
            if seen.insert(p.name.clone()) {
                let to = if visible(&p.name) { &mut names } else { &mut hidden };
                to.push(p.name.clone());
            }
        }
        let param_names = seen.clone();
        for n in locals {
            if visible(&n) && seen.insert(n.clone()) {
                names.push(n);
            }
        }
        let id = self.an.scopes.len();
        self.an.scopes.push(Scope {
            kind,
            parent,
            locals: names,
            hides: hidden.iter().cloned().collect(),
            hidden,
            params,
            param_names,
            captured: HashSet::new(),
            all: false,
            plain_use: HashSet::new(),
            object_use: HashSet::new(),
            inner: Vec::new(),
            env: Vec::new(),
            slots: HashMap::new(),
        });
        self.an.by_node.insert((offset, opens as u8), id);
        self.stack.push(id);
    }
    fn close(&mut self) {
        self.stack.pop();
    }
    fn cur(&self) -> ScopeId {
        self.stack.last().copied().unwrap_or(0)
    }
    fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.an.too_deep = true;
            return false;
        }
        self.depth += 1;
        true
    }
    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// A read or write of `name`, `depth` scopes up as Prism counts them.
    fn refer(&mut self, name: &[u8], depth: u32, plain: bool) {
        self.refer_as(name, depth, plain, true);
    }
    /// The same; `object`: otherwise than to be counted or passed on.
    fn refer_as(&mut self, name: &[u8], mut depth: u32, plain: bool, object: bool) {
        let from = self.cur();
        let mut s = from;
        loop {
            let scope = &self.an.scopes[s];
            if scope.kind != ScopeKind::For {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            }
            match scope.parent {
                Some(p) => s = p,
                None => return,
            }
        }
        let scope = &mut self.an.scopes[s];
        if s != from {
            scope.captured.insert(name.to_vec());
        }
        if plain || s != from {
            scope.plain_use.insert(name.to_vec());
        }
        if object {
            scope.object_use.insert(name.to_vec());
        }
    }
    /// Arguments of a call: what is only passed on is noted as such, everything else is visited.
    fn arguments(&mut self, name: &[u8], n: &ArgumentsNode<'_>) {
        let list: Vec<Node<'_>> = n.arguments().iter().collect();
        let measures = matches!(name, b"__pack" | b"__rest" | b"__ary_len" | b"__ary_at" | b"__hash_len");
        let positional = list.iter().filter(|n| !matches!(n, Node::KeywordHashNode { .. })).count();
        for (i, n) in list.iter().enumerate() {
            if positional == 1 && n.as_splat_node().is_some_and(|s| s.expression().is_none()) {
                self.refer_anonymous(b"*", false);
                continue;
            }
            let passed = match n {
                Node::LocalVariableReadNode { .. } if measures && i == 0 => n.as_local_variable_read_node(),
                Node::SplatNode { .. } if positional == 1 => {
                    n.as_splat_node().and_then(|s| s.expression()).and_then(|e| e.as_local_variable_read_node())
                }
                Node::KeywordHashNode { .. } => n.as_keyword_hash_node().and_then(|k| sole_splat(&k)),
                _ => None,
            };
            match passed {
                Some(l) => self.refer_as(l.name().as_slice(), l.depth(), true, false),
                None => self.visit(n),
            }
        }
    }

    /// A use of a hidden local of the method-like scope.
    fn refer_home(&mut self, name: Name) {
        let from = self.cur();
        let home = self.an.home(from);
        let scope = &mut self.an.scopes[home];
        if scope.hides.insert(name.clone()) {
            scope.hidden.push(name.clone());
        }
        if home != from {
            scope.captured.insert(name);
        }
    }

    fn uses_match(&mut self) {
        self.refer_home(MATCH.to_vec());
    }

    /// Anonymous `*`, `**` of the enclosing method.
    fn refer_anonymous(&mut self, name: &[u8], object: bool) {
        let from = self.cur();
        let mut s = from;
        loop {
            let scope = &mut self.an.scopes[s];
            if scope.param_names.contains(name) {
                if s != from {
                    scope.captured.insert(name.to_vec());
                }
                if object {
                    scope.object_use.insert(name.to_vec());
                }
                return;
            }
            match scope.parent {
                Some(p) => s = p,
                None => return,
            }
        }
    }

    fn capture_all(&mut self) {
        self.uses_match();
        let mut s = self.cur();
        loop {
            self.an.scopes[s].all = true;
            match self.an.scopes[s].parent {
                Some(p) => s = p,
                None => return,
            }
        }
    }

    /// A call that may look at or make locals by name.
    fn sees_locals(n: &CallNode<'_>) -> bool {
        let literal_block = matches!(n.block(), Some(Node::BlockNode { .. }));
        match n.name().as_slice() {
            b"binding" | b"local_variables" | b"__binding__" => true,
            b"eval" => true,
            b"instance_eval" | b"class_eval" | b"module_eval" | b"instance_exec" | b"class_exec" => {
                !literal_block && n.arguments().is_some()
            }
            _ => false,
        }
    }
}

fn names(list: &ConstantList<'_>) -> Vec<Name> {
    list.iter().map(|c| c.as_slice().to_vec()).collect()
}

/// Overrides that stop at the depth limit.
macro_rules! guarded {
    ($($visit:ident $ty:ident),* $(,)?) => {
        $(fn $visit(&mut self, n: &$ty<'pr>) {
            if self.enter() {
                $visit(self, n);
                self.leave();
            }
        })*
    };
}

/// Overrides that note a local variable's use.
macro_rules! local_uses {
    ($($visit:ident $ty:ident),* $(,)?) => {
        $(fn $visit(&mut self, n: &$ty<'pr>) {
            self.refer(n.name().as_slice(), n.depth(), true);
            if self.enter() {
                $visit(self, n);
                self.leave();
            }
        })*
    };
}

impl<'pr> Visit<'pr> for Analyzer {
    guarded! {
        visit_and_node AndNode, visit_or_node OrNode, visit_if_node IfNode, visit_unless_node UnlessNode,
        visit_while_node WhileNode, visit_until_node UntilNode, visit_rescue_modifier_node RescueModifierNode,
        visit_constant_path_node ConstantPathNode, visit_alternation_pattern_node AlternationPatternNode,
        visit_array_node ArrayNode, visit_hash_node HashNode, visit_parentheses_node ParenthesesNode,
        visit_begin_node BeginNode, visit_multi_target_node MultiTargetNode, visit_range_node RangeNode,
        visit_interpolated_string_node InterpolatedStringNode, visit_case_node CaseNode,
        visit_case_match_node CaseMatchNode, visit_array_pattern_node ArrayPatternNode,
        visit_hash_pattern_node HashPatternNode, visit_rescue_node RescueNode, visit_else_node ElseNode,
        visit_match_required_node MatchRequiredNode, visit_match_predicate_node MatchPredicateNode,
        visit_capture_pattern_node CapturePatternNode, visit_multi_write_node MultiWriteNode,
        visit_instance_variable_write_node InstanceVariableWriteNode,
        visit_defined_node DefinedNode,
    }
    local_uses! {
        visit_local_variable_read_node LocalVariableReadNode,
        visit_local_variable_write_node LocalVariableWriteNode,
        visit_local_variable_target_node LocalVariableTargetNode,
        visit_local_variable_operator_write_node LocalVariableOperatorWriteNode,
        visit_local_variable_or_write_node LocalVariableOrWriteNode,
        visit_local_variable_and_write_node LocalVariableAndWriteNode,
    }

    fn visit_program_node(&mut self, n: &ProgramNode<'pr>) {
        let kind = if self.eval { ScopeKind::Eval } else { ScopeKind::Top };
        self.open(0, Opens::Program, kind, names(&n.locals()), ParamList::default());
        visit_program_node(self, n);
        self.close();
    }
    fn visit_def_node(&mut self, n: &DefNode<'pr>) {
        if !self.enter() {
            return;
        }
        if let Some(r) = n.receiver() {
            self.visit(&r);
        }
        let params = n.parameters().map(|p| param_list(&p)).unwrap_or_default();
        self.open(n.location().start(), Opens::Def, ScopeKind::Method, names(&n.locals()), params);
        if let Some(p) = n.parameters() {
            self.visit_parameters_node(&p);
        }
        self.body(n.body());
    }
    fn visit_class_node(&mut self, n: &ClassNode<'pr>) {
        if !self.enter() {
            return;
        }
        self.visit(&n.constant_path());
        if let Some(s) = n.superclass() {
            self.visit(&s);
        }
        self.open(n.location().start(), Opens::Class, ScopeKind::Class, names(&n.locals()), ParamList::default());
        self.body(n.body());
    }
    fn visit_module_node(&mut self, n: &ModuleNode<'pr>) {
        if !self.enter() {
            return;
        }
        self.visit(&n.constant_path());
        self.open(n.location().start(), Opens::Module, ScopeKind::Class, names(&n.locals()), ParamList::default());
        self.body(n.body());
    }
    fn visit_singleton_class_node(&mut self, n: &SingletonClassNode<'pr>) {
        if !self.enter() {
            return;
        }
        self.visit(&n.expression());
        self.open(n.location().start(), Opens::Singleton, ScopeKind::Class, names(&n.locals()), ParamList::default());
        self.body(n.body());
    }
    fn visit_block_node(&mut self, n: &BlockNode<'pr>) {
        if !self.enter() {
            return;
        }
        let params = block_param_list(n.parameters().as_ref());
        self.open(n.location().start(), Opens::Block, ScopeKind::Block, names(&n.locals()), params);
        visit_block_node(self, n);
        self.close();
        self.leave();
    }
    fn visit_lambda_node(&mut self, n: &LambdaNode<'pr>) {
        if !self.enter() {
            return;
        }
        let params = block_param_list(n.parameters().as_ref());
        self.open(n.location().start(), Opens::Lambda, ScopeKind::Lambda, names(&n.locals()), params);
        visit_lambda_node(self, n);
        self.close();
        self.leave();
    }
    fn visit_post_execution_node(&mut self, n: &PostExecutionNode<'pr>) {
        if !self.enter() {
            return;
        }
        // `END { }` is a block whose locals belong to the scope around it, as with `for`.
        self.open(n.location().start(), Opens::For, ScopeKind::For, Vec::new(), ParamList::default());
        visit_post_execution_node(self, n);
        self.close();
        self.leave();
    }
    fn visit_for_node(&mut self, n: &ForNode<'pr>) {
        if !self.enter() {
            return;
        }
        self.visit(&n.collection());
        self.open(n.location().start(), Opens::For, ScopeKind::For, Vec::new(), ParamList::default());
        self.visit(&n.index());
        if let Some(s) = n.statements() {
            self.visit_statements_node(&s);
        }
        self.close();
        self.leave();
    }

    fn visit_it_local_variable_read_node(&mut self, _n: &ItLocalVariableReadNode<'pr>) {
        self.refer(IT, 0, true);
    }
    fn visit_block_argument_node(&mut self, n: &BlockArgumentNode<'pr>) {
        match n.expression() {
            Some(e) => match e.as_local_variable_read_node() {
                Some(l) => self.refer(l.name().as_slice(), l.depth(), false),
                None => self.visit(&e),
            },
            None => self.refer_anonymous(b"&", true),
        }
    }
    fn visit_splat_node(&mut self, n: &SplatNode<'pr>) {
        match n.expression() {
            Some(_) => visit_splat_node(self, n),
            None => self.refer_anonymous(b"*", true),
        }
    }
    fn visit_assoc_splat_node(&mut self, n: &AssocSplatNode<'pr>) {
        match n.value() {
            Some(_) => visit_assoc_splat_node(self, n),
            None => self.refer_anonymous(b"**", true),
        }
    }
    fn visit_forwarding_arguments_node(&mut self, _n: &ForwardingArgumentsNode<'pr>) {
        self.refer_anonymous(b"*", true);
        self.refer_anonymous(b"**", true);
    }
    fn visit_forwarding_super_node(&mut self, n: &ForwardingSuperNode<'pr>) {
        // `super` without parentheses reads every parameter of the method.
        let from = self.cur();
        let home = self.an.home(from);
        let scope = &mut self.an.scopes[home];
        let list: Vec<Name> = scope.params.list.iter().filter(|p| p.kind != ParamKind::Block).map(|p| p.name.clone()).collect();
        scope.object_use.extend(list.iter().cloned());
        if home != from {
            scope.captured.extend(list);
        }
        visit_forwarding_super_node(self, n);
    }

    fn visit_back_reference_read_node(&mut self, _n: &BackReferenceReadNode<'pr>) {
        self.uses_match();
    }
    fn visit_numbered_reference_read_node(&mut self, _n: &NumberedReferenceReadNode<'pr>) {
        self.uses_match();
    }
    fn visit_global_variable_read_node(&mut self, n: &GlobalVariableReadNode<'pr>) {
        if match_global(n.name().as_slice()) {
            self.uses_match();
        }
    }
    fn visit_global_variable_write_node(&mut self, n: &GlobalVariableWriteNode<'pr>) {
        if match_global(n.name().as_slice()) {
            self.uses_match();
        }
        if self.enter() {
            visit_global_variable_write_node(self, n);
            self.leave();
        }
    }
    fn visit_global_variable_target_node(&mut self, n: &GlobalVariableTargetNode<'pr>) {
        if match_global(n.name().as_slice()) {
            self.uses_match();
        }
    }
    fn visit_match_write_node(&mut self, n: &MatchWriteNode<'pr>) {
        self.uses_match();
        visit_match_write_node(self, n);
    }
    fn visit_flip_flop_node(&mut self, n: &FlipFlopNode<'pr>) {
        self.refer_home(flip_flop(n.location().start()));
        visit_flip_flop_node(self, n);
    }
    /// `TOPLEVEL_BINDING`, and what looks at it, reach the program's own locals.
    fn visit_constant_read_node(&mut self, n: &ConstantReadNode<'pr>) {
        if matches!(n.name().as_slice(), b"TOPLEVEL_BINDING" | b"ERB") && self.an.scopes[0].kind == ScopeKind::Top {
            self.an.scopes[0].all = true;
        }
    }
    fn visit_call_node(&mut self, n: &CallNode<'pr>) {
        if !self.enter() {
            return;
        }
        if n.receiver().is_none() && matches!(n.name().as_slice(), b"using" | b"refine") {
            self.an.refined = true;
        }
        if n.name().as_slice() == b"last_match" {
            self.uses_match();
        } else if Self::sees_locals(n) {
            self.capture_all();
        }
        match n.receiver() {
            Some(r) => match called_local(n) {
                Some(l) => self.refer(l.name().as_slice(), l.depth(), false),
                None => self.visit(&r),
            },
            None => {}
        }
        if let Some(a) = n.arguments() {
            self.arguments(if n.receiver().is_none() { n.name().as_slice() } else { b"" }, &a);
        }
        if let Some(b) = n.block() {
            self.visit(&b);
        }
        self.leave();
    }
    fn visit_yield_node(&mut self, n: &YieldNode<'pr>) {
        if let Some(a) = n.arguments() {
            self.arguments(b"", &a);
        }
    }
}

/// The local in `name.call(..)` and `name.(..)` without a block: a block parameter there is as good as a `yield`.
pub fn called_local<'pr>(n: &CallNode<'pr>) -> Option<LocalVariableReadNode<'pr>> {
    if n.name().as_slice() != b"call" || n.block().is_some() || n.is_safe_navigation() {
        return None;
    }
    n.receiver()?.as_local_variable_read_node()
}

/// The local in `**name`, when these keywords are nothing else.
fn sole_splat<'pr>(k: &KeywordHashNode<'pr>) -> Option<LocalVariableReadNode<'pr>> {
    let mut elements = k.elements().iter();
    let only = elements.next()?;
    if elements.next().is_some() {
        return None;
    }
    only.as_assoc_splat_node()?.value()?.as_local_variable_read_node()
}

/// Globals that read the last match, the names of `require "English"` included.
fn match_global(name: &[u8]) -> bool {
    matches!(name, b"$~" | b"$LAST_MATCH_INFO" | b"$MATCH" | b"$PREMATCH" | b"$POSTMATCH" | b"$LAST_PAREN_MATCH")
}
