//! Objects that threads may have in common since they never change: which are so, and how others become so.
//!
//! **Invariant.** An object that was found or made shareable carries [`flag::SHAREABLE`], and so does each cell it reaches that Ruby code
//! can read into: asking again costs one look. Making shareable changes all or nothing (`heap/share.rs`). Where others reach
//! what is to be frozen, the walk is made while the world is stopped, so that nobody stores into a cell that was just looked at.

use crate::Cx;
use crate::doors::*;
use crate::sym;
use crate::tasks::patience::Patience;
use kumi_heap::*;
use rustc_hash::FxHashSet;

/// How classes are shared, by serial: what changes a class's methods changes its serial.
#[derive(Default)]
pub(crate) struct Ways([(u32, Way); 32]);

/// What became of [`Cx::make_shareable`].
#[derive(Debug)]
pub enum Shared {
    /// The object is shareable, and published.
    Done,
    /// Nothing has changed: one part cannot be shared.
    Refused(NotShareable),
    /// Nothing has changed: these are to be made shareable in Ruby first (`KumiSys.make_shareable`), Procs and objects with a `freeze` of their own.
    Own(Vec<Value>),
}

/// A part that cannot be shared.
#[derive(Debug)]
pub struct NotShareable {
    /// The part.
    pub part: Value,
    path: Vec<(Value, usize)>,
}

/// Steps of a path that are shown at either end.
const STEPS: usize = 6;

impl Cx {
    /// May the object be reached from several Ractors: it and all it refers to can never change?
    #[inline]
    pub fn shareable(&self, v: Value) -> bool {
        v.header().is_none_or(|h| h.has(flag::SHAREABLE)) || self.find_shareable(v)
    }
    fn find_shareable(&self, v: Value) -> bool {
        let mut seen = FxHashSet::default();
        let mut todo = vec![v];
        while let Some(v) = todo.pop() {
            let Some(h) = v.header() else { continue };
            if h.has(flag::SHAREABLE) || seen.contains(&v.bits()) {
                continue;
            }
            if self.is_a(v, self.k.ractor) || self.is_a(v, self.k.ractor_port) {
                continue;
            }
            match h.kind {
                Kind::Float | Kind::Big | Kind::Class | Kind::Pair => continue,
                Kind::Proc => {
                    if v.as_proc().is_some_and(|p| p.hdr.x.get() & (ProcObj::SHAREABLE | ProcObj::FROM_SYMBOL) == 0) {
                        return false;
                    }
                    continue;
                }
                _ if !h.frozen() || h.class() == self.k.ractor_moved.val() => return false,
                Kind::Data if !self.plain_data(v) => return false,
                _ => {}
            }
            seen.insert(v.bits());
            self.referred(v, &mut todo);
        }
        // Frozen all together: what one of them reaches is among them, or was found before.
        for v in seen {
            if let Some(h) = Value::from_bits(v).header() {
                h.set(flag::SHAREABLE);
            }
        }
        true
    }
    fn plain_data(&self, v: Value) -> bool {
        self.is_plain_data(self.class_of(v)) || v.cell::<DataObj>().is_some_and(|d| d.payload.constant())
    }
    /// Does nothing change that payloads of data of this class refer to?
    fn is_plain_data(&self, c: Gc<ClassObj>) -> bool {
        let k = &self.k;
        [k.regexp, k.match_data, k.time, k.encoding, k.process_status, k.file_stat].iter().any(|x| c.inherits(*x))
    }
    /// What an object refers to: elements and instance variables.
    fn referred(&self, v: Value, out: &mut Vec<Value>) {
        match v.kind() {
            Some(Kind::Array) => out.extend(v.as_array().iter().flat_map(|a| a.seen().to_vec())),
            Some(Kind::Hash) => {
                if let Some(h) = v.as_hash() {
                    for e in h.h.iter() {
                        out.push(e.key);
                        out.push(e.val);
                    }
                    out.push(h.h.missing().either());
                }
            }
            Some(Kind::Range) => out.extend(v.cell::<RangeObj>().iter().flat_map(|r| [r.lo, r.hi])),
            Some(Kind::Struct) => out.extend(v.cell::<StructObj>().iter().flat_map(|s| s.slots().to_vec())),
            Some(Kind::Record) => out.extend(v.as_record().iter().flat_map(|r| (0..r.fields()).map(|i| r.slot(i)))),
            _ => {}
        }
        if !matches!(v.kind(), Some(Kind::Class)) {
            out.extend(self.ivars(v).into_iter().map(|p| p.1));
        }
    }

