//! East Asian multibyte code charts, by way of `encoding_rs`, with the mappings that CRuby
//! chooses where the web's differ.
//!
//! Invariant: a chart is built once, on first use, and maps codes of one or two bytes in a
//! flat table; longer codes go to `encoding_rs` one by one.

use crate::encoding::{EncIndex, Kind};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A two-byte code chart in both directions.
pub(super) struct Chart {
    forward: Vec<u32>,
    reverse: HashMap<u32, u16>,
}

impl Chart {
    pub(super) fn to_unicode(&self, code: u16) -> Option<char> {
        self.forward.get(code as usize).copied().filter(|&c| c != 0).and_then(char::from_u32)
    }

    pub(super) fn from_unicode(&self, c: char) -> Option<u16> {
        self.reverse.get(&(c as u32)).copied()
    }
}

/// The library's encoding for the long codes and as the base of the chart.
pub(super) fn base(enc: EncIndex) -> Option<&'static encoding_rs::Encoding> {
    use EncIndex as E;
    Some(match enc {
        E::SHIFT_JIS | E::WINDOWS_31J | E::MACJAPANESE => encoding_rs::SHIFT_JIS,
        E::EUC_JP | E::CP51932 | E::EUCJP_MS => encoding_rs::EUC_JP,
        E::EUC_KR | E::CP949 => encoding_rs::EUC_KR,
        E::GBK | E::GB2312 => encoding_rs::GBK,
        E::GB18030 => encoding_rs::GB18030,
        E::BIG5 | E::CP950 | E::BIG5_HKSCS => encoding_rs::BIG5,
        _ => return None,
    })
}

/// Decodes one character with the library.
pub(super) fn decode_one(enc: EncIndex, bytes: &[u8]) -> Option<char> {
    let text = base(enc)?.decode_without_bom_handling_and_without_replacement(bytes)?;
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Some(c),
        _ => None,
    }
}

/// JIS X 0208 in CRuby's reading, where the web follows Windows: code as row and cell in
/// EUC, Windows character, JIS character.
const JIS_READINGS: [(u16, u32, u32); 7] = [
    (0xA1BD, 0x2015, 0x2014),
    (0xA1C1, 0xFF5E, 0x301C),
    (0xA1C2, 0x2225, 0x2016),
    (0xA1DD, 0xFF0D, 0x2212),
    (0xA1F1, 0xFFE0, 0x00A2),
    (0xA1F2, 0xFFE1, 0x00A3),
    (0xA2CC, 0xFFE2, 0x00AC),
];

/// A two-byte EUC-JP code as Shift_JIS.
pub(super) fn euc_to_sjis(code: u16) -> u16 {
    let (row, cell) = ((code >> 8) - 0xA0, (code & 0xFF) - 0xA0);
    let lead = (row - 1) / 2 + if row <= 62 { 0x81 } else { 0xC1 };
    let trail = if row % 2 == 1 { cell + 0x3F + u16::from(cell >= 64) } else { cell + 0x9E };
    lead << 8 | trail
}

