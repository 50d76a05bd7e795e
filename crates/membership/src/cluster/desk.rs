//! Where `foca` puts what it wants done.
//!
//! **Invariant.** Every timer that is kept has the token of the last one that was set: earlier ones would do nothing, and tokens of a
//! byte come again.

use super::clock::{Clock, Due};
use crate::action::Action;
use crate::member::{Member, Name};
use crate::packet::own_incarnation;
use foca::{Notification, Runtime, Timer, TimerToken};
use std::collections::VecDeque;
use std::time::Duration;

pub(super) struct Desk {
    pub(super) clock: Clock,
    pub(super) out: VecDeque<Action>,
    /// The token of SWIM's timers.
    pub(super) token: TimerToken,
    /// This node's SWIM incarnation, as it stood in the last packet.
    pub(super) incarnation: u16,
    /// Members that have just been suspected, and with which incarnation.
    pub(super) suspected: Vec<(Member, u16)>,
    /// SWIM's list may have changed since the table was made like it.
    pub(super) changed: bool,
    /// Or what it says of these members only.
    pub(super) touched: Vec<Name>,
}

impl Desk {
    pub(super) fn new(clock: Clock) -> Desk {
        Desk { clock, out: VecDeque::new(), token: 0, incarnation: 0, suspected: Vec::new(), changed: false, touched: Vec::new() }
    }

    pub(super) fn send(&mut self, to: &Member, bytes: Vec<u8>) {
        self.out.push_back(Action::Send { to: to.address().clone(), bytes });
    }
}

pub(super) fn ns(d: Duration) -> u64 {
    d.as_nanos().try_into().unwrap_or(u64::MAX)
}

fn token(timer: &Timer<Member>) -> Option<TimerToken> {
    match timer {
        Timer::ProbeRandomMember(t) | Timer::PeriodicAnnounce(t) | Timer::PeriodicGossip(t) | Timer::PeriodicAnnounceDown(t) => Some(*t),
        Timer::SendIndirectProbe { token, .. } | Timer::ChangeSuspectToDown { token, .. } => Some(*token),
        Timer::RemoveDown(_) => None,
    }
}

impl Runtime<Member> for Desk {
    /// What changed is seen by comparing, when the event is done.
    fn notify(&mut self, _: Notification<'_, Member>) {
        self.changed = true;
    }

    fn send_to(&mut self, to: Member, data: &[u8]) {
        self.incarnation = own_incarnation(data);
        self.send(&to, data.to_vec());
    }

    fn submit_after(&mut self, event: Timer<Member>, after: Duration) {
        if let Some(new) = token(&event).filter(|t| *t != self.token) {
            self.token = new;
            self.clock.retain(|due| !matches!(due, Due::Swim(t) if token(t) != Some(new)));
        }
        if let Timer::ChangeSuspectToDown { member_id, incarnation, .. } = &event {
            self.suspected.push((member_id.clone(), *incarnation));
        }
        self.clock.after(ns(after), Due::Swim(event));
    }
}
