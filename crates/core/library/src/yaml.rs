//! YAML texts as events, for lib/psych/parser.rb: libyaml in Rust behind a safe door.
//!
//! A [`Source`] is a text, the parser that reads it, and the events that nobody has got so far. It reads them in batches, away from
//! the worker when that may take long: one event may be all of the text. A [`Reader`] is what Ruby holds; a call hands over a piece.
//!
//! Invariant: the parser's pointers go into its own allocations and to its source's [`Input`], which stays where it is.
//! An event owns what libyaml allocated for it, and may outlive the parser. What was read stays in the source until it is handed
//! over, so that a call that is interrupted loses nothing.

use kumi_vm::*;
use std::collections::VecDeque;
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, TryLockError};
use unsafe_libyaml::*;

/// Nesting that is read. libyaml may look at all open flow collections for each token, so that this bounds its work.
const DEPTH_MAX: usize = 10_000;
/// What a batch holds: events, each counted as one and another for so many levels that it lies deep.
const BATCH: usize = 4096;
const LEVELS: usize = 32;
/// Bytes of text and of what was made of it after which a batch, or a piece of one, is over.
const BYTES: usize = 64 << 10;
/// How much larger a batch is that is read away from the worker, which may begin a thread.
const AWAY: usize = 16;
/// Events that one call hands over.
const PIECE: usize = 128;
/// Nanoseconds that a byte takes at most; measured with texts of one event.
const BYTE_NS: u64 = 50;
/// The same of two `%TAG` directives of one document, which libyaml compares each with each.
const PAIR_NS: u64 = 4;

/// What libyaml reads from.
struct Input {
    text: Box<[u8]>,
    at: usize,
    /// What tells that nobody wants the events any more, while some are read.
    stop: Option<NonNull<AtomicBool>>,
}

/// A text, its parser, and what was read.
struct Source {
    parser: Box<MaybeUninit<yaml_parser_t>>,
    input: NonNull<Input>,
    /// `%TAG` directives, at most.
    tags: u64,
    depth: usize,
    ended: bool,
    events: VecDeque<Event>,
    /// What is wrong behind the events.
    wrong: Option<Wrong>,
}

// SAFETY: the parser's pointers go into what the source owns; one thread at a time uses it, by its lock (`Reader`).
unsafe impl Send for Source {}

impl Drop for Source {
    fn drop(&mut self) {
        // SAFETY: a source has an initialised parser from birth, and an input that came from a box.
        unsafe {
            yaml_parser_delete(self.parser.as_mut_ptr());
            drop(Box::from_raw(self.input.as_ptr()));
        }
    }
}

/// An event of libyaml's, deleted when it is dropped.
pub(crate) struct Event(MaybeUninit<yaml_event_t>);

// SAFETY: an event owns what it points to.
unsafe impl Send for Event {}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: only filled events are made (`made`).
        unsafe { yaml_event_delete(self.0.as_mut_ptr()) }
    }
}

/// What is wrong with a text, as libyaml says it.
struct Wrong {
    line: u64,
    column: u64,
    offset: u64,
    problem: String,
    context: Option<String>,
}

/// Gives libyaml the next bytes of the text, or a failure where nobody wants its events.
///
/// # Safety
/// `data` is the parser's input, and `buffer` has room for `size` bytes.
unsafe fn more(data: *mut c_void, buffer: *mut u8, size: u64, got: *mut u64) -> i32 {
    // SAFETY: the caller's word; the flag lives as long as a batch is being read (`Source::read`).
    unsafe {
        let input = &mut *data.cast::<Input>();
        let n = (input.text.len() - input.at).min(size as usize);
        buffer.copy_from_nonoverlapping(input.text.as_ptr().add(input.at), n);
        input.at += n;
        *got = n as u64;
        !input.stop.is_some_and(|s| s.as_ref().load(Relaxed)) as i32
    }
}

