//! Decoding: tokens become values, containers are made when all their parts are there.
//!
//! **Invariant.** What a container will hold stands in one list, each open container's part after that of the one around it. A cell is made
//! whole and is new, so it needs no barrier but those of large ones. What is known beforehand to be large is as large as its bytes.

use super::shapes::{self, Made};
use super::{Symbols, malformed, time};
use kumi_core_numeric::real;
use kumi_num::BigInt;
use kumi_vm::*;
use kumi_wire::value::{REFERENCE, validate};
use kumi_wire::{Reader, Token, WireError, Writer};
use std::ops::Range;

/// Names that were met lately, so that most are found without a look into the table.
const NAMES: usize = 64;
/// What members that are not known here may take when each stands by itself, with the names it needs, for each byte of the whole.
const APART: usize = 64;

/// What an open container becomes.
#[derive(Clone, Copy)]
enum What {
    Array,
    Map,
    Set,
    Range(bool),
    Rational,
    Complex,
    Default,
    ByIdentity,
    FineTime,
    Record(usize),
}

struct Open {
    what: What,
    /// Values still to come.
    left: usize,
    /// Its part of the list.
    start: usize,
    /// Where its part of `Decoder::apart` begins.
    apart: usize,
    /// And that of `Decoder::rehash`: a key that holds one of those is none that is found.
    rehash: usize,
    /// Its hashes and sets compare by identity.
    by_identity: bool,
}

struct Decoder<'a, 's> {
    reader: Reader<'a>,
    values: Vec<Value>,
    open: Vec<Open>,
    made: Vec<Option<Made>>,
    names: Vec<(&'a [u8], Sym)>,
    symbols: &'s Symbols,
    /// Members that are not known here, of open records: which, and where they stand.
    apart: Vec<(usize, Range<usize>)>,
    /// How much those that are kept may still take.
    left: usize,
    freeze: bool,
    rehash: Vec<Value>,
    record: Option<(Gc<ClassObj>, [Sym; 3])>,
    set: Sym,
    more: Sym,
    /// What references stand for.
    references: &'s [Value],
}

/// What came of it.
pub struct Read {
    /// The value.
    pub value: Value,
    /// Hashes in it, inner ones first, with keys whose own `hash` says where they belong.
    pub rehash: Vec<Value>,
}

/// The value of `bytes`.
pub fn read(
    cx: &mut Cx,
    bytes: &[u8],
    freeze: bool,
    symbols: &Symbols,
    mut patience: Option<Patience>,
    references: &[Value],
) -> Result<Read, Exit> {
    let limits = super::limits();
    let reader = match Reader::new(bytes, &limits) {
        Ok(reader) => reader,
        Err(e) => return Err(wrong(cx, &e)),
    };
    let mut decoder = Decoder {
        made: (0..reader.names().len()).map(|_| None).collect(),
        reader,
        values: Vec::new(),
        open: Vec::new(),
        names: Vec::new(),
        symbols,
        apart: Vec::new(),
        left: (bytes.len() + 1024).saturating_mul(APART),
        freeze,
        rehash: Vec::new(),
        record: None,
        set: cx.intern("@__h"),
        more: shapes::more(cx),
        references,
    };
    let value = decoder.all(cx, &mut patience)?;
    Ok(Read { value, rehash: decoder.rehash })
}

#[cold]
fn wrong(cx: &mut Cx, e: &WireError) -> Exit {
    malformed(cx, &e.to_string())
}

impl<'a> Decoder<'a, '_> {
    fn all(&mut self, cx: &mut Cx, patience: &mut Option<Patience>) -> R {
        loop {
            if let Some(patience) = patience {
                patience.step(cx)?;
            }
            if let Some(top) = self.open.last_mut() {
                if top.left == 0 {
                    let v = self.close(cx)?;
                    self.values.put(v);
                    continue;
                }
                top.left -= 1;
                if let What::Record(n) = top.what {
                    let left = top.left;
                    if self.pass_over(cx, n, left)? {
                        continue;
                    }
                }
            }
            match self.reader.next() {
                Ok(Some(token)) => self.token(cx, token)?,
                Ok(None) => return self.values.pop().ok_or_else(|| malformed(cx, "nothing")),
                Err(e) => return Err(wrong(cx, &e)),
            }
        }
    }

    /// The next member of a record is none here: notes where it stands.
    #[inline]
    fn pass_over(&mut self, cx: &mut Cx, n: usize, left: usize) -> Result<bool, Exit> {
        let Some(Made::Instance { places, .. }) = &self.made[n] else { return Ok(false) };
        let at = places.len() - 1 - left;
        if places[at].is_some() {
            return Ok(false);
        }
        let range = self.reader.skip().map_err(|e| wrong(cx, &e))?;
        self.apart.put((at, range));
        Ok(true)
    }

