//! What is wanted of a document: classes of elements with their fields, and where the first one stands.
//!
//! A [`Schema`] is made by a [`SchemaBuilder`], which refuses what could not be bound unambiguously: an element or
//! attribute that two fields of a class claim, a list inside an attribute, a class that must contain itself. It fixes
//! how often each field stands in a document (its cardinality), so that nothing depends on whether a document
//! happens to have one child or many.
//!
//! A class is *whole* when neither it nor a class nested in it has a list: such elements are bound as one packed row
//! ([`row`]). The others are *streaming*: opened at their start tag and delivered in parts.

pub(crate) mod names;
pub mod row;
pub mod value;

pub use crate::schema::names::{NameTest, SchemaError};

use crate::schema::names::NameTable;
use std::collections::HashMap;
use std::sync::Arc;

/// A class of a [`Schema`], as an index into [`Schema::classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub u32);

impl ClassId {
    /// The index in [`Schema::classes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a field's value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldPath {
    /// A child element. As text: all text in it, also that of elements below it (XPath's `string()`).
    Element(NameTest),
    /// An attribute of the element.
    Attribute(NameTest),
    /// The text directly in the element, without that of any child.
    Text,
    /// All text in the element, with that of its children (XPath's `string()`).
    Content,
    /// Something of the nearest enclosing element that matches: what ancestors and their headers say beside the rows.
    /// The value is the last one that stands before the start of the element that has this field.
    Outer {
        /// The enclosing element.
        element: NameTest,
        /// What of it.
        what: OuterWhat,
    },
}

impl FieldPath {
    /// Reads `region/@name`, `feed/title` or `feed/header/date`: the enclosing element, the children to go through,
    /// and last the element or attribute whose text is meant.
    ///
    /// # Errors
    /// It is no such path, or has a prefix that is not among `prefixes`.
    pub fn outer(path: &str, prefixes: &[(&str, &str)]) -> Result<FieldPath, SchemaError> {
        let bad = || SchemaError(format!("'{path}' is no path to an outer value, such as 'region/@name' or 'feed/header/date'"));
        let mut steps = path.split('/').peekable();
        let element = NameTest::parse(steps.next().unwrap_or(""), prefixes)?;
        let (mut children, mut attribute) = (Vec::new(), None);
        while let Some(step) = steps.next() {
            match step.strip_prefix('@') {
                Some(name) if steps.peek().is_none() => attribute = Some(NameTest::parse(name, prefixes)?),
                Some(_) => return Err(bad()),
                None => children.push(NameTest::parse(step, prefixes)?),
            }
        }
        if children.is_empty() && attribute.is_none() {
            return Err(bad());
        }
        Ok(FieldPath::Outer { element, what: OuterWhat::Path { children, attribute } })
    }
}

/// What of an enclosing element is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OuterWhat {
    /// An attribute of it.
    Attribute(NameTest),
    /// The text of a child element.
    Child(NameTest),
    /// Going down through `children`: the text of the last, or an attribute of it.
    Path {
        /// The children to go through; may be none.
        children: Vec<NameTest>,
        /// The attribute of the last of them; `None`: its text.
        attribute: Option<NameTest>,
    },
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// The element as one of this class.
    Class(ClassId),
}

/// How often a field stands in its element. What a document has more or less of is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Card {
    /// Exactly once.
    One,
    /// Once or not at all.
    Optional,
    /// A list, possibly empty.
    Many,
}

/// A field of a class: a name, and what it holds.
#[derive(Clone, Debug)]
pub struct Field {
    /// What messages and readers call it.
    pub name: String,
    /// Where its values stand.
    pub place: FieldPath,
    /// What they are.
    pub kind: Kind,
    /// How many there are.
    pub card: Card,
}

impl Field {
    /// The text of one child element of the same name.
    pub fn new(name: &str) -> Field {
        Field { name: name.into(), place: FieldPath::Element(NameTest::local(name)), kind: Kind::Text, card: Card::One }
    }

