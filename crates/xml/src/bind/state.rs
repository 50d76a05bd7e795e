//! What a binder does with the tokeniser's events: one frame for every element that is entered, values into the
//! store, items into the batch. Start tags are read in [`enter`](super::enter).

use super::BindLimits;
use super::batch::{Batch, Item};
use super::error::BindErrorKind;
use super::frame::{Frame, NONE, Role, Store, Texts, Value};
use super::learn::Learning;
use super::outer::{Most, Outers};
use super::predict::{Context, Parent};
use crate::error::Position;
use crate::schema::row::OPENED;
use crate::schema::{Card, Class, ClassId, Field, FieldPath, NameTest, Schema};

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
    pub texts: Texts,
    pub outers: Outers,
    /// Open leaves whose text is wanted: 0 or 1.
    pub leaves: u32,
    /// Where in the arena its text begins.
    pub leaf: u32,
    /// Whole instances open.
    pub wholes: usize,
    /// Rows of the path so far.
    pub rows: u32,
    pub scopes: u64,
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

    /// The position of the instance that was entered last; a streaming one is delivered.
    pub fn located(&mut self, schema: &Schema, position: Position, out: &mut Batch) -> Result<(), Fault> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        frame.locate(position);
        let frame = *frame;
        if frame.role != Role::Node {
            return Ok(());
        }
        let class = &schema.classes()[frame.class as usize];
        self.complete(class, &frame, |place| matches!(place, FieldPath::Attribute(_) | FieldPath::Outer { .. }))?;
        let row = self.store.pack_out(&frame, class.fields.len(), OPENED, out);
        self.store.arena.truncate(frame.arena as usize);
        out.items.push(Item::Open { class: ClassId(frame.class), slot: frame.slot, row });
        Ok(())
    }

    /// Every field that must be there is.
    fn complete(&self, class: &Class, frame: &Frame, which: impl Fn(&FieldPath) -> bool) -> Result<(), Fault> {
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

    pub fn most(&self) -> Most {
        Most { value: self.limits.field, all: self.limits.row }
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
        let (role, slot, arena, pruned, place) = (top.role, top.slot, top.arena, top.pruned, (top.line, top.column));
        let depth = self.frames.len();
        if !schema.outers.is_empty() {
            self.outers.leave(depth as u32);
        }
        match role {
            Role::Path | Role::Inner => self.frames.truncate(depth - 1),
            Role::Leaf => {
                self.frames.truncate(depth - 1);
                self.end_leaf(slot, arena, pruned, place, out);
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

    fn end_leaf(&mut self, slot: u16, arena: u32, pruned: bool, place: (u32, u32), out: &mut Batch) {
        self.leaves -= 1;
        let Some(parent) = self.frames.last() else { return };
        if parent.role == Role::Whole {
            let at = parent.values as usize + slot as usize;
            self.store.values[at] = Value { start: arena, end: self.store.arena.len() as u32 };
            return;
        }
        if !pruned {
            let text = out.append_text(place, &self.store.arena[arena as usize..]);
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
                    let text = out.append_text((0, 0), text);
                    out.items.push(Item::Field { slot, text });
                }
                self.texts.close(buffer);
            }
        }
        if !frame.pruned {
            self.complete(class, frame, |place| matches!(place, FieldPath::Element(_)))?;
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

fn missing(class: &Class, field: &Field) -> Fault {
    let name = |test: &NameTest| test.local.as_deref().unwrap_or("*").to_string();
    let below = match &field.place {
        FieldPath::Element(test) => format!("/{}", name(test)),
        FieldPath::Attribute(test) => format!("/@{}", name(test)),
        _ => String::new(),
    };
    Fault { kind: BindErrorKind::MissingField { class: class.name.as_str().into(), field: field.name.as_str().into() }, below }
}
