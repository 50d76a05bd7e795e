//! Where in a value a part stands, as Ruby would write the way to it.

use kumi_vm::*;
use std::fmt::Write;

/// How the parts of a container are named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Array,
    /// Keys and values in turn.
    Hash,
    Set,
    /// Members of a Struct, a Data or a record, by the number of their shape.
    Members(usize),
    /// Two parts with names of their own.
    Two(&'static str, &'static str),
    /// A hash with a default value, before its entries.
    Default,
}

/// One step of the way.
pub struct Step {
    pub what: What,
    /// Which part.
    pub at: usize,
    /// The key that stands before it, of a Hash's value.
    pub key: Value,
}

/// So many steps from either end are shown.
const SHOWN: usize = 8;

/// The way as text; empty for the whole. `member` names a member of a shape.
pub fn text(cx: &mut Cx, steps: &[Step], member: impl Fn(usize, usize) -> String) -> String {
    let mut out = String::new();
    for (i, step) in steps.iter().enumerate() {
        if steps.len() > 2 * SHOWN && (SHOWN..steps.len() - SHOWN).contains(&i) {
            if i == SHOWN {
                let _ = write!(out, "…({} levels)…", steps.len() - 2 * SHOWN);
            }
            continue;
        }
        let _ = match step.what {
            What::Array => write!(out, "[{}]", step.at),
            What::Hash if step.at % 2 == 0 => write!(out, ".keys[{}]", step.at / 2),
            What::Hash => {
                let key = inspect(cx, step.key);
                write!(out, "[{key}]")
            }
            What::Set => write!(out, ".to_a[{}]", step.at),
            What::Members(shape) => write!(out, ".{}", member(shape, step.at)),
            What::Two(first, second) => write!(out, ".{}", if step.at == 0 { first } else { second }),
            What::Default if step.at == 0 => write!(out, ".default"),
            What::Default => Ok(()),
        };
    }
    out
}

/// A key as `inspect` shows it, where that calls nobody.
fn inspect(cx: &mut Cx, key: Value) -> String {
    let mut out = Vec::new();
    if let Some(name) = key.as_sym() {
        return format!(":{}", cx.sym_name(name));
    }
    match cx.plain_inspect(key, &mut out, 0) {
        Some(()) if out.len() <= 60 => String::from_utf8_lossy(&out).into_owned(),
        _ => {
            let class = cx.real_class(key);
            format!("a key of {}", cx.class_name(class))
        }
    }
}

/// What a value is called in a message: "nil", "class Foo", "an Array", "a Foo".
pub fn name(cx: &mut Cx, v: Value) -> String {
    if v.as_class().is_some() || !v.is_heap() {
        return cx.describe(v);
    }
    let class = cx.real_class(v);
    let mut at = class;
    let mut name = cx.class_name(at);
    while let Some(above) = at.data.superclass.filter(|_| name.starts_with('#')) {
        at = above;
        name = cx.class_name(at);
    }
    let article = if name.starts_with(['A', 'E', 'I', 'O', 'U', 'o']) { "an" } else { "a" };
    format!("{article} {name}")
}
