//! Where Onigmo (CRuby's engine) and Oniguruma read the same text differently, the text is
//! rewritten: `\w \d \s` mean ASCII unless `(?u)`, `(?a)` narrows brackets and `\b`,
//! and `\y \Y` are plain letters.
//!
//! Invariant: the rewriting keeps every group, so group numbers, names and messages stay
//! those of the text the user wrote; text that isn't understood passes unchanged, and the
//! engine reports it.

use kumi_budget::Grow;
use kumi_text::EncIndex;

/// Which characters the short classes mean: options `d` (default), `a` and `u`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Charset {
    Default,
    Ascii,
    Unicode,
}

#[derive(Clone, Copy)]
struct Mode {
    extended: bool,
    ignorecase: bool,
    /// Alternatives still allowed in a conditional group, `None` elsewhere.
    alternatives: Option<u8>,
    charset: Charset,
}

const WORD: &str = "a-zA-Z0-9_";
const SPACE: &str = "\\t\\n\\v\\f\\r\\x20";

/// The ASCII members of a POSIX bracket, for `(?a)`.
fn posix_ascii(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"alpha" => "a-zA-Z",
        b"digit" => "0-9",
        b"alnum" => "a-zA-Z0-9",
        b"upper" => "A-Z",
        b"lower" => "a-z",
        b"space" => SPACE,
        b"blank" => " \\t",
        b"cntrl" => "\\x00-\\x1f\\x7f",
        b"punct" => "!-/:-@\\[-`{-~",
        b"print" => "\\x20-\\x7e",
        b"graph" => "!-~",
        b"xdigit" => "0-9a-fA-F",
        b"word" => WORD,
        b"ascii" => "\\x00-\\x7f",
        _ => return None,
    })
}

