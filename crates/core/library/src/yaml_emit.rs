//! Events as YAML texts, for lib/psych/emitter.rb: libyaml in Rust behind a safe door.
//!
//! Invariant: the emitter's pointers go into its own allocations and to its [`Sink`], which stays where it is. Events are numbered by
//! the caller, and one that was emitted is not emitted again: so a long one may be emitted away from the worker, and a call that is
//! made again finds that it is done. What was written stays in the sink until it is handed over.

use crate::yaml::Event;
use kumi_vm::*;
use std::ffi::{CStr, CString, c_void};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, TryLockError};
use unsafe_libyaml::*;

/// Nanoseconds that a byte of a scalar takes at most; measured with long scalars of each style.
const BYTE_NS: u64 = 50;
/// Bytes that are handed over before their document ends.
const PIECE: usize = 16 << 10;

/// What libyaml writes to.
struct Sink {
    text: Vec<u8>,
    /// What tells that nobody wants the text any more, while an event is emitted.
    stop: Option<NonNull<AtomicBool>>,
}

struct Emitter {
    emitter: Box<MaybeUninit<yaml_emitter_t>>,
    sink: NonNull<Sink>,
    /// The last event's number.
    done: u64,
    /// Why it was not taken.
    problem: Option<String>,
}

// SAFETY: the emitter's pointers go into what it owns; one thread at a time uses it, by its lock (`Writer`).
unsafe impl Send for Emitter {}

impl Drop for Emitter {
    fn drop(&mut self) {
        // SAFETY: it is initialised from birth, and the sink came from a box.
        unsafe {
            yaml_emitter_delete(self.emitter.as_mut_ptr());
            drop(Box::from_raw(self.sink.as_ptr()));
        }
    }
}

/// Takes what libyaml has written, or fails where nobody wants it.
///
/// # Safety
/// `data` is the emitter's sink, and `buffer` holds `size` bytes.
unsafe fn write(data: *mut c_void, buffer: *mut u8, size: u64) -> i32 {
    // SAFETY: the caller's word; the flag lives as long as an event is being emitted (`Emitter::emit`).
    unsafe {
        let sink = &mut *data.cast::<Sink>();
        sink.text.put_all(std::slice::from_raw_parts(buffer, size as usize));
        !sink.stop.is_some_and(|s| s.as_ref().load(Relaxed)) as i32
    }
}

impl Emitter {
    fn new(canonical: bool, indent: i32, width: i32) -> Option<Emitter> {
        let mut emitter = Box::new(MaybeUninit::zeroed());
        let e = emitter.as_mut_ptr();
        // SAFETY: `e` is where an emitter has room; a failure leaves nothing in it.
        if !unsafe { yaml_emitter_initialize(e) }.ok {
            return None;
        }
        let sink = NonNull::from(Box::leak(Box::new(Sink { text: Vec::new(), stop: None })));
        // SAFETY: it is initialised; its sink stays where it is as long as it lives (`drop`).
        unsafe {
            yaml_emitter_set_output(e, write, sink.as_ptr().cast());
            yaml_emitter_set_unicode(e, true);
            yaml_emitter_set_canonical(e, canonical);
            yaml_emitter_set_indent(e, indent);
            yaml_emitter_set_width(e, width);
        }
        Some(Emitter { emitter, sink, done: 0, problem: None })
    }

    /// Emits event `n`, unless it was.
    fn emit(&mut self, n: u64, event: Event, stop: &AtomicBool) {
        if self.done >= n {
            return;
        }
        self.done = n;
        // SAFETY: the sink is the emitter's own, and nothing writes to it now.
        unsafe { self.sink.as_mut() }.stop = Some(stop.into());
        let e = self.emitter.as_mut_ptr();
        // SAFETY: the emitter is initialised; it takes over what the event owns, whether it succeeds or not.
        unsafe {
            if yaml_emitter_emit(e, event.give().as_mut_ptr()).fail {
                let told = self.emitter.assume_init_ref().problem;
                let told = if told.is_null() { "out of memory".into() } else { CStr::from_ptr(told.cast()).to_string_lossy().into_owned() };
                self.problem = Some(told);
            }
            self.sink.as_mut().stop = None;
        }
    }

    /// The text so far, if it is `all` asked for or much.
    fn text(&mut self, all: bool) -> Option<Vec<u8>> {
        // SAFETY: the sink is the emitter's own, and nothing writes to it now.
        let sink = unsafe { self.sink.as_mut() };
        if sink.text.is_empty() || !all && sink.text.len() < PIECE { None } else { Some(std::mem::take(&mut sink.text)) }
    }
}

/// That an event was emitted away from the worker.
struct Done;

/// An emitter, as Ruby holds it.
struct Writer {
    /// Locked by who emits an event.
    emitter: Arc<Mutex<Emitter>>,
}

