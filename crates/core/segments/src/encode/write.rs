//! Encoding: a walk over the cells of a value.
//!
//! **Invariant.** A container is looked at once: the count that is written is that of the look, and what follows is what it saw. What is still to be
//! written of open containers stands in one list of values, each container's part after that of the one around it. No safepoint is
//! passed, so all of them live.

use super::path::{self, Step, What};
use super::shapes::{self, Class};
use super::{DEPTH, MOST, References, time};
use kumi_vm::*;
use kumi_wire::value::{Big, Limits, REFERENCE, Shape};
use kumi_wire::{Reader, Token, Writer};
use rustc_hash::{FxHashMap, FxHashSet};

/// From so many open containers on a table tells whether one is open; before, the list of them is looked through.
const FEW: usize = 32;
/// From so many bytes on room is asked for before they are written.
const LARGE: usize = 4096;

/// What came of it.
pub enum Written {
    /// The value's bytes.
    Bytes(Vec<u8>),
    /// Records of streams, of which fields were never read: only Ruby reads them.
    Unread(Vec<Value>),
}

/// A container that is being written.
struct Open {
    cell: Value,
    what: What,
    /// Its part of the list, and the next of it to be written.
    start: usize,
    next: usize,
    end: usize,
    /// The number of the first in the list: those before it are written.
    first: usize,
}

/// How instances of a class are written.
struct Known {
    number: u32,
    members: usize,
    /// In `Encoder::classes`.
    class: usize,
}

pub(super) struct Encoder<'a> {
    out: Writer<'a>,
    values: Vec<Value>,
    open: Vec<Open>,
    /// The open ones' bits, once they are [`FEW`].
    inside: FxHashSet<u64>,
    /// `None`: it is not called away.
    patience: Option<Patience>,
    /// By the bits of their cells.
    known: FxHashMap<u64, Known>,
    classes: Vec<Class>,
    last: (u64, u32, usize, usize),
    unread: Vec<Value>,
    /// Open Structs with members that their class does not know: which of the open ones, their class, those members.
    more_of: Vec<(usize, usize, Text)>,
    more: Sym,
    hidden: Option<(Value, [Sym; 3])>,
    set: Sym,
    /// What stays where it is, and those that were met.
    staying: Option<&'a super::Staying>,
    references: super::References,
    /// The module of objects that stay, once it was looked for, and whether those of the class that was asked for last do.
    stays: Option<(Option<Gc<ClassObj>>, Value, bool)>,
}

/// Why a part can't travel, or another end of the native.
pub(super) enum Stop {
    /// Its name is that of the value.
    Because(&'static str),
    Exit(Exit),
}

/// A String.
pub(super) fn text(out: &mut Writer, s: &StrObj) {
    let (e, bytes) = (EncIndex::from_u8(s.enc()), s.bytes());
    if bytes.len() >= LARGE {
        out.buffer().want(bytes.len() + 64);
    }
    if e == EncIndex::BINARY {
        out.bin(bytes);
    } else if e == EncIndex::UTF_8 {
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => out.str(text),
            Err(_) => out.encoded(e.name(), bytes),
        }
    } else {
        out.encoded(e.name(), bytes);
    }
}

/// Who walks: a worker, which knows every kind of value; or somebody beside the workers, who knows a few.
pub(super) trait Walker {
    /// Before each value; so many bytes are written.
    fn step(&mut self, patience: &mut Option<Patience>, written: usize) -> Result<(), Stop>;
    /// Is this a String as it travels, and not too long to be written here?
    fn takes(&self, s: &StrObj) -> bool;
    /// Writes a Symbol.
    fn symbol(&mut self, out: &mut Writer, s: Sym) -> Result<(), Stop>;
    /// Writes any value, or opens it.
    fn one(&mut self, encoder: &mut Encoder, v: Value) -> Result<(), Stop>;
}