impl Source {
    fn new(text: &[u8], encoding: yaml_encoding_t) -> Option<Source> {
        let tags = memchr::memmem::find_iter(text, b"%TAG").count() as u64;
        let mut parser = Box::new(MaybeUninit::zeroed());
        let p = parser.as_mut_ptr();
        // SAFETY: `p` is where a parser has room; a failure leaves nothing in it.
        if !unsafe { yaml_parser_initialize(p) }.ok {
            return None;
        }
        let input = NonNull::from(Box::leak(Box::new(Input { text: text.into(), at: 0, stop: None })));
        // SAFETY: the parser is initialised; its input stays where it is as long as the parser lives (`drop`).
        unsafe {
            yaml_parser_set_encoding(p, encoding);
            yaml_parser_set_input(p, more, input.as_ptr().cast());
        }
        Some(Source { parser, input, tags, depth: 0, ended: false, events: VecDeque::new(), wrong: None })
    }

    fn is_ready(&self) -> bool {
        !self.events.is_empty() || self.wrong.is_some() || self.ended
    }

    /// Nanoseconds that the next batch may take.
    fn ns(&self) -> u64 {
        // SAFETY: the input is the source's own, and nothing reads it now.
        let input = unsafe { self.input.as_ref() };
        (input.text.len() - input.at) as u64 * BYTE_NS + self.tags * self.tags * PAIR_NS
    }

    fn next(&mut self) -> Result<Event, Wrong> {
        let mut event = MaybeUninit::zeroed();
        let p = self.parser.as_mut_ptr();
        // SAFETY: the parser is initialised (`new`); on success the event is filled, else it holds nothing.
        unsafe {
            if yaml_parser_parse(p, event.as_mut_ptr()).ok {
                return Ok(Event::made(event));
            }
            let told = self.parser.assume_init_ref();
            let mark = told.context_mark;
            let say = |s: *const i8| if s.is_null() { None } else { Some(CStr::from_ptr(s.cast()).to_string_lossy().into_owned()) };
            Err(Wrong {
                line: mark.line + 1,
                column: mark.column + 1,
                offset: told.problem_offset,
                // libyaml's own spelling.
                problem: say(told.problem).unwrap_or_else(|| "out of memory".into()).replace("hexadecimal", "hexdecimal"),
                context: say(told.context),
            })
        }
    }

    /// Reads some events, `times` a batch; the last of a text are the end of its stream, or what is wrong with it.
    fn read(&mut self, times: usize, stop: &AtomicBool) {
        let (mut weight, mut bytes, mut from) = (0, 0, None);
        // SAFETY: the input is the source's own, and nothing reads it now.
        unsafe { self.input.as_mut() }.stop = Some(stop.into());
        while weight < times * BATCH && bytes < times * BYTES && !self.ended && !stop.load(Relaxed) {
            let event = match self.next() {
                Ok(event) => event,
                Err(wrong) => {
                    self.ended = true;
                    self.wrong = Some(wrong);
                    break;
                }
            };
            let e = event.seen();
            match e.type_ {
                YAML_SEQUENCE_START_EVENT | YAML_MAPPING_START_EVENT => self.depth += 1,
                YAML_SEQUENCE_END_EVENT | YAML_MAPPING_END_EVENT => self.depth = self.depth.saturating_sub(1),
                YAML_STREAM_END_EVENT => self.ended = true,
                _ => {}
            }
            if self.depth > DEPTH_MAX {
                self.ended = true;
                let problem = format!("exceeded max depth of {DEPTH_MAX}");
                let (line, column) = (e.start_mark.line + 1, e.start_mark.column + 1);
                self.wrong = Some(Wrong { line, column, offset: 0, problem, context: None });
                break;
            }
            weight += 1 + self.depth / LEVELS;
            bytes += event.bytes() + (e.end_mark.index - *from.get_or_insert(e.end_mark.index)) as usize;
            from = Some(e.end_mark.index);
            self.events.push_back(event);
        }
        // SAFETY: as above.
        unsafe { self.input.as_mut() }.stop = None;
    }
}

/// That a batch was read away from the worker.
struct Done;

/// A text, as Ruby holds it.
struct Reader {
    /// Locked by who reads a batch.
    source: Arc<Mutex<Source>>,
    bytes: usize,
}

impl Payload for Reader {
    fn bytes(&self) -> usize {
        self.bytes
    }
    /// No values in it.
    fn confined(&self) -> bool {
        true
    }
}

/// A string of libyaml's that ends with a zero.
///
/// # Safety
/// `s` is null or a string of an event that outlives the answer.
unsafe fn string<'a>(s: *const u8) -> Option<&'a [u8]> {
    // SAFETY: the caller's word.
    if s.is_null() { None } else { Some(unsafe { CStr::from_ptr(s.cast()) }.to_bytes()) }
}

