//! The compiler: Prism's tree to register bytecode.
//!
//! Two passes. `scope` decides which locals need a heap environment; then one
//! walk over the tree emits code straight into destination registers. A body
//! (method, block, class, file) is a `emit::Fun` under construction and becomes
//! an [`ISeq`]. Nothing here touches the heap: literals stay [`kumi_bytecode::Lit`]s.
//!
//! `source` is the text as Prism reads it; `nodes` has what each kind of node becomes; `emit` the code under construction.
//!
//! Jump offsets count from the next instruction, that is from behind the inline
//! cache word where there is one.
#![deny(missing_docs)]

mod emit;
mod nodes;
mod scope;
mod source;
#[cfg(test)]
mod tests;

pub use source::diagnostic::{SyntaxError, Warning};

use emit::Fun;
use kumi_bytecode::{ISeq, Kind, ParamKind, ScopeNames};
use kumi_heap::Sym;
use kumi_text::EncIndex;
use std::sync::Arc;

/// What the compiler needs to know of the runtime.
pub trait CompileEnv {
    /// The symbol of a name.
    fn intern(&mut self, name: &[u8]) -> Sym;
    /// The name of a symbol.
    fn name(&self, s: Sym) -> Vec<u8>;
    /// Number of an intrinsic (its name with the leading underscores).
    fn intrinsic(&self, name: &str) -> Option<u16>;
    /// What is wrong with the source of a regular expression literal (a syntax error of the text).
    fn regex_error(&mut self, source: &[u8], options: u8, enc: EncIndex) -> Option<String> {
        let _ = (source, options, enc);
        None
    }
    /// What is said with `-w` of a regular expression literal.
    fn regex_complaints(&mut self, source: &[u8], options: u8) -> Vec<String> {
        let _ = (source, options);
        Vec::new()
    }
    /// There is a method of this name in the text that has a use for a block.
    fn takes_block(&mut self, name: Sym) {
        let _ = name;
    }
    /// Asked every few hundred nodes: is the compilation to be left off?
    fn is_called_away(&mut self) -> bool {
        false
    }
}

/// How to compile a text.
#[derive(Clone, Debug)]
pub struct Options {
    /// `__FILE__` and the file name of backtraces.
    pub path: Arc<str>,
    /// Where the file really is, whatever folder the program changes to later: `__dir__`, `require_relative`.
    pub real_path: Option<Arc<str>>,
    /// Number of the first line.
    pub line: u32,
    /// [`Kind::Top`] or [`Kind::Eval`].
    pub kind: Kind,
    /// Label of the top body: `<main>`, `<top (required)>`, for `eval` that of the binding's method.
    pub label: Arc<str>,
    /// Prelude code: intrinsics, invisible frames.
    pub system: bool,
    /// A file of the standard library that comes with the runtime: it may use intrinsics,
    /// but is Ruby like any other otherwise.
    pub library: bool,
    /// String literals are frozen unless a magic comment says otherwise.
    pub frozen_strings: bool,
    /// `eval`: names of the binding's environments, innermost first.
    pub scope: Option<Arc<ScopeNames>>,
    /// Encoding of the text when no comment says otherwise (`eval`: that of the string); UTF-8 by default.
    pub encoding: Option<EncIndex>,
    /// `eval`: refinements are in force where the binding was made.
    pub refined: bool,
    /// `eval`: the binding is inside a method body.
    pub eval_in_method: bool,
    /// `eval`: the binding lies in so many blocks.
    pub block_depth: u16,
    /// The main script (`-n` and friends apply, `__END__` counts).
    pub main_script: bool,
    /// Command line flags among `n`, `p`, `l`, `a`.
    pub loop_mode: String,
}

