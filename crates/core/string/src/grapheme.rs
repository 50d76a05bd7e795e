//! Extended grapheme clusters.

use kumi_text::encoding::EncIndex;
use unicode_segmentation::UnicodeSegmentation;

/// Bytes of the cluster at the start of non-empty `s`.
pub fn next_len(s: &[u8], enc: EncIndex) -> usize {
    let one = enc.char_len(s).step().max(1);
    if !enc.is_unicode() {
        return one;
    }
    // Clusters are short; a window that ends inside one is widened.
    let mut take = 64;
    loop {
        let window = &s[..s.len().min(take)];
        let mut text = String::new();
        let mut sizes = Vec::new();
        let mut at = 0;
        while at < window.len() {
            match enc.decode(&window[at..]) {
                Some((c, n)) => match char::from_u32(c) {
                    Some(c) => {
                        text.push(c);
                        sizes.push((text.len(), at + n));
                        at += n;
                    }
                    None => break,
                },
                None => break,
            }
        }
        let Some(first) = text.graphemes(true).next() else { return one };
        if first.len() == text.len() && window.len() < s.len() && at + 8 > window.len() {
            take *= 4;
            continue;
        }
        return sizes.iter().find(|p| p.0 == first.len()).map_or(one, |p| p.1);
    }
}
