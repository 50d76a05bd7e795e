//! Membership over the connections: its packets go on their control lanes.

use super::Server;
use super::line::{Line, Phase};
use crate::channel::kind;
use crate::error::code;
use kumi_membership::{Action, Config, Member, Why as Gone};
use kumi_segments::Time;
use kumi_wire::Reason;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Server {
    /// Does what membership wants done, and tells what it wants known.
    pub(super) fn gossip(&mut self, at: Time) {
        while let Some(action) = self.membership.poll() {
            let changes = !matches!(action, Action::Send { .. } | Action::Rejected { .. } | Action::Conflict { .. });
            if changes {
                *self.shared.members.lock() = self.membership.members().into();
            }
            match action {
                Action::Send { to, bytes } => self.pass_on(at, &to, bytes),
                Action::Up(member) => {
                    if self.within && !super::is_local(member.address()) {
                        self.within = false;
                        self.membership.set_patience(at, Config::lan().patient(self.shared.patience));
                    }
                    self.host.member_up(&member);
                    self.confirmed(at, &member);
                    let peer = self.shared.peers.read().get(member.name()).cloned();
                    if let Some(peer) = peer.filter(|p| p.is_wanted()) {
                        self.connect(at, &peer);
                    }
                }
                Action::Suspect(member) => self.host.member_suspect(&member),
                Action::Refuted(member) => self.host.member_refuted(&member),
                Action::Down(member, why) => {
                    self.host.member_down(&member, why);
                    if why == Gone::Failed {
                        self.give_up(at, &member);
                    }
                }
                Action::Rejoined(me) => {
                    *self.shared.me.lock() = me.clone();
                    self.host.rejoined(&me);
                }
                Action::Conflict { holder, .. } => self.host.conflict(&holder),
                Action::Rejected { from, reason } => self.host.gossip_refused(&from, &reason),
            }
        }
    }

    /// The connection to a member that has failed ends, for it may only have stood still: then both begin anew on another one.
    fn give_up(&mut self, at: Time, member: &Member) {
        let to_it = |l: &Line| l.phase == Phase::Open && l.name() == &**member.name() && l.incarnation() <= member.incarnation();
        if let Some(token) = self.lines.iter().find(|(_, l)| to_it(l)).map(|x| *x.0) {
            let text = format!("node {} gave no sign for too long", member.name());
            self.refuse(at, token, Reason { code: code::SILENT, text });
        }
    }

    /// A packet for whoever is reached there. It may be lost.
    fn pass_on(&mut self, at: Time, to: &Arc<str>, bytes: Vec<u8>) {
        match self.routes.get(to) {
            Some(token) => self.say(*token, kind::GOSSIP, &bytes),
            None if self.shared.serving.stopping.load(Ordering::Relaxed) => {}
            None => self.dial(at, to, None, Some(bytes)),
        }
    }
}
