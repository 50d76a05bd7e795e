//! One connection: its socket, and TLS on it.

use crate::address::Place;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustls::ClientConnection;
use socket2::{Domain, Protocol, SockAddr, Socket, TcpKeepalive, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// See the module.
pub(super) struct Conn {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
    /// What the socket had no room for yet, from `at` on.
    rest: Vec<u8>,
    at: usize,
    /// It is watched for room as well.
    for_room: bool,
}

/// What came of reading.
pub(super) enum Came {
    Some(usize),
    Nothing,
    End,
}

/// A socket whose peer's end is no signal.
struct Quiet<'a>(&'a Socket);

impl Write for Quiet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_with_flags(bytes, libc::MSG_NOSIGNAL)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where a server may be found. It may take long.
pub(super) fn addresses(place: &Place) -> io::Result<Vec<SockAddr>> {
    Ok(match place {
        Place::Unix(path) => vec![SockAddr::unix(path)?],
        Place::Tcp(host, port) => (host.as_str(), *port).to_socket_addrs()?.map(|a: SocketAddr| a.into()).collect(),
        Place::Sentinel(_) | Place::Cluster(_) => Vec::new(),
    })
}

/// Goes on with what is left after `sent` bytes; false: there is no room.
fn goes_on(result: io::Result<usize>, at: &mut usize) -> io::Result<bool> {
    match result {
        Ok(0) => Err(ErrorKind::WriteZero.into()),
        Ok(n) => {
            *at += n;
            Ok(true)
        }
        Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(e) if e.kind() == ErrorKind::Interrupted => Ok(true),
        Err(e) => Err(e),
    }
}

impl Conn {
    /// Begins to connect.
    pub fn dial(to: &SockAddr) -> io::Result<Conn> {
        let unix = to.domain() == Domain::UNIX;
        let socket = Socket::new(to.domain(), Type::STREAM, if unix { None } else { Some(Protocol::TCP) })?;
        socket.set_nonblocking(true)?;
        if !unix {
            socket.set_tcp_nodelay(true)?;
            socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(Duration::from_secs(15)).with_interval(Duration::from_secs(5)))?;
        }
        match socket.connect(to) {
            Err(e) if e.raw_os_error() != Some(libc::EINPROGRESS) => Err(e),
            _ => Ok(Conn { socket, tls: None, rest: Vec::new(), at: 0, for_room: true }),
        }
    }
    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
    /// A queue tells what comes, and that there is room.
    pub fn watch(&self, queue: &Registry, token: Token) -> io::Result<()> {
        queue.register(&mut SourceFd(&self.fd()), token, Interest::READABLE | Interest::WRITABLE)
    }
    /// The queue tells it no more.
    pub fn forget(&self, queue: &Registry) {
        let _ = queue.deregister(&mut SourceFd(&self.fd()));
    }
    /// Has this queue, which watches it, tell of room while something waits for it, and else of what comes alone. It was told of room.
    pub fn mind_room(&mut self, queue: &Registry, token: Token) -> io::Result<()> {
        let waits = self.at < self.rest.len() || self.tls.as_ref().is_some_and(|t| t.wants_write());
        if waits == self.for_room {
            return Ok(());
        }
        self.for_room = waits;
        let interest = if waits { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        queue.reregister(&mut SourceFd(&self.fd()), token, interest)
    }
    /// Is it watched for room?
    pub fn waits_for_room(&self) -> bool {
        self.for_room
    }
    /// Is it there? `None`: not yet.
    pub fn dialled(&self) -> Option<io::Result<()>> {
        match (self.socket.take_error(), self.socket.peer_addr()) {
            (Ok(Some(e)) | Err(e), _) => Some(Err(e)),
            (Ok(None), Ok(_)) => Some(Ok(())),
            (Ok(None), Err(_)) => None,
        }
    }
    pub fn is_secure(&self) -> bool {
        self.tls.is_some()
    }
    pub fn secure(&mut self, tls: Box<ClientConnection>) {
        self.tls = Some(tls);
    }
    /// Sends these bytes and what is left of others, as far as there is room. True: some went of what had waited for room.
    pub fn send(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let mut sent = 0;
        if let Some(tls) = &mut self.tls {
            let waited = tls.wants_write();
            tls.set_buffer_limit(None);
            tls.writer().write_all(bytes)?;
            bytes.clear();
            while tls.wants_write() && goes_on(tls.write_tls(&mut Quiet(&self.socket)), &mut sent)? {}
            return Ok(waited && sent > 0);
        }
        let waited = !self.rest.is_empty();
        if self.rest.is_empty() {
            std::mem::swap(&mut self.rest, bytes);
        } else {
            self.rest.append(bytes);
        }
        let before = self.at;
        while self.at < self.rest.len() && goes_on(Quiet(&self.socket).write(&self.rest[self.at..]), &mut self.at)? {}
        sent += self.at - before;
        if self.at == self.rest.len() {
            self.at = 0;
            self.rest.clear();
            self.rest.shrink_to(1 << 20);
        } else if self.at > 1 << 20 {
            self.rest.drain(..self.at);
            self.at = 0;
        }
        Ok(waited && sent > 0)
    }
    /// Reads what has come.
    pub fn receive(&mut self, into: &mut [u8]) -> Result<Came, String> {
        let Some(tls) = &mut self.tls else {
            return match self.socket.read(into) {
                Ok(0) => Ok(Came::End),
                Ok(n) => Ok(Came::Some(n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(Came::Nothing),
                Err(e) if e.kind() == ErrorKind::Interrupted => Ok(Came::Some(0)),
                Err(e) => Err(e.to_string()),
            };
        };
        loop {
            match tls.reader().read(into) {
                Ok(0) => return Ok(Came::End),
                Ok(n) => return Ok(Came::Some(n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) => return Err(e.to_string()),
            }
            match tls.read_tls(&mut self.socket) {
                Ok(0) => return Ok(Came::End),
                Ok(_) => {
                    tls.process_new_packets().map_err(|e| super::tls::explain(&e))?;
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(Came::Nothing),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e.to_string()),
            }
        }
    }
}