    #[inline]
    fn token(&mut self, cx: &mut Cx, token: Token<'a>) -> Result<(), Exit> {
        let v = match token {
            Token::Nil => Value::NIL,
            Token::Bool(b) => Value::bool(b),
            Token::Int(n) => cx.int(n),
            Token::UInt(n) => cx.uint(n),
            Token::Big(big) => cx.big(BigInt::from_magnitude(big.negative, big.magnitude)),
            Token::Float(f) => cx.float(f),
            Token::Str(text) => {
                let s = cx.heap.str(cx.k.string.val(), text.as_bytes(), EncIndex::UTF_8.as_u8());
                s.set_range(if text.is_ascii() { 1 } else { 2 });
                self.sealed(s.val())
            }
            Token::Bin(bytes) => {
                let s = cx.str_enc(bytes, EncIndex::BINARY);
                self.sealed(s)
            }
            Token::Encoded(name, bytes) => {
                let e = encoding(cx, name)?;
                let s = cx.str_enc(bytes, e);
                self.sealed(s)
            }
            Token::Symbol(name) => Value::sym(self.symbol(cx, name.as_bytes())?),
            Token::SymbolIn(name, bytes) => {
                let e = encoding(cx, name)?;
                self.symbol_in(cx, e, bytes)?
            }
            Token::Time(t) => {
                let t = time::make(cx, t);
                self.sealed(t)
            }
            Token::Array(n) => return self.enter(cx, What::Array, n),
            Token::Map(n) => return self.enter(cx, What::Map, 2 * n),
            Token::Set(n) => return self.enter(cx, What::Set, n),
            Token::Range { exclusive } => return self.enter(cx, What::Range(exclusive), 2),
            Token::Rational => return self.enter(cx, What::Rational, 2),
            Token::Complex => return self.enter(cx, What::Complex, 2),
            Token::Default => return self.enter(cx, What::Default, 2),
            Token::ByIdentity => return self.enter(cx, What::ByIdentity, 1),
            Token::FineTime => return self.enter(cx, What::FineTime, 2),
            Token::Record(n) => {
                if self.made[n].is_none() {
                    self.made[n] = Some(self.make(cx, n)?);
                }
                let members = self.reader.names().get(n).map_or(0, |s| s.members.len());
                return self.enter(cx, What::Record(n), members);
            }
            Token::Ext(REFERENCE, bytes) => {
                let number = <[u8; 4]>::try_from(bytes).map_or(usize::MAX, |b| u32::from_be_bytes(b) as usize);
                match self.references.get(number) {
                    Some(v) => *v,
                    None => return Err(malformed(cx, "a reference that its message does not carry")),
                }
            }
            Token::Ext(kind, _) => return Err(malformed(cx, &format!("an extension of type {kind}, which is unknown here"))),
        };
        self.values.put(v);
        Ok(())
    }

    #[inline]
    fn sealed(&self, v: Value) -> Value {
        if self.freeze {
            time::freeze(v);
        }
        v
    }

    fn enter(&mut self, cx: &mut Cx, what: What, left: usize) -> Result<(), Exit> {
        let by_identity = self.open.last().is_some_and(|o| matches!(o.what, What::ByIdentity));
        if by_identity && !matches!(what, What::Map | What::Set) {
            return Err(malformed(cx, "something that has no keys, by identity"));
        }
        self.open.put(Open { what, left, start: self.values.len(), apart: self.apart.len(), rehash: self.rehash.len(), by_identity });
        Ok(())
    }

    /// What records of that shape become.
    fn make(&mut self, cx: &mut Cx, n: usize) -> Result<Made, Exit> {
        let Some(shape) = self.reader.names().get(n) else { return Ok(Made::Described(Vec::new())) };
        match shapes::made(cx, &shape) {
            Made::Described(_) => {
                let members: Vec<&'a str> = shape.members.to_vec();
                members.into_iter().map(|m| self.symbol(cx, m.as_bytes())).collect::<Result<_, _>>().map(Made::Described)
            }
            made => Ok(made),
        }
    }

    // --- symbols -----------------------------------------------------------------------

    #[inline]
    fn symbol(&mut self, cx: &mut Cx, name: &'a [u8]) -> Result<Sym, Exit> {
        let (first, last) = (name.first().copied().unwrap_or(0), name.last().copied().unwrap_or(0));
        let at = (name.len() * 13 + usize::from(first) * 7 + usize::from(last)) % NAMES;
        if self.names.is_empty() {
            self.names.resize(NAMES, (&[], sym::EMPTY));
        }
        if self.names[at].0 == name {
            return Ok(self.names[at].1);
        }
        let s = match cx.syms.find(name) {
            Some(s) => s,
            None => {
                self.check(cx)?;
                let s = cx.sym_of(name)?;
                self.symbols.add(s, name);
                s
            }
        };
        self.names[at] = (name, s);
        Ok(s)
    }

