//! Ruby values to and from the bytes that travel between nodes (crate kumi-wire, `value`).
//!
//! | what | how it arrives |
//! |---|---|
//! | nil, true, false, Integer, Float | the same, every bit of a Float |
//! | Rational, Complex, Range, Set | the same |
//! | String, Symbol | with its encoding, also where the bytes are broken |
//! | Time | the same moment, exactly; its offset, and the zone's name as `Marshal` keeps it |
//! | Array, Hash | the same order; of a Hash the default value and `compare_by_identity` as well |
//! | Struct, Data | an instance of the class of that name here; see `shapes` for members that differ |
//! | the same, where no such class is here | a `Kumihimo::Segments::Record`, which goes out again as what it was |
//! | a record of a stream (`Kumihimo::XTree`) | a `Kumihimo::Segments::Record`: it belongs to no document any more |
//!
//! Nothing else travels, and no part of it is left out silently: other objects, exceptions, procs (a Hash with one as well), instances of
//! subclasses of String, Array, Hash, Set, Range and Time, objects with methods or instance variables of their own, values that hold
//! themselves. `Kumihimo::Segments::NotTransferable` says which part, where, and why. `Marshal` would keep a subclass of Array; here a
//! peer would then make instances whose invariants no `initialize` has set up. What is referred to twice arrives twice.
//!
//! **Invariant.** No Ruby code runs here. Where a value needs some, `__seg_encode` and `__seg_decode` have the library do it (fields of
//! records that were never read; keys whose class has a `hash` of its own), and the functions below refuse. Encoding looks at each cell once, so that whatever other threads
//! do to an owned value meanwhile, what is written is whole. Bytes from outside are hostile: they make no class load, no
//! method run and no symbol without end, and memory in proportion to them at most. Nothing recurses. Either direction has changed nothing when it ends
//! with an [`Exit`]: natives call it before they change anything.

mod aside;
mod large;
mod path;
mod read;
mod shapes;
mod time;
mod write;

pub use aside::Aside;
use kumi_vm::*;
use kumi_wire::value::Limits;
pub use large::{Large, is_copied_aside, large_argument};
use parking_lot::Mutex;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Containers in one another.
const DEPTH: usize = 1 << 20;
/// Bytes of one value.
const MOST: usize = 1 << 30;
/// Bytes of a Rational's numerator or denominator: beyond, to see that it is in lowest terms would take long.
const PART: usize = 1 << 16;

/// The hidden variable of a Struct or Data: members that its class does not know, encoded.
const MORE: &str = "@__more";

/// What is believed of bytes from outside. A value's tags count as containers.
pub fn limits() -> Limits {
    Limits { depth: 2 * DEPTH, string: MOST, items: MOST, shapes: 1 << 16, members: 1 << 20 }
}

/// The symbols that a peer has made here, by names that were new.
///
/// **Invariant.** Those that live are `most` at most. One that died is forgotten when there is no room for another: so a peer may go on
/// making them, as long as nobody keeps them.
pub struct Symbols {
    /// And a hash of each name: the number of one that died is given again.
    made: Mutex<Vec<(Sym, u32)>>,
    most: usize,
}

impl Symbols {
    /// None so far.
    pub fn bounded(most: usize) -> Symbols {
        Symbols { made: Mutex::default(), most }
    }
    /// How many there are that live, as far as it is known.
    pub fn made(&self) -> usize {
        self.made.lock().len()
    }
    /// Is there room for another?
    fn has_room(&self, cx: &mut Cx) -> bool {
        let mut made = self.made.lock();
        if made.len() >= self.most {
            made.retain(|(s, hash)| hash_of(cx.syms.name(*s)) == *hash && cx.syms.is_there(*s));
        } else if made.len() == self.most / 2 {
            // Those that are dead are found by then.
            cx.heap.request_full();
        }
        made.len() < self.most
    }
    fn add(&self, s: Sym, name: &[u8]) {
        self.made.lock().put((s, hash_of(name)));
    }
}

fn hash_of(name: &[u8]) -> u32 {
    let mut h = FxHasher::default();
    h.write(name);
    h.finish() as u32
}