impl Options {
    /// Options for a file.
    pub fn file(path: &str) -> Options {
        Options {
            path: path.into(),
            real_path: None,
            line: 1,
            kind: Kind::Top,
            label: "<main>".into(),
            system: false,
            library: false,
            frozen_strings: false,
            scope: None,
            encoding: None,
            refined: false,
            eval_in_method: false,
            block_depth: 0,
            main_script: false,
            loop_mode: String::new(),
        }
    }
}

/// A compiled text and what the parser had to say about it.
pub struct Compiled {
    /// The code of the whole text.
    pub iseq: Arc<ISeq>,
    /// The parser's warnings and the compiler's own.
    pub warnings: Vec<Warning>,
    /// Offset of the text behind `__END__`, for `DATA`.
    pub data: Option<usize>,
}

/// Compiles a whole text.
///
/// # Errors
/// As [`compile_full`].
pub fn compile(src: &[u8], opts: &Options, env: &mut dyn CompileEnv) -> Result<Arc<ISeq>, SyntaxError> {
    compile_full(src, opts, env).map(|c| c.iseq)
}

/// Compiles a whole text; warnings and the place of `DATA` come along.
///
/// # Errors
/// [`SyntaxError`] where the text is no program, does not fit into the format of instructions, is longer than 2 GB or is nested
/// deeper than 10,000 levels; and one that nobody sees where [`CompileEnv::is_called_away`] has said yes.
pub fn compile_full(src: &[u8], opts: &Options, env: &mut dyn CompileEnv) -> Result<Compiled, SyntaxError> {
    run(src, opts, env, false)
}

/// Compiles the text of one `def` and returns the method's body.
///
/// # Errors
/// As [`compile_full`], and [`SyntaxError`] where there is no `def`.
pub fn compile_method(src: &[u8], opts: &Options, env: &mut dyn CompileEnv) -> Result<Arc<ISeq>, SyntaxError> {
    run(src, opts, env, true).map(|c| c.iseq)
}

fn run(src: &[u8], opts: &Options, env: &mut dyn CompileEnv, method: bool) -> Result<Compiled, SyntaxError> {
    let parse_options = parse_options(opts, env).build();
    Tree::of(src, opts, &parse_options)?.emit(opts, env, method)
}

/// A parsed text, and what became of its locals.
struct Tree<'s> {
    parsed: ruby_prism::ParseResult<'s>,
    an: scope::Analysis,
}

impl<'s> Tree<'s> {
    fn of(src: &'s [u8], opts: &Options, parse_options: &'s ruby_prism::ParseOptions) -> Result<Tree<'s>, SyntaxError> {
        if src.len() > i32::MAX as usize {
            return Err(SyntaxError::plain(opts, opts.line, "program too large"));
        }
        kumi_budget::make_way();
        let parsed = ruby_prism::parse_with_options(src, parse_options);
        if parsed.is_failure() {
            return Err(SyntaxError::from_parse(&parsed, opts));
        }
        let an = scope::Analysis::run(&parsed.node(), opts.kind == Kind::Eval);
        if an.too_deep {
            return Err(SyntaxError::plain(opts, opts.line, "nesting too deep"));
        }
        Ok(Tree { parsed, an })
    }
    fn emit(&self, opts: &Options, env: &mut dyn CompileEnv, method: bool) -> Result<Compiled, SyntaxError> {
        let (parsed, an, root) = (&self.parsed, &self.an, self.parsed.node());
        let enc = source::prism::encoding(parsed).and_then(EncIndex::find).or(opts.encoding).unwrap_or(EncIndex::UTF_8);
        let line_offsets = parsed.line_offsets();
        let mut far = false;
        loop {
            let mut c = Compiler::new(env, opts, line_offsets, an, enc, far);
            let made = if method { c.single_method(&root) } else { Some(c.program(&root)) };
            if let Some((message, line)) = c.error.take() {
                return Err(SyntaxError::plain(opts, line, &message));
            }
            if c.need_far && !far {
                // A fused comparison jumps further than 16 bits: once more, with long jumps.
                far = true;
                continue;
            }
            return match made {
                Some(iseq) => Ok(Compiled {
                    iseq,
                    warnings: {
                        let mut w = source::diagnostic::warnings(parsed, opts.kind == Kind::Top && !method);
                        w.append(&mut c.complaints);
                        w
                    },
                    data: parsed.data_loc().map(|l| {
                        let rest = l.as_slice();
                        let skip = rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |p| p + 1);
                        l.start() as usize + skip
                    }),
                }),
                None => Err(SyntaxError::plain(opts, opts.line, "expected one method definition")),
            };
        }
    }
}

