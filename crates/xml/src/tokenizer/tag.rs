//! Start and end tags, in full: attributes, their defaults and types, namespaces.

use crate::error::{ErrorKind, LimitKind};
use crate::input::Input;
use crate::input::chars::{self, NAME_START, PLAIN_NAME, VALUE_STOP, is, shown};
use crate::tokenizer::cursor::{Bad, Cursor, Read, Trouble, bad};
use crate::tokenizer::dtd::{Expander, tokenise};
use crate::tokenizer::namespaces::{NONE, XML_NAME, XMLNS, XMLNS_NAME};
use crate::tokenizer::search::Scan;
use crate::tokenizer::{Attr, Mode, Token, Tokenizer};
use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hash};

/// Up to how many attributes are compared each with each.
const FEW: usize = 8;

/// A start tag, as it stands.
struct Tag {
    name: (usize, usize),
    end: usize,
    empty: bool,
    /// Some name has a colon, or is `xmlns`.
    qualified: bool,
}

/// Bytes to read a tag from, cut where it becomes too long; with their masks when they are the document's.
struct Source<'a> {
    bytes: &'a [u8],
    input: Option<&'a Input>,
    name_limit: usize,
}

impl Source<'_> {
    #[inline]
    fn next_break(&self, at: usize) -> usize {
        let len = self.bytes.len();
        match self.input {
            Some(input) => input.name_break(at).min(len),
            None => (at..len).find(|&i| !is(self.bytes[i], PLAIN_NAME)).unwrap_or(len),
        }
    }

    #[inline]
    fn next_mark(&self, at: usize) -> usize {
        let len = self.bytes.len();
        match self.input {
            Some(input) => input.mark(at).min(len),
            None => (at..len).find(|&i| is(self.bytes[i], VALUE_STOP)).unwrap_or(len),
        }
    }

    fn cursor(&self, at: usize) -> Cursor<'_> {
        Cursor::new(self.bytes, at, self.name_limit)
    }

    /// The end of the name that begins here, and how many of its bytes go up to its first colon.
    #[inline]
    fn name(&self, start: usize, what: &str) -> Read<(usize, usize)> {
        let first = *self.bytes.get(start).ok_or(Trouble::Short)?;
        if !is(first, NAME_START) {
            return self.any_name(start, what);
        }
        let (mut at, mut colon) = (start, 0);
        loop {
            at = self.next_break(at);
            match self.bytes.get(at) {
                Some(b':') => {
                    if colon == 0 {
                        colon = at + 1 - start;
                    }
                    at += 1;
                }
                Some(0..0x80) if at - start <= self.name_limit => return Ok((at, colon)),
                _ => return self.any_name(start, what),
            }
        }
    }

    /// The same for names with characters that are not ASCII, too long, or cut short.
    #[cold]
    fn any_name(&self, start: usize, what: &str) -> Read<(usize, usize)> {
        let mut c = self.cursor(start);
        c.name(what)?;
        Ok((c.at, memchr::memchr(b':', &self.bytes[start..c.at]).map_or(0, |i| i + 1)))
    }

    /// Where the value that begins at `from` ends, and whether it stands there as it is.
    #[inline]
    fn value_end(&self, from: usize, quote: u8) -> Read<(usize, bool)> {
        let (mut at, mut plain) = (from, true);
        loop {
            at = self.next_mark(at);
            match self.bytes.get(at) {
                Some(&b) if b == quote => return Ok((at, plain)),
                None => return Err(Trouble::Short),
                Some(b'<') => return bad(ErrorKind::AttributeValue, at, "'<' can't stand in an attribute's value; write &lt;"),
                Some(b'"' | b'\'') => {}
                Some(_) => plain = false,
            }
            at += 1;
        }
    }
}