impl Default for Symbols {
    /// What a peer may make: 16,384.
    fn default() -> Symbols {
        Symbols::bounded(1 << 14)
    }
}

/// What stays on its node, and travels as a reference in a message that carries references.
pub struct Staying {
    /// The module of objects that name themselves so.
    module: Gc<ClassObj>,
    /// The class of references to other nodes' objects.
    reference: Value,
    /// The hidden variable of objects that were named so one by one.
    mark: Sym,
}

/// The hidden variable of [`Staying`].
pub const STAYS: &str = "@__stays";

impl Staying {
    /// By the module, and the class of references.
    pub fn new(cx: &mut Cx, module: Gc<ClassObj>, reference: Gc<ClassObj>) -> Staying {
        Staying { module, reference: reference.val(), mark: cx.intern(STAYS) }
    }
    fn is_of(&self, class: Value) -> bool {
        class.as_class().is_some_and(|c| c.inherits(self.module))
    }
    /// Does this one stay?
    pub fn has(&self, cx: &mut Cx, v: Value) -> bool {
        let Some(h) = v.header() else { return false };
        match h.kind {
            // One whose object has moved is an Object still.
            Kind::Data | Kind::Object if h.class() == self.reference => true,
            Kind::Object | Kind::Struct | Kind::Data => self.is_of(h.class()) || cx.ivar_get(v, self.mark) == Value::TRUE,
            _ => {
                let plain = [cx.k.string, cx.k.array, cx.k.hash].iter().any(|c| c.val() == h.class());
                !plain && self.is_of(h.class()) || h.has(flag::IVARS) && cx.ivar_get(v, self.mark) == Value::TRUE
            }
        }
    }
}

/// References of a message that is being written, and the place of each by the bits of its object's cell.
#[derive(Default)]
struct References {
    all: Vec<Value>,
    places: rustc_hash::FxHashMap<u64, u32>,
}

/// The bytes of a value in which objects stand that stay, and those objects in the order of their numbers in the bytes.
///
/// # Errors
/// `NotTransferable` where a part can't travel.
pub fn encode_with(cx: &mut Cx, v: Value, staying: &Staying) -> Result<(Vec<u8>, Vec<Value>), Exit> {
    match write::write(cx, v, None, Some(staying))? {
        (write::Written::Bytes(bytes), references) => Ok((bytes, references)),
        (write::Written::Unread(_), _) => Err(not_transferable(cx, "a record of a stream whose fields were not read")),
    }
}

/// Can it travel, with what stays as references? Are there such? As the last thing that a native does: records of streams that were not
/// read are read first, by Ruby, which asks again.
///
/// # Errors
/// `NotTransferable` where a part can't travel; the call in the native's place.
pub fn rehearse(cx: &mut Cx, v: Value, staying: Option<&Staying>) -> Result<bool, Exit> {
    let patience = Some(cx.patience());
    match write::write(cx, v, patience, staying)? {
        (write::Written::Bytes(_), references) => Ok(!references.is_empty()),
        (write::Written::Unread(records), _) => Err(library(cx, "__rehearse_read", v, records)),
    }
}

/// The bytes of a value.
///
/// It is not called away: who has much to do uses the natives.
///
/// # Errors
/// `NotTransferable` where a part can't travel.
pub fn encode(cx: &mut Cx, v: Value) -> Result<Vec<u8>, Exit> {
    match write::write(cx, v, None, None)?.0 {
        write::Written::Bytes(bytes) => Ok(bytes),
        write::Written::Unread(_) => Err(not_transferable(cx, "a record of a stream whose fields were not read")),
    }
}

/// Hashes in values that were decoded, which only Ruby can fill: their keys' own `hash` says where they belong.
#[derive(Default)]
pub struct Later {
    /// Hashes of owned values; of shared ones, which are frozen then.
    open: Vec<Value>,
    frozen: Vec<Value>,
}

