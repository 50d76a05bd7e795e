//! What the tokeniser reports. Everything borrows from it until the next call.

use crate::tokenizer::Tokenizer;
use crate::tokenizer::namespaces::Namespaces;

/// One event. `<a/>` gives `Start` and then `End`, as `<a></a>` does.
#[derive(Debug)]
pub enum Event<'a> {
    /// The XML declaration.
    XmlDecl {
        /// As it stands there: `1.0` as a rule.
        version: &'a str,
        /// As it stands there.
        encoding: Option<&'a str>,
        /// `standalone='yes'` or `'no'`.
        standalone: Option<bool>,
    },
    /// At the end of the declaration, internal subset included.
    Doctype {
        /// The name that the root element is to have.
        name: &'a str,
        /// The public identifier of the external subset.
        public: Option<&'a str>,
        /// Its system identifier. Nothing is read from there.
        system: Option<&'a str>,
    },
    /// A start tag.
    Start(Start<'a>),
    /// The end of an element.
    End(Name<'a>),
    /// A text node, or a CDATA section ([`Tokenizer::cdata`] tells), references resolved and line ends
    /// normalised. A node longer than [`text_piece`](crate::Limits::text_piece) comes in pieces of that size, cut before the
    /// character that would pass it, and a rest.
    Text(&'a str),
    /// A comment, without its `<!--` and `-->`.
    Comment(&'a str),
    /// A processing instruction.
    Pi {
        /// Its name.
        target: &'a str,
        /// What follows the name and white space; may be empty.
        data: &'a str,
    },
}

/// A start tag.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
}

/// A name with its namespace.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    pub(crate) raw: &'a str,
    /// Bytes before the local part: the prefix and its colon, or 0.
    pub(crate) local: u32,
    pub(crate) namespace: u32,
    pub(crate) namespaces: &'a Namespaces,
}

impl<'a> Name<'a> {
    /// As it stands in the document.
    #[inline]
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// What stands before the colon.
    pub fn prefix(&self) -> Option<&'a str> {
        self.raw[..self.local as usize].strip_suffix(':')
    }

    /// What stands behind the colon; the whole name if there is none.
    pub fn local(&self) -> &'a str {
        &self.raw[self.local as usize..]
    }

    /// The namespace's name, `None` for no namespace (and always when namespaces are turned off).
    pub fn namespace(&self) -> Option<&'a str> {
        self.namespaces.name(self.namespace)
    }
}

/// An attribute.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// Its name. One without a prefix is in no namespace.
    pub name: Name<'a>,
    /// References resolved, normalised by the attribute's declared type.
    pub value: &'a str,
    /// False when the value is a default from the document type.
    pub specified: bool,
}

impl<'a> Start<'a> {
    /// The element's name.
    #[inline]
    pub fn name(&self) -> Name<'a> {
        self.tokenizer.element_name()
    }

    /// In document order, then defaults; namespace declarations among them.
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = Attribute<'a>> + use<'a> {
        let tokenizer = self.tokenizer;
        (0..tokenizer.attribute_count()).map(move |i| tokenizer.attribute_at(i))
    }

    /// The value of the attribute whose name as it stands in the document is `raw`.
    pub fn attribute(&self, raw: &str) -> Option<&'a str> {
        self.attributes().find(|a| a.name.raw == raw).map(|a| a.value)
    }
}
