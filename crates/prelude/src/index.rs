//! From a file's text to its index.
//!
//! Invariant: every statement of the file is in the index exactly once, either as a
//! record or in the eager text. A statement that is not understood completely goes
//! into the eager text as it stands.

use crate::*;
use ruby_prism::{DefNode, Node, ParametersNode, StatementsNode};

/// Indexes one file.
///
/// # Errors
/// `LINE: message` of the first syntax error.
pub fn index(src: &[u8]) -> Result<FileIndex<'static>, String> {
    let parsed = ruby_prism::parse(src);
    if let Some(e) = parsed.errors().next() {
        return Err(format!("{}: {}", e.location().start_line(), text(e.message())));
    }
    let mut walk = Walk { src, out: FileIndex::default(), eager: String::new(), line: 1, open: Vec::new() };
    walk.out.frozen_strings = parsed.frozen_string_literals();
    let root = parsed.node();
    if let Some(p) = root.as_program_node() {
        let mut body = Body::new(TOP, false);
        // Methods at the top of a file are Object's, and private.
        body.vis = Visibility::Private;
        walk.statements(&p.statements(), src.len(), &mut body, &mut Vec::new());
    }
    walk.reopen(&[]);
    walk.out.eager = walk.eager.into();
    Ok(walk.out)
}

struct Walk<'s> {
    src: &'s [u8],
    out: FileIndex<'static>,
    eager: String,
    /// Line the eager text has reached.
    line: usize,
    /// The bodies that are open there.
    open: Vec<String>,
}

/// State of one class body.
struct Body {
    class: ClassRef,
    singleton: bool,
    /// What `private` and friends without arguments have set.
    vis: Visibility,
    /// Methods of this body: (name, singleton?, index into `defs`).
    names: Vec<(String, bool, usize)>,
}

impl Body {
    fn new(class: ClassRef, singleton: bool) -> Body {
        Body { class, singleton, vis: Visibility::Public, names: Vec::new() }
    }
}

fn text(b: &[u8]) -> String {
    String::from_utf8_lossy(b).into_owned()
}

/// `A`, `A::B`, `::A`; nothing else.
fn const_path(n: &Node<'_>) -> Option<String> {
    if n.as_constant_read_node().is_some() {
        return Some(text(n.location().as_slice()));
    }
    let p = n.as_constant_path_node()?;
    let last = text(p.name()?.as_slice());
    match p.parent() {
        Some(up) => Some(format!("{}::{last}", const_path(&up)?)),
        None => Some(format!("::{last}")),
    }
}

/// A literal method name.
fn literal_name(n: &Node<'_>) -> Option<String> {
    if let Some(s) = n.as_symbol_node() {
        return Some(text(s.unescaped()));
    }
    n.as_string_node().map(|s| text(s.unescaped()))
}

/// `Object.new`
fn is_new_object(n: &Node<'_>) -> bool {
    n.as_call_node().is_some_and(|c| {
        c.name().as_slice() == b"new"
            && c.arguments().is_none()
            && c.block().is_none()
            && c.receiver().and_then(|r| const_path(&r)).as_deref() == Some("Object")
    })
}

/// Positional arity.
fn arity(p: Option<ParametersNode<'_>>) -> (u8, i8) {
    let Some(p) = p else { return (0, 0) };
    let req = p.requireds().iter().count() + p.posts().iter().count();
    let open = p.rest().is_some() || p.keyword_rest().is_some_and(|k| k.as_forwarding_parameter_node().is_some());
    let max = req + p.optionals().iter().count();
    (req.min(255) as u8, if open || max > 127 { -1 } else { max as i8 })
}