    /// It stands in child elements of this name.
    pub fn element(self, name: &str) -> Field {
        self.at(FieldPath::Element(NameTest::local(name)))
    }

    /// It stands in the attribute of this name.
    pub fn attribute(self, name: &str) -> Field {
        self.at(FieldPath::Attribute(NameTest::local(name)))
    }

    /// It stands there.
    pub fn at(mut self, place: FieldPath) -> Field {
        self.place = place;
        self
    }

    /// Its values are elements of this class.
    pub fn class(mut self, class: ClassId) -> Field {
        self.kind = Kind::Class(class);
        self
    }

    /// It may be missing.
    pub fn optional(mut self) -> Field {
        self.card = Card::Optional;
        self
    }

    /// It is a list.
    pub fn many(mut self) -> Field {
        self.card = Card::Many;
        self
    }
}

/// A class of elements.
#[derive(Clone, Debug)]
pub struct Class {
    /// What messages and readers call it.
    pub name: String,
    /// What a document's root element must be called to be one; `None`: anything.
    pub element: Option<NameTest>,
    /// Its fields; their index is the slot.
    pub fields: Vec<Field>,
    /// Whether it is bound as one packed row: no list in it or below it.
    pub whole: bool,
    pub(crate) elements: NameTable,
    pub(crate) attributes: NameTable,
    /// Slots of the fields in the element's own text, and of those in all its text.
    pub(crate) text: Option<u16>,
    pub(crate) content: Option<u16>,
    /// Slot and number (in [`Schema::outers`]) of every outer field.
    pub(crate) outers: Vec<(u16, u32)>,
}

/// Where the first class stands in a document.
#[derive(Clone, Debug)]
pub enum Root {
    /// The root element is an instance.
    Document(ClassId),
    /// The elements that this path names form one list. One within another belongs to the outer one.
    Path {
        /// The way from the root element, which the first step names.
        steps: Vec<Step>,
        /// The class of the elements that the last one names.
        class: ClassId,
    },
}

impl Root {
    /// The class of the root element, or of the elements of the path.
    pub fn class(&self) -> ClassId {
        match self {
            Root::Document(class) | Root::Path { class, .. } => *class,
        }
    }
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `//`: at any depth below what the step before names; `/`: a child of it.
    pub anywhere: bool,
    /// What its elements are called.
    pub test: NameTest,
}

/// Reads a path such as `/table/T`, `//T` or `/feed/*/entry`. One that begins with no `/` is taken to begin with `//`.
///
/// # Errors
/// It is no such path, has more than 63 steps, or a prefix that is not among `prefixes`.
pub fn parse_path(path: &str, prefixes: &[(&str, &str)]) -> Result<Vec<Step>, SchemaError> {
    let bad = |why: &str| SchemaError(format!("'{path}' is no path such as '/table/row' or '//row': {why}"));
    let mut steps = Vec::new();
    let mut rest = path;
    let mut first = true;
    while !rest.is_empty() {
        let anywhere = if let Some(r) = rest.strip_prefix("//") {
            rest = r;
            true
        } else if let Some(r) = rest.strip_prefix('/') {
            rest = r;
            false
        } else {
            first
        };
        first = false;
        // A namespace's name in braces may hold slashes.
        let from = if rest.starts_with('{') { rest.find('}').ok_or_else(|| bad("no '}' after a namespace"))? } else { 0 };
        let end = rest[from..].find('/').map_or(rest.len(), |i| from + i);
        if end == 0 {
            return Err(bad("a step is empty"));
        }
        steps.push(Step { anywhere, test: NameTest::parse(&rest[..end], prefixes)? });
        rest = &rest[end..];
    }
    match steps.len() {
        0 => Err(bad("it is empty")),
        1..=MAX_STEPS => Ok(steps),
        _ => Err(bad("it has more than 64 steps")),
    }
}

/// Steps are states in a mask of 64 bits.
const MAX_STEPS: usize = 63;
const MAX_FIELDS: usize = 4096;