/// Length of the POSIX bracket that `rest` begins with; `None`: `[:` begins a class of its own, as the engine sees it.
pub(crate) fn posix_bracket(rest: &[u8]) -> Option<usize> {
    let name = rest.strip_prefix(b"[:")?;
    let begins = usize::from(name.first() == Some(&b'^'));
    let n = begins + name[begins..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
    (n > 0 && name[n..].starts_with(b":]")).then_some(n + 4)
}

/// The bounds of `{n,m}` at the start of `rest` if both are given.
fn interval(rest: &[u8]) -> Option<(u64, u64)> {
    let end = memchr::memchr(b'}', rest)?;
    let (low, high) = std::str::from_utf8(&rest[1..end]).ok()?.split_once(',')?;
    Some((low.parse().ok()?, high.parse().ok()?))
}

/// An open group.
struct Group {
    /// Where it begins in the output.
    start: usize,
    /// It looks ahead or behind.
    looks: bool,
    /// It neither captures nor looks.
    plain: bool,
}

/// The least number of times and the length of the quantifier at the start of `rest`.
fn quantifier(rest: &[u8]) -> Option<(usize, usize)> {
    let (low, mut n) = match rest[0] {
        b'?' | b'*' => (0, 1),
        b'+' => (1, 1),
        b'{' => {
            let end = memchr::memchr(b'}', rest)?;
            let inner = std::str::from_utf8(&rest[1..end]).ok()?;
            let (low, high) = inner.split_once(',').unwrap_or((inner, "0"));
            let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
            if inner.is_empty() || inner == "," || !digits(low) || !digits(high) {
                return None;
            }
            (low.parse().unwrap_or(0), end + 1)
        }
        _ => return None,
    };
    if matches!(rest.get(n), Some(b'?' | b'+')) {
        n += 1;
    }
    Some((low, n))
}

/// Rewrites engine text in encoding `enc`.
///
/// # Errors
/// CRuby's message for what Oniguruma would accept.
pub(crate) fn adapt(text: &[u8], enc: EncIndex, extended: bool, ignorecase: bool) -> Result<Vec<u8>, String> {
    let mut out: Vec<u8> = Vec::room(text.len() + 16);
    let mut mode = Mode { extended, ignorecase, alternatives: None, charset: Charset::Default };
    let mut stack: Vec<Mode> = Vec::new();
    // Where open groups begin in the output, and what they are.
    let mut groups: Vec<Group> = Vec::new();
    // Where in the output the assertion begins that stands right before.
    let mut assertion: Option<usize> = None;
    // Nothing but that assertion stands in its branch so far.
    let mut branch_start = 0usize;
    let mut class_depth = 0usize;
    let mut i = 0;
    while i < text.len() {
        let rest = &text[i..];
        let b = rest[0];
        let before = assertion.take();
        if let (Some(at), 0, Some((low, n))) = (before, class_depth, quantifier(rest)) {
            // The engine refuses to repeat an assertion; once is as good as often.
            if low == 0 {
                let atom = out.split_off(at);
                out.extend_from_slice(b"(?:");
                out.extend_from_slice(&atom);
                out.extend_from_slice(b"|)");
            }
            i += n;
            continue;
        }
        if class_depth == 0 && matches!(b, b'|' | b')') && before == Some(branch_start) && groups.last().is_some_and(|g| g.plain) {
            // ... nor a group with a branch that is one: make the branch a sequence.
            out.extend_from_slice(b"(?:)");
        }
        if b >= 0x80 {
            let n = enc.char_len(rest).step().max(1);
            out.extend_from_slice(&rest[..n]);
            i += n;
            continue;
        }
        if b == b'\\' {
            let n = 1 + rest.get(1..).map_or(0, |r| if r.is_empty() { 0 } else { enc.char_len(r).step() });
            let plain = &rest[..n];
            let c = rest.get(1).copied().unwrap_or(0);
            i += n;
            match (short_class(c, mode.charset), class_depth > 0) {
                (Some((set, false)), true) => out.extend_from_slice(set.as_bytes()),
                (Some((set, true)), true) => out.extend_from_slice(format!("[^{set}]").as_bytes()),
                // Folding would let U+017F match `s`.
                (Some((set, negated)), false) if mode.ignorecase && c != b'd' && c != b'D' => {
                    let not = if negated { "^" } else { "" };
                    out.extend_from_slice(format!("(?-i:[{not}{set}])").as_bytes());
                }
                (Some((set, false)), false) => out.extend_from_slice(format!("[{set}]").as_bytes()),
                (Some((set, true)), false) => out.extend_from_slice(format!("[^{set}]").as_bytes()),
                (None, in_class) => match c {
                    b'p' | b'P' if text.get(i) == Some(&b'{') && !text[i..].contains(&b'}') => {
                        let name = String::from_utf8_lossy(&text[i + 1..]);
                        return Err(format!("invalid character property name {{{name}}}"));
                    }
                    b'b' | b'B' | b'A' | b'z' | b'Z' | b'G'
                        if !in_class && (mode.charset != Charset::Ascii || !matches!(c, b'b' | b'B')) =>
                    {
                        assertion = Some(out.len());
                        out.extend_from_slice(plain);
                    }
                    b'y' | b'Y' => out.push(c),
                    b'b' if mode.charset == Charset::Ascii && !in_class => {
                        out.extend_from_slice(format!("(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))").as_bytes())
                    }
                    b'B' if mode.charset == Charset::Ascii && !in_class => {
                        out.extend_from_slice(format!("(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))").as_bytes())
                    }
                    _ => out.extend_from_slice(plain),
                },
            }
            continue;
        }
        if class_depth > 0 {
            match b {
                b'[' if rest.starts_with(b"[:") => {
                    if let Some(n) = posix_bracket(rest) {
                        let name = &rest[2..n - 2];
                        let (negated, bare) = match name.strip_prefix(b"^") {
                            Some(bare) => (true, bare),
                            None => (false, name),
                        };
                        match posix_ascii(bare) {
                            Some(set) if mode.charset == Charset::Ascii => {
                                let text = if negated { format!("[^{set}]") } else { set.to_string() };
                                out.extend_from_slice(text.as_bytes());
                            }
                            // Join controls are word characters by UTS 18.
                            _ if bare == b"word" && !negated && enc.is_utf8() => {
                                out.extend_from_slice("[:word:]\u{200C}\u{200D}".as_bytes())
                            }
                            _ => out.extend_from_slice(&rest[..n]),
                        }
                        i += n;
                        continue;
                    }
                    class_depth += 1;
                }
                b'[' => class_depth += 1,
                b']' => class_depth -= 1,
                _ => {}
            }
            out.push(b);
            i += 1;
            // A bracket right at the start of a class is a member.
            if b == b'[' {
                i += open_class(&text[i..], &mut out);
            }
            continue;
        }
        match b {
            b'[' => {
                if mode.ignorecase
                    && mode.charset == Charset::Default
                    && let Some((apart, others, n)) = negated_members(rest, enc)
                {
                    // Without case the engine takes some of their members for what they stand for: a ligature, for its letters.
                    out.extend_from_slice(b"(?:");
                    for (k, c) in apart.iter().enumerate() {
                        let bar = if k > 0 { "|" } else { "" };
                        let one = short_class(*c, mode.charset).map_or(format!("\\{}", *c as char), |(set, _)| format!("[^{set}]"));
                        out.extend_from_slice(format!("{bar}(?-i:{one})").as_bytes());
                    }
                    if !others.is_empty() {
                        let class = [&b"["[..], &others, b"]"].concat();
                        out.push(b'|');
                        out.extend_from_slice(&adapt(&class, enc, mode.extended, true)?);
                    }
                    out.push(b')');
                    i += n;
                    continue;
                }
                class_depth = 1;
                out.push(b);
                i += 1;
                i += open_class(&text[i..], &mut out);
                continue;
            }
            b'#' if mode.extended => {
                let n = memchr::memchr(b'\n', rest).map_or(rest.len(), |p| p + 1);
                out.extend_from_slice(&rest[..n]);
                i += n;
                continue;
            }
            b'(' if rest.starts_with(b"(?#") => {
                let mut n = 3;
                while n < rest.len() && rest[n] != b')' {
                    n += if rest[n] == b'\\' { 2 } else { 1 };
                }
                let n = (n + 1).min(rest.len());
                out.extend_from_slice(&rest[..n]);
                i += n;
                continue;
            }
            b'(' => {
                if let Some((options, n, scoped)) = option_group(rest, mode) {
                    if scoped {
                        stack.push(mode);
                        groups.push(Group { start: out.len(), looks: false, plain: true });
                    }
                    out.extend_from_slice(&options.0);
                    mode = options.1;
                    i += n;
                    branch_start = out.len();
                    continue;
                }
                stack.push(mode);
                let looks = [&b"(?="[..], b"(?!", b"(?<=", b"(?<!"].iter().any(|p| rest.starts_with(p));
                groups.push(Group { start: out.len(), looks, plain: rest.starts_with(b"(?:") });
                if rest.starts_with(b"(?(") && !matches!(rest.get(3), Some(b'0'..=b'9' | b'<' | b'\'')) {
                    return Err("invalid conditional pattern".into());
                }
                mode.alternatives = rest.starts_with(b"(?(").then_some(1);
                if mode.alternatives.is_some() {
                    // The condition's own parentheses.
                    let n = memchr::memchr(b')', rest).map_or(rest.len(), |p| p + 1);
                    out.extend_from_slice(&rest[..n]);
                    i += n;
                    continue;
                }
            }
            b'^' | b'$' => assertion = Some(out.len()),
            b'|' => match &mut mode.alternatives {
                Some(0) => return Err("invalid conditional pattern".into()),
                Some(n) => *n -= 1,
                None => {}
            },
            b'{' => {
                if let Some((low, high)) = interval(rest)
                    && low > high
                {
                    return Err("upper is smaller than lower in repeat range".into());
                }
            }
            b')' => {
                if let Some(outer) = stack.pop() {
                    mode = outer;
                }
                if let Some(g) = groups.pop()
                    && g.looks
                {
                    assertion = Some(g.start);
                }
            }
            _ => {}
        }
        out.push(b);
        i += 1;
        if b == b'(' && rest.starts_with(b"(?:") {
            out.extend_from_slice(b"?:");
            i += 2;
            branch_start = out.len();
        } else if b == b'|' {
            branch_start = out.len();
        }
    }
    Ok(out)
}

/// The negated short classes (`\W \D \S \H`) among the members of the class that `rest` begins with, the other members, and its length; `None` where
/// there are none, or the class is negated or made of others.
fn negated_members(rest: &[u8], enc: EncIndex) -> Option<(Vec<u8>, Vec<u8>, usize)> {
    let (mut apart, mut others) = (Vec::new(), Vec::new());
    let mut i = 1;
    if matches!(rest.get(1), Some(b'^' | b']')) {
        return None;
    }
    loop {
        match *rest.get(i)? {
            b']' => break,
            b'[' if rest[i..].starts_with(b"[:") => {
                let n = posix_bracket(&rest[i..])?;
                others.extend_from_slice(&rest[i..i + n]);
                i += n;
            }
            b'[' => return None,
            // Also where what stands between them is taken away.
            b'&' if rest.get(i + 1) == Some(&b'&') || others.last() == Some(&b'&') => return None,
            // It would negate what is left.
            b'^' if others.is_empty() => {
                others.extend_from_slice(b"\\^");
                i += 1;
            }
            b'\\' => {
                let c = *rest.get(i + 1)?;
                if matches!(c, b'c' | b'C' | b'M') || c >= 0x80 {
                    // What follows belongs to it.
                    return None;
                }
                if !matches!(c, b'W' | b'D' | b'S' | b'H') {
                    others.extend_from_slice(&rest[i..i + 2]);
                } else if others.len() > 1 && others.last() == Some(&b'-')
                    || rest.get(i + 2) == Some(&b'-') && rest.get(i + 3) != Some(&b']')
                {
                    // An end of a range: the engine's affair.
                    return None;
                } else {
                    apart.push(c);
                }
                i += 2;
            }
            b => {
                let n = if b < 0x80 { 1 } else { enc.char_len(&rest[i..]).step().max(1) };
                others.extend_from_slice(rest.get(i..i + n)?);
                i += n;
            }
        }
    }
    (!apart.is_empty()).then_some((apart, others, i + 1))
}

/// Copies what right after `[` is not a closing bracket: `^`, then `]`.
fn open_class(rest: &[u8], out: &mut Vec<u8>) -> usize {
    let mut n = 0;
    if rest.first() == Some(&b'^') {
        n += 1;
    }
    // `[]` closes if nothing else does; the engine decides the same way.
    if rest.get(n) == Some(&b']') && rest[n + 1..].contains(&b']') {
        n += 1;
    }
    out.extend_from_slice(&rest[..n]);
    n
}

/// Members of `\w` and its like, and whether negated; `None` if the engine's reading is
/// right.
fn short_class(c: u8, charset: Charset) -> Option<(&'static str, bool)> {
    if charset == Charset::Unicode {
        return None;
    }
    Some(match c {
        b'w' => (WORD, false),
        b'W' => (WORD, true),
        b'd' => ("0-9", false),
        b'D' => ("0-9", true),
        b's' => (SPACE, false),
        b'S' => (SPACE, true),
        _ => return None,
    })
}

/// Reads `(?imxadu-imx)` or `(?...:`: the text without `adu` with the mode that follows,
/// the bytes read, and whether a group was opened.
#[allow(clippy::type_complexity)]
fn option_group(rest: &[u8], mode: Mode) -> Option<((Vec<u8>, Mode), usize, bool)> {
    let mut new = Mode { alternatives: None, ..mode };
    let mut text = b"(?".to_vec();
    let mut on = true;
    let mut i = 2;
    if rest.get(1) != Some(&b'?') {
        return None;
    }
    loop {
        match rest.get(i)? {
            b'-' if on => {
                on = false;
                text.push(b'-');
            }
            b'x' => {
                new.extended = on;
                text.push(b'x');
            }
            b'i' => {
                new.ignorecase = on;
                text.push(b'i');
            }
            b'm' => text.push(b'm'),
            b'a' if on => new.charset = Charset::Ascii,
            b'd' if on => new.charset = Charset::Default,
            b'u' if on => new.charset = Charset::Unicode,
            &c @ (b':' | b')') if i > 2 => {
                if c == b')' {
                    new.alternatives = mode.alternatives;
                }
                text.push(c);
                if text == b"(?)" {
                    // Only `adu`: the mode changed, nothing is left for the engine.
                    text.clear();
                }
                return Some(((text, new), i + 1, c == b':'));
            }
            _ => return None,
        }
        i += 1;
    }
}