/// A parsed text with the text it was parsed from: what of a compilation needs nothing of the runtime, to be done elsewhere.
pub struct Parsed {
    /// First, as it refers to what follows: fields are dropped in their order.
    tree: Tree<'static>,
    src: Box<[u8]>,
    _options: Box<ruby_prism::ParseOptions>,
}

/// What [`Parsed::new`] needs of the runtime.
pub struct ParseOptions(ruby_prism::Options);

impl ParseOptions {
    /// Reads from `opts` and `env` what the parser has to know. For `eval` that is the names around it.
    pub fn new(opts: &Options, env: &dyn CompileEnv) -> ParseOptions {
        ParseOptions(parse_options(opts, env))
    }
}

impl Parsed {
    /// Parses a text. It needs no runtime, so any thread may do it.
    ///
    /// # Errors
    /// [`SyntaxError`] where the text is no program, is longer than 2 GB or is nested deeper than 10,000 levels.
    pub fn new(src: Box<[u8]>, opts: &Options, parse_options: ParseOptions) -> Result<Parsed, SyntaxError> {
        let options = Box::new(parse_options.0.build());
        let (bytes, built): (*const [u8], *const ruby_prism::ParseOptions) = (&*src, &*options);
        // SAFETY: what is in the boxes stays where it is however they are moved, is never changed, and outlives the tree, which is
        // private to this value and dropped before them.
        let (text, kept): (&'static [u8], &'static ruby_prism::ParseOptions) = unsafe { (&*bytes, &*built) };
        Ok(Parsed { tree: Tree::of(text, opts, kept)?, src, _options: options })
    }
    /// The text that was parsed.
    pub fn text(&self) -> &[u8] {
        &self.src
    }
    /// The rest of the compilation.
    ///
    /// # Errors
    /// As [`compile_full`].
    pub fn compile(&self, opts: &Options, env: &mut dyn CompileEnv) -> Result<Compiled, SyntaxError> {
        self.tree.emit(opts, env, false)
    }
}

fn parse_options(opts: &Options, env: &dyn CompileEnv) -> ruby_prism::Options {
    use ruby_prism::{CommandLineFlag, Scope, ScopeForwardingFlag};
    let mut flags = Vec::new();
    for c in opts.loop_mode.bytes() {
        match c {
            b'n' => flags.push(CommandLineFlag::N),
            b'p' => flags.extend([CommandLineFlag::N, CommandLineFlag::P]),
            b'l' => flags.push(CommandLineFlag::L),
            b'a' => flags.push(CommandLineFlag::A),
            _ => {}
        }
    }
    let path: String = opts.path.chars().filter(|&c| c != '\0').collect();
    let mut o = ruby_prism::Options::default()
        .filepath(&path)
        .line(opts.line as i32)
        .version(ruby_prism::Version::CRuby4_0)
        .command_line(flags)
        .main_script(opts.main_script);
    if let Some(e) = opts.encoding {
        o = o.encoding(e.name());
    }
    if opts.frozen_strings {
        o = o.frozen_string_literal(Some(true));
    }
    if opts.kind == Kind::Eval {
        let mut scopes = vec![Scope::default()];
        let mut level = opts.scope.as_ref();
        while let Some(l) = level {
            let locals = l.names.iter().filter(|s| s.0 != 0).map(|&s| env.name(s)).filter(|n| scope::visible(n)).collect();
            let forwarding = l.params.iter().filter_map(|p| match (p.kind, &p.name[..]) {
                (ParamKind::Rest, b"*") => Some(ScopeForwardingFlag::Positionals),
                (ParamKind::KwRest, b"**") => Some(ScopeForwardingFlag::Keywords),
                (ParamKind::Block, b"&") => Some(ScopeForwardingFlag::Block),
                _ => None,
            });
            let mut forwarding: Vec<ScopeForwardingFlag> = forwarding.collect();
            if forwarding.len() == 3 {
                forwarding.push(ScopeForwardingFlag::All);
            }
            scopes.push(Scope::default().locals(locals).forwarding(forwarding));
            level = l.parent.as_ref();
        }
        scopes.reverse();
        o = o.scopes(scopes);
    }
    o
}

