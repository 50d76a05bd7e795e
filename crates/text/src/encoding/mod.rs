//! The encodings: one static table, and the index that strings carry.
//!
//! Invariant: an [`EncIndex`] is always a valid row of [`TABLE`]; rows stand in CRuby's
//! order, so that index 0 is binary, 1 UTF-8 and 2 US-ASCII, and `Encoding.list` is the
//! table read from top to bottom. How bytes divide into characters depends only on the
//! row's [`Kind`].

mod chars;
mod ctype;
mod scan;
pub mod single;

pub use chars::{CharBuf, CharLen, Precise};
pub use ctype::Ctype;
pub use scan::CodeRange;

use kumi_budget::Grow;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Which encoding a string has: a row of the encoding table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EncIndex(u8);

/// How an encoding divides bytes into characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Bytes without meaning above 0x7F.
    Binary,
    /// Seven bits; a byte above 0x7F is invalid.
    Ascii,
    /// One byte, one character, all 256 of them.
    Single,
    /// UTF-8, one to four bytes, surrogates excluded.
    Utf8,
    /// UTF-16, high byte first.
    Utf16Be,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-32, high byte first.
    Utf32Be,
    /// UTF-32, low byte first.
    Utf32Le,
    /// Extended Unix Code for Japanese: two bytes, or three after 0x8F.
    EucJp,
    /// Shift_JIS: two bytes, and half-width katakana in one.
    Sjis,
    /// Big5: two bytes.
    Big5,
    /// UTF-8 with surrogate pairs written as twice three bytes.
    Cesu8,
    /// Unified Hangul: two bytes, trail bytes include letters.
    Cp949,
    /// Two bytes from 0xA1 on (EUC-KR, GB2312).
    EucKr,
    /// Two bytes, or four after 0x8E.
    EucTw,
    /// Two bytes, or four whose second is a digit.
    Gb18030,
    /// Two bytes.
    Gbk,
    /// Leading byte names the character set: two or three bytes.
    EmacsMule,
}

/// One row of the encoding table.
#[derive(Debug)]
pub struct EncInfo {
    /// Canonical name as `Encoding#name` gives it.
    pub name: &'static str,
    /// Other names that `Encoding.find` takes, in CRuby's order.
    pub aliases: &'static [&'static str],
    /// How bytes divide into characters.
    pub kind: Kind,
    /// Bytes in the shortest character.
    pub min_len: u8,
    /// Bytes in the longest character.
    pub max_len: u8,
    /// Bytes below 0x80 are ASCII characters.
    pub ascii_compatible: bool,
    /// A name only; its strings are treated as bytes of the kind given.
    pub dummy: bool,
    /// Code points are Unicode scalar values.
    pub unicode: bool,
}

