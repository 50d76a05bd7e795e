//! Packets as bytes: a version, the head, then runs of operations of one kind.
//!
//! **Invariant.** A packet is at most [`MAX_PACKET`] bytes and has at most [`MAX_OPS`] operations. Bytes that are no packet are refused
//! whole, before anything has changed.

use super::{Op, Packet, Report, RoundId};
use crate::name::{Error, Life, NodeId};
use kumi_wire::{Decoder, Encoder, WireError};

/// The first byte of a packet. A node refuses other versions.
pub const VERSION: u8 = 1;
/// Operations of one packet.
pub const MAX_OPS: usize = 1024;
/// A packet's bytes.
pub const MAX_PACKET: usize = 64 << 10;
/// Nodes of one round. Their names fill one packet at most.
pub(crate) const MAX_MEMBERS: usize = 3000;

const ERRORS: [Error; 8] =
    [Error::NodeLost, Error::OtherIncarnation, Error::Collected, Error::Forged, Error::Moved, Error::Quota, Error::Revoked, Error::Unknown];

fn bad(what: &'static str, at: usize) -> WireError {
    WireError::Malformed { what, at }
}

impl Op {
    fn kind(&self) -> u8 {
        match self {
            Op::Claim { .. } => 1,
            Op::Granted => 2,
            Op::Refused(_) => 3,
            Op::Release { .. } => 4,
            Op::Settled(_) => 5,
            Op::Fenced(_) => 6,
            Op::Revoke(_) => 7,
            Op::Mark { .. } => 8,
            Op::Begin { .. } => 9,
            Op::Probe { .. } => 10,
            Op::Report { .. } => 11,
            Op::Verify { .. } => 12,
            Op::Sweep { .. } => 13,
            Op::Want => 14,
            Op::Complain(_) => 15,
        }
    }
    /// Bytes that it takes at most.
    pub(crate) fn size(&self) -> usize {
        match self {
            Op::Begin { members, .. } => 32 + 18 * members.len(),
            Op::Report { .. } => 64,
            _ => 32,
        }
    }
    /// Is it said because the peer asked?
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self, Op::Granted | Op::Refused(_) | Op::Fenced(_) | Op::Report { .. })
    }
    /// Is it answered at once?
    pub(crate) fn asks(&self) -> bool {
        matches!(self, Op::Claim { .. } | Op::Revoke(_) | Op::Probe { .. })
    }
    /// What a run of them has in common.
    pub(crate) fn round(&self) -> Option<RoundId> {
        match *self {
            Op::Mark { round, .. }
            | Op::Begin { round, .. }
            | Op::Probe { round, .. }
            | Op::Report { round, .. }
            | Op::Verify { round }
            | Op::Sweep { round } => Some(round),
            _ => None,
        }
    }
    fn write(&self, e: &mut Encoder) {
        match self {
            Op::Claim { slot, generation, seal } => {
                e.number((*slot).into()).number((*generation).into()).fixed(*seal);
            }
            Op::Granted | Op::Want | Op::Verify { .. } | Op::Sweep { .. } => {}
            Op::Refused(error) | Op::Complain(error) => {
                e.byte(ERRORS.iter().position(|x| x == error).unwrap_or(0) as u8);
            }
            Op::Release { slot, generation } | Op::Mark { slot, generation, .. } => {
                e.number((*slot).into()).number((*generation).into());
            }
            Op::Settled(n) | Op::Fenced(n) | Op::Revoke(n) => {
                e.number(*n);
            }
            Op::Begin { members, .. } => {
                e.number(members.len() as u64);
                for m in members {
                    e.fixed(m.node.0).number(m.incarnation);
                }
            }
            Op::Probe { wave, .. } => {
                e.number(*wave);
            }
            Op::Report { wave, report: r, .. } => {
                e.number(*wave).byte(u8::from(r.void) | u8::from(r.verified) << 1).number(r.version).number(r.sent).number(r.received);
            }
        }
    }
    fn read(kind: u8, round: RoundId, d: &mut Decoder) -> Result<Op, WireError> {
        let small = |d: &mut Decoder| d.number_to(u32::MAX.into()).map(|n| n as u32);
        let error = |d: &mut Decoder| {
            let at = d.at();
            ERRORS.get(usize::from(d.byte()?)).copied().ok_or(bad("an unknown reason", at))
        };
        Ok(match kind {
            1 => Op::Claim { slot: small(d)?, generation: small(d)?, seal: d.fixed()? },
            2 => Op::Granted,
            3 => Op::Refused(error(d)?),
            4 => Op::Release { slot: small(d)?, generation: small(d)? },
            5 => Op::Settled(d.number()?),
            6 => Op::Fenced(d.number()?),
            7 => Op::Revoke(d.number()?),
            8 => Op::Mark { round, slot: small(d)?, generation: small(d)? },
            9 => {
                let n = d.number_to(MAX_MEMBERS as u64)?;
                let member = |_| Ok(Life { node: NodeId(d.fixed()?), incarnation: d.number()? });
                Op::Begin { round, members: (0..n).map(member).collect::<Result<_, WireError>>()? }
            }
            10 => Op::Probe { round, wave: d.number()? },
            11 => {
                let wave = d.number()?;
                let flags = d.byte()?;
                let report = Report {
                    void: flags & 1 != 0,
                    verified: flags & 2 != 0,
                    version: d.number()?,
                    sent: d.number()?,
                    received: d.number()?,
                };
                Op::Report { round, wave, report }
            }
            12 => Op::Verify { round },
            13 => Op::Sweep { round },
            14 => Op::Want,
            15 => Op::Complain(error(d)?),
            _ => return Err(bad("an operation of an unknown kind", d.at())),
        })
    }
}

