//! Leaf natives of demand-driven documents, for lib/kumihimo/xml.rb: opening, trees, lists, readers, and waiting for them.
//!
//! Documents are parsed and kept outside the Ruby heap (crate kumi-flow). What Ruby holds are views, made when they are asked
//! for: a `record` holds the packed row itself (an element that nobody else can see), a `View` refers
//! to a part of the tree, a list or cursor to its counterpart in kumi-flow. Only views keep parts of a document alive, so
//! the collector that drops the last one ends the document and closes its source.
//!
//! All natives are [`Guard::None`]: payloads lock what they change. A native that finds nothing parks its task; called
//! again, it looks afresh.
#![deny(missing_docs)]

mod about;
mod binding;
mod decode;
mod doc;
mod fail;
mod list;
mod open;
mod push;
mod tree;
mod wait;

use kumi_vm::*;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    cx.boot().around_fork.push(doc::around_fork);
    for table in [about::TABLE, binding::TABLE, decode::TABLE, doc::TABLE, list::TABLE, open::TABLE, push::TABLE, tree::TABLE, wait::TABLE]
    {
        cx.natives(table);
    }
}

/// A row of a table: an intrinsic that locks nothing.
const fn leaf(name: &'static str, args: u8, f: NativeFn) -> NativeDef {
    intrinsic(name, args, args as i8, f).guard(Guard::None)
}

/// The payload of an argument.
fn payload<'v, T: Payload>(cx: &mut Cx, v: &'v Value, what: &str) -> Result<&'v T, Exit> {
    match v.as_data::<T>() {
        Some(p) => Ok(p),
        None => {
            let found = cx.describe_type(*v);
            Err(cx.type_error(&format!("{found} is not {what}")))
        }
    }
}
