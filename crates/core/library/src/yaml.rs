//! YAML texts as events, for lib/psych/parser.rb: libyaml in Rust behind a safe door.
//!
//! Invariant: a [`Reader`] owns the text and the parser's state at places that do not move, and
//! nothing of libyaml's outlives the call that asked for it: strings are copied out of an event, and
//! the event is deleted. A call gives some events, so that nobody waits long for its end.

use kumi_vm::*;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use unsafe_libyaml::*;

/// Nesting that is read. libyaml looks at all open flow collections for each token, so that this bounds its work.
const DEPTH_MAX: usize = 10_000;
/// Events that one call gives.
const EVENTS: usize = 128;
/// Bytes of text and values after which a call gives what it has.
const BYTES: usize = 64 << 10;

/// The events of one text.
struct Reader {
    parser: Box<MaybeUninit<yaml_parser_t>>,
    /// The parser points into it.
    text: Box<[u8]>,
    depth: usize,
    ended: bool,
}

// SAFETY: the parser's pointers go into its own allocations and the text, which the reader owns; one native at a time uses it.
unsafe impl Send for Reader {}

impl Payload for Reader {
    fn bytes(&self) -> usize {
        self.text.len() + 32_768
    }
    /// No values in it.
    fn confined(&self) -> bool {
        true
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: a reader has an initialised parser from birth.
        unsafe { yaml_parser_delete(self.parser.as_mut_ptr()) }
    }
}

/// An event of the parser, deleted when it is dropped.
struct Event(MaybeUninit<yaml_event_t>);

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: only filled events are made (`Reader::next`).
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

impl Reader {
    fn new(text: &[u8]) -> Option<Reader> {
        let mut reader = Reader { parser: Box::new(MaybeUninit::zeroed()), text: text.into(), depth: 0, ended: false };
        let p = reader.parser.as_mut_ptr();
        // SAFETY: `p` is where a parser has room; the text stays where it is as long as the parser lives.
        unsafe {
            if !yaml_parser_initialize(p).ok {
                return None;
            }
            yaml_parser_set_encoding(p, YAML_UTF8_ENCODING);
            yaml_parser_set_input_string(p, reader.text.as_ptr(), reader.text.len() as u64);
        }
        Some(reader)
    }

    fn next(&mut self) -> Result<Event, Wrong> {
        let mut event = MaybeUninit::zeroed();
        let p = self.parser.as_mut_ptr();
        // SAFETY: the parser is initialised (`new`); on success the event is filled, else it holds nothing.
        unsafe {
            if yaml_parser_parse(p, event.as_mut_ptr()).ok {
                return Ok(Event(event));
            }
            self.ended = true;
            let told = self.parser.assume_init_ref();
            let mark = told.context_mark;
            let say = |s: *const i8| if s.is_null() { None } else { Some(CStr::from_ptr(s.cast()).to_string_lossy().into_owned()) };
            Err(Wrong {
                line: mark.line + 1,
                column: mark.column + 1,
                offset: told.problem_offset,
                problem: say(told.problem).unwrap_or_else(|| "out of memory".into()),
                context: say(told.context),
            })
        }
    }
}

/// `__yaml_open(text)`: reads a text of UTF-8 bytes.
fn open(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let text = cx.arg_str(args, 0)?;
    cx.check_size(text.bytes().len())?;
    match Reader::new(text.bytes()) {
        Some(reader) => Ok(cx.data(cx.k.object, reader)),
        None => Err(cx.raise_msg(cx.k.no_memory_error, "failed to allocate memory")),
    }
}

/// A string of libyaml's that ends with a zero, or nil.
///
/// # Safety
/// `s` is null or a string of the event at hand.
unsafe fn text(cx: &mut Cx, s: *const u8) -> Value {
    if s.is_null() {
        return Value::NIL;
    }
    // SAFETY: the caller's word.
    let s = unsafe { CStr::from_ptr(s.cast()) };
    cx.str_enc(s.to_bytes(), EncIndex::UTF_8)
}

