//! How patient a cluster is.

use std::num::{NonZeroU8, NonZeroUsize};
use std::time::Duration;

use crate::packet::MAX_PACKET;

/// Periods and bounds. All nodes of a cluster should have the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// How often one other member, each in its turn, is asked whether it lives.
    pub probe_period: Duration,
    /// How long its answer may take before others ask on this node's behalf. At most a third of the period.
    pub probe_rtt: Duration,
    /// How long a suspected member has for its refutation in a cluster of up to ten. It grows with the logarithm of the size.
    pub suspicion: Duration,
    /// The same where a connection to it has broken, too.
    pub hinted_suspicion: Duration,
    /// How often news are passed on while there are some.
    pub gossip_period: Duration,
    /// How often another member is asked for all members it knows.
    pub exchange_period: Duration,
    /// How often one of the members that are down, or a seed, is tried again: a partition heals.
    pub heal_period: Duration,
    /// How many members news go to at once, and how many are asked to probe on this node's behalf.
    pub fanout: u8,
    /// The most members, this node not counted, and the most members that are down and not forgotten.
    pub max_members: usize,
    /// How long a member that is down is known, so that its earlier lives can't come back.
    pub forget_after: Duration,
    /// The most packets a second from one sender.
    pub max_packets: u16,
}

impl Config {
    /// Several processes on one machine: who is gone is down after about a second.
    pub fn local() -> Config {
        let ms = Duration::from_millis;
        Config {
            probe_period: ms(200),
            probe_rtt: ms(60),
            suspicion: ms(600),
            hinted_suspicion: ms(300),
            gossip_period: ms(50),
            exchange_period: ms(1000),
            heal_period: ms(500),
            fanout: 3,
            max_members: 4096,
            forget_after: Duration::from_secs(3600),
            max_packets: 2000,
        }
    }

    /// Machines in one building: who is gone is down after about six seconds.
    pub fn lan() -> Config {
        let ms = Duration::from_millis;
        Config {
            probe_period: ms(1000),
            probe_rtt: ms(300),
            suspicion: ms(4000),
            hinted_suspicion: ms(1500),
            gossip_period: ms(200),
            exchange_period: ms(5000),
            heal_period: ms(2500),
            ..Config::local()
        }
    }

    /// The same where everybody takes so many times longer. News are passed on as often as before.
    pub fn patient(mut self, times: u32) -> Config {
        for period in [&mut self.probe_period, &mut self.probe_rtt, &mut self.suspicion, &mut self.hinted_suspicion] {
            *period = period.saturating_mul(times.max(1));
        }
        self
    }

    /// The same with no period so short that nothing else would be done.
    pub(crate) fn sane(mut self) -> Config {
        let least = Duration::from_millis(1);
        self.probe_period = self.probe_period.max(3 * least);
        self.probe_rtt = self.probe_rtt.clamp(least, self.probe_period / 3);
        for period in [
            &mut self.suspicion,
            &mut self.hinted_suspicion,
            &mut self.gossip_period,
            &mut self.exchange_period,
            &mut self.heal_period,
            &mut self.forget_after,
        ] {
            *period = (*period).clamp(4 * least, Duration::from_secs(1 << 32));
        }
        self
    }

    /// How long a suspected member has in a cluster of `members`.
    pub fn suspicion_of(&self, members: usize) -> Duration {
        // In hundredths, so that it is the same on all machines: the logarithm to base two over that of ten.
        self.suspicion * (100 * bits(members)).max(332) / 332
    }

    pub(crate) fn foca(&self, members: usize) -> foca::Config {
        let count = |n: u8| NonZeroUsize::new(n.max(1).into()).expect("at least one");
        let every = |frequency, num_members| Some(foca::PeriodicParams { frequency, num_members });
        foca::Config {
            probe_period: self.probe_period,
            probe_rtt: self.probe_rtt,
            num_indirect_probes: count(self.fanout),
            max_transmissions: NonZeroU8::new(6 + bits(members) as u8).expect("at least six"),
            suspect_to_down_after: self.suspicion_of(members),
            // Who is forgotten, and when, is decided by the cluster's table.
            remove_down_after: None,
            max_packet_size: NonZeroUsize::new(MAX_PACKET).expect("not zero"),
            notify_down_members: true,
            periodic_announce: every(self.exchange_period, count(1)),
            periodic_announce_to_down_members: None,
            periodic_gossip: every(self.gossip_period, count(self.fanout)),
        }
    }
}

/// Binary digits of a number of members: the size by which a cluster's patience is scaled.
pub(crate) fn bits(members: usize) -> u32 {
    members.checked_ilog2().map_or(0, |b| b + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_period_is_nothing() {
        let zero = Duration::ZERO;
        let c = Config { probe_period: zero, probe_rtt: zero, gossip_period: zero, suspicion: Duration::MAX, ..Config::local() }.sane();
        assert_eq!((c.probe_period.as_millis(), c.probe_rtt.as_millis(), c.gossip_period.as_millis()), (3, 1, 4));
        assert!(c.suspicion_of(usize::MAX) > Duration::from_secs(1));
        assert_eq!((Config::local().sane(), Config::lan().sane()), (Config::local(), Config::lan()));
    }

    #[test]
    fn who_is_patient_gives_others_more_time_and_says_news_as_soon() {
        let (usual, patient) = (Config::local(), Config::local().patient(8));
        assert_eq!((patient.probe_rtt, patient.suspicion), (8 * usual.probe_rtt, 8 * usual.suspicion));
        assert_eq!((patient.gossip_period, patient.heal_period), (usual.gossip_period, usual.heal_period));
        assert_eq!((usual.clone().patient(1), usual.clone().patient(0)), (usual.clone(), usual));
        assert_eq!(patient.clone().sane(), patient);
    }

    #[test]
    fn patience_grows_with_the_logarithm() {
        let c = Config::local();
        let ms = |n| c.suspicion_of(n).as_millis();
        assert_eq!((ms(0), ms(7), ms(32), ms(4096)), (600, 600, 1084, 2349));
    }
}
