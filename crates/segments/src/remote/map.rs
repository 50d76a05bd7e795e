//! Messages of one kind of value as those of another: a connection carries bytes, a node keeps what it likes.

use super::message::{Body, Call, Done, FromClient, FromOwner, Put, RemoteSegment, Reply, Store, Watch};
use crate::manager::Event;

impl<V> FromClient<V> {
    /// The same message with each value made another.
    ///
    /// # Errors
    /// The first that `f` gives.
    pub fn try_map<U, E>(self, mut f: impl FnMut(V) -> Result<U, E>) -> Result<FromClient<U>, E> {
        let body = match self.body {
            Body::Sync { number, upto, outstanding } => Body::Sync { number, upto, outstanding },
            Body::Call(n, call) => Body::Call(n, call.try_map(&mut f)?),
            Body::Receipts => Body::Receipts,
        };
        Ok(FromClient { incarnation: self.incarnation, owner: self.owner, session: self.session, got: self.got, body })
    }
    /// Shows each value.
    pub fn each_value(&self, f: impl FnMut(&V)) {
        if let Body::Call(_, call) = &self.body {
            call.each_value(f);
        }
    }
}

impl<V> Call<V> {
    /// The same with each value made another.
    ///
    /// # Errors
    /// The first that `f` gives.
    pub fn try_map<U, E>(self, f: &mut impl FnMut(V) -> Result<U, E>) -> Result<Call<U>, E> {
        Ok(match self {
            Call::Put(p) => Call::Put(Put { store: p.store.try_map(f)?, wait: p.wait }),
            Call::Get(ask) => Call::Get(ask),
            Call::Commit { leases, outputs } => {
                Call::Commit { leases, outputs: outputs.into_iter().map(|o| o.try_map(f)).collect::<Result<_, E>>()? }
            }
            Call::GiveBack { lease, left } => Call::GiveBack { lease, left: left.try_map(&mut *f)? },
            Call::Extend { leases, long } => Call::Extend { leases, long },
            Call::Leave(n) => Call::Leave(n),
            Call::Names { prefix, after, most } => Call::Names { prefix, after, most },
            Call::Stats(k) => Call::Stats(k),
            Call::Limit(k, n) => Call::Limit(k, n),
            Call::Watch(w) => Call::Watch(w),
        })
    }
    /// Shows each value.
    pub fn each_value(&self, mut f: impl FnMut(&V)) {
        match self {
            Call::Put(p) => f(&p.store.value),
            Call::Commit { outputs, .. } => outputs.iter().for_each(|o| f(&o.value)),
            Call::GiveBack { left, .. } => left.value().into_iter().for_each(f),
            Call::Get(_)
            | Call::Extend { .. }
            | Call::Leave(_)
            | Call::Names { .. }
            | Call::Stats(_)
            | Call::Limit(..)
            | Call::Watch(_) => {}
        }
    }
    /// The keys that the call names.
    pub fn keys(&self, mut f: impl FnMut(&[u8])) {
        match self {
            Call::Put(p) => f(&p.store.key),
            Call::Get(ask) => ask.inputs.iter().for_each(|i| f(&i.0)),
            Call::Commit { outputs, .. } => outputs.iter().for_each(|o| f(&o.key)),
            Call::Stats(k) | Call::Limit(k, _) | Call::Watch(Watch::Begin { key: k, .. }) => f(k),
            Call::GiveBack { .. } | Call::Extend { .. } | Call::Leave(_) | Call::Names { .. } | Call::Watch(_) => {}
        }
    }
}

impl<V> Store<V> {
    fn try_map<U, E>(self, f: &mut impl FnMut(V) -> Result<U, E>) -> Result<Store<U>, E> {
        let Store { key, update, value, owned, delay, ttl } = self;
        Ok(Store { key, update, value: f(value)?, owned, delay, ttl })
    }
}

impl<V> FromOwner<V> {
    /// The same message with each value made another.
    ///
    /// # Errors
    /// The first that `f` gives.
    pub fn try_map<U, E>(self, mut f: impl FnMut(V) -> Result<U, E>) -> Result<FromOwner<U>, E> {
        let body = match self.body {
            Reply::Answer(n, Ok(done)) => Reply::Answer(n, Ok(done.try_map(&mut f)?)),
            Reply::Answer(n, Err(r)) => Reply::Answer(n, Err(r)),
            Reply::Fenced => Reply::Fenced,
            Reply::Welcome { sync, session } => Reply::Welcome { sync, session },
        };
        Ok(FromOwner { incarnation: self.incarnation, client: self.client, sent: self.sent, body })
    }
    /// Shows each value.
    pub fn each_value(&self, mut f: impl FnMut(&V)) {
        match &self.body {
            Reply::Answer(_, Ok(Done::Segments(l))) => l.iter().for_each(|s| f(&s.value)),
            Reply::Answer(_, Ok(Done::Events(l))) => l.iter().filter_map(|e| e.value.as_ref()).for_each(f),
            _ => {}
        }
    }
}

impl<V> Done<V> {
    /// The same with each value made another.
    ///
    /// # Errors
    /// The first that `f` gives.
    pub fn try_map<U, E>(self, f: &mut impl FnMut(V) -> Result<U, E>) -> Result<Done<U>, E> {
        Ok(match self {
            Done::Segments(l) => Done::Segments(l.into_iter().map(|s| s.try_map(f)).collect::<Result<_, E>>()?),
            Done::Stored(i) => Done::Stored(i),
            Done::Nothing => Done::Nothing,
            Done::Ok => Done::Ok,
            Done::Left(i) => Done::Left(i),
            Done::Names(n) => Done::Names(n),
            Done::Stats(s) => Done::Stats(s),
            Done::Events(l) => Done::Events(l.into_iter().map(|e| e.try_map(f)).collect::<Result<_, E>>()?),
        })
    }
}

impl<V> RemoteSegment<V> {
    fn try_map<U, E>(self, f: &mut impl FnMut(V) -> Result<U, E>) -> Result<RemoteSegment<U>, E> {
        let RemoteSegment { index, value, owned, changed, deliveries, lease } = self;
        Ok(RemoteSegment { index, value: f(value)?, owned, changed, deliveries, lease })
    }
}

impl<V> Event<V> {
    fn try_map<U, E>(self, f: &mut impl FnMut(V) -> Result<U, E>) -> Result<Event<U>, E> {
        let Event { what, index, value, missed } = self;
        Ok(Event { what, index, value: value.map(f).transpose()?, missed })
    }
}