impl Tokenizer {
    pub(crate) fn start_tag(&mut self) -> Read<Token> {
        let limit = self.options.limits.tag_bytes;
        self.begin("a tag", limit, LimitKind::TagBytes);
        let at = self.at();
        self.ready(Scan::Tag(at + 1, 0))?;
        let offset = self.offset(at);
        // Read again when more has come, so what a try that falls short spends doesn't count.
        let spent = self.spent;
        let tag = self.read_tag(offset).inspect_err(|_| {
            self.attributes.clear();
            self.values.clear();
            self.spent = spent;
        })?;
        if self.dtd.is_some() {
            self.declared_attributes(&tag, offset)?;
        }
        self.refuse_duplicates()?;
        self.push(&tag)?;
        if !self.options.namespaces {
            self.attributes.iter_mut().for_each(|a| a.local = 0);
        } else if tag.qualified || self.attributes.iter().any(|a| !a.specified) {
            self.resolve(&tag)?;
        }
        self.mode = Mode::Content;
        self.event = offset;
        self.end_due = tag.empty;
        self.set_at(tag.end);
        Ok(Token::Start)
    }

    /// Reads the tag that begins here into `attributes` and `values`.
    fn read_tag(&mut self, offset: u64) -> Read<Tag> {
        let budget = self.budget(offset);
        // Field by field, because the source is borrowed while the attributes grow.
        let (source, at) = match self.frames.last() {
            Some(frame) => (&frame.text[..], frame.at),
            None => (self.input.bytes(), self.pos),
        };
        let input = self.frames.is_empty().then_some(&self.input);
        let limits = &self.options.limits;
        let end = chars::floor_boundary(source, source.len().min(at.saturating_add(limits.tag_bytes)));
        let read = Source { bytes: &source[..end], input, name_limit: limits.name };
        let name = at + 1;
        let (after, colon) = read.name(name, "an element")?;
        let name = (name, after);
        let mut qualified = colon > 0;
        let mut c = read.cursor(after);
        loop {
            let spaced = c.space()?;
            let first = c.peek()?;
            if first == b'>' {
                return Ok(Tag { name, end: c.at + 1, empty: false, qualified });
            }
            if first == b'/' {
                c.at += 1;
                c.expect(b'>', "after '/' in a tag")?;
                return Ok(Tag { name, end: c.at, empty: true, qualified });
            }
            if !spaced {
                return bad(ErrorKind::Syntax, c.at, format!("white space, '/' or '>' expected in a tag, not {}", c.shown()));
            }
            let start = c.at;
            let (after, colon) = read.name(start, "an attribute")?;
            let name = (start, after);
            qualified |= colon > 0 || source[start..after] == *b"xmlns";
            c.at = after;
            if c.peek()? == b'=' {
                c.at += 1;
            } else {
                c.equals("after an attribute's name")?;
            }
            c.space()?;
            let quote = c.peek()?;
            if !matches!(quote, b'"' | b'\'') {
                return bad(ErrorKind::AttributeValue, c.at, format!("an attribute's value begins with a quote, not {}", c.shown()));
            }
            let from = c.at + 1;
            let (to, plain) = read.value_end(from, quote)?;
            c.at = to + 1;
            let value = if plain {
                (from, to)
            } else {
                let start = self.values.len();
                let mut expander = Expander { dtd: self.dtd.as_deref(), limits, spent: &mut self.spent, budget };
                expander.value(source, from, to, &mut self.values)?;
                (start, self.values.len())
            };
            if self.attributes.len() >= limits.attributes {
                return bad(
                    ErrorKind::Limit(LimitKind::Attributes),
                    start,
                    format!("an element has more than {} attributes (limit attributes)", limits.attributes),
                );
            }
            if self.values.len() > limits.tag_bytes {
                return bad(
                    ErrorKind::Limit(LimitKind::TagBytes),
                    start,
                    format!("the values of a tag grow to more than {} bytes (limit tag_bytes)", limits.tag_bytes),
                );
            }
            self.attributes.push(Attr { name, local: colon, namespace: NONE, value, composed: !plain, specified: true });
        }
    }

