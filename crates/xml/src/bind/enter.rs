//! What a start tag makes of what the schema knows: the frame of the element, the values that its attributes are, and
//! whether it is passed over.
//!
//! Every element that is entered has a frame in [`State::frames`], in step with the tokeniser's depth; what
//! [`Next::Skip`] says is passed over has none.

use super::error::BindErrorKind;
use super::frame::{Frame, NONE, Role, Value};
use super::learn::Learning;
use super::state::{Fault, Next, State};
use crate::schema::{Card, Class, ClassId, Field, FieldPath, Kind, NameTest, Root, Schema};
use crate::tokenizer::event::Start;
use std::collections::HashSet;

impl State {
    pub fn start(&mut self, schema: &Schema, start: &Start<'_>) -> Result<Next, Fault> {
        let depth = self.frames.len() as u32 + 1;
        let followed = !schema.outers.is_empty() && self.outers.follow(schema, start, depth, self.most())?;
        if followed {
            if let Some(learning) = &mut self.learning {
                learning.spoil();
            }
        }
        let Some(parent) = self.frames.last_mut() else {
            return match schema.root() {
                Root::Document(class) => {
                    let name = start.name();
                    self.root = Some(super::shown(name.raw()).into());
                    match &schema.class(*class).element {
                        Some(test) if !test.matches(name.local(), name.namespace()) => {
                            Err(BindErrorKind::Root { expected: test.to_string().into(), found: name.raw().into() }.into())
                        }
                        _ => self.instance(schema, *class, 0, 0, start),
                    }
                }
                Root::Path { .. } => self.step(schema, 1, followed, start),
            };
        };
        match parent.role {
            Role::Path => {
                let steps = parent.steps;
                self.step(schema, steps, followed, start)
            }
            Role::Leaf | Role::Inner => self.enter(Frame::new(Role::Inner, 0)),
            Role::Node | Role::Whole => {
                if parent.pruned {
                    return if followed { self.enter(Frame::new(Role::Inner, 0)) } else { Ok(Next::Skip) };
                }
                let class = &schema.classes()[parent.class as usize];
                let Some(slot) = find(class, parent.hint, start) else {
                    self.learn_child(None);
                    return if followed || self.texts.content_wanted() { self.enter(Frame::new(Role::Inner, 0)) } else { Ok(Next::Skip) };
                };
                parent.hint = slot + 1;
                let values = parent.values as usize;
                self.child(schema, class, slot, values, start)
            }
        }
    }

    /// A child element that is a value of a field.
    fn child(&mut self, schema: &Schema, class: &Class, slot: u16, values: usize, start: &Start<'_>) -> Result<Next, Fault> {
        let field = &class.fields[slot as usize];
        let value = &mut self.store.values[values + slot as usize];
        let mut ordinal = 0;
        if field.card == Card::Many {
            ordinal = if value.is_absent() { 1 } else { value.start.saturating_add(1).min(NONE - 1) };
            value.start = ordinal;
        } else if value.is_absent() {
            let at = self.store.arena.len() as u32;
            *value = Value { start: at, end: at };
        } else {
            return Err(BindErrorKind::Repeated { class: class.name.as_str().into(), field: field.name.as_str().into() }.into());
        }
        match field.kind {
            Kind::Text => {
                self.learn_child(Some(slot));
                self.leaves += 1;
                let mut frame = Frame::new(Role::Leaf, slot);
                frame.arena = self.store.arena.len() as u32;
                self.leaf = frame.arena;
                // An element of a list has no row that tells where it stands.
                let element = field.card == Card::Many;
                self.enter(frame).map(|next| if element { Next::Located } else { next })
            }
            Kind::Class(class) => {
                if self.learning.as_ref().is_some_and(|l| l.begun()) {
                    self.learning = None;
                }
                self.instance(schema, class, slot, ordinal, start)
            }
        }
    }

    fn learn_child(&mut self, slot: Option<u16>) {
        if let Some(learning) = &mut self.learning {
            learning.child(slot);
        }
    }

    fn enter(&mut self, mut frame: Frame) -> Result<Next, Fault> {
        if let Some(parent) = self.frames.last() {
            frame.scope = parent.scope;
        }
        self.frames.push(frame);
        Ok(Next::Entered)
    }

    /// Namespace declarations begin a new scope.
    fn scope(&mut self, start: &Start<'_>) -> u64 {
        let declares = start.attributes().any(|a| is_declaration(a.name.raw()));
        if declares {
            self.scopes += 1;
            return self.scopes;
        }
        self.frames.last().map_or(0, |f| f.scope)
    }