impl Walker for Cx {
    #[inline(always)]
    fn step(&mut self, patience: &mut Option<Patience>, _: usize) -> Result<(), Stop> {
        match patience {
            Some(patience) => patience.step(self).map_err(Stop::Exit),
            None => Ok(()),
        }
    }
    #[inline(always)]
    fn takes(&self, s: &StrObj) -> bool {
        s.hdr.class() == self.k.string.val() && !s.hdr.has(flag::IVARS)
    }
    #[inline]
    fn symbol(&mut self, out: &mut Writer, s: Sym) -> Result<(), Stop> {
        let name = self.syms.name(s);
        match std::str::from_utf8(name) {
            Ok(text) if text.is_ascii() => out.symbol(text),
            text => {
                let text = text.ok().map(str::to_owned);
                let e = kumi_core_string::sym_enc(self, s);
                match text {
                    Some(text) if e == EncIndex::UTF_8 => out.symbol(&text),
                    _ => out.symbol_in(e.name(), self.syms.name(s)),
                }
            }
        }
        Ok(())
    }
    #[inline]
    fn one(&mut self, encoder: &mut Encoder, v: Value) -> Result<(), Stop> {
        encoder.one(self, v)
    }
}

impl From<Exit> for Stop {
    fn from(e: Exit) -> Stop {
        Stop::Exit(e)
    }
}

/// The bytes of `v`.
pub fn write(cx: &mut Cx, v: Value, patience: Option<Patience>, staying: Option<&super::Staying>) -> Result<(Written, Vec<Value>), Exit> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, patience, [shapes::more(cx), cx.intern("@__h")]);
    encoder.staying = staying;
    if let Err((v, stop)) = encoder.all(cx, v) {
        return Err(encoder.stopped(cx, v, stop));
    }
    let Encoder { out, unread, references, .. } = encoder;
    if !unread.is_empty() {
        return Ok((Written::Unread(unread), Vec::new()));
    }
    out.finish();
    Ok((Written::Bytes(bytes), references.all))
}

/// The bytes of `v`, if this walker knows all that is in it.
pub(super) fn write_by(walker: &mut impl Walker, v: Value) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, None, [Sym(0); 2]);
    encoder.all(walker, v).ok()?;
    encoder.out.finish();
    Some(bytes)
}

impl<'a> Encoder<'a> {
    /// The symbols are the hidden variables of members that a class does not know, and of a Set's elements.
    fn new(bytes: &'a mut Vec<u8>, patience: Option<Patience>, [more, set]: [Sym; 2]) -> Encoder<'a> {
        Encoder {
            out: Writer::new(bytes),
            values: Vec::new(),
            open: Vec::new(),
            inside: FxHashSet::default(),
            patience,
            known: FxHashMap::default(),
            classes: Vec::new(),
            last: (0, 0, 0, 0),
            unread: Vec::new(),
            more_of: Vec::new(),
            more,
            hidden: None,
            set,
            staying: None,
            references: super::References::default(),
            stays: None,
        }
    }
}

impl Encoder<'_> {
    fn all(&mut self, walker: &mut impl Walker, v: Value) -> Result<(), (Value, Stop)> {
        walker.one(self, v).map_err(|stop| (v, stop))?;
        while let Some(top) = self.open.last_mut() {
            if top.next == top.end {
                self.close();
                continue;
            }
            let v = self.values[top.next];
            top.next += 1;
            let second = top.what == What::Default && top.next == top.end;
            let done = if second { self.entries(v, Value::NIL) } else { walker.one(self, v) };
            done.map_err(|stop| (v, stop))?;
        }
        Ok(())
    }

    #[cold]
    fn stopped(&mut self, cx: &mut Cx, v: Value, stop: Stop) -> Exit {
        let why = match stop {
            Stop::Exit(e) => return e,
            Stop::Because(why) => why,
        };
        let steps: Vec<Step> = self
            .open
            .iter()
            .map(|o| {
                let at = o.next.saturating_sub(1);
                let key = if o.what == What::Hash && at > o.start { self.values[at - 1] } else { Value::NIL };
                Step { what: o.what, at: o.first + at - o.start, key }
            })
            .collect();
        let classes = &self.classes;
        let way = path::text(cx, &steps, |shape, at| classes.get(shape).and_then(|c| c.members.get(at).cloned()).unwrap_or_default());
        let name = path::name(cx, v);
        let at = if way.is_empty() { String::new() } else { format!(", at {way}") };
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        super::not_transferable(cx, &format!("{name}{at}{why}"))
    }

    /// Writes a value that has no parts and nothing special. False: it is another one, and nothing was written.
    #[inline(always)]
    pub(super) fn plain(&mut self, walker: &mut impl Walker, v: Value) -> Result<bool, Stop> {
        walker.step(&mut self.patience, self.out.written())?;
        if v.is_fix() {
            self.out.int(v.fix_val());
        } else if let Some(s) = v.as_sym() {
            walker.symbol(&mut self.out, s)?;
        } else if v.is_flo() {
            self.out.float(v.flo_val());
        } else {
            match v {
                Value::NIL => self.out.nil(),
                Value::TRUE => self.out.bool(true),
                Value::FALSE => self.out.bool(false),
                _ => return if v.is_kind(Kind::Str) { self.string(walker, v) } else { Ok(false) },
            }
        }
        Ok(true)
    }