    /// What the document type says of this element's attributes: types that normalise further, and defaults.
    fn declared_attributes(&mut self, tag: &Tag, offset: u64) -> Read<()> {
        let budget = self.budget(offset);
        let Some(dtd) = self.dtd.as_deref() else { return Ok(()) };
        let source = match self.frames.last() {
            Some(frame) => &frame.text[..],
            None => self.input.bytes(),
        };
        let Some(declared) = dtd.attributes.get(&source[tag.name.0..tag.name.1]) else { return Ok(()) };
        let mut given = vec![false; declared.all.len()];
        for a in &mut self.attributes {
            let Some(&i) = declared.index.get(&source[a.name.0..a.name.1]) else { continue };
            given[i as usize] = true;
            if declared.all[i as usize].tokenised {
                let start = self.values.len();
                if a.composed {
                    self.values.extend_from_within(a.value.0..a.value.1);
                } else {
                    self.values.extend_from_slice(&source[a.value.0..a.value.1]);
                }
                tokenise(&mut self.values, start);
                a.value = (start, self.values.len());
                a.composed = true;
            }
        }
        let limits = &self.options.limits;
        let mut expander = Expander { dtd: None, limits, spent: &mut self.spent, budget };
        expander.spend(declared.all.len() / 16, tag.name.0)?;
        for &i in &declared.defaults {
            let attribute = &declared.all[i as usize];
            let Some(value) = attribute.default.as_ref().filter(|_| !given[i as usize]) else { continue };
            expander.spend(attribute.name.len() + value.len(), tag.name.0)?;
            if self.attributes.len() >= limits.attributes {
                return bad(
                    ErrorKind::Limit(LimitKind::Attributes),
                    tag.name.0,
                    format!("an element has more than {} attributes (limit attributes)", limits.attributes),
                );
            }
            let start = self.values.len();
            self.values.extend_from_slice(&attribute.name);
            let middle = self.values.len();
            self.values.extend_from_slice(value);
            let (name, value) = ((start, middle), (middle, self.values.len()));
            let local = memchr::memchr(b':', &attribute.name).map_or(0, |i| i + 1);
            self.attributes.push(Attr { name, local, namespace: NONE, value, composed: true, specified: false });
        }
        Ok(())
    }

    fn raw_name(&self, a: &Attr) -> &[u8] {
        &(if a.specified { self.source() } else { &self.values })[a.name.0..a.name.1]
    }

    fn refuse_duplicates(&self) -> Read<()> {
        let all = &self.attributes;
        if all.len() < 2 {
            return Ok(());
        }
        // Usually no two are even of one length.
        let mut lengths = 0u64;
        let differ = all.len() <= FEW
            && all.iter().all(|a| {
                let bit = 1 << ((a.name.1 - a.name.0) % 64);
                let new = lengths & bit == 0;
                lengths |= bit;
                new
            });
        if differ {
            return Ok(());
        }
        match first_repeated(all.len(), |i| self.raw_name(&all[i])) {
            None => Ok(()),
            Some(i) => {
                let message = format!("the attribute \"{}\" stands twice in one tag", shown(self.raw_name(&all[i])));
                bad(ErrorKind::DuplicateAttribute, all[i].name.0, message)
            }
        }
    }

    /// The element is open.
    fn push(&mut self, tag: &Tag) -> Read<()> {
        let limits = &self.options.limits;
        let (depth, bytes) = (limits.depth, limits.tag_bytes);
        if self.open.depth() >= depth {
            let message = format!("elements stand in one another more than {depth} deep (limit depth)");
            return bad(ErrorKind::Limit(LimitKind::Depth), tag.name.0 - 1, message);
        }
        if self.open.names_len() + (tag.name.1 - tag.name.0) > bytes {
            let message = format!("the names of the open elements together are longer than {bytes} bytes (limit tag_bytes)");
            return bad(ErrorKind::Limit(LimitKind::TagBytes), tag.name.0, message);
        }
        let source = match self.frames.last() {
            Some(frame) => &frame.text[..],
            None => self.input.bytes(),
        };
        self.open.push(&source[tag.name.0..tag.name.1], self.namespaces.default);
        Ok(())
    }

