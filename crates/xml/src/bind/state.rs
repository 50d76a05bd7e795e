//! What a binder does with the tokeniser's events: one frame for every element that is entered, values into the
//! store, items into the batch.

use super::BindLimits;
use super::batch::{Batch, ByteRange, Item};
use super::error::BindErrorKind;
use super::frame::{Frame, NONE, Role, Store, Texts, Value};
use super::learn::Learning;
use super::outer::{Most, Outers};
use super::predict::{Context, Parent};
use crate::error::Position;
use crate::event::Start;
use crate::row::OPENED;
use crate::schema::{Card, Class, ClassId, Field, Kind, NameTest, Place, Root, Schema};
use std::collections::HashSet;

/// What to do after a start tag.
pub(super) enum Next {
    Skip,
    Entered,
    /// An instance was entered: it is to be told its position.
    Located,
}

/// What the schema excludes; `below` is what the path has after the elements that are open.
#[derive(Debug)]
pub(super) struct Fault {
    pub kind: BindErrorKind,
    pub below: String,
}

impl From<BindErrorKind> for Fault {
    fn from(kind: BindErrorKind) -> Fault {
        Fault { kind, below: String::new() }
    }
}

#[derive(Debug)]
pub(super) struct State {
    pub lenient: bool,
    pub limits: BindLimits,
    pub frames: Vec<Frame>,
    pub store: Store,
    texts: Texts,
    pub outers: Outers,
    /// Open leaves whose text is wanted: 0 or 1.
    leaves: u32,
    /// Where in the arena its text begins.
    leaf: u32,
    /// Whole instances open.
    wholes: usize,
    /// Rows of the path so far.
    pub rows: u32,
    scopes: u64,
    /// What a row is found to consist of, while the predictor learns from it.
    pub learning: Option<Learning>,
    /// What the root element is called, once it was bound.
    pub root: Option<Box<str>>,
}

impl State {
    pub fn new(lenient: bool, mut limits: BindLimits) -> State {
        limits.row = limits.row.min(1 << 30);
        limits.field = limits.field.min(limits.row);
        State {
            lenient,
            limits,
            frames: Vec::new(),
            store: Store::default(),
            texts: Texts::default(),
            outers: Outers::default(),
            leaves: 0,
            leaf: 0,
            wholes: 0,
            rows: 0,
            scopes: 0,
            learning: None,
            root: None,
        }
    }

    fn most(&self) -> Most {
        Most { value: self.limits.field, all: self.limits.row }
    }

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
                self.enter(frame)
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
                let vague = matches!(&field.place, Place::Attribute(NameTest { local: Some(_), namespace: None }));
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

