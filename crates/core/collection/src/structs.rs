//! Struct and Data: classes with a fixed list of members.
//!
//! Members live in the class cell that `Struct.new` or `Data.define` made
//! (`ClassData::members`); subclasses find them up their superclasses. Instances are
//! Struct cells with one slot a member, so accessors are method bodies by index.

use crate::hash::{eq, eql, hash};
use kumi_vm::method::{Body, Method};
use kumi_vm::*;

/// The class that lists the members of instances of `c`.
fn defining(cx: &Cx, c: Gc<ClassObj>) -> Gc<ClassObj> {
    let mut at = c;
    loop {
        if !at.data.members.is_empty() || at == cx.k.struct_class || at == cx.k.data {
            return at;
        }
        match at.data.superclass {
            Some(s) => at = s,
            None => return at,
        }
    }
}
/// Members of the instance or class `v`.
pub(crate) fn members_of(cx: &Cx, v: Value) -> Vec<Sym> {
    let c = v.as_class().unwrap_or_else(|| cx.class_of(v));
    defining(cx, c).data.members.clone()
}
fn position(cx: &Cx, v: Value, name: Sym) -> Option<usize> {
    defining(cx, cx.class_of(v)).data.members.iter().position(|m| *m == name)
}
fn cell(v: Value) -> Result<Gc<StructObj>, Exit> {
    v.cell::<StructObj>().ok_or(Exit::Miss)
}

/// `__struct_class(superclass, members, data)`: a new class with accessors; duplicates were refused before.
fn make_class(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let sup = cx.arg_class(args, 0)?;
    let list = cx.arg_array(args, 1)?;
    let data = args[2].truthy();
    let members: Vec<Sym> = list.seen().iter().filter_map(|v| v.as_sym()).collect();
    if members.len() > 4000 {
        return Err(cx.arg_error("too many struct members"));
    }
    let c = cx.new_class(sup);
    cx.heap.edit(c).data.instance = Instance::Struct(members.len() as u16);
    cx.heap.edit(c).data.members = members.clone();
    for (i, &m) in members.iter().enumerate() {
        accessor(cx, c, m, Body::MemberGet(i as u16), 0);
        if !data {
            let w = format!("{}=", cx.sym_name(m));
            let w = cx.sym_of(w.as_bytes())?;
            accessor(cx, c, w, Body::MemberSet(i as u16), 1);
        }
    }
    // The class's own constructors: those above make classes.
    let Some(single) = cx.singleton_class(c.val()) else { return Ok(c.val()) };
    let from = if data { cx.intern("__data_new") } else { sym::NEW };
    let source = if data { cx.class_of(cx.k.data.val()) } else { cx.k.class };
    let i = cx.find_method(source, from);
    if i != NO_METHOD {
        for name in [sym::NEW, sym::AREF] {
            let mut m = cx.method(i).clone();
            m.vis = Vis::Public;
            m.owner = single;
            m.name = name;
            m.called = name;
            if !data {
                // Before what `Class#new` does in general.
                m.native = Some(struct_new);
                (m.min, m.max) = (0, -1);
            }
            cx.add_method(single, name, m);
        }
    }
    Ok(c.val())
}
fn accessor(cx: &mut Cx, owner: Gc<ClassObj>, name: Sym, body: Body, args: u8) {
    let m = Method { min: args, max: args as i8, ..Method::new(owner, name, body) };
    cx.add_method(owner, name, m);
}

fn class_members(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let v: Vec<Value> = members_of(cx, args[0]).into_iter().map(Value::sym).collect();
    Ok(cx.array_vec(v))
}
/// `__struct_name(s, i)`: the name of member `i`.
fn member_name(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let i = args[1].fix_val() as usize;
    Ok(defining(cx, cx.class_of(args[0])).data.members.get(i).map_or(Value::NIL, |s| Value::sym(*s)))
}
fn members(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    class_members(cx, recv, &[recv])
}
fn to_a(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = cell(recv)?;
    Ok(cx.array_seen(s.slots()))
}
/// `__struct_size(s)`
fn size_of(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    size(cx, args[0], &[])
}
fn size(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(cell(recv)?.slots().len() as i64))
}

