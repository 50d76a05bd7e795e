//! What an internal subset declared, as far as reading the document needs it: entities, attribute types and defaults.
//! Also the expansion of entities in attribute values, which defaults need too.

use crate::error::{ErrorKind, LimitKind};
use crate::input::chars;
use crate::limits::Limits;
use crate::tokenizer::cursor::{Cursor, Read, Reference, Trouble, bad};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

pub type Map<V> = HashMap<Box<[u8]>, V, RandomState>;

#[derive(Clone, Debug)]
pub enum Entity {
    /// Its replacement text.
    Internal(Arc<[u8]>),
    /// Outside the document.
    External,
    /// Outside, and no XML: with a notation.
    Unparsed,
}

/// One declared attribute.
#[derive(Debug)]
pub struct Attribute {
    pub name: Box<[u8]>,
    /// Any type but CDATA: blanks are trimmed and collapsed.
    pub tokenised: bool,
    /// Normalised.
    pub default: Option<Box<[u8]>>,
}

/// The attributes declared for one element.
#[derive(Debug, Default)]
pub struct Attributes {
    pub all: Vec<Attribute>,
    pub index: Map<u32>,
    /// Those with a default.
    pub defaults: Vec<u32>,
}

#[derive(Debug, Default)]
pub struct Dtd {
    pub general: Map<Entity>,
    pub parameter: Map<Entity>,
    pub attributes: Map<Attributes>,
    /// There is an external subset or a reference to an external parameter entity: declarations that weren't read.
    pub unread: bool,
    /// There are references to parameter entities, and the document doesn't stand alone: a reference to an undeclared entity
    /// is no error then (4.1), and is left as it stands.
    pub lenient: bool,
    /// One of those was passed, so that what follows it no longer binds.
    pub stopped: bool,
    /// Declarations that count towards the limit.
    pub count: usize,
}

impl Dtd {
    /// Whether a reference to this entity is left as it stands.
    pub fn passes(&self, name: &[u8]) -> bool {
        self.lenient && !self.unread && !self.general.contains_key(name)
    }
}

/// What expanding needs to know, and what it has spent.
pub struct Expander<'a> {
    pub dtd: Option<&'a Dtd>,
    pub limits: &'a Limits,
    pub spent: &'a mut u64,
    /// The most that may be spent at this place of the document.
    pub budget: u64,
}