    /// Freezes the object and all that it refers to, as `Ractor.make_shareable` does, and publishes it. Every part is looked at before
    /// any is changed, so that there is nothing half done where one cannot be shared. One that is shareable is not walked again.
    ///
    /// Natives that call it must be of [`Guard::None`] and hold no lock: it may stop the world.
    ///
    /// # Errors
    /// The native is called away, having changed nothing.
    pub fn make_shareable(&mut self, v: Value) -> Result<Shared, Exit> {
        if v.header().is_none_or(|h| h.has(flag::SHAREABLE)) {
            self.heap.publish(v);
            return Ok(Shared::Done);
        }
        let mut patience = Some(self.patience());
        let alone = !self.is_parallel();
        if let Some(done) = self.share_walk(v, alone, &mut patience)? {
            return Ok(done);
        }
        // Nobody is waited for that long: it is as a collection that marks as much.
        match self.stop_world(|cx| cx.share_walk(v, true, &mut None)) {
            Some(done) => done?.ok_or(Exit::Again),
            None => Err(Exit::Again),
        }
    }
    /// `None`: others reach what is to be frozen.
    fn share_walk(&mut self, v: Value, alone: bool, patience: &mut Option<Patience>) -> Result<Option<Shared>, Exit> {
        let mut walk = Sharing::new(v, alone);
        loop {
            match walk.run(&mut self.heap) {
                Met::End => break,
                Met::Class(x) => walk.tell(x, self.way_of(x)),
                Met::Frozen(x) if self.shareable(x) => {}
                Met::Frozen(_) | Met::Contended => return Ok(None),
                Met::Refused(part) => return Ok(Some(Shared::Refused(self.find_part(walk.trail(part), patience)?))),
                Met::Breath => {
                    if let Some(p) = patience {
                        p.steps(self, Sharing::BREATH)?;
                    }
                }
            }
        }
        if walk.own().is_empty() {
            walk.finish(&mut self.heap);
            return Ok(Some(Shared::Done));
        }
        let mut known = FxHashSet::default();
        Ok(Some(Shared::Own(walk.own().iter().copied().filter(|v| known.insert(v.bits())).collect())))
    }
    fn find_part(&mut self, mut trail: Trail, patience: &mut Option<Patience>) -> Result<NotShareable, Exit> {
        while !trail.run(&mut self.heap, Sharing::BREATH) {
            if let Some(p) = patience {
                p.steps(self, Sharing::BREATH)?;
            }
        }
        let (part, path) = trail.end();
        Ok(NotShareable { part, path })
    }
    /// How objects of `v`'s class are shared.
    fn way_of(&mut self, v: Value) -> Way {
        let c = self.class_of(v);
        let serial = c.serial.get();
        let slot = serial as usize % self.ways.0.len();
        if self.ways.0[slot].0 == serial && serial != 0 {
            return self.ways.0[slot].1;
        }
        let way = self.find_way(c);
        self.ways.0[slot] = (serial, way);
        way
    }
    #[cold]
    #[inline(never)]
    fn find_way(&mut self, c: Gc<ClassObj>) -> Way {
        let k = &self.k;
        if c.inherits(k.ractor) || c.inherits(k.ractor_port) {
            return Way::AS_IS;
        }
        let refused = [
            k.ractor_moved,
            k.thread,
            k.io,
            k.method,
            k.unbound_method,
            k.binding,
            k.fiber,
            k.thread_group,
            k.mutex,
            k.queue,
            k.condvar,
            k.monitor,
            k.enumerator,
            k.yielder,
            k.generator,
        ];
        if refused.iter().any(|r| c.inherits(*r)) {
            return Way::REFUSED;
        }
        if self.is_plain_data(c) {
            return Way::DATA;
        }
        // Classes of the library whose objects stay open to change though they are frozen.
        let more = self.own_path("KumiSys::UNSHAREABLE").and_then(|l| l.as_array());
        if more.is_some_and(|l| l.seen().iter().any(|r| r.as_class().is_some_and(|r| c.inherits(r)))) {
            return Way::REFUSED;
        }
        let m = self.find_method(c, sym::FREEZE);
        if m == NO_METHOD || !self.method(m).builtin || self.method(m).owner != self.k.kernel {
            return Way::OWN;
        }
        if c == self.k.object { Way::HIDDEN } else { Way::PLAIN }
    }

    /// What a part that cannot be shared is, and where it was found: `a Thread: at [3][:name]`.
    pub fn not_shareable(&mut self, e: &NotShareable) -> String {
        let class = self.real_class(e.part);
        let name = self.class_name(class);
        let article = if name.starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" };
        let mut text = format!("{article} {name}");
        if !e.path.is_empty() {
            text += ": at ";
        }
        for (i, &(cell, at)) in e.path.iter().enumerate() {
            if i == STEPS && e.path.len() > 2 * STEPS {
                text += "…";
            }
            if i < STEPS || i + STEPS >= e.path.len() {
                text += &self.path_step(cell, at);
            }
        }
        text
    }
    fn path_step(&mut self, cell: Value, at: usize) -> String {
        if let Some(i) = Trail::beside(at) {
            let name = self.ivars(cell).get(i).map_or(String::new(), |p| self.sym_name(p.0));
            return format!(".{name}");
        }
        match cell.kind() {
            Some(Kind::Array) => format!("[{at}]"),
            Some(Kind::Hash) => {
                let Some(e) = at.checked_sub(1).and_then(|i| cell.as_hash()?.h.at(i / 2)) else { return ".default".into() };
                let key = match e.key {
                    k if let Some(s) = k.as_sym() => format!(":{}", self.sym_name(s)),
                    k if let Some(i) = k.as_fix() => i.to_string(),
                    k if let Some(s) = k.as_str() => format!("{:?}", String::from_utf8_lossy(s.bytes())),
                    k => format!("a {}", self.class_name(self.real_class(k))),
                };
                if at.is_multiple_of(2) { format!("[{key}]") } else { format!(".key({key})") }
            }
            Some(Kind::Object) => {
                let shape = cell.cell::<ObjectObj>().map_or(ROOT_SHAPE, |o| o.shape());
                let name = self.heap.shapes.names(shape).get(at).map_or(String::new(), |s| self.sym_name(*s));
                format!(".{name}")
            }
            Some(Kind::Range) => if at == 0 { ".begin" } else { ".end" }.into(),
            Some(Kind::Struct | Kind::Record) => format!("[{at}]"),
            _ => String::new(),
        }
    }
}
