//! Who the primary is, asked of Sentinels.

use super::tls;
use crate::address::Sentinels;
use crate::resp::{Decoder, Reply, command};
use rustls::{ClientConfig, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// A Sentinel is to answer within this.
const ANSWER: Duration = Duration::from_millis(500);

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// Host and port of the primary, of the first Sentinel that knows it.
///
/// # Errors
/// None knows it; why the last one does not, in words.
pub(super) fn primary(of: &Sentinels, tls: Option<&Arc<ClientConfig>>) -> Result<(String, u16), String> {
    let mut why = "no Sentinel is named".to_owned();
    for (host, port) in &of.hosts {
        match ask(host, *port, of, tls) {
            Ok(found) => return Ok(found),
            Err(e) => why = format!("the Sentinel at {host}:{port}: {e}"),
        }
    }
    Err(why)
}

fn ask(host: &str, port: u16, of: &Sentinels, tls: Option<&Arc<ClientConfig>>) -> Result<(String, u16), String> {
    let at = (host, port).to_socket_addrs().map_err(|e| e.to_string())?.next().ok_or("its name is not known")?;
    let socket = TcpStream::connect_timeout(&at, ANSWER).map_err(|e| e.to_string())?;
    socket.set_read_timeout(Some(ANSWER)).and_then(|()| socket.set_write_timeout(Some(ANSWER))).map_err(|e| e.to_string())?;
    let mut stream: Box<dyn Stream> = match tls {
        Some(config) => Box::new(StreamOwned::new(*tls::begin(config, host)?, socket)),
        None => Box::new(socket),
    };
    let mut out = Vec::new();
    if let Some(password) = &of.password {
        command(&mut out, &[b"AUTH", password.as_bytes()]);
    }
    command(&mut out, &[b"SENTINEL", b"get-master-addr-by-name", of.name.as_bytes()]);
    stream.write_all(&out).map_err(|e| e.to_string())?;
    let (mut decoder, mut buffer) = (Decoder::default(), [0; 4096]);
    let mut left = 1 + usize::from(of.password.is_some());
    loop {
        while let Some(reply) = decoder.next().map_err(|e| e.to_string())? {
            left -= 1;
            if let Reply::Error(e) = &reply {
                return Err(String::from_utf8_lossy(e).into_owned());
            }
            if left == 0 {
                return read(&reply).ok_or_else(|| format!("it knows no primary that is called {:?}", of.name));
            }
        }
        match stream.read(&mut buffer).map_err(|e| e.to_string())? {
            0 => return Err("it has closed the connection".into()),
            n => decoder.feed(&buffer[..n]),
        }
    }
}

fn read(reply: &Reply) -> Option<(String, u16)> {
    let [host, port] = reply.list() else { return None };
    let text = |r: &Reply| r.bytes().and_then(|b| String::from_utf8(b.to_vec()).ok());
    Some((text(host)?, text(port)?.parse().ok()?))
}