impl Payload for Writer {
    fn bytes(&self) -> usize {
        65_536
    }
    /// No values in it.
    fn confined(&self) -> bool {
        true
    }
}

/// `__yaml_writer(canonical, indentation, line_width)`
fn writer(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let number = |n: i64| n.clamp(i32::MIN as i64, i32::MAX as i64) as i32;
    let (indent, width) = (number(cx.arg_i64(args, 1)?), number(cx.arg_i64(args, 2)?));
    match Emitter::new(args[0].truthy(), indent, width) {
        Some(emitter) => Ok(cx.data(cx.k.object, Writer { emitter: Arc::new(Mutex::new(emitter)) })),
        None => Err(cx.raise_msg(cx.k.no_memory_error, "failed to allocate memory")),
    }
}

/// A String of the event, up to a zero; nil is none.
fn name(cx: &mut Cx, args: &[Value], i: usize) -> Result<Option<CString>, Exit> {
    if args[i].is_nil() {
        return Ok(None);
    }
    let s = cx.arg_str(args, i)?;
    let bytes = s.bytes();
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    Ok(CString::new(&bytes[..end]).ok())
}

fn pointer(name: &Option<CString>) -> *const u8 {
    name.as_ref().map_or(null(), |s| s.as_ptr().cast())
}

/// The event of a kind and its fields, `None` where a String of it is no UTF-8; the bytes of its value.
fn event(cx: &mut Cx, kind: i64, args: &[Value]) -> Result<(Option<Event>, usize), Exit> {
    let mut out = MaybeUninit::zeroed();
    let e = out.as_mut_ptr();
    let mut len = 0;
    // SAFETY: `e` has room for an event, and the strings live until it is made, which copies them. A failure leaves nothing in it.
    let made = unsafe {
        match kind {
            1 => {
                let encoding = match cx.arg_i64(args, 0)? {
                    2 => YAML_UTF16LE_ENCODING,
                    3 => YAML_UTF16BE_ENCODING,
                    _ => YAML_UTF8_ENCODING,
                };
                yaml_stream_start_event_initialize(e, encoding)
            }
            2 => yaml_stream_end_event_initialize(e),
            3 => return document_start(cx, args).map(|event| (event, 0)),
            4 => yaml_document_end_event_initialize(e, args[0].truthy()),
            5 => {
                let anchor = name(cx, args, 0)?;
                match &anchor {
                    Some(anchor) => yaml_alias_event_initialize(e, anchor.as_ptr().cast()),
                    None => return Err(cx.type_error("wrong argument type nil (expected String)")),
                }
            }
            6 => {
                let (anchor, tag) = (name(cx, args, 1)?, name(cx, args, 2)?);
                let style = cx.arg_i64(args, 5)?;
                let value = cx.arg_str(args, 0)?;
                let bytes = value.bytes();
                len = bytes.len();
                let Ok(length) = i32::try_from(len) else { return Err(cx.raise_msg(cx.k.argument_error, "string is too long")) };
                cx.check_size(len.saturating_mul(2))?;
                let style = match style {
                    1 => YAML_PLAIN_SCALAR_STYLE,
                    2 => YAML_SINGLE_QUOTED_SCALAR_STYLE,
                    3 => YAML_DOUBLE_QUOTED_SCALAR_STYLE,
                    4 => YAML_LITERAL_SCALAR_STYLE,
                    5 => YAML_FOLDED_SCALAR_STYLE,
                    _ => YAML_ANY_SCALAR_STYLE,
                };
                let (plain, quoted) = (args[3].truthy(), args[4].truthy());
                yaml_scalar_event_initialize(e, pointer(&anchor), pointer(&tag), bytes.as_ptr(), length, plain, quoted, style)
            }
            7 | 9 => {
                let (anchor, tag, implicit) = (name(cx, args, 0)?, name(cx, args, 1)?, args[2].truthy());
                let (anchor, tag) = (pointer(&anchor), pointer(&tag));
                match (kind, cx.arg_i64(args, 3)?) {
                    (7, 2) => yaml_sequence_start_event_initialize(e, anchor, tag, implicit, YAML_FLOW_SEQUENCE_STYLE),
                    (7, _) => yaml_sequence_start_event_initialize(e, anchor, tag, implicit, YAML_BLOCK_SEQUENCE_STYLE),
                    (_, 2) => yaml_mapping_start_event_initialize(e, anchor, tag, implicit, YAML_FLOW_MAPPING_STYLE),
                    (_, _) => yaml_mapping_start_event_initialize(e, anchor, tag, implicit, YAML_BLOCK_MAPPING_STYLE),
                }
            }
            8 => yaml_sequence_end_event_initialize(e),
            10 => yaml_mapping_end_event_initialize(e),
            _ => return Err(cx.raise_msg(cx.k.argument_error, "no kind of event")),
        }
    };
    // SAFETY: it was made.
    Ok((made.ok.then(|| unsafe { Event::made(out) }), len))
}

