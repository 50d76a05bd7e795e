//! Shell patterns: `* ? [set] {a,b} \x` and `**/`, as `File.fnmatch` and `Dir.glob` read them.
//!
//! Matching goes back only to the last star of a component, so that it costs at most
//! the product of the two lengths.

pub const NOESCAPE: u32 = 1;
pub const PATHNAME: u32 = 2;
pub const DOTMATCH: u32 = 4;
pub const CASEFOLD: u32 = 8;
pub const EXTGLOB: u32 = 16;

/// Most alternatives that braces may unfold to.
const MOST: usize = 100_000;

/// All patterns that the braces of `p` stand for; none if one of them is never closed.
pub fn braces(p: &[u8], flags: u32) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    unfold(p.to_vec(), flags, &mut out, 0);
    out
}
fn unfold(p: Vec<u8>, flags: u32, out: &mut Vec<Vec<u8>>, depth: u32) {
    if out.len() >= MOST || depth > 64 {
        return;
    }
    let mut level = 0;
    let mut open = None;
    let mut close = None;
    let mut i = 0;
    while i < p.len() {
        match p[i] {
            b'\\' if flags & NOESCAPE == 0 => i += 1,
            b'{' => {
                if level == 0 {
                    open = Some(i);
                }
                level += 1;
            }
            b'}' if level > 0 => {
                level -= 1;
                if level == 0 {
                    close = Some(i);
                    break;
                }
            }
            _ => {}
        }
        i += 1;
    }
    let (o, c) = match (open, close) {
        (Some(o), Some(c)) => (o, c),
        // A brace that is never closed stands for no pattern at all.
        (Some(_), None) => return,
        (None, _) => {
            out.push(p);
            return;
        }
    };
    let mut from = o + 1;
    let mut k = from;
    let mut level = 0;
    loop {
        let end = k == c;
        if end || p[k] == b',' && level == 0 {
            let mut q = p[..o].to_vec();
            q.extend_from_slice(&p[from..k]);
            q.extend_from_slice(&p[c + 1..]);
            unfold(q, flags, out, depth + 1);
            from = k + 1;
            if end {
                return;
            }
        } else {
            match p[k] {
                b'\\' if flags & NOESCAPE == 0 && k + 1 < c => k += 1,
                b'{' => level += 1,
                b'}' => level -= 1,
                _ => {}
            }
        }
        k += 1;
    }
}

/// File.fnmatch
pub fn matches(pat: &[u8], path: &[u8], flags: u32) -> bool {
    if flags & EXTGLOB != 0 {
        return braces(pat, flags).iter().any(|p| one(p, path, flags));
    }
    one(pat, path, flags)
}
fn one(pat: &[u8], path: &[u8], flags: u32) -> bool {
    if flags & PATHNAME == 0 {
        return component(pat, path, flags);
    }
    let p: Vec<&[u8]> = split_pattern(pat);
    let s: Vec<&[u8]> = path.split(|c| *c == b'/').collect();
    parts(&p, &s, flags)
}
/// Components of a pattern; a slash inside a set does not count as one only when the set closes before it.
fn split_pattern(p: &[u8]) -> Vec<&[u8]> {
    p.split(|c| *c == b'/').collect()
}
fn parts(p: &[&[u8]], s: &[&[u8]], flags: u32) -> bool {
    let Some((first, rest)) = p.split_first() else { return s.is_empty() };
    if *first == b"**" && !rest.is_empty() {
        let mut k = 0;
        loop {
            if parts(rest, &s[k..], flags) {
                return true;
            }
            // `**/` does not enter hidden directories, and passes whole components only.
            if k >= s.len() || s[k].first() == Some(&b'.') && flags & DOTMATCH == 0 {
                return false;
            }
            k += 1;
            if k >= s.len() {
                return false;
            }
        }
    }
    let Some((head, tail)) = s.split_first() else { return false };
    component(first, head, flags) && parts(rest, tail, flags)
}

/// Length of the character at the start.
fn char_len(s: &[u8]) -> usize {
    let n = match s.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => return 1,
    };
    if s.len() >= n && s[1..n].iter().all(|c| c & 0xc0 == 0x80) { n } else { 1 }
}
fn fold(c: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(c) {
        Ok(s) => s.to_lowercase().into_bytes(),
        Err(_) => c.to_vec(),
    }
}
fn same(a: &[u8], b: &[u8], flags: u32) -> bool {
    a == b || flags & CASEFOLD != 0 && fold(a) == fold(b)
}