/// What a node may have: its anchor and tag; an alias has the anchor it names.
struct Names<'a> {
    anchor: Option<&'a [u8]>,
    tag: Option<&'a [u8]>,
}

impl Event {
    /// # Safety
    /// libyaml has filled it, and nobody else deletes it.
    pub(crate) unsafe fn made(event: MaybeUninit<yaml_event_t>) -> Event {
        Event(event)
    }

    /// Gives away what it owns.
    pub(crate) fn give(self) -> MaybeUninit<yaml_event_t> {
        std::mem::ManuallyDrop::new(self).0
    }

    fn seen(&self) -> &yaml_event_t {
        // SAFETY: it is filled (`made`).
        unsafe { self.0.assume_init_ref() }
    }

    fn names(&self) -> Names<'_> {
        let e = self.seen();
        // SAFETY: the variant read is that of the event's type; its strings live as long as the event.
        unsafe {
            let (anchor, tag) = match e.type_ {
                YAML_ALIAS_EVENT => (e.data.alias.anchor, std::ptr::null_mut()),
                YAML_SCALAR_EVENT => (e.data.scalar.anchor, e.data.scalar.tag),
                YAML_SEQUENCE_START_EVENT => (e.data.sequence_start.anchor, e.data.sequence_start.tag),
                YAML_MAPPING_START_EVENT => (e.data.mapping_start.anchor, e.data.mapping_start.tag),
                _ => (std::ptr::null_mut(), std::ptr::null_mut()),
            };
            Names { anchor: string(anchor), tag: string(tag) }
        }
    }

    /// A scalar's value.
    fn value(&self) -> &[u8] {
        let e = self.seen();
        if e.type_ != YAML_SCALAR_EVENT {
            return &[];
        }
        // SAFETY: it is a scalar, and its value lives as long as the event.
        unsafe { std::slice::from_raw_parts(e.data.scalar.value, e.data.scalar.length as usize) }
    }

    /// The pairs of `%TAG` directives that a document begins with.
    fn tags(&self) -> Vec<[Option<&[u8]>; 2]> {
        let e = self.seen();
        let mut out = Vec::new();
        if e.type_ == YAML_DOCUMENT_START_EVENT {
            // SAFETY: it is a document's start, whose list lies between the two pointers.
            unsafe {
                let list = &e.data.document_start.tag_directives;
                let mut at = list.start;
                while at != list.end {
                    out.push([string((*at).handle), string((*at).prefix)]);
                    at = at.add(1);
                }
            }
        }
        out
    }

    /// Bytes of its strings. A short tag may stand for a long one, so that they may be more than its text.
    fn bytes(&self) -> usize {
        let Names { anchor, tag } = self.names();
        self.value().len() + anchor.map_or(0, <[u8]>::len) + tag.map_or(0, <[u8]>::len)
    }
}

/// `__yaml_open(text, encoding)`: reads a text of bytes in one of libyaml's encodings.
fn open(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let text = cx.arg_str(args, 0)?;
    let encoding = match cx.arg_i64(args, 1)? {
        2 => YAML_UTF16LE_ENCODING,
        3 => YAML_UTF16BE_ENCODING,
        _ => YAML_UTF8_ENCODING,
    };
    // The copy, and an event that is as long: its buffer doubles.
    cx.check_size(text.bytes().len().saturating_mul(3))?;
    let bytes = text.bytes().len() + 32_768;
    match Source::new(text.bytes(), encoding) {
        Some(source) => {
            let source = Arc::new(Mutex::new(source));
            Ok(cx.data(cx.k.object, Reader { source, bytes }))
        }
        None => Err(cx.raise_msg(cx.k.no_memory_error, "failed to allocate memory")),
    }
}

fn text(cx: &mut Cx, s: Option<&[u8]>) -> Value {
    s.map_or(Value::NIL, |s| cx.str_enc(s, EncIndex::UTF_8))
}

