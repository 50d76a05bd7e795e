//! The content of elements: text, references, CDATA sections, entities, and what `<` begins.
//!
//! A text node without references that is whole in the buffer is delivered from there. Any other is put together in
//! `scratch`. A piece is delivered as soon as `text_piece` bytes of the node are there, however they came.

use crate::error::{ErrorKind, LimitKind};
use crate::input::chars::{self, floor_boundary};
use crate::tokenizer::cursor::{Cursor, Read, Reference, Trouble, bad};
use crate::tokenizer::dtd::{self, Expander};
use crate::tokenizer::markup;
use crate::tokenizer::search::Scan;
use crate::tokenizer::{Frame, Mode, Token, Tokenizer};
use std::sync::Arc;

impl Tokenizer {
    pub(crate) fn content(&mut self) -> Read<Token> {
        loop {
            if let Some(frame) = self.frames.last()
                && frame.at == frame.text.len()
                && !self.in_cdata
            {
                if self.open.depth() != frame.depth {
                    let message = format!("the element <{}> begins in an entity and doesn't end there", self.element_name().raw());
                    return bad(ErrorKind::EntityBoundary, frame.at, message);
                }
                self.frames.pop();
                continue;
            }
            self.begin("", usize::MAX, LimitKind::TagBytes);
            if self.in_cdata {
                self.what = "a CDATA section";
                match self.cdata_piece()? {
                    Some(token) => return Ok(token),
                    None => continue,
                }
            }
            let at = self.at();
            let Some(&byte) = self.source().get(at) else { return Err(Trouble::Short) };
            if byte == b'<' {
                self.in_text = false;
                if !self.scratch.is_empty() {
                    return Ok(self.send_scratch());
                }
                match self.markup()? {
                    Some(token) => return Ok(token),
                    None => continue,
                }
            }
            let token = if byte == b'&' { self.reference()? } else { self.text_run()? };
            if let Some(token) = token {
                return Ok(token);
            }
        }
    }

    /// What has been put together is a piece of text.
    fn send_scratch(&mut self) -> Token {
        self.scratch_sent = true;
        self.cdata = false;
        self.event = self.scratch_start;
        Token::Scratch
    }

    /// What `<` begins. `None`: a CDATA section, or the end of an entity comes first.
    pub(crate) fn markup(&mut self) -> Read<Option<Token>> {
        let at = self.at();
        self.what = "a tag";
        let source = self.source();
        let Some(&second) = source.get(at + 1) else { return Err(Trouble::Short) };
        match second {
            b'/' => self.end_tag().map(Some),
            b'?' => self.instruction().map(Some),
            b'!' => {
                self.what = "markup";
                let mut c = self.cursor();
                if c.word(b"<!--")? {
                    return self.comment().map(Some);
                }
                if c.word(b"<![CDATA[")? {
                    if self.mode != Mode::Content {
                        return bad(ErrorKind::Structure, at, "text can only stand in the root element");
                    }
                    self.in_cdata = true;
                    self.scratch_start = self.offset(at);
                    self.set_at(at + 9);
                    return Ok(None);
                }
                if self.mode == Mode::Content {
                    return bad(ErrorKind::Syntax, at, "'<!' begins no comment and no CDATA section");
                }
                self.doctype().map(Some)
            }
            _ if self.mode == Mode::Epilog => bad(ErrorKind::Structure, at, "a document has one root element, and this one has ended"),
            _ => self.start_tag().map(Some),
        }
    }

    fn comment(&mut self) -> Read<Token> {
        let (at, end, ()) = self.misc("a comment", Scan::Comment, "<!--", markup::comment)?;
        Ok(Token::Comment(at + 4, end - 3))
    }

    fn instruction(&mut self) -> Read<Token> {
        let namespaces = self.options.namespaces;
        let read = |c: &mut Cursor<'_>| markup::instruction(c, namespaces);
        let (_, _, (target, data)) = self.misc("a processing instruction", Scan::Instruction, "<?", read)?;
        Ok(Token::Pi(target.0, target.1, data.0, data.1))
    }