/// Does one component match (or, without PATHNAME, the whole text)?
pub fn component(p: &[u8], s: &[u8], flags: u32) -> bool {
    if s.first() == Some(&b'.') && flags & DOTMATCH == 0 {
        // A leading period must be matched by a period.
        match p {
            [b'.', ..] => {}
            [b'\\', b'.', ..] if flags & NOESCAPE == 0 => {}
            _ => return false,
        }
    }
    let (mut i, mut k) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = if i < p.len() {
            match p[i] {
                b'*' => {
                    while p.get(i) == Some(&b'*') {
                        i += 1;
                    }
                    star = Some((i, k));
                    continue;
                }
                b'?' if k < s.len() => Some((1, char_len(&s[k..]))),
                b'?' => None,
                b'[' if k < s.len() => {
                    let n = char_len(&s[k..]);
                    match set(&p[i..], &s[k..k + n], flags) {
                        Some((true, used)) => Some((used, n)),
                        Some((false, _)) => None,
                        // No closing bracket: it matches nothing.
                        None => None,
                    }
                }
                b'[' => None,
                _ => {
                    let esc = p[i] == b'\\' && flags & NOESCAPE == 0 && i + 1 < p.len();
                    let at = i + esc as usize;
                    let n = char_len(&p[at..]);
                    if k < s.len() {
                        let m = char_len(&s[k..]);
                        if same(&p[at..at + n], &s[k..k + m], flags) { Some((n + esc as usize, m)) } else { None }
                    } else {
                        None
                    }
                }
            }
        } else if k == s.len() {
            return true;
        } else {
            None
        };
        match step {
            Some((a, b)) => {
                i += a;
                k += b;
            }
            None => match star {
                Some((pi, sk)) if sk < s.len() => {
                    let n = char_len(&s[sk..]);
                    star = Some((pi, sk + n));
                    i = pi;
                    k = sk + n;
                }
                _ => return false,
            },
        }
    }
}
/// A bracket expression at the start of `p`: whether `c` is in it, and its length. `None` when it does not close.
fn set(p: &[u8], c: &[u8], flags: u32) -> Option<(bool, usize)> {
    let mut i = 1;
    let negated = matches!(p.get(i), Some(b'!' | b'^'));
    if negated {
        i += 1;
    }
    let mut hit = false;
    let folded = fold(c);
    let code = |b: &[u8]| std::str::from_utf8(b).ok().and_then(|s| s.chars().next()).map_or(b[0] as u32, |c| c as u32);
    let item = |i: &mut usize| -> Option<Vec<u8>> {
        if p.get(*i) == Some(&b'\\') && flags & NOESCAPE == 0 {
            *i += 1;
        }
        let n = char_len(p.get(*i..).filter(|r| !r.is_empty())?);
        let v = p[*i..*i + n].to_vec();
        *i += n;
        Some(v)
    };
    loop {
        if *p.get(i)? == b']' {
            return Some((hit != negated, i + 1));
        }
        let lo = item(&mut i)?;
        if p.get(i) == Some(&b'-') && p.get(i + 1).is_some_and(|x| *x != b']') {
            i += 1;
            let hi = item(&mut i)?;
            let x = code(c);
            if code(&lo) <= x && x <= code(&hi) {
                hit = true;
            }
            if flags & CASEFOLD != 0 {
                let up = std::str::from_utf8(c).map_or(c.to_vec(), |s| s.to_uppercase().into_bytes());
                for v in [&folded, &up] {
                    let x = code(v);
                    if code(&lo) <= x && x <= code(&hi) {
                        hit = true;
                    }
                }
            }
        } else if same(&lo, c, flags) {
            hit = true;
        }
    }
}
/// Does a component need looking into a directory?
pub fn magic(p: &[u8], flags: u32) -> bool {
    let mut i = 0;
    while i < p.len() {
        match p[i] {
            b'*' | b'?' | b'[' => return true,
            b'\\' if flags & NOESCAPE == 0 => i += 1,
            c if flags & CASEFOLD != 0 && c.is_ascii_alphabetic() => return true,
            _ => {}
        }
        i += 1;
    }
    false
}
/// The component without its backslashes.
pub fn unescape(p: &[u8], flags: u32) -> Vec<u8> {
    if flags & NOESCAPE != 0 {
        return p.to_vec();
    }
    let mut out = Vec::with_capacity(p.len());
    let mut i = 0;
    while i < p.len() {
        if p[i] == b'\\' && i + 1 < p.len() {
            i += 1;
        }
        out.push(p[i]);
        i += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (p, s, f, want) in [
            ("cat", "cat", 0, true),
            ("c?t", "cat", 0, true),
            ("c*", "c/a/b/t", 0, true),
            ("c*t", "c/a/b/t", PATHNAME, false),
            ("ca[a-z]", "cat", 0, true),
            ("ca[^t]", "cat", 0, false),
            ("c{at,ub}s", "cats", 0, false),
            ("c{at,ub}s", "cubs", EXTGLOB, true),
            ("*", ".profile", 0, false),
            ("*", ".profile", DOTMATCH, true),
            ("**/*.rb", "a/b/c.rb", PATHNAME, true),
            ("**/*.rb", "c.rb", PATHNAME, true),
            ("**/*.rb", "a/.b/c.rb", PATHNAME, false),
            ("CAT", "cat", CASEFOLD, true),
            ("\\*", "*", 0, true),
            ("[/]", "/", PATHNAME, false),
            ("", "", 0, true),
            ("", "a", 0, false),
            ("*", "", 0, true),
            ("**", "a/b", 0, true),
            ("[a-c]", "b", 0, true),
            ("[!a-c]", "b", 0, false),
            ("[!a-c]", "d", 0, true),
            ("[c-a]", "b", 0, false),
            ("[]a]", "]", 0, false),
            ("[a", "[a", 0, false),
            ("[a\\]]", "]", 0, true),
            ("[A-Z]", "b", CASEFOLD, true),
            ("\\a", "a", 0, true),
            ("\\a", "a", NOESCAPE, false),
            ("\\a", "\\a", NOESCAPE, true),
            ("?", "\u{e9}", 0, true),
            ("[\u{e9}]", "\u{e9}", 0, true),
            ("?", "/", PATHNAME, false),
            ("*", "a/b", PATHNAME, false),
            ("**/b", "a/.c/b", PATHNAME | DOTMATCH, true),
            ("**/b", "a/.c/b", PATHNAME, false),
            ("**.rb", "lib/x.rb", 0, true),
            ("{a,b}", "a", 0, false),
            ("{a,{b,c}}d", "cd", EXTGLOB, true),
            ("a{,b}", "a", EXTGLOB, true),
            ("a{,b}", "ab", EXTGLOB, true),
            ("\\{a,b}", "{a,b}", EXTGLOB, true),
            ("{a", "{a", EXTGLOB, false),
            ("{a", "a", EXTGLOB, false),
            ("{{a}", "{a", EXTGLOB, false),
            ("{a}{b", "a{b", EXTGLOB, false),
            ("[{]a", "{a", EXTGLOB, false),
            ("a}", "a}", EXTGLOB, true),
            ("}{a,b}", "}a", EXTGLOB, true),
            ("{a,b}}", "a}", EXTGLOB, true),
            ("{}", "", EXTGLOB, true),
            ("a{b\\,c}", "ab,c", EXTGLOB, true),
            ("*/*", "a/.b", PATHNAME, false),
            ("*/*", "a/.b", PATHNAME | DOTMATCH, true),
            (".*", ".a", 0, true),
            ("[.]a", ".a", 0, false),
            ("?a", ".a", 0, false),
            ("?a", ".a", DOTMATCH, true),
            ("a*b*c", "axxbxxc", 0, true),
            ("a*b*c", "axxbxx", 0, false),
            ("*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaa", 0, false),
            ("a/", "a", PATHNAME, false),
        ] {
            assert_eq!(matches(p.as_bytes(), s.as_bytes(), f), want, "{p} {s}");
        }
    }
    #[test]
    fn braces_unfold_in_order() {
        let all = |p: &str| braces(p.as_bytes(), 0).into_iter().map(|p| String::from_utf8(p).unwrap()).collect::<Vec<_>>();
        assert_eq!(all("{a,b}{1,2}"), ["a1", "a2", "b1", "b2"]);
        assert_eq!(all("a{b,{c,d}}e"), ["abe", "ace", "ade"]);
        assert_eq!(all("a{,b}"), ["a", "ab"]);
        assert_eq!(all("\\{a,b}"), ["\\{a,b}"]);
        assert_eq!(all("plain"), ["plain"]);
    }

    #[test]
    fn names_without_pattern_are_plain() {
        assert!(magic(b"a*", 0) && magic(b"a?", 0) && magic(b"[a]", 0) && !magic(b"abc", 0));
        assert_eq!(unescape(b"a\\*b\\\\", 0), b"a*b\\");
        assert_eq!(unescape(b"a\\*b", NOESCAPE), b"a\\*b");
    }
}