/// `[version, pairs of tag directives, implicit]`
fn document_start(cx: &mut Cx, args: &[Value]) -> Result<Option<Event>, Exit> {
    let (Some(version), Some(pairs)) = (args[0].as_array(), args[1].as_array()) else { return Err(cx.type_error("Array expected")) };
    let (version, pairs) = (version.seen().to_vec(), pairs.seen().to_vec());
    let mut directive = match version[..] {
        [] => None,
        _ => {
            let version = [version[0], version.get(1).copied().unwrap_or(Value::NIL)];
            let (major, minor) = (cx.arg_i64(&version, 0)? as i32, cx.arg_i64(&version, 1)? as i32);
            // SAFETY: it is two numbers.
            let mut version = unsafe { MaybeUninit::<yaml_version_directive_t>::zeroed().assume_init() };
            (version.major, version.minor) = (major, minor);
            Some(version)
        }
    };
    let mut names = Vec::new();
    for pair in pairs {
        let pair = pair.as_array().map(|p| p.seen().to_vec()).unwrap_or_default();
        if pair.len() != 2 {
            return Err(cx.runtime_error("tag tuple must be of length 2"));
        }
        for i in 0..2 {
            names.push(name(cx, &pair, i)?.unwrap_or_default());
        }
    }
    let pairs = names.chunks(2).map(|pair: &[CString]| {
        // SAFETY: it is two pointers.
        let mut directive = unsafe { MaybeUninit::<yaml_tag_directive_t>::zeroed().assume_init() };
        directive.handle = pair[0].as_ptr().cast::<u8>().cast_mut();
        directive.prefix = pair[1].as_ptr().cast::<u8>().cast_mut();
        directive
    });
    let mut list: Vec<_> = pairs.collect();
    let list = list.as_mut_ptr_range();
    let directive = directive.as_mut().map_or(null_mut(), |d| d as *mut _);
    let mut out = MaybeUninit::zeroed();
    // SAFETY: the directives live until the event is made, which copies them.
    unsafe {
        let made = yaml_document_start_event_initialize(out.as_mut_ptr(), directive, list.start, list.end, args[2].truthy());
        Ok(made.ok.then(|| Event::made(out)))
    }
}

/// `__yaml_emit(writer, n, kind, fields...)`: emits event `n` (from 1), of one of libyaml's kinds, its fields as `__yaml_next` gives them. The
/// text that there is to be written, or nil.
fn emit(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some(writer) = args[0].as_data::<Writer>() else { return Err(cx.type_error("YAML writer expected")) };
    let (n, kind) = (cx.arg_i64(args, 1)? as u64, cx.arg_i64(args, 2)?);
    let _ = cx.detached::<Done>();
    let (event, ns) = match writer.emitter.try_lock() {
        Ok(mut emitter) => {
            let mut away = None;
            if emitter.done < n {
                let (Some(event), len) = event(cx, kind, &args[3..])? else {
                    return Err(cx.raise_msg(cx.k.argument_error, "invalid byte sequence in UTF-8"));
                };
                let ns = len as u64 * BYTE_NS;
                if cx.worth_detaching(ns) {
                    away = Some((event, ns));
                } else {
                    emitter.emit(n, event, &AtomicBool::new(false));
                }
            }
            match away {
                Some((event, ns)) => (Some(event), ns),
                None => return written(cx, &mut emitter, kind),
            }
        }
        // It is being emitted.
        Err(TryLockError::WouldBlock) => (None, VERY_LONG),
        Err(TryLockError::Poisoned(_)) => return Err(cx.runtime_error("the emitter has failed")),
    };
    let emitter = writer.emitter.clone();
    Err(cx.detach(ns, Value::NIL, move |stop| {
        if let (Ok(mut emitter), Some(event)) = (emitter.lock(), event) {
            emitter.emit(n, event, stop);
        }
        Done
    }))
}

fn written(cx: &mut Cx, emitter: &mut Emitter, kind: i64) -> R {
    if let Some(problem) = emitter.problem.take() {
        return Err(cx.runtime_error(&problem));
    }
    // The ends of streams and documents.
    match emitter.text(kind == 2 || kind == 4) {
        Some(text) => Ok(cx.str_enc(&text, EncIndex::UTF_8)),
        None => Ok(Value::NIL),
    }
}

pub static TABLE: &[NativeDef] = &[intrinsic("__yaml_writer", 3, 3, writer), intrinsic("__yaml_emit", 9, 9, emit)];
