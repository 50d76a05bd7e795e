//! `--thresholds`: the paper's numbers, with others in place of some.

use kumi_schedule::Thresholds;

type Field = fn(&mut Thresholds) -> &mut f64;

/// Names, what each stands for, and what it may be: above the first number, and at most the second.
const NAMES: [(&str, Field, f64, f64); 7] = [
    ("c", |t| &mut t.c, 0.0, 1.0),
    ("f", |t| &mut t.f, 1.0, 1e6),
    ("harmed", |t| &mut t.harmed, 0.0, 1e6),
    ("harmed-share", |t| &mut t.harmed_share, 0.0, 1.0),
    ("idle", |t| &mut t.idle, 0.0, 1.0),
    ("idle-share", |t| &mut t.idle_share, 0.0, 1.0),
    ("notice-share", |t| &mut t.notice_share, 0.0, 1.0),
];

/// Those of `NAME=VALUE,...`, the others as in the paper.
///
/// # Errors
/// A name that there is not, or a value that it can't have.
pub fn read(text: &str) -> Result<Thresholds, String> {
    let mut t = Thresholds::default();
    for part in text.split(',') {
        let (name, value) =
            part.split_once('=').ok_or_else(|| format!("--thresholds needs NAME=VALUE, such as harmed=0.2, not {part:?}"))?;
        let names = || NAMES.map(|n| n.0).join(", ");
        let (_, field, above, most) =
            NAMES.iter().find(|n| n.0 == name.trim()).ok_or_else(|| format!("{name:?} is no threshold: {}", names()))?;
        let known = value.trim().parse().ok().filter(|v: &f64| v > above && v <= most);
        *field(&mut t) = known.ok_or_else(|| format!("{name} is a number above {above}, at most {most}, not {value:?}"))?;
    }
    Ok(t)
}
