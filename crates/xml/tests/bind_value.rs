//! Texts that are values of a type, and texts that aren't.

use kumi_xml::value::{self, Date, DateTime, Decimal, Integer};

/// A text with other bytes around it, as in a row.
fn within(text: &str) -> (Vec<u8>, usize, usize) {
    let bytes = format!("0123456789abcdef{text}7.7");
    (bytes.into_bytes(), 16, 16 + text.len())
}

#[test]
fn integers() {
    for text in [
        "0",
        "7",
        "42",
        "12345678",
        "123456789",
        "1234567890123456",
        "12345678901234567",
        "9223372036854775807",
        "000000000000000000000005",
    ] {
        for text in [text.to_string(), format!("-{text}"), format!("+{text}"), format!(" \n{text}\t")] {
            let expected = text.trim().parse::<i128>().unwrap() as i64;
            let (bytes, start, end) = within(&text);
            assert_eq!(value::integer(text.as_bytes()), Ok(Integer::Small(expected)), "{text:?}");
            assert_eq!(value::integer_within(&bytes, start, end), Ok(Integer::Small(expected)), "{text:?}");
        }
    }
    assert_eq!(value::integer(b"-9223372036854775808"), Ok(Integer::Small(i64::MIN)));
    assert_eq!(value::integer(b"9223372036854775808"), Ok(Integer::Big { negative: false, digits: b"9223372036854775808" }));
    assert_eq!(value::integer(b"-0099999999999999999999"), Ok(Integer::Big { negative: true, digits: b"99999999999999999999" }));
    for text in ["", " ", "-", "+", "1_000", "1.0", "0x1", "1 2", "--1", "1-", "\u{661}", "12a", "1234567/", "1234567:", "123456789012345a"]
    {
        let (bytes, start, end) = within(text);
        let error = value::integer(text.as_bytes()).unwrap_err();
        assert_eq!(value::integer_within(&bytes, start, end), Err(error.clone()), "{text:?}");
        assert_eq!(error.to_string(), format!("expected an integer, found {text:?}"));
    }
}

#[test]
fn decimals() {
    for (text, mantissa, scale) in [
        ("1", 1, 0),
        ("1.50", 150, 2),
        (".5", 5, 1),
        ("5.", 5, 0),
        ("-0.05", -5, 2),
        ("+12.25", 1225, 2),
        (" 1234.56 ", 123456, 2),
        ("123456.78", 12345678, 2),
        ("12345678", 12345678, 0),
        ("1234567.", 1234567, 0),
        (".1234567", 1234567, 7),
        ("104949.50", 10494950, 2),
        ("-1234567890123.45", -123456789012345, 2),
        (".123456789012345", 123456789012345, 15),
        ("123456789012345.", 123456789012345, 0),
        ("000000000000000000000001.0", 10, 1),
    ] {
        let (bytes, start, end) = within(text);
        assert_eq!(value::decimal(text.as_bytes()), Ok(Decimal::Small { mantissa, scale }), "{text:?}");
        assert_eq!(value::decimal_within(&bytes, start, end), Ok(Decimal::Small { mantissa, scale }), "{text:?}");
    }
    assert_eq!(
        value::decimal(b"-00123456789012345678901.5"),
        Ok(Decimal::Big { negative: true, whole: b"123456789012345678901", fraction: b"5" })
    );
    for text in ["", ".", "-", "-.", "1..2", "1.2.3", "1e5", "INF", "1,5", "1 .5", "..", "1234567890.2.3", "--1"] {
        let (bytes, start, end) = within(text);
        let error = value::decimal(text.as_bytes()).unwrap_err();
        assert_eq!(value::decimal_within(&bytes, start, end), Err(error.clone()), "{text:?}");
        assert_eq!(error.to_string(), format!("expected a decimal number, found {text:?}"));
    }
    assert_eq!(Decimal::Small { mantissa: 15, scale: 1 }.at_scale(2), Some(150));
    assert_eq!(Decimal::Small { mantissa: 150, scale: 3 }.at_scale(2), Some(15));
    assert_eq!(Decimal::Small { mantissa: 151, scale: 3 }.at_scale(2), None);
    assert_eq!(Decimal::Small { mantissa: i64::MAX, scale: 0 }.at_scale(2), None);
    assert_eq!(Decimal::Small { mantissa: 1, scale: 400 }.at_scale(2), None);
}

