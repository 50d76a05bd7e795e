//! The local time zone, and offsets written as text.
//!
//! Invariant: every look at the zone follows the `TZ` of that moment; the C library's zone
//! state is used under one lock.

use std::ffi::CStr;
use std::sync::Mutex;

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

static LOCK: Mutex<()> = Mutex::new(());

unsafe extern "C" {
    fn tzset();
}

/// Seconds in the 400 years after which the calendar repeats.
const CYCLE: i128 = 146_097 * 86_400;

/// The local zone at `epoch` seconds. Times beyond the C library's years use the year at
/// the same place of the 400-year cycle.
pub fn local_zone(epoch: i128) -> LocalZone {
    let near = if (-(1i128 << 40)..1 << 40).contains(&epoch) { epoch } else { epoch.rem_euclid(CYCLE) };
    let time = near as libc::time_t;
    let _guard = LOCK.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: `tm` is plain data that `localtime_r` fills; the zone name it points to is
    // static C library memory, copied while the lock keeps other `tzset` calls out.
    unsafe {
        tzset();
        let mut tm: libc::tm = std::mem::zeroed();
        if libc::localtime_r(&time, &mut tm).is_null() {
            return LocalZone { offset: 0, is_dst: false, name: "UTC".into() };
        }
        let name = if tm.tm_zone.is_null() { String::new() } else { CStr::from_ptr(tm.tm_zone).to_string_lossy().into_owned() };
        LocalZone { offset: tm.tm_gmtoff as i32, is_dst: tm.tm_isdst > 0, name }
    }
}

/// The moment at which local clocks show what UTC clocks show at `as_utc`. A time that
/// comes twice is the first unless `dst` says otherwise; one that is skipped is counted
/// with the offset before the gap.
pub fn local_to_epoch(as_utc: i128, dst: Option<bool>) -> i128 {
    let before = local_zone(as_utc - 86_400);
    let after = local_zone(as_utc + 86_400);
    let (first, second) = (as_utc - before.offset as i128, as_utc - after.offset as i128);
    if first == second {
        return first;
    }
    let holds = |epoch: i128, offset| local_zone(epoch).offset == offset;
    match (holds(first, before.offset), holds(second, after.offset)) {
        (true, true) => {
            let (early, late) = (first.min(second), first.max(second));
            match dst {
                Some(want) if local_zone(early).is_dst != want && local_zone(late).is_dst == want => late,
                _ => early,
            }
        }
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
