//! Marshal for graphs of plain values, without a line of Ruby.
//!
//! Both directions give up (`None`) at the first thing that could involve user code, an
//! error or deep nesting; nothing was changed by then, and prelude/marshal*.rb start over.
//! What they write and read is byte for byte what the prelude does.

use crate::marshal::{float_text, push_big, push_long};
use crate::structs::members_of;
use kumi_num::BigInt;
use kumi_vm::*;
use rustc_hash::FxHashMap;

const DEEPEST: usize = 150;

struct Writer {
    out: Vec<u8>,
    objects: FxHashMap<u64, i64>,
    symbols: FxHashMap<Sym, i64>,
    /// A name with an encoding of its own came up: Ruby knows how to write it.
    wide: bool,
}

impl Writer {
    fn bytes(&mut self, b: &[u8]) {
        push_long(&mut self.out, b.len() as i64);
        // What is pushed around large texts must not double the buffer unasked.
        self.out.want(b.len() + 64);
        self.out.extend_from_slice(b);
    }
    fn symbol(&mut self, cx: &Cx, s: Sym) {
        if let Some(&i) = self.symbols.get(&s) {
            self.out.push(b';');
            push_long(&mut self.out, i);
            return;
        }
        let name = cx.syms.name(s).to_vec();
        self.wide |= !name.is_ascii();
        self.out.push(b':');
        self.bytes(&name);
        let i = self.symbols.len() as i64;
        self.symbols.insert(s, i);
    }
    fn encoding(&mut self, cx: &Cx, utf8: bool) {
        // `E` is known to every symbol table once something was interned under that name.
        if let Some(e) = cx.syms.find(b"E") {
            self.symbol(cx, e);
        }
        self.out.push(if utf8 { b'T' } else { b'F' });
    }
    fn class(&mut self, cx: &mut Cx, c: Gc<ClassObj>) -> Option<()> {
        if c.is_singleton() || c.data.temporary {
            return None;
        }
        let name = String::from_utf8(c.data.name.as_ref()?.to_vec()).ok()?;
        if cx.const_path(&name) != Some(c.val()) {
            return None;
        }
        let s = cx.sym_of(name.as_bytes()).ok()?;
        self.symbol(cx, s);
        Some(())
    }
    fn write(&mut self, cx: &mut Cx, v: Value, depth: usize) -> Option<()> {
        match v {
            Value::NIL => self.out.push(b'0'),
            Value::TRUE => self.out.push(b'T'),
            Value::FALSE => self.out.push(b'F'),
            _ if v.is_sym() => self.symbol(cx, v.as_sym()?),
            _ if v.is_fix() && (-(1 << 30)..1 << 30).contains(&v.fix_val()) => {
                self.out.push(b'i');
                push_long(&mut self.out, v.fix_val());
            }
            _ => {
                if let Some(&i) = self.objects.get(&v.bits()) {
                    self.out.push(b'@');
                    push_long(&mut self.out, i);
                    return Some(());
                }
                if depth > DEEPEST || cx.heap.has_side_ivars(v) {
                    return None;
                }
                let i = self.objects.len() as i64;
                self.objects.insert(v.bits(), i);
                return self.object(cx, v, depth + 1);
            }
        }
        Some(())
    }
    fn object(&mut self, cx: &mut Cx, v: Value, depth: usize) -> Option<()> {
        if let Some(f) = v.as_float() {
            self.out.push(b'f');
            self.bytes(float_text(f).as_bytes());
            return Some(());
        }
        if v.is_fix() {
            self.out.push(b'l');
            push_big(&mut self.out, &BigInt::from_i64(v.fix_val()));
            return Some(());
        }
        let class = cx.class_of(v);
        for hook in ["marshal_dump", "_dump"] {
            let m = cx.intern(hook);
            if cx.find_method(class, m) != NO_METHOD {
                return None;
            }
        }
        match v.kind()? {
            Kind::Big => {
                self.out.push(b'l');
                push_big(&mut self.out, &v.as_big()?.n);
            }
            Kind::Str if class == cx.k.string => {
                let s = v.as_str()?;
                let enc = EncIndex::from_u8(s.enc());
                let plain = enc == EncIndex::BINARY;
                if !plain && enc != EncIndex::UTF_8 && enc != EncIndex::US_ASCII {
                    return None;
                }
                if !plain {
                    self.out.push(b'I');
                }
                self.out.push(b'"');
                self.bytes(s.bytes());
                if !plain {
                    push_long(&mut self.out, 1);
                    cx.intern("E");
                    self.encoding(cx, enc == EncIndex::UTF_8);
                }
            }
            Kind::Array if class == cx.k.array => {
                let a = v.as_array()?;
                self.out.push(b'[');
                // One look at it: another thread may change what is nested.
                let a = a.seen();
                push_long(&mut self.out, a.len() as i64);
                for v in a {
                    self.write(cx, v, depth)?;
                }
            }
            Kind::Hash if class == cx.k.hash => {
                let h = v.as_hash()?;
                let Missing::Value(default) = h.h.missing() else { return None };
                if h.h.by_identity() {
                    return None;
                }
                self.out.push(if default.is_nil() { b'{' } else { b'}' });
                let all: Vec<(Value, Value)> = h.h.iter().map(|e| (e.key, e.val)).collect();
                push_long(&mut self.out, all.len() as i64);
                for (k, v) in all {
                    self.write(cx, k, depth)?;
                    self.write(cx, v, depth)?;
                }
                if !default.is_nil() {
                    self.write(cx, default, depth)?;
                }
            }
            Kind::Struct => {
                self.out.push(b'S');
                self.class(cx, class)?;
                let names = members_of(cx, v);
                push_long(&mut self.out, names.len() as i64);
                for (i, m) in names.into_iter().enumerate() {
                    self.symbol(cx, m);
                    let s = v.cell::<StructObj>()?;
                    self.write(cx, s.slots().get(i)?, depth)?;
                }
            }
            Kind::Object => {
                // Objects of built-in classes have their own ways.
                if cx.builtin_class(class) {
                    return None;
                }
                let vars = cx.ivars(v);
                if vars.iter().any(|p| cx.hidden_ivar(p.0)) {
                    return None;
                }
                self.out.push(b'o');
                self.class(cx, class)?;
                push_long(&mut self.out, vars.len() as i64);
                for (s, x) in vars {
                    self.symbol(cx, s);
                    self.write(cx, x, depth)?;
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// `__marshal_dump_plain(obj)`: the text, or false when Ruby has to write it.
fn dump(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut w = Writer { out: vec![4, 8], objects: FxHashMap::default(), symbols: FxHashMap::default(), wide: false };
    match w.write(cx, args[0], 0) {
        Some(()) if !w.wide => {
            cx.check_size(w.out.len())?;
            Ok(cx.str_vec(w.out, EncIndex::BINARY))
        }
        _ => Ok(Value::FALSE),
    }
}

struct Reader<'a> {
    s: &'a [u8],
    i: usize,
    objects: Vec<Value>,
    symbols: Vec<Sym>,
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let b = *self.s.get(self.i)?;
        self.i += 1;
        Some(b)
    }
    fn long(&mut self) -> Option<i64> {
        let c = self.byte()? as i8 as i64;
        Some(match c {
            0 => 0,
            5..=127 => c - 5,
            -128..=-5 => c + 5,
            _ => {
                let n = c.unsigned_abs() as usize;
                let mut x: i64 = if c > 0 { 0 } else { -1 };
                for k in 0..n {
                    x &= !(0xff << (8 * k));
                    x |= (self.byte()? as i64) << (8 * k);
                }
                x
            }
        })
    }
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let n = usize::try_from(self.long()?).ok()?;
        let b = self.s.get(self.i..self.i.checked_add(n)?)?;
        self.i += n;
        Some(b)
    }
    /// A count of things that take at least a byte each.
    fn count(&mut self) -> Option<usize> {
        let n = usize::try_from(self.long()?).ok()?;
        (n <= self.s.len() - self.i).then_some(n)
    }
    fn symbol(&mut self, cx: &mut Cx) -> Option<Sym> {
        match self.byte()? {
            b':' => {
                let b = self.bytes()?;
                if !b.is_ascii() {
                    return None;
                }
                // Without room for it the twin tells why.
                let s = cx.sym_of(b).ok()?;
                self.symbols.push(s);
                Some(s)
            }
            b';' => {
                let i = usize::try_from(self.long()?).ok()?;
                self.symbols.get(i).copied()
            }
            _ => None,
        }
    }
    fn class(&mut self, cx: &mut Cx) -> Option<Gc<ClassObj>> {
        let s = self.symbol(cx)?;
        let name = cx.sym_name(s);
        let c = cx.const_path(&name)?.as_class()?;
        (c.role == Role::Class).then_some(c)
    }
    fn read(&mut self, cx: &mut Cx, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        Some(match self.byte()? {
            b'0' => Value::NIL,
            b'T' => Value::TRUE,
            b'F' => Value::FALSE,
            b'i' => cx.int(self.long()?),
            b':' | b';' => {
                self.i -= 1;
                Value::sym(self.symbol(cx)?)
            }
            b'@' => {
                let i = usize::try_from(self.long()?).ok()?;
                *self.objects.get(i)?
            }
            b'f' => {
                let t = std::str::from_utf8(self.bytes()?).ok()?;
                let f = match t {
                    "nan" => f64::NAN,
                    "inf" => f64::INFINITY,
                    "-inf" => f64::NEG_INFINITY,
                    _ if t.bytes().all(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e')) => t.parse().ok()?,
                    _ => return None,
                };
                let v = cx.float(f);
                self.objects.push(v);
                v
            }
            b'"' => {
                let v = {
                    let b = self.bytes()?;
                    cx.str_enc(b, EncIndex::BINARY)
                };
                self.objects.push(v);
                v
            }
            b'I' => {
                if self.byte()? != b'"' {
                    return None;
                }
                let v = {
                    let b = self.bytes()?;
                    cx.str_enc(b, EncIndex::BINARY)
                };
                self.objects.push(v);
                if self.long()? != 1 {
                    return None;
                }
                let name = self.symbol(cx)?;
                if cx.syms.name(name) != b"E" {
                    return None;
                }
                let e = match self.byte()? {
                    b'T' => EncIndex::UTF_8,
                    b'F' => EncIndex::US_ASCII,
                    _ => return None,
                };
                let s = v.as_str()?;
                s.set_enc(e.as_u8());
                v
            }
            b'[' => {
                let n = self.count()?;
                let v = cx.array(&[]);
                self.objects.push(v);
                for _ in 0..n {
                    let x = self.read(cx, depth + 1)?;
                    cx.push(v.as_array()?, x);
                }
                v
            }
            t @ (b'{' | b'}') => {
                let n = self.count()?;
                let v = cx.hash();
                self.objects.push(v);
                let h = v.as_hash()?;
                for _ in 0..n {
                    let k = self.read(cx, depth + 1)?;
                    let x = self.read(cx, depth + 1)?;
                    cx.hash_put(h, k, x).ok()?;
                }
                if t == b'}' {
                    let d = self.read(cx, depth + 1)?;
                    cx.heap.before_store(v, d);
                    cx.heap.edit(h).h.set_missing(Missing::Value(d));
                }
                v
            }
            b'S' => {
                let c = self.class(cx)?;
                let Instance::Struct(n) = c.data.instance else { return None };
                let names = members_of(cx, c.val());
                if self.long()? != n as i64 || names.len() != n as usize {
                    return None;
                }
                let s = cx.heap.structure(c.val(), n);
                self.objects.push(s.val());
                for (i, m) in names.into_iter().enumerate() {
                    if self.symbol(cx)? != m {
                        return None;
                    }
                    let x = self.read(cx, depth + 1)?;
                    cx.heap.before_store(s.val(), x);
                    s.set(i, x);
                }
                if c.inherits(cx.k.data) {
                    s.hdr.set(flag::FROZEN);
                }
                s.val()
            }
            b'o' => {
                let c = self.class(cx)?;
                if c.data.instance != Instance::Object || cx.builtin_class(c) {
                    return None;
                }
                let v = cx.heap.object(c);
                self.objects.push(v);
                let n = self.count()?;
                for _ in 0..n {
                    let name = self.symbol(cx)?;
                    let b = cx.syms.name(name);
                    if !b.starts_with(b"@") || b.starts_with(b"@__") || b.starts_with(b"@@") {
                        return None;
                    }
                    let x = self.read(cx, depth + 1)?;
                    cx.ivar_set(v, name, x);
                }
                v
            }
            _ => return None,
        })
    }
}

/// `__marshal_load_plain(text)`: the object, undef when Ruby has to read it.
fn load(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 0)?;
    let text = s.bytes().to_vec();
    if !text.starts_with(&[4, 8]) {
        return Ok(Value::UNDEF);
    }
    let mut r = Reader { s: &text, i: 2, objects: Vec::new(), symbols: Vec::new() };
    Ok(r.read(cx, 0).unwrap_or(Value::UNDEF))
}

trait BuiltinClass {
    /// Does the class or a near ancestor come from the runtime, other than Object itself?
    fn builtin_class(&self, c: Gc<ClassObj>) -> bool;
}
impl BuiltinClass for Cx {
    fn builtin_class(&self, c: Gc<ClassObj>) -> bool {
        let k = &self.k;
        let own = [k.exception, k.set, k.range, k.mutex, k.queue, k.condvar, k.enumerator, k.thread, k.thread_group, k.numeric];
        let name = c.data.name.as_deref().unwrap_or(b"");
        own.iter().any(|o| c.inherits(*o)) || matches!(name, b"StringScanner" | b"StringIO" | b"Monitor")
    }
}

/// The fast ways as intrinsics.
pub static TABLE: &[NativeDef] = &[intrinsic("__marshal_dump_plain", 1, 1, dump), intrinsic("__marshal_load_plain", 1, 1, load)];
