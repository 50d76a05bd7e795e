//! What an owner says.

use super::{In, NAMES as NAMES_MAX, Out, PARTS};
use bytes::Bytes;
use kumi_segments::{Done, Event, FromOwner, KeyStats, Refusal, RemoteSegment, Reply, Stored, What};
use kumi_wire::WireError;

const WELCOME: u8 = 1;
const FENCED: u8 = 2;
const STORED: u8 = 3;
const SEGMENTS: u8 = 4;
const NOTHING: u8 = 5;
const OK: u8 = 6;
const LEFT: u8 = 7;
const NAMES: u8 = 8;
const STATS: u8 = 9;
const REFUSED: u8 = 10;
const EVENTS: u8 = 11;

pub(super) const WHATS: [What; 5] = [What::Put, What::Update, What::Taken, What::Back, What::Ended];

const FULL: u8 = 1;
const LEASE_OVER: u8 = 2;
const STALE: u8 = 3;
const QUOTA: u8 = 4;
const BAD: u8 = 5;
const LEAVING: u8 = 6;
const MOVED: u8 = 7;
const NOT_ALLOWED: u8 = 8;

/// Appends an owner's message to `out`, which is empty.
pub fn encode_owner(m: &FromOwner<Bytes>, out: &mut Out) {
    out.fields().fixed(m.incarnation).fixed(m.client).number(m.sent);
    let (number, result) = match &m.body {
        Reply::Welcome { sync, session } => {
            out.fields().byte(WELCOME).flag(sync.is_some()).number(sync.unwrap_or(0)).number(*session);
            return;
        }
        Reply::Fenced => {
            out.fields().byte(FENCED);
            return;
        }
        Reply::Answer(number, result) => (*number, result),
    };
    let mut begin = |tag: u8| {
        out.fields().byte(tag).number(number);
    };
    match result {
        Ok(Done::Stored(index)) => {
            begin(STORED);
            out.fields().flag(index.is_some()).number(index.unwrap_or(0));
        }
        Ok(Done::Segments(segments)) => {
            begin(SEGMENTS);
            out.fields().number(segments.len() as u64);
            for s in segments {
                let flags = u8::from(s.owned) | u8::from(s.changed) << 1 | u8::from(s.lease.is_some()) << 2;
                out.fields().byte(flags).number(s.index).number(s.deliveries.into());
                if let Some(lease) = s.lease {
                    out.fields().fixed(lease);
                }
                out.value(&s.value);
            }
        }
        Ok(Done::Nothing) => begin(NOTHING),
        Ok(Done::Ok) => begin(OK),
        Ok(Done::Left(stored)) => {
            begin(LEFT);
            match stored {
                None => out.fields().byte(0).number(0),
                Some(Stored::Later) => out.fields().byte(1).number(0),
                Some(Stored::At(index)) => out.fields().byte(2).number(*index),
            };
        }
        Ok(Done::Names(names)) => {
            begin(NAMES);
            let mut fields = out.fields();
            fields.number(names.len() as u64);
            for n in names {
                fields.bytes(n);
            }
        }
        Ok(Done::Stats(s)) => {
            begin(STATS);
            let mut fields = out.fields();
            let KeyStats { segments, delayed, leased, waiting, waiting_puts, last_index, limit } = *s;
            for n in [segments, delayed, leased, waiting, waiting_puts] {
                fields.number(n as u64);
            }
            fields.number(last_index).number(limit.map_or(0, |l| l.get() as u64));
        }
        Ok(Done::Events(events)) => {
            begin(EVENTS);
            out.fields().number(events.len() as u64);
            for e in events {
                let what = WHATS.iter().position(|w| *w == e.what).unwrap_or(0) as u8;
                out.fields().byte(what | u8::from(e.value.is_some()) << 3).number(e.index).number(e.missed);
                e.value.iter().for_each(|v| out.value(v));
            }
        }
        Err(refusal) => {
            begin(REFUSED);
            let mut fields = out.fields();
            match refusal {
                Refusal::Full => fields.byte(FULL),
                Refusal::LeaseOver => fields.byte(LEASE_OVER),
                Refusal::Stale { last } => fields.byte(STALE).number(*last),
                Refusal::Quota => fields.byte(QUOTA),
                Refusal::Bad => fields.byte(BAD),
                Refusal::Leaving => fields.byte(LEAVING),
                Refusal::Moved => fields.byte(MOVED),
                Refusal::NotAllowed => fields.byte(NOT_ALLOWED),
            };
        }
    }
}

