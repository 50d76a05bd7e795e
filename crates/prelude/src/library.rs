//! The standard library as bytes: paths and packed texts, found without copying.
//!
//! Invariant: a packed text is one Zstandard frame that names its length.

use crate::bare::bare;
use crate::blob::{In, Out};
use zstd::zstd_safe::{DCtx, get_frame_content_size};

/// How hard the build tries: the greatest level whose frames need no more memory to open than their texts.
const LEVEL: i32 = 19;
/// No text is longer, in bytes.
const LONGEST: usize = 1 << 24;

/// Paths and texts as one blob, in that order.
///
/// # Errors
/// A text is too long, or there is no memory.
pub fn pack_library(files: &[(String, Vec<u8>)]) -> std::io::Result<Vec<u8>> {
    let mut o = Out(Vec::new());
    o.u32(files.len() as u32);
    for (path, text) in files {
        if text.len() > LONGEST {
            return Err(std::io::Error::other(format!("{path} has {} bytes, more than {LONGEST}", text.len())));
        }
        o.text(path);
        o.bytes(&zstd::bulk::compress(&bare(text), LEVEL)?);
    }
    Ok(o.0)
}

/// What [`pack_library`] packed: paths, and texts for [`open`]. `None`: these bytes are something else.
pub fn unpack_library(blob: &[u8]) -> Option<Vec<(&str, &[u8])>> {
    In(blob).list(|i| Some((i.text()?, i.bytes()?)))
}

/// A text of [`unpack_library`]'s. `None`: these bytes are something else, or there is no memory.
pub fn open(packed: &[u8]) -> Option<Vec<u8>> {
    let length = usize::try_from(get_frame_content_size(packed).ok()??).ok().filter(|n| *n <= LONGEST)?;
    let mut text = Vec::new();
    text.try_reserve_exact(length).ok()?;
    let opened = DCtx::try_create()?.decompress(&mut text, packed).ok()?;
    (opened == length).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_bare() {
        let noise: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let files = [
            ("a.rb".to_string(), Vec::new()),
            ("b/c.rb".into(), vec![b'x'; 300_000]),
            ("d.rb".into(), noise),
            ("e.rb".into(), b"  1 # one".to_vec()),
        ];
        let blob = pack_library(&files).unwrap();
        let back = unpack_library(&blob).unwrap();
        assert_eq!(back.iter().map(|f| f.0).collect::<Vec<_>>(), ["a.rb", "b/c.rb", "d.rb", "e.rb"]);
        for ((_, packed), (_, text)) in back.iter().zip(&files[..3]) {
            assert_eq!(open(packed).as_ref(), Some(text));
        }
        assert_eq!(open(back[3].1).unwrap(), b"1 #");
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let blob = pack_library(&[("a.rb".into(), b"def each(a) = yield(a)\n".to_vec())]).unwrap();
        let packed = unpack_library(&blob).unwrap()[0].1;
        assert!(open(packed).is_some());
        assert_eq!(open(&packed[..packed.len() - 4]), None);
        assert_eq!(open(&packed[..3]), None);
        assert_eq!(open(b""), None);
        assert_eq!(open(&[packed, packed].concat()), None);
        // A frame that names a terabyte.
        assert_eq!(open(&[0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0]), None);
        assert_eq!(unpack_library(&blob[..blob.len() - 1]), None);
    }
}