    /// Declares what the tag declares, then looks up its prefixes.
    fn resolve(&mut self, tag: &Tag) -> Read<()> {
        let source = match self.frames.last() {
            Some(frame) => &frame.text[..],
            None => self.input.bytes(),
        };
        let (limit, bytes) = (self.options.limits.namespaces, self.options.limits.tag_bytes);
        let mut declared = 0;
        for a in &mut self.attributes {
            let raw = &(if a.specified { source } else { &self.values })[a.name.0..a.name.1];
            if a.local > 0 && chars::qualified(raw).is_none() {
                return bad(ErrorKind::Namespace, a.name.0, format!("\"{}\" is no name with at most one prefix", shown(raw)));
            }
            let prefix = match (a.local, raw) {
                (0, b"xmlns") => &b""[..],
                (6, _) if raw.starts_with(b"xmlns:") => &raw[6..],
                _ => continue,
            };
            a.namespace = XMLNS;
            let name = &(if a.composed { &self.values } else { source })[a.value.0..a.value.1];
            if let Some(message) = forbidden_binding(prefix, &shown(name)) {
                return bad(ErrorKind::Namespace, a.name.0, message);
            }
            if self.namespaces.len() >= limit {
                let message = format!("more than {limit} namespace declarations are in scope (limit namespaces)");
                return bad(ErrorKind::Limit(LimitKind::Namespaces), a.name.0, message);
            }
            if self.namespaces.bytes() + prefix.len() + name.len() > bytes {
                let message = format!("the namespace declarations in scope together are longer than {bytes} bytes (limit tag_bytes)");
                return bad(ErrorKind::Limit(LimitKind::TagBytes), a.name.0, message);
            }
            self.namespaces.declare(prefix, name);
            declared += 1;
        }
        let mut prefixed = 0;
        for a in &mut self.attributes {
            if a.local == 0 || a.namespace == XMLNS {
                continue;
            }
            let raw = &(if a.specified { source } else { &self.values })[a.name.0..a.name.1];
            let prefix = &raw[..a.local - 1];
            match self.namespaces.find(prefix).filter(|&id| id != XMLNS) {
                Some(id) => a.namespace = id,
                None => return Err(undeclared(prefix, a.name.0)),
            }
            prefixed += 1;
        }
        let raw = &source[tag.name.0..tag.name.1];
        let (local, namespace) = match chars::qualified(raw) {
            None => return bad(ErrorKind::Namespace, tag.name.0, format!("\"{}\" is no name with at most one prefix", shown(raw))),
            Some(0) => (0, self.namespaces.default),
            Some(local) => {
                let prefix = &raw[..local - 1];
                match self.namespaces.find(prefix) {
                    Some(XMLNS) => return bad(ErrorKind::Namespace, tag.name.0, "the prefix \"xmlns\" can't name an element"),
                    Some(id) => (local, id),
                    None => return Err(undeclared(prefix, tag.name.0)),
                }
            }
        };
        if let Some(open) = self.open.innermost_mut() {
            open.qualify(local as u32, namespace);
            open.declared = declared;
        }
        if prefixed > 1 {
            self.refuse_same_expanded()?;
        }
        Ok(())
    }

    /// Two prefixes for one namespace can make one attribute of two.
    fn refuse_same_expanded(&self) -> Read<()> {
        let expanded: Vec<&Attr> = self.attributes.iter().filter(|a| a.local > 0).collect();
        let key = |i: usize| (self.namespaces.name(expanded[i].namespace), &self.raw_name(expanded[i])[expanded[i].local..]);
        match first_repeated(expanded.len(), key) {
            None => Ok(()),
            Some(i) => {
                let (namespace, local) = key(i);
                let message =
                    format!("the attribute \"{}\" of the namespace \"{}\" stands twice in one tag", shown(local), namespace.unwrap_or(""));
                bad(ErrorKind::DuplicateAttribute, expanded[i].name.0, message)
            }
        }
    }

