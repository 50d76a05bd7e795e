//! The document type declaration, read in one go when all of it is there.
//!
//! The internal subset is read for entities, attribute types and defaults ([`declarations`](crate::tokenizer::declarations)); everything else
//! in it is checked for syntax. Nothing outside the document is read: a reference to it is remembered as `Dtd::unread`, after
//! which declarations no longer count (5.1), because an unread one might have come first.

use crate::error::{ErrorKind, LimitKind};
use crate::input::chars::{self, is_space};
use crate::limits::Limits;
use crate::tokenizer::cursor::{Cursor, Read, Trouble, bad};
use crate::tokenizer::dtd::{Dtd, Entity, Expander};
use crate::tokenizer::markup::{comment, instruction};
use std::sync::Arc;

/// What the declaration says about itself: places in its bytes.
#[derive(Debug)]
pub struct Head {
    pub name: (usize, usize),
    pub public: Option<(usize, usize)>,
    pub system: Option<(usize, usize)>,
    /// After the closing `>`.
    pub end: usize,
}

/// Reads declarations.
pub struct Reader<'a> {
    pub limits: &'a Limits,
    pub namespaces: bool,
    pub standalone: bool,
    pub spent: &'a mut u64,
    pub budget: u64,
    pub dtd: &'a mut Dtd,
}

type Span = (usize, usize);

