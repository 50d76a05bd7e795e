//! Whether a connection still carries what it is given.
//!
//! A system that gets no acknowledgement says everything again, and waits twice as long each time. When the way is back, its next attempt may be
//! as far off as the outage was long. What comes from the peer meanwhile changes nothing about that: such a connection hears, and is not heard.
//! A new one is there at once.

use socket2::Socket;
use std::os::fd::AsRawFd;

/// So often in a row the same was said, to nobody who acknowledged it: over a second, on the fastest ways. A peer that stands still
/// acknowledges, for its system does.
const OFTEN: u8 = 3;

/// Nothing that was sent arrives any more. `false` where the system can't tell, as for a Unix socket.
#[allow(unsafe_code)]
pub fn is_stuck(socket: &Socket) -> bool {
    let mut info = std::mem::MaybeUninit::<libc::tcp_info>::zeroed();
    let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: `info` has `len` bytes, of which the system writes at most so many; the socket is open while it is borrowed.
    let got = unsafe { libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &mut len) };
    // SAFETY: it consists of integers, and all of its bytes were set to zero.
    got == 0 && unsafe { info.assume_init() }.tcpi_retransmits >= OFTEN
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_connection_whose_peer_only_does_not_read_is_not_stuck() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _peer = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        while std::io::Write::write(&mut &stream, &[0; 65536]).is_ok() {}
        std::thread::sleep(std::time::Duration::from_millis(1600));
        assert!(!is_stuck(&stream.into()));
        assert!(!is_stuck(&UnixStream::pair().unwrap().0.into()));
    }
}