#[test]
fn floats() {
    for (text, expected) in [
        ("1", 1.0),
        ("-1.5e3", -1500.0),
        (".5", 0.5),
        ("5.", 5.0),
        (" 1E-2\n", 0.01),
        ("INF", f64::INFINITY),
        ("-INF", f64::NEG_INFINITY),
        ("1e999", f64::INFINITY),
    ] {
        assert_eq!(value::float(text.as_bytes()), Ok(expected), "{text:?}");
    }
    assert!(value::float(b"NaN").unwrap().is_nan());
    assert!(value::float(b"-0").unwrap().is_sign_negative());
    for text in ["", "inf", "nan", "infinity", "1e", "e5", ".", "+", "1_0", "0x10", "1f"] {
        assert_eq!(value::float(text.as_bytes()).unwrap_err().to_string(), format!("expected a number, found {text:?}"));
    }
}

#[test]
fn booleans() {
    assert_eq!(value::boolean(b" true "), Ok(true));
    assert_eq!(value::boolean(b"1"), Ok(true));
    assert_eq!(value::boolean(b"false"), Ok(false));
    assert_eq!(value::boolean(b"0\n"), Ok(false));
    assert_eq!(value::boolean(b"yes").unwrap_err().to_string(), "expected a boolean (true, false, 1 or 0), found \"yes\"");
}

#[test]
fn dates() {
    let date = |year, month, day, zone| Ok(Date { year, month, day, zone });
    assert_eq!(value::date(b"1996-03-13"), date(1996, 3, 13, None));
    assert_eq!(value::date(b" 2000-02-29Z\n"), date(2000, 2, 29, Some(0)));
    assert_eq!(value::date(b"-0044-03-15-05:30"), date(-44, 3, 15, Some(-330)));
    assert_eq!(value::date(b"12026-12-31+14:00"), date(12026, 12, 31, Some(840)));
    for text in [
        "",
        "1996-3-13",
        "1996/03/13",
        "96-03-13",
        "012026-01-01",
        "1996-03-13T",
        "1996-03-13+14:01",
        "1996-03-13+1:00",
        "1996-03-1x",
        "+1996-03-13",
    ] {
        assert_eq!(value::date(text.as_bytes()).unwrap_err().to_string(), format!("expected a date (YYYY-MM-DD), found {text:?}"));
    }
    for text in ["1996-13-01", "1996-00-01", "1996-01-00", "1996-01-32", "2023-02-29", "1900-02-29", "1996-04-31"] {
        assert_eq!(value::date(text.as_bytes()).unwrap_err().why, Some("there is no such day"), "{text}");
    }
    for (text, days) in [
        ("1970-01-01", 0),
        ("1969-12-31", -1),
        ("2000-03-01", 11017),
        ("0000-01-01", -719528),
        ("-0001-12-31", -719529),
        ("9999-12-31", 2932896),
    ] {
        assert_eq!(value::date(text.as_bytes()).unwrap().days(), days, "{text}");
    }
}

#[test]
fn dates_and_times() {
    let day = Date { year: 2026, month: 12, day: 31, zone: None };
    let time = DateTime { date: day, hour: 23, minute: 59, second: 58, nanos: 0 };
    assert_eq!(value::date_time(b"2026-12-31T23:59:58"), Ok(time));
    assert_eq!(
        value::date_time(b" 2026-12-31T23:59:58.0012345678Z "),
        Ok(DateTime { date: Date { zone: Some(0), ..day }, nanos: 1_234_567, ..time })
    );
    let next = Date { year: 2027, month: 1, day: 1, zone: Some(60) };
    assert_eq!(value::date_time(b"2026-12-31T24:00:00+01:00"), Ok(DateTime { date: next, hour: 0, minute: 0, second: 0, nanos: 0 }));
    assert_eq!(value::date_time(b"1970-01-01T01:00:00+01:00").unwrap().seconds(), 0);
    for text in [
        "2026-12-31",
        "2026-12-31 23:59:58",
        "2026-12-31T23:59",
        "2026-12-31T24:00:01",
        "2026-12-31T23:60:00",
        "2026-12-31T23:59:60",
        "2026-12-31T23:59:58.",
    ] {
        assert_eq!(
            value::date_time(text.as_bytes()).unwrap_err().to_string(),
            format!("expected a date and time (YYYY-MM-DDThh:mm:ss), found {text:?}")
        );
    }
}

#[test]
fn errors_quote_little() {
    let error = value::integer("\u{e4}".repeat(5000).as_bytes()).unwrap_err();
    assert_eq!(error.found, format!("{}...", "\u{e4}".repeat(40)));
    assert_eq!(value::integer(b"a\xFFb").unwrap_err().found, "a\u{FFFD}b");
}
