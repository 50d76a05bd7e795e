//! One flat object of JSON on a line: strings, numbers, true, false and null.

/// What a member is.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Text(String),
    Number(u64),
    True,
    /// Also null.
    False,
}

/// The members of an object; or what is wrong with it.
pub fn object(line: &str) -> Result<Vec<(String, Json)>, String> {
    let mut at = Cursor { rest: line };
    let mut members = Vec::new();
    at.expect('{')?;
    if !at.next_is('}') {
        loop {
            let name = at.text()?;
            at.expect(':')?;
            members.push((name, at.value()?));
            if at.next_is('}') {
                break;
            }
            at.expect(',')?;
        }
    }
    match at.rest.trim() {
        "" => Ok(members),
        more => Err(format!("after the object stands {}", short(more))),
    }
}

struct Cursor<'a> {
    rest: &'a str,
}

impl Cursor<'_> {
    fn next_is(&mut self, c: char) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(c);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }
    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.next_is(c) { Ok(()) } else { Err(format!("{c:?} is missing at {}", short(self.rest))) }
    }
    fn word(&mut self, word: &str) -> bool {
        let found = self.rest.strip_prefix(word);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }
    fn value(&mut self) -> Result<Json, String> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('"') {
            return self.text().map(Json::Text);
        }
        if self.word("true") {
            return Ok(Json::True);
        }
        if self.word("false") || self.word("null") {
            return Ok(Json::False);
        }
        let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = self.rest[..digits].parse().map_err(|_| format!("no value is {}", short(self.rest)))?;
        self.rest = &self.rest[digits..];
        Ok(Json::Number(number))
    }
    fn text(&mut self) -> Result<String, String> {
        self.expect('"')?;
        let mut out = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[i + 1..];
                    return Ok(out);
                }
                '\\' => out.push(match chars.next().map(|x| x.1) {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('b') => '\u{8}',
                    Some('f') => '\u{c}',
                    Some('u') => {
                        let code = (0..4).try_fold(0, |n, _| Some(n * 16 + chars.next()?.1.to_digit(16)?));
                        // Halves of pairs are not what names are made of.
                        code.map(|n| char::from_u32(n).unwrap_or('\u{FFFD}')).ok_or("a string has half a \\u")?
                    }
                    Some(c @ ('"' | '\\' | '/')) => c,
                    _ => return Err("a string has an unknown escape".into()),
                }),
                c => out.push(c),
            }
        }
        Err("a string has no end".into())
    }
}

fn short(text: &str) -> String {
    format!("{:?}", text.chars().take(20).collect::<String>())
}