/// What is wanted of a document; shared as an `Arc`, also by threads.
#[derive(Clone, Debug)]
pub struct Schema {
    classes: Vec<Class>,
    root: Root,
    pub(crate) outers: Vec<Outer>,
}

/// An outer value that some class wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outer {
    pub element: NameTest,
    pub children: Vec<NameTest>,
    pub attribute: Option<NameTest>,
}

impl Schema {
    /// A schema to be filled.
    pub fn builder() -> SchemaBuilder {
        SchemaBuilder { classes: Vec::new(), root: None }
    }

    /// All classes, in the order in which they were made.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// One of the classes.
    ///
    /// # Panics
    /// When it is another schema's, and this one has fewer.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// Where the first class stands.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The path of the rows of a [`Root::Path`] without its last step, and that step; for messages that say where a
    /// row stands.
    pub fn row_path(&self) -> Option<String> {
        match &self.root {
            Root::Document(_) => None,
            Root::Path { steps, .. } => Some(
                steps
                    .iter()
                    .map(|s| format!("{}{}", if s.anywhere { "//" } else { "/" }, s.test.local.as_deref().unwrap_or("*")))
                    .collect(),
            ),
        }
    }
}

/// Makes a [`Schema`]. Classes are declared first and get their fields later, so that they may refer to each other
/// and to themselves.
#[derive(Clone, Debug)]
pub struct SchemaBuilder {
    classes: Vec<(String, Option<NameTest>, Vec<Field>)>,
    root: Option<Root>,
}

impl SchemaBuilder {
    /// A new class without fields.
    pub fn class(&mut self, name: &str) -> ClassId {
        self.classes.push((name.into(), None, Vec::new()));
        ClassId(self.classes.len() as u32 - 1)
    }

    /// What a root element of this class must be called. A class of another schema is ignored.
    pub fn element(&mut self, class: ClassId, test: NameTest) {
        if let Some(class) = self.classes.get_mut(class.index()) {
            class.1 = Some(test);
        }
    }

    /// Adds a field. Its slot is the number of fields that the class had before.
    pub fn field(&mut self, class: ClassId, field: Field) {
        if let Some(class) = self.classes.get_mut(class.index()) {
            class.2.push(field);
        }
    }

    /// The root element is one of this class.
    pub fn root_document(&mut self, class: ClassId) {
        self.root = Some(Root::Document(class));
    }

    /// The elements of this class are those that the path names (see [`parse_path`]).
    pub fn root_path(&mut self, steps: Vec<Step>, class: ClassId) {
        self.root = Some(Root::Path { steps, class });
    }

    /// Checks everything.
    ///
    /// # Errors
    /// What could not be bound unambiguously (see [`schema`](crate::schema)), in words.
    pub fn build(self) -> Result<Arc<Schema>, SchemaError> {
        let root = self.root.ok_or_else(|| SchemaError("no root is given".into()))?;
        let count = self.classes.len();
        if root.class().index() >= count {
            return Err(SchemaError("the root is of an unknown class".into()));
        }
        if let Root::Path { steps, .. } = &root {
            if steps.is_empty() || steps.len() > MAX_STEPS {
                return Err(SchemaError(format!("the path of the rows has {} steps: 1 to {MAX_STEPS} are allowed", steps.len())));
            }
        }
        let mut outers = Vec::new();
        let mut classes = Vec::with_capacity(count);
        for (name, element, fields) in self.classes {
            classes.push(compile(name, element, fields, count, &mut outers)?);
        }
        mark_streaming(&mut classes);
        refuse_endless(&classes)?;
        Ok(Arc::new(Schema { classes, root, outers }))
    }
}

