//! Which version of a document a response brings: what lets a broken connection be followed by a range request, and tells
//! when the document became another one.

use super::head::Head;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Validator {
    /// A strong entity tag, with its quotes.
    Tag(String),
    /// `Last-Modified`, where the response was made in another second (RFC 9110, section 8.8.2.2).
    Modified(String),
}

impl Validator {
    /// The strong validator of a response, if it has one.
    pub fn of(head: &Head) -> Option<Validator> {
        if let Some(tag) = head.get("etag") {
            // A weak tag says that the bytes may differ, and then a date says no more than the tag.
            return (tag.len() > 1 && tag.starts_with('"') && tag.ends_with('"')).then(|| Validator::Tag(tag.to_string()));
        }
        let modified = head.get("last-modified")?;
        (head.get("date") != Some(modified) && !modified.is_empty()).then(|| Validator::Modified(modified.to_string()))
    }

    /// The value of `If-Range`.
    pub fn text(&self) -> &str {
        match self {
            Validator::Tag(s) | Validator::Modified(s) => s,
        }
    }

    /// Whether a 206 may belong to this version: `If-Range` has made sure unless it says otherwise.
    pub fn allows(&self, head: &Head) -> bool {
        match self {
            Validator::Tag(tag) => head.get("etag").is_none_or(|t| t == tag),
            Validator::Modified(date) => head.get("last-modified").is_none_or(|d| d == date),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &str) -> Option<Validator> {
        let text = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
        Validator::of(&super::super::head::parse(text.as_bytes(), 0).unwrap().unwrap().0)
    }

    #[test]
    fn only_strong_ones() {
        assert_eq!(of("ETag: \"a\"\r\n"), Some(Validator::Tag("\"a\"".to_string())));
        assert_eq!(of("ETag: W/\"a\"\r\nLast-Modified: yesterday\r\n"), None);
        assert_eq!(of("Last-Modified: a\r\nDate: b\r\n"), Some(Validator::Modified("a".to_string())));
        assert_eq!(of("Last-Modified: a\r\nDate: a\r\n"), None);
        assert_eq!(of(""), None);
    }
}