impl Walk<'_> {
    fn statements(&mut self, list: &StatementsNode<'_>, end: usize, body: &mut Body, ctx: &mut Vec<String>) {
        let items: Vec<Node<'_>> = list.body().iter().collect();
        for (i, n) in items.iter().enumerate() {
            let next = items.get(i + 1).map_or(end, |m| m.location().start() as usize);
            if !self.statement(n, body, ctx) {
                self.keep(n, next, ctx);
            }
        }
    }

    fn body_of(&mut self, inner: Option<Node<'_>>, end: usize, body: &mut Body, ctx: &mut Vec<String>) {
        if let Some(s) = inner.and_then(|b| b.as_statements_node()) {
            self.statements(&s, end, body, ctx);
        }
    }

    /// A body with `rescue` or `ensure` is not a list of statements: then all of it is eager.
    fn plain_body(inner: &Option<Node<'_>>) -> bool {
        inner.as_ref().is_none_or(|b| b.as_statements_node().is_some())
    }

    /// Records a statement; false when it has to be eager.
    fn statement(&mut self, n: &Node<'_>, body: &mut Body, ctx: &mut Vec<String>) -> bool {
        if let Some(c) = n.as_class_node() {
            let Some(path) = const_path(&c.constant_path()) else { return false };
            let superclass = match c.superclass() {
                Some(s) => match const_path(&s) {
                    Some(p) => p,
                    None => return false,
                },
                None => String::new(),
            };
            if body.singleton || !Self::plain_body(&c.body()) {
                return false;
            }
            let id = self.open(path.clone(), body.class, Opened::Class, superclass);
            ctx.push(format!("class {path}"));
            self.body_of(c.body(), c.end_keyword_loc().start() as usize, &mut Body::new(id, false), ctx);
            ctx.pop();
            return true;
        }
        if let Some(m) = n.as_module_node() {
            let Some(path) = const_path(&m.constant_path()) else { return false };
            if body.singleton || !Self::plain_body(&m.body()) {
                return false;
            }
            let id = self.open(path.clone(), body.class, Opened::Module, String::new());
            ctx.push(format!("module {path}"));
            self.body_of(m.body(), m.end_keyword_loc().start() as usize, &mut Body::new(id, false), ctx);
            ctx.pop();
            return true;
        }
        if let Some(w) = n.as_constant_write_node()
            && body.class == TOP
            && is_new_object(&w.value())
        {
            self.open(text(w.name().as_slice()), TOP, Opened::Object, String::new());
            return true;
        }
        if let Some(s) = n.as_singleton_class_node()
            && body.class == TOP
            && let Some(path) = const_path(&s.expression())
        {
            let known = self.out.classes.iter().position(|c| c.what == Opened::Object && c.path == path);
            let Some(id) = known.filter(|_| Self::plain_body(&s.body())) else { return false };
            ctx.push(format!("class << {path}"));
            self.body_of(s.body(), s.end_keyword_loc().start() as usize, &mut Body::new(id as ClassRef, false), ctx);
            ctx.pop();
            return true;
        }
        if let Some(s) = n.as_singleton_class_node() {
            if body.singleton || s.expression().as_self_node().is_none() || !Self::plain_body(&s.body()) {
                return false;
            }
            ctx.push("class << self".into());
            self.body_of(s.body(), s.end_keyword_loc().start() as usize, &mut Body::new(body.class, true), ctx);
            ctx.pop();
            return true;
        }
        if let Some(d) = n.as_def_node() {
            return self.def(&d, body);
        }
        if let Some(a) = n.as_alias_method_node() {
            let (Some(new), Some(old)) = (literal_name(&a.new_name()), literal_name(&a.old_name())) else { return false };
            self.alias(body, new, old);
            return true;
        }
        self.call(n, body).is_some()
    }

    fn open(&mut self, path: String, parent: ClassRef, what: Opened, superclass: String) -> ClassRef {
        let id = self.out.classes.len() as ClassRef;
        self.out.classes.push(ClassRec { path: path.into(), parent, what, superclass: superclass.into() });
        id
    }

    fn alias(&mut self, body: &Body, new: String, old: String) {
        let (class, singleton) = (body.class, body.singleton);
        self.out.aliases.push(AliasRec { class, singleton, new: new.into(), old: old.into() });
    }

    fn def(&mut self, d: &DefNode<'_>, body: &mut Body) -> bool {
        let singleton = match d.receiver() {
            Some(r) if r.as_self_node().is_some() && !body.singleton => true,
            Some(_) => return false,
            None => body.singleton,
        };
        if singleton && body.class == TOP {
            return false;
        }
        let name = text(d.name().as_slice());
        let always_private =
            matches!(name.as_str(), "initialize" | "initialize_copy" | "initialize_clone" | "initialize_dup" | "respond_to_missing?");
        let vis = match (d.receiver().is_some(), always_private) {
            (true, _) => Visibility::Public,
            (false, true) => Visibility::Private,
            (false, false) => body.vis,
        };
        let (min, max) = arity(d.parameters());
        let l = d.location();
        let (from, to, line) = (l.start(), l.end(), l.start_line().max(1) as u32);
        self.enter(body, singleton, name, vis, What::Code, (from, to, line), (min, max));
        true
    }

    #[allow(clippy::too_many_arguments)]
    fn enter(
        &mut self,
        body: &mut Body,
        singleton: bool,
        name: String,
        vis: Visibility,
        what: What,
        (from, to, line): (u32, u32, u32),
        (min, max): (u8, i8),
    ) {
        body.names.push((name.clone(), singleton, self.out.defs.len()));
        let class = body.class;
        self.out.defs.push(DefRec { class, singleton, name: name.into(), vis, what, from, to, line, min, max });
    }

    /// Calls that class bodies make: visibility, mixins, aliases, what is undefined, accessors.
    fn call(&mut self, n: &Node<'_>, body: &mut Body) -> Option<()> {
        let c = n.as_call_node()?;
        if c.receiver().is_some() || c.block().is_some() {
            return None;
        }
        let name = text(c.name().as_slice());
        let args: Vec<Node<'_>> = c.arguments().map_or(Vec::new(), |a| a.arguments().iter().collect());
        match name.as_str() {
            "private" | "public" | "protected" | "module_function" => {
                let vis = match name.as_str() {
                    "private" => Visibility::Private,
                    "public" => Visibility::Public,
                    "protected" => Visibility::Protected,
                    _ => Visibility::ModuleFunction,
                };
                if args.is_empty() {
                    body.vis = vis;
                    return Some(());
                }
                self.set_vis(&args, body, body.singleton, vis)
            }
            "private_class_method" | "public_class_method" if !args.is_empty() && !body.singleton => {
                let private = name == "private_class_method";
                self.set_vis(&args, body, true, if private { Visibility::Private } else { Visibility::Public })
            }
            "include" | "extend" | "prepend" if !args.is_empty() && body.class != TOP => {
                let how = match (name.as_str(), body.singleton) {
                    ("include", false) => Mix::Include,
                    ("include", true) => Mix::Extend,
                    ("extend", false) => Mix::Extend,
                    ("prepend", false) => Mix::Prepend,
                    _ => return None,
                };
                let mods: Vec<String> = args.iter().map(const_path).collect::<Option<_>>()?;
                for module in mods.into_iter().rev() {
                    self.out.mixins.push(Mixin { class: body.class, how, module: module.into() });
                }
                Some(())
            }
            "alias_method" if args.len() == 2 => {
                let (new, old) = (literal_name(&args[0])?, literal_name(&args[1])?);
                self.alias(body, new, old);
                Some(())
            }
            "undef_method" if body.class != TOP => {
                let names: Vec<String> = args.iter().map(literal_name).collect::<Option<_>>()?;
                let (class, singleton) = (body.class, body.singleton);
                self.out.undefs.extend(names.into_iter().map(|n| UndefRec { class, singleton, name: n.into() }));
                Some(())
            }
            "attr_reader" | "attr_writer" | "attr_accessor" => {
                let names: Vec<String> = args.iter().map(literal_name).collect::<Option<_>>()?;
                let line = c.location().start_line().max(1) as u32;
                for a in names {
                    let (vis, s) = (body.vis, body.singleton);
                    if name != "attr_writer" {
                        self.enter(body, s, a.clone(), vis, What::AttrGet, (0, 0, line), (0, 0));
                    }
                    if name != "attr_reader" {
                        self.enter(body, s, format!("{a}="), vis, What::AttrSet, (0, 0, line), (1, 1));
                    }
                }
                Some(())
            }
            _ => None,
        }
    }

    /// `private :a, :b` and `private def a`, when all of them are methods of this very body.
    fn set_vis(&mut self, args: &[Node<'_>], body: &mut Body, singleton: bool, vis: Visibility) -> Option<()> {
        let known = |name: &str, body: &Body| body.names.iter().rev().find(|x| x.0 == name && x.1 == singleton).map(|x| x.2);
        let mut found = Vec::new();
        for a in args {
            if let Some(d) = a.as_def_node() {
                if args.len() > 1 || (d.receiver().is_some() != (singleton && !body.singleton)) || !self.def(&d, body) {
                    return None;
                }
                found.push(self.out.defs.len() - 1);
            } else {
                found.push(known(&literal_name(a)?, body)?);
            }
        }
        for i in found {
            self.out.defs[i].vis = vis;
        }
        Some(())
    }

    /// Adds a statement to the eager text, on its own line and inside its bodies.
    fn keep(&mut self, n: &Node<'_>, next: usize, ctx: &[String]) {
        let l = n.location();
        let (from, to) = (l.start() as usize, l.end() as usize);
        // The text of a heredoc stands behind the statement that opens it.
        let to = if l.as_slice().windows(3).any(|w| &w[..2] == b"<<" && (w[2] == b'~' || w[2] == b'-' || w[2].is_ascii_uppercase())) {
            next.max(to)
        } else {
            to
        };
        let line = l.start_line().max(1) as usize;
        while self.line < line {
            self.eager.push('\n');
            self.line += 1;
        }
        let body = String::from_utf8_lossy(&self.src[from..to]).trim_end().to_string();
        self.reopen(ctx);
        self.eager.push_str(&body);
        self.line += body.matches('\n').count();
        self.eager.push('\n');
        self.line += 1;
    }
    /// Ends the bodies that the eager text is in and begins those it is to be in. Statements of one body stay together: each body
    /// costs code of its own.
    fn reopen(&mut self, ctx: &[String]) {
        let same = self.open.iter().zip(ctx).take_while(|(a, b)| a == b).count();
        self.eager.push_str(&"end;".repeat(self.open.len() - same));
        for c in &ctx[same..] {
            self.eager.push_str(c);
            self.eager.push(';');
        }
        self.open = ctx.to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &[u8] = b"# frozen_string_literal: true
class Array < Object
  include Enumerable
  LIMIT = 3
  def each(a, b = 1) = yield(a)
  alias_method :every, :each
  def self.make(*a); end
  private
  def hidden; end
  public def shown; end
  class << self
    def other; end
    FOO = <<~X
      def no; end
    X
  end
  undef_method :last, :first
  attr_accessor :q
end
def top; end
THING = Object.new
class << THING
  include Enumerable
  def seen; end
  SEEN = 1
  HEARD = 2
end
module M
  module_function
  def f; end
  Struct.new(:a) do
    def x; end
  end
end
";

    #[test]
    fn statements_are_sorted_into_records_and_eager_text() {
        let ix = index(SAMPLE).unwrap();
        assert!(ix.frozen_strings);
        let defs: Vec<_> = ix.defs.iter().map(|d| (d.name.as_ref(), d.singleton, d.vis, d.line)).collect();
        use Visibility::*;
        assert_eq!(
            defs,
            [
                ("each", false, Public, 5),
                ("make", true, Public, 7),
                ("hidden", false, Private, 9),
                ("shown", false, Public, 10),
                ("other", true, Public, 12),
                ("q", false, Private, 18),
                ("q=", false, Private, 18),
                ("top", false, Private, 20),
                ("seen", false, Public, 24),
                ("f", false, ModuleFunction, 30),
            ]
        );
        assert_eq!((ix.defs[0].min, ix.defs[0].max, ix.defs[1].max), (1, 2, -1));
        assert_eq!(ix.mixins[0].module, "Enumerable");
        assert_eq!(ix.aliases[0].new, "every");
        let lines: Vec<&str> = ix.eager.lines().collect();
        assert_eq!(lines[3], "class Array;LIMIT = 3");
        assert_eq!(lines[12].trim_start_matches("end;"), "class << self;FOO = <<~X");
        assert_eq!(lines[24].trim_start_matches("end;"), "class << THING;SEEN = 1");
        assert_eq!(lines[25], "HEARD = 2");
        assert_eq!(lines[30].trim_start_matches("end;"), "module M;Struct.new(:a) do");
        assert_eq!((ix.undefs.len(), ix.undefs[1].name.as_ref()), (2, "first"));
        assert_eq!((ix.classes[1].what, ix.classes[1].path.as_ref(), ix.mixins[1].class), (Opened::Object, "THING", 1));
        assert!(ruby_prism::parse(ix.eager.as_bytes()).errors().next().is_none(), "{}", ix.eager);
    }

    #[test]
    fn an_index_survives_packing() {
        let f = File { name: "a.rb".into(), source: SAMPLE.into(), index: index(SAMPLE).unwrap() };
        let files = vec![f.clone(), f];
        assert_eq!(unpack(&pack(&files)).unwrap(), files);
        assert!(unpack(&pack(&files)[..90]).is_none());
    }
}
