//! How long the calling thread could run and had no processor, as the system counts it.

use std::cell::OnceCell;
use std::fs::File;
use std::os::unix::fs::FileExt;

thread_local! {
    static COUNTS: OnceCell<Option<File>> = const { OnceCell::new() };
}

/// Nanoseconds since the thread began; 0 where the system does not tell.
pub fn waited_ns() -> u64 {
    COUNTS.with(|c| {
        let file = c.get_or_init(|| File::open("/proc/thread-self/schedstat").ok());
        let mut text = [0; 64];
        let n = file.as_ref().and_then(|f| f.read_at(&mut text, 0).ok()).unwrap_or(0);
        second_number(&text[..n]).unwrap_or(0)
    })
}

/// Of "ran waited times".
fn second_number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells() {
        assert_eq!(second_number(b"81 7012 3\n"), Some(7012));
        assert_eq!((second_number(b""), second_number(b"1 x 3")), (None, None));
        let before = waited_ns();
        assert!(waited_ns() >= before);
    }
}
