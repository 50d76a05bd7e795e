//! Binding a document in pieces, and items as text that tests can read.
#![allow(dead_code)]

pub mod clock;

use kumi_xml::{Batch, BindError, BindOptions, Binder, Item, Kind, Limit, Progress, RowView, Schema};
use std::sync::Arc;

/// Small and good enough to shake documents with.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }
}

fn row(schema: &Schema, class: usize, row: RowView<'_>) -> String {
    let class = &schema.classes()[class];
    let mut out = format!("{}#{}@{}:{}", class.name, row.ordinal(), row.line(), row.column());
    for (i, field) in class.fields.iter().enumerate() {
        match (field.kind, row.field(i)) {
            (_, None) => {}
            (Kind::Text, Some(text)) => out += &format!(" {}={}", field.name, std::str::from_utf8(text).expect("text is UTF-8")),
            (Kind::Class(id), Some(_)) => {
                out += &format!(" {}=[{}]", field.name, self::row(schema, id.index(), row.nested(i).expect("a nested row")))
            }
        }
    }
    out
}

/// Every item as a line; those in an open node are indented.
pub fn render(schema: &Schema, batch: &Batch, open: &mut Vec<usize>, out: &mut Vec<String>) {
    for item in &batch.items {
        let name = |slot: u16, open: &[usize]| {
            open.last().map_or(String::new(), |c| format!("{}: ", schema.classes()[*c].fields[slot as usize].name))
        };
        let indent = "  ".repeat(open.len().saturating_sub(matches!(item, Item::Close) as usize));
        match *item {
            Item::Open { class, slot, row: r } => {
                out.push(format!("{indent}{}({}", name(slot, open), row(schema, class.index(), batch.row(r))));
                open.push(class.index());
            }
            Item::Row { class, slot, row: r } => {
                out.push(format!("{indent}{}{}", name(slot, open), row(schema, class.index(), batch.row(r))))
            }
            Item::Field { slot, text } => {
                out.push(format!("{indent}{}{}", name(slot, open), std::str::from_utf8(batch.text(text)).expect("text is UTF-8")))
            }
            Item::Close => {
                open.pop();
                out.push(format!("{indent})"));
            }
        }
    }
}

pub struct Run {
    pub lines: Vec<String>,
    pub error: Option<BindError>,
    pub predicted: u64,
}

/// Binds a document whose pieces have the sizes that `cut` gives, with batches of `limit`.
pub fn run(schema: &Arc<Schema>, options: BindOptions, document: &[u8], mut cut: impl FnMut() -> usize, limit: Limit) -> Run {
    let mut binder = Binder::new(schema.clone(), options);
    let (mut batch, mut open, mut lines) = (Batch::new(), Vec::new(), Vec::new());
    let mut rest = document;
    loop {
        batch.clear();
        let bound = binder.bind(&mut batch, limit);
        render(schema, &batch, &mut open, &mut lines);
        match bound {
            Err(error) => {
                let again = binder.bind(&mut batch, limit);
                assert_eq!(again, Err(error.clone()), "an error is final");
                return Run { lines, error: Some(error), predicted: binder.predicted() };
            }
            Ok(Progress::End) => return Run { lines, error: None, predicted: binder.predicted() },
            Ok(Progress::Full) => {}
            Ok(Progress::NeedInput) if rest.is_empty() => binder.finish(),
            Ok(Progress::NeedInput) => {
                let n = cut().clamp(1, rest.len());
                if let Err(error) = binder.feed(&rest[..n]) {
                    return Run { lines, error: Some(error), predicted: binder.predicted() };
                }
                rest = &rest[n..];
            }
        }
    }
}

pub fn whole(schema: &Arc<Schema>, document: &str) -> Run {
    run(schema, BindOptions::default(), document.as_bytes(), || usize::MAX, Limit::default())
}

/// Binds a document in many ways, which must all give the same.
pub fn everyway(schema: &Arc<Schema>, document: &[u8]) -> Run {
    let first = run(schema, BindOptions::default(), document, || usize::MAX, Limit::default());
    let mut random = Random(42);
    for predict in [true, false] {
        for (size, rows) in [(1, usize::MAX), (7, 1), (64, 3), (0, 2), (1 << 20, 1), (1 << 20, usize::MAX)] {
            let options = BindOptions { predict, ..BindOptions::default() };
            let cut = || if size == 0 { 1 + random.below(40) } else { size };
            let other = run(schema, options, document, cut, Limit { rows, bytes: 1 << 20 });
            assert_eq!(first.lines, other.lines, "pieces of {size}, batches of {rows}, predict {predict}");
            assert_eq!(first.error, other.error, "pieces of {size}, batches of {rows}, predict {predict}");
        }
    }
    first
}

/// What a good document gives.
pub fn good(schema: &Arc<Schema>, document: &str) -> Vec<String> {
    let run = everyway(schema, document.as_bytes());
    assert_eq!(run.error, None, "{:#?}", run.lines);
    run.lines
}

/// The error of a bad one, as a person sees it.
pub fn bad(schema: &Arc<Schema>, document: &str) -> String {
    everyway(schema, document.as_bytes()).error.expect("an error").to_string()
}
