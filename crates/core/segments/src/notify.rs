//! The service manager's ear: a datagram says how the process is (sd_notify(3)).

use crate::leaf;
use kumi_vm::*;
use std::os::unix::net::{SocketAddr, UnixDatagram};

pub static TABLE: &[NativeDef] = &[leaf("__seg_notify", 2, notify)];

/// `__seg_notify(socket, text)`: false: nobody listens there.
fn notify(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let path = String::from_utf8_lossy(cx.arg_str(a, 0)?.bytes()).into_owned();
    let text = cx.arg_str(a, 1)?.bytes().to_vec();
    let sent = || -> std::io::Result<()> {
        let address = match path.strip_prefix('@') {
            #[cfg(target_os = "linux")]
            Some(name) => <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name.as_bytes())?,
            _ => SocketAddr::from_pathname(&path)?,
        };
        let socket = UnixDatagram::unbound()?;
        // Nobody is to be kept waiting by a manager that does not read.
        socket.set_nonblocking(true)?;
        socket.send_to_addr(&text, &address).map(|_| ())
    };
    Ok(Value::bool(sent().is_ok()))
}
