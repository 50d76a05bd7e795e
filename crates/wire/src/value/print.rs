//! Trees as a person reads them: nearly as Ruby's `inspect` has them.

use super::names::Kind;
use super::tree::Tree;
use std::fmt;

/// What is still to be written. A list of it, so that depth costs no stack.
enum Bit<'a> {
    Text(&'static str),
    /// A member's name.
    Name(&'a str),
    Tree(&'a Tree),
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = vec![Bit::Tree(self)];
        while let Some(bit) = left.pop() {
            match bit {
                Bit::Text(text) => f.write_str(text)?,
                Bit::Name(name) => f.write_str(name)?,
                Bit::Tree(tree) => one(tree, &mut left, f)?,
            }
        }
        Ok(())
    }
}

/// Writes how it begins, and leaves the rest to be written.
fn one<'a>(tree: &'a Tree, left: &mut Vec<Bit<'a>>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut rest = |bits: Vec<Bit<'a>>| left.extend(bits.into_iter().rev());
    match tree {
        Tree::Nil => f.write_str("nil"),
        Tree::Bool(b) => write!(f, "{b}"),
        Tree::Int(n) => write!(f, "{n}"),
        Tree::UInt(n) => write!(f, "{n}"),
        Tree::Big(negative, magnitude) => {
            f.write_str(if *negative { "-0x" } else { "0x" })?;
            magnitude.iter().try_for_each(|b| write!(f, "{b:02x}"))
        }
        Tree::Float(x) => write!(f, "{x:?}"),
        Tree::Str(s) => write!(f, "{s:?}"),
        Tree::Bin(bytes) => write!(f, "b\"{}\"", bytes.escape_ascii()),
        Tree::Encoded(encoding, bytes) => write!(f, "{encoding}\"{}\"", bytes.escape_ascii()),
        Tree::Symbol(name) if is_plain(name) => write!(f, ":{name}"),
        Tree::Symbol(name) => write!(f, ":{name:?}"),
        Tree::SymbolIn(encoding, name) => write!(f, ":{encoding}\"{}\"", name.escape_ascii()),
        Tree::Time(seconds, nanoseconds, offset, name) => {
            write!(f, "@{seconds}.{nanoseconds:09}")?;
            offset.iter().try_for_each(|o| write!(f, "{o:+}"))?;
            name.iter().try_for_each(|n| write!(f, "[{n}]"))
        }
        Tree::Ext(kind, bytes) => write!(f, "ext{kind}\"{}\"", bytes.escape_ascii()),
        Tree::Array(all) => {
            rest(list(all.iter().map(|t| vec![Bit::Tree(t)]), "]"));
            f.write_str("[")
        }
        Tree::Set(all) => {
            rest(list(all.iter().map(|t| vec![Bit::Tree(t)]), "]"));
            f.write_str("Set[")
        }
        Tree::Map(pairs) => {
            rest(list(pairs.iter().map(|(k, v)| vec![Bit::Tree(k), Bit::Text(" => "), Bit::Tree(v)]), "}"));
            f.write_str("{")
        }
        Tree::Range(two, exclusive) => {
            rest(vec![Bit::Tree(&two.0), Bit::Text(if *exclusive { "..." } else { ".." }), Bit::Tree(&two.1)]);
            Ok(())
        }
        Tree::Rational(two) => {
            rest(vec![Bit::Tree(&two.0), Bit::Text("/"), Bit::Tree(&two.1), Bit::Text(")")]);
            f.write_str("(")
        }
        Tree::Complex(two) => {
            rest(vec![Bit::Tree(&two.0), Bit::Text(" + "), Bit::Tree(&two.1), Bit::Text("i)")]);
            f.write_str("(")
        }
        Tree::Default(two) => {
            rest(vec![Bit::Tree(&two.1), Bit::Text(" else "), Bit::Tree(&two.0), Bit::Text(")")]);
            f.write_str("(")
        }
        Tree::ByIdentity(one) => {
            rest(vec![Bit::Tree(one), Bit::Text(" by identity)")]);
            f.write_str("(")
        }
        Tree::FineTime(two) => {
            rest(vec![Bit::Tree(&two.0), Bit::Text(" and "), Bit::Tree(&two.1), Bit::Text(" ns)")]);
            f.write_str("(")
        }
        Tree::Record(kind, class, members) => {
            rest(list(members.iter().map(|(name, value)| vec![Bit::Name(name), Bit::Text("="), Bit::Tree(value)]), ">"));
            let kind = match kind {
                Kind::Struct | Kind::KeywordStruct => "struct ",
                Kind::Data => "data ",
                Kind::Record => "record ",
                Kind::Object => "",
            };
            write!(f, "#<{kind}{class}{}", if members.is_empty() { "" } else { " " })
        }
    }
}

/// Parts with commas between them.
fn list<'a>(parts: impl Iterator<Item = Vec<Bit<'a>>>, end: &'static str) -> Vec<Bit<'a>> {
    let mut out = Vec::new();
    for part in parts {
        if !out.is_empty() {
            out.push(Bit::Text(", "));
        }
        out.extend(part);
    }
    out.push(Bit::Text(end));
    out
}

fn is_plain(name: &str) -> bool {
    let name = name.strip_suffix(['?', '!', '=']).unwrap_or(name);
    name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_') && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