fn build(enc: EncIndex) -> Option<Chart> {
    use EncIndex as E;
    base(enc)?;
    let mut forward = vec![0u32; 0x1_0000];
    for lead in 0x80..=0xFFu16 {
        if let crate::CharLen::Valid(1) = enc.char_len(&[lead as u8]) {
            forward[lead as usize] = decode_one(enc, &[lead as u8]).map_or(0, |c| c as u32);
            continue;
        }
        for trail in 0x30..=0xFFu16 {
            let code = lead << 8 | trail;
            let bytes = [lead as u8, trail as u8];
            if enc.char_len(&bytes) == crate::CharLen::Valid(2) && in_standard(enc, code) {
                forward[code as usize] = decode_one(enc, &bytes).map_or(0, |c| c as u32);
            }
        }
    }
    let jis = matches!(enc, E::SHIFT_JIS | E::EUC_JP | E::EUCJP_MS | E::MACJAPANESE);
    if jis && enc != E::EUCJP_MS {
        for (code, _, jis) in JIS_READINGS {
            let code = if enc.kind() == Kind::Sjis { euc_to_sjis(code) } else { code };
            forward[code as usize] = jis;
        }
    }
    if matches!(enc, E::GBK | E::GB2312) {
        // The web fills the gaps with private characters.
        forward.iter_mut().filter(|c| (0xE000..=0xF8FF).contains(*c)).for_each(|c| *c = 0);
    }
    let mut reverse = HashMap::with_capacity(0x6000);
    for (code, &c) in forward.iter().enumerate().filter(|&(_, &c)| c != 0) {
        let code = code as u16;
        reverse
            .entry(c)
            .and_modify(|old| {
                if prefers_later(enc, *old, code) {
                    *old = code;
                }
            })
            .or_insert(code);
    }
    for &(row, code, c) in ALSO_WRITTEN {
        if row == enc {
            reverse.entry(c).or_insert(code);
        }
    }
    Some(Chart { forward, reverse })
}

/// Of two codes for one character, whether the later one is written. Windows-31J writes
/// NEC row 13 and the IBM extension, not NEC's selection of the latter.
fn prefers_later(enc: EncIndex, old: u16, new: u16) -> bool {
    match enc.kind() {
        Kind::Sjis => (0xED40..=0xEEFC).contains(&old) && new >= 0xFA40,
        _ => false,
    }
}

/// Whether the strict encoding has the code at all; the web's tables hold the vendors'
/// extensions too.
fn in_standard(enc: EncIndex, code: u16) -> bool {
    use EncIndex as E;
    let (lead, trail) = (code >> 8, code & 0xFF);
    match enc {
        E::SHIFT_JIS | E::MACJAPANESE => !(0x8740..=0x879E).contains(&code) && code < 0xEB00,
        E::EUC_JP => lead == 0x8E || ((0xA1..=0xA8).contains(&lead) || (0xB0..=0xF4).contains(&lead)),
        E::EUC_KR => trail >= 0xA1 && lead >= 0xA1,
        E::GB2312 => {
            trail >= 0xA1
                && ((0xA1..=0xA9).contains(&lead) || (0xB0..=0xF7).contains(&lead))
                && !matches!(code, 0xA2A1..=0xA2B0 | 0xA2E3 | 0xA6D9..=0xA6F5 | 0xA8BB..=0xA8C0)
        }
        E::GBK => {
            !matches!(code, 0xA3A0 | 0xA6D9..=0xA6DF | 0xA6EC | 0xA6ED | 0xA6F3 | 0xFE50..=0xFEA0 | 0xA8BC | 0xA8BF | 0xA989..=0xA995)
        }
        E::BIG5_HKSCS => !(0xA3C0..=0xA3E0).contains(&code),
        E::BIG5 | E::CP950 if (0xA3C0..=0xA3E0).contains(&code) => false,
        E::BIG5 => (0xA140..=0xC67E).contains(&code) || (0xC940..=0xF9D5).contains(&code),
        E::CP950 => (0xA140..=0xC67E).contains(&code) || (0xC940..=0xF9FE).contains(&code),
        _ => true,
    }
}

/// Characters written with the code of another one.
const ALSO_WRITTEN: &[(EncIndex, u16, u32)] = &[
    (EncIndex::GB2312, 0xA1AA, 0x2015),
    (EncIndex::GB2312, 0xA1A4, 0x30FB),
    (EncIndex::EUC_JP, 0xA1BD, 0x2015),
    (EncIndex::SHIFT_JIS, 0x815C, 0x2015),
];

/// The chart of an encoding that has one.
pub(super) fn chart(enc: EncIndex) -> Option<&'static Chart> {
    static CHARTS: OnceLock<Vec<OnceLock<Option<Chart>>>> = OnceLock::new();
    let charts = CHARTS.get_or_init(|| EncIndex::all().map(|_| OnceLock::new()).collect());
    charts.get(enc.index())?.get_or_init(|| build(enc)).as_ref()
}
