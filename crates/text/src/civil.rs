//! Days and dates of the proleptic Gregorian calendar, for any 64-bit year.
//!
//! Invariant: days count from 1970-01-01; arithmetic is in 128 bits, so no year overflows.

/// Days from 1970-01-01 to the given date (month 1 to 12; any day).
pub fn days_from_civil(year: i64, month: u32, day: u32) -> i128 {
    let (y, m) = (year as i128 - i128::from(month <= 2), month as i128);
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * (if m > 2 { m - 3 } else { m + 9 }) + 2) / 5 + day as i128 - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

/// Year, month, day of a day number; a year beyond 64 bits is cut off at the limit.
pub fn civil_from_days(days: i128) -> (i64, u32, u32) {
    let z = days.saturating_add(719_468);
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = (doy - (153 * mp + 2) / 5 + 1) as u32;
    let month = (if mp < 10 { mp + 3 } else { mp - 9 }) as u32;
    let year = yoe + era * 400 + i128::from(month <= 2);
    (year.clamp(i64::MIN as i128, i64::MAX as i128) as i64, month, day)
}

/// Leap year.
pub(crate) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Day of the week, Sunday 0.
pub fn wday(days: i128) -> u32 {
    (days + 4).rem_euclid(7) as u32
}

/// Day of the year, January 1st 1.
pub fn yday(year: i64, month: u32, day: u32) -> u32 {
    const BEFORE: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let before = BEFORE[(month.clamp(1, 12) - 1) as usize];
    before + day + u32::from(month > 2 && is_leap(year))
}

/// ISO 8601 week-based year and week, from weekday (Sunday 0) and day of the year.
pub(crate) fn iso_week(year: i64, wday: u32, yday: u32) -> (i64, u32) {
    let wday = if wday == 0 { 7 } else { wday };
    let week = (yday as i32 - wday as i32 + 10) / 7;
    if week < 1 {
        let before = year.saturating_sub(1);
        let yday = yday + if is_leap(before) { 366 } else { 365 };
        return (before, (yday as i32 - wday as i32 + 10) as u32 / 7);
    }
    let length = if is_leap(year) { 366 } else { 365 };
    if week == 53 && yday as i32 - wday as i32 + 4 > length {
        return (year.saturating_add(1), 1);
    }
    (year, week as u32)
}