macro_rules! encodings {
    ($(($konst:ident, $index:literal, $name:literal, [$($alias:literal),*], $kind:ident, $min:literal, $max:literal, $ascii:literal, $dummy:literal, $unicode:literal),)*) => {
        impl EncIndex {
            $(#[doc = $name] pub const $konst: EncIndex = EncIndex($index);)*
        }
        /// Every encoding, at its index.
        pub static TABLE: &[EncInfo] = &[
            $(EncInfo {
                name: $name, aliases: &[$($alias),*], kind: Kind::$kind,
                min_len: $min, max_len: $max,
                ascii_compatible: $ascii, dummy: $dummy, unicode: $unicode,
            },)*
        ];
    };
}

encodings! {
    (BINARY, 0, "ASCII-8BIT", ["BINARY"], Binary, 1, 1, true, false, false),
    (UTF_8, 1, "UTF-8", ["CP65001"], Utf8, 1, 4, true, false, true),
    (US_ASCII, 2, "US-ASCII", ["ASCII", "ANSI_X3.4-1968", "646"], Ascii, 1, 1, true, false, false),
    (UTF_16BE, 3, "UTF-16BE", ["UCS-2BE"], Utf16Be, 2, 4, false, false, true),
    (UTF_16LE, 4, "UTF-16LE", [], Utf16Le, 2, 4, false, false, true),
    (UTF_32BE, 5, "UTF-32BE", ["UCS-4BE"], Utf32Be, 4, 4, false, false, true),
    (UTF_32LE, 6, "UTF-32LE", ["UCS-4LE"], Utf32Le, 4, 4, false, false, true),
    (UTF_16, 7, "UTF-16", [], Single, 1, 1, false, true, true),
    (UTF_32, 8, "UTF-32", [], Single, 1, 1, false, true, true),
    (UTF8_MAC, 9, "UTF8-MAC", ["UTF-8-MAC", "UTF-8-HFS"], Utf8, 1, 4, true, false, true),
    (EUC_JP, 10, "EUC-JP", ["eucJP"], EucJp, 1, 3, true, false, false),
    (WINDOWS_31J, 11, "Windows-31J", ["CP932", "csWindows31J", "SJIS", "PCK"], Sjis, 1, 2, true, false, false),
    (BIG5, 12, "Big5", [], Big5, 1, 2, true, false, false),
    (BIG5_HKSCS, 13, "Big5-HKSCS", ["Big5-HKSCS:2008"], Big5, 1, 2, true, false, false),
    (BIG5_UAO, 14, "Big5-UAO", [], Big5, 1, 2, true, false, false),
    (CESU_8, 15, "CESU-8", [], Cesu8, 1, 6, true, false, true),
    (CP949, 16, "CP949", [], Cp949, 1, 2, true, false, false),
    (EMACS_MULE, 17, "Emacs-Mule", [], EmacsMule, 1, 3, true, false, false),
    (EUC_KR, 18, "EUC-KR", ["eucKR"], EucKr, 1, 2, true, false, false),
    (EUC_TW, 19, "EUC-TW", ["eucTW"], EucTw, 1, 4, true, false, false),
    (GB18030, 20, "GB18030", [], Gb18030, 1, 4, true, false, false),
    (GBK, 21, "GBK", ["CP936"], Gbk, 1, 2, true, false, false),
    (ISO_8859_1, 22, "ISO-8859-1", ["ISO8859-1"], Single, 1, 1, true, false, false),
    (ISO_8859_2, 23, "ISO-8859-2", ["ISO8859-2"], Single, 1, 1, true, false, false),
    (ISO_8859_3, 24, "ISO-8859-3", ["ISO8859-3"], Single, 1, 1, true, false, false),
    (ISO_8859_4, 25, "ISO-8859-4", ["ISO8859-4"], Single, 1, 1, true, false, false),
    (ISO_8859_5, 26, "ISO-8859-5", ["ISO8859-5"], Single, 1, 1, true, false, false),
    (ISO_8859_6, 27, "ISO-8859-6", ["ISO8859-6"], Single, 1, 1, true, false, false),
    (ISO_8859_7, 28, "ISO-8859-7", ["ISO8859-7"], Single, 1, 1, true, false, false),
    (ISO_8859_8, 29, "ISO-8859-8", ["ISO8859-8"], Single, 1, 1, true, false, false),
    (ISO_8859_9, 30, "ISO-8859-9", ["ISO8859-9"], Single, 1, 1, true, false, false),
    (ISO_8859_10, 31, "ISO-8859-10", ["ISO8859-10"], Single, 1, 1, true, false, false),
    (ISO_8859_11, 32, "ISO-8859-11", ["ISO8859-11"], Single, 1, 1, true, false, false),
    (ISO_8859_13, 33, "ISO-8859-13", ["ISO8859-13"], Single, 1, 1, true, false, false),
    (ISO_8859_14, 34, "ISO-8859-14", ["ISO8859-14"], Single, 1, 1, true, false, false),
    (ISO_8859_15, 35, "ISO-8859-15", ["ISO8859-15"], Single, 1, 1, true, false, false),
    (ISO_8859_16, 36, "ISO-8859-16", ["ISO8859-16"], Single, 1, 1, true, false, false),
    (KOI8_R, 37, "KOI8-R", ["CP878"], Single, 1, 1, true, false, false),
    (KOI8_U, 38, "KOI8-U", [], Single, 1, 1, true, false, false),
    (SHIFT_JIS, 39, "Shift_JIS", [], Sjis, 1, 2, true, false, false),
    (WINDOWS_1250, 40, "Windows-1250", ["CP1250"], Single, 1, 1, true, false, false),
    (WINDOWS_1251, 41, "Windows-1251", ["CP1251"], Single, 1, 1, true, false, false),
    (WINDOWS_1252, 42, "Windows-1252", ["CP1252"], Single, 1, 1, true, false, false),
    (WINDOWS_1253, 43, "Windows-1253", ["CP1253"], Single, 1, 1, true, false, false),
    (WINDOWS_1254, 44, "Windows-1254", ["CP1254"], Single, 1, 1, true, false, false),
    (WINDOWS_1257, 45, "Windows-1257", ["CP1257"], Single, 1, 1, true, false, false),
    (IBM437, 46, "IBM437", ["CP437"], Single, 1, 1, true, false, false),
    (IBM720, 47, "IBM720", ["CP720"], Single, 1, 1, true, false, false),
    (IBM737, 48, "IBM737", ["CP737"], Single, 1, 1, true, false, false),
    (IBM775, 49, "IBM775", ["CP775"], Single, 1, 1, true, false, false),
    (CP850, 50, "CP850", ["IBM850"], Single, 1, 1, true, false, false),
    (IBM852, 51, "IBM852", [], Single, 1, 1, true, false, false),
    (CP852, 52, "CP852", [], Single, 1, 1, true, false, false),
    (IBM855, 53, "IBM855", [], Single, 1, 1, true, false, false),
    (CP855, 54, "CP855", [], Single, 1, 1, true, false, false),
    (IBM857, 55, "IBM857", ["CP857"], Single, 1, 1, true, false, false),
    (IBM860, 56, "IBM860", ["CP860"], Single, 1, 1, true, false, false),
    (IBM861, 57, "IBM861", ["CP861"], Single, 1, 1, true, false, false),
    (IBM862, 58, "IBM862", ["CP862"], Single, 1, 1, true, false, false),
    (IBM863, 59, "IBM863", ["CP863"], Single, 1, 1, true, false, false),
    (IBM864, 60, "IBM864", ["CP864"], Single, 1, 1, true, false, false),
    (IBM865, 61, "IBM865", ["CP865"], Single, 1, 1, true, false, false),
    (IBM866, 62, "IBM866", ["CP866"], Single, 1, 1, true, false, false),
    (IBM869, 63, "IBM869", ["CP869"], Single, 1, 1, true, false, false),
    (WINDOWS_1258, 64, "Windows-1258", ["CP1258"], Single, 1, 1, true, false, false),
    (GB1988, 65, "GB1988", [], Single, 1, 1, true, false, false),
    (MACCENTEURO, 66, "macCentEuro", [], Single, 1, 1, true, false, false),
    (MACCROATIAN, 67, "macCroatian", [], Single, 1, 1, true, false, false),
    (MACCYRILLIC, 68, "macCyrillic", [], Single, 1, 1, true, false, false),
    (MACGREEK, 69, "macGreek", [], Single, 1, 1, true, false, false),
    (MACICELAND, 70, "macIceland", [], Single, 1, 1, true, false, false),
    (MACROMAN, 71, "macRoman", [], Single, 1, 1, true, false, false),
    (MACROMANIA, 72, "macRomania", [], Single, 1, 1, true, false, false),
    (MACTHAI, 73, "macThai", [], Single, 1, 1, true, false, false),
    (MACTURKISH, 74, "macTurkish", [], Single, 1, 1, true, false, false),
    (MACUKRAINE, 75, "macUkraine", [], Single, 1, 1, true, false, false),
    (CP950, 76, "CP950", [], Big5, 1, 2, true, false, false),
    (CP951, 77, "CP951", [], Big5, 1, 2, true, false, false),
    (IBM037, 78, "IBM037", ["ebcdic-cp-us"], Single, 1, 1, false, true, false),
    (STATELESS_ISO_2022_JP, 79, "stateless-ISO-2022-JP", [], EmacsMule, 1, 3, true, false, false),
    (EUCJP_MS, 80, "eucJP-ms", ["euc-jp-ms"], EucJp, 1, 3, true, false, false),
    (CP51932, 81, "CP51932", [], EucJp, 1, 3, true, false, false),
    (EUC_JIS_2004, 82, "EUC-JIS-2004", ["EUC-JISX0213"], EucJp, 1, 3, true, false, false),
    (GB2312, 83, "GB2312", ["EUC-CN", "eucCN"], EucKr, 1, 2, true, false, false),
    (GB12345, 84, "GB12345", [], EucKr, 1, 2, true, false, false),
    (ISO_2022_JP, 85, "ISO-2022-JP", ["ISO2022-JP"], Single, 1, 1, false, true, false),
    (ISO_2022_JP_2, 86, "ISO-2022-JP-2", ["ISO2022-JP2"], Single, 1, 1, false, true, false),
    (CP50220, 87, "CP50220", [], Single, 1, 1, false, true, false),
    (CP50221, 88, "CP50221", [], Single, 1, 1, false, true, false),
    (WINDOWS_1256, 89, "Windows-1256", ["CP1256"], Single, 1, 1, true, false, false),
    (WINDOWS_1255, 90, "Windows-1255", ["CP1255"], Single, 1, 1, true, false, false),
    (TIS_620, 91, "TIS-620", [], Single, 1, 1, true, false, false),
    (WINDOWS_874, 92, "Windows-874", ["CP874"], Single, 1, 1, true, false, false),
    (MACJAPANESE, 93, "MacJapanese", ["MacJapan"], Sjis, 1, 2, true, false, false),
    (UTF_7, 94, "UTF-7", ["CP65000"], Single, 1, 1, false, true, false),
    (UTF8_DOCOMO, 95, "UTF8-DoCoMo", [], Utf8, 1, 4, true, false, true),
    (SJIS_DOCOMO, 96, "SJIS-DoCoMo", [], Sjis, 1, 2, true, false, false),
    (UTF8_KDDI, 97, "UTF8-KDDI", [], Utf8, 1, 4, true, false, true),
    (SJIS_KDDI, 98, "SJIS-KDDI", [], Sjis, 1, 2, true, false, false),
    (ISO_2022_JP_KDDI, 99, "ISO-2022-JP-KDDI", [], Single, 1, 1, false, true, false),
    (STATELESS_ISO_2022_JP_KDDI, 100, "stateless-ISO-2022-JP-KDDI", [], EmacsMule, 1, 3, true, false, false),
    (UTF8_SOFTBANK, 101, "UTF8-SoftBank", [], Utf8, 1, 4, true, false, true),
    (SJIS_SOFTBANK, 102, "SJIS-SoftBank", [], Sjis, 1, 2, true, false, false),
}

/// Encodings whose single bytes map case beyond ASCII, as CRuby's tables do.
const CASED_SINGLE: &[EncIndex] = &[
    EncIndex::ISO_8859_1,
    EncIndex::ISO_8859_2,
    EncIndex::ISO_8859_3,
    EncIndex::ISO_8859_4,
    EncIndex::ISO_8859_5,
    EncIndex::ISO_8859_7,
    EncIndex::ISO_8859_9,
    EncIndex::ISO_8859_10,
    EncIndex::ISO_8859_13,
    EncIndex::ISO_8859_14,
    EncIndex::ISO_8859_15,
    EncIndex::ISO_8859_16,
    EncIndex::WINDOWS_1250,
    EncIndex::WINDOWS_1251,
    EncIndex::WINDOWS_1252,
    EncIndex::WINDOWS_1253,
    EncIndex::WINDOWS_1254,
    EncIndex::WINDOWS_1257,
];

impl EncIndex {
    /// The row number.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The row number as the byte that object headers hold.
    #[inline]
    pub const fn as_u8(self) -> u8 {
        self.0
    }

    /// The encoding whose row number is `byte`; binary if no such row exists.
    #[inline]
    pub fn from_u8(byte: u8) -> EncIndex {
        if (byte as usize) < TABLE.len() { EncIndex(byte) } else { EncIndex::BINARY }
    }

    /// All encodings, in table order.
    pub fn all() -> impl Iterator<Item = EncIndex> {
        (0..TABLE.len()).map(|i| EncIndex(i as u8))
    }

    /// Finds an encoding by name or alias, ignoring ASCII case. The names that depend on
    /// the process (`locale`, `external`, `filesystem`, `internal`) are the caller's.
    pub fn find(name: &[u8]) -> Option<EncIndex> {
        static NAMES: OnceLock<HashMap<Vec<u8>, EncIndex>> = OnceLock::new();
        let names = NAMES.get_or_init(|| {
            let mut map = HashMap::new();
            for enc in EncIndex::all() {
                map.insert(enc.name().as_bytes().to_ascii_lowercase(), enc);
                for alias in enc.info().aliases {
                    map.insert(alias.as_bytes().to_ascii_lowercase(), enc);
                }
            }
            map
        });
        names.get(&Vec::gather(name.iter().map(u8::to_ascii_lowercase))).copied()
    }

    /// The table row.
    #[inline]
    pub fn info(self) -> &'static EncInfo {
        &TABLE[self.0 as usize]
    }

    /// Canonical name.
    #[inline]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// `Encoding#inspect`.
    pub fn inspect(self) -> String {
        let name = if self == EncIndex::BINARY { "BINARY (ASCII-8BIT)" } else { self.name() };
        let dummy = if self.is_dummy() { " (dummy)" } else { "" };
        format!("#<Encoding:{name}{dummy}>")
    }

    /// Names of the constants that `Encoding` defines for this row: the name and its
    /// aliases with `-` as `_`, in upper case, and as written where that begins with a
    /// capital (`Windows_31J`, `EUCJP` and `EucJP`).
    pub fn constant_names(self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let info = self.info();
        for name in std::iter::once(&info.name).chain(info.aliases) {
            let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let Some(first) = plain.chars().next() else { continue };
            if first.is_ascii_digit() {
                continue;
            }
            let mut candidates = vec![];
            let has_lower = plain.chars().any(|c| c.is_ascii_lowercase());
            if first.is_ascii_uppercase() {
                candidates.push(plain.clone());
            } else if plain.contains(|c: char| c.is_ascii_uppercase()) {
                candidates.push(format!("{}{}", first.to_ascii_uppercase(), &plain[1..]));
            }
            if has_lower {
                candidates.push(plain.to_ascii_uppercase());
            }
            for candidate in candidates {
                if !out.contains(&candidate) {
                    out.push(candidate);
                }
            }
        }
        out
    }

    /// Bytes below 0x80 are ASCII characters.
    #[inline]
    pub fn is_ascii_compatible(self) -> bool {
        self.0 < 3 || self.info().ascii_compatible
    }

    /// Known by name only.
    pub fn is_dummy(self) -> bool {
        self.info().dummy
    }

    /// Code points are Unicode scalar values.
    #[inline]
    pub fn is_unicode(self) -> bool {
        self.info().unicode
    }

    /// How bytes divide into characters.
    #[inline]
    pub fn kind(self) -> Kind {
        self.info().kind
    }

    /// Bytes in the shortest character.
    #[inline]
    pub fn min_len(self) -> usize {
        self.info().min_len as usize
    }

    /// Bytes in the longest character.
    #[inline]
    pub fn max_len(self) -> usize {
        self.info().max_len as usize
    }

    /// Every byte is a character (binary, US-ASCII, ISO-8859-x, ...).
    #[inline]
    pub fn is_single_byte(self) -> bool {
        matches!(self.kind(), Kind::Binary | Kind::Ascii | Kind::Single)
    }

    /// UTF-8 or one of the encodings that share its byte structure.
    #[inline]
    pub fn is_utf8(self) -> bool {
        self.0 == 1 || self.kind() == Kind::Utf8
    }

    /// A single-byte encoding whose upper half has upper and lower case letters.
    pub(crate) fn is_cased_single(self) -> bool {
        CASED_SINGLE.contains(&self)
    }

    /// The encoding that an operation on two strings has, or `None` if they don't go
    /// together (`Encoding.compatible?`, "incompatible character encodings").
    pub fn compatible(a: EncIndex, a_bytes: &[u8], a_ascii: bool, b: EncIndex, b_bytes: &[u8], b_ascii: bool) -> Option<EncIndex> {
        if a == b {
            return Some(a);
        }
        if b_bytes.is_empty() {
            return Some(a);
        }
        if a_bytes.is_empty() {
            return Some(if a.is_ascii_compatible() && b_ascii && b.is_ascii_compatible() { a } else { b });
        }
        if !a.is_ascii_compatible() || !b.is_ascii_compatible() {
            return None;
        }
        if b_ascii {
            return Some(a);
        }
        if a_ascii {
            return Some(b);
        }
        None
    }
}

impl std::fmt::Debug for EncIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Default for EncIndex {
    fn default() -> Self {
        EncIndex::UTF_8
    }
}
