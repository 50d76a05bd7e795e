//! The little language of `tr`, `delete`, `squeeze` and `count`: sets of characters.
//!
//! Invariant: a set is a list of code point ranges in the order written; a range is never
//! empty (`z-a` is an error).

use crate::encoding::EncIndex;
use kumi_budget::Grow;

/// A parsed set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharSet {
    ranges: Vec<(u32, u32)>,
    /// The same in order, apart from each other.
    ordered: Vec<(u32, u32)>,
    /// How many characters are listed before each range.
    before: Vec<u64>,
    negated: bool,
    /// Bit per ASCII character, negation included.
    ascii: u128,
}

impl CharSet {
    /// Parses a set written in `enc`.
    ///
    /// # Errors
    /// The message of `ArgumentError`: `invalid range "z-a" in string transliteration`.
    pub fn parse(spec: &[u8], enc: EncIndex) -> Result<CharSet, String> {
        let (body, negated) = match spec {
            [b'^', rest @ ..] if !rest.is_empty() => (rest, true),
            _ => (spec, false),
        };
        let mut units: Vec<(u32, bool, &[u8])> = Vec::new();
        let mut rest = body;
        while !rest.is_empty() {
            let n = enc.char_len(rest).step().max(1);
            let (mut c, mut tail) = rest.split_at(n);
            let mut escaped = false;
            if c == b"\\" && !tail.is_empty() {
                let n = enc.char_len(tail).step().max(1);
                (c, tail) = tail.split_at(n);
                escaped = true;
            }
            units.put((code_of(c, enc), escaped, c));
            rest = tail;
        }
        let mut ranges = Vec::room(units.len());
        let mut i = 0;
        while i < units.len() {
            let (low, _, low_bytes) = units[i];
            match (units.get(i + 1), units.get(i + 2)) {
                (Some((0x2D, false, _)), Some(&(high, _, high_bytes))) => {
                    if low > high {
                        return Err(format!(
                            "invalid range \"{}-{}\" in string transliteration",
                            String::from_utf8_lossy(low_bytes),
                            String::from_utf8_lossy(high_bytes)
                        ));
                    }
                    ranges.push((low, high));
                    i += 3;
                }
                _ => {
                    ranges.push((low, low));
                    i += 1;
                }
            }
        }
        let mut ascii = 0u128;
        for &(low, high) in &ranges {
            for c in low..=high.min(127) {
                ascii |= 1 << c;
            }
        }
        if negated {
            ascii = !ascii;
        }
        let before = Vec::gather(ranges.iter().scan(0, |n, &(low, high)| {
            let b = *n;
            *n += (high - low) as u64 + 1;
            Some(b)
        }));
        let mut sorted = Vec::copy(&ranges);
        sorted.sort_unstable();
        let mut ordered: Vec<(u32, u32)> = Vec::new();
        for (low, high) in sorted {
            match ordered.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => ordered.put((low, high)),
            }
        }
        Ok(CharSet { ranges, ordered, before, negated, ascii })
    }

    /// Whether code point `c` is in the set.
    #[inline]
    pub fn contains(&self, c: u32) -> bool {
        if c < 128 {
            return self.ascii >> c & 1 == 1;
        }
        let i = self.ordered.partition_point(|r| r.1 < c);
        self.ordered.get(i).is_some_and(|r| r.0 <= c) != self.negated
    }

    /// How many characters the ranges list.
    fn size(&self) -> u64 {
        match (self.before.last(), self.ranges.last()) {
            (Some(b), Some(&(low, high))) => b + (high - low) as u64 + 1,
            _ => 0,
        }
    }

    /// The `n`th character listed.
    fn nth(&self, n: u64) -> Option<u32> {
        let i = self.before.partition_point(|b| *b <= n).checked_sub(1)?;
        let (low, high) = self.ranges[i];
        let at = n - self.before[i];
        (at <= (high - low) as u64).then(|| low + at as u32)
    }
}

/// Where each character of a set stands in its list; later entries win, as in CRuby's table.
struct Places<'a> {
    set: &'a CharSet,
    /// From that character on, up to the next row's, the range of that number counts, or none.
    rows: Vec<(u32, Option<usize>)>,
}