/// The state of one compilation.
pub(crate) struct Compiler<'e, 'pr> {
    env: &'e mut dyn CompileEnv,
    opts: &'e Options,
    line_offsets: &'pr [u32],
    an: &'e scope::Analysis,
    enc: EncIndex,
    /// The body under construction, and those around it.
    cur: Fun<'pr>,
    outer: Vec<Fun<'pr>>,
    /// Names chains by scope, made when asked for.
    chains: Vec<Option<Option<Arc<ScopeNames>>>>,
    error: Option<(String, u32)>,
    /// Warnings of the compiler's own.
    complaints: Vec<Warning>,
    depth: u32,
    far: bool,
    need_far: bool,
    /// In a match that has only one pattern: where the reason of its failure goes.
    pattern_err: Option<nodes::pattern::Reason>,
    /// Nodes until somebody is asked whether this is still wanted.
    until_asked: u32,
}

/// Nodes between two such questions: some ten microseconds.
const ASK_AFTER: u32 = 256;

impl<'e, 'pr> Compiler<'e, 'pr> {
    fn new(
        env: &'e mut dyn CompileEnv,
        opts: &'e Options,
        line_offsets: &'pr [u32],
        an: &'e scope::Analysis,
        enc: EncIndex,
        far: bool,
    ) -> Self {
        Compiler {
            env,
            opts,
            line_offsets,
            an,
            enc,
            cur: Fun::new(0, opts.kind, opts.label.clone(), opts.line).in_blocks(opts.block_depth),
            outer: Vec::new(),
            chains: vec![None; an.scopes.len()],
            error: None,
            complaints: Vec::new(),
            depth: 0,
            far,
            need_far: false,
            pattern_err: None,
            until_asked: ASK_AFTER,
        }
    }

    /// Notes an error; the first one is reported when the walk is over.
    fn fail(&mut self, message: &str) {
        if self.error.is_none() {
            self.error = Some((message.to_string(), self.cur.cur_line));
        }
    }

    /// The line of a byte offset.
    fn line_of(&self, offset: u32) -> u32 {
        let n = self.line_offsets.partition_point(|&o| o <= offset);
        self.opts.line.wrapping_add(n.saturating_sub(1) as u32)
    }

    /// Instructions from here on belong to the line of this offset.
    fn at(&mut self, offset: u32) {
        self.cur.cur_line = self.line_of(offset);
    }

    /// One level of nesting deeper; `false` beyond the limit.
    fn enter(&mut self) -> bool {
        if self.depth >= scope::MAX_DEPTH || self.error.is_some() {
            self.fail("nesting too deep");
            return false;
        }
        self.until_asked -= 1;
        if self.until_asked == 0 {
            self.until_asked = ASK_AFTER;
            if self.env.is_called_away() {
                // Nobody sees it: who called the compiler knows.
                self.fail("left off");
                return false;
            }
        }
        self.depth += 1;
        true
    }
    fn leave(&mut self) {
        self.depth -= 1;
    }
}