    /// Passes over what stands beside the document's data. Where it begins and ends, and what `read` made of what follows `open`.
    fn misc<T>(
        &mut self,
        what: &'static str,
        scan: fn(usize) -> Scan,
        open: &str,
        read: impl FnOnce(&mut Cursor<'_>) -> Read<T>,
    ) -> Read<(usize, usize, T)> {
        self.begin(what, self.options.limits.markup_bytes, LimitKind::MarkupBytes);
        let at = self.at();
        self.ready(scan(at + open.len()))?;
        let mut c = self.cursor();
        c.at += open.len();
        let found = read(&mut c)?;
        let end = c.at;
        self.event = self.offset(at);
        self.set_at(end);
        Ok((at, end, found))
    }

    /// Text up to the next stop, as far as it is there.
    fn text_run(&mut self) -> Read<Option<Token>> {
        let piece = self.options.limits.text_piece;
        let at = self.at();
        let framed = !self.frames.is_empty();
        let last = framed || self.input.is_last();
        let source = self.source();
        let mut stop = match self.scan {
            Scan::Text(seen) if !framed => seen,
            _ => at,
        };
        let mut waiting = false;
        // What follows a full piece is looked at when that was delivered, however much of it is there.
        let room = piece - self.scratch.len();
        loop {
            stop = if framed {
                memchr::memchr3(b'<', b'&', b']', &source[stop..]).map_or(source.len(), |i| stop + i)
            } else {
                self.input.stop(stop)
            };
            if source.get(stop) != Some(&b']') || stop - at >= room {
                break;
            }
            match brackets(source, stop, last) {
                Brackets::Close(i) if i - at < room => {
                    return bad(ErrorKind::Syntax, i, "']]>' can't stand in text; write ]]&gt;");
                }
                Brackets::Close(i) | Brackets::Plain(i) => stop = i,
                Brackets::Unfinished(i) => {
                    (stop, waiting) = (i, true);
                    break;
                }
            }
        }
        let len = stop - at;
        if self.scratch.is_empty() && !framed {
            let whole = source.get(stop) == Some(&b'<');
            if len >= piece || (whole && len > 0) {
                let cut = at + if len > piece { floor_boundary(&source[at..stop], piece) } else { len };
                self.event = self.offset(at);
                self.cdata = false;
                self.in_text = true;
                self.set_at(cut);
                return Ok(Some(Token::Text(at, cut)));
            }
            if stop == self.input.end || waiting {
                self.scan = Scan::Text(stop);
                return Err(Trouble::Short);
            }
        }
        // A reference follows, or came before.
        let taken = if len > room { floor_boundary(&source[at..stop], room) } else { len };
        if self.scratch.is_empty() {
            self.scratch_start = self.offset(at);
        }
        match self.frames.last() {
            Some(frame) => self.scratch.extend_from_slice(&frame.text[at..at + taken]),
            None => self.scratch.extend_from_slice(&self.input.bytes()[at..at + taken]),
        }
        self.in_text = true;
        self.set_at(at + taken);
        if taken < len || self.scratch.len() == piece {
            return Ok(Some(self.send_scratch()));
        }
        if !framed && (stop == self.input.end || waiting) {
            return Err(Trouble::Short);
        }
        Ok(None)
    }

    /// `&`: a character goes to the text, an entity is read next.
    fn reference(&mut self) -> Read<Option<Token>> {
        let at = self.at();
        // One byte more than the longest reference by name, which is told from one too long by what follows it.
        self.begin("a reference", self.options.limits.name.saturating_add(16), LimitKind::Name);
        self.ready(Scan::Reference(at + 1))?;
        let mut c = self.cursor();
        let reference = c.reference()?;
        let after = c.at;
        self.in_text = true;
        match reference {
            Reference::Char(ch) => {
                if self.scratch.len() + ch.len_utf8() > self.options.limits.text_piece {
                    self.scan = Scan::Nothing;
                    return Ok(Some(self.send_scratch()));
                }
                if self.scratch.is_empty() {
                    self.scratch_start = self.offset(at);
                }
                if ch.is_ascii() {
                    self.scratch.push(ch as u8);
                } else {
                    self.scratch.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
                }
                self.set_at(after);
            }
            Reference::Entity { start, end } => {
                let offset = self.offset(at);
                let source = self.source();
                let name = &source[start..end];
                if self.dtd.as_ref().is_some_and(|dtd| dtd.passes(name)) {
                    if !self.scratch.is_empty() && self.scratch.len() + (after - at) > self.options.limits.text_piece {
                        self.scan = Scan::Nothing;
                        return Ok(Some(self.send_scratch()));
                    }
                    let raw = source[at..after].to_vec();
                    if self.scratch.is_empty() {
                        self.scratch_start = offset;
                    }
                    self.scratch.extend_from_slice(&raw);
                    self.set_at(after);
                    return Ok(if self.scratch.len() >= self.options.limits.text_piece { Some(self.send_scratch()) } else { None });
                }
                let text = dtd::lookup(self.dtd.as_deref(), name, at)?;
                if self.frames.iter().any(|frame| Arc::ptr_eq(&frame.text, &text)) {
                    let message = format!("the entity \"{}\" contains itself", chars::shown(name));
                    return bad(ErrorKind::RecursiveEntity, at, message);
                }
                let limits = &self.options.limits;
                if self.frames.len() >= limits.entity_depth {
                    let message = format!("entities stand in one another more than {} deep (limit entity_depth)", limits.entity_depth);
                    return bad(ErrorKind::Limit(LimitKind::EntityDepth), at, message);
                }
                let budget = self.budget(offset);
                Expander { dtd: None, limits, spent: &mut self.spent, budget }.spend(text.len() + 1, at)?;
                self.set_at(after);
                let depth = self.open.depth();
                self.frames.push(Frame { text, at: 0, depth, reference: offset });
            }
        }
        Ok(None)
    }

    /// The next piece of the CDATA section. `None`: it has ended.
    fn cdata_piece(&mut self) -> Read<Option<Token>> {
        let piece = self.options.limits.text_piece;
        let at = self.at();
        let framed = !self.frames.is_empty();
        let source = self.source();
        let mut seen = match self.scan {
            Scan::Text(seen) if !framed => seen,
            _ => at,
        };
        let (mut found, mut unfinished) = (false, false);
        while let Some(i) = memchr::memchr(b']', &source[seen..]) {
            match brackets(source, seen + i, false) {
                Brackets::Close(i) => {
                    (seen, found) = (i, true);
                    break;
                }
                Brackets::Plain(i) => seen = i,
                Brackets::Unfinished(i) => {
                    (seen, unfinished) = (i, true);
                    break;
                }
            }
        }
        if !found && !unfinished {
            seen = source.len();
        }
        let len = seen - at;
        let (from, to) = if len > piece || (len == piece && !found) {
            (at, at + floor_boundary(&source[at..seen], piece))
        } else if found {
            self.in_cdata = false;
            (at, seen)
        } else {
            if !framed {
                self.scan = Scan::Text(seen);
            }
            return Err(Trouble::Short);
        };
        self.event = if self.scratch_start != u64::MAX { self.scratch_start } else { self.offset(at) };
        self.scratch_start = u64::MAX;
        let ended = !self.in_cdata;
        if framed {
            let frame_text = self.frames.last().map(|frame| frame.text.clone());
            if let Some(text) = frame_text {
                self.scratch.extend_from_slice(&text[from..to]);
            }
        }
        self.set_at(if ended { to + 3 } else { to });
        self.cdata = true;
        if from == to {
            return Ok(None);
        }
        if framed {
            self.scratch_sent = true;
            return Ok(Some(Token::Scratch));
        }
        Ok(Some(Token::Text(from, to)))
    }
}

/// What a run of `]` is.
enum Brackets {
    /// `]]>` stands at the index.
    Close(usize),
    /// Text up to the index.
    Plain(usize),
    /// The bytes from the index on may begin `]]>`.
    Unfinished(usize),
}

/// Looks at the run of `]` that begins at `at`; nothing comes after the source if it is the last.
fn brackets(source: &[u8], at: usize, last: bool) -> Brackets {
    match source[at..].iter().position(|&b| b != b']') {
        None if last => Brackets::Plain(source.len()),
        None => Brackets::Unfinished(at.max(source.len().saturating_sub(2))),
        Some(n) if n >= 2 && source[at + n] == b'>' => Brackets::Close(at + n - 2),
        Some(n) => Brackets::Plain(at + n),
    }
}
