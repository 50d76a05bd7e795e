//! Where the primary is, asked of Sentinels; and which nodes a cluster has, asked of one of them.

use super::tls;
use crate::address::{Place, Sentinels};
use crate::machine::{Broken, ClusterMap};
use crate::resp::{Decoder, Reply, command};
use rustls::{ClientConfig, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// Who is asked is to answer within this.
const ANSWER: Duration = Duration::from_millis(500);

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

type Tls<'a> = Option<&'a Arc<ClientConfig>>;

/// Host and port of the primary, of the first Sentinel that knows it.
///
/// # Errors
/// None knows it; why the last one does not, in words.
pub(super) fn primary(of: &Sentinels, tls: Tls<'_>) -> Result<(String, u16), String> {
    let mut why = "no Sentinel is named".to_owned();
    let login: Option<Vec<&[u8]>> = of.password.as_ref().map(|p| vec![p.as_bytes()]);
    for (host, port) in &of.hosts {
        let reply = ask(host, *port, tls, login.as_deref(), &[b"SENTINEL", b"get-master-addr-by-name", of.name.as_bytes()]);
        let found = reply.and_then(|reply| match &reply {
            Reply::Error(e) => Err(String::from_utf8_lossy(e).into_owned()),
            reply => read(reply).ok_or_else(|| format!("it knows no primary that is called {:?}", of.name)),
        });
        match found {
            Ok(found) => return Ok(found),
            Err(e) => why = format!("the Sentinel at {host}:{port}: {e}"),
        }
    }
    Err(why)
}

/// The map of a cluster, of the first of these nodes that tells it.
///
/// # Errors
/// None does; why one of them does not, and will not.
pub(super) fn cluster<'a>(
    nodes: impl Iterator<Item = &'a (String, u16)>,
    tls: Tls<'_>,
    login: Option<&(String, String)>,
) -> Result<ClusterMap, Broken> {
    let mut why = Broken::Passing("no node is named".into());
    let login: Option<Vec<&[u8]>> = login.map(|(user, password)| vec![user.as_bytes(), password.as_bytes()]);
    for (host, port) in nodes {
        let reply = ask(host, *port, tls, login.as_deref(), &[b"CLUSTER", b"SLOTS"]);
        match reply.map_err(Broken::Passing).and_then(|reply| ClusterMap::read(&reply, host)) {
            Ok(map) => return Ok(map),
            Err(e) if !why.lasts() => why = e.of(&Place::Tcp(host.clone(), *port).to_string()),
            Err(_) => {}
        }
    }
    Err(why)
}

/// What is said to one command, or to the login before it, if that is refused.
fn ask(host: &str, port: u16, tls: Tls<'_>, login: Option<&[&[u8]]>, what: &[&[u8]]) -> Result<Reply, String> {
    let at = (host, port).to_socket_addrs().map_err(|e| e.to_string())?.next().ok_or("its name is not known")?;
    let socket = TcpStream::connect_timeout(&at, ANSWER).map_err(|e| super::thread::told(&e))?;
    socket.set_read_timeout(Some(ANSWER)).and_then(|()| socket.set_write_timeout(Some(ANSWER))).map_err(|e| e.to_string())?;
    let mut stream: Box<dyn Stream> = match tls {
        Some(config) => Box::new(StreamOwned::new(*tls::begin(config, host)?, socket)),
        None => Box::new(socket),
    };
    let mut out = Vec::new();
    if let Some(login) = login {
        command(&mut out, &[&[&b"AUTH"[..]], login].concat());
    }
    command(&mut out, what);
    let told = |e: std::io::Error| match e.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) {
        Some(e) => tls::explain(e),
        None => super::thread::told(&e),
    };
    stream.write_all(&out).map_err(told)?;
    let (mut decoder, mut buffer) = (Decoder::default(), [0; 4096]);
    let mut left = 1 + usize::from(login.is_some());
    loop {
        while let Some(reply) = decoder.next().map_err(|e| format!("this is no Redis: {e}"))? {
            left -= 1;
            if left == 0 || matches!(reply, Reply::Error(_)) {
                return Ok(reply);
            }
        }
        match stream.read(&mut buffer).map_err(told)? {
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