    #[inline]
    fn string(&mut self, walker: &impl Walker, v: Value) -> Result<bool, Stop> {
        let Some(s) = v.as_str() else { return Ok(false) };
        if walker.takes(&s) { self.text(s).map(|()| true) } else { Ok(false) }
    }

    #[inline]
    fn text(&mut self, s: Gc<StrObj>) -> Result<(), Stop> {
        let more = s.bytes().len();
        if more >= LARGE && self.out.written() + more > MOST {
            return Err(Stop::Because("the value has more than 1 GB of bytes"));
        }
        text(&mut self.out, &s);
        Ok(())
    }

    fn one(&mut self, cx: &mut Cx, v: Value) -> Result<(), Stop> {
        if self.plain(cx, v)? {
            return Ok(());
        }
        let Some(h) = v.header() else { return Err(Stop::Because("")) };
        if self.out.written() > MOST {
            return Err(Stop::Because("the value has more than 1 GB of bytes"));
        }
        if let Some(staying) = self.staying
            && staying.has(cx, v)
        {
            self.reference(v);
            return Ok(());
        }
        if matches!(h.kind, Kind::Object | Kind::Struct | Kind::Data) && self.stays(cx, h.class()) {
            return Err(Stop::Because("it stays on its node: references to it travel in calls and in segments, not in bytes"));
        }
        let class = self.class(cx, v, h)?;
        let own = |own: Gc<ClassObj>, why| if class == own { Ok(()) } else { Err(Stop::Because(why)) };
        match h.kind {
            Kind::Float | Kind::Big => self.parts(cx, v, h.kind)?,
            Kind::Str => {
                own(cx.k.string, "a subclass of String does not travel, a String does")?;
                let Some(s) = v.as_str() else { return Ok(()) };
                self.text(s)?;
            }
            Kind::Array => {
                own(cx.k.array, "a subclass of Array does not travel, an Array does")?;
                self.parts(cx, v, h.kind)?;
            }
            Kind::Hash => {
                own(cx.k.hash, "a subclass of Hash does not travel, a Hash does")?;
                self.parts(cx, v, h.kind)?;
            }
            Kind::Range => {
                own(cx.k.range, "a subclass of Range does not travel, a Range does")?;
                self.parts(cx, v, h.kind)?;
            }
            Kind::Pair => {
                let Some(p) = v.cell::<PairObj>() else { return Ok(()) };
                if class == cx.k.rational {
                    if [p.a, p.b].iter().any(|n| n.as_big().is_some_and(|b| b.n.byte_len() > super::PART)) {
                        return Err(Stop::Because("its parts have more than half a million bits"));
                    }
                    self.out.rational();
                    self.open(v, What::Two("numerator", "denominator"), &[p.a, p.b])?;
                } else {
                    own(cx.k.complex, "")?;
                    self.out.complex();
                    self.open(v, What::Two("real", "imaginary"), &[p.a, p.b])?;
                }
            }
            Kind::Struct => {
                let Some(s) = v.cell::<StructObj>() else { return Ok(()) };
                if h.has(flag::IVARS) {
                    let more = cx.heap.side_ivar(v, self.more);
                    if let Some(more) = more.as_str() {
                        return self.with_more(cx, v, class, more.text());
                    }
                }
                let (number, members, at) = self.known(cx, class, false)?;
                self.out.record_of(number, members);
                self.rest(cx, v, What::Members(at), s.slots())?;
            }
            Kind::Record => self.record(cx, v, class)?,
            Kind::Data if class == cx.k.time => {
                let parts = time::parts(cx, v).map_err(Stop::Because)?;
                if parts.beyond != Value::fix(0) {
                    self.out.fine_time();
                    self.out.time(parts.time());
                    return self.one(cx, parts.beyond);
                }
                self.out.time(parts.time());
            }
            Kind::Object if class == cx.k.set => {
                let Some(hash) = cx.ivar_get(v, self.set).as_hash() else { return Err(Stop::Because("it was never initialized")) };
                if hash.h.by_identity() {
                    self.out.by_identity();
                }
                let all: Vec<Value> = hash.h.iter().map(|e| e.key).collect();
                self.out.set(all.len());
                self.open(v, What::Set, &all)?;
            }
            Kind::Object => self.object(cx, v, class)?,
            Kind::Data if class.inherits(cx.k.time) => return Err(Stop::Because("a subclass of Time does not travel, a Time does")),
            Kind::Data if self.is_tree(cx, class) => {
                return Err(Stop::Because("a part of a document that is kept does not travel; give its to_h, or records of an XML.each"));
            }
            _ => return Err(Stop::Because("")),
        }
        Ok(())
    }

