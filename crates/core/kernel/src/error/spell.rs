//! "Did you mean?": which names are close to a mistyped one.
//!
//! Names are compared without case and `@`: first by
//! Jaro-Winkler similarity, then by edit distance, with limits that grow with the
//! length of what was typed.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[intrinsic("__spell", 2, 2, spell).guard(Guard::None)];

/// Candidates looked at, at most: suggestions must stay cheap on huge tables.
const LIMIT: usize = 20_000;

fn normal(s: &str) -> Vec<char> {
    s.chars().filter(|c| *c != '@').flat_map(char::to_lowercase).collect()
}

/// Similarity of Jaro: common characters near each other, less half the transpositions.
fn jaro(a: &[char], b: &[char]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let range = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut used = vec![false; b.len()];
    let mut matched = Vec::new();
    for (i, c) in a.iter().enumerate() {
        let lo = i.saturating_sub(range);
        let hi = (i + range + 1).min(b.len());
        if let Some(j) = (lo..hi).find(|&j| !used[j] && b[j] == *c) {
            used[j] = true;
            matched.push(*c);
        }
    }
    if matched.is_empty() {
        return 0.0;
    }
    let other: Vec<char> = b.iter().zip(&used).filter(|p| *p.1).map(|p| *p.0).collect();
    let t = matched.iter().zip(&other).filter(|p| p.0 != p.1).count() as f64 / 2.0;
    let m = matched.len() as f64;
    (m / a.len() as f64 + m / b.len() as f64 + (m - t) / m) / 3.0
}
/// Winkler's bonus for a common prefix of up to four characters.
fn jaro_winkler(a: &[char], b: &[char]) -> f64 {
    let j = jaro(a, b);
    if j <= 0.7 {
        return j;
    }
    let prefix = a.iter().zip(b).take(4).take_while(|p| p.0 == p.1).count() as f64;
    j + prefix * 0.1 * (1.0 - j)
}
/// Levenshtein's edit distance.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = (diagonal + (x != y) as usize).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = cost;
        }
    }
    row[b.len()]
}

/// Indices of the best candidates, best first.
fn corrections(input: &str, words: &[String]) -> Vec<usize> {
    let typed = normal(input);
    if typed.is_empty() || typed.len() > 200 {
        return Vec::new();
    }
    let threshold = if typed.len() > 3 { 0.834 } else { 0.77 };
    let mut near: Vec<(usize, f64, Vec<char>)> = words
        .iter()
        .enumerate()
        .filter(|(_, w)| w.as_str() != input && w.len() <= 400)
        .map(|(i, w)| (i, normal(w)))
        .map(|(i, w)| (i, jaro_winkler(&w, &typed), w))
        .filter(|p| p.1 >= threshold)
        .collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1));
    let limit = typed.len().div_ceil(4);
    let close: Vec<usize> = near.iter().filter(|p| distance(&p.2, &typed) <= limit).map(|p| p.0).collect();
    if !close.is_empty() {
        return close;
    }
    near.iter().find(|p| distance(&p.2, &typed) < typed.len().min(p.2.len())).map(|p| vec![p.0]).unwrap_or_default()
}

fn text(cx: &Cx, v: Value) -> String {
    match v.as_sym() {
        Some(s) => cx.sym_name(s),
        None => cx.text(v),
    }
}
/// `__spell(name, candidates)`: the candidates (Symbols or Strings) that may have been meant.
fn spell(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let list = cx.arg_array(a, 1)?;
    let input = text(cx, a[0]);
    let list = list.seen().to_vec();
    let words: Vec<String> = list.iter().take(LIMIT).map(|w| text(cx, *w)).collect();
    let out: Vec<Value> = corrections(&input, &words).into_iter().filter_map(|i| list.get(i).copied()).collect();
    Ok(cx.array_vec(out))
}

#[cfg(test)]
mod tests {
    use super::corrections;

    fn best(input: &str, words: &[&str]) -> Vec<String> {
        let w: Vec<String> = words.iter().map(|s| s.to_string()).collect();
        corrections(input, &w).into_iter().map(|i| w[i].clone()).collect()
    }

    #[test]
    fn close_names_are_found_and_far_ones_are_not() {
        assert_eq!(best("foz", &["foo", "bar", "quux"]), ["foo"]);
        assert_eq!(best("lenght", &["length", "last", "size"]), ["length"]);
        assert!(best("zzzz", &["foo", "bar"]).is_empty());
        assert!(best("foo", &["foo"]).is_empty());
    }
}
