//! What needs no library: plain values, depth, bytes of any kind.

use super::*;

fn decode(cx: &mut Cx, bytes: &[u8], freeze: bool) -> R {
    let mut later = Later::default();
    let v = later.decode_with(cx, bytes, freeze, &Symbols::default(), &[])?;
    later.done(cx, FILL, v)
}

fn trip(cx: &mut Cx, v: Value) -> Value {
    let bytes = encode(cx, v).unwrap_or_else(|_| panic!("it travels"));
    decode(cx, &bytes, false).unwrap_or_else(|_| panic!("it arrives"))
}

#[test]
fn plain_values_come_back() {
    let mut cx = Cx::new(Default::default());
    let text = cx.str("größer");
    let bytes = cx.str_enc(&[0xFF, 0], EncIndex::BINARY);
    let broken = cx.str_enc(&[0xFF], EncIndex::UTF_8);
    let big = cx.int128(-(1 << 100));
    let unsigned = cx.uint(u64::MAX);
    let range = cx.range(Value::fix(1), Value::NIL, true);
    let name = cx.sym("name");
    let nan = cx.float(f64::NAN);
    let key = cx.hash();
    let hash = cx.hash();
    let h = hash.as_hash().unwrap();
    assert!(cx.hash_put_plain(h, name, text) && cx.hash_put_plain(h, Value::fix(7), key));
    let all = [Value::NIL, Value::TRUE, Value::FALSE, Value::fix(-1), text, bytes, broken, big, unsigned, name, hash, range];
    let array = cx.array(&all);
    let back = trip(&mut cx, array);
    // A runtime without its natives compares nothing but bytes.
    assert_eq!(encode(&mut cx, array).ok(), encode(&mut cx, back).ok());
    for (v, back) in array.as_array().unwrap().seen().iter().zip(back.as_array().unwrap().seen()) {
        assert!(v.kind() == back.kind() && (v.is_heap() || v == back), "{v:?} {back:?}");
    }
    let back = trip(&mut cx, nan);
    assert!(back.as_float().unwrap().is_nan());
    for (v, e) in [(text, EncIndex::UTF_8), (bytes, EncIndex::BINARY), (broken, EncIndex::UTF_8)] {
        let back = trip(&mut cx, v);
        assert_eq!(EncIndex::from_u8(back.as_str().unwrap().enc()), e);
    }
}

/// Who is no worker writes the same bytes, or none.
#[test]
fn beside_the_workers_the_same_is_written() {
    let mut cx = Cx::new(Default::default());
    let mut aside = Aside::new(&cx);
    // SAFETY: nothing is collected meanwhile.
    let mut by = |v: Value| unsafe { aside.encode(v) };
    let text = cx.str("größer");
    let long = cx.str(&"x".repeat(10_000));
    let name = cx.sym("name");
    let foreign = cx.sym("größer");
    let big = cx.int128(-(1 << 100));
    let float = cx.float(0.1);
    let range = cx.range(Value::fix(1), Value::NIL, true);
    let hash = cx.hash();
    assert!(cx.hash_put_plain(hash.as_hash().unwrap(), name, text));
    let many = cx.array(&[Value::NIL; 10_000]);
    let plain = cx.heap.object(cx.k.object);
    assert!(by(text).is_none() && by(hash).is_none(), "others may change it");
    for v in [text, long, range, hash, many, plain] {
        v.header().unwrap().set(flag::FROZEN);
    }
    for v in [Value::NIL, Value::TRUE, Value::fix(-5), text, name, big, float, range, hash] {
        assert_eq!(by(v), encode(&mut cx, v).ok(), "{v:?}");
    }
    let all = cx.array(&[Value::FALSE, text, hash, float]);
    assert!(by(all).is_none());
    all.header().unwrap().set(flag::FROZEN);
    assert_eq!(by(all), encode(&mut cx, all).ok());
    for v in [long, foreign, many, plain] {
        assert!(by(v).is_none(), "a worker's");
    }
    let inside = cx.array(&[plain]);
    inside.header().unwrap().set(flag::FROZEN);
    assert!(by(inside).is_none());
    drop(cx);
    assert_eq!(by(Value::fix(1)), encode(&mut Cx::new(Default::default()), Value::fix(1)).ok());
}

#[test]
fn a_million_arrays_in_one_another_come_back() {
    let mut cx = Cx::new(Default::default());
    let mut v = cx.array(&[]);
    for _ in 1..1_000_000 {
        v = cx.array(&[v, Value::NIL]);
    }
    let bytes = encode(&mut cx, v).ok().unwrap();
    let mut back = decode(&mut cx, &bytes, true).ok().unwrap();
    let mut depth = 0;
    while let Some(inner) = back.as_array().and_then(|a| a.get(0)) {
        assert!(back.frozen());
        back = inner;
        depth += 1;
    }
    assert_eq!(depth, 999_999);
}