/// An owner's message.
pub fn decode_owner(payload: &Bytes) -> Result<FromOwner<Bytes>, WireError> {
    let mut i = In::new(payload)?;
    let (incarnation, client, sent) = (i.fields.fixed()?, i.fields.fixed()?, i.fields.number()?);
    let body = match i.fields.byte()? {
        WELCOME => {
            let (answers, number) = (i.fields.flag()?, i.fields.number()?);
            Reply::Welcome { sync: answers.then_some(number), session: i.fields.number()? }
        }
        FENCED => Reply::Fenced,
        tag => Reply::Answer(i.fields.number()?, result(tag, &mut i)?),
    };
    Ok(FromOwner { incarnation, client, sent, body })
}

fn result(tag: u8, i: &mut In<'_>) -> Result<Result<Done<Bytes>, Refusal>, WireError> {
    let done = match tag {
        STORED => {
            let (entered, index) = (i.fields.flag()?, i.fields.number()?);
            Done::Stored(entered.then_some(index))
        }
        SEGMENTS => Done::Segments(i.list(PARTS, segment)?),
        NOTHING => Done::Nothing,
        OK => Done::Ok,
        LEFT => Done::Left(match (i.fields.byte()?, i.fields.number()?) {
            (0, _) => None,
            (1, _) => Some(Stored::Later),
            (2, index) => Some(Stored::At(index)),
            _ => return i.wrong("flags that mean nothing"),
        }),
        NAMES => Done::Names(i.list(NAMES_MAX, In::key)?),
        STATS => {
            let mut size = || i.fields.number().map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            let (segments, delayed, leased, waiting, waiting_puts) = (size()?, size()?, size()?, size()?, size()?);
            let last_index = i.fields.number()?;
            let limit = usize::try_from(i.fields.number()?).unwrap_or(usize::MAX);
            Done::Stats(KeyStats { segments, delayed, leased, waiting, waiting_puts, last_index, limit: limit.try_into().ok() })
        }
        EVENTS => Done::Events(i.list(PARTS, event)?),
        REFUSED => {
            return Ok(Err(match i.fields.byte()? {
                FULL => Refusal::Full,
                LEASE_OVER => Refusal::LeaseOver,
                STALE => Refusal::Stale { last: i.fields.number()? },
                QUOTA => Refusal::Quota,
                BAD => Refusal::Bad,
                LEAVING => Refusal::Leaving,
                MOVED => Refusal::Moved,
                NOT_ALLOWED => Refusal::NotAllowed,
                _ => return i.wrong("a refusal of an unknown kind"),
            }));
        }
        _ => return i.wrong("an answer of an unknown kind"),
    };
    Ok(Ok(done))
}

fn event(i: &mut In<'_>) -> Result<Event<Bytes>, WireError> {
    let flags = i.fields.byte()?;
    let Some(&what) = WHATS.get(usize::from(flags & 7)).filter(|_| flags <= 15) else { return i.wrong("flags that mean nothing") };
    let (index, missed) = (i.fields.number()?, i.fields.number()?);
    Ok(Event { what, index, value: if flags & 8 != 0 { Some(i.value()?) } else { None }, missed })
}

fn segment(i: &mut In<'_>) -> Result<RemoteSegment<Bytes>, WireError> {
    let flags = i.fields.byte()?;
    if flags > 7 {
        return i.wrong("flags that mean nothing");
    }
    let (index, deliveries) = (i.fields.number()?, i.fields.number_to(u32::MAX.into())? as u32);
    let lease = if flags & 4 != 0 { Some(i.fields.fixed()?) } else { None };
    Ok(RemoteSegment { index, value: i.value()?, owned: flags & 1 != 0, changed: flags & 2 != 0, deliveries, lease })
}