impl Packet {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + 8 * self.ops.len());
        let mut e = Encoder::new(&mut out);
        e.byte(VERSION).number(self.incarnation).number(self.epoch).number(self.to_incarnation).number(self.to_epoch).flag(self.ask);
        e.number(self.over).number(self.number).number(self.ack).number(self.settled).number(self.seq);
        for run in self.ops.chunk_by(|a, b| a.kind() == b.kind() && a.round() == b.round()) {
            e.byte(run[0].kind()).number(run.len() as u64);
            if let Some(round) = run[0].round() {
                e.number(round.number).fixed(round.leader);
            }
            for op in run {
                op.write(&mut e);
            }
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Packet, WireError> {
        if bytes.len() > MAX_PACKET {
            return Err(WireError::TooLong { what: "a packet", length: bytes.len() as u64, most: MAX_PACKET as u64 });
        }
        let mut d = Decoder::new(bytes);
        if d.byte()? != VERSION {
            return Err(bad("a packet of another version", 0));
        }
        let mut p = Packet {
            incarnation: d.number()?,
            epoch: d.number()?,
            to_incarnation: d.number()?,
            to_epoch: d.number()?,
            ask: d.flag()?,
            over: d.number()?,
            number: d.number()?,
            ack: d.number()?,
            settled: d.number()?,
            seq: d.number()?,
            ops: Vec::new(),
        };
        if p.incarnation == 0 || p.epoch == 0 || p.seq == 0 || p.ack == 0 {
            return Err(bad("a packet that counts from 0", 1));
        }
        while !d.is_empty() {
            let kind = d.byte()?;
            let n = d.number_to((MAX_OPS - p.ops.len()) as u64)?;
            let round = if (8..=13).contains(&kind) { RoundId { number: d.number()?, leader: d.fixed()? } } else { RoundId::default() };
            for _ in 0..n {
                p.ops.push(Op::read(kind, round, &mut d)?);
            }
        }
        // Nothing that is counted from here on comes near the end of its numbers.
        if [p.epoch, p.over, p.seq, p.number].iter().any(|n| *n > 1 << 62) {
            return Err(bad("a number that no node counts to", 1));
        }
        Ok(p)
    }
}

#[cfg(test)]
mod tests;
