//! Case mapping: upcase, downcase, capitalize, swapcase, folding, and comparison without
//! case.
//!
//! Invariant: Unicode encodings map fully (one character may become three, UAX 21 without
//! context); single-byte ones map only to characters they have; others map ASCII.

use crate::encoding::EncIndex;
use crate::encoding::single;
use kumi_budget::Grow;
use std::cmp::Ordering;

/// What to do with letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaseOp {
    /// All to upper case.
    Upcase,
    /// All to lower case.
    Downcase,
    /// The first to title case, the rest to lower case.
    Capitalize,
    /// Each to the other case.
    Swapcase,
}

/// The options of `upcase` and its like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CaseOptions {
    /// `:ascii`
    pub ascii: bool,
    /// `:turkic`: dotted and dotless i are two letters.
    pub turkic: bool,
    /// `:fold`, for `downcase` only.
    pub fold: bool,
}

impl CaseOptions {
    /// Reads the option symbols' names.
    ///
    /// # Errors
    /// The message of `ArgumentError`.
    pub fn parse(names: &[&[u8]], op: CaseOp) -> Result<CaseOptions, &'static str> {
        let mut options = CaseOptions::default();
        if names.len() > 2 {
            return Err("too many options");
        }
        let Some(&first) = names.first() else { return Ok(options) };
        let second = names.get(1).copied();
        match first {
            b"ascii" | b"fold" if second.is_some() => return Err("too many options"),
            b"ascii" => options.ascii = true,
            b"fold" if op != CaseOp::Downcase => return Err("option :fold only allowed for downcasing"),
            b"fold" => options.fold = true,
            b"turkic" => {
                options.turkic = true;
                if second.is_some_and(|s| s != b"lithuanian") {
                    return Err("invalid second option");
                }
            }
            b"lithuanian" => match second {
                None => {}
                Some(b"turkic") => options.turkic = true,
                Some(_) => return Err("invalid second option"),
            },
            _ => return Err("invalid option"),
        }
        Ok(options)
    }
}

/// The string isn't valid in its encoding ("input string invalid").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidInput;

/// Maps `s`; `None` if nothing changes (the answer of the methods with `!`).
///
/// # Errors
/// [`InvalidInput`] for a broken string in a Unicode encoding.
pub fn map(s: &[u8], enc: EncIndex, op: CaseOp, options: CaseOptions) -> Result<Option<Vec<u8>>, InvalidInput> {
    let plain = options.ascii || (enc.is_ascii_compatible() && s.is_ascii() && !options.turkic);
    let unicode = enc.is_unicode();
    if (plain || !(unicode || enc.is_cased_single())) && enc.is_ascii_compatible() {
        return Ok(map_ascii(s, enc, op));
    }
    let mut out = Vec::room(s.len() + s.len() / 8);
    let mut i = 0;
    let mut first = true;
    while i < s.len() {
        let (code, n) = match enc.decode(&s[i..]) {
            Some(found) => found,
            None if unicode => return Err(InvalidInput),
            None => (s[i] as u32, 1),
        };
        let original = &s[i..i + n];
        i += n;
        let c = if unicode { char::from_u32(code) } else { single::to_unicode(enc, code) };
        let Some(c) = c.filter(|c| !options.ascii || c.is_ascii()) else {
            out.put_all(original);
            first = false;
            continue;
        };
        let mark = out.len();
        let mut fits = true;
        map_char(c, op, options, first, &mut |m| {
            if unicode {
                fits &= enc.push_code(&mut out, m as u32);
            } else if let Some(b) = single::from_unicode(enc, m) {
                out.put(b);
            } else {
                fits = false;
            }
        });
        if !fits {
            out.truncate(mark);
            out.put_all(original);
        }
        first = false;
    }
    Ok((out != s).then_some(out))
}

/// ASCII letters only; characters of several bytes pass untouched.
fn map_ascii(s: &[u8], enc: EncIndex, op: CaseOp) -> Option<Vec<u8>> {
    // Trail bytes below 0x80 look like letters in some encodings.
    let bytewise = enc.is_single_byte() || enc.is_utf8() || s.is_ascii();
    if bytewise {
        let mut out = Vec::copy(s);
        match op {
            CaseOp::Upcase => out.make_ascii_uppercase(),
            CaseOp::Downcase => out.make_ascii_lowercase(),
            CaseOp::Capitalize => {
                out.make_ascii_lowercase();
                out[..1.min(s.len())].make_ascii_uppercase();
            }
            CaseOp::Swapcase => out.iter_mut().filter(|b| b.is_ascii_alphabetic()).for_each(|b| *b ^= 0x20),
        }
        return (out != s).then_some(out);
    }
    let mut out = Vec::copy(s);
    let mut i = 0;
    while i < out.len() {
        let n = enc.char_len(&out[i..]).step().max(1);
        if n == 1 {
            let b = &mut out[i];
            match op {
                CaseOp::Upcase => b.make_ascii_uppercase(),
                CaseOp::Downcase => b.make_ascii_lowercase(),
                CaseOp::Capitalize if i == 0 => b.make_ascii_uppercase(),
                CaseOp::Capitalize => b.make_ascii_lowercase(),
                CaseOp::Swapcase if b.is_ascii_alphabetic() => *b ^= 0x20,
                CaseOp::Swapcase => {}
            }
        }
        i += n;
    }
    (out != s).then_some(out)
}