    /// Do objects of this class stay on their node?
    fn stays(&mut self, cx: &mut Cx, class: Value) -> bool {
        let (module, last, said) = match self.stays {
            Some(known) => known,
            None => (cx.const_path("Kumihimo::Remote").and_then(|m| m.as_class()), Value::NIL, false),
        };
        let stays = match module {
            Some(_) if last == class => said,
            Some(module) => {
                class.as_class().is_some_and(|c| c.inherits(module)) || cx.const_path("Kumihimo::Remote::Reference") == Some(class)
            }
            None => false,
        };
        self.stays = Some((module, class, stays));
        stays
    }

    /// Writes the number of an object that stays where it is.
    fn reference(&mut self, v: Value) {
        let References { all, places } = &mut self.references;
        let place = *places.entry(v.bits()).or_insert_with(|| {
            all.push(v);
            all.len() as u32 - 1
        });
        self.out.unknown(REFERENCE, &place.to_be_bytes());
    }

    /// Writes a number, an Array, a Hash or a Range, or opens it.
    pub(super) fn parts(&mut self, walker: &mut impl Walker, v: Value, kind: Kind) -> Result<(), Stop> {
        match kind {
            Kind::Float => self.out.float(v.as_float().unwrap_or(0.0)),
            Kind::Big => {
                let Some(b) = v.as_big() else { return Err(Stop::Because("")) };
                match (b.n.to_i64(), b.n.to_u64()) {
                    (Some(n), _) => self.out.int(n),
                    (_, Some(n)) => self.out.uint(n),
                    _ => {
                        let magnitude = b.n.magnitude_bytes();
                        self.out.buffer().want(magnitude.len() + 64);
                        self.out.big(Big { negative: b.n.is_negative(), magnitude: &magnitude });
                    }
                }
            }
            Kind::Array => {
                let Some(a) = v.as_array() else { return Ok(()) };
                let all = a.seen();
                self.out.array(all.len());
                self.rest(walker, v, What::Array, all)?;
            }
            Kind::Hash => {
                let Some(hash) = v.as_hash() else { return Ok(()) };
                match hash.h.missing() {
                    Missing::Proc(_) => return Err(Stop::Because("it has a default proc")),
                    Missing::Value(Value::NIL) => self.entries(v, v)?,
                    Missing::Value(default) => {
                        self.out.default();
                        self.open(v, What::Default, &[default, v])?;
                    }
                }
            }
            Kind::Range => {
                let Some(r) = v.as_range() else { return Ok(()) };
                self.out.range(r.exclusive());
                self.open(v, What::Two("begin", "end"), &[r.lo, r.hi])?;
            }
            _ => return Err(Stop::Because("")),
        }
        Ok(())
    }

    /// The class of a cell that has nothing of its own beside what its class says.
    fn class(&mut self, cx: &mut Cx, v: Value, h: &'static Header) -> Result<Gc<ClassObj>, Stop> {
        let Some(class) = h.class().as_class() else { return Err(Stop::Because("")) };
        let real = if class.is_singleton() {
            let real = cx.real_class(v);
            if h.kind != Kind::Class
                && (!class.data.methods.is_empty() || !class.data.includes.is_empty() || !class.data.prepends.is_empty())
            {
                return Err(Stop::Because("it has methods of its own"));
            }
            real
        } else {
            class
        };
        if h.has(flag::IVARS) && cx.ivars(v).iter().any(|(s, _)| !cx.hidden_ivar(*s)) {
            return Err(Stop::Because("it has instance variables"));
        }
        Ok(real)
    }

    /// Writes the elements of a look, and opens `v` for those from the first one on that has parts.
    #[inline]
    fn rest(&mut self, walker: &mut impl Walker, v: Value, what: What, all: Seen<'_, Value>) -> Result<(), Stop> {
        for (i, element) in all.iter().enumerate() {
            if !self.plain(walker, element)? {
                let start = self.values.len();
                self.values.want(all.len() - i);
                all.from(i).append_to(&mut self.values);
                return self.enter(v, what, start, i);
            }
        }
        Ok(())
    }

