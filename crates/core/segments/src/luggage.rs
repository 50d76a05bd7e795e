//! References in values of segments: who carries them is somebody else's affair ([`Porter`]).
//!
//! **Invariant.** What references stand for is held as long as the cell of the encoded value is, and goes wherever the bytes go: each
//! message that carries the bytes carries it as well, packed for whoever gets it.
//!
//! In a message such a value is a byte that begins no value, the length of what is packed (four bytes, the highest first), what is
//! packed, and the value.

use crate::encode::{self, Staying};
use crate::leaf;
use kumi_vm::*;
use kumi_wire::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;

/// What references of one value stand for. It may be dropped under any lock.
pub trait Luggage: Send + Sync {
    /// May it be packed for that node now? It has to be known that the node takes references.
    fn may_go(&self, to: &str) -> bool;
    /// What is to be told to that node before the value. Packed anew for each message. What can't be handed over is of no use there.
    fn pack(&self, to: &str) -> Vec<u8>;
    /// So many bytes that has at most.
    fn most(&self) -> usize;
    /// The objects, in the order of their numbers in the value.
    ///
    /// # Errors
    /// What the natives of references raise.
    fn values(&self, cx: &mut Cx) -> Result<Vec<Value>, Exit>;
}

/// Who knows what references stand for, in this runtime.
pub trait Porter: Send + Sync {
    /// What travels as a reference; nothing does any more where this program is no node.
    fn staying(&self) -> Option<&'static Staying>;
    /// Objects that stay, in a value that was just encoded.
    ///
    /// # Errors
    /// What the natives of references raise.
    fn hold(&self, cx: &mut Cx, stays: Vec<Value>) -> Result<Arc<dyn Luggage>, Exit>;
}

#[derive(Default)]
struct Here(Mutex<Option<Arc<dyn Porter>>>);

/// From now on it is this one.
pub fn carry(cx: &mut Cx, porter: Arc<dyn Porter>) {
    *cx.shared_state::<Here>().0.lock() = Some(porter);
}
fn porter(cx: &Cx) -> Option<(Arc<dyn Porter>, &'static Staying)> {
    let porter = cx.state_seen::<Here>()?.0.lock().clone()?;
    let staying = porter.staying()?;
    Some((porter, staying))
}

/// MessagePack never uses it.
const MARK: u8 = 0xc1;
const HEAD: usize = 5;

/// A value as a message carries it.
pub fn joined(luggage: Option<&Arc<dyn Luggage>>, to: &str, value: &Bytes) -> Bytes {
    let Some(luggage) = luggage else { return value.clone() };
    join(&luggage.pack(to), value)
}

fn join(packed: &[u8], value: &[u8]) -> Bytes {
    let mut whole = Vec::with_capacity(HEAD + packed.len() + value.len());
    whole.push(MARK);
    whole.extend_from_slice(&(packed.len() as u32).to_be_bytes());
    whole.extend_from_slice(packed);
    whole.extend_from_slice(value);
    Bytes::from(whole)
}

/// What is packed, and the value. `None`: it has no references.
///
/// # Errors
/// It begins as one that has, and is none.
pub fn split(whole: &Bytes) -> Result<Option<(Bytes, Bytes)>, &'static str> {
    if whole.first() != Some(&MARK) {
        return Ok(None);
    }
    let wrong = "a value with references that ends before them";
    let length = whole.get(1..HEAD).and_then(|b| <[u8; 4]>::try_from(b).ok()).ok_or(wrong)?;
    let end = HEAD + u32::from_be_bytes(length) as usize;
    if whole.len() <= end {
        return Err(wrong);
    }
    Ok(Some((whole.slice(HEAD..end), whole.slice(end..))))
}

/// The bytes of a value, and what references in it stand for.
///
/// # Errors
/// `NotTransferable` where a part can't travel.
pub fn encode(cx: &mut Cx, v: Value) -> Result<(Vec<u8>, Option<Arc<dyn Luggage>>), Exit> {
    let Some((porter, staying)) = porter(cx) else { return Ok((encode::encode(cx, v)?, None)) };
    let (bytes, stays) = encode::encode_with(cx, v, staying)?;
    if stays.is_empty() {
        return Ok((bytes, None));
    }
    Ok((bytes, Some(porter.hold(cx, stays)?)))
}

/// `__seg_rehearse(value)`: can it travel to another node, as references do? True: there are some in it. Records of streams are read
/// as for `__seg_encode`.
fn rehearse(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let staying = porter(cx).map(|p| p.1);
    encode::rehearse(cx, a[0], staying).map(Value::bool)
}
/// `__seg_refers(value)`: the same, and false at once where nothing travels as a reference.
fn refers(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match porter(cx).map(|p| p.1) {
        None => Ok(Value::FALSE),
        some => encode::rehearse(cx, a[0], some).map(Value::bool),
    }
}
pub static TABLE: &[NativeDef] = &[leaf("__seg_rehearse", 1, rehearse), leaf("__seg_refers", 1, refers)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_is_split_and_nothing_else_is() {
        let whole = join(b"packed", b"value");
        let (packed, value) = split(&whole).unwrap().unwrap();
        assert_eq!((&packed[..], &value[..]), (&b"packed"[..], &b"value"[..]));
        assert!(split(&Bytes::from_static(b"\x93abc")).unwrap().is_none());
        assert!(split(&Bytes::new()).unwrap().is_none());
        // Each of its beginnings is refused: a value has a byte at least.
        for n in 1..=whole.len() - value.len() {
            assert!(split(&whole.slice(..n)).is_err(), "{n}");
        }
        let mut long = whole.to_vec();
        long[1] = 0xff;
        assert!(split(&Bytes::from(long)).is_err());
    }
}