impl Later {
    /// The value of bytes of a peer that has made these symbols; with `freeze` deeply frozen. References in it stand for these objects.
    /// Ruby is not to see it before [`done`](Self::done).
    ///
    /// # Errors
    /// `Malformed` for bytes that are no value, or that would have the peer make more symbols than it may.
    pub fn decode_with(&mut self, cx: &mut Cx, bytes: &[u8], freeze: bool, symbols: &Symbols, references: &[Value]) -> R {
        let read = read::read(cx, bytes, freeze, symbols, None, references)?;
        if freeze {
            self.frozen.extend(read.rehash)
        } else {
            self.open.extend(read.rehash)
        }
        Ok(read.value)
    }
    /// Is nothing left to be filled?
    pub fn is_done(&self) -> bool {
        self.open.is_empty() && self.frozen.is_empty()
    }
    /// The result of a native, as the last thing that it does: the library's method `name` goes on in its place where it has to.
    ///
    /// # Errors
    /// The call in the native's place.
    pub fn done(self, cx: &mut Cx, name: &'static str, result: Value) -> R {
        if self.is_done() {
            return Ok(result);
        }
        for h in self.frozen.iter().filter_map(|h| h.header()) {
            h.clear(flag::FROZEN);
        }
        let segments = cx.const_path("Kumihimo::Segments").unwrap_or(Value::NIL);
        let (open, frozen, name) = (cx.array_vec(self.open), cx.array_vec(self.frozen), cx.intern(name));
        Err(cx.call(segments, name, &[result, open, frozen]))
    }
}

/// What the library does with hashes of a native's result.
pub const FILL: &str = "__decode_rehash";

/// `__seg_encode(value)`: the bytes as a binary String. Records of streams that were not read are read first, by Ruby.
fn native_encode(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let patience = Some(cx.patience());
    match write::write(cx, a[0], patience, None)?.0 {
        write::Written::Bytes(bytes) => {
            cx.check_size(bytes.len())?;
            Ok(cx.str_vec(bytes, EncIndex::BINARY))
        }
        write::Written::Unread(records) => Err(library(cx, "__encode_read", a[0], records)),
    }
}

/// `__seg_decode(bytes, freeze)`, or `__seg_decode(bytes, freeze, most)` with a bound for new symbols.
fn native_decode(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let bytes = cx.arg_str(a, 0)?.text();
    let symbols = match a.get(2) {
        Some(most) => Symbols::bounded(most.as_fix().map_or(0, |n| n.max(0) as usize)),
        None => Symbols::default(),
    };
    let patience = Some(cx.patience());
    let freeze = a[1].truthy();
    let read = read::read(cx, bytes.bytes(), freeze, &symbols, patience, &[])?;
    let mut later = Later::default();
    *if freeze { &mut later.frozen } else { &mut later.open } = read.rehash;
    later.done(cx, FILL, read.value)
}

/// Ends the native: the library does something to parts of a value.
fn library(cx: &mut Cx, name: &'static str, v: Value, parts: Vec<Value>) -> Exit {
    let segments = cx.const_path("Kumihimo::Segments").unwrap_or(Value::NIL);
    let (parts, name) = (cx.array_vec(parts), cx.intern(name));
    cx.call(segments, name, &[v, parts])
}

fn not_transferable(cx: &mut Cx, what: &str) -> Exit {
    error(cx, "Kumihimo::Segments::NotTransferable", &format!("can not travel: {what}"))
}
fn malformed(cx: &mut Cx, what: &str) -> Exit {
    error(cx, "Kumihimo::Segments::Malformed", &format!("bytes that are no value of a node: {what}"))
}
#[cold]
fn error(cx: &mut Cx, class: &str, message: &str) -> Exit {
    match cx.const_path(class).and_then(|c| c.as_class()) {
        Some(class) => cx.raise_msg(class, message),
        None => cx.runtime_error(message),
    }
}

/// Natives.
pub static TABLE: &[NativeDef] =
    &[intrinsic("__seg_encode", 1, 1, native_encode).guard(Guard::None), intrinsic("__seg_decode", 2, 3, native_decode).guard(Guard::None)];

#[cfg(test)]
mod tests;