    /// Opens `v`, of which all these are to be written.
    fn open(&mut self, v: Value, what: What, all: &[Value]) -> Result<(), Stop> {
        let start = self.values.len();
        self.values.put_all(all);
        self.enter(v, what, start, 0)
    }

    /// The entries of a Hash, without its default. `cell`: nil where it is open already.
    fn entries(&mut self, v: Value, cell: Value) -> Result<(), Stop> {
        let Some(hash) = v.as_hash() else { return Ok(()) };
        let start = self.values.len();
        self.values.want(2 * hash.h.len());
        for e in hash.h.iter() {
            self.values.put(e.key);
            self.values.put(e.val);
        }
        if hash.h.by_identity() {
            self.out.by_identity();
        }
        self.out.map((self.values.len() - start) / 2);
        self.enter(cell, What::Hash, start, 0)
    }

    #[inline]
    fn enter(&mut self, cell: Value, what: What, start: usize, first: usize) -> Result<(), Stop> {
        if self.open.len() < FEW {
            if cell.is_heap() && self.open.iter().any(|o| o.cell == cell) {
                return Err(Stop::Because("it holds itself"));
            }
        } else {
            if self.inside.is_empty() {
                self.inside.extend(self.open.iter().map(|o| o.cell.bits()));
            }
            if !self.inside.insert(cell.bits()) && cell.is_heap() {
                return Err(Stop::Because("it holds itself"));
            }
            if self.open.len() > DEPTH {
                return Err(Stop::Because("it is nested too deep"));
            }
        }
        self.open.push(Open { cell, what, start, next: start, end: self.values.len(), first });
        Ok(())
    }

    fn close(&mut self) {
        let Some(done) = self.open.pop() else { return };
        self.values.truncate(done.start);
        if self.open.len() < FEW {
            self.inside.clear();
        } else {
            self.inside.remove(&done.cell.bits());
        }
        if self.more_of.last().is_some_and(|m| m.0 == self.open.len()) {
            self.add_more();
        }
    }

    // --- records --------------------------------------------------------------------

    fn known(&mut self, cx: &mut Cx, class: Gc<ClassObj>, record: bool) -> Result<(u32, usize, usize), Stop> {
        let bits = class.val().bits();
        if self.last.0 == bits {
            return Ok((self.last.1, self.last.2, self.last.3));
        }
        if !self.known.contains_key(&bits) {
            let class = shapes::of(cx, class, record).map_err(Stop::Because)?;
            let members: Vec<&str> = class.members.iter().map(|m| &**m).collect();
            let number = self.out.shape(Shape { kind: class.kind, class: &class.name, members: &members });
            let known = Known { number, members: members.len(), class: self.classes.len() };
            self.classes.push(class);
            self.known.insert(bits, known);
        }
        let known = &self.known[&bits];
        self.last = (bits, known.number, known.members, known.class);
        Ok((known.number, known.members, known.class))
    }

    /// A Struct or Data with members that its class does not know: they are written when its own are.
    fn with_more(&mut self, cx: &mut Cx, v: Value, class: Gc<ClassObj>, more: Text) -> Result<(), Stop> {
        let (_, _, at) = self.known(cx, class, false)?;
        let Some(s) = v.cell::<StructObj>() else { return Ok(()) };
        let class = &self.classes[at];
        let limits = super::limits();
        let mut members: Vec<&str> = class.members.iter().map(|m| &**m).collect();
        each_more(more.bytes(), &limits, class, |name, _, _| members.push(name));
        let number = self.out.shape(Shape { kind: class.kind, class: &class.name, members: &members });
        self.out.record_of(number, members.len());
        self.more_of.push((self.open.len(), at, more));
        self.open(v, What::Members(at), &s.slots().to_vec())
    }

    fn add_more(&mut self) {
        let Some((_, at, more)) = self.more_of.pop() else { return };
        let limits = super::limits();
        each_more(more.bytes(), &limits, &self.classes[at], |_, bytes, reader| {
            // They were checked when they came in. Whatever else they may be by now, one value is written.
            let before = self.out.written();
            if self.out.copy(bytes, reader.names()).is_err() {
                let start = self.out.buffer().len() - (self.out.written() - before);
                self.out.buffer().truncate(start);
                self.out.nil();
            }
        });
    }