    /// An element outside the rows of a path; `from` are the steps that it may be.
    fn step(&mut self, schema: &Schema, from: u64, followed: bool, start: &Start<'_>) -> Result<Next, Fault> {
        let Root::Path { steps, class } = schema.root() else { return Ok(Next::Skip) };
        let name = start.name();
        let mut reached = 0u64;
        let mut rest = from;
        while rest != 0 {
            let i = rest.trailing_zeros();
            rest &= rest - 1;
            let step = &steps[i as usize];
            if step.test.matches(name.local(), name.namespace()) {
                reached |= 2 << i;
            }
            if step.anywhere {
                reached |= 1 << i;
            }
        }
        if reached >> steps.len() & 1 != 0 {
            self.rows = self.rows.saturating_add(1).min(NONE - 1);
            return self.instance(schema, *class, 0, self.rows, start);
        }
        if reached == 0 {
            return if followed { self.enter(Frame::new(Role::Inner, 0)) } else { Ok(Next::Skip) };
        }
        let mut frame = Frame::new(Role::Path, 0);
        frame.steps = reached;
        frame.scope = self.scope(start);
        self.frames.push(frame);
        if !schema.outers.is_empty() {
            self.outers.enter(schema, start, self.frames.len() as u32, self.most())?;
        }
        Ok(Next::Entered)
    }

    fn instance(&mut self, schema: &Schema, id: ClassId, slot: u16, ordinal: u32, start: &Start<'_>) -> Result<Next, Fault> {
        let class = schema.class(id);
        let depth = self.frames.len() as u32 + 1;
        let mut frame = Frame::new(if class.whole { Role::Whole } else { Role::Node }, slot);
        if class.whole {
            self.wholes += 1;
            if self.wholes > self.limits.nesting {
                return Err(BindErrorKind::Nesting.into());
            }
        }
        frame.class = id.0;
        frame.ordinal = ordinal;
        frame.arena = self.store.arena.len() as u32;
        frame.scope = if class.whole { 0 } else { self.scope(start) };
        frame.values = self.store.instance(class.fields.len());
        let mut learned = self.learning.take();
        if let Some(learning) = &mut learned {
            learning.row(slot, id, start.attributes().len());
        }
        if !class.attributes.is_empty() {
            self.attributes(class, &frame, start, &mut learned)?;
        }
        self.learning = learned;
        for &(slot, outer) in &class.outers {
            if let Some(value) = self.outers.value(outer) {
                self.store.set(frame.values as usize + slot as usize, value);
            }
        }
        if class.text.is_some() {
            frame.text = self.texts.open(false);
        }
        if class.content.is_some() {
            frame.content = self.texts.open(true);
            if self.texts.contents() > self.limits.nesting {
                return Err(BindErrorKind::Nesting.into());
            }
        }
        self.frames.push(frame);
        if !schema.outers.is_empty() {
            self.outers.enter(schema, start, depth, self.most())?;
        }
        Ok(Next::Located)
    }

    fn attributes(&mut self, class: &Class, frame: &Frame, start: &Start<'_>, learning: &mut Option<Learning>) -> Result<(), Fault> {
        let fault = |kind, name: &str| Err(Fault { kind, below: format!("/@{name}") });
        let mut plain: Option<HashSet<&str>> = None;
        for attribute in start.attributes() {
            let name = attribute.name;
            let found = if is_declaration(name.raw()) { None } else { class.attributes.find(name.local(), name.namespace()) };
            if let Some(learning) = learning {
                learning.attribute(found);
            }
            let Some(slot) = found else { continue };
            let at = frame.values as usize + slot as usize;
            if !self.store.values[at].is_absent() {
                // Without a namespace given, the one without a prefix is meant.
                let field = &class.fields[slot as usize];
                let vague = matches!(&field.place, FieldPath::Attribute(NameTest { local: Some(_), namespace: None }));
                *learning = None;
                if !vague {
                    return fault(
                        BindErrorKind::Repeated { class: class.name.as_str().into(), field: field.name.as_str().into() },
                        name.raw(),
                    );
                }
                if name.prefix().is_some() {
                    // Gone through once a tag: it may have thousands that differ only in their prefixes.
                    let without_prefix =
                        || start.attributes().map(|a| a.name).filter(|n| n.prefix().is_none()).map(|n| n.local()).collect();
                    if plain.get_or_insert_with(without_prefix).contains(name.local()) {
                        continue;
                    }
                    return fault(
                        BindErrorKind::Repeated { class: class.name.as_str().into(), field: field.name.as_str().into() },
                        name.raw(),
                    );
                }
            }
            if attribute.value.len() > self.limits.field {
                return fault(BindErrorKind::FieldSize, name.raw());
            }
            self.store.set(at, attribute.value.as_bytes());
        }
        match self.store.arena.len() > self.limits.row {
            true => Err(BindErrorKind::RowSize.into()),
            false => Ok(()),
        }
    }
}

fn is_declaration(raw: &str) -> bool {
    raw.strip_prefix("xmlns").is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// The field of a child element; the one after the last is tried first.
#[inline]
fn find(class: &Class, hint: u16, start: &Start<'_>) -> Option<u16> {
    let name = start.name();
    if !class.elements.qualified {
        if let Some(Field { place: FieldPath::Element(NameTest { local: Some(local), .. }), .. }) = class.fields.get(hint as usize) {
            if **local == *name.local() {
                return Some(hint);
            }
        }
    }
    class.elements.find(name.local(), name.namespace())
}
