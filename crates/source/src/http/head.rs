//! The head of a response: status line and header fields, found by `httparse` in what has come so far.

/// Header fields a response may have.
const MOST_FIELDS: usize = 200;

#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub code: u16,
    pub reason: String,
    /// Names in lower case.
    fields: Vec<(String, String)>,
}

impl Head {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// All values of a list field as one.
    pub fn list(&self, name: &str) -> String {
        self.all(name).collect::<Vec<_>>().join(",")
    }

    /// The announced length of the body.
    pub fn length(&self) -> Result<Option<u64>, String> {
        let mut found = None;
        for v in self.all("content-length").flat_map(|v| v.split(',')) {
            let v = v.trim();
            let n = v.parse::<u64>().ok().filter(|_| v.bytes().all(|b| b.is_ascii_digit()));
            let n = n.ok_or_else(|| format!("the length '{}' is no number", excerpt(v.as_bytes())))?;
            if found.is_some_and(|f| f != n) {
                return Err("the server announces two different lengths".to_string());
            }
            found = Some(n);
        }
        Ok(found)
    }

    /// `charset` of the content type.
    pub fn charset(&self) -> Option<String> {
        let (_, parameters) = self.get("content-type")?.split_once(';')?;
        parameters.split(';').find_map(|p| {
            let (name, value) = p.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_string())
        })
    }

    /// The first and last byte and the whole length that a 206 tells of.
    pub fn range(&self) -> Option<(u64, u64, Option<u64>)> {
        let (range, total) = self.get("content-range")?.trim().strip_prefix("bytes")?.trim().split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let total = match total.trim() {
            "*" => None,
            n => Some(n.parse().ok()?),
        };
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse::<u64>().ok()?);
        (first <= last).then_some((first, last, total))
    }

    /// The whole length that a 416 tells of.
    pub fn whole_length(&self) -> Option<u64> {
        self.get("content-range")?.trim().strip_prefix("bytes")?.trim().strip_prefix("*/")?.trim().parse().ok()
    }
}

/// Looks for a head at the front of `bytes`, of which `seen` were looked at before; gives it with its length.
pub(crate) fn parse(bytes: &[u8], seen: usize) -> Result<Option<(Head, usize)>, String> {
    let start = b"HTTP/1.";
    let n = bytes.len().min(start.len());
    if bytes[..n] != start[..n] {
        return Err(match bytes.first() {
            Some(0x15 | 0x16) => "the server answers in TLS; the address should begin with https://".to_string(),
            _ => format!("the answer is not HTTP/1.1; it begins with '{}'", excerpt(bytes)),
        });
    }
    // Looking for the empty line first keeps the work linear when bytes come one by one.
    let from = seen.saturating_sub(3);
    let complete =
        bytes[from..].windows(2).enumerate().any(|(i, w)| w == b"\n\n" || w == b"\n\r" && bytes.get(from + i + 2) == Some(&b'\n'));
    if !complete {
        return Ok(None);
    }
    let mut fields = vec![httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let mut config = httparse::ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true).allow_spaces_after_header_name_in_responses(true);
    let end = match config.parse_response(&mut response, bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(format!("the answer has more than {MOST_FIELDS} header fields")),
        Err(e) => return Err(format!("the answer's head is not HTTP ({e}): '{}'", excerpt(bytes))),
    };
    let text = |b: &[u8]| String::from_utf8_lossy(b).trim().to_string();
    let head = Head {
        code: response.code.unwrap_or(0),
        reason: text(response.reason.unwrap_or("").as_bytes()),
        fields: response.headers.iter().map(|h| (h.name.to_ascii_lowercase(), text(h.value))).collect(),
    };
    Ok(Some((head, end)))
}

/// The first line, or what of it a message has room for.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let line = bytes.split(|b| *b == b'\n' || *b == b'\r').next().unwrap_or(b"");
    line[..line.len().min(60)].escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(s: &str) -> Head {
        parse(s.as_bytes(), 0).unwrap().unwrap().0
    }

    #[test]
    fn heads() {
        let text = "HTTP/1.1 200 All right\r\nContent-Length: 5\r\nContent-Type: text/xml; a=b; Charset=\"UTF-16\"\r\n\r\nbody";
        for n in 0..text.len() - 5 {
            assert!(parse(&text.as_bytes()[..n], n.saturating_sub(1)).unwrap().is_none(), "{n}");
        }
        let (h, end) = parse(text.as_bytes(), 60).unwrap().unwrap();
        assert_eq!((h.code, h.reason.as_str(), end), (200, "All right", text.len() - 4));
        assert_eq!(h.length().unwrap(), Some(5));
        assert_eq!(h.charset().as_deref(), Some("UTF-16"));
        assert_eq!(head("HTTP/1.0 404\nX: y\n\n").code, 404);
    }

    #[test]
    fn contradictions_and_rubbish() {
        assert!(head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n").length().is_err());
        assert!(head("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n").length().is_err());
        assert!(head("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n").length().is_err());
        assert_eq!(head("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n").length(), Ok(Some(5)));
        assert!(parse(b"<html>", 0).unwrap_err().contains("<html>"));
        assert!(parse(b"HTTP/1.1 abc\r\n\r\n", 0).is_err());
        assert!(parse(b"\x15\x03", 0).unwrap_err().contains("https"));
    }

    #[test]
    fn ranges() {
        assert_eq!(head("HTTP/1.1 206 x\r\nContent-Range: bytes 5-9/10\r\n\r\n").range(), Some((5, 9, Some(10))));
        assert_eq!(head("HTTP/1.1 206 x\r\nContent-Range: bytes 5-9/*\r\n\r\n").range(), Some((5, 9, None)));
        assert_eq!(head("HTTP/1.1 206 x\r\nContent-Range: bytes 9-5/10\r\n\r\n").range(), None);
        assert_eq!(head("HTTP/1.1 416 x\r\nContent-Range: bytes */10\r\n\r\n").whole_length(), Some(10));
    }
}
