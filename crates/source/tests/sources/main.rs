//! What a reader of sources sees: of files and descriptors, of servers that do as they should, and of those that don't.

mod broken;
mod http;
mod local;
mod proxy;
mod server;
mod tls;

use kumi_source::{Error, Options, Proxy, Source, Spec};
use std::time::Duration;

/// Options that no environment variable changes, and that lose no time.
pub fn options() -> Options {
    Options { proxy: Proxy::Direct, backoff: Duration::from_millis(1), ..Options::default() }
}

/// A child has all descriptors of this process until it runs its program. Who looks at once for what the other end's close leads to holds
/// this, and so does who makes a child.
pub fn no_other_forks() -> std::sync::MutexGuard<'static, ()> {
    static FORKS: std::sync::Mutex<()> = std::sync::Mutex::new(());
    FORKS.lock().unwrap_or_else(|e| e.into_inner())
}

pub fn all_of(source: &mut Source, max: usize) -> (Vec<u8>, Result<(), Error>) {
    let mut out = Vec::new();
    loop {
        let len = out.len();
        match source.read_blocking(&mut out, max) {
            Ok(0) => {
                assert_eq!(out.len(), len);
                return (out, Ok(()));
            }
            Ok(n) => {
                assert_eq!(out.len(), len + n);
                assert!(n <= max, "{n} > {max}");
            }
            Err(e) => return (out, Err(e)),
        }
    }
}

pub fn fetch(url: &str, options: Options) -> Result<Vec<u8>, Error> {
    let mut source = Source::open(Spec::Url(url.to_string()), options)?;
    let (bytes, end) = all_of(&mut source, 100_000);
    // What a source once said it says again.
    match (&end, source.read(&mut Vec::new(), 1)) {
        (Ok(()), Ok(kumi_source::Read::End)) => {}
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        other => panic!("{other:?}"),
    }
    end.map(|()| bytes)
}

/// A document of some 300 KB.
pub fn document() -> Vec<u8> {
    let mut text = String::from("<table>\n");
    for i in 0..9000u32 {
        text.push_str(&format!("<T><KEY>{i}</KEY><V>{}</V></T>\n", i.wrapping_mul(2654435761) % 99991));
    }
    text.push_str("</table>\n");
    text.into_bytes()
}