/// The fields of an event behind its kind and place; the bytes of its value.
fn fields(cx: &mut Cx, e: &yaml_event_t, out: &mut Vec<Value>) -> usize {
    // SAFETY: the variant read is that of the event's type; its strings live as long as the event.
    unsafe {
        match e.type_ {
            YAML_STREAM_START_EVENT => out.push(Value::fix(e.data.stream_start.encoding as i64)),
            YAML_DOCUMENT_START_EVENT => {
                let d = &e.data.document_start;
                let version = match d.version_directive.as_ref() {
                    Some(v) => vec![Value::fix(v.major as i64), Value::fix(v.minor as i64)],
                    None => Vec::new(),
                };
                out.push(cx.array_vec(version));
                let mut tags = Vec::new();
                let mut tag = d.tag_directives.start;
                while tag != d.tag_directives.end {
                    let pair = [text(cx, (*tag).handle), text(cx, (*tag).prefix)];
                    tags.push(cx.array(&pair));
                    tag = tag.add(1);
                }
                out.push(cx.array_vec(tags));
                out.push(Value::bool(d.implicit));
            }
            YAML_DOCUMENT_END_EVENT => out.push(Value::bool(e.data.document_end.implicit)),
            YAML_ALIAS_EVENT => out.push(text(cx, e.data.alias.anchor)),
            YAML_SCALAR_EVENT => {
                let s = &e.data.scalar;
                let len = s.length as usize;
                let value = std::slice::from_raw_parts(s.value, len);
                out.push(cx.str_enc(value, EncIndex::UTF_8));
                out.push(text(cx, s.anchor));
                out.push(text(cx, s.tag));
                out.extend([Value::bool(s.plain_implicit), Value::bool(s.quoted_implicit), Value::fix(s.style as i64)]);
                return len;
            }
            YAML_SEQUENCE_START_EVENT => {
                let s = &e.data.sequence_start;
                out.push(text(cx, s.anchor));
                out.push(text(cx, s.tag));
                out.extend([Value::bool(s.implicit), Value::fix(s.style as i64)]);
            }
            YAML_MAPPING_START_EVENT => {
                let s = &e.data.mapping_start;
                out.push(text(cx, s.anchor));
                out.push(text(cx, s.tag));
                out.extend([Value::bool(s.implicit), Value::fix(s.style as i64)]);
            }
            _ => {}
        }
    }
    0
}

/// `__yaml_next(reader)`: the next events, each `[kind, line, column, end line, end column, fields...]`, lines and columns from 0;
/// kinds are libyaml's numbers. The last one of a text is kind 2, or 0 for an error: `[0, line, column, offset, problem, context]`,
/// line and column from 1. nil behind the last one.
fn next(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some(reader) = args[0].as_data::<Reader>() else { return Err(cx.type_error("YAML reader expected")) };
    if reader.ended {
        return Ok(Value::NIL);
    }
    let mut events = Vec::new();
    let (mut bytes, mut from) = (0, None);
    while events.len() < EVENTS && bytes < BYTES && !reader.ended {
        let wrong = match reader.next() {
            Ok(event) => {
                // SAFETY: `Reader::next` filled it.
                let e = unsafe { event.0.assume_init_ref() };
                match e.type_ {
                    YAML_SEQUENCE_START_EVENT | YAML_MAPPING_START_EVENT => reader.depth += 1,
                    YAML_SEQUENCE_END_EVENT | YAML_MAPPING_END_EVENT => reader.depth = reader.depth.saturating_sub(1),
                    YAML_STREAM_END_EVENT => reader.ended = true,
                    _ => {}
                }
                if reader.depth <= DEPTH_MAX {
                    let (a, b) = (&e.start_mark, &e.end_mark);
                    let mut fields_of: Vec<Value> =
                        [e.type_ as u64, a.line, a.column, b.line, b.column].iter().map(|n| Value::fix(*n as i64)).collect();
                    bytes += fields(cx, e, &mut fields_of);
                    bytes += (b.index - *from.get_or_insert(b.index)) as usize;
                    from = Some(b.index);
                    events.push(cx.array_vec(fields_of));
                    continue;
                }
                reader.ended = true;
                let problem = format!("exceeded max depth of {DEPTH_MAX}");
                Wrong { line: e.start_mark.line + 1, column: e.start_mark.column + 1, offset: 0, problem, context: None }
            }
            Err(wrong) => wrong,
        };
        let problem = cx.str(&wrong.problem);
        let context = wrong.context.map_or(Value::NIL, |c| cx.str(&c));
        let at = [0, wrong.line, wrong.column, wrong.offset].map(|n| Value::fix(n as i64));
        let all = [at[0], at[1], at[2], at[3], problem, context];
        events.push(cx.array(&all));
    }
    Ok(cx.array_vec(events))
}

pub static TABLE: &[NativeDef] = &[intrinsic("__yaml_open", 1, 1, open), intrinsic("__yaml_next", 1, 1, next)];