fn map_char(c: char, op: CaseOp, options: CaseOptions, first: bool, push: &mut dyn FnMut(char)) {
    let op = match op {
        CaseOp::Capitalize if !first => CaseOp::Downcase,
        op => op,
    };
    match op {
        CaseOp::Upcase => upper(c, options, push),
        CaseOp::Downcase if options.fold => fold_char(c, push),
        CaseOp::Downcase => lower(c, options, push),
        CaseOp::Capitalize => title(c, options, push),
        CaseOp::Swapcase => swap(c, options, push),
    }
}

fn upper(c: char, options: CaseOptions, push: &mut dyn FnMut(char)) {
    if options.turkic && c == 'i' {
        return push('İ');
    }
    c.to_uppercase().for_each(push)
}

fn lower(c: char, options: CaseOptions, push: &mut dyn FnMut(char)) {
    match c {
        'I' if options.turkic => push('ı'),
        'İ' if options.turkic => push('i'),
        _ => c.to_lowercase().for_each(push),
    }
}

/// The digraphs: upper, title, lower, and what `swapcase` makes of the title form.
const DIGRAPHS: [(char, char, char, &str); 4] =
    [('Ǆ', 'ǅ', 'ǆ', "dŽ"), ('Ǉ', 'ǈ', 'ǉ', "lJ"), ('Ǌ', 'ǋ', 'ǌ', "nJ"), ('Ǳ', 'ǲ', 'ǳ', "dZ")];

/// The title form of a Greek letter with iota subscript.
fn iota_title(c: char) -> Option<char> {
    let code = match c as u32 {
        n @ 0x1F80..=0x1FAF => n | 8,
        n @ (0x1FB3 | 0x1FC3 | 0x1FF3) => n + 9,
        n @ (0x1FBC | 0x1FCC | 0x1FFC) => n,
        _ => return None,
    };
    char::from_u32(code)
}

fn title(c: char, options: CaseOptions, push: &mut dyn FnMut(char)) {
    if let Some(row) = DIGRAPHS.iter().find(|d| d.0 == c || d.1 == c || d.2 == c) {
        return push(row.1);
    }
    if let Some(t) = iota_title(c) {
        return push(t);
    }
    match c as u32 {
        0x149 => "ʼN".chars().for_each(push),
        // Georgian has no title case.
        0x10D0..=0x10FF => push(c),
        0x1C90..=0x1CBF => lower(c, options, push),
        _ => {
            let mut mapped = [c; 3];
            let mut n = 0;
            upper(c, options, &mut |m| {
                if n < 3 {
                    mapped[n] = m;
                    n += 1;
                }
            });
            push(mapped[0]);
            for &m in &mapped[1..n.max(1)] {
                match m {
                    // A subscript iota stays one under a title letter.
                    'Ι' if n > 1 && (0x1F80..=0x1FFF).contains(&(c as u32)) => push('\u{345}'),
                    // Written-out letters become small, combining marks stay.
                    _ => m.to_lowercase().for_each(&mut *push),
                }
            }
        }
    }
}

/// Title-case letters, which `swapcase` takes apart.
fn is_title(c: char) -> bool {
    iota_title(c) == Some(c) || DIGRAPHS.iter().any(|d| d.1 == c)
}

fn swap(c: char, options: CaseOptions, push: &mut dyn FnMut(char)) {
    if is_title(c) {
        if let Some(row) = DIGRAPHS.iter().find(|d| d.1 == c) {
            return row.3.chars().for_each(push);
        }
        let mut up = c.to_uppercase();
        if let Some(base) = up.next() {
            base.to_lowercase().for_each(&mut *push);
        }
        return up.for_each(push);
    }
    let mut changed = false;
    lower(c, options, &mut |m| changed |= m != c);
    if changed { lower(c, options, push) } else { upper(c, options, push) }
}

/// Full case folding (CaseFolding.txt, C and F).
pub(crate) fn fold_char(c: char, push: &mut dyn FnMut(char)) {
    match c {
        'A'..='Z' => push(c.to_ascii_lowercase()),
        '\0'..='\x7F' | 'ı' => push(c),
        'ẞ' => "ss".chars().for_each(push),
        // Cherokee folds to the older, upper-case letters.
        '\u{13A0}'..='\u{13F5}' => push(c),
        '\u{13F8}'..='\u{13FD}' | '\u{AB70}'..='\u{ABBF}' => c.to_uppercase().for_each(push),
        _ => c.to_uppercase().for_each(|u| u.to_lowercase().for_each(&mut *push)),
    }
}

/// `String#casecmp` on two strings known to be compatible: ASCII letters compare as lower
/// case.
pub fn casecmp(a: &[u8], b: &[u8]) -> Ordering {
    for (x, y) in a.iter().zip(b) {
        let order = x.to_ascii_lowercase().cmp(&y.to_ascii_lowercase());
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// `String#casecmp?` on two strings known to be compatible; `None` if one is broken.
pub fn casecmp_p(a: &[u8], a_enc: EncIndex, b: &[u8], b_enc: EncIndex) -> Option<bool> {
    let options = CaseOptions { fold: true, ..CaseOptions::default() };
    let fold = |s: &[u8], enc| match map(s, enc, CaseOp::Downcase, options) {
        Ok(Some(folded)) => Some(folded),
        Ok(None) => Some(Vec::copy(s)),
        Err(InvalidInput) => None,
    };
    Some(fold(a, a_enc)? == fold(b, b_enc)?)
}