#[test]
fn what_is_nested_too_deep_stays() {
    let mut cx = Cx::new(Default::default());
    let mut v = cx.array(&[]);
    for _ in 0..DEPTH + 10 {
        v = cx.array(&[v]);
    }
    assert!(encode(&mut cx, v).is_err());
}

#[test]
fn what_holds_itself_does_not_travel() {
    let mut cx = Cx::new(Default::default());
    for depth in [0, 1, 10, 31, 32, 33, 100] {
        let inner = cx.array(&[]);
        let mut v = inner;
        for _ in 0..depth {
            v = cx.array(&[Value::NIL, v, inner]);
        }
        assert!(encode(&mut cx, v).is_ok());
        let a = inner.as_array().unwrap();
        cx.push(a, v);
        assert!(encode(&mut cx, v).is_err(), "{depth}");
    }
}

#[test]
fn hostile_bytes_are_refused() {
    let mut cx = Cx::new(Default::default());
    for bytes in [
        &[][..],
        &[0xC1],
        &[0xDD, 0xFF, 0xFF, 0xFF, 0xFF],
        // A rational number with nothing below the line, and one of strings.
        &[0x93, 0xD4, 16, 4, 1, 0],
        &[0x93, 0xD4, 16, 4, 0xA1, b'a', 1],
        &[0x93, 0xD4, 16, 5, 0xC0, 1],
        // A default of an array; an array by identity.
        &[0x93, 0xD4, 16, 6, 0xC0, 0x90],
        &[0x92, 0xD4, 16, 7, 0x90],
        &[0x93, 0xD4, 16, 8, 0xC0, 0xC0],
        &[0xD4, 100, 1],
    ] {
        assert!(decode(&mut cx, bytes, false).is_err(), "{bytes:?}");
    }
    let deep = vec![0x91; 3 << 20];
    assert!(decode(&mut cx, &deep, false).is_err());
}

#[test]
fn symbols_of_a_peer_are_counted() {
    let mut cx = Cx::new(Default::default());
    let names: Vec<Value> = (0..10).map(|i| Value::sym(cx.sym_of(format!("a name of {i}").as_bytes()).ok().unwrap())).collect();
    let known = cx.array(&names);
    let bytes = encode(&mut cx, known).ok().unwrap();
    let symbols = Symbols::bounded(3);
    let mut decode_from = |bytes: &[u8]| Later::default().decode_with(&mut cx, bytes, false, &symbols, &[]);
    assert!(decode_from(&bytes).is_ok());
    assert_eq!(symbols.made(), 0);
    // As another node wrote them.
    let foreign: Vec<u8> = bytes.iter().map(|b| if *b == b'n' { b'N' } else { *b }).collect();
    assert!(decode_from(&foreign).is_err());
    assert_eq!(symbols.made(), 3);
    assert!(decode_from(&foreign).is_err());
    assert!(decode_from(&foreign[..1]).is_err());
    assert!(decode_from(&bytes).is_ok());
    assert_eq!(symbols.made(), 3);
}

#[test]
fn what_stays_travels_as_a_number() {
    let mut cx = Cx::new(Default::default());
    let (object, mark) = (cx.k.object, cx.intern(STAYS));
    let (a, b) = (cx.heap.object(object), cx.heap.object(object));
    // No module is asked for, and no class: each by its own word.
    let staying = Staying { module: cx.k.struct_class, reference: Value::NIL, mark };
    for v in [a, b] {
        cx.ivar_set(v, mark, Value::TRUE);
    }
    let inner = cx.array(&[b, Value::fix(1), a]);
    let v = cx.array(&[a, inner, b]);
    let (bytes, found) = encode_with(&mut cx, v, &staying).ok().unwrap();
    assert!(found == [a, b], "each once");
    assert!(encode(&mut cx, v).is_err(), "there is nobody who carries them");
    let symbols = Symbols::default();
    let read = Later::default().decode_with(&mut cx, &bytes, false, &symbols, &[b, a]).ok().unwrap();
    let read = read.as_array().unwrap().seen().to_vec();
    assert!(read[0] == b && read[2] == a && read[1].as_array().unwrap().seen().to_vec() == [a, Value::fix(1), b]);
    // One that the message does not carry is refused.
    assert!(Later::default().decode_with(&mut cx, &bytes, false, &symbols, &[a]).is_err());
    assert!(decode(&mut cx, &bytes, false).is_err());
    let strange = cx.heap.object(object);
    assert!(encode_with(&mut cx, strange, &staying).is_err());
}
