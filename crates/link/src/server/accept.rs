//! Listening, and who is let as far as a handshake.
//!
//! **Invariant.** What a stranger can hold is bounded: connections in all, those within a handshake, those of one address. When the system has
//! no descriptor left, those that wait are left to wait for a moment.

use super::line::{Line, Phase};
use super::{MS, Server};
use crate::address::Address;
use crate::channel::{Channel, Peer};
use crate::codec::features;
use crate::error::LinkError;
use kumi_segments::Time;
use kumi_wire::{Connection, Hello, Role};
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use socket2::{Domain, SockAddr, Socket, Type};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Connections that wait to be accepted, in the system.
const BACKLOG: i32 = 1024;
/// Accepted in one turn.
const TURN: usize = 64;
pub struct Listener {
    pub address: Address,
    socket: Socket,
    ip: Option<IpAddr>,
    file: Option<PathBuf>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = std::fs::remove_file(file);
        }
    }
}

impl Listener {
    /// Whether it listens at all addresses, so that it is not one to be reached at.
    pub fn is_unspecified(&self) -> bool {
        self.ip.is_some_and(|ip| ip.is_unspecified())
    }
}

/// Listens at all of them, or at none. `open`: where other machines reach them, too.
pub fn listen(addresses: &[String], open: bool, registry: &Registry) -> Result<Vec<Listener>, LinkError> {
    if addresses.len() > 64 {
        return Err(LinkError::Options("a node listens at 64 addresses at most".to_owned()));
    }
    let mut all = Vec::new();
    for text in addresses {
        let failed = |e| LinkError::Listen(text.clone(), e);
        let listener = match Address::parse(text)? {
            Address::Unix(path) => unix(text, path)?,
            address => tcp(text, address, open)?,
        };
        listener.socket.set_nonblocking(true).map_err(failed)?;
        let token = Token(all.len() + 1);
        registry.register(&mut SourceFd(&listener.socket.as_raw_fd()), token, Interest::READABLE).map_err(LinkError::System)?;
        all.push(listener);
    }
    Ok(all)
}

fn tcp(text: &str, address: Address, open: bool) -> Result<Listener, LinkError> {
    let failed = |e| LinkError::Listen(text.to_owned(), e);
    let found = address.resolve().map_err(failed)?;
    let Some(&at) = found.first() else { return Err(LinkError::Address(text.to_owned(), "the host has no address")) };
    if !open && !is_loopback(&at) {
        return Err(LinkError::Insecure(text.to_owned()));
    }
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, None).map_err(failed)?;
    socket.set_reuse_address(true).map_err(failed)?;
    if at.is_ipv6() {
        socket.set_only_v6(true).map_err(failed)?;
    }
    socket.bind(&at.into()).map_err(failed)?;
    socket.listen(BACKLOG).map_err(failed)?;
    let port = socket.local_addr().map_err(failed)?.as_socket().map_or(at.port(), |a| a.port());
    let host = match address {
        Address::Tcp(host, _) if !host.eq_ignore_ascii_case("localhost") => host,
        _ => at.ip().to_string(),
    };
    Ok(Listener { address: Address::Tcp(host, port), socket, ip: Some(at.ip()), file: None })
}

fn unix(text: &str, path: PathBuf) -> Result<Listener, LinkError> {
    let failed = |e| LinkError::Listen(text.to_owned(), e);
    let at = SockAddr::unix(&path).map_err(failed)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(failed)?;
    match socket.bind(&at) {
        Err(e) if e.kind() == io::ErrorKind::AddrInUse => {
            remove_stale(text, &path, &at)?;
            socket.bind(&at).map_err(failed)?;
        }
        other => other.map_err(failed)?,
    }
    let listener = Listener { address: Address::Unix(path.clone()), socket, ip: None, file: Some(path.clone()) };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    listener.socket.listen(BACKLOG).map_err(failed)?;
    Ok(listener)
}

