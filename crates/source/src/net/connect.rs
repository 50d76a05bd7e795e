//! From addresses to a connected socket, as RFC 8305 ("Happy Eyeballs") has it: an address that does not answer within
//! 250 ms is joined by the next one, and the first to answer wins.

use crate::sys;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

/// Head start of an address.
const HEAD_START: Duration = Duration::from_millis(250);
/// With several attempts under way only the newest is waited for; the others are looked at so often.
const GLANCE: Duration = Duration::from_millis(20);

pub(crate) struct Connecting {
    left: VecDeque<SocketAddr>,
    under_way: Vec<(SocketAddr, Socket)>,
    next_at: Instant,
    end: Instant,
    failures: Vec<String>,
}

pub(crate) enum Poll {
    Connected(TcpStream),
    Wait { fd: RawFd, until: Instant },
    Failed(String),
    TimedOut,
}

impl Connecting {
    pub fn new(addresses: Vec<SocketAddr>, end: Instant) -> Connecting {
        Connecting { left: addresses.into(), under_way: Vec::new(), next_at: Instant::now(), end, failures: Vec::new() }
    }

    pub fn poll(&mut self) -> Poll {
        let now = Instant::now();
        let mut i = 0;
        while i < self.under_way.len() {
            match answer(&self.under_way[i].1) {
                Ok(false) => i += 1,
                Ok(true) => {
                    let (_, socket) = self.under_way.swap_remove(i);
                    return Poll::Connected(ready(socket));
                }
                Err(e) => {
                    let (address, _) = self.under_way.remove(i);
                    self.failed(address, &e);
                    self.next_at = now;
                }
            }
        }
        while self.under_way.is_empty() || now >= self.next_at {
            let Some(address) = self.left.pop_front() else { break };
            match begin(address) {
                Ok((socket, true)) => return Poll::Connected(ready(socket)),
                Ok((socket, false)) => {
                    self.under_way.push((address, socket));
                    self.next_at = now + HEAD_START;
                }
                Err(e) => self.failed(address, &e),
            }
        }
        let Some((_, newest)) = self.under_way.last() else {
            return Poll::Failed(self.failures.join("; "));
        };
        if now >= self.end {
            return Poll::TimedOut;
        }
        let mut until = self.end;
        if !self.left.is_empty() {
            until = until.min(self.next_at);
        }
        if self.under_way.len() > 1 {
            until = until.min(now + GLANCE);
        }
        Poll::Wait { fd: newest.as_raw_fd(), until }
    }

    fn failed(&mut self, address: SocketAddr, e: &io::Error) {
        if self.failures.len() < 4 {
            self.failures.push(format!("{address}: {}", crate::error::plain(e)));
        }
    }
}

/// Starts connecting; true: it is done already.
fn begin(address: SocketAddr) -> io::Result<(Socket, bool)> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    match socket.connect(&address.into()) {
        Ok(()) => Ok((socket, true)),
        Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) || e.kind() == io::ErrorKind::Interrupted => Ok((socket, false)),
        Err(e) => Err(e),
    }
}

/// Whether a connection stands; false: nobody has answered yet.
fn answer(socket: &Socket) -> io::Result<bool> {
    if !sys::wait_ready(socket.as_raw_fd(), false, true, Some(Duration::ZERO))? {
        return Ok(false);
    }
    match socket.take_error()? {
        Some(e) => Err(e),
        None => socket.peer_addr().map(|_| true),
    }
}

fn ready(socket: Socket) -> TcpStream {
    let stream = TcpStream::from(socket);
    // A refusal costs some ms, nothing else.
    let _ = stream.set_nodelay(true);
    stream
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::SockAddr;
    use std::net::TcpListener;

    fn finish(c: &mut Connecting) -> Poll {
        loop {
            match c.poll() {
                Poll::Wait { fd, until } => {
                    let time = until.saturating_duration_since(Instant::now());
                    sys::wait_ready(fd, false, true, Some(time.max(Duration::from_millis(1)))).unwrap();
                }
                other => return other,
            }
        }
    }

    fn soon(ms: u64) -> Instant {
        Instant::now() + Duration::from_millis(ms)
    }

    fn nobody() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    #[test]
    fn a_refusal_is_followed_by_the_next_address() {
        let l = TcpListener::bind("127.0.0.1:0").unwrap();
        let good = l.local_addr().unwrap();
        match finish(&mut Connecting::new(vec![nobody(), nobody(), good], soon(20_000))) {
            Poll::Connected(s) => assert_eq!(s.peer_addr().unwrap(), good),
            _ => panic!("not connected"),
        }
        let (a, b) = (nobody(), nobody());
        match finish(&mut Connecting::new(vec![a, b], soon(20_000))) {
            Poll::Failed(m) => assert!(m.contains(&a.to_string()) && m.contains(&b.to_string()) && m.contains("refused"), "{m}"),
            _ => panic!("connected to nobody"),
        }
    }

    /// A server that does not answer: its queue of connections is full.
    #[cfg(target_os = "linux")]
    #[test]
    fn silence_is_followed_by_the_next_address_and_ends() {
        let full = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        full.bind(&SockAddr::from("127.0.0.1:0".parse::<SocketAddr>().unwrap())).unwrap();
        full.listen(0).unwrap();
        let silent = full.local_addr().unwrap().as_socket().unwrap();
        let waiting: Vec<_> = (0..4).map(|_| begin(silent).unwrap()).collect();
        let l = TcpListener::bind("127.0.0.1:0").unwrap();
        let good = l.local_addr().unwrap();
        match finish(&mut Connecting::new(vec![silent, good], soon(20_000))) {
            Poll::Connected(s) => assert_eq!(s.peer_addr().unwrap(), good),
            _ => panic!("not connected"),
        }
        assert!(matches!(finish(&mut Connecting::new(vec![silent], soon(100))), Poll::TimedOut));
        drop(waiting);
    }
}