    /// A record of a stream. Of one that was not read yet, nothing useful is written.
    fn record(&mut self, cx: &mut Cx, v: Value, class: Gc<ClassObj>) -> Result<(), Stop> {
        let Some(r) = v.as_record() else { return Ok(()) };
        let (number, members, at) = self.known(cx, class, true)?;
        let fields: Vec<Value> = (0..members).map(|i| r.slot(i)).collect();
        if fields.iter().any(|f| f.is_undef()) {
            self.unread.push(v);
        }
        if !fields.contains(&Value::REMOVED) {
            self.out.record_of(number, members);
            let fields: Vec<Value> = fields.into_iter().map(|f| if f.is_undef() { Value::NIL } else { f }).collect();
            return self.open(v, What::Members(at), &fields);
        }
        // What was removed is not there any more.
        let class = &self.classes[at];
        let left = || fields.iter().zip(&class.members).filter(|(f, _)| **f != Value::REMOVED);
        let names: Vec<String> = left().map(|(_, name)| name.clone()).collect();
        let fields: Vec<Value> = left().map(|(f, _)| if f.is_undef() { Value::NIL } else { *f }).collect();
        let class = Class { kind: class.kind, name: class.name.clone(), members: names };
        self.described(v, class, fields)
    }

    fn object(&mut self, cx: &mut Cx, v: Value, class: Gc<ClassObj>) -> Result<(), Stop> {
        let (record, hidden) = *match &mut self.hidden {
            Some(h) => h,
            none => {
                let class = cx.const_path("Kumihimo::Segments::Record").unwrap_or(Value::NIL);
                none.insert((class, shapes::hidden(cx)))
            }
        };
        if class.val() != record {
            return Err(Stop::Because(if class.inherits(cx.k.exception) {
                "exceptions do not travel; give a Hash of what matters of it"
            } else if class.inherits(cx.k.set) {
                "a subclass of Set does not travel, a Set does"
            } else {
                "plain objects do not travel, a Struct or Data does"
            }));
        }
        let [kind, name, members] = hidden.map(|h| cx.ivar_get(v, h));
        let (Some(kind), Some(name), Some(members)) = (kind.as_fix(), name.as_str(), members.as_hash()) else {
            return Err(Stop::Because("it was never initialized"));
        };
        let all: Vec<(Value, Value)> = members.h.iter().map(|e| (e.key, e.val)).collect();
        let names = all.iter().map(|(k, _)| k.as_sym().map_or(String::new(), |s| cx.sym_name(s))).collect();
        let class = Class { kind: shapes::kind(kind), name: String::from_utf8_lossy(name.bytes()).into_owned(), members: names };
        self.described(v, class, all.into_iter().map(|p| p.1).collect())
    }

    /// A record whose members are its own affair.
    fn described(&mut self, v: Value, class: Class, fields: Vec<Value>) -> Result<(), Stop> {
        let members: Vec<&str> = class.members.iter().map(|m| &**m).collect();
        let number = self.out.shape(Shape { kind: class.kind, class: &class.name, members: &members });
        self.out.record_of(number, members.len());
        let at = self.same_class(class);
        self.open(v, What::Members(at), &fields)
    }

    /// The number of such a class, for a path. Most records that follow each other are of one.
    fn same_class(&mut self, class: Class) -> usize {
        match self.classes.last() {
            Some(last) if last.name == class.name && last.members == class.members => self.classes.len() - 1,
            _ => {
                self.classes.push(class);
                self.classes.len() - 1
            }
        }
    }

    fn is_tree(&self, cx: &mut Cx, class: Gc<ClassObj>) -> bool {
        cx.const_path("Kumihimo::XTree").and_then(|c| c.as_class()).is_some_and(|tree| class.inherits(tree))
    }
}

/// Each member in [`super::MORE`] that the class does not know: its name, the bytes of its value, and who reads them.
fn each_more<'a>(bytes: &'a [u8], limits: &Limits, class: &Class, mut f: impl FnMut(&'a str, &'a [u8], &Reader<'a>)) {
    let Ok(mut reader) = Reader::new(bytes, limits) else { return };
    let Ok(Some(Token::Array(n))) = reader.next() else { return };
    for _ in 0..n / 2 {
        let Ok(Some(Token::Str(name))) = reader.next() else { return };
        let Ok(range) = reader.skip() else { return };
        if !class.members.iter().any(|m| m == name) {
            f(name, reader.bytes(range), &reader);
        }
    }
}