/// Nobody listens at a file that a node has left behind. Another's, or what is no socket, stays.
fn remove_stale(text: &str, path: &Path, at: &SockAddr) -> Result<(), LinkError> {
    let failed = |e| LinkError::Listen(text.to_owned(), e);
    if !std::fs::symlink_metadata(path).map_err(failed)?.file_type().is_socket() {
        return Err(LinkError::Address(text.to_owned(), "a file that is no socket is there"));
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(failed)?;
    probe.set_nonblocking(true).map_err(failed)?;
    match probe.connect(at) {
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path).map_err(failed),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Err(failed(e)),
        _ => Err(LinkError::InUse(text.to_owned())),
    }
}

pub fn is_loopback(at: &SocketAddr) -> bool {
    at.ip().to_canonical().is_loopback()
}

/// Connections within their handshake, by who made them.
#[derive(Default)]
pub struct Sources {
    each: HashMap<Option<IpAddr>, usize>,
    all: usize,
}

impl Sources {
    fn came(&mut self, source: Option<IpAddr>) {
        self.all += 1;
        *self.each.entry(source).or_default() += 1;
    }

    pub fn left(&mut self, source: Option<IpAddr>) {
        self.all = self.all.saturating_sub(1);
        if let Some(n) = self.each.get_mut(&source) {
            *n -= 1;
            if *n == 0 {
                self.each.remove(&source);
            }
        }
    }
}

impl Server {
    /// Accepts those that wait.
    pub(super) fn accept(&mut self, at: Time, listener: usize) {
        for _ in 0..TURN {
            let Some(l) = self.listeners.get(listener - 1) else { return };
            let unix = l.file.is_some();
            match l.socket.accept() {
                Ok((socket, from)) => {
                    let source = from.as_socket().map(|a| a.ip().to_canonical());
                    let limits = &self.shared.limits;
                    let of_source = self.sources.each.get(&source).copied().unwrap_or(0);
                    let full = self.lines.len() >= limits.connections
                        || self.sources.all >= limits.handshakes
                        || of_source >= limits.handshakes_per_source;
                    // Nothing is said to it: it may be anybody, and many.
                    if !full && socket.set_nonblocking(true).is_ok() && (unix || socket.set_tcp_nodelay(true).is_ok()) {
                        self.open(at, socket, Role::Listener, unix, Phase::Shaking, source, None, None);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                // Descriptors or memory are short, and will not be there at once.
                Err(e) if [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM].contains(&e.raw_os_error().unwrap_or(0)) => {
                    self.accept_at = Some(at + 100 * MS);
                    return;
                }
                // That one connection is gone again.
                Err(_) => {}
            }
        }
        self.accept_at = Some(at);
    }

    /// Takes a socket into service. `None`: the system, or the certificates, would not have it.
    pub(super) fn open(
        &mut self,
        at: Time,
        socket: Socket,
        role: Role,
        unix: bool,
        phase: Phase,
        source: Option<IpAddr>,
        dialed: Option<Arc<str>>,
        second_of: Option<Peer>,
    ) -> Option<usize> {
        let tls = self.shared.tls.lock().clone().filter(|_| !unix);
        let tls = match (tls, role) {
            (Some(tls), Role::Listener) => Some(tls.accept().ok()?),
            (Some(tls), Role::Caller) => Some(tls.call().ok()?),
            (None, _) => None,
        };
        let second = if second_of.is_some() { features::SECOND } else { 0 };
        let wire = Connection::new(role, Hello { features: self.hello.features | second, ..self.hello.clone() }, self.shared.limits.wire())
            .ok()?;
        self.last_token += 1;
        let token = self.last_token;
        let connecting = phase == Phase::Connecting;
        let interest = if connecting { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        self.poll.registry().register(&mut SourceFd(&socket.as_raw_fd()), Token(token), interest).ok()?;
        let channel = Arc::new(Channel::new(token, socket, wire, tls, connecting));
        let line = Line {
            channel,
            phase,
            since: at,
            heard: at,
            deadline: None,
            used: at,
            behind: None,
            source,
            dialed,
            failures: Default::default(),
            hello: None,
            peer: None,
            address: None,
            second_of,
            held: Vec::new(),
        };
        self.lines.insert(token, line);
        self.sources.came(source);
        if self.lines.len() == 1 {
            self.sweep_at = at + self.shared.patient(super::sweep::EVERY);
        }
        Some(token)
    }
}