    fn symbol_in(&mut self, cx: &mut Cx, e: EncIndex, name: &[u8]) -> R {
        let before = cx.syms.count();
        if cx.syms.find(name).is_none() {
            self.check(cx)?;
        }
        let text = cx.str_enc(name, e);
        let Some(s) = text.as_str() else { return Ok(Value::NIL) };
        let v = kumi_core_string::intern_str(cx, s)?;
        if let Some(s) = v.as_sym().filter(|_| cx.syms.count() > before) {
            let name = cx.syms.name(s).to_vec();
            self.symbols.add(s, &name);
        }
        Ok(v)
    }

    /// May the peer make a symbol?
    #[cold]
    fn check(&self, cx: &mut Cx) -> Result<(), Exit> {
        match self.symbols.has_room(cx) {
            true => Ok(()),
            false => Err(malformed(cx, &format!("more than {} symbols that are new here and in use, of one peer", self.symbols.most))),
        }
    }

    // --- containers ----------------------------------------------------------------------

    fn close(&mut self, cx: &mut Cx) -> R {
        let Some(done) = self.open.pop() else { return Ok(Value::NIL) };
        let start = done.start;
        let v = match done.what {
            What::Array => cx.array(&self.values[start..]),
            What::Map => self.map(cx, &done)?,
            What::Set => self.set(cx, &done)?,
            What::Record(n) => self.record(cx, n, &done)?,
            What::ByIdentity => self.values[start],
            _ => {
                let (a, b) = (self.values[start], self.values[start + 1]);
                self.pair(cx, done.what, a, b)?
            }
        };
        self.values.truncate(start);
        Ok(self.sealed(v))
    }

    fn pair(&mut self, cx: &mut Cx, what: What, a: Value, b: Value) -> R {
        let real = |cx: &mut Cx, v| !matches!(real::num(cx, v), real::Num::Other);
        let small = |v: Value| v.is_fix() || v.as_big().is_some_and(|b| b.n.byte_len() <= super::PART);
        match what {
            What::Range(exclusive) => Ok(cx.range(a, b, exclusive)),
            What::Rational if small(a) && small(b) && b != Value::fix(0) => real::rat_new(cx, a, b),
            What::Complex if real(cx, a) && real(cx, b) => Ok(cx.heap.pair(cx.k.complex.val(), a, b)),
            What::Default => match b.as_hash() {
                Some(h) => {
                    cx.heap.before_store(b, a);
                    cx.heap.edit(h).h.set_missing(Missing::Value(a));
                    Ok(b)
                }
                None => Err(malformed(cx, "a default value of something that is no Hash")),
            },
            What::FineTime => time::finer(cx, a, b).ok_or_else(|| malformed(cx, "a time with a part that is none")),
            _ => Err(malformed(cx, "a number whose parts are none")),
        }
    }

    fn map(&mut self, cx: &mut Cx, done: &Open) -> R {
        let n = (self.values.len() - done.start) / 2;
        let (v, h) = table(cx, n, done.by_identity);
        let mut strange = self.rehash.len() > done.rehash;
        for i in 0..n {
            let at = done.start + 2 * i;
            strange |= put(cx, h, self.values[at], self.values[at + 1])?;
        }
        if strange {
            self.rehash.put(v);
        }
        Ok(v)
    }

    fn set(&mut self, cx: &mut Cx, done: &Open) -> R {
        let (v, h) = table(cx, self.values.len() - done.start, done.by_identity);
        let mut strange = self.rehash.len() > done.rehash;
        for at in done.start..self.values.len() {
            strange |= put(cx, h, self.values[at], Value::TRUE)?;
        }
        if strange {
            self.rehash.put(v);
        }
        let set = cx.heap.object(cx.k.set);
        cx.ivar_set(set, self.set, v);
        self.sealed(v);
        Ok(set)
    }