    pub(crate) fn end_tag(&mut self) -> Read<Token> {
        // The end tag of an element whose start tag is just not too long isn't either.
        let limit = self.options.limits.tag_bytes.saturating_add(1);
        self.begin("an end tag", limit, LimitKind::TagBytes);
        let at = self.at();
        self.ready(Scan::EndTag(at + 2))?;
        let Some(open) = self.open.innermost() else {
            return bad(ErrorKind::Structure, at, "an end tag where no element is open");
        };
        let mut c = self.cursor();
        c.at += 2;
        let start = c.name("an element")?;
        let name = &c.bytes[start..c.at];
        c.space()?;
        if c.peek()? != b'>' {
            return bad(ErrorKind::Syntax, c.at, format!("'>' expected in an end tag, not {}", c.shown()));
        }
        let end = c.at + 1;
        let expected = self.open.raw(open);
        if name != expected.as_bytes() {
            let message = format!("the end tag </{}> where </{}> was expected", shown(name), expected);
            return Err(Trouble::Bad(Box::new(Bad { kind: ErrorKind::MismatchedTag, at, message })));
        }
        if let Some(frame) = self.frames.last()
            && self.open.depth() <= frame.depth
        {
            let message = format!("the element <{}> ends in an entity and doesn't begin there", expected);
            return bad(ErrorKind::EntityBoundary, at, message);
        }
        self.event = self.offset(at);
        self.set_at(end);
        self.end_element();
        Ok(Token::End)
    }
}

/// The first of `0..len` whose key one before it has.
fn first_repeated<K: PartialEq + Hash>(len: usize, key: impl Fn(usize) -> K) -> Option<usize> {
    if len <= FEW {
        return (1..len).find(|&i| (0..i).any(|j| key(i) == key(j)));
    }
    // Sorted by a hash whose seed an author can't know, equal keys stand together.
    let state = FixedState::with_seed(seed());
    let mut order: Vec<(u64, usize)> = (0..len).map(|i| (state.hash_one(key(i)), i)).collect();
    order.sort_unstable();
    let mut first: Option<usize> = None;
    for (n, &(hash, i)) in order.iter().enumerate() {
        let before = order[..n].iter().rev().take_while(|&&(h, _)| h == hash);
        if before.into_iter().any(|&(_, j)| key(i) == key(j)) && first.is_none_or(|f| i < f) {
            first = Some(i);
        }
    }
    first
}

/// Differs from process to process.
fn seed() -> u64 {
    use std::sync::OnceLock;
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| std::collections::hash_map::RandomState::new().hash_one(0u8))
}

fn undeclared(prefix: &[u8], at: usize) -> Trouble {
    let message = format!("the prefix \"{}\" is not declared", shown(prefix));
    Trouble::Bad(Box::new(Bad { kind: ErrorKind::Namespace, at, message }))
}

/// Why a prefix can't stand for a name (Namespaces in XML, 3).
fn forbidden_binding(prefix: &[u8], name: &str) -> Option<&'static str> {
    match prefix {
        b"xmlns" => Some("the prefix \"xmlns\" can't be declared"),
        b"xml" if name != XML_NAME => Some("the prefix \"xml\" can't stand for another namespace"),
        b"xml" => None,
        _ if name == XML_NAME => Some("only the prefix \"xml\" can stand for the namespace of XML"),
        _ if name == XMLNS_NAME => Some("nothing can stand for the namespace of namespace declarations"),
        _ if name.is_empty() && !prefix.is_empty() => Some("a prefix can't stand for no namespace"),
        _ => None,
    }
}