impl Expander<'_> {
    /// Takes `bytes` of replacement text for a reference at `at`.
    pub fn spend(&mut self, bytes: usize, at: usize) -> Read<()> {
        *self.spent += bytes as u64;
        if *self.spent > self.budget {
            return bad(
                ErrorKind::Limit(LimitKind::EntityExpansion),
                at,
                format!("entities grow to more than {} bytes beyond the document (limit entity_expansion)", self.limits.entity_expansion),
            );
        }
        Ok(())
    }

    /// The replacement text of the entity referred to at `at`.
    pub fn lookup(&mut self, name: &[u8], at: usize) -> Read<Arc<[u8]>> {
        lookup(self.dtd, name, at).and_then(|text| {
            self.spend(text.len() + 1, at)?;
            Ok(text)
        })
    }

    /// Appends the value of the attribute that stands in `raw[from..to]`, normalised as CDATA (3.3.3).
    pub fn value(&mut self, raw: &[u8], from: usize, to: usize, out: &mut Vec<u8>) -> Read<()> {
        let start = out.len();
        self.value_part(raw, from, to, out, start, None, &mut Vec::new())
    }

    /// `outer`: where the reference stands that led here; `open`: the entities that did.
    fn value_part(
        &mut self,
        raw: &[u8],
        from: usize,
        to: usize,
        out: &mut Vec<u8>,
        start: usize,
        outer: Option<usize>,
        open: &mut Vec<Arc<[u8]>>,
    ) -> Read<()> {
        let mut cursor = Cursor::new(&raw[..to], from, self.limits.name);
        let mut run = from;
        while let Some(&b) = cursor.bytes.get(cursor.at) {
            if !chars::is(b, chars::VALUE_STOP) || matches!(b, b'"' | b'\'') {
                cursor.at += 1;
                continue;
            }
            out.extend_from_slice(&raw[run..cursor.at]);
            let at = outer.unwrap_or(cursor.at);
            match b {
                b'<' => return bad(ErrorKind::AttributeValue, at, "'<' can't stand in an attribute's value"),
                b'&' => {
                    let reference = cursor.reference().map_err(|trouble| match trouble {
                        Trouble::Short => {
                            let Err(t) = bad::<()>(ErrorKind::Reference, at, "a reference without its ';'") else { return Trouble::Short };
                            t
                        }
                        Trouble::Bad(mut b) => {
                            b.at = at;
                            Trouble::Bad(b)
                        }
                    })?;
                    match reference {
                        Reference::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                        Reference::Entity { start: name, end } => {
                            let name = &raw[name..end];
                            if self.dtd.is_some_and(|d| d.passes(name)) {
                                out.extend_from_slice(&raw[cursor.at - name.len() - 2..cursor.at]);
                                run = cursor.at;
                                continue;
                            }
                            let text = self.lookup(name, at)?;
                            if open.iter().any(|o| Arc::ptr_eq(o, &text)) {
                                return bad(
                                    ErrorKind::RecursiveEntity,
                                    at,
                                    format!("the entity \"{}\" contains itself", chars::shown(name)),
                                );
                            }
                            if open.len() >= self.limits.entity_depth {
                                return bad(
                                    ErrorKind::Limit(LimitKind::EntityDepth),
                                    at,
                                    format!(
                                        "entities stand in one another more than {} deep (limit entity_depth)",
                                        self.limits.entity_depth
                                    ),
                                );
                            }
                            open.push(text.clone());
                            self.value_part(&text, 0, text.len(), out, start, Some(at), open)?;
                            open.pop();
                        }
                    }
                    if out.len() - start > self.limits.tag_bytes {
                        return bad(
                            ErrorKind::Limit(LimitKind::TagBytes),
                            at,
                            format!("an attribute's value is longer than {} bytes (limit tag_bytes)", self.limits.tag_bytes),
                        );
                    }
                }
                _ => {
                    out.push(b' ');
                    cursor.at += 1;
                }
            }
            run = cursor.at;
        }
        out.extend_from_slice(&raw[run..to]);
        Ok(())
    }
}

/// The replacement text of the general entity that the reference at `at` names.
pub fn lookup(dtd: Option<&Dtd>, name: &[u8], at: usize) -> Read<Arc<[u8]>> {
    let shown = chars::shown(name);
    match dtd.and_then(|d| d.general.get(name)) {
        Some(Entity::Internal(text)) => Ok(text.clone()),
        Some(Entity::External) => bad(
            ErrorKind::ExternalEntity,
            at,
            format!("the entity \"{shown}\" stands outside the document; external entities are never read"),
        ),
        Some(Entity::Unparsed) => bad(ErrorKind::Reference, at, format!("the entity \"{shown}\" is not XML and can't be referred to")),
        None if dtd.is_some_and(|d| d.unread) => bad(
            ErrorKind::ExternalEntity,
            at,
            format!("the entity \"{shown}\" is not declared in the document; declarations outside it are never read"),
        ),
        None => bad(ErrorKind::UndeclaredEntity, at, format!("the entity \"{shown}\" is not declared")),
    }
}

/// Trims blanks and makes one of several, from `start` of `out` on: what a tokenised type asks for beyond CDATA.
pub fn tokenise(out: &mut Vec<u8>, start: usize) {
    let mut write = start;
    for read in start..out.len() {
        let b = out[read];
        if b == b' ' && (write == start || out[write - 1] == b' ') {
            continue;
        }
        out[write] = b;
        write += 1;
    }
    if write > start && out[write - 1] == b' ' {
        write -= 1;
    }
    out.truncate(write);
}
