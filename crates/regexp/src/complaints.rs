//! What CRuby says with `-w` of a pattern that means something else than it seems to.
//!
//! **Invariant.** A pattern is read as far as it is understood: nothing here decides what matches, so that a construct it does not know
//! is passed over in silence. A class's members are kept as ranges of characters; of `\w` and its like only the ASCII ones, and names of
//! properties have none.

/// The complaints about a pattern's source, in the order of their places.
pub fn complaints(source: &[u8], extended: bool) -> Vec<String> {
    if source.len() > LONGEST || !source.contains(&b']') {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(source);
    let mut r = Reader { chars: text.chars().collect(), at: 0, extended, doubled: false, said: Vec::new() };
    r.pattern();
    let shown = shown(&text);
    r.said.iter().map(|what| format!("{what}: /{shown}/")).collect()
}

/// Nothing is said of longer patterns: no person wrote them, and members are compared with each other.
const LONGEST: usize = 10_000;
const DOUBLED: &str = "character class has duplicated range";
const DASH: &str = "character class has '-' without escape";
const CLOSE: &str = "character class has ']' without escape";
const LONE_CLOSE: &str = "regular expression has ']' without escape";

/// The source between slashes.
fn shown(text: &str) -> String {
    let (mut out, mut escaped) = (String::new(), false);
    for c in text.chars() {
        if c == '/' && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

/// Members of a class, or of what stands on one side of `&&`.
#[derive(Default)]
struct Members(Vec<(u32, u32)>);

impl Members {
    /// Adds a range: was a part of it there?
    fn add(&mut self, from: u32, to: u32) -> bool {
        let there = self.0.iter().any(|r| from <= r.1 && r.0 <= to);
        self.0.push((from, to));
        there
    }
}

/// What stands at a place in a class.
enum Item {
    One(u32),
    /// `\w`, `[:alpha:]`
    Many(&'static [(u8, u8)], bool),
    Unknown,
}

const DIGIT: &[(u8, u8)] = &[(b'0', b'9')];
const WORD: &[(u8, u8)] = &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')];
const SPACE: &[(u8, u8)] = &[(9, 13), (b' ', b' ')];
const HEX: &[(u8, u8)] = &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')];

fn posix(name: &str) -> Option<&'static [(u8, u8)]> {
    Some(match name {
        "alpha" => &[(b'A', b'Z'), (b'a', b'z')],
        "upper" => &[(b'A', b'Z')],
        "lower" => &[(b'a', b'z')],
        "digit" => DIGIT,
        "alnum" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
        "word" => WORD,
        "space" => SPACE,
        "blank" => &[(9, 9), (b' ', b' ')],
        "xdigit" => HEX,
        "cntrl" => &[(0, 31), (127, 127)],
        "graph" => &[(33, 126)],
        "print" => &[(32, 126)],
        "ascii" => &[(0, 127)],
        _ => return None,
    })
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    extended: bool,
    /// A doubled member is told of once.
    doubled: bool,
    said: Vec<&'static str>,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }
    fn next(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        Some(c)
    }
    fn say(&mut self, what: &'static str) {
        if what != DOUBLED || !std::mem::replace(&mut self.doubled, true) {
            self.said.push(what);
        }
    }
    fn pattern(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => self.at += 1,
                '[' => self.class(),
                ']' if self.at > 1 => self.say(LONE_CLOSE),
                '(' if self.peek(0) == Some('?') && self.peek(1) == Some('#') => self.skip(')'),
                '(' if self.peek(0) == Some('?') => self.flags(),
                '#' if self.extended => self.skip('\n'),
                _ => {}
            }
        }
    }
    /// Passes over everything up to an end.
    fn skip(&mut self, end: char) {
        while let Some(c) = self.next() {
            match c {
                '\\' if end == ')' => self.at += 1,
                c if c == end => return,
                _ => {}
            }
        }
    }
    /// `(?x)`: where it ends again is not looked for, comments are then left alone for good.
    fn flags(&mut self) {
        let letters: String = self.chars[self.at + 1..].iter().take_while(|c| c.is_ascii_alphabetic() || **c == '-').collect();
        if letters.split('-').next().is_some_and(|on| on.contains('x')) {
            self.extended = true;
        }
    }
    /// A class, behind its bracket.
    fn class(&mut self) {
        let mut depth: Vec<Members> = vec![Members::default()];
        self.opened();
        while let Some(c) = self.peek(0) {
            match c {
                ']' => {
                    self.at += 1;
                    let inner = depth.pop();
                    let Some(outer) = depth.last_mut() else { return };
                    // A class in a class joins it without a word.
                    outer.0.extend(inner.into_iter().flat_map(|m| m.0));
                    continue;
                }
                '[' if self.peek(1) != Some(':') => {
                    self.at += 1;
                    depth.push(Members::default());
                    self.opened();
                    continue;
                }
                '&' if self.peek(1) == Some('&') => {
                    self.at += 2;
                    if let Some(m) = depth.last_mut() {
                        *m = Members::default();
                    }
                    continue;
                }
                _ => {}
            }
            let first = self.item();
            let Some(members) = depth.last_mut() else { return };
            match first {
                Item::One(from) => {
                    let to = if self.dash() { self.until(from) } else { Some(from) };
                    let Some(to) = to else { return self.give_up() };
                    if members.add(from, to) {
                        self.say(DOUBLED);
                    }
                    if from == '-' as u32 && to != from {
                        self.say(DASH);
                    }
                    // `a-c-e`: what comes behind a range is no end of another.
                    if to != from && self.dash() {
                        self.say(DASH);
                        self.at += 1;
                        if members.add('-' as u32, '-' as u32) {
                            self.say(DOUBLED);
                        }
                    }
                }
                Item::Many(ranges, not) => {
                    let inside = |c: &u32| ranges.iter().any(|r| (r.0 as u32..=r.1 as u32).contains(c));
                    let mut twice = false;
                    for c in (0..128).filter(|c| inside(c) != not) {
                        twice |= members.add(c, c);
                    }
                    if twice {
                        self.say(DOUBLED);
                    }
                    if self.dash() {
                        return self.give_up();
                    }
                }
                Item::Unknown => {}
            }
        }
    }
    /// Such a class is an error, or not understood: nothing more is said.
    fn give_up(&mut self) {
        self.at = self.chars.len();
    }
    /// Behind the bracket that opens a class: what it excludes, and a bracket that closes nothing.
    fn opened(&mut self) {
        if self.peek(0) == Some('^') {
            self.at += 1;
        }
        if self.peek(0) == Some(']') && self.chars[self.at + 1..].contains(&']') {
            self.at += 1;
            self.say(CLOSE);
        }
    }
    /// Does a dash stand here that has something to reach to?
    fn dash(&self) -> bool {
        self.peek(0) == Some('-') && self.peek(1).is_some_and(|c| c != ']' && !(c == '[' || c == '&' && self.peek(2) == Some('&')))
    }
    /// The end of a range, whose dash stands here. `None`: there is nothing to be said of such a class.
    fn until(&mut self, from: u32) -> Option<u32> {
        self.at += 1;
        match self.item() {
            Item::One(to) if to >= from => {
                if to == '-' as u32 && self.chars.get(self.at.wrapping_sub(2)) == Some(&'-') {
                    self.say(DASH);
                }
                Some(to)
            }
            _ => None,
        }
    }
    /// One member, or a named set of them.
    fn item(&mut self) -> Item {
        let Some(c) = self.next() else { return Item::Unknown };
        match c {
            '[' => {
                let rest: String = self.chars[self.at..].iter().take(16).collect();
                let Some((name, _)) = rest.get(1..).and_then(|r| r.split_once(":]")) else { return Item::One('[' as u32) };
                self.at += name.chars().count() + 3;
                let not = name.starts_with('^');
                posix(name.trim_start_matches('^')).map_or(Item::Unknown, |r| Item::Many(r, not))
            }
            '\\' => self.escape(),
            c => Item::One(c as u32),
        }
    }
    fn escape(&mut self) -> Item {
        let Some(c) = self.next() else { return Item::Unknown };
        let set = |r| Item::Many(r, c.is_ascii_uppercase());
        match c {
            'w' | 'W' => set(WORD),
            'd' | 'D' => set(DIGIT),
            's' | 'S' => set(SPACE),
            'h' | 'H' => set(HEX),
            'n' => Item::One(10),
            't' => Item::One(9),
            'r' => Item::One(13),
            'f' => Item::One(12),
            'v' => Item::One(11),
            'a' => Item::One(7),
            'e' => Item::One(27),
            'b' => Item::One(8),
            'x' => self.digits(16, 2).filter(|n| *n < 128).map_or(Item::Unknown, Item::One),
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3).filter(|n| *n < 128).map_or(Item::Unknown, Item::One)
            }
            'u' if self.peek(0) == Some('{') => {
                self.skip('}');
                Item::Unknown
            }
            'u' => self.digits(16, 4).map_or(Item::Unknown, Item::One),
            'p' | 'P' if self.peek(0) == Some('{') => {
                self.skip('}');
                Item::Unknown
            }
            'c' | 'C' | 'M' => {
                // `\cA`, `\C-a`, `\M-\C-a`: left alone, with all that belongs to them.
                self.at += if c == 'c' { 1 } else { 2 };
                Item::Unknown
            }
            c if c.is_ascii_alphanumeric() => Item::Unknown,
            c => Item::One(c as u32),
        }
    }
    fn digits(&mut self, base: u32, most: usize) -> Option<u32> {
        let mut n = None;
        for _ in 0..most {
            let Some(d) = self.peek(0).and_then(|c| c.to_digit(base)) else { break };
            self.at += 1;
            n = Some(n.unwrap_or(0) * base + d);
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::complaints;

    #[test]
    fn what_cruby_says() {
        let one = |s: &str| complaints(s.as_bytes(), false).join("\n").replace(&format!(": /{s}/"), "");
        let doubled = r"[aa] [a-cb] [\w\d] [\w_] [\s\t] [\d\h] [[:alpha:]a] [[:alpha:][:upper:]] [a\-a] [-a-] [a&&aa] [\n\n] [\x41A] [\101A] \
            [#a#] [.,;:!?.] (?<a>[bb]) [a-z\w] [\wa-z] [ba-z] [0-9a-f0-9] [éé] [[a]a] [^aa] [aa][bb] #[aa] [[:space:]\s]";
        for s in doubled.split_whitespace().filter(|s| s.len() > 1) {
            assert_eq!(one(s), super::DOUBLED, "{s}");
        }
        let nothing = r"[a-a] [aA] [a&&a] [a-c[b]] [^\W\d] [a\-b] [a-] [-a] [\w-] [--- [&&a] [\]] [a-zA-Z0-9_.-] [^a-z^] [\[\]] [\\] [\s\S] \
            [\d\D] [\w\W] \[aa\] (?#[aa]) ] [] [ [a [[:nope:]a] \[ a\ [[: [[:alpha [\ [a- [\x [\u{ [\c [&& [^ [^] [a-c-]";
        for s in nothing.split_whitespace().filter(|s| s.len() > 1) {
            assert_eq!(one(s), "", "{s}");
        }
        assert_eq!((one("[a-c-e]"), one("[--a]"), one("[+--]")), (super::DASH.into(), super::DASH.into(), super::DASH.into()));
        assert_eq!((one("[]a]"), one("[^]a]"), one("a]")), (super::CLOSE.into(), super::CLOSE.into(), super::LONE_CLOSE.into()));
        assert_eq!(complaints(b"a # [aa]\n[//]", true), ["character class has duplicated range: /a # [aa]\n[\\/\\/]/"]);
    }
}
