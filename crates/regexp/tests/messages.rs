//! Messages and texts as CRuby gives them, recorded.

use kumi_regexp::*;
use kumi_text::EncIndex;

#[test]
fn messages() {
    let table = include_str!("messages.tsv");
    let mut bad = vec![];
    for line in table.lines() {
        let mut cells = line.split('\t');
        let (Some(pattern), Some(want)) = (cells.next(), cells.next()) else { continue };
        let got = match Regex::new(pattern.as_bytes(), Options(0), EncIndex::UTF_8) {
            Ok(re) => format!(
                "{} {} {}",
                String::from_utf8_lossy(&inspect(re.source(), re.options(), re.encoding())),
                String::from_utf8_lossy(&to_s(re.source(), re.options(), re.encoding())),
                re.encoding().name()
            ),
            Err(e) => e.0,
        };
        if got != want {
            bad.push(format!("{pattern}\n  want {want}\n  got  {got}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn matches() {
    let table = include_str!("matches.tsv");
    let mut bad = vec![];
    for line in table.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [pattern, text, want] = cells[..] else { continue };
        let text = text.replace("\\n", "\n");
        let re = match Regex::new(pattern.as_bytes(), Options(0), EncIndex::UTF_8) {
            Ok(re) => re,
            Err(e) => {
                bad.push(format!("{pattern}: {e}"));
                continue;
            }
        };
        let subject = Subject::new(text.as_bytes(), EncIndex::UTF_8);
        let mut region = Region::new();
        let got = match re.search(&subject, 0, Limits::default(), &mut region) {
            Ok(Some(_)) => region.groups.iter().map(|(a, b)| format!("{a}-{b}")).collect::<Vec<_>>().join(","),
            Ok(None) => "nil".into(),
            Err(e) => e.to_string(),
        };
        if got != want {
            bad.push(format!("{pattern} on {text:?}\n  want {want}\n  got  {got}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn bounded() {
    let re = Regex::new(b"(?:(a|a)+)+\\1$", Options(0), EncIndex::UTF_8).unwrap();
    let text = [b"a".repeat(60), b"b".to_vec()].concat();
    let subject = Subject::new(&text, EncIndex::UTF_8);
    let began = std::time::Instant::now();
    let limits = Limits { deadline: Some(began + std::time::Duration::from_millis(50)), ..Limits::default() };
    assert_eq!(re.search(&subject, 0, limits, &mut Region::new()), Err(SearchError::Timeout));
    let limits = Limits { steps: Some(1000), ..Limits::default() };
    assert_eq!(re.search(&subject, 0, limits, &mut Region::new()), Err(SearchError::Steps));
}

#[test]
fn encodings_and_directions() {
    let re = Regex::new(b"[[:alpha:]]+", Options(0), EncIndex::UTF_8).unwrap();
    let mut region = Region::new();
    let mut at = |bytes: &[u8], enc| re.search(&Subject::new(bytes, enc), 0, Limits::default(), &mut region).map(|_| region.get(0));
    assert_eq!(at(b" \xE9t\xE9", EncIndex::ISO_8859_1), Ok(Some(1..4)));
    assert_eq!(at(" été".as_bytes(), EncIndex::UTF_8), Ok(Some(1..6)));
    assert_eq!(at(" été".as_bytes(), EncIndex::BINARY), Ok(Some(3..4)));
    let any = Regex::new(b"[^ ]", Options(0), EncIndex::UTF_8).unwrap();
    let _ = any.search(&Subject::new(b" \x82\xa0", EncIndex::WINDOWS_31J), 0, Limits::default(), &mut region);
    assert_eq!(region.get(0), Some(1..3));
    let re = Regex::new("é".as_bytes(), Options(0), EncIndex::UTF_8).unwrap();
    assert_eq!(
        re.check_encoding(&Subject::new(b"\xE9", EncIndex::ISO_8859_1)),
        Err("incompatible encoding regexp match (UTF-8 regexp with ISO-8859-1 string)".into())
    );
    let re = Regex::new(b"a.", Options(0), EncIndex::UTF_8).unwrap();
    let text = "aéaéaé";
    let found = re.search_back(&Subject::new(text.as_bytes(), EncIndex::UTF_8), 5, Limits::default(), &mut region);
    assert_eq!((found, region.get(0)), (Ok(Some(3)), Some(3..6)));
}

/// Nothing panics or reads out of bounds, whatever pattern and text are.
#[test]
fn noise() {
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = move |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 33) as usize % n
    };
    let bits: &[&[u8]] = &[
        b"a",
        b"b",
        b"(",
        b")",
        b"[",
        b"]",
        b"*",
        b"+",
        b"?",
        b"{1,2}",
        b"{",
        b"|",
        b"\\",
        b"\\w",
        b"\\b",
        b"^",
        b"$",
        b"(?",
        b"(?<n>",
        b"\\k<n>",
        b"\\g<n>",
        b"(?i)",
        b"(?a:",
        b"(?u)",
        b"[^",
        b"&&",
        b"[:alpha:]",
        b"\\p{L}",
        b"\\u3042",
        b"\\u{61 62}",
        b"\\xE3",
        b"\\x81",
        b"\xE3",
        b"\x81\x82",
        b"\xFF",
        b"-",
        b"(?=",
        b"(?<=",
        b"(?~",
        b"(?(1)",
        b".",
        b"\\R",
        b"\\X",
        b"\\1",
        b"\\M-a",
        b"\\c",
        b"\n",
        b"#",
        b"(?x)",
        b"\xF0\x9F",
        b"\x98\x80",
    ];
    let encs = [
        EncIndex::UTF_8,
        EncIndex::BINARY,
        EncIndex::EUC_JP,
        EncIndex::WINDOWS_31J,
        EncIndex::US_ASCII,
        EncIndex::ISO_8859_1,
        EncIndex::GB18030,
        EncIndex::BIG5,
    ];
    let mut compiled = 0;
    let mut region = Region::new();
    for _ in 0..20_000 {
        let pattern: Vec<u8> = (0..next(8)).flat_map(|_| bits[next(bits.len())].to_vec()).collect();
        let text: Vec<u8> = (0..next(10)).flat_map(|_| bits[next(bits.len())].to_vec()).collect();
        let (enc, other) = (encs[next(encs.len())], encs[next(encs.len())]);
        let options = Options(next(8) as u32);
        to_s(&pattern, options, enc);
        inspect(&pattern, options, enc);
        let Ok(re) = Regex::new(&pattern, options, enc) else { continue };
        compiled += 1;
        let subject = Subject::new(&text, other);
        let limits = Limits { steps: Some(10_000), ..Limits::default() };
        let _ = re.search(&subject, next(4), limits, &mut region);
        let _ = re.search_back(&subject, next(9), limits, &mut region);
        let _ = re.match_at(&subject, next(4), limits, &mut region);
        let lie = Subject::with_range(&text, other, kumi_text::CodeRange::Valid);
        let _ = re.search(&lie, 0, limits, &mut region);
    }
    assert!(compiled > 1000);
}

/// What a caller says of its text is believed as far as it is harmless: the engine never reads behind the end.
#[test]
fn what_does_not_end_where_the_text_ends_is_searched_as_bytes() {
    let (utf8, wide) = (EncIndex::UTF_8, EncIndex::UTF_16LE);
    let mut region = Region::new();
    let re = Regex::new(b"b.", Options(0), utf8).unwrap();
    let lie = Subject::with_range(b"ab\xE3", utf8, kumi_text::CodeRange::SevenBit);
    assert_eq!(re.search(&lie, 0, Limits::default(), &mut region), Ok(Some(1)));
    // A place within a character: from there the characters do not end where the text does.
    let re = Regex::new(b"b\0", Options(Options::FIXEDENCODING), wide).unwrap();
    let subject = Subject::new(b"a\0b\0", wide);
    for start in 0..3 {
        assert_eq!(re.search(&subject, start, Limits::default(), &mut region), Ok(Some(2)), "from {start}");
    }
}
