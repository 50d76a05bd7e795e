//! `String#encode` and Encoding::Converter over kumi-text's conversions.
//!
//! Invariant: a converter keeps its last problem until the next step; the exceptions made of
//! problems carry what `error_bytes` and its like show in hidden instance variables.

use crate::away::away;
use crate::encoding::{self, EncObj};
use crate::text::*;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_text::transcode::{self, Converter, EncodeError, Newline, Options, Problem, ProblemKind, Step, Xml};
use kumi_vm::*;

/// Option bits, with the values of Encoding::Converter's constants.
pub const INVALID_REPLACE: i64 = 0x02;
const UNDEF_REPLACE: i64 = 0x20;
const UNIVERSAL: i64 = 0x100;
const CRLF: i64 = 0x1000;
const CR: i64 = 0x2000;
const XML_TEXT: i64 = 0x4000;
const XML_ATTR_CONTENT: i64 = 0x8000;
const XML_ATTR_QUOTE: i64 = 0x10_0000;
const LF: i64 = 0x20_0000;
const DECORATORS: i64 = UNIVERSAL | CRLF | CR | LF | XML_TEXT | XML_ATTR_CONTENT | XML_ATTR_QUOTE;

fn options(flags: i64, replacement: Option<Str>) -> Options {
    Options {
        invalid_replace: flags & 0x0f == INVALID_REPLACE,
        undef_replace: flags & 0xf0 == UNDEF_REPLACE,
        replacement: replacement.map(|r| (r.bytes().to_vec(), enc(r))),
        newline: if flags & UNIVERSAL != 0 {
            Newline::Universal
        } else if flags & CRLF != 0 {
            Newline::Crlf
        } else if flags & CR != 0 {
            Newline::Cr
        } else if flags & LF != 0 {
            Newline::Lf
        } else {
            Newline::Keep
        },
        xml: if flags & (XML_ATTR_CONTENT | XML_ATTR_QUOTE) != 0 {
            Xml::Attr
        } else if flags & XML_TEXT != 0 {
            Xml::Text
        } else {
            Xml::No
        },
    }
}

/// The exception of a problem.
fn problem_exc(cx: &mut Cx, p: &Problem) -> Value {
    let class = if p.kind == ProblemKind::Undefined { cx.k.undefined_conversion_error } else { cx.k.invalid_byte_sequence_error };
    let e = cx.make_exc(class, &p.message);
    let (src, dst) = (encoding::value(cx, p.source), encoding::value(cx, p.destination));
    let bytes = cx.str_enc(&p.bytes, if p.kind == ProblemKind::Undefined { p.source } else { EncIndex::BINARY });
    let again = cx.str_enc(&p.readagain, EncIndex::BINARY);
    let parts = [
        ("@__source", src),
        ("@__destination", dst),
        ("@__bytes", bytes),
        ("@__readagain", again),
        ("@__incomplete", Value::bool(p.kind == ProblemKind::Incomplete)),
    ];
    for (name, v) in parts {
        let y = cx.intern(name);
        cx.ivar_set(e, y, v);
    }
    e
}
fn not_found(cx: &mut Cx, a: &str, b: &str) -> Exit {
    cx.raise_msg(cx.k.converter_not_found_error, &format!("code converter not found ({a} to {b})"))
}
fn enc_arg(cx: &mut Cx, v: Value) -> Result<EncIndex, Exit> {
    match v.as_data::<EncObj>() {
        Some(e) => Ok(e.0),
        None => Err(cx.type_error("wrong argument type (expected Encoding)")),
    }
}

/// ASCII text in another encoding, or ConverterNotFoundError.
pub fn ascii_in(cx: &mut Cx, text: &[u8], to: EncIndex) -> Result<Vec<u8>, Exit> {
    match transcode::encode(text, EncIndex::US_ASCII, to, Options::default()) {
        Ok(b) => Ok(b),
        Err(_) => Err(not_found(cx, "US-ASCII", to.name())),
    }
}

