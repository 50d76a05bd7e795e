//! What is due now and then: handshakes that take too long, peers that fall silent, connections that nobody needs.

use super::line::Phase;
use super::{MS, Server};
use crate::channel::{kind, too_much};
use crate::error::{Why, code};
use kumi_segments::Time;
use kumi_wire::Reason;
use std::sync::atomic::Ordering;

/// How often.
pub const EVERY: Time = 250 * MS;
/// Where more waits than may, this part of that is to go within the time that a peer may be silent.
const PACE: usize = 256;
/// A connection that nobody used for so long may be closed.
const IDLE: Time = 30_000 * MS;

impl Server {
    pub(super) fn sweep(&mut self, at: Time) {
        self.sweep_at = at + self.shared.patient(EVERY);
        let limits = &self.shared.limits;
        let (handshake, silence) = (limits.handshake.as_nanos() as Time, limits.silence.as_nanos() as Time);
        let (idle, most, unused_after) = (limits.idle, limits.backlog, self.shared.patient(IDLE));
        let (mut late, mut stuck, mut silent, mut quiet, mut slow, mut unused) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (&token, line) in &mut self.lines {
            let since = at.saturating_sub(line.heard);
            let shakes = line.phase < Phase::Aside;
            let patience = match &line.dialed {
                Some(address) if line.phase == Phase::Connecting => handshake.min(self.shared.patient(self.dials.patience(at, address))),
                _ => handshake,
            };
            if shakes && at.saturating_sub(line.since) > patience {
                late.push(token);
            } else if line.phase > Phase::Connecting && line.channel.is_stuck() {
                stuck.push(token);
            } else if shakes {
                continue;
            } else if line.deadline.is_some_and(|d| d <= at) {
                silent.push(token);
            } else if since > silence && line.deadline.is_none() {
                quiet.push(token);
                line.deadline = Some(at + 2 * silence);
            }
            let (backlog, gone) = line.channel.pace();
            line.behind = match line.behind.filter(|_| backlog > most) {
                None => (backlog > most).then_some((at, gone)),
                Some((since, before)) if at.saturating_sub(since) > silence => {
                    if gone - before < (most / PACE) as u64 {
                        slow.push((token, backlog));
                    }
                    Some((at, gone))
                }
                behind => behind,
            };
            if line.channel.used.swap(false, Ordering::Relaxed) {
                line.used = at;
            } else if line.phase == Phase::Open && at.saturating_sub(line.used) > unused_after {
                unused.push((line.used, token));
            }
        }
        for token in late {
            let text = "the handshake took too long".to_owned();
            self.close(at, token, Why::Here(Reason { code: code::SILENT, text }));
        }
        for token in stuck {
            let text = "what was sent is not acknowledged".to_owned();
            let why = Why::Here(Reason { code: code::UNHEARD, text });
            if let Some(line) = self.lines.get(&token) {
                line.channel.abandon(why.clone());
            }
            self.close(at, token, why);
        }
        for token in silent {
            self.refuse(at, token, Reason { code: code::SILENT, text: "nothing came for too long".to_owned() });
        }
        for (token, backlog) in slow {
            self.close(at, token, too_much(backlog, most));
        }
        for token in quiet {
            self.say(token, kind::PING, &[]);
        }
        let over = self.lines.len().saturating_sub(idle);
        if over > 0 {
            unused.sort_unstable();
            for (_, token) in unused.into_iter().take(over) {
                if let Some(peer) = self.lines.get(&token).and_then(|l| l.peer.clone()) {
                    peer.want(false);
                }
                self.refuse(at, token, Reason { code: kumi_wire::code::DONE, text: "nobody uses the connection".to_owned() });
            }
        }
        // Those that nobody names any more.
        self.shared.peers.write().retain(|_, p| !p.is_alone() || p.is_wanted() || p.is_connected());
    }
}
