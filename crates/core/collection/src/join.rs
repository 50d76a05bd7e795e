//! One batch of a symmetric hash join: the loop of `InnerJoin` in lib/kumihimo/flow/join/inner.rb, which says what the
//! tables hold and takes over where this stops.
//!
//! Invariant: an element is handled wholly or not at all. The loop stops before the first one that Ruby must handle, with
//! nothing changed for it.

use kumi_vm::hash_key::spread;
use kumi_vm::*;

/// The batch is from the left input; a pair's first element is the left one.
const LEFT: i64 = 1;
/// Keys are unique in the batch's input, in the other one.
const OWN_UNIQUE: i64 = 2;
const OTHER_UNIQUE: i64 = 4;
/// Results are pushed as two elements each, not as an Array of two.
const FLAT: i64 = 8;
/// nil is a key like others.
const NILS: i64 = 16;
/// A bucket with more elements is Ruby's: a native is short.
const MANY: usize = 1024;
/// So many results are enough for one call.
const ENOUGH: usize = 8192;

/// `__join_keys(batch, name)`: the value of that reader for each element, or nil when Ruby must be asked.
fn join_keys(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (Some(batch), Some(name)) = (args[0].as_array(), args[1].as_sym()) else { return Ok(Value::NIL) };
    let batch = batch.seen();
    let mut keys = Vec::with_capacity(batch.len());
    for element in batch {
        match cx.plain_read(element, name) {
            Some(key) => keys.push(key),
            None => return Ok(Value::NIL),
        }
    }
    Ok(cx.array_vec(keys))
}

/// The pieces of a call that don't change.
struct Step {
    own: Option<Gc<HashObj>>,
    others: Gc<HashObj>,
    bucket: Gc<ClassObj>,
    out: Gc<ArrayObj>,
    flags: i64,
}

/// `__join_batch(batch, keys, from, own, others, bucket, out, flags)`: joins the elements from index `from` on. The index of
/// the first that was not handled; as `-1 - index` if that one needs Ruby.
fn join_batch(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (Some(batch), Some(keys), Some(others)) = (args[0].as_array(), args[1].as_array(), args[4].as_hash()) else {
        return Err(Exit::Miss);
    };
    let (Some(bucket), Some(out)) = (args[5].as_class(), args[6].as_array()) else { return Err(Exit::Miss) };
    let from = cx.arg_i64(args, 2)?;
    let flags = cx.arg_i64(args, 7)?;
    let step = Step { own: args[3].as_hash(), others, bucket, out, flags };
    let enough = out.len().saturating_add(ENOUGH);
    let mut i = from.max(0) as usize;
    while let (Some(element), Some(key)) = (batch.get(i), keys.get(i)) {
        if step.out.len() >= enough {
            break;
        }
        if (!key.is_nil() || step.is(NILS)) && !step.one(cx, element, key)? {
            return Ok(Value::fix(-1 - i as i64));
        }
        i += 1;
    }
    Ok(Value::fix(i as i64))
}

impl Step {
    fn is(&self, flag: i64) -> bool {
        self.flags & flag != 0
    }
    fn bucket(&self, v: Value) -> Option<Gc<ArrayObj>> {
        v.as_array().filter(|a| a.hdr.class() == self.bucket.val())
    }

    /// One element; false when Ruby must handle it.
    fn one(&self, cx: &mut Cx, element: Value, key: Value) -> Result<bool, Exit> {
        let Some(hash) = cx.plain_hash(key).map(spread) else { return Ok(false) };
        let Ok(met) = cx.hash_find_with(self.others, key, hash) else { return Ok(false) };
        let matched = match met {
            Some(at) => self.others.h.at(at).map(|e| (at, e.val)),
            None => None,
        };
        let bucket = matched.and_then(|(_, v)| self.bucket(v));
        let many = bucket.as_ref().map(|own| own.seen());
        if many.is_some_and(|b| b.len() > MANY) {
            return Ok(false);
        }
        let own = self.own.filter(|_| !(matched.is_some() && self.is(OTHER_UNIQUE)));
        let place = match own {
            None => None,
            Some(own) => match cx.hash_find_with(own, key, hash) {
                Ok(Some(_)) if self.is(OWN_UNIQUE) => return Ok(false),
                Ok(place) => Some((own, place)),
                Err(_) => return Ok(false),
            },
        };
        // From here on nothing can stop it.
        if let Some((at, other)) = matched {
            match many {
                None => self.give(cx, element, other),
                Some(b) => b.iter().for_each(|other| self.give(cx, element, other)),
            }
            if self.is(OWN_UNIQUE) {
                cx.heap.edit(self.others).h.remove_at(at);
            }
        }
        match place {
            None => {}
            Some((own, None)) => {
                let held = if element.truthy() { element } else { self.new_bucket(cx, own, &[element]) };
                cx.hash_push(own, hash, key, held)?;
            }
            Some((own, Some(at))) => {
                let held = own.h.at(at).map_or(Value::NIL, |e| e.val);
                match self.bucket(held) {
                    Some(bucket) => cx.push(bucket, element),
                    None => {
                        let bucket = self.new_bucket(cx, own, &[held, element]);
                        cx.heap.before_store(own.val(), bucket);
                        cx.heap.edit(own).h.set_val(at, bucket);
                    }
                }
            }
        }
        Ok(true)
    }

    /// A bucket that lies where the table does: it has another life than the pairs that are made here too.
    fn new_bucket(&self, cx: &mut Cx, own: Gc<HashObj>, elements: &[Value]) -> Value {
        cx.beside(own.val(), |cx| cx.heap.array(self.bucket.val(), elements).val())
    }

    fn give(&self, cx: &mut Cx, element: Value, other: Value) {
        let pair = if self.is(LEFT) { [element, other] } else { [other, element] };
        if self.is(FLAT) {
            cx.push(self.out, pair[0]);
            cx.push(self.out, pair[1]);
        } else {
            let pair = cx.array(&pair);
            cx.push(self.out, pair);
        }
    }
}

pub static TABLE: &[NativeDef] = &[intrinsic("__join_keys", 2, 2, join_keys), intrinsic("__join_batch", 8, 8, join_batch)];