/// `__str_encode(s, to, from, flags, replacement, explicit_from)`: a new string. Without
/// decorators, equal encodings and plain ASCII only change the label.
fn encode(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let (to, from) = (enc_arg(cx, args[1])?, enc_arg(cx, args[2])?);
    let flags = args[3].as_fix().unwrap_or(0);
    let replacement = args[4].as_str();
    if flags & DECORATORS == 0 {
        if to == from {
            if flags & 0x0f == INVALID_REPLACE {
                let rep = replacement.map(|r| r.bytes().to_vec());
                let ns = s.bytes().len() as u64 * 10;
                if let Some(b) = away(cx, s, ns, move |b| transcode::scrub(b, from, rep.as_deref()))? {
                    return Ok(cx.str_vec(b, to));
                }
            }
            let label = if args[5].truthy() { to } else { enc(s) };
            return Ok(make(cx, s.bytes(), label, CodeRange::Unknown));
        }
        if to.is_ascii_compatible() && from.is_ascii_compatible() && s.bytes().is_ascii() {
            return Ok(make(cx, s.bytes(), to, CodeRange::SevenBit));
        }
    }
    let (o, ns) = (options(flags, replacement), s.bytes().len() as u64 * 10);
    match away(cx, s, ns, move |b| transcode::encode(b, from, to, o))? {
        Ok(b) => Ok(cx.str_vec(b, to)),
        Err(EncodeError::NotFound) => Err(not_found(cx, from.name(), to.name())),
        Err(EncodeError::Problem(p)) => {
            let e = problem_exc(cx, &p);
            Err(cx.raise(e))
        }
    }
}

