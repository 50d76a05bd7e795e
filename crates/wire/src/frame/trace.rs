//! Trace context of the W3C: which request of which user a message belongs to.

use std::fmt;

/// `traceparent` and `tracestate` (W3C Trace Context, level 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The whole trace.
    pub id: [u8; 16],
    /// The span that sent this.
    pub parent: [u8; 8],
    /// Bit 0: sampled.
    pub flags: u8,
    /// What vendors add; empty where there is none. It is passed on as it came.
    pub state: Box<str>,
}

/// The longest state that travels.
const STATE_MAX: usize = 512;
const FIXED: usize = 27;

impl Trace {
    /// Of the two headers. `None` where the first can't be read, or an id is all zeros: a trace that is broken begins anew.
    /// A state that is too long is dropped.
    pub fn parse(traceparent: &str, tracestate: &str) -> Option<Trace> {
        let text = traceparent.as_bytes();
        let dashes = text.len() >= 55 && [2, 35, 52].iter().all(|&at| text[at] == b'-');
        // Version 00 ends here; a later one may go on, after a dash.
        let ends = text.len() == 55 || text.get(..2)? != b"00" && text.get(55) == Some(&b'-');
        if !dashes || !ends || text.starts_with(b"ff") || hex::<1>(&text[..2]).is_none() {
            return None;
        }
        let (id, parent) = (hex::<16>(&text[3..35])?, hex::<8>(&text[36..52])?);
        let [flags] = hex::<1>(&text[53..55])?;
        let state = if tracestate.len() <= STATE_MAX { tracestate } else { "" };
        (id != [0; 16] && parent != [0; 8]).then(|| Trace { id, parent, flags, state: state.into() })
    }

    /// The first header. The second one is `state`.
    pub fn traceparent(&self) -> String {
        self.to_string()
    }

    pub(super) fn size(&self) -> usize {
        FIXED + self.sent_state().len()
    }

    fn sent_state(&self) -> &str {
        if self.state.len() <= STATE_MAX { &self.state } else { "" }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let state = self.sent_state();
        out.extend_from_slice(&self.id);
        out.extend_from_slice(&self.parent);
        out.push(self.flags);
        out.extend_from_slice(&(state.len() as u16).to_be_bytes());
        out.extend_from_slice(state.as_bytes());
    }

    /// The trace at the beginning of a payload, and how long it is.
    pub(super) fn decode(bytes: &[u8]) -> Option<(Trace, usize)> {
        let (fixed, rest) = bytes.split_first_chunk::<FIXED>()?;
        let n = usize::from(u16::from_be_bytes([fixed[25], fixed[26]]));
        let state = std::str::from_utf8(rest.get(..n).filter(|_| n <= STATE_MAX)?).ok()?;
        let (mut id, mut parent) = ([0; 16], [0; 8]);
        id.copy_from_slice(&fixed[..16]);
        parent.copy_from_slice(&fixed[16..24]);
        Some((Trace { id, parent, flags: fixed[24], state: state.into() }, FIXED + n))
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("00-")?;
        self.id.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str("-")?;
        self.parent.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        write!(f, "-{:02x}", self.flags)
    }
}

/// Lower-case digits only, as the specification has it.
fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let mut out = [0; N];
    for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(out)
}
