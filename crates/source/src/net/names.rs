//! What must block before a connection: looking up a name, loading the system's certificates. It is offered as a `Job`; its
//! result comes back through a slot that both sides hold.

use super::tls;
use crate::Job;
use rustls::ClientConfig;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) struct Prepared {
    pub addresses: Vec<SocketAddr>,
    pub tls: Option<Arc<ClientConfig>>,
}

pub(crate) enum Problem {
    NoAddress(String),
    NoTls(String),
}

/// Where the job stands.
#[derive(Default)]
enum Slot {
    /// Not handed out, or handed out and dropped.
    #[default]
    Idle,
    /// Somebody has it.
    Out,
    Done(Result<Prepared, Problem>),
    /// The result was taken.
    Taken,
}

/// One preparation; whoever drops it loses interest, and a job that is still out then works for nobody.
pub(crate) struct Preparation {
    host: String,
    port: u16,
    /// Certificates to trust besides the system's; None: no TLS is needed.
    roots: Option<Vec<Vec<u8>>>,
    slot: Arc<Mutex<Slot>>,
    /// The process that the slot's job belongs to: the child of a fork has no thread that is at it.
    process: u32,
}

pub(crate) enum Poll {
    Done(Result<Prepared, Problem>),
    Job(Job),
    /// Somebody else has the job and has not finished it.
    Busy,
}

fn lock(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a dropped job available again.
struct Offer(Arc<Mutex<Slot>>);

impl Drop for Offer {
    fn drop(&mut self) {
        let mut slot = lock(&self.0);
        if matches!(*slot, Slot::Out) {
            *slot = Slot::Idle;
        }
    }
}

impl Preparation {
    pub fn new(host: String, port: u16, roots: Option<Vec<Vec<u8>>>) -> Preparation {
        Preparation { host, port, roots, slot: Arc::default(), process: std::process::id() }
    }

    pub fn poll(&mut self) -> Poll {
        if self.process != std::process::id() {
            (self.slot, self.process) = (Arc::default(), std::process::id());
        }
        let mut slot = lock(&self.slot);
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Done(result) => Poll::Done(result),
            Slot::Out => {
                *slot = Slot::Out;
                Poll::Busy
            }
            Slot::Taken => Poll::Busy,
            Slot::Idle => {
                *slot = Slot::Out;
                let offer = Offer(self.slot.clone());
                let (host, port, roots) = (self.host.clone(), self.port, self.roots.clone());
                Poll::Job(Job::new(move || {
                    let result = prepare(&host, port, roots.as_deref());
                    *lock(&offer.0) = Slot::Done(result);
                }))
            }
        }
    }
}

fn prepare(host: &str, port: u16, roots: Option<&[Vec<u8>]>) -> Result<Prepared, Problem> {
    let found: Vec<SocketAddr> = match (host, port).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(e) => return Err(Problem::NoAddress(resolver_message(&e))),
    };
    if found.is_empty() {
        return Err(Problem::NoAddress("the name has no address".to_string()));
    }
    let tls = match roots {
        Some(extra) => Some(tls::config(extra).map_err(Problem::NoTls)?),
        None => None,
    };
    Ok(Prepared { addresses: interleave(found), tls })
}

fn resolver_message(e: &std::io::Error) -> String {
    let m = crate::error::plain(e);
    m.strip_prefix("failed to lookup address information: ").unwrap_or(&m).to_string()
}

/// The kinds of addresses in turns, beginning with what the system's resolver put first (RFC 8305, section 4).
fn interleave(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let (a, b): (Vec<_>, Vec<_>) = found.into_iter().partition(|x| x.is_ipv6() == first_is_v6);
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let mut all = Vec::new();
    loop {
        let (x, y) = (a.next(), b.next());
        if x.is_none() && y.is_none() {
            return all;
        }
        all.extend(x.into_iter().chain(y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_job_is_offered_again() {
        let mut p = Preparation::new("127.0.0.1".to_string(), 80, None);
        assert!(matches!(p.poll(), Poll::Job(_)));
        let Poll::Job(job) = p.poll() else { panic!("not offered again") };
        assert!(matches!(p.poll(), Poll::Busy));
        job.run();
        let Poll::Done(Ok(done)) = p.poll() else { panic!("no result") };
        assert_eq!(done.addresses, ["127.0.0.1:80".parse().unwrap()]);
    }

    #[test]
    fn kinds_take_turns() {
        let a = |s: &str| s.parse::<SocketAddr>().unwrap();
        let got = interleave(vec![a("[::1]:1"), a("[::2]:1"), a("1.1.1.1:1"), a("[::3]:1")]);
        assert_eq!(got, [a("[::1]:1"), a("1.1.1.1:1"), a("[::2]:1"), a("[::3]:1")]);
    }
}