/// The payload of an Encoding::Converter.
#[derive(Default)]
pub struct ConvObj {
    conv: Option<Converter>,
    flags: i64,
    status: Status,
    problem: Option<Problem>,
    replacement: Option<(Vec<u8>, EncIndex)>,
    path: Vec<EncIndex>,
}
#[derive(Default, Clone, Copy, PartialEq)]
enum Status {
    #[default]
    Empty,
    Full,
    Finished,
    Problem,
}
impl Payload for ConvObj {
    fn bytes(&self) -> usize {
        256
    }
    /// No values in it.
    fn confined(&self) -> bool {
        true
    }
}
fn this(cx: &mut Cx, v: Value) -> Result<&'static mut ConvObj, Exit> {
    // SAFETY: the cell's lock is held around each native of the class, which asks once.
    match unsafe { v.payload_mut::<ConvObj>() } {
        Some(c) if c.conv.is_some() => Ok(c),
        _ => Err(cx.type_error("uninitialized encoding converter")),
    }
}
fn alloc(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = recv.as_class().unwrap_or(cx.k.object);
    Ok(cx.data(c, ConvObj::default()))
}
/// `__conv_init(conv, from, to, flags, replacement)`: encodings may be nil (only decorators).
fn init(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let flags = args[3].as_fix().unwrap_or(0);
    let (from, to) = if args[1].is_nil() { (EncIndex::UTF_8, EncIndex::UTF_8) } else { (enc_arg(cx, args[1])?, enc_arg(cx, args[2])?) };
    let rep = args[4].as_str();
    if !args[1].is_nil() && from == to && flags & DECORATORS == 0 {
        return Err(not_found(cx, from.name(), to.name()));
    }
    match Converter::new(from, to, options(flags, rep)) {
        Ok(conv) => {
            let Some(c) = cx.heap.edit_data::<ConvObj>(args[0]) else { return Err(cx.type_error("not a converter")) };
            c.conv = Some(conv);
            c.flags = flags;
            c.path = if args[1].is_nil() { Vec::new() } else { transcode::convpath(from, to).unwrap_or_default() };
            c.replacement = rep.map(|r| (r.bytes().to_vec(), enc(r)));
            Ok(args[0])
        }
        Err(_) => Err(not_found(cx, from.name(), to.name())),
    }
}
/// `__conv_step(conv, source, pos, destination, limit or nil, partial)`: appends to the destination;
/// `[status, new position]`.
fn step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = this(cx, args[0])?;
    if c.status == Status::Finished && args[5].truthy() && limit_free(args[4]) {
        return Err(cx.arg_error("converter already finished"));
    }
    let src = if args[1].is_nil() { Vec::new() } else { me(cx, args[1])?.bytes().to_vec() };
    let mut pos = (args[2].as_fix().unwrap_or(0).max(0) as usize).min(src.len());
    let dst = me(cx, args[3])?;
    let limit = args[4].as_fix().map(|n| n.max(0) as usize);
    let mut out = Vec::new();
    let Some(conv) = c.conv.as_mut() else { return Ok(Value::NIL) };
    let step = conv.step(&src, &mut pos, &mut out, limit, args[5].truthy());
    c.problem = None;
    let name = match step {
        Step::Finished => {
            c.status = Status::Finished;
            "finished"
        }
        Step::SourceEmpty => {
            c.status = Status::Empty;
            "source_buffer_empty"
        }
        Step::DestinationFull => {
            c.status = Status::Full;
            "destination_buffer_full"
        }
        Step::Problem(p) => {
            let n = match p.kind {
                ProblemKind::Invalid => "invalid_byte_sequence",
                ProblemKind::Incomplete => "incomplete_input",
                ProblemKind::Undefined => "undefined_conversion",
            };
            c.status = Status::Problem;
            c.problem = Some(p);
            n
        }
    };
    append(cx, dst, &out, CodeRange::Unknown);
    let name = cx.sym(name);
    Ok(cx.array(&[name, Value::fix(pos as i64)]))
}
/// No limit: `convert`, not `primitive_convert`.
fn limit_free(v: Value) -> bool {
    v.is_nil()
}
fn errinfo(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    let nil = Value::NIL;
    let Some(p) = c.problem.clone() else {
        let n = match c.status {
            Status::Finished => "finished",
            Status::Full => "destination_buffer_full",
            _ => "source_buffer_empty",
        };
        let n = cx.sym(n);
        return Ok(cx.array(&[n, nil, nil, nil, nil]));
    };
    let n = cx.sym(match p.kind {
        ProblemKind::Invalid => "invalid_byte_sequence",
        ProblemKind::Incomplete => "incomplete_input",
        ProblemKind::Undefined => "undefined_conversion",
    });
    let (a, b) = (cx.str_ascii(p.source.name()), cx.str_ascii(p.destination.name()));
    let (x, y) = (cx.str_enc(&p.bytes, EncIndex::BINARY), cx.str_enc(&p.readagain, EncIndex::BINARY));
    Ok(cx.array(&[n, a, b, x, y]))
}
fn last_error(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    match c.problem.clone() {
        Some(p) => Ok(problem_exc(cx, &p)),
        None => Ok(Value::NIL),
    }
}
fn source_encoding(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    match (&c.conv, c.path.is_empty()) {
        (Some(x), false) => Ok(encoding::value(cx, x.source())),
        _ => Ok(Value::NIL),
    }
}
fn destination_encoding(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    match (&c.conv, c.path.is_empty()) {
        (Some(x), false) => Ok(encoding::value(cx, x.destination())),
        _ => Ok(Value::NIL),
    }
}
fn putback(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let c = this(cx, recv)?;
    let max = if args.is_empty() || args[0].is_nil() { i64::MAX } else { cx.arg_i64(args, 0)? };
    let Some(conv) = c.conv.as_mut() else { return Ok(Value::NIL) };
    let b = conv.putback(max.max(0) as usize);
    let e = conv.source();
    Ok(cx.str_vec(b, e))
}
/// `__conv_insert(conv, utf8 text, destination)`: true when the destination could take it.
fn insert(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = this(cx, args[0])?;
    let text = me(cx, args[1])?.bytes().to_vec();
    let dst = me(cx, args[2])?;
    let Some(conv) = c.conv.as_mut() else { return Ok(Value::NIL) };
    let mut out = Vec::new();
    let ok = conv.insert(&text, &mut out);
    append(cx, dst, &out, CodeRange::Unknown);
    Ok(Value::bool(ok))
}
fn replacement(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = this(cx, recv)?;
    if let Some((b, e)) = &c.replacement {
        return Ok(cx.str_enc(b, *e));
    }
    let Some(conv) = &c.conv else { return Ok(Value::NIL) };
    if conv.replacement().is_ascii() {
        Ok(cx.str_enc(conv.replacement(), EncIndex::US_ASCII))
    } else {
        Ok(cx.str_enc(conv.replacement(), EncIndex::UTF_8))
    }
}
fn set_replacement(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let c = this(cx, recv)?;
    let s = cx.arg_str(args, 0)?;
    let Some(conv) = c.conv.as_mut() else { return Ok(Value::NIL) };
    let dst = conv.destination();
    let utf8 = match transcode::encode(s.bytes(), enc(s), EncIndex::UTF_8, Options::default()) {
        Ok(b) => b,
        Err(_) => s.bytes().to_vec(),
    };
    match transcode::encode(&utf8, EncIndex::UTF_8, dst, Options::default()) {
        Ok(b) => c.replacement = Some((b, dst)),
        Err(EncodeError::Problem(p)) => {
            let e = problem_exc(cx, &p);
            return Err(cx.raise(e));
        }
        Err(_) => return Err(not_found(cx, enc(s).name(), dst.name())),
    }
    conv.set_replacement(utf8);
    Ok(args[0])
}
/// `__conv_path(from, to)`: encodings passed through, or nil.
fn convpath(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (a, b) = (enc_arg(cx, args[0])?, enc_arg(cx, args[1])?);
    let Some(p) = (if a == b { None } else { transcode::convpath(a, b) }) else { return Ok(Value::NIL) };
    let v: Vec<Value> = p.into_iter().map(|e| encoding::value(cx, e)).collect();
    Ok(cx.array_vec(v))
}
fn conv_flags(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = this(cx, args[0])?;
    Ok(Value::fix(c.flags))
}
fn conv_path_of(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = this(cx, args[0])?;
    let v: Vec<Value> = c.path.iter().map(|e| encoding::value(cx, *e)).collect();
    Ok(cx.array_vec(v))
}

