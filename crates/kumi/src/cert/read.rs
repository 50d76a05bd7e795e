//! What is shown of a certificate: until when it is good, and whom it names. Just so much DER is read.

use super::days::Days;
use std::net::IpAddr;

/// What a certificate says.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    pub until: Days,
    /// Names of the DNS and IP addresses.
    pub names: Vec<String>,
}

/// The first certificate of a PEM text, with its lines.
pub fn first(pem: &str) -> Option<String> {
    const END: &str = "-----END CERTIFICATE-----";
    let from = pem.find("-----BEGIN CERTIFICATE-----")?;
    let long = pem[from..].find(END)? + END.len();
    Some(format!("{}\n", &pem[from..from + long]))
}

/// Reads the first certificate of a PEM text.
pub fn certificate(pem: &str) -> Option<Seen> {
    let one = first(pem)?;
    let base64: String = one.lines().filter(|l| !l.starts_with("-----")).collect();
    seen(&decode(&base64)?)
}

fn decode(base64: &str) -> Option<Vec<u8>> {
    let (mut out, mut bits, mut n) = (Vec::new(), 0u32, 0);
    for b in base64.trim_end_matches('=').bytes() {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        n += 6;
        if n >= 8 {
            n -= 8;
            out.push((bits >> n) as u8);
        }
    }
    Some(out)
}

/// Tag, content and what follows.
fn next(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&long, mut rest) = rest.split_first()?;
    let mut size = usize::from(long);
    if long >= 0x80 {
        let n = usize::from(long & 0x7f);
        let digits = rest.get(..n).filter(|_| (1..=4).contains(&n))?;
        size = digits.iter().fold(0, |all, d| all << 8 | usize::from(*d));
        rest = &rest[n..];
    }
    Some((tag, rest.get(..size)?, rest.get(size..)?))
}

const SEQUENCE: u8 = 0x30;
/// subjectAltName, 2.5.29.17.
const ALT_NAMES: [u8; 5] = [0x06, 0x03, 0x55, 0x1d, 0x11];

fn seen(der: &[u8]) -> Option<Seen> {
    let (_, certificate, _) = next(der).filter(|x| x.0 == SEQUENCE)?;
    let (_, mut rest, _) = next(certificate).filter(|x| x.0 == SEQUENCE)?;
    let (mut dates, mut sequences, mut names) = (None, 0, Vec::new());
    while let Some((tag, content, after)) = next(rest) {
        match tag {
            // The algorithm, the issuer, then the validity.
            SEQUENCE => {
                sequences += 1;
                if sequences == 3 {
                    dates = Some(content);
                }
            }
            0xa3 => names = alt_names(next(content)?.1),
            _ => {}
        }
        rest = after;
    }
    let (tag, until, _) = next(next(dates?)?.2)?;
    Some(Seen { until: day(tag, until)?, names })
}

/// UTCTime has two digits of its year, GeneralizedTime four.
fn day(tag: u8, text: &[u8]) -> Option<Days> {
    let text = std::str::from_utf8(text).ok().filter(|t| t.is_ascii())?;
    let at = if tag == 0x17 { 2 } else { 4 };
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok().map(i64::from);
    let year = match number(0, at)? {
        y if tag != 0x17 => y,
        y if y < 50 => 2000 + y,
        y => 1900 + y,
    };
    Some(Days::of(year, number(at, at + 2)?, number(at + 2, at + 4)?))
}

fn alt_names(mut extensions: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    while let Some((_, extension, after)) = next(extensions) {
        extensions = after;
        let Some(mut rest) = extension.strip_prefix(&ALT_NAMES) else { continue };
        // Whether it is critical may come first; what counts is in an octet string.
        while let Some((tag, content, after)) = next(rest) {
            rest = after;
            let mut list = if tag == 0x04 { next(content).map_or(&[][..], |x| x.1) } else { &[] };
            while let Some((tag, name, after)) = next(list) {
                list = after;
                let ip = || match name.len() {
                    4 => Some(IpAddr::from(<[u8; 4]>::try_from(name).ok()?)),
                    _ => Some(IpAddr::from(<[u8; 16]>::try_from(name).ok()?)),
                };
                match tag {
                    0x82 => names.push(String::from_utf8_lossy(name).into_owned()),
                    0x87 => names.extend(ip().map(|ip| ip.to_string())),
                    _ => {}
                }
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cert::make::{self, Names};

    #[test]
    fn what_was_made_is_read_and_what_was_cut_or_changed_harms_nobody() {
        let (_, key) = make::authority(Days::of(2060, 1, 2)).unwrap();
        let names = Names::new("east", &["10.0.0.1".into(), "east.example".into(), "::1".into()]).unwrap();
        let (pem, _) = make::node(&names, Days::of(2030, 12, 31), &key).unwrap();
        let found = certificate(&format!("words before\n{pem}")).unwrap();
        let names = ["east", "10.0.0.1", "east.example", "::1"].map(str::to_owned).to_vec();
        assert_eq!(found, Seen { until: Days::of(2030, 12, 31), names });
        let ca = make::authority(Days::of(2060, 1, 2)).unwrap().0;
        assert_eq!(certificate(&ca).unwrap().until, Days::of(2060, 1, 2));
        let der = decode(&pem.lines().filter(|l| !l.starts_with('-')).collect::<String>()).unwrap();
        for n in 0..der.len() {
            let _ = seen(&der[..n]);
            for x in [0, 1, 0x7f, 0x80, 0x84, 0xff] {
                let mut other = der.clone();
                other[n] = x;
                let _ = seen(&other);
            }
        }
        assert!(Names::new("ca", &[]).is_err() && Names::new("a b", &[]).is_err() && Names::new("a", &["x y".into()]).is_err());
    }
}
