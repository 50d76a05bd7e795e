//! The pieces in which a document comes don't show: random damage to small documents gives the same events or
//! the same error however they are cut, and never a panic.

mod common;

use common::{Random, read_all_ways};
use kumi_xml::{Limits, Options};

const SEEDS: &[&str] = &[
    "<a>text</a>",
    "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n<!-- c --><a b='c' d=\"e\">t<b/>u<![CDATA[x]]>v</a>\n<?p d?>",
    "<a xmlns='u' xmlns:p='v'><p:b p:c='d' c='e'/><p:b xmlns:p='w'>&lt;&#65;&#x3BB;λ</p:b></a>",
    "<!DOCTYPE a [<!ENTITY e 'x<b>y</b>z'><!ENTITY f '&e;&e;'><!ATTLIST b c CDATA 'd' e NMTOKENS ' f  g '>]><a>&f;t&e;</a>",
    "<!DOCTYPE a PUBLIC 'p' 's' [<!ELEMENT a (b|(c,d*)+)?><!ELEMENT b (#PCDATA|c)*><!NOTATION n SYSTEM 's'><!ENTITY % p '<!ENTITY e \"v\">'>%p;]><a b='&e;'>&e;</a>",
    "<a>]] ]> ]]&gt; \r\n \r x\ty <![CDATA[]]]]><![CDATA[>]]> é\u{10000} </a>",
    "<ä ö='ü'>ß<!--é--><?ñ ô?></ä>",
    "<a>longer text than a piece, and&amp;longer &#x10000; again]</a>",
    "<p:a xmlns:p='u' xmlns:q='u'><p:b q:c='' d=''/><q:b xml:lang='e'>t</q:b><p:b p:c='' q:d=''></p:b><x:y/></p:a>",
    "<a b='c' dd=\"e'f\" g='>'  h=''/><!-- -->",
    "<a><b c='d' e='f'/><b\n c='d'\te='f' >x</b ><bb c='1' c='2'/></a>",
    "<table ID=\"lineitem\">\n<T><L_ORDERKEY>1</L_ORDERKEY><L_COMMENT>to beans x-ray</L_COMMENT></T>\n</table>",
];

const PARTS: &[&str] = &[
    "<",
    ">",
    "&",
    ";",
    "'",
    "\"",
    "/",
    "!",
    "?",
    "-",
    "--",
    "]",
    "]]>",
    "[",
    "=",
    " ",
    "\r",
    "\n",
    "\t",
    "<a>",
    "</a>",
    "<!--",
    "-->",
    "<![CDATA[",
    "&#",
    "&#x41;",
    "&e;",
    "&lt;",
    "%p;",
    "<?",
    "?>",
    "<?xml ",
    "<!DOCTYPE a [",
    ":",
    "xmlns:p='u'",
    "p:",
    "é",
    "\u{FFFE}",
    "\u{1}",
    "a",
    "0",
    "<b c='d'/>",
    "<!ENTITY e '",
    "#",
];

fn damage(random: &mut Random, document: &[u8]) -> Vec<u8> {
    let mut out = document.to_vec();
    for _ in 0..random.below(4) + 1 {
        let at = random.below(out.len() + 1);
        match random.below(7) {
            0 if at < out.len() => {
                out.remove(at);
            }
            1 if at < out.len() => out[at] = random.next() as u8,
            2 => out.truncate(at.max(1)),
            3 => {
                let to = (at + random.below(20)).min(out.len());
                let part = out[at..to].to_vec();
                let at = random.below(out.len() + 1);
                out.splice(at..at, part);
            }
            4 => {
                let to = (at + random.below(8)).min(out.len());
                out.drain(at..to);
            }
            _ => {
                let part = PARTS[random.below(PARTS.len())].bytes();
                out.splice(at..at, part);
            }
        }
    }
    out
}

fn options(random: &mut Random) -> Options {
    let mut limits = Limits { text_piece: [4, 5, 8, 16, 64 << 10][random.below(5)], ..Limits::default() };
    if random.below(3) == 0 {
        limits = Limits {
            depth: 2,
            name: 3 + random.below(6),
            attributes: 1 + random.below(2),
            tag_bytes: 5 + random.below(25),
            markup_bytes: 10 + random.below(10),
            doctype_bytes: 40 + random.below(100),
            declarations: 3,
            entity_expansion: random.below(30),
            entity_depth: 1 + random.below(2),
            namespaces: 1,
            ..limits
        };
    }
    Options { limits, namespaces: random.below(4) > 0, ..Options::default() }
}

