//! Leaf natives of sockets, for lib/socket.rb: addresses, names, connections, messages.
//!
//! A socket is an IO object: its payload is the stream of the system floor
//! ([`kumi_core_system::io::Io`]), so that reading, writing, selecting and closing are
//! IO's own. Descriptors never block: a native that would have to wait parks its task
//! and runs again from its start, so it keeps no state between the two.
//!
//! Addresses travel as Strings that hold the system's `struct sockaddr`. They come from
//! programs as well as from the system: their length is checked before anything is read.
//!
//! System calls are `rustix`'s. It has options and control messages by their types only, where Ruby has numbers and bytes:
//! these are libc's, as is what the C library resolves.

mod address;
mod constants;
mod interface;
mod message;
mod name;
mod option;
mod socket;

use kumi_core_system::io::{self, Errno};
use kumi_vm::*;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    for table in [address::TABLE, constants::TABLE, interface::TABLE, message::TABLE, name::TABLE, option::TABLE, socket::TABLE] {
        cx.natives(table);
    }
}

/// Argument `i` as the bytes of a String, or nothing for nil.
fn arg_bytes(cx: &mut Cx, a: &[Value], i: usize) -> Result<Option<Vec<u8>>, Exit> {
    if a[i].is_nil() { Ok(None) } else { Ok(Some(cx.arg_str(a, i)?.bytes().to_vec())) }
}
/// SystemCallError of a call that failed: "Connection refused - connect(2)".
fn fail(cx: &mut Cx, errno: Errno, call: &str) -> Exit {
    io::fail_plain(cx, errno, call)
}
/// A String of bytes.
fn bytes(cx: &mut Cx, b: &[u8]) -> Value {
    cx.str_enc(b, EncIndex::BINARY)
}
