//! Days of the calendar.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A day, counted from 1 January 1970, UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Days(pub i64);

impl Days {
    /// So many days from today.
    pub fn from_now(days: i64) -> Days {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        Days(seconds as i64 / 86_400 + days)
    }
    /// How many days it is after another.
    pub fn since(self, other: Days) -> i64 {
        self.0 - other.0
    }
    /// Of year, month and day.
    pub fn of(year: i64, month: i64, day: i64) -> Days {
        // Years begin in March, so that the leap day is the last.
        let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let (era, of_era) = (y.div_euclid(400), y.rem_euclid(400));
        Days(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day - 1 - 719_468)
    }
    /// Year, month, day.
    pub fn date(self) -> (i32, u8, u8) {
        let z = self.0 + 719_468;
        let (era, day) = (z.div_euclid(146_097), z.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let of_year = day - (365 * year + year / 4 - year / 100);
        let m = (5 * of_year + 2) / 153;
        let month = if m < 10 { m + 3 } else { m - 9 };
        ((year + era * 400 + i64::from(month <= 2)) as i32, month as u8, (of_year - (153 * m + 2) / 5 + 1) as u8)
    }
}

impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (y, m, d) = self.date();
        write!(f, "{y:04}-{m:02}-{d:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_the_same() {
        assert_eq!(Days(0).date(), (1970, 1, 1));
        assert_eq!(Days::of(2026, 11, 26).to_string(), "2026-11-26");
        for n in (-30_000..60_000).step_by(7) {
            let (y, m, d) = Days(n).date();
            assert_eq!(Days::of(y.into(), m.into(), d.into()), Days(n));
        }
        assert_eq!(Days::of(2024, 3, 1).since(Days::of(2024, 2, 28)), 2);
    }
}
