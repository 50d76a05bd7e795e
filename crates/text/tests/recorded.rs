//! Answers of CRuby, recorded, and noise that must not panic.

use kumi_text::case::{self, CaseOp, CaseOptions};
use kumi_text::pack::{self, Count};
use kumi_text::strftime::{Fields, FormatError, strftime};
use kumi_text::transcode::{self, Converter, EncodeError, Newline, Options, Step, Xml};
use kumi_text::*;

fn quoted(out: &mut Vec<u8>, text: &[u8], count: Count) {
    let mut q = pack::Quoted::new(count);
    text.chunks(3).for_each(|piece| q.put(out, piece));
    q.end(out);
}

fn fields(i: &str) -> Fields<'static> {
    let (year, month, day, hour, min, sec, nsec, offset, epoch) = match i {
        "0" => (2024, 3, 5, 7, 8, 9, 62_500_000, 34_200, 1_709_588_289),
        "1" => (-5, 12, 31, 23, 59, 59, 0, -3723, -62_293_445_878),
        _ => (2023, 1, 1, 0, 0, 0, 0, -1800, 1_672_533_000),
    };
    Fields { year, month, day, hour, min, sec, nsec, beyond: b"", offset, zone: b"", epoch, date: false }
}

#[test]
fn strftime_as_recorded() {
    let mut bad = vec![];
    for line in include_str!("strftime.tsv").lines() {
        let cells: Vec<&str> = line.splitn(3, '\t').collect();
        let [i, format, want] = cells[..] else { continue };
        let got = match strftime(format.as_bytes(), &fields(i)) {
            Ok(s) => String::from_utf8(s).unwrap().replace('\n', "\\n").replace('\t', "\\t"),
            Err(FormatError::Invalid(f)) => format!("ERR invalid format: {}", String::from_utf8_lossy(&f)),
            Err(FormatError::Range(_)) => "ERR range".into(),
        };
        if got != want {
            bad.push(format!("{i} {format}: want {want:?}, got {got:?}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn calendar() {
    for days in (-3_000_000..3_000_000).step_by(997) {
        let (y, m, d) = civil::civil_from_days(days);
        assert_eq!(civil::days_from_civil(y, m, d), days);
    }
    civil::civil_from_days(i128::MAX);
    civil::days_from_civil(i64::MIN, 12, 31);
}

#[test]
fn case_as_recorded() {
    let m = |s: &str, op, options| {
        let got = case::map(s.as_bytes(), EncIndex::UTF_8, op, options).unwrap();
        got.map_or(s.to_string(), |v| String::from_utf8(v).unwrap())
    };
    let plain = CaseOptions::default();
    let turkic = CaseOptions { turkic: true, ..plain };
    let fold = CaseOptions { fold: true, ..plain };
    for (s, op, options, want) in [
        ("straße", CaseOp::Upcase, plain, "STRASSE"),
        ("ΑΣ", CaseOp::Downcase, plain, "ασ"),
        ("ǆx", CaseOp::Capitalize, plain, "ǅx"),
        ("ǅ", CaseOp::Swapcase, plain, "dŽ"),
        ("ŉ", CaseOp::Capitalize, plain, "ʼN"),
        ("I", CaseOp::Downcase, turkic, "ı"),
        ("ß", CaseOp::Downcase, fold, "ss"),
        ("ﬀ", CaseOp::Capitalize, plain, "Ff"),
        ("ᾼ", CaseOp::Swapcase, plain, "αΙ"),
        ("Ꭰ", CaseOp::Downcase, fold, "Ꭰ"),
        ("ა", CaseOp::Capitalize, plain, "ა"),
    ] {
        assert_eq!(m(s, op, options), want, "{s}");
    }
    assert_eq!(case::casecmp_p("äß".as_bytes(), EncIndex::UTF_8, "ÄSS".as_bytes(), EncIndex::UTF_8), Some(true));
}

fn encode(s: &[u8], from: EncIndex, to: EncIndex) -> Result<Vec<u8>, String> {
    transcode::encode(s, from, to, Options::default()).map_err(|e| match e {
        EncodeError::NotFound => "not found".into(),
        EncodeError::Problem(p) => p.message,
    })
}

#[test]
fn transcoding_as_recorded() {
    use EncIndex as E;
    for (s, from, to, want) in [
        (&b"\xE3\x81\x82"[..], E::UTF_8, E::US_ASCII, "U+3042 from UTF-8 to US-ASCII"),
        (b"\xFF", E::UTF_8, E::UTF_16LE, "\"\\xFF\" on UTF-8"),
        (b"a\xE3\x81", E::UTF_8, E::UTF_16LE, "incomplete \"\\xE3\\x81\" on UTF-8"),
        (b"\xE3\x81x", E::UTF_8, E::UTF_16LE, "\"\\xE3\\x81\" followed by \"x\" on UTF-8"),
        (b"\xE3", E::BINARY, E::UTF_8, "\"\\xE3\" from ASCII-8BIT to UTF-8"),
        (b"\xA4\xA2", E::EUC_JP, E::ISO_8859_1, "U+3042 to ISO-8859-1 in conversion from EUC-JP to UTF-8 to ISO-8859-1"),
        (b"\xA4x", E::EUC_JP, E::UTF_8, "\"\\xA4\" followed by \"x\" on EUC-JP"),
        (b"\xA9\xA1", E::EUC_JP, E::UTF_8, "\"\\xA9\\xA1\" from EUC-JP to UTF-8"),
        (b"\xD8\x00\x00a", E::UTF_16BE, E::UTF_8, "\"\\xD8\\x00\" followed by \"\\x00\" on UTF-16BE"),
        (b"\x81", E::WINDOWS_1252, E::UTF_8, "\"\\x81\" to UTF-8 in conversion from Windows-1252 to UTF-8"),
        (b"\xFF", E::US_ASCII, E::UTF_8, "\"\\xFF\" on US-ASCII"),
        (b"\xFF", E::BINARY, E::ISO_8859_1, "\"\\xFF\" to UTF-8 in conversion from ASCII-8BIT to UTF-8 to ISO-8859-1"),
        (b"\x81\x30x", E::GB18030, E::UTF_8, "\"\\x810\" followed by \"x\" on GB18030"),
        (b"0B", E::UTF_16, E::UTF_8, "\"0B\" on UTF-16"),
        (b"a", E::UTF_7, E::UTF_8, "not found"),
    ] {
        assert_eq!(encode(s, from, to), Err(want.to_string()));
    }
    assert_eq!(encode("あa".as_bytes(), E::UTF_8, E::ISO_2022_JP), Ok(b"\x1B$B$\"\x1B(Ba".to_vec()));
    assert_eq!(encode(b"\x1B$B$\"\x1B(B", E::ISO_2022_JP, E::UTF_8), Ok("あ".into()));
    assert_eq!(encode("あ".as_bytes(), E::UTF_8, E::UTF_16), Ok(b"\xFE\xFF0B".to_vec()));
    assert_eq!(encode("～".as_bytes(), E::UTF_8, E::WINDOWS_31J), Ok(b"\x81\x60".to_vec()));
    let with =
        |s: &str, to, options| transcode::encode(s.as_bytes(), E::UTF_8, to, options).map(|v| String::from_utf8_lossy(&v).into_owned());
    let xml = |xml| Options { xml, ..Options::default() };
    assert_eq!(with("<あ&\">", E::US_ASCII, xml(Xml::Text)), Ok("&lt;&#x3042;&amp;\"&gt;".into()));
    assert_eq!(with("<あ&\">", E::US_ASCII, xml(Xml::Attr)), Ok("\"&lt;&#x3042;&amp;&quot;&gt;\"".into()));
    let newline = |newline| Options { newline, ..Options::default() };
    assert_eq!(with("é\nb\r\nc\r", E::UTF_8, newline(Newline::Universal)), Ok("é\nb\nc\n".into()));
    assert_eq!(with("a\nb", E::UTF_8, newline(Newline::Crlf)), Ok("a\r\nb".into()));
    let replace = Options { undef_replace: true, replacement: Some((b"xx".to_vec(), E::UTF_8)), ..Options::default() };
    assert_eq!(with("あz", E::ISO_8859_1, replace), Ok("xxz".into()));
    for (s, want) in [(&b"\xE3\x81\xFF"[..], "??"), (b"\xF0\x9F\x98abc\xFF\xC3", "?abc??"), (b"\xE3\x81\xE3\x81\x82", "?あ")] {
        assert_eq!(transcode::scrub(s, E::UTF_8, Some(b"?")).unwrap(), want.as_bytes());
    }
    // Stops, tells, goes on; in pieces as well.
    let mut converter = Converter::new(E::EUC_JP, E::UTF_8, Options::default()).unwrap();
    let (mut out, mut pos) = (vec![], 0);
    let src = b"a\xA4xb";
    let Step::Problem(problem) = converter.step(src, &mut pos, &mut out, None, false) else { panic!("no problem") };
    assert_eq!((&problem.bytes[..], &problem.readagain[..], pos), (&b"\xA4"[..], &b"x"[..], 3));
    assert_eq!(converter.step(src, &mut pos, &mut out, None, false), Step::Finished);
    assert_eq!(out, b"axb");
    let mut converter = Converter::new(E::UTF_8, E::UTF_16BE, Options::default()).unwrap();
    let mut out = vec![];
    for piece in "aあ😀".as_bytes() {
        assert_eq!(converter.step(&[*piece], &mut 0, &mut out, None, true), Step::SourceEmpty);
    }
    assert_eq!(out, b"\0a0B\xD8\x3D\xDE\x00");
    let mut converter = Converter::new(E::UTF_8, E::UTF_16BE, Options::default()).unwrap();
    let (mut out, mut pos) = (vec![], 0);
    assert_eq!(converter.step(b"abc", &mut pos, &mut out, Some(5), false), Step::DestinationFull);
    // The character that found no room is read already; the converter keeps it.
    assert_eq!((out.len(), pos), (4, 3));
    assert_eq!(converter.step(b"abc", &mut pos, &mut out, None, false), Step::Finished);
    assert_eq!(out, b"\0a\0b\0c");
}

#[test]
fn pack_as_recorded() {
    let put = |f: &dyn Fn(&mut Vec<u8>)| {
        let mut out = vec![];
        f(&mut out);
        out
    };
    for (s, n, want) in [(&b"abc"[..], 5, &b"\x05\0"[..]), (b"1", 20, b"\x01\0\0\0\0\0\0\0\0\0\0"), (b"1", 9, b"\x01\0\0\0\0")] {
        assert_eq!(put(&|o| pack::put_bits(o, false, s, Count::Times(n))), want);
    }
    assert_eq!(put(&|o| pack::put_hex(o, true, b"12345", Count::Times(8))), b"\x124P\0");
    assert_eq!(put(&|o| pack::put_hex(o, false, b"123", Count::All)), b"!\x03");
    assert_eq!(put(&|o| pack::put_hex(o, true, b"xyz", Count::All)), b"\x12\x30");
    assert_eq!(put(&|o| pack::put_base64(o, b"abcd", Count::Times(0))), b"YWJjZA==");
    assert_eq!(put(&|o| quoted(o, "abc é=\tx \ny".as_bytes(), Count::None)), b"abc =C3=A9=3D\tx =\n\ny=\n");
    assert_eq!(put(&|o| pack::put_uu(o, b"ab", Count::None)), b"\"86(`\n");
    assert_eq!(put(&|o| pack::put_ber(o, &300u16.to_le_bytes())), b"\x82,");
    assert_eq!(put(&|o| pack::put_bytes(o, b'Z', b"abc", Count::All)), b"abc\0");
    assert_eq!(pack::get_base64(b"YWJ", false), Ok(b"ab".to_vec()));
    assert_eq!(pack::get_base64(b"a", true), Err("invalid base64"));
    assert_eq!(pack::get_uu(b"#86)C\n"), b"abc");
    assert_eq!(pack::get_quoted(b"a=20b=\nc=zz"), b"a bc=zz");
    assert_eq!(pack::get_bytes(b'A', b"abc \0", Count::All).0, b"abc");
    assert_eq!(pack::get_bytes(b'Z', b"ab\0c", Count::All), (&b"ab"[..], 3));
    assert_eq!(pack::get_ber(b"\x81\0"), Some((vec![128, 0], 2)));
    assert_eq!(pack::get_int(b"\xFE\xFF", true, false), -2);
    assert_eq!(pack::get_utf8(b"\xE3"), Err("malformed UTF-8 character (expected 3 bytes, given 1 bytes)".into()));
    assert!(pack::parse(b"C_", true).is_err());
    assert_eq!(pack::parse(b"N2 a* # x\n s>!", false).unwrap().len(), 3);
}

/// Nothing panics on any bytes in any encoding.
#[test]
fn noise() {
    let mut seed = 0x2545_F491_4F6C_DD1Du64;
    let mut next = move |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 33) as usize % n
    };
    let encs: Vec<EncIndex> = EncIndex::all().collect();
    for round in 0..30_000 {
        let s: Vec<u8> = (0..next(24))
            .map(|_| match next(4) {
                0 => next(256) as u8,
                1 => b"-^\\az09%:#\"u{x"[next(14)],
                _ => [0xE3, 0x81, 0x82, 0xA4, 0xD8, 0x00, 0xFF, 0x1B, 0x8E, 0x8F][next(10)],
            })
            .collect();
        let t: Vec<u8> = (0..next(6)).map(|_| b"a-z^\\%3NdLmx*<_!\xE3\x81\x82"[next(19)]).collect();
        let enc = encs[round % encs.len()];
        let range = enc.scan(&s);
        let n = enc.char_count(&s, range);
        assert_eq!(n, enc.chars(&s).count());
        for k in 0..=n + 1 {
            let at = enc.nth_char(&s, k, range);
            assert_eq!(at.is_ok(), k <= n, "{enc:?} {s:x?} {k}");
        }
        for at in 0..=s.len() {
            assert!(enc.char_head(&s, at) <= at);
            enc.prev_char(&s, at);
        }
        escape::inspect(&s, enc, EncIndex::UTF_8);
        let dumped = escape::dump(&s, enc);
        let back = escape::undump(&dumped, enc).map(|(bytes, _)| bytes);
        // CRuby, too, refuses what dumps to both kinds of escapes.
        assert!(back == Ok(s.clone()) || (enc.is_utf8() && range == CodeRange::Broken), "{enc:?}");
        let _ = escape::undump(&s, enc);
        escape::symbol_inspect(&s, enc, EncIndex::UTF_8);
        for op in [CaseOp::Upcase, CaseOp::Capitalize, CaseOp::Swapcase] {
            let _ = case::map(&s, enc, op, CaseOptions::default());
        }
        let _ = trset::tr(&s, enc, &t, b"a-c", true);
        let _ = trset::tr(&s, enc, &s, &t, false);
        succ::succ(&s, enc);
        if let Some(clean) = transcode::scrub(&s, enc, None) {
            assert!(enc.is_valid(&clean), "{enc:?} {s:x?} {clean:x?}");
        }
        strsearch::graphemes(&s, enc);
        strsearch::find(&s, &t, 0, enc);
        strsearch::rfind(&s, &t, next(30), enc);
        let other = encs[next(encs.len())];
        let options = Options { invalid_replace: next(2) == 0, undef_replace: next(2) == 0, ..Options::default() };
        if let Ok(mut converter) = Converter::new(enc, other, options) {
            let (mut out, mut pos) = (vec![], 0);
            for _ in 0..100 {
                if converter.step(&s, &mut pos, &mut out, Some(16), false) == Step::Finished {
                    break;
                }
            }
        }
        let _ = pack::parse(&s, true);
        let _ = pack::parse(&t, false);
        let _ = (pack::get_base64(&s, true), pack::get_base64(&s, false), pack::get_uu(&s), pack::get_quoted(&s), pack::get_ber(&s));
        let _ = (pack::get_utf8(&s), pack::get_bits(true, &s, Count::All), pack::get_hex(true, &s, Count::Times(7)));
        let mut out = vec![];
        quoted(&mut out, &s, Count::Times(3));
        pack::put_bits(&mut out, true, &s, Count::Times(next(60)));
        pack::put_hex(&mut out, true, &s, Count::Times(next(60)));
        pack::put_base64(&mut out, &s, Count::Times(next(60)));
        pack::put_uu(&mut out, &s, Count::Times(next(99)));
        pack::put_bytes(&mut out, b'Z', &s, Count::Times(next(60)));
        let format: Vec<u8> = [&b"%"[..], &t].concat();
        let _ = strftime(&format, &fields("1"));
        let _ = timezone::parse_offset(&s);
    }
}