impl<'a> Places<'a> {
    fn of(set: &'a CharSet) -> Places<'a> {
        // A sweep over where ranges begin and end; of those that are open the last one counts.
        let mut edges: Vec<(u64, usize, bool)> = Vec::with_capacity(2 * set.ranges.len());
        for (i, &(low, high)) in set.ranges.iter().enumerate() {
            edges.push((low as u64, i, true));
            edges.push((high as u64 + 1, i, false));
        }
        edges.sort_unstable();
        let (mut open, mut rows) = (std::collections::BTreeSet::new(), Vec::new());
        let mut k = 0;
        while k < edges.len() {
            let at = edges[k].0;
            while k < edges.len() && edges[k].0 == at {
                if edges[k].2 {
                    open.insert(edges[k].1);
                } else {
                    open.remove(&edges[k].1);
                }
                k += 1;
            }
            if let Ok(at) = u32::try_from(at) {
                rows.push((at, open.last().copied()));
            }
        }
        Places { set, rows }
    }
    fn position(&self, c: u32) -> Option<u64> {
        let row = self.rows.partition_point(|r| r.0 <= c).checked_sub(1)?;
        let i = self.rows[row].1?;
        Some(self.set.before[i] + (c - self.set.ranges[i].0) as u64)
    }
}

/// Several sets that must all contain a character (`delete("a-z", "^x")`).
#[derive(Clone, Debug)]
pub struct Intersection(Vec<CharSet>);

impl Intersection {
    /// Parses all of them.
    ///
    /// # Errors
    /// As [`CharSet::parse`].
    pub fn parse(specs: &[(&[u8], EncIndex)]) -> Result<Intersection, String> {
        specs.iter().map(|(spec, enc)| CharSet::parse(spec, *enc)).collect::<Result<_, _>>().map(Intersection)
    }

