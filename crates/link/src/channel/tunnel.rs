//! Frames within TLS.

use super::send;
use crate::error::Why;
use crate::tls;
use kumi_wire::Connection;
use socket2::Socket;
use std::io::{self, IoSlice, Read, Write};

/// Frames that are encrypted ahead of the socket.
const AHEAD: usize = 128 << 10;

pub struct Tunnel(rustls::Connection);

impl Tunnel {
    pub fn new(mut tls: rustls::Connection) -> Tunnel {
        tls.set_buffer_limit(Some(AHEAD));
        Tunnel(tls)
    }

    /// Decrypts what came, and hands on what was in it.
    pub fn read(&mut self, mut bytes: &[u8], plain: &mut [u8], mut to: impl FnMut(&[u8]) -> Result<(), Why>) -> Result<(), Why> {
        while !bytes.is_empty() {
            self.0.read_tls(&mut bytes).map_err(|e| Why::socket(&e))?;
            let state = self.0.process_new_packets().map_err(|e| Why::Tls(tls::explain(&e)))?;
            let mut left = state.plaintext_bytes_to_read();
            while left > 0 {
                let n = self.0.reader().read(plain).map_err(|e| Why::socket(&e))?;
                if n == 0 {
                    break;
                }
                left = left.saturating_sub(n);
                to(&plain[..n])?;
            }
            if state.peer_has_closed() {
                break;
            }
        }
        Ok(())
    }

    /// Encrypts frames and writes to the socket once; 0: nothing is left.
    pub fn write(&mut self, wire: &mut Connection, socket: &Socket) -> io::Result<usize> {
        loop {
            let mut slices = [IoSlice::new(&[]); 32];
            let n = wire.transmit(&mut slices);
            if n == 0 {
                break;
            }
            let n = self.0.writer().write_vectored(&slices[..n])?;
            wire.advance(n);
            if n == 0 {
                break;
            }
        }
        if self.0.wants_write() { self.0.write_tls(&mut Quiet(socket)) } else { Ok(0) }
    }

    pub fn has_output(&self) -> bool {
        self.0.wants_write()
    }

    /// Bytes of frames that are encrypted and were not written, at most.
    pub fn queued(&self) -> usize {
        if self.0.wants_write() { AHEAD } else { 0 }
    }

    pub fn close(&mut self) {
        self.0.send_close_notify();
    }

    pub fn check_name(&self, name: &str) -> Result<(), String> {
        tls::check_peer(&self.0, name)
    }
}

/// A socket whose peer's end is no signal.
struct Quiet<'a>(&'a Socket);

impl Write for Quiet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send(self.0, &[IoSlice::new(bytes)])
    }
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        send(self.0, slices)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
