//! What other nodes say of collections, and when time passes. No cell is made or read here.
//!
//! **Invariant.** Bytes that come are hostile: what is no message of these, or comes from no member, changes nothing but a count.

use crate::part::Part;
use kumi_core_segments::Guest;
use kumi_link::Peer;
use kumi_schedule::{MAX_MESSAGE, Message};
use kumi_wire::Bytes;
use std::sync::Weak;

/// The first byte of each message, by which the guests of a connection know theirs.
pub const FIRST: u8 = 16;

/// What is sent.
pub fn encode(m: &Message) -> Bytes {
    let mut bytes = vec![FIRST];
    bytes.extend(m.encode());
    Bytes::from(bytes)
}

/// What came. `None`: it is another guest's. An error: it is nobody's.
pub fn decode(bytes: &[u8]) -> Option<Result<Message, ()>> {
    let rest = bytes.strip_prefix(&[FIRST])?;
    Some(if rest.len() > MAX_MESSAGE { Err(()) } else { Message::decode(rest).map_err(drop) })
}

/// See the module.
pub struct Listener(pub Weak<Part>);

impl Guest for Listener {
    fn takes(&self, kind: u8) -> bool {
        kind == FIRST
    }
    fn message(&self, peer: &Peer, bytes: Bytes) {
        if let Some(message) = decode(&bytes)
            && let Some(part) = self.0.upgrade()
        {
            part.message(peer.name(), message);
        }
    }
    fn connected(&self, _: &Peer) {
        self.members();
    }
    fn disconnected(&self, _: &str) {}
    fn came(&self, _: &str) {
        self.members();
    }
    fn lost(&self, _: &str, _: u64, _: bool) {
        self.members();
    }
    fn deadline(&self) -> Option<kumi_schedule::Time> {
        self.0.upgrade()?.deadline()
    }
    fn tick(&self, now: kumi_schedule::Time) {
        if let Some(part) = self.0.upgrade().filter(|p| p.is_due(now)) {
            part.tick();
        }
    }
    fn over(&self) {
        if let Some(part) = self.0.upgrade() {
            part.end();
        }
    }
}

impl Listener {
    /// There may be others than before.
    fn members(&self) {
        if let Some(part) = self.0.upgrade() {
            part.tick();
        }
    }
}
