//! What a client says.

use super::{CALLS, In, Out, PARTS};
use bytes::Bytes;
use kumi_segments::{Ask, Back, Body, Call, FromClient, Kind, OUTPUTS, Put, Watch};
use kumi_wire::WireError;

const SYNC: u8 = 1;
const RECEIPTS: u8 = 2;
const PUT: u8 = 3;
const GET: u8 = 4;
const COMMIT: u8 = 5;
const GIVE_BACK: u8 = 6;
const EXTEND: u8 = 7;
const LEAVE: u8 = 8;
const NAMES: u8 = 9;
const STATS: u8 = 10;
const LIMIT: u8 = 11;
const WATCH: u8 = 12;
const NEXT: u8 = 13;
const UNWATCH: u8 = 14;

/// Behind one that is given back.
const UNSEEN: u8 = 1;

/// Appends a client's message to `out`, which is empty.
pub fn encode_client(m: &FromClient<Bytes>, out: &mut Out) {
    out.fields().fixed(m.incarnation).fixed(m.owner).number(m.session);
    out.numbers(&m.got);
    match &m.body {
        Body::Sync { number, upto, outstanding } => {
            out.fields().byte(SYNC).number(*number).number(*upto);
            out.numbers(outstanding);
        }
        Body::Receipts => {
            out.fields().byte(RECEIPTS);
        }
        Body::Call(number, call) => self::call(*number, call, out),
    }
}

fn call(number: u64, call: &Call<Bytes>, out: &mut Out) {
    let mut begin = |tag: u8| {
        out.fields().byte(tag).number(number);
    };
    match call {
        Call::Put(Put { store, wait }) => {
            begin(PUT);
            out.fields().flag(*wait);
            out.store(store);
        }
        Call::Get(Ask { inputs, lease, wait }) => {
            begin(GET);
            out.fields().flag(*wait).flag(lease.is_some()).number(lease.unwrap_or(0)).number(inputs.len() as u64);
            for (key, kind, after) in inputs {
                let flags = u8::from(*kind == Kind::Take) | u8::from(after.is_some()) << 1;
                out.fields().byte(flags).bytes(key);
                if let Some(after) = after {
                    out.fields().number(*after);
                }
            }
        }
        Call::Commit { leases, outputs } => {
            begin(COMMIT);
            fixed(leases, out);
            out.fields().number(outputs.len() as u64);
            outputs.iter().for_each(|o| out.store(o));
        }
        Call::GiveBack { lease, left } => {
            begin(GIVE_BACK);
            out.fields().fixed(*lease).flag(left.value().is_some());
            match left {
                Back::Same => {}
                Back::Changed(left) => out.value(left),
                // Older ones do not read it.
                Back::Unseen => _ = out.fields().byte(UNSEEN),
            }
        }
        Call::Extend { leases, long } => {
            begin(EXTEND);
            fixed(leases, out);
            out.fields().number(*long);
        }
        Call::Leave(earlier) => {
            begin(LEAVE);
            out.fields().number(*earlier);
        }
        Call::Names { prefix, after, most } => {
            begin(NAMES);
            out.fields().bytes(prefix).flag(after.is_some()).bytes(after.as_deref().unwrap_or(&[])).number((*most).into());
        }
        Call::Stats(key) => {
            begin(STATS);
            out.fields().bytes(key);
        }
        Call::Limit(key, limit) => {
            begin(LIMIT);
            out.fields().bytes(key).number(*limit);
        }
        Call::Watch(Watch::Begin { watch, key, most }) => {
            begin(WATCH);
            out.fields().number(*watch).bytes(key).number(*most);
        }
        Call::Watch(Watch::Next(watch)) => {
            begin(NEXT);
            out.fields().number(*watch);
        }
        Call::Watch(Watch::End(watch)) => {
            begin(UNWATCH);
            out.fields().number(*watch);
        }
    }
}

/// Leases: their numbers look random.
fn fixed(leases: &[u64], out: &mut Out) {
    let mut fields = out.fields();
    fields.number(leases.len() as u64);
    for l in leases {
        fields.fixed(*l);
    }
}

/// A client's message.
pub fn decode_client(payload: &Bytes) -> Result<FromClient<Bytes>, WireError> {
    let mut i = In::new(payload)?;
    let (incarnation, owner, session) = (i.fields.fixed()?, i.fields.fixed()?, i.fields.number()?);
    let got = i.numbers(CALLS)?;
    let body = match i.fields.byte()? {
        SYNC => Body::Sync { number: i.fields.number()?, upto: i.fields.number()?, outstanding: i.numbers(CALLS)? },
        RECEIPTS => Body::Receipts,
        tag => Body::Call(i.fields.number()?, the_call(tag, &mut i)?),
    };
    Ok(FromClient { incarnation, owner, session, got, body })
}

fn the_call(tag: u8, i: &mut In<'_>) -> Result<Call<Bytes>, WireError> {
    let leases = |i: &mut In<'_>| i.list(PARTS, |i| i.fields.fixed());
    Ok(match tag {
        PUT => {
            let wait = i.fields.flag()?;
            Call::Put(Put { store: i.store()?, wait })
        }
        GET => {
            let (wait, leased, long) = (i.fields.flag()?, i.fields.flag()?, i.fields.number()?);
            let inputs = i.list(PARTS, |i| {
                let flags = i.fields.byte()?;
                if flags > 3 {
                    return i.wrong("flags that mean nothing");
                }
                let key = i.key()?;
                let after = if flags & 2 != 0 { Some(i.fields.number()?) } else { None };
                Ok((key, if flags & 1 != 0 { Kind::Take } else { Kind::Peek }, after))
            })?;
            Call::Get(Ask { inputs, lease: leased.then_some(long), wait })
        }
        COMMIT => Call::Commit { leases: leases(i)?, outputs: i.list(OUTPUTS as u64, In::store)? },
        GIVE_BACK => {
            let (lease, changed) = (i.fields.fixed()?, i.fields.flag()?);
            let left = match changed {
                true => Back::Changed(i.value()?),
                false if !i.fields.is_empty() && i.fields.byte()? == UNSEEN => Back::Unseen,
                false => Back::Same,
            };
            Call::GiveBack { lease, left }
        }
        EXTEND => Call::Extend { leases: leases(i)?, long: i.fields.number()? },
        LEAVE => Call::Leave(i.fields.number()?),
        NAMES => {
            let prefix = i.key()?;
            let behind = i.fields.flag()?;
            let after = i.key()?;
            let most = i.fields.number_to(u32::MAX.into())? as u32;
            Call::Names { prefix, after: behind.then_some(after), most }
        }
        STATS => Call::Stats(i.key()?),
        LIMIT => Call::Limit(i.key()?, i.fields.number()?),
        WATCH => Call::Watch(Watch::Begin { watch: i.fields.number()?, key: i.key()?, most: i.fields.number()? }),
        NEXT => Call::Watch(Watch::Next(i.fields.number()?)),
        UNWATCH => Call::Watch(Watch::End(i.fields.number()?)),
        _ => return i.wrong("a request of an unknown kind"),
    })
}
