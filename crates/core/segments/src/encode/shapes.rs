//! Classes of Structs, Data and records, and their members.
//!
//! The bytes of a record name its class and its members. Two versions of a program run together:
//!
//! - A member that the class here does not know is kept with the object, unseen, and goes out again.
//! - A member that the bytes don't have is nil, or what the class's constant `DEFAULTS` says (a Hash by names, whose values are
//!   shareable).
//! - Where the class is no Struct or Data here, the object is a `Kumihimo::Segments::Record`.
//!
//! **Invariant.** A class is looked up among the constants that are there: nothing is loaded, and nobody is asked.

use super::MORE;
use kumi_vm::*;
use kumi_wire::value::{Kind as Of, Shape};

/// The class that lists the members of instances of `c`.
fn defining(cx: &Cx, c: Gc<ClassObj>) -> Gc<ClassObj> {
    let mut at = c;
    while at.data.members.is_empty() && at != cx.k.struct_class && at != cx.k.data {
        match at.data.superclass {
            Some(s) => at = s,
            None => break,
        }
    }
    at
}

/// A class whose instances are written.
pub struct Class {
    pub kind: Of,
    pub name: String,
    pub members: Vec<String>,
}

/// The class of a Struct, Data or record of a stream; or why its instances can't travel.
pub fn of(cx: &mut Cx, class: Gc<ClassObj>, record: bool) -> Result<Class, &'static str> {
    let name = cx.class_name(class);
    if name.starts_with('#') {
        return Err("its class has no name");
    }
    if cx.const_path(&name) != Some(class.val()) {
        return Err("its class is not what its name stands for");
    }
    if record {
        let members = fields(cx, class);
        return Ok(Class { kind: Of::Record, name, members });
    }
    let definer = defining(cx, class);
    let kind = if class.inherits(cx.k.data) {
        Of::Data
    } else if cx.ivar_get(definer.val(), sym::IV_KEYWORD_INIT) == Value::TRUE {
        Of::KeywordStruct
    } else {
        Of::Struct
    };
    let members = definer.data.members.clone().into_iter().map(|m| cx.sym_name(m)).collect();
    Ok(Class { kind, name, members })
}

/// Names of the fields that a class of trees declares.
fn fields(cx: &mut Cx, class: Gc<ClassObj>) -> Vec<String> {
    let (list, name) = (cx.intern("@__fields"), cx.intern("@name"));
    let Some(fields) = cx.ivar_get(class.val(), list).as_array() else { return Vec::new() };
    fields.seen().iter().map(|f| cx.ivar_get(f, name).as_sym().map_or(String::new(), |s| cx.sym_name(s))).collect()
}

/// What records of a shape become here.
pub enum Made {
    /// Instances of a Struct or Data.
    Instance {
        class: Gc<ClassObj>,
        data: bool,
        /// The place here of each member in the bytes; `None` for those that are not known.
        places: Vec<Option<u16>>,
        /// What members are that the bytes don't have.
        rest: Vec<Value>,
    },
    /// Records that describe themselves: the names of their members, once they are known.
    Described(Vec<Sym>),
}

/// What records of a shape become here.
pub fn made(cx: &mut Cx, shape: &Shape) -> Made {
    if !matches!(shape.kind, Of::Struct | Of::KeywordStruct | Of::Data) || shape.class.is_empty() {
        return Made::Described(Vec::new());
    }
    let Some(class) = cx.const_path(shape.class).and_then(|c| c.as_class()) else { return Made::Described(Vec::new()) };
    let Instance::Struct(n) = class.data.instance else { return Made::Described(Vec::new()) };
    let data = class.inherits(cx.k.data);
    let own = class.role == Role::Class && cx.class_name(class) == shape.class;
    let members = defining(cx, class).data.members.clone();
    if !own || !data && !class.inherits(cx.k.struct_class) || members.len() != usize::from(n) {
        return Made::Described(Vec::new());
    }
    let place = |name: &str| members.iter().position(|m| cx.syms.name(*m) == name.as_bytes()).map(|i| i as u16);
    let places: Vec<_> = shape.members.iter().map(|m| place(m)).collect();
    let mut rest = vec![Value::NIL; members.len()];
    if !(0..n).all(|i| places.contains(&Some(i))) {
        defaults(cx, class, &members, &mut rest);
    }
    Made::Instance { class, data, places, rest }
}

/// What the class's `DEFAULTS` says of its members.
fn defaults(cx: &mut Cx, class: Gc<ClassObj>, members: &[Sym], rest: &mut [Value]) {
    let name = cx.intern("DEFAULTS");
    let Some((_, found)) = cx.find_const(class, name, false) else { return };
    let Some(hash) = found.value.as_hash() else { return };
    for (member, value) in members.iter().zip(rest) {
        if let Some(v) = cx.hash_get_plain(hash, Value::sym(*member)) {
            if cx.shareable(v) {
                *value = v;
            }
        }
    }
}

/// A plain number for a kind, which a record keeps.
pub fn number(kind: Of) -> i64 {
    match kind {
        Of::Struct => 0,
        Of::KeywordStruct => 1,
        Of::Data => 2,
        Of::Record => 3,
        Of::Object => 4,
    }
}
/// The kind of that number.
pub fn kind(n: i64) -> Of {
    [Of::Struct, Of::KeywordStruct, Of::Data, Of::Record, Of::Object][n.clamp(0, 4) as usize]
}

/// The hidden variables of a record that describes itself: kind, class, members.
pub fn hidden(cx: &mut Cx) -> [Sym; 3] {
    ["@__kind", "@__class", "@__members"].map(|n| cx.intern(n))
}

/// The name of the hidden variable for members that a class does not know.
pub fn more(cx: &mut Cx) -> Sym {
    cx.intern(MORE)
}
