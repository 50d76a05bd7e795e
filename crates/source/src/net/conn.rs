//! A connected socket, with or without TLS, that never blocks. What is to be sent is queued and goes out with the reads,
//! because a reader is what is always there.

use crate::sys::{self, Got};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use std::io::{self, BufRead, ErrorKind, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

/// Most bytes of one system call.
const STEP: usize = 256 << 10;
/// Encrypted bytes taken from the socket at a time.
const CIPHER: usize = 64 << 10;

pub(crate) enum Fault {
    Io(io::Error),
    Tls(rustls::Error),
    /// The end came without TLS saying so: somebody may have cut the rest off.
    CutOff,
}

pub(crate) struct Conn {
    socket: TcpStream,
    tls: Option<Box<Tls>>,
    /// What is to be sent without TLS, and how much of it has been.
    out: Vec<u8>,
    sent: usize,
}

struct Tls {
    state: ClientConnection,
    /// Encrypted bytes from the socket; those from `at` on have not been looked at.
    cipher: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Conn {
    pub fn new(socket: TcpStream) -> Conn {
        Conn { socket, tls: None, out: Vec::new(), sent: 0 }
    }

    /// From here on everything is encrypted.
    pub fn start_tls(&mut self, config: Arc<ClientConfig>, server: ServerName<'static>) -> Result<(), rustls::Error> {
        let mut state = ClientConnection::new(config, server)?;
        // Requests are small, and wait here for the handshake.
        state.set_buffer_limit(None);
        self.tls = Some(Box::new(Tls { state, cipher: Vec::new(), at: 0, ended: false }));
        Ok(())
    }

    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    pub fn wants_write(&self) -> bool {
        self.sent < self.out.len() || self.tls.as_ref().is_some_and(|t| t.state.wants_write())
    }

    /// Sends with the next reads.
    pub fn send(&mut self, bytes: &[u8]) {
        match &mut self.tls {
            // Memory only; without a limit it takes everything.
            Some(tls) => drop(tls.state.writer().write_all(bytes)),
            None => self.out.extend_from_slice(bytes),
        }
    }

    /// Appends at most `max` bytes.
    pub fn read(&mut self, out: &mut Vec<u8>, max: usize) -> Result<Got, Fault> {
        let max = max.min(STEP);
        self.flush();
        let Some(tls) = &mut self.tls else {
            return sys::recv(self.socket.as_raw_fd(), out, max).map_err(Fault::Io);
        };
        loop {
            match tls.state.reader().fill_buf() {
                Ok([]) => return Ok(Got::End),
                Ok(plain) => {
                    let n = plain.len().min(max);
                    out.extend_from_slice(&plain[..n]);
                    tls.state.reader().consume(n);
                    return Ok(Got::Bytes(n));
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Err(Fault::CutOff),
                Err(e) => return Err(Fault::Io(e)),
            }
            if tls.ended {
                return Err(Fault::CutOff);
            }
            if tls.at == tls.cipher.len() {
                tls.cipher.clear();
                tls.at = 0;
                match sys::recv(self.socket.as_raw_fd(), &mut tls.cipher, CIPHER).map_err(Fault::Io)? {
                    Got::Bytes(_) => {}
                    Got::Nothing => return Ok(Got::Nothing),
                    Got::End => tls.ended = true,
                }
            }
            tls.at += tls.state.read_tls(&mut &tls.cipher[tls.at..]).map_err(Fault::Io)?;
            let processed = tls.state.process_new_packets();
            // Also on an error: the alert tells the other side. A connection that takes nothing more may still hold an answer.
            let _ = write_tls(&mut tls.state, &self.socket);
            processed.map_err(Fault::Tls)?;
        }
    }

    fn flush(&mut self) {
        if let Some(tls) = &mut self.tls {
            let _ = write_tls(&mut tls.state, &self.socket);
        }
        while self.sent < self.out.len() {
            match (&self.socket).write(&self.out[self.sent..]) {
                Ok(n) => self.sent += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                // The server wants no more of the request; reading tells why.
                Err(_) => self.sent = self.out.len(),
            }
        }
        self.out.clear();
        self.sent = 0;
    }
}

fn write_tls(tls: &mut ClientConnection, socket: &TcpStream) -> io::Result<()> {
    while tls.wants_write() {
        match tls.write_tls(&mut &*socket) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
