//! What a node says in its `Hello` that it knows beyond the first version of this form. A message that needs it is not sent to who does
//! not say so: an older node would take it for garbage, and end the connection.

use kumi_segments::{Body, Call, FromClient};

/// No ability: the connection is the second one between these nodes, for large messages of the caller.
pub(crate) const SECOND: u64 = 1;
/// Watches of keys.
pub const WATCHES: u64 = 2;

/// [`Message::Other`](crate::Message::Other).
pub const OTHER: u64 = 4;

/// All that this node knows.
pub(crate) const KNOWN: u64 = WATCHES | OTHER;

/// What the other side is to know.
pub(crate) fn needed<V>(m: &FromClient<V>) -> u64 {
    match m.body {
        Body::Call(_, Call::Watch(_)) => WATCHES,
        _ => 0,
    }
}