/// Makes the class.
pub fn boot(cx: &mut Cx) {
    let outer = cx.k.encoding;
    let c = cx.define_class(outer, "Converter", cx.k.object);
    cx.heap.edit(c).data.instance = Instance::Data;
    let constants = [
        ("INVALID_MASK", 0x0f),
        ("INVALID_REPLACE", INVALID_REPLACE),
        ("UNDEF_MASK", 0xf0),
        ("UNDEF_REPLACE", UNDEF_REPLACE),
        ("UNDEF_HEX_CHARREF", 0x30),
        ("PARTIAL_INPUT", 0x10000),
        ("AFTER_OUTPUT", 0x20000),
        ("UNIVERSAL_NEWLINE_DECORATOR", UNIVERSAL),
        ("CRLF_NEWLINE_DECORATOR", CRLF),
        ("CR_NEWLINE_DECORATOR", CR),
        ("LF_NEWLINE_DECORATOR", LF),
        ("XML_TEXT_DECORATOR", XML_TEXT),
        ("XML_ATTR_CONTENT_DECORATOR", XML_ATTR_CONTENT),
        ("XML_ATTR_QUOTE_DECORATOR", XML_ATTR_QUOTE),
    ];
    for (name, v) in constants {
        let y = cx.intern(name);
        cx.set_const(c, y, Value::fix(v));
    }
}

pub static TABLE: &[NativeDef] = &[
    n("Encoding::Converter.", "allocate", 0, 0, alloc),
    n("Encoding::Converter", "primitive_errinfo", 0, 0, errinfo),
    n("Encoding::Converter", "last_error", 0, 0, last_error),
    n("Encoding::Converter", "source_encoding", 0, 0, source_encoding),
    n("Encoding::Converter", "destination_encoding", 0, 0, destination_encoding),
    n("Encoding::Converter", "putback", 0, 1, putback),
    n("Encoding::Converter", "replacement", 0, 0, replacement),
    n("Encoding::Converter", "replacement=", 1, 1, set_replacement),
    intrinsic("__str_encode", 6, 6, encode),
    intrinsic("__conv_init", 5, 5, init),
    intrinsic("__conv_step", 6, 6, step),
    intrinsic("__conv_insert", 3, 3, insert),
    intrinsic("__conv_path", 2, 2, convpath),
    intrinsic("__conv_flags", 1, 1, conv_flags),
    intrinsic("__conv_path_of", 1, 1, conv_path_of),
];
