//! Rows of the file's tables.
//!
//! **Invariant.** Whatever bytes a row has, reading it gives a row or nothing.

use super::value::{At, LARGE, Value};
use bytes::Bytes;
use kumi_segments::{KeyCounts, New, Segment, Time};
use std::num::NonZeroUsize;

/// The version of what stands in the file.
pub const VERSION: u64 = 1;

const OWNED: u8 = 1;
const CHANGED: u8 = 2;
const LATER: u8 = 4;
const IS_LARGE: u8 = 8;
const HAS_TIME: u8 = 16;
const HAS_TTL: u8 = 32;

/// What stands at a place. Times are those of the wall clock here, in nanoseconds since 1970: no other clock outlives a machine's start.
pub enum Row {
    Stands(Segment<Value>, Option<Time>),
    Later(New<Value>),
}

/// Does the value of this row stand in the table of large ones?
pub fn is_large(row: &[u8]) -> bool {
    row.first().is_some_and(|f| f & IS_LARGE != 0)
}

pub fn of_segment(s: &Segment<Value>, ends: Option<Time>) -> Vec<u8> {
    let flags = flag(s.owned, OWNED) | flag(s.changed, CHANGED);
    write(flags, s.deliveries, s.index, ends, None, &s.value)
}

pub fn of_later(new: &New<Value>) -> Vec<u8> {
    write(flag(new.owned, OWNED) | LATER, 0, 0, new.not_before, new.ttl, &new.value)
}

fn flag(is: bool, bit: u8) -> u8 {
    if is { bit } else { 0 }
}

fn write(flags: u8, deliveries: u32, index: u64, time: Option<Time>, ttl: Option<Time>, value: &Value) -> Vec<u8> {
    let mut row = Vec::with_capacity(40);
    let large = matches!(value, Value::Large(_));
    row.push(flags | flag(large, IS_LARGE) | flag(time.is_some(), HAS_TIME) | flag(ttl.is_some(), HAS_TTL));
    row.extend(deliveries.to_le_bytes());
    row.extend(index.to_le_bytes());
    for t in time.into_iter().chain(ttl) {
        row.extend(t.to_le_bytes());
    }
    match value {
        Value::Small(b) => row.extend_from_slice(b),
        Value::Large(l) => row.extend((l.len as u64).to_le_bytes()),
    }
    row
}

/// `None`: this is no row.
pub fn read(mut row: &[u8], at: At) -> Option<Row> {
    let flags = *row.split_off_first()?;
    let deliveries = u32::from_le_bytes(take(&mut row)?);
    let index = u64::from_le_bytes(take(&mut row)?);
    let mut time = |bit| if flags & bit == 0 { Some(None) } else { take(&mut row).map(|t| Some(u64::from_le_bytes(t))) };
    let (at_time, ttl) = (time(HAS_TIME)?, time(HAS_TTL)?);
    let value = if flags & IS_LARGE == 0 {
        if row.len() > LARGE {
            return None;
        }
        Value::new(Bytes::copy_from_slice(row))
    } else {
        let len = usize::try_from(u64::from_le_bytes(take(&mut row)?)).ok()?;
        if !row.is_empty() || len <= LARGE {
            return None;
        }
        Value::on_disk(len, at)
    };
    let owned = flags & OWNED != 0;
    Some(if flags & LATER != 0 {
        Row::Later(New { value, owned, not_before: at_time, ttl })
    } else {
        Row::Stands(Segment { index, value, owned, changed: flags & CHANGED != 0, deliveries }, at_time)
    })
}

/// A key's number in the file, and what its future depends on.
pub fn of_key(number: u64, c: &KeyCounts) -> [u8; 32] {
    let limit = c.limit.map_or(0, |l| l.get() as u64);
    let mut row = [0; 32];
    for (part, n) in row.chunks_exact_mut(8).zip([number, c.last_index, c.last_place, limit]) {
        part.copy_from_slice(&n.to_le_bytes());
    }
    row
}

pub fn read_key(mut row: &[u8]) -> Option<(u64, KeyCounts)> {
    let mut n = || take(&mut row).map(u64::from_le_bytes);
    let (number, last_index, last_place, limit) = (n()?, n()?, n()?, n()?);
    let limit = NonZeroUsize::new(usize::try_from(limit).unwrap_or(usize::MAX));
    // Counters go on from here and must have where to.
    let sound = row.is_empty() && last_index < u64::MAX / 2 && last_place < u64::MAX / 2;
    sound.then_some((number, KeyCounts { last_index, last_place, limit }))
}

fn take<const N: usize>(row: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = row.split_first_chunk()?;
    *row = rest;
    Some(*first)
}