#[test]
fn damaged_documents() {
    let rounds = std::env::var("KUMI_FUZZ_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(4000);
    let seed = std::env::var("KUMI_TEST_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1u64);
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for round in 0..rounds {
        let mut seed = SEEDS[round % SEEDS.len()].to_owned();
        if round % 5 == 0 {
            // Long enough for the buffer to be compacted.
            let rows: String = (0..random.below(20)).map(|i| format!("<T><L_A>{i}</L_A> <L_B c='{i}'>&lt;x</L_B>\n</T>")).collect();
            seed = format!(
                "<table>{rows}{}{rows}</table>",
                seed.trim_start_matches("<?xml version='1.0' encoding='UTF-8' standalone='yes'?>")
            );
        }
        let document = damage(&mut random, seed.as_bytes());
        let options = options(&mut random);
        let _ = read_all_ways(&format!("round {round}: {:?} with {options:?}", String::from_utf8_lossy(&document)), &document, &options);
    }
}

/// In other encodings the same text gives the same events, and damage the same errors in any pieces.
#[test]
fn damaged_encodings() {
    let mut random = Random(77);
    for (round, encoding) in
        ["UTF-16LE", "UTF-16BE", "ISO-8859-1", "windows-1252", "Shift_JIS", "GBK", "EUC-JP"].iter().cycle().take(1400).enumerate()
    {
        let text = "<a b='c'>t\u{E9}\u{3042}<b/>\r\nx</a>";
        let mut document = if let Some(order) = encoding.strip_prefix("UTF-16") {
            let unit = |u: u16| if order == "LE" { u.to_le_bytes() } else { u.to_be_bytes() };
            std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(unit).collect()
        } else {
            let declared = format!("<?xml version='1.0' encoding='{encoding}'?>{text}");
            encoding_rs::Encoding::for_label(encoding.as_bytes()).map(|e| e.encode(&declared).0.into_owned()).unwrap_or_default()
        };
        if round > 6 {
            document = damage(&mut random, &document);
        }
        let (_, result) = read_all_ways(&format!("{encoding} {document:?}"), &document, &Options::default());
        assert!(round > 6 || result.is_ok(), "{encoding}: {result:?}");
    }
}

/// Every SIMD kernel that this processor has gives the same events.
#[test]
fn every_kernel() {
    let mut random = Random(5);
    for round in 0..3000 {
        let document = damage(&mut random, SEEDS[round % SEEDS.len()].repeat(1 + round % 3).as_bytes());
        let expected = common::read(&document, common::Pieces::Whole, &Options::default());
        for (name, scanner) in kumi_xml::scan::Scanner::all() {
            let mut tokenizer = kumi_xml::Tokenizer::new(Options::default());
            tokenizer.set_scanner(scanner);
            let mut events = Vec::new();
            let mut read = || {
                tokenizer.feed(&document)?;
                tokenizer.finish();
                while common::show(&mut tokenizer, &mut events)? {}
                Ok(())
            };
            let result = read().map_err(|e: kumi_xml::Error| (e.kind, e.position, e.message));
            assert_eq!((events, result), expected, "{name}: {:?}", String::from_utf8_lossy(&document));
        }
    }
}

/// A document may be read on another thread than where it was begun.
#[test]
fn goes_to_other_threads() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&kumi_xml::Tokenizer::new(Options::default()));
}

/// What a tag refers to counts once, also when the tag is looked at more than once because it came in pieces.
#[test]
fn a_tag_in_pieces_spends_no_more() {
    let attributes: String = (0..40).map(|i| format!(" b{i}='&e;'")).collect();
    let document = format!("<!DOCTYPE a [<!ENTITY e '{}'>]><a{attributes}>x</a>", "e".repeat(500));
    let offset = document.find("<a ").unwrap_or(0);
    // As much as the references need, and one byte less.
    for (spare, fits) in [(0, true), (1, false)] {
        let limits = Limits { entity_expansion: 40 * 501 - 16 * offset - spare, ..Limits::default() };
        for cut in offset..document.len() {
            let mut tokenizer = kumi_xml::Tokenizer::new(Options { limits: limits.clone(), ..Options::default() });
            let (first, rest) = document.as_bytes().split_at(cut);
            let mut events = Vec::new();
            let mut read = |piece| {
                tokenizer.feed(piece)?;
                while common::show(&mut tokenizer, &mut events)? {}
                Ok(())
            };
            let result: Result<(), kumi_xml::Error> = read(first).and_then(|()| read(rest));
            assert_eq!(result.is_ok(), fits, "cut at {cut}: {result:?}");
        }
    }
}

/// One large piece is the same as many small ones, also when more comes, or the end, before it is all read.
#[test]
fn a_large_piece_is_many_small_ones() {
    let row = |i: usize| format!("<r n='{i}'>a\r\nb{i}\u{e9}<!-- {i} --></r>\r\n");
    let document: String = std::iter::once("<t>".to_owned()).chain((0..20_000).map(row)).chain(["</t>".to_owned()]).collect();
    let (first, rest) = document.split_at(400_000);
    let read = |pieces: &[&[u8]], drained: usize| {
        let mut tokenizer = kumi_xml::Tokenizer::new(Options::default());
        let mut events = Vec::new();
        for piece in pieces {
            tokenizer.feed(piece).unwrap();
            for _ in 0..drained {
                common::show(&mut tokenizer, &mut events).unwrap();
            }
        }
        tokenizer.finish();
        while common::show(&mut tokenizer, &mut events).unwrap() {}
        events
    };
    let small: Vec<&[u8]> = document.as_bytes().chunks(1000).collect();
    let expected = read(&small, usize::from(u16::MAX));
    assert_eq!(expected.len(), 2 + 20_000 * 5);
    for drained in [0, 10, 30_000, usize::from(u16::MAX)] {
        assert_eq!(read(&[document.as_bytes()], drained), expected);
        assert_eq!(
            read(&[first.as_bytes(), &rest.as_bytes()[..3], &rest.as_bytes()[3..300_000], &rest.as_bytes()[300_000..]], drained),
            expected
        );
    }
    // What is wrong far behind in it is told where it stands, after everything before it.
    let broken = document.replacen("<r n='19000'>", "<r n='19000'>\u{1}", 1);
    let line = 19_000 * 2 + 1;
    for pieces in [vec![broken.as_bytes()], broken.as_bytes().chunks(1000).collect()] {
        let mut tokenizer = kumi_xml::Tokenizer::new(Options::default());
        let mut events = Vec::new();
        let error = pieces
            .iter()
            .map(|piece| {
                tokenizer.feed(piece).and_then(|()| {
                    while common::show(&mut tokenizer, &mut events)? {}
                    Ok(())
                })
            })
            .find_map(Result::err);
        assert_eq!(
            (events.len(), error.map(|e| (e.kind, e.position.line))),
            (1 + 19_000 * 5 + 1, Some((kumi_xml::ErrorKind::Character, line)))
        );
    }
}