/// An event as Ruby gets it (`__yaml_next`).
fn told(cx: &mut Cx, event: &Event) -> Value {
    let e = event.seen();
    let (a, b) = (&e.start_mark, &e.end_mark);
    let places = [e.type_ as u64, a.line, a.column, b.line, b.column, b.index];
    let mut out: Vec<Value> = Vec::with_capacity(12);
    out.extend(places.iter().map(|n| Value::fix(*n as i64)));
    let Names { anchor, tag } = event.names();
    // SAFETY: the variant read is that of the event's type.
    unsafe {
        match e.type_ {
            YAML_STREAM_START_EVENT => out.push(Value::fix(e.data.stream_start.encoding as i64)),
            YAML_DOCUMENT_START_EVENT => {
                let d = &e.data.document_start;
                let version =
                    d.version_directive.as_ref().map_or(Vec::new(), |v| vec![Value::fix(v.major as i64), Value::fix(v.minor as i64)]);
                out.push(cx.array_vec(version));
                let mut tags = Vec::new();
                for pair in event.tags() {
                    let pair = pair.map(|s| text(cx, s));
                    tags.push(cx.array(&pair));
                }
                out.push(cx.array_vec(tags));
                out.push(Value::bool(d.implicit));
            }
            YAML_DOCUMENT_END_EVENT => out.push(Value::bool(e.data.document_end.implicit)),
            YAML_ALIAS_EVENT => out.push(text(cx, anchor)),
            YAML_SCALAR_EVENT => {
                let s = &e.data.scalar;
                out.extend([text(cx, Some(event.value())), text(cx, anchor), text(cx, tag)]);
                out.extend([Value::bool(s.plain_implicit), Value::bool(s.quoted_implicit), Value::fix(s.style as i64)]);
            }
            YAML_SEQUENCE_START_EVENT => {
                let s = &e.data.sequence_start;
                out.extend([text(cx, anchor), text(cx, tag), Value::bool(s.implicit), Value::fix(s.style as i64)]);
            }
            YAML_MAPPING_START_EVENT => {
                let s = &e.data.mapping_start;
                out.extend([text(cx, anchor), text(cx, tag), Value::bool(s.implicit), Value::fix(s.style as i64)]);
            }
            _ => {}
        }
    }
    cx.array_vec(out)
}

/// `__yaml_next(reader)`: the next events, each `[kind, line, column, end line, end column, end, fields...]`, lines and columns from 0,
/// the end in characters; kinds are libyaml's numbers. The last one of a text is kind 2, or 0 for an error:
/// `[0, line, column, offset, problem, context]`, line and column from 1. nil behind the last one.
fn next(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some(reader) = args[0].as_data::<Reader>() else { return Err(cx.type_error("YAML reader expected")) };
    let _ = cx.detached::<Done>();
    let ns = match reader.source.try_lock() {
        Ok(mut source) => {
            let ns = source.ns();
            if !source.is_ready() && !cx.worth_detaching(ns) {
                source.read(1, &AtomicBool::new(false));
            }
            if source.is_ready() {
                return hand_over(cx, &mut source);
            }
            ns
        }
        // It is being read.
        Err(TryLockError::WouldBlock) => VERY_LONG,
        Err(TryLockError::Poisoned(_)) => return Ok(Value::NIL),
    };
    let source = reader.source.clone();
    Err(cx.detach(ns, Value::NIL, move |stop| {
        if let Ok(mut source) = source.lock()
            && !source.is_ready()
        {
            source.read(AWAY, stop);
        }
        Done
    }))
}

fn hand_over(cx: &mut Cx, source: &mut Source) -> R {
    let mut events = Vec::new();
    let mut bytes = 0;
    while events.len() < PIECE && bytes < BYTES {
        let Some(event) = source.events.pop_front() else { break };
        bytes += event.bytes();
        events.push(told(cx, &event));
    }
    if source.events.is_empty()
        && let Some(wrong) = source.wrong.take()
    {
        let problem = cx.str(&wrong.problem);
        let context = wrong.context.map_or(Value::NIL, |c| cx.str(&c));
        let at = [0, wrong.line, wrong.column, wrong.offset].map(|n| Value::fix(n as i64));
        let all = [at[0], at[1], at[2], at[3], problem, context];
        events.push(cx.array(&all));
    }
    if events.is_empty() { Ok(Value::NIL) } else { Ok(cx.array_vec(events)) }
}

pub static TABLE: &[NativeDef] = &[intrinsic("__yaml_open", 2, 2, open), intrinsic("__yaml_next", 1, 1, next)];
