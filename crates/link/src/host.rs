//! Who serves: what the link tells.

use crate::channel::Peer;
use crate::error::Why;
use crate::link::Link;
use bytes::Bytes;
use kumi_membership::{Member, Why as Gone};
use kumi_segments::{FromClient, FromOwner, Time};
use kumi_wire::Trace;

/// Whoever serves what comes. All calls come one at a time and in order, from the link's thread or from one that
/// [attends](crate::Link::attend), and none of the link's locks is held but that of serving: a host may send, connect and look, and may
/// stop the link. A call that takes long keeps all peers waiting; one that panics ends the link.
///
/// Messages that it sends while it is called go out when it returns.
pub trait Host: Send + Sync {
    /// The link serves from now on.
    fn started(&self, link: &Link) {
        let _ = link;
    }
    /// The link's own thread sleeps from now on between messages; or does so no more: it looks for them. Called by that thread.
    fn sleeps(&self, on: bool) {
        let _ = on;
    }
    /// A client's message.
    fn from_client(&self, peer: &Peer, message: FromClient<Bytes>);
    /// An owner's message.
    fn from_owner(&self, peer: &Peer, message: FromOwner<Bytes>);
    /// A client's message with its trace context.
    fn from_client_traced(&self, peer: &Peer, m: FromClient<Bytes>, trace: Option<Trace>) {
        let _ = trace;
        self.from_client(peer, m);
    }
    /// An owner's message with its trace context.
    fn from_owner_traced(&self, peer: &Peer, m: FromOwner<Bytes>, trace: Option<Trace>) {
        let _ = trace;
        self.from_owner(peer, m);
    }
    /// A message that only the hosts understand ([`Message::Other`](crate::Message::Other)).
    fn other(&self, peer: &Peer, bytes: Bytes) {
        let _ = (peer, bytes);
    }
    /// A connection is there. What was sent on one before, and not answered, may be lost.
    fn connected(&self, peer: &Peer);
    /// The connection is gone.
    fn disconnected(&self, peer: &Peer, why: &Why);
    /// A connection that was not made, or ended before its handshake did; where to, or where from.
    fn refused(&self, with: &str, why: &Why) {
        let _ = (with, why);
    }
    /// Much of what waited for a peer has gone ([`Peer::backlog`], [`Link::when_drained`]).
    fn drained(&self, peer: &Peer) {
        let _ = peer;
    }
    /// A member is there.
    fn member_up(&self, member: &Member) {
        let _ = member;
    }
    /// A member may be gone.
    fn member_suspect(&self, member: &Member) {
        let _ = member;
    }
    /// A suspected member lives.
    fn member_refuted(&self, member: &Member) {
        let _ = member;
    }
    /// This life of a member is over.
    fn member_down(&self, member: &Member, why: Gone) {
        let _ = (member, why);
    }
    /// The others took this node for gone: it goes on under a later incarnation.
    fn rejoined(&self, me: &Member) {
        let _ = me;
    }
    /// Another node has this one's name and keeps it. This one is out of the cluster.
    fn conflict(&self, holder: &Member) {
        let _ = holder;
    }
    /// Gossip was refused: of whom, and why.
    fn gossip_refused(&self, from: &str, why: &kumi_membership::Reject) {
        let _ = (from, why);
    }
    /// When [`tick`](Host::tick) is to be called. It is asked after each round of events; [`Link::nudge`] has it asked anew.
    fn deadline(&self) -> Option<Time> {
        None
    }
    /// The deadline has come. `now`: see [`now`](crate::now).
    fn tick(&self, now: Time) {
        let _ = now;
    }
}
