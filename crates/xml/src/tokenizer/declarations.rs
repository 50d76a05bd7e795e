//! Declarations of the internal subset: elements, attributes, entities and notations.
//!
//! What reading the document needs of them goes into the [`Dtd`](crate::tokenizer::dtd::Dtd) that the reader fills; the rest is checked for
//! syntax and forgotten. While declarations no longer count (see [`doctype`](crate::tokenizer::doctype)) they are checked alike.

use crate::error::{ErrorKind, LimitKind};
use crate::tokenizer::cursor::{Cursor, Read, Reference, Trouble, bad, predefined};
use crate::tokenizer::doctype::Reader;
use crate::tokenizer::dtd::{Attribute, Entity, Expander, tokenise};
use std::sync::Arc;

impl Reader<'_> {
    /// One more declaration.
    fn counts(&mut self, at: usize) -> Read<()> {
        self.dtd.count += 1;
        if self.dtd.count > self.limits.declarations {
            let message = format!("more than {} declarations (limit declarations)", self.limits.declarations);
            return bad(ErrorKind::Limit(LimitKind::Entities), at, message);
        }
        Ok(())
    }

    fn end(&self, c: &mut Cursor<'_>) -> Read<()> {
        c.space()?;
        if c.peek()? != b'>' {
            return bad(ErrorKind::Doctype, c.at, format!("'>' expected at the end of the declaration, not {}", c.shown()));
        }
        c.at += 1;
        Ok(())
    }

    pub(crate) fn element(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        c.require_space("after '<!ELEMENT'")?;
        self.qualified(c, "an element")?;
        c.require_space("after the element's name")?;
        if c.word(b"EMPTY")? || c.word(b"ANY")? {
            return self.end(c);
        }
        c.expect(b'(', "before the content model")?;
        c.space()?;
        if c.word(b"#PCDATA")? {
            let mut names = false;
            loop {
                c.space()?;
                if c.peek()? != b'|' {
                    break;
                }
                c.at += 1;
                c.space()?;
                self.qualified(c, "an element")?;
                names = true;
            }
            c.expect(b')', "at the end of the content model")?;
            if names {
                c.expect(b'*', "after a content model of text and elements")?;
            } else if c.peek()? == b'*' {
                c.at += 1;
            }
            return self.end(c);
        }
        self.children(c)?;
        self.end(c)
    }

    /// After the first `(`. One separator a level, 0 until it is known.
    fn children(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        let mut levels = vec![0u8];
        let mut particle = true;
        while let Some(separator) = levels.last_mut() {
            c.space()?;
            if particle {
                if c.peek()? == b'(' {
                    c.at += 1;
                    levels.push(0);
                    continue;
                }
                self.qualified(c, "an element")?;
                occurrence(c)?;
                particle = false;
                continue;
            }
            match c.peek()? {
                b')' => {
                    c.at += 1;
                    levels.pop();
                    occurrence(c)?;
                }
                b @ (b'|' | b',') if *separator == 0 || *separator == b => {
                    *separator = b;
                    c.at += 1;
                    particle = true;
                }
                _ => return bad(ErrorKind::Doctype, c.at, format!("{} can't stand here in a content model", c.shown())),
            }
        }
        Ok(())
    }

    pub(crate) fn notation(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        c.require_space("after '<!NOTATION'")?;
        self.plain(c, "a notation")?;
        c.require_space("after the notation's name")?;
        self.external(c, true)?;
        self.end(c)
    }

    pub(crate) fn entity(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        let at = c.at;
        c.require_space("after '<!ENTITY'")?;
        let parameter = c.peek()? == b'%';
        if parameter {
            c.at += 1;
            c.require_space("after '%'")?;
        }
        let name = self.plain(c, "an entity")?;
        c.require_space("after the entity's name")?;
        let entity = if matches!(c.peek()?, b'"' | b'\'') {
            let (from, to) = c.literal("the entity's value")?;
            Entity::Internal(self.entity_value(c.bytes, from, to)?)
        } else {
            self.external(c, false)?;
            let spaced = c.space()?;
            if !parameter && c.peek()? != b'>' {
                if !spaced {
                    return bad(ErrorKind::Syntax, c.at, "white space or '>' expected after the system identifier");
                }
                if !c.word(b"NDATA")? {
                    return bad(ErrorKind::Doctype, c.at, format!("NDATA or '>' expected, not {}", c.shown()));
                }
                c.require_space("after NDATA")?;
                self.plain(c, "a notation")?;
                Entity::Unparsed
            } else {
                Entity::External
            }
        };
        self.end(c)?;
        self.counts(at)?;
        let name = &c.bytes[name.0..name.1];
        if !self.reading() {
            return Ok(());
        }
        if !parameter && let Some(expected) = predefined(name) {
            return predeclared(at, expected, &entity);
        }
        let table = if parameter { &mut self.dtd.parameter } else { &mut self.dtd.general };
        if !table.contains_key(name) {
            table.insert(name.into(), entity);
        }
        Ok(())
    }

    /// Whether declarations still count.
    fn reading(&self) -> bool {
        self.standalone || !self.dtd.stopped
    }

    /// Character references are replaced, general references checked and left alone (4.4).
    fn entity_value(&mut self, bytes: &[u8], from: usize, to: usize) -> Read<Arc<[u8]>> {
        let mut out = Vec::with_capacity(to - from);
        let mut c = Cursor::new(&bytes[..to], from, self.limits.name);
        while let Some(&b) = c.bytes.get(c.at) {
            let at = c.at;
            match b {
                b'%' => {
                    return bad(ErrorKind::Doctype, at, "'%' can't stand in an entity's value in the internal subset; write &#37;");
                }
                b'&' => {
                    let character = c.bytes.get(at + 1) == Some(&b'#');
                    let reference = match c.reference() {
                        Err(Trouble::Short) => return bad(ErrorKind::Reference, at, "a reference without its ';'"),
                        other => other?,
                    };
                    match reference {
                        Reference::Char(ch) if character => {
                            out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        _ => out.extend_from_slice(&bytes[at..c.at]),
                    }
                }
                _ => {
                    out.push(b);
                    c.at += 1;
                }
            }
        }
        Ok(out.into())
    }

    pub(crate) fn attributes(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        c.require_space("after '<!ATTLIST'")?;
        let element = self.qualified(c, "an element")?;
        let element = &c.bytes[element.0..element.1];
        loop {
            let spaced = c.space()?;
            if c.peek()? == b'>' {
                c.at += 1;
                return Ok(());
            }
            if !spaced {
                return bad(ErrorKind::Syntax, c.at, format!("white space or '>' expected, not {}", c.shown()));
            }
            let name = self.qualified(c, "an attribute")?;
            c.require_space("after the attribute's name")?;
            let tokenised = self.attribute_type(c)?;
            c.require_space("after the attribute's type")?;
            let default = self.attribute_default(c, tokenised)?;
            self.counts(name.0)?;
            if !self.reading() {
                continue;
            }
            let name = &c.bytes[name.0..name.1];
            let declared = match self.dtd.attributes.get_mut(element) {
                Some(declared) => declared,
                None => self.dtd.attributes.entry(element.into()).or_default(),
            };
            // The first declaration binds.
            if !declared.index.contains_key(name) {
                let i = declared.all.len() as u32;
                declared.index.insert(name.into(), i);
                if default.is_some() {
                    declared.defaults.push(i);
                }
                declared.all.push(Attribute { name: name.into(), tokenised, default });
            }
        }
    }

    /// Whether it is any other than CDATA.
    fn attribute_type(&mut self, c: &mut Cursor<'_>) -> Read<bool> {
        if c.peek()? == b'(' {
            c.at += 1;
            self.choices(c, false)?;
            return Ok(true);
        }
        // Longer words before those that begin them.
        for word in [&b"CDATA"[..], b"IDREFS", b"IDREF", b"ID", b"ENTITIES", b"ENTITY", b"NMTOKENS", b"NMTOKEN", b"NOTATION"] {
            if !c.word(word)? {
                continue;
            }
            if word == b"NOTATION" {
                c.require_space("after NOTATION")?;
                c.expect(b'(', "before the notations")?;
                self.choices(c, true)?;
            }
            return Ok(word != b"CDATA");
        }
        bad(ErrorKind::Doctype, c.at, format!("the type of an attribute expected, not {}", c.shown()))
    }

    fn choices(&mut self, c: &mut Cursor<'_>, notations: bool) -> Read<()> {
        loop {
            c.space()?;
            if notations {
                self.plain(c, "a notation")?;
            } else {
                c.token("a choice of values")?;
            }
            c.space()?;
            match c.peek()? {
                b'|' => c.at += 1,
                b')' => {
                    c.at += 1;
                    return Ok(());
                }
                _ => return bad(ErrorKind::Doctype, c.at, format!("'|' or ')' expected, not {}", c.shown())),
            }
        }
    }

    fn attribute_default(&mut self, c: &mut Cursor<'_>, tokenised: bool) -> Read<Option<Box<[u8]>>> {
        if c.word(b"#REQUIRED")? || c.word(b"#IMPLIED")? {
            return Ok(None);
        }
        if c.word(b"#FIXED")? {
            c.require_space("after #FIXED")?;
        }
        let (from, to) = c.literal("the attribute's default")?;
        let mut out = Vec::new();
        let mut expander = Expander { dtd: Some(self.dtd), limits: self.limits, spent: self.spent, budget: self.budget };
        expander.value(c.bytes, from, to, &mut out)?;
        if tokenised {
            tokenise(&mut out, 0);
        }
        Ok(Some(out.into()))
    }
}

fn occurrence(c: &mut Cursor<'_>) -> Read<()> {
    if matches!(c.peek()?, b'?' | b'*' | b'+') {
        c.at += 1;
    }
    Ok(())
}

/// One of the five may be declared again, as what it is (4.6).
fn predeclared(at: usize, expected: char, entity: &Entity) -> Read<()> {
    if let Entity::Internal(text) = entity {
        let plain = text.len() == 1 && text[0] == expected as u8 && !matches!(expected, '<' | '&');
        let reference = || {
            let mut c = Cursor::new(text, 0, 64);
            text.first() == Some(&b'&') && matches!(c.reference(), Ok(Reference::Char(ch)) if ch == expected) && c.at == text.len()
        };
        if plain || reference() {
            return Ok(());
        }
    }
    bad(ErrorKind::Doctype, at, format!("the predefined entity for '{expected}' is declared as something else"))
}