    fn record(&mut self, cx: &mut Cx, n: usize, done: &Open) -> R {
        let values = &self.values[done.start..];
        match &self.made[n] {
            Some(Made::Instance { class, data, places, rest }) => {
                let s = cx.heap.structure(class.val(), rest.len() as u16);
                let v = s.val();
                // New ones of many members are shared from their birth.
                cx.heap.before_store_all(v, rest);
                cx.heap.before_store_all(v, values);
                if places.len() != rest.len() {
                    s.put(rest.iter().copied());
                }
                for (place, value) in places.iter().flatten().zip(values) {
                    s.set(usize::from(*place), *value);
                }
                if *data {
                    time::freeze(v);
                }
                if self.apart.len() > done.apart {
                    self.keep_apart(cx, v, n, done.apart)?;
                }
                Ok(v)
            }
            Some(Made::Described(members)) => {
                let (class, hidden) = match self.record {
                    Some(known) => known,
                    None => {
                        let found = cx.const_path("Kumihimo::Segments::Record").and_then(|c| c.as_class());
                        let class = found.ok_or_else(|| cx.runtime_error("kumihimo/segments is not loaded"))?;
                        *self.record.insert((class, shapes::hidden(cx)))
                    }
                };
                let (h, table) = table(cx, members.len(), false);
                for (member, value) in members.iter().zip(values) {
                    put(cx, table, Value::sym(*member), *value)?;
                }
                let Some(shape) = self.reader.names().get(n) else { return Ok(Value::NIL) };
                let name = cx.str(shape.class);
                let record = cx.heap.object(class);
                for (name, v) in hidden.into_iter().zip([Value::fix(shapes::number(shape.kind)), name, h]) {
                    time::freeze(v);
                    cx.ivar_set(record, name, v);
                }
                time::freeze(record);
                Ok(record)
            }
            None => Ok(Value::NIL),
        }
    }

    /// Keeps the members that are not known here, so that they go out again.
    fn keep_apart(&mut self, cx: &mut Cx, v: Value, n: usize, from: usize) -> Result<(), Exit> {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes);
        out.array(2 * (self.apart.len() - from));
        let Some(shape) = self.reader.names().get(n) else { return Ok(()) };
        for (at, range) in self.apart.drain(from..) {
            out.str(shape.members[at]);
            out.copy(self.reader.bytes(range), self.reader.names()).map_err(|e| wrong(cx, &e))?;
        }
        out.finish();
        let kept = validate(&bytes, &super::limits()).map_err(|e| wrong(cx, &e))?;
        // Its number means something in this message only.
        if kept.unknown > 0 && has_references(&bytes) {
            return Err(malformed(cx, "a reference in a member that is unknown here"));
        }
        match self.left.checked_sub(bytes.len()) {
            Some(left) => self.left = left,
            None => return Err(malformed(cx, "unknown members that take too much")),
        }
        let kept = cx.str_enc(&bytes, EncIndex::BINARY);
        time::freeze(kept);
        cx.ivar_set(v, self.more, kept);
        Ok(())
    }
}

/// Does a value hold references?
fn has_references(bytes: &[u8]) -> bool {
    let limits = super::limits();
    let Ok(mut reader) = Reader::new(bytes, &limits) else { return true };
    loop {
        match reader.next() {
            Ok(Some(Token::Ext(REFERENCE, _))) | Err(_) => return true,
            Ok(Some(_)) => {}
            Ok(None) => return false,
        }
    }
}

/// An empty Hash with room for so many.
fn table(cx: &mut Cx, n: usize, by_identity: bool) -> (Value, Gc<HashObj>) {
    let mut data = HashData::comparing(by_identity);
    data.reserve(n);
    let h = cx.heap.hash(cx.k.hash.val(), data);
    (h.val(), h)
}

/// Puts an entry into a new Hash. True: only Ruby knows where the key belongs.
#[inline]
fn put(cx: &mut Cx, h: Gc<HashObj>, key: Value, v: Value) -> Result<bool, Exit> {
    if key.is_kind(Kind::Str) && !h.h.by_identity() {
        // As a Hash keeps it; nobody else has it.
        time::freeze(key);
    }
    match cx.hash_put(h, key, v) {
        Ok(()) => Ok(false),
        Err(Exit::Miss) => {
            let known = time_hash(cx, key);
            let place = known.unwrap_or_else(|| cx.identity_hash(key));
            cx.hash_push(h, place, key, v).map(|()| known.is_none())
        }
        Err(e) => Err(e),
    }
}

/// Where a Time belongs, unless a program has redefined its `hash`.
fn time_hash(cx: &mut Cx, key: Value) -> Option<u64> {
    if key.header()?.class() != cx.k.time.val() {
        return None;
    }
    let i = cx.find_method(cx.k.time, sym::HASH);
    let hash = if i == NO_METHOD { None } else { cx.method(i).native }?;
    hash(cx, key, &[]).ok()?.as_fix().map(|n| kumi_vm::hash_key::spread(n as u64))
}

fn encoding(cx: &mut Cx, name: &str) -> Result<EncIndex, Exit> {
    EncIndex::find(name.as_bytes()).ok_or_else(|| malformed(cx, &format!("the encoding {name}, which is unknown here")))
}