    /// The position of the instance that was entered last; a streaming one is delivered.
    pub fn located(&mut self, schema: &Schema, position: Position, out: &mut Batch) -> Result<(), Fault> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        frame.locate(position);
        let frame = *frame;
        if frame.role != Role::Node {
            return Ok(());
        }
        let class = &schema.classes()[frame.class as usize];
        self.complete(class, &frame, |place| matches!(place, Place::Attribute(_) | Place::Outer { .. }))?;
        let row = self.store.pack_out(&frame, class.fields.len(), OPENED, out);
        self.store.arena.truncate(frame.arena as usize);
        out.items.push(Item::Open { class: ClassId(frame.class), slot: frame.slot, row });
        Ok(())
    }

    /// Every field that must be there is.
    fn complete(&self, class: &Class, frame: &Frame, which: impl Fn(&Place) -> bool) -> Result<(), Fault> {
        if self.lenient {
            return Ok(());
        }
        let values = &self.store.values[frame.values as usize..];
        match class.fields.iter().zip(values).find(|(f, v)| f.card == Card::One && v.is_absent() && which(&f.place)) {
            Some((field, _)) => Err(missing(class, field)),
            None => Ok(()),
        }
    }

    pub fn wants_text(&self) -> bool {
        self.leaves > 0 || self.texts.content_wanted() || self.outers.wants_text() || self.frames.last().is_some_and(|f| f.text != NONE)
    }

    pub fn text(&mut self, text: &str) -> Result<(), Fault> {
        let text = text.as_bytes();
        let BindLimits { field, row, .. } = self.limits;
        if self.leaves > 0 {
            let leaf = self.leaf as usize;
            self.store.arena.extend_from_slice(text);
            if self.store.arena.len() - leaf > field {
                return Err(BindErrorKind::FieldSize.into());
            }
            if self.store.arena.len() > row {
                return Err(BindErrorKind::RowSize.into());
            }
        }
        if let Some(top) = self.frames.last() {
            if top.text != NONE && !top.pruned {
                self.texts.add(top.text, text, field, row)?;
            }
        }
        if self.texts.content_wanted() {
            self.texts.add_content(text, field, row)?;
        }
        if self.outers.wants_text() {
            self.outers.text(text, self.most())?;
        }
        Ok(())
    }

    pub fn end(&mut self, schema: &Schema, out: &mut Batch) -> Result<(), Fault> {
        let Some(top) = self.frames.last() else { return Ok(()) };
        // Only what is needed is read: a copy of the whole would wait for the stores that made it.
        let (role, slot, arena, pruned) = (top.role, top.slot, top.arena, top.pruned);
        let depth = self.frames.len();
        if !schema.outers.is_empty() {
            self.outers.leave(depth as u32);
        }
        match role {
            Role::Path | Role::Inner => self.frames.truncate(depth - 1),
            Role::Leaf => {
                self.frames.truncate(depth - 1);
                self.end_leaf(slot, arena, pruned, out);
            }
            Role::Whole | Role::Node => {
                let frame = *top;
                self.frames.truncate(depth - 1);
                match role {
                    Role::Whole => self.end_whole(schema, &frame, out)?,
                    _ => self.end_node(schema, &frame, out)?,
                }
            }
        }
        Ok(())
    }

    fn end_leaf(&mut self, slot: u16, arena: u32, pruned: bool, out: &mut Batch) {
        self.leaves -= 1;
        let Some(parent) = self.frames.last() else { return };
        if parent.role == Role::Whole {
            let at = parent.values as usize + slot as usize;
            self.store.values[at] = Value { start: arena, end: self.store.arena.len() as u32 };
            return;
        }
        if !pruned {
            let text = append(out, &self.store.arena[arena as usize..]);
            out.items.push(Item::Field { slot, text });
        }
        self.store.release(arena as usize);
    }

    fn end_whole(&mut self, schema: &Schema, frame: &Frame, out: &mut Batch) -> Result<(), Fault> {
        let class = &schema.classes()[frame.class as usize];
        self.wholes -= 1;
        for (slot, buffer) in [(class.text, frame.text), (class.content, frame.content)] {
            if let (Some(slot), true) = (slot, buffer != NONE) {
                let text = self.texts.get(buffer);
                if !text.is_empty() || class.fields[slot as usize].card == Card::One {
                    self.store.set(frame.values as usize + slot as usize, text);
                }
                self.texts.close(buffer);
            }
        }
        if !frame.pruned {
            self.complete(class, frame, |_| true)?;
        }
        if self.store.arena.len() + 4 * class.fields.len() > self.limits.row {
            return Err(BindErrorKind::RowSize.into());
        }
        let fields = class.fields.len();
        match self.frames.last().filter(|f| f.role == Role::Whole) {
            Some(parent) => {
                let at = parent.values as usize + frame.slot as usize;
                self.store.values[at] = self.store.pack_nested(frame, fields);
            }
            None => {
                if !frame.pruned {
                    let row = self.store.pack_out(frame, fields, 0, out);
                    out.items.push(Item::Row { class: ClassId(frame.class), slot: frame.slot, row });
                }
                self.store.release(frame.arena as usize);
            }
        }
        self.store.drop_instance(frame);
        Ok(())
    }

    fn end_node(&mut self, schema: &Schema, frame: &Frame, out: &mut Batch) -> Result<(), Fault> {
        let class = &schema.classes()[frame.class as usize];
        for (slot, buffer) in [(class.text, frame.text), (class.content, frame.content)] {
            if let (Some(slot), true) = (slot, buffer != NONE) {
                let text = self.texts.get(buffer);
                let wanted = !text.is_empty() || class.fields[slot as usize].card == Card::One;
                if wanted && !frame.pruned {
                    let text = append(out, text);
                    out.items.push(Item::Field { slot, text });
                }
                self.texts.close(buffer);
            }
        }
        if !frame.pruned {
            self.complete(class, frame, |place| matches!(place, Place::Element(_)))?;
        }
        self.store.drop_instance(frame);
        out.items.push(Item::Close);
        Ok(())
    }

    /// The ordinal of one more row in the innermost element.
    pub fn next_ordinal(&mut self, slot: u16) -> u32 {
        let count = match self.frames.last() {
            Some(top) if top.role == Role::Node => match self.store.values.get_mut(top.values as usize + slot as usize) {
                Some(value) => {
                    if value.is_absent() {
                        value.start = 0;
                    }
                    &mut value.start
                }
                None => return 1,
            },
            _ => &mut self.rows,
        };
        *count = count.saturating_add(1).min(NONE - 1);
        *count
    }

    /// See [`Binder::prune`](super::Binder::prune).
    pub fn prune(&mut self, depth: usize) {
        let Some(from) = self.frames.iter().enumerate().filter(|(_, f)| f.role == Role::Node).nth(depth).map(|(i, _)| i) else { return };
        for frame in &mut self.frames[from..] {
            frame.pruned = true;
        }
    }

    /// What rows in the innermost element depend on, when they may be read ahead of the tokeniser: nobody wants the
    /// text between them.
    #[inline]
    pub fn context(&self, schema: &Schema) -> Option<Context> {
        let top = self.frames.last()?;
        let parent = match top.role {
            Role::Path => Parent::Path(top.steps),
            Role::Node => Parent::Node(top.class),
            _ => return None,
        };
        if top.pruned || top.text != NONE || self.texts.content_wanted() || self.outers.wants_text() {
            return None;
        }
        let outers = if schema.outers.is_empty() { 0 } else { self.outers.open_at(self.frames.len() as u32) };
        Some(Context { parent, scope: top.scope, outers })
    }
}

fn append(out: &mut Batch, text: &[u8]) -> ByteRange {
    let start = out.bytes.len() as u32;
    out.bytes.extend_from_slice(text);
    ByteRange { start, len: text.len() as u32 }
}

fn is_declaration(raw: &str) -> bool {
    raw.strip_prefix("xmlns").is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// The field of a child element; the one after the last is tried first.
#[inline]
fn find(class: &Class, hint: u16, start: &Start<'_>) -> Option<u16> {
    let name = start.name();
    if !class.elements.qualified {
        if let Some(Field { place: Place::Element(NameTest { local: Some(local), .. }), .. }) = class.fields.get(hint as usize) {
            if **local == *name.local() {
                return Some(hint);
            }
        }
    }
    class.elements.find(name.local(), name.namespace())
}

fn missing(class: &Class, field: &Field) -> Fault {
    let name = |test: &NameTest| test.local.as_deref().unwrap_or("*").to_string();
    let below = match &field.place {
        Place::Element(test) => format!("/{}", name(test)),
        Place::Attribute(test) => format!("/@{}", name(test)),
        _ => String::new(),
    };
    Fault { kind: BindErrorKind::MissingField { class: class.name.as_str().into(), field: field.name.as_str().into() }, below }
}