impl Reader<'_> {
    /// Reads the whole declaration, `<!DOCTYPE` to `>`.
    pub fn doctype(&mut self, c: &mut Cursor<'_>) -> Read<Head> {
        if !c.word(b"<!DOCTYPE")? {
            return bad(ErrorKind::Syntax, c.at, "'<!' begins no comment, CDATA section or document type here");
        }
        c.require_space("after '<!DOCTYPE'")?;
        let name = self.qualified(c, "the root element")?;
        let (mut public, mut system) = (None, None);
        let spaced = c.space()?;
        if !matches!(c.peek()?, b'[' | b'>') {
            if !spaced {
                return bad(ErrorKind::Doctype, c.at, format!("white space, '[' or '>' expected, not {}", c.shown()));
            }
            (public, system) = self.external(c, false)?;
            self.dtd.unread = true;
            c.space()?;
        }
        if c.peek()? == b'[' {
            c.at += 1;
            self.subset(c, 0, &mut Vec::new())?;
            c.expect(b']', "at the end of the internal subset")?;
            c.space()?;
        }
        if c.peek()? != b'>' {
            return bad(ErrorKind::Doctype, c.at, format!("'>' expected at the end of the document type, not {}", c.shown()));
        }
        c.at += 1;
        Ok(Head { name, public, system, end: c.at })
    }

    /// Declarations up to `]`, or to the end of a parameter entity's text.
    fn subset(&mut self, c: &mut Cursor<'_>, depth: usize, open: &mut Vec<Arc<[u8]>>) -> Read<()> {
        loop {
            if depth > 0 && c.at == c.bytes.len() {
                return Ok(());
            }
            match c.peek()? {
                b if is_space(b) => c.at += 1,
                b']' if depth == 0 => return Ok(()),
                b'%' => self.parameter_reference(c, depth, open)?,
                b'<' => self.markup(c)?,
                _ => {
                    return bad(ErrorKind::Doctype, c.at, format!("{} can't stand between declarations", c.shown()));
                }
            }
        }
    }

    fn parameter_reference(&mut self, c: &mut Cursor<'_>, depth: usize, open: &mut Vec<Arc<[u8]>>) -> Read<()> {
        let at = c.at;
        c.at += 1;
        let name = c.name("a parameter entity")?;
        let name = &c.bytes[name..c.at];
        c.expect(b';', "at the end of the reference")?;
        self.dtd.lenient |= !self.standalone;
        let text = match self.dtd.parameter.get(name) {
            Some(Entity::Internal(text)) => text.clone(),
            Some(_) => {
                self.dtd.unread = true;
                self.dtd.stopped = true;
                return Ok(());
            }
            None if self.dtd.unread && !self.standalone => {
                self.dtd.stopped = true;
                return Ok(());
            }
            None => {
                let message = format!("the parameter entity \"{}\" is not declared", chars::shown(name));
                return bad(ErrorKind::UndeclaredEntity, at, message);
            }
        };
        if open.iter().any(|o| Arc::ptr_eq(o, &text)) {
            let message = format!("the parameter entity \"{}\" contains itself", chars::shown(name));
            return bad(ErrorKind::RecursiveEntity, at, message);
        }
        if depth >= self.limits.entity_depth {
            return bad(
                ErrorKind::Limit(LimitKind::EntityDepth),
                at,
                format!("entities stand in one another more than {} deep (limit entity_depth)", self.limits.entity_depth),
            );
        }
        Expander { dtd: None, limits: self.limits, spent: self.spent, budget: self.budget }.spend(text.len() + 1, at)?;
        open.push(text.clone());
        let mut inner = Cursor::new(&text, 0, self.limits.name);
        let result = self.subset(&mut inner, depth + 1, open);
        open.pop();
        result.map_err(|trouble| match trouble {
            Trouble::Short => boundary(at, name),
            Trouble::Bad(mut b) => {
                b.at = at;
                b.message = format!("{}, in the parameter entity \"{}\"", b.message, chars::shown(name));
                Trouble::Bad(b)
            }
        })
    }

    fn markup(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        if c.word(b"<!--")? {
            return comment(c);
        }
        if c.word(b"<?")? {
            instruction(c, self.namespaces)?;
            return Ok(());
        }
        if c.word(b"<!ELEMENT")? {
            return self.element(c);
        }
        if c.word(b"<!ATTLIST")? {
            return self.attributes(c);
        }
        if c.word(b"<!ENTITY")? {
            return self.entity(c);
        }
        if c.word(b"<!NOTATION")? {
            return self.notation(c);
        }
        if c.word(b"<![")? {
            return bad(ErrorKind::Doctype, c.at - 3, "conditional sections are only allowed outside the document");
        }
        bad(ErrorKind::Doctype, c.at, "'<' begins no declaration, comment or instruction here")
    }

    pub(crate) fn qualified(&self, c: &mut Cursor<'_>, what: &str) -> Read<Span> {
        let start = c.name(what)?;
        let name = &c.bytes[start..c.at];
        if self.namespaces && chars::qualified(name).is_none() {
            let message = format!("\"{}\" is no name with at most one prefix", chars::shown(name));
            return bad(ErrorKind::Namespace, start, message);
        }
        Ok((start, c.at))
    }

    /// A name without a colon.
    pub(crate) fn plain(&self, c: &mut Cursor<'_>, what: &str) -> Read<Span> {
        let start = c.name(what)?;
        if self.namespaces && memchr::memchr(b':', &c.bytes[start..c.at]).is_some() {
            return bad(ErrorKind::Namespace, start, format!("the name of {what} can't hold a colon"));
        }
        Ok((start, c.at))
    }

    /// `SYSTEM` or `PUBLIC` with their literals; a notation may leave the second out.
    pub(crate) fn external(&mut self, c: &mut Cursor<'_>, notation: bool) -> Read<(Option<Span>, Option<Span>)> {
        if c.word(b"SYSTEM")? {
            c.require_space("after SYSTEM")?;
            return Ok((None, Some(c.literal("a system identifier")?)));
        }
        if !c.word(b"PUBLIC")? {
            return bad(ErrorKind::Doctype, c.at, format!("SYSTEM or PUBLIC expected, not {}", c.shown()));
        }
        c.require_space("after PUBLIC")?;
        let public = c.literal("a public identifier")?;
        if let Some(i) = c.bytes[public.0..public.1].iter().position(|&b| !chars::is(b, chars::PUBLIC)) {
            let at = public.0 + i;
            return bad(ErrorKind::Doctype, at, format!("{:?} can't stand in a public identifier", chars::decode(c.bytes, at).0));
        }
        let spaced = c.space()?;
        if notation && !matches!(c.peek()?, b'"' | b'\'') {
            return Ok((Some(public), None));
        }
        if !spaced {
            return bad(ErrorKind::Syntax, c.at, "white space expected after the public identifier");
        }
        Ok((Some(public), Some(c.literal("a system identifier")?)))
    }
}

fn boundary(at: usize, name: &[u8]) -> Trouble {
    let message = format!("a declaration begins in the parameter entity \"{}\" and doesn't end there", chars::shown(name));
    match bad::<()>(ErrorKind::EntityBoundary, at, message) {
        Err(trouble) => trouble,
        Ok(()) => Trouble::Short,
    }
}
