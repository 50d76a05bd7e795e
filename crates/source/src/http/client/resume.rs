//! Going on after a broken connection: whether, when, and with what answer. See the invariant of `Http`.

use super::super::body::Framing;
use super::super::head::Head;
use super::super::version::Validator;
use super::{Fail, Http, Phase, Step};
use crate::Error;
use crate::decode::Coding;
use std::time::{Duration, Instant};

/// Longest pause before another attempt.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Attempts for a request that was broken off before it had an answer.
const FRESH_ATTEMPTS: u32 = 2;

/// What the first answer told of the document.
pub(super) struct Version {
    pub(super) validator: Option<Validator>,
    pub(super) no_ranges: bool,
    pub(super) total: Option<u64>,
    pub(super) content_encoding: String,
    pub(super) codings: Vec<Coding>,
    pub(super) charset: Option<String>,
}

impl Http {
    /// An answer to a range request.
    pub(super) fn resumed(&mut self, head: &Head) -> Step {
        let Some(version) = &mut self.version else { return Ok(None) };
        let (url, got) = (self.name.clone(), self.got);
        let changed = Fail::Fatal(Error::Changed { url: url.clone(), offset: got });
        let status = Error::Status { code: head.code, reason: head.reason.clone(), url: url.clone(), body: Vec::new() };
        match head.code {
            200 | 206 => {}
            416 => {
                return match (head.whole_length(), version.total) {
                    // It had broken exactly at the end.
                    (Some(n), None) if n == got => self.enter(Phase::Done),
                    (Some(n), Some(total)) if n != total => {
                        let message = format!("the server announced {total} bytes and now says that there are {n}");
                        Err(Fail::Fatal(Error::Length { url, announced: total, message }))
                    }
                    _ => Err(Fail::Fatal(status)),
                };
            }
            408 | 429 | 500..=599 => return Err(Fail::Broke(status)),
            _ => return Err(Fail::Fatal(status)),
        }
        // An answer to If-Range need not say again what the client knows (RFC 9110, section 15.3.7).
        let said = head.code == 200 || head.get("content-encoding").is_some();
        if said && head.list("content-encoding") != version.content_encoding {
            return Err(changed);
        }
        let framing = match Framing::of(head, self.options.head_bytes) {
            Ok(framing) => framing,
            Err(message) => return Err(self.protocol(message)),
        };
        if head.code == 200 {
            let length = if let Framing::Length { announced, .. } = framing { Some(announced) } else { None };
            let same_length = length.is_none() || version.total.is_none() || length == version.total;
            if Validator::of(head) != version.validator || !same_length {
                return Err(changed);
            }
            self.skip = got;
            return self.enter(Phase::Body(framing));
        }
        if !version.validator.as_ref().is_some_and(|v| v.allows(head)) {
            return Err(changed);
        }
        let Some((first, last, total)) = head.range() else {
            return Err(self.protocol("the server sends a part of the document and does not say which".to_string()));
        };
        if first != got {
            return Err(self.protocol(format!("the server sends from byte {first} on where it was asked for byte {got}")));
        }
        if total.is_some() && version.total.is_some() && total != version.total {
            return Err(changed);
        }
        version.total = version.total.or(total);
        if let Framing::Length { announced, .. } = framing {
            if announced != (last - first).saturating_add(1) {
                return Err(self.protocol(format!("the server sends bytes {first} to {last} and announces {announced}")));
            }
        }
        self.enter(Phase::Body(framing))
    }

    /// Prepares another attempt, or says why there is none.
    pub(super) fn broke(&mut self, cause: Error) -> Result<(), Error> {
        self.hang_up();
        self.phase = Phase::Done;
        if self.got == 0 {
            // Nothing has been delivered, so the request may be made again; but what fails at once fails again.
            let again = matches!(cause, Error::Broken { .. } | Error::Length { .. });
            if !again || self.attempts >= self.options.retries.min(FRESH_ATTEMPTS) {
                return Err(cause);
            }
            self.version = None;
        } else {
            let why = match &self.version {
                Some(v) if v.no_ranges => Some("the server sends no parts of documents".to_string()),
                Some(Version { validator: Some(_), .. }) => match (self.attempts, self.options.retries) {
                    (_, 0) => Some("no further attempts are wanted".to_string()),
                    (made, most) if made >= most => Some(format!("{made} attempts failed")),
                    _ => None,
                },
                _ => Some("the server gives neither a strong ETag nor Last-Modified, by which to know the document again".to_string()),
            };
            if let Some(why) = why {
                return Err(Error::NotResumed { url: self.name.clone(), offset: self.got, why, cause: Box::new(cause) });
            }
        }
        let pause = self.options.backoff.saturating_mul(1 << self.attempts.min(16)).min(LONGEST_PAUSE);
        self.attempts += 1;
        self.phase = Phase::Pause(Instant::now() + pause);
        Ok(())
    }
}