    /// Whether all sets contain `c`; true of no sets.
    #[inline]
    pub fn contains(&self, c: u32) -> bool {
        self.0.iter().all(|set| set.contains(c))
    }
}

/// A character's code; a bad byte counts as a code above all characters, by its value.
fn code_of(c: &[u8], enc: EncIndex) -> u32 {
    match enc.decode(c) {
        Some((code, _)) => code,
        None => 0x8000_0000 | c.iter().fold(0, |a, &b| a << 8 | b as u32),
    }
}

/// Every byte is an ASCII character.
fn plain(s: &[u8], enc: EncIndex) -> bool {
    enc.is_ascii_compatible() && s.is_ascii()
}

/// `String#count`.
pub fn count(s: &[u8], enc: EncIndex, sets: &Intersection) -> usize {
    if plain(s, enc) {
        return s.iter().filter(|b| sets.contains(**b as u32)).count();
    }
    enc.chars(s).filter(|c| sets.contains(code_of(c, enc))).count()
}

/// `String#delete`; `None` if nothing is deleted.
pub fn delete(s: &[u8], enc: EncIndex, sets: &Intersection) -> Option<Vec<u8>> {
    if plain(s, enc) {
        let out = Vec::gather(s.iter().copied().filter(|b| !sets.contains(*b as u32)));
        return (out.len() != s.len()).then_some(out);
    }
    let mut out = Vec::room(s.len());
    for c in enc.chars(s) {
        if !sets.contains(code_of(c, enc)) {
            out.put_all(c);
        }
    }
    (out.len() != s.len()).then_some(out)
}

/// `String#squeeze`, `sets` of none for all characters; `None` if nothing changes.
pub fn squeeze(s: &[u8], enc: EncIndex, sets: &Intersection) -> Option<Vec<u8>> {
    let mut out = Vec::room(s.len());
    let mut last: Option<&[u8]> = None;
    for c in enc.chars(s) {
        if last != Some(c) || !sets.contains(code_of(c, enc)) {
            out.put_all(c);
        }
        last = Some(c);
    }
    (out.len() != s.len()).then_some(out)
}

/// `String#tr` and, with `squeeze`, `tr_s`; `None` if no character was in the set.
///
/// # Errors
/// As [`CharSet::parse`].
pub fn tr(s: &[u8], enc: EncIndex, from: &[u8], to: &[u8], squeeze: bool) -> Result<Option<Vec<u8>>, String> {
    if to.is_empty() {
        let sets = Intersection(vec![CharSet::parse(from, enc)?]);
        return Ok(delete(s, enc, &sets));
    }
    let from = CharSet::parse(from, enc)?;
    // In the replacement a leading `^` means itself.
    let to = CharSet::parse(&[if to[0] == b'^' { &b"\\"[..] } else { &[] }, to].concat(), enc)?;
    let last = to.nth(to.size().saturating_sub(1)).unwrap_or(0);
    let places = Places::of(&from);
    let replace = |c: u32| {
        if from.negated {
            return from.contains(c).then_some(last);
        }
        places.position(c).map(|n| to.nth(n).unwrap_or(last))
    };
    let mut table = [None; 128];
    for (c, slot) in table.iter_mut().enumerate() {
        *slot = replace(c as u32);
    }
    if !squeeze && enc.is_ascii_compatible() && s.is_ascii() && table.iter().flatten().all(|c| *c < 0x80) {
        let bytes: [u8; 128] = std::array::from_fn(|i| table[i].map_or(i as u8, |c| c as u8));
        let changed = s.iter().any(|b| table[*b as usize & 0x7F].is_some());
        return Ok(changed.then(|| Vec::gather(s.iter().map(|b| bytes[*b as usize & 0x7F]))));
    }
    let mut out = Vec::room(s.len());
    let mut changed = false;
    let mut previous = None;
    for c in enc.chars(s) {
        let code = code_of(c, enc);
        let new = match table.get(code as usize) {
            Some(slot) => *slot,
            None => replace(code),
        };
        match new {
            Some(new) => {
                changed = true;
                if squeeze && previous == Some(new) {
                    continue;
                }
                previous = Some(new);
                if new & 0x8000_0000 != 0 {
                    out.put(new as u8);
                } else {
                    enc.push_code(&mut out, new);
                }
            }
            None => {
                previous = None;
                out.put_all(c);
            }
        }
    }
    Ok(changed.then_some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_recorded() {
        let t = |s: &str, a: &str, b: &str, sq| {
            let got = tr(s.as_bytes(), EncIndex::UTF_8, a.as_bytes(), b.as_bytes(), sq);
            got.map(|o| o.map_or(s.to_string(), |v| String::from_utf8(v).unwrap()))
        };
        assert_eq!(t("hello", "el", "ip", false), Ok("hippo".into()));
        assert_eq!(t("hello", "a-y", "b-z", false), Ok("ifmmp".into()));
        assert_eq!(t("hello", "^l", "*", false), Ok("**ll*".into()));
        assert_eq!(t("hello", "l", "", false), Ok("heo".into()));
        assert_eq!(t("hello", "l", "r", true), Ok("hero".into()));
        assert_eq!(t("h^e", "^", "x", false), Ok("hxe".into()));
        assert_eq!(t("he-llo", "a\\-z", "X", false), Ok("heXllo".into()));
        assert_eq!(t("あいう", "あ-う", "a-c", false), Ok("acc".into()));
        assert_eq!(t("x", "z-a", "b", false), Err("invalid range \"z-a\" in string transliteration".into()));
        assert_eq!(t("hello", "l", "^x", false), Ok("he^^o".into()));
        // Later entries win; ranges may overlap in any way.
        assert_eq!(t("abcdez", "a-eb-c", "1-7", false), Ok("16745z".into()));
        assert_eq!(t("あいう", "あ-ういあ-い", "1-6", false), Ok("665".into()));
        let sets = Intersection::parse(&[(b"a-z", EncIndex::UTF_8), (b"^l", EncIndex::UTF_8)]).unwrap();
        assert_eq!(count(b"hello", EncIndex::UTF_8, &sets), 3);
        assert_eq!(squeeze(b"aaabbb", EncIndex::UTF_8, &Intersection(vec![])), Some(b"ab".to_vec()));
    }
}
