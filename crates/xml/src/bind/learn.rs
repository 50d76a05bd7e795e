//! What a row consists of, for the predictor: the bytes of its tags, found by a quick look ahead, and what the
//! tokeniser and the schema then said of each. Only what both agree on is learnt, so the look ahead may be naive.

use crate::schema::ClassId;

/// Rows larger than this are not learnt from.
const LARGEST: usize = 64 << 10;

/// Elements below a row's children are understood to this depth.
pub(super) const DEEPEST: usize = 16;

/// A start tag, by offsets in the row's bytes.
#[derive(Debug)]
pub(super) struct RawTag {
    pub start: usize,
    pub name: (usize, usize),
    /// The values between the quotes.
    pub attributes: Vec<(usize, usize)>,
    /// After its `>`.
    pub end: usize,
    /// `<a/>`.
    pub empty: bool,
}

/// An element in a row. It holds text or elements, not both.
#[derive(Debug)]
pub(super) struct RawChild {
    pub tag: RawTag,
    pub children: Vec<RawChild>,
    /// Where its end tag begins, and where it ends.
    pub close: usize,
    pub end: usize,
}

/// A row without mixed content.
#[derive(Debug)]
pub(super) struct RawRow {
    pub bytes: Vec<u8>,
    pub tag: RawTag,
    pub children: Vec<RawChild>,
    pub close: usize,
    pub end: usize,
}

#[derive(Debug)]
pub(super) struct Learning {
    pub raw: RawRow,
    /// How many frames are open when the row has ended.
    pub depth: usize,
    pub row: Option<(u16, ClassId)>,
    pub attributes: Vec<Option<u16>>,
    declared: usize,
    pub children: Vec<Option<u16>>,
    spoiled: bool,
}

impl RawChild {
    /// Tags, and whether one has attributes.
    pub fn size(&self) -> (usize, bool) {
        let mut all = (1, !self.tag.attributes.is_empty());
        for child in &self.children {
            let (tags, attributes) = child.size();
            all = (all.0 + tags, all.1 | attributes);
        }
        (all.0 + self.tag.attributes.len(), all.1)
    }
}

impl Learning {
    /// Looks at what begins with the `<` of a row. `None`: it isn't there as a whole, or not simple enough.
    pub fn look(bytes: &[u8], depth: usize) -> Option<Learning> {
        let bytes = &bytes[..bytes.len().min(LARGEST)];
        let raw = row(bytes)?;
        Some(Learning { raw, depth, row: None, attributes: Vec::new(), declared: 0, children: Vec::new(), spoiled: false })
    }

    /// Whether the row's start tag has come.
    pub fn begun(&self) -> bool {
        self.row.is_some()
    }

    /// The row's start tag with so many attributes.
    pub fn row(&mut self, slot: u16, class: ClassId, attributes: usize) {
        self.spoiled |= self.row.is_some();
        self.row = Some((slot, class));
        self.declared = attributes;
    }

    /// The next of its attributes, and the field that it is a value of.
    pub fn attribute(&mut self, slot: Option<u16>) {
        self.attributes.push(slot);
    }

    pub fn spoil(&mut self) {
        self.spoiled = true;
    }

    pub fn child(&mut self, slot: Option<u16>) {
        self.spoiled |= self.row.is_none();
        self.children.push(slot);
    }

    /// Whether what was seen is what the look ahead saw.
    pub fn agrees(&mut self) -> bool {
        let attributes = self.raw.tag.attributes.len();
        if self.attributes.is_empty() {
            self.attributes.resize(self.declared, None);
        }
        !self.spoiled && self.row.is_some() && self.attributes.len() == attributes && self.children.len() == self.raw.children.len()
    }
}

fn blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n')
}

fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&b| blank(b)) {
        at += 1;
    }
    at
}

fn row(bytes: &[u8]) -> Option<RawRow> {
    let RawChild { tag, children, close, end } = element(bytes, 0, 0)?;
    Some(RawRow { bytes: bytes[..end].to_vec(), tag, children, close, end })
}

fn element(bytes: &[u8], at: usize, depth: usize) -> Option<RawChild> {
    let tag = tag(bytes, at)?;
    let mut children = Vec::new();
    let mut at = tag.end;
    if tag.empty {
        return Some(RawChild { tag, children, close: at, end: at });
    }
    loop {
        let next = at + memchr::memchr(b'<', bytes.get(at..)?)?;
        let closes = bytes.get(next + 1) == Some(&b'/');
        // Text is only understood where there is nothing else.
        if !(closes && children.is_empty()) && !bytes[at..next].iter().all(|&b| blank(b)) {
            return None;
        }
        if closes {
            let end = end_tag(bytes, next, &tag)?;
            return Some(RawChild { tag, children, close: next, end });
        }
        if depth == DEEPEST {
            return None;
        }
        let child = element(bytes, next, depth + 1)?;
        at = child.end;
        children.push(child);
    }
}

fn end_tag(bytes: &[u8], at: usize, tag: &RawTag) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(b"</")?.strip_prefix(&bytes[tag.name.0..tag.name.1])?;
    let blanks = rest.iter().take_while(|&&b| blank(b)).count();
    (rest.get(blanks) == Some(&b'>')).then(|| bytes.len() - rest.len() + blanks + 1)
}

fn tag(bytes: &[u8], start: usize) -> Option<RawTag> {
    let from = start + 1;
    let length = bytes.get(from..)?.iter().position(|&b| blank(b) || matches!(b, b'/' | b'>' | b'!' | b'?' | b'<' | b'&' | b'='))?;
    if length == 0 || bytes[start] != b'<' {
        return None;
    }
    let name = (from, from + length);
    let (mut attributes, mut at) = (Vec::new(), name.1);
    loop {
        let next = blanks(bytes, at);
        match *bytes.get(next)? {
            b'>' => return Some(RawTag { start, name, attributes, end: next + 1, empty: false }),
            b'/' if bytes.get(next + 1) == Some(&b'>') => return Some(RawTag { start, name, attributes, end: next + 2, empty: true }),
            _ if next == at => return None,
            _ => {}
        }
        let equals = next + bytes[next..].iter().position(|&b| matches!(b, b'=' | b'<' | b'>' | b'"' | b'\''))?;
        // What a prefix means may not change within what was learnt.
        if bytes[equals] != b'=' || bytes[next..equals].starts_with(b"xmlns") {
            return None;
        }
        let open = blanks(bytes, equals + 1);
        let quote = *bytes.get(open)?;
        if !matches!(quote, b'"' | b'\'') {
            return None;
        }
        let end = open + 1 + memchr::memchr(quote, &bytes[open + 1..])?;
        attributes.push((open + 1, end));
        at = end + 1;
    }
}
