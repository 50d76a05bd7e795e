//! What stands around the root element: the XML declaration, the document type, comments and instructions.

use crate::error::{ErrorKind, LimitKind};
use crate::input::Input;
use crate::input::chars::{self, is_space, shown};
use crate::tokenizer::cursor::{Cursor, Read, Trouble, bad};
use crate::tokenizer::doctype::Reader;
use crate::tokenizer::finder::Finder;
use crate::tokenizer::search::Scan;
use crate::tokenizer::{Mode, Token, Tokenizer};

/// The longest XML declaration.
const DECLARATION: usize = 1024;

impl Tokenizer {
    /// The very beginning: a declaration or none.
    pub(crate) fn beginning(&mut self) -> Read<Token> {
        self.begin("the beginning of the document", usize::MAX, LimitKind::MarkupBytes);
        let mut c = self.cursor();
        let declared = c.word(b"<?xml");
        let declared = match declared {
            Ok(true) => c.peek().map(|b| is_space(b) || b == b'?'),
            other => other,
        };
        match declared {
            Err(Trouble::Short) if !self.input.is_last() => return Err(Trouble::Short),
            Ok(true) => {}
            _ => {
                self.mode = Mode::Prolog;
                return self.outside();
            }
        }
        self.begin("the XML declaration", DECLARATION, LimitKind::MarkupBytes);
        self.ready(Scan::Instruction(self.pos + 2))?;
        let mut c = self.cursor();
        c.at += 5;
        let (version, encoding, standalone) = declaration(&mut c)?;
        let end = c.at;
        if let Some((from, to)) = encoding {
            if let Some(message) = self.input.conflict(&shown(&self.input.bytes()[from..to])) {
                return bad(ErrorKind::Encoding, from, message);
            }
        }
        let source = self.input.bytes();
        self.head.version = owned(source, version);
        self.head.encoding = encoding.map(|span| owned(source, span));
        self.head.standalone = standalone;
        self.mode = Mode::Prolog;
        self.event = self.offset(self.pos);
        self.set_at(end);
        Ok(Token::XmlDecl)
    }

    /// Before and after the root element.
    pub(crate) fn outside(&mut self) -> Read<Token> {
        self.begin("", usize::MAX, LimitKind::MarkupBytes);
        let rest = &self.input.bytes()[self.pos..];
        let blank = rest.iter().position(|&b| !is_space(b)).unwrap_or(rest.len());
        if blank > 0 {
            let at = self.pos + blank;
            self.set_at(at);
        }
        let Some(&byte) = self.input.bytes().get(self.pos) else {
            if self.input.finished && self.input.fault.is_none() {
                if self.mode == Mode::Epilog {
                    return Ok(Token::Done);
                }
                return bad(ErrorKind::Structure, self.pos, "the document has no root element");
            }
            return Err(Trouble::Short);
        };
        if byte != b'<' {
            return bad(ErrorKind::Structure, self.pos, "text can only stand in the root element");
        }
        match self.markup()? {
            Some(token) => Ok(token),
            None => Err(Trouble::Short),
        }
    }

    /// `<!` that begins no comment, outside the root element.
    pub(crate) fn doctype(&mut self) -> Read<Token> {
        let at = self.pos;
        let mut c = self.cursor();
        if !c.word(b"<!DOCTYPE")? {
            return bad(ErrorKind::Syntax, at, "'<!' begins no comment and no document type");
        }
        if self.mode == Mode::Epilog || self.doctype_seen {
            return bad(ErrorKind::Structure, at, "a document has one document type, before its root element");
        }
        let limit = self.options.limits.doctype_bytes;
        self.begin("the document type", limit, LimitKind::DoctypeBytes);
        self.ready(Scan::Doctype(at + 9, Finder::new()))?;
        let budget = self.budget(self.offset(at));
        let source = self.input.bytes();
        let end = chars::floor_boundary(source, source.len().min(at.saturating_add(limit)));
        let mut c = Cursor::new(&source[..end], at, self.options.limits.name);
        let mut dtd = Box::default();
        // Read again when more has come, so what this try spends doesn't count.
        let mut spent = self.spent;
        let head = Reader {
            limits: &self.options.limits,
            namespaces: self.options.namespaces,
            standalone: self.head.standalone == Some(true),
            spent: &mut spent,
            budget,
            dtd: &mut dtd,
        }
        .doctype(&mut c)?;
        self.head.name = owned(source, head.name);
        self.head.public = head.public.map(|span| owned(source, span));
        self.head.system = head.system.map(|span| owned(source, span));
        self.spent = spent;
        self.dtd = Some(dtd);
        self.doctype_seen = true;
        self.event = self.offset(at);
        self.set_at(head.end);
        Ok(Token::Doctype)
    }
}

impl Input {
    /// See [`Decoding::conflict`](crate::input::encoding::Decoding::conflict).
    fn conflict(&self, label: &str) -> Option<String> {
        self.decoding.conflict(label, self.marked, self.transport)
    }
}

type Span = (usize, usize);

fn owned(source: &[u8], (from, to): Span) -> String {
    shown(&source[from..to]).into_owned()
}

/// After `<?xml`: version, encoding, standalone.
fn declaration(c: &mut Cursor<'_>) -> Read<(Span, Option<Span>, Option<bool>)> {
    const KIND: ErrorKind = ErrorKind::Declaration;
    c.require_space("after '<?xml'")?;
    if !c.word(b"version")? {
        return bad(KIND, c.at, "the XML declaration begins with the version");
    }
    c.equals("after 'version'")?;
    let version = c.literal("the version")?;
    let found = shown(&c.bytes[version.0..version.1]);
    let digits = found.strip_prefix("1.").is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    if !digits {
        return bad(KIND, version.0, format!("the version of XML is \"{found}\"; this reads 1.0"));
    }
    let mut spaced = c.space()?;
    let mut encoding = None;
    if c.peek()? == b'e' {
        let (from, to) = part(c, spaced, "encoding", "'encoding' or 'standalone' expected")?;
        let name = &c.bytes[from..to];
        let letter = name.first().is_some_and(u8::is_ascii_alphabetic);
        if !letter || !name.iter().all(|&b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')) {
            return bad(KIND, from, format!("\"{}\" can't be the name of an encoding", shown(name)));
        }
        encoding = Some((from, to));
        spaced = c.space()?;
    }
    let mut standalone = None;
    if c.peek()? == b's' {
        let (from, to) = part(c, spaced, "standalone", "'standalone' expected")?;
        standalone = match &c.bytes[from..to] {
            b"yes" => Some(true),
            b"no" => Some(false),
            _ => return bad(KIND, from, "standalone is 'yes' or 'no'"),
        };
        c.space()?;
    }
    if !c.word(b"?>")? {
        return bad(KIND, c.at, format!("'?>' expected at the end of the XML declaration, not {}", c.shown()));
    }
    Ok((version, encoding, standalone))
}

/// One of the optional parts: where its value stands.
fn part(c: &mut Cursor<'_>, spaced: bool, name: &str, expected: &str) -> Read<Span> {
    if !spaced {
        return bad(ErrorKind::Declaration, c.at, "white space expected in the XML declaration");
    }
    if !c.word(name.as_bytes())? {
        return bad(ErrorKind::Declaration, c.at, expected);
    }
    c.equals(&format!("after '{name}'"))?;
    c.literal(&format!("the value of '{name}'"))
}
