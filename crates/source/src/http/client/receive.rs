//! The body of an answer: a piece of the document, or a page that says why there is none.

use super::super::body::Framing;
use super::super::head::Head;
use super::{Fail, Http, Phase, Step};
use crate::decode::{Chain, Coding, Pull};
use crate::net::conn::Conn;
use crate::sys::Got;
use crate::{Error, Read, Wait};
use std::time::Instant;

/// What an error keeps of an error page.
const PAGE: usize = 4 << 10;

impl Http {
    /// Bytes of a response's body, without its framing.
    pub(super) fn take(&mut self, framing: &mut Framing, out: &mut Vec<u8>, max: usize) -> Result<Got, Fail> {
        if let Framing::Chunked(chunked) = framing {
            loop {
                let len = out.len();
                match chunked.step(&self.inbox[self.at..], out, max) {
                    Ok(n) => self.at += n,
                    Err(message) => return Err(self.protocol(message)),
                }
                if out.len() > len {
                    return Ok(Got::Bytes(out.len() - len));
                }
                if chunked.is_done() {
                    return Ok(Got::End);
                }
                match self.receive()? {
                    Got::Bytes(_) => {}
                    Got::Nothing => return Ok(Got::Nothing),
                    Got::End => {
                        let message = "the connection ended before the last chunk".to_string();
                        return Err(Fail::Broke(Error::Broken { url: self.name.clone(), message }));
                    }
                }
            }
        }
        let max = match framing {
            Framing::Length { left: 0, announced } => {
                let announced = *announced;
                return self.surplus(announced);
            }
            Framing::Length { left, .. } => max.min(usize::try_from(*left).unwrap_or(usize::MAX)),
            _ => max,
        };
        let ready = &self.inbox[self.at..];
        let got = if !ready.is_empty() {
            let n = ready.len().min(max);
            out.extend_from_slice(&ready[..n]);
            self.at += n;
            Got::Bytes(n)
        } else if let Some(conn) = &mut self.conn {
            match conn.read(out, max) {
                Ok(got) => got,
                Err(fault) => return Err(self.fault(fault)),
            }
        } else {
            Got::End
        };
        if let Framing::Length { left, announced } = framing {
            match got {
                Got::Bytes(n) => *left = left.saturating_sub(n as u64),
                Got::Nothing => {}
                Got::End => {
                    let message = format!("the connection ended {left} bytes before the announced end");
                    return Err(Fail::Broke(Error::Length { url: self.name.clone(), announced: *announced, message }));
                }
            }
        }
        Ok(got)
    }

    /// At the announced end of a body: whether more has come than was announced.
    pub(super) fn surplus(&mut self, announced: u64) -> Result<Got, Fail> {
        let more = self.at < self.inbox.len()
            || match &mut self.conn {
                Some(conn) => matches!(conn.read(&mut self.inbox, 1), Ok(Got::Bytes(_))),
                None => false,
            };
        if more {
            let message = format!("more than the announced {announced} bytes came");
            return Err(Fail::Fatal(Error::Length { url: self.name.clone(), announced, message }));
        }
        Ok(Got::End)
    }

    pub(super) fn body(&mut self, mut framing: Framing, out: &mut Vec<u8>, max: usize) -> Step {
        let len = out.len();
        match self.take(&mut framing, out, max)? {
            Got::Bytes(mut n) => {
                self.idle = None;
                self.low_water.came();
                self.phase = Phase::Body(framing);
                if self.skip > 0 {
                    let drop = n.min(usize::try_from(self.skip).unwrap_or(usize::MAX));
                    out.drain(len..len + drop);
                    self.skip -= drop as u64;
                    n -= drop;
                    if n == 0 {
                        // There may be much to pass over; others may want a turn.
                        return Ok(Some(Read::Wait(Wait::Until(Instant::now()))));
                    }
                }
                self.attempts = 0;
                self.got += n as u64;
                match self.total() {
                    Some(total) if self.got > total => {
                        out.truncate(len);
                        self.phase = Phase::Done;
                        let message = format!("more than the announced {total} bytes came");
                        Err(Fail::Fatal(Error::Length { url: self.name.clone(), announced: total, message }))
                    }
                    _ => Ok(Some(Read::Data(n))),
                }
            }
            Got::Nothing => {
                let mut wait = self.wait("waiting for more of the document")?;
                if let (Wait::Ready { fd, until, .. }, Some(false)) = (&mut wait, self.conn.as_ref().map(Conn::is_tls)) {
                    // A record of TLS may be needed in parts, so there each byte counts.
                    *until = self.low_water.wait(*fd, framing.at_most()).into_iter().chain(*until).min();
                }
                self.stay(Phase::Body(framing), wait)
            }
            Got::End if self.skip > 0 => Err(Fail::Fatal(Error::Changed { url: self.name.clone(), offset: self.got })),
            Got::End => match self.total() {
                Some(total) if self.got < total => {
                    let message = format!("the server ended after {} of {total} bytes", self.got);
                    Err(Fail::Broke(Error::Length { url: self.name.clone(), announced: total, message }))
                }
                _ => {
                    self.hang_up();
                    Ok(Some(Read::End))
                }
            },
        }
    }

    /// Takes what comes soon of an error page, and ends.
    pub(super) fn page(&mut self, head: Head, mut framing: Framing, mut page: Vec<u8>, until: Instant) -> Step {
        while page.len() < PAGE {
            let room = PAGE - page.len();
            match self.take(&mut framing, &mut page, room) {
                Ok(Got::Bytes(_)) => {}
                Ok(Got::Nothing) if Instant::now() < until => {
                    let Some(conn) = &self.conn else { break };
                    let wait = Wait::Ready { fd: conn.fd(), read: true, write: conn.wants_write(), until: Some(until) };
                    return self.stay(Phase::Page { head, framing, page, until }, wait);
                }
                // Whatever is wrong with the page, the status says more.
                _ => break,
            }
        }
        self.hang_up();
        let codings = Coding::list(&head.list("content-encoding")).unwrap_or_default();
        let body = if codings.is_empty() { page } else { decoded(&codings, &page) };
        let url = self.here.shown().to_string();
        Err(Fail::Fatal(Error::Status { code: head.code, reason: head.reason, url, body }))
    }
}

/// What of a compressed error page can be read.
fn decoded(codings: &[Coding], page: &[u8]) -> Vec<u8> {
    let mut chain = Chain::new(codings, 1000, 1 << 20);
    chain.feed(|v| v.extend_from_slice(page));
    let mut out = Vec::new();
    while out.len() < PAGE {
        let room = PAGE - out.len();
        if !matches!(chain.pull(&mut out, room, ""), Ok(Pull::Data)) {
            break;
        }
    }
    out
}