fn compile(
    name: String,
    element: Option<NameTest>,
    fields: Vec<Field>,
    classes: usize,
    outers: &mut Vec<Outer>,
) -> Result<Class, SchemaError> {
    let refusal = |field: &Field, why: &str| SchemaError(format!("{name}, field '{}': {why}", field.name));
    let bad = |field: &Field, why: &str| Err(refusal(field, why));
    if fields.len() > MAX_FIELDS {
        return Err(SchemaError(format!("{name} has {} fields: at most {MAX_FIELDS} are allowed", fields.len())));
    }
    let (mut elements, mut attributes) = (Vec::new(), Vec::new());
    let (mut text, mut content, mut outer_slots) = (None, None, Vec::new());
    let mut names = HashMap::new();
    for (slot, field) in fields.iter().enumerate() {
        let slot = slot as u16;
        if names.insert(field.name.as_str(), slot).is_some() {
            return bad(field, "there are two fields of this name");
        }
        match field.kind {
            Kind::Class(class) if class.index() >= classes => return bad(field, "it is of an unknown class"),
            Kind::Class(_) if !matches!(field.place, FieldPath::Element(_)) => return bad(field, "only an element can be of a class"),
            _ => {}
        }
        if field.card == Card::Many && !matches!(field.place, FieldPath::Element(_)) {
            return bad(field, "only elements can form a list: an attribute, a text or an outer value stands once");
        }
        let claim = |table: &mut Vec<(NameTest, u16)>, test: &NameTest, what: &str| match table.iter().find(|(t, _)| t == test) {
            Some((_, other)) => {
                Err(refusal(field, &format!("the {what} '{test}' is already that of field '{}'", fields[*other as usize].name)))
            }
            None => {
                table.push((test.clone(), slot));
                Ok(())
            }
        };
        match &field.place {
            FieldPath::Element(test) => claim(&mut elements, test, "element")?,
            FieldPath::Attribute(test) => claim(&mut attributes, test, "attribute")?,
            FieldPath::Text if text.is_some() => return bad(field, "another field has the element's text already"),
            FieldPath::Text => text = Some(slot),
            FieldPath::Content if content.is_some() => return bad(field, "another field has all the element's text already"),
            FieldPath::Content => content = Some(slot),
            FieldPath::Outer { element, what } => {
                let (children, attribute) = match what {
                    OuterWhat::Attribute(a) => (Vec::new(), Some(a.clone())),
                    OuterWhat::Child(c) => (vec![c.clone()], None),
                    OuterWhat::Path { children, attribute } => (children.clone(), attribute.clone()),
                };
                if children.is_empty() && attribute.is_none() {
                    return bad(field, "an outer value is an attribute or a child of the enclosing element");
                }
                let outer = Outer { element: element.clone(), children, attribute };
                let number = outers.iter().position(|o| *o == outer).unwrap_or_else(|| {
                    outers.push(outer);
                    outers.len() - 1
                });
                outer_slots.push((slot, number as u32));
            }
        }
    }
    Ok(Class {
        name,
        element,
        whole: !fields.iter().any(|f| f.card == Card::Many),
        elements: NameTable::new(elements),
        attributes: NameTable::new(attributes),
        text,
        content,
        outers: outer_slots,
        fields,
    })
}

/// A class with a streaming class in it is streaming too.
fn mark_streaming(classes: &mut [Class]) {
    loop {
        let mut changed = false;
        for i in 0..classes.len() {
            let streaming = classes[i].fields.iter().any(|f| matches!(f.kind, Kind::Class(c) if !classes[c.index()].whole));
            if classes[i].whole && streaming {
                classes[i].whole = false;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// No class may need one of itself: no document could be complete.
fn refuse_endless(classes: &[Class]) -> Result<(), SchemaError> {
    // A class is finite once all the classes that it must have are.
    let mut finite = vec![false; classes.len()];
    loop {
        let mut changed = false;
        for (i, class) in classes.iter().enumerate() {
            let ready = class.fields.iter().all(|f| match f.kind {
                Kind::Class(c) => f.card != Card::One || finite[c.index()],
                Kind::Text => true,
            });
            if ready && !finite[i] {
                finite[i] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    match finite.iter().position(|f| !f) {
        Some(i) => Err(SchemaError(format!(
            "{} must contain another of itself: make the field that leads back to it optional or a list",
            classes[i].name
        ))),
        None => Ok(()),
    }
}