/// Slot named by a Symbol, String or Integer.
fn slot(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<usize, Exit> {
    let n = cell(recv)?.slots().len() as i64;
    let name = match args[0].as_sym() {
        Some(s) => Some(s),
        None => match args[0].as_str() {
            Some(s) => Some(cx.sym_of(s.bytes())?),
            None => None,
        },
    };
    if let Some(name) = name {
        return match position(cx, recv, name) {
            Some(i) => Ok(i),
            None => {
                let t = cx.sym_name(name);
                Err(cx.name_error(&format!("no member '{t}' in struct"), recv, name))
            }
        };
    }
    let i = cx.arg_i64(args, 0)?;
    let at = if i < 0 { i.saturating_add(n) } else { i };
    if at < 0 {
        return Err(cx.index_error(&format!("offset {i} too small for struct(size:{n})")));
    }
    if at >= n {
        return Err(cx.index_error(&format!("offset {i} too large for struct(size:{n})")));
    }
    Ok(at as usize)
}
fn aref(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let i = slot(cx, recv, args)?;
    Ok(cell(recv)?.slots().get(i).unwrap_or(Value::NIL))
}
fn aset(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let i = slot(cx, recv, args)?;
    cx.check_frozen(recv)?;
    cx.heap.before_store(recv, args[1]);
    cell(recv)?.set(i, args[1]);
    Ok(args[1])
}

fn initialize_copy(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let (a, Some(b)) = (cell(recv)?, args[0].cell::<StructObj>()) else {
        return Err(cx.type_error("initialize_copy should take same class object"));
    };
    if cx.real_class(recv) != cx.real_class(args[0]) || a.slots().len() != b.slots().len() {
        return Err(cx.type_error("initialize_copy should take same class object"));
    }
    let vs = b.slots().to_vec();
    cx.heap.before_store_all(recv, &vs);
    a.put(vs);
    Ok(recv)
}

/// Every copy of a Data is frozen, whatever is asked of `clone`.
fn data_copy(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    initialize_copy(cx, recv, args)?;
    cell(recv)?.hdr.set(flag::FROZEN);
    Ok(recv)
}

/// Positional values; a trailing Hash may be keywords, which the prelude tells apart.
fn initialize(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    cx.check_frozen(recv)?;
    let s = cell(recv)?;
    if args.last().is_some_and(|v| v.as_hash().is_some()) {
        return Err(Exit::Miss);
    }
    let c = defining(cx, cx.class_of(recv)).val();
    let kw = cx.ivar_get(c, sym::IV_KEYWORD_INIT);
    if !args.is_empty() && !kw.is_undef() && kw.truthy() {
        // (a Hash was left to the prelude above)
        return Err(cx.arg_error(&format!("wrong number of arguments (given {}, expected 0)", args.len())));
    }
    if args.len() > s.slots().len() {
        return Err(cx.arg_error("struct size differs"));
    }
    cx.heap.before_store_all(recv, args);
    s.put(args.iter().copied().chain(std::iter::repeat(Value::NIL)));
    Ok(Value::NIL)
}

/// A record of a class whose `initialize` is the runtime's, from so many values.
#[inline(always)]
fn made(cx: &mut Cx, recv: Value, args: &[Value], fits: impl FnOnce(&mut Cx, Gc<ClassObj>, usize) -> bool) -> Result<Gc<StructObj>, Exit> {
    let c = recv.as_class().ok_or(Exit::Miss)?;
    let Instance::Struct(n) = c.data.instance else { return Err(Exit::Miss) };
    let init = cx.find_method(c, sym::INITIALIZE);
    if args.last().is_some_and(|v| v.as_hash().is_some()) || init == NO_METHOD || !cx.method(init).builtin || !fits(cx, c, n as usize) {
        return Err(Exit::Miss);
    }
    let s = cx.heap.structure(recv, n);
    // A large cell is not born private.
    cx.heap.before_store_all(s.val(), args);
    s.put(args.iter().copied().chain(std::iter::repeat(Value::NIL)));
    Ok(s)
}

/// Struct classes' `new` with positional values.
fn struct_new(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = made(cx, recv, args, |cx, c, n| {
        let keyword_init = cx.ivar_get(defining(cx, c).val(), sym::IV_KEYWORD_INIT);
        args.len() <= n && (keyword_init.is_undef() || !keyword_init.truthy())
    })?;
    Ok(s.val())
}

/// `Data` classes' `new` with exactly the positional values.
fn data_new(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = made(cx, recv, args, |_, _, n| args.len() == n)?;
    s.hdr.set(flag::FROZEN);
    Ok(s.val())
}
/// `__struct_get(s, i)`
fn get(_: &mut Cx, _: Value, args: &[Value]) -> R {
    let i = args[1].as_fix().unwrap_or(-1) as usize;
    Ok(cell(args[0])?.slots().get(i).unwrap_or(Value::NIL))
}
/// `__struct_set(s, i, v)`: without a look at frozenness; the caller is `initialize`.
fn set(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let i = args[1].as_fix().unwrap_or(-1) as usize;
    cx.heap.before_store(args[0], args[2]);
    cell(args[0])?.set(i, args[2]);
    Ok(args[2])
}
/// Position of a member by Symbol, nil when there is none.
fn index(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let i = args[1].as_sym().and_then(|s| position(cx, args[0], s));
    Ok(i.map_or(Value::NIL, |i| Value::fix(i as i64)))
}
/// The class that lists the members.
fn definer(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let c = args[0].as_class().unwrap_or_else(|| cx.class_of(args[0]));
    Ok(defining(cx, c).val())
}

/// Natives of Struct and Data.
pub static TABLE: &[NativeDef] = &[
    intrinsic("__struct_class", 3, 3, make_class).guard(Guard::Classes),
    intrinsic("__struct_members", 1, 1, class_members).guard(Guard::Classes),
    intrinsic("__struct_size", 1, 1, size_of),
    intrinsic("__struct_name", 2, 2, member_name).guard(Guard::Classes),
    intrinsic("__struct_definer", 1, 1, definer).guard(Guard::Classes),
    intrinsic("__struct_get", 2, 2, get),
    intrinsic("__struct_set", 3, 3, set),
    intrinsic("__struct_index", 2, 2, index).guard(Guard::Classes),
    n("Struct", "members", 0, 0, members),
    n("Struct", "to_a", 0, 0, to_a),
    n("Struct", "deconstruct", 0, 0, to_a),
    n("Struct", "values", 0, 0, to_a),
    n("Struct", "size", 0, 0, size),
    n("Struct", "length", 0, 0, size),
    n("Struct", "==", 1, 1, eq),
    n("Struct", "eql?", 1, 1, eql),
    n("Struct", "hash", 0, 0, hash),
    n("Struct", "[]", 1, 1, aref),
    n("Struct", "[]=", 2, 2, aset),
    private("Struct", "initialize", 0, -1, initialize),
    private("Struct", "initialize_copy", 1, 1, initialize_copy),
    n("Data", "members", 0, 0, members),
    n("Data", "deconstruct", 0, 0, to_a),
    n("Data", "==", 1, 1, eq),
    n("Data", "eql?", 1, 1, eql),
    n("Data", "hash", 0, 0, hash),
    private("Data", "initialize_copy", 1, 1, data_copy),
    private("Data.", "__data_new", 0, -1, data_new),
];
