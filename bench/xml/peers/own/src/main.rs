//! kumi-xml on the documents of the bench, pushed in pieces of 64 KB, with all its checks.
//! See bench/xml/README.md for the modes.

#[path = "../../row.rs"]
#[allow(dead_code)]
mod row;

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::time::Instant;

use kumi_xml::{Batch, BindOptions, Binder, Field, Item, Limit, Options, Progress, RowView, Schema, Tokenizer, schema};
use row::{Join, Kind, LINEITEM, ORDERS, Sum};

type Failure = Box<dyn Error>;

const PIECE: usize = 1 << 16;

fn size(path: &str) -> u64 {
    std::fs::metadata(path).map(|m| m.len()).unwrap_or(0)
}

fn all_events(path: &str) -> Result<u64, Failure> {
    let mut file = File::open(path)?;
    let mut tokenizer = Tokenizer::new(Options::default());
    let (mut piece, mut count) = (vec![0; PIECE], 0);
    loop {
        let n = file.read(&mut piece)?;
        if n == 0 {
            tokenizer.finish();
        } else {
            tokenizer.feed(&piece[..n]).map_err(|e| format!("{e:?}"))?;
        }
        while tokenizer.next().map_err(|e| format!("{e:?}"))?.is_some() {
            count += 1;
        }
        if n == 0 {
            return Ok(count);
        }
    }
}

/// A document bound row by row.
struct Rows {
    file: File,
    piece: Vec<u8>,
    binder: Binder,
    batch: Batch,
    ended: bool,
}

impl Rows {
    /// The rows of a table with these columns.
    fn open(path: &str, columns: impl Iterator<Item = &'static str>) -> Result<Rows, Failure> {
        let mut schema = Schema::builder();
        let class = schema.class("Row");
        for name in columns {
            schema.field(class, Field::new(name));
        }
        schema.root_path(schema::parse_path("/table/T", &[])?, class);
        let binder = Binder::new(schema.build()?, BindOptions::default());
        Ok(Rows { file: File::open(path)?, piece: vec![0; PIECE], binder, batch: Batch::new(), ended: false })
    }

    /// Reads a piece and hands over the rows that are complete with it.
    fn step(&mut self, mut row: impl FnMut(RowView<'_>) -> Option<()>) -> Result<(), Failure> {
        let n = self.file.read(&mut self.piece)?;
        if n == 0 {
            self.binder.finish();
        } else {
            self.binder.feed(&self.piece[..n]).map_err(|e| format!("{e:?}"))?;
        }
        loop {
            self.batch.clear();
            let progress = self.binder.bind(&mut self.batch, Limit { rows: usize::MAX, bytes: 1 << 17 }).map_err(|e| format!("{e:?}"))?;
            for item in &self.batch.items {
                if let Item::Row { row: r, .. } = item {
                    row(self.batch.row(*r)).ok_or("a value does not decode")?;
                }
            }
            match progress {
                Progress::Full => {}
                Progress::NeedInput => return Ok(()),
                Progress::End => {
                    self.ended = true;
                    return Ok(());
                }
            }
        }
    }
}

fn value<const PLAIN: bool>(sum: &mut Sum, kind: Kind, r: RowView<'_>, i: usize) -> Option<()> {
    let v = match kind {
        Kind::Integer => match r.integer(i)?.ok()? {
            kumi_xml::value::Integer::Small(n) => n,
            _ => return None,
        },
        Kind::Decimal => r.decimal(i)?.ok()?.at_scale(2)?,
        Kind::Date => r.date(i)?.ok()?.days(),
        Kind::Words if PLAIN => r.field(i)?.len() as i64,
        Kind::Words => row::fnv(r.field(i)?) as i64,
    };
    if PLAIN {
        sum.plain = sum.plain.wrapping_add(v);
    } else {
        sum.mixed = (sum.mixed.rotate_left(5) ^ v as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    Some(())
}

fn extract<const PLAIN: bool>(path: &str) -> Result<(u64, Sum), Failure> {
    let mut rows = Rows::open(path, LINEITEM.iter().map(|c| c.0))?;
    let (mut count, mut sum) = (0, Sum::default());
    while !rows.ended {
        rows.step(|r| {
            count += 1;
            for (i, (_, kind)) in LINEITEM.iter().enumerate() {
                value::<PLAIN>(&mut sum, *kind, r, i)?;
            }
            Some(())
        })?;
    }
    Ok((count, sum))
}

fn main() -> Result<(), Failure> {
    let (mode, files) = row::words("peer-own");
    let begun = Instant::now();
    match mode.as_str() {
        "T" => {
            let count = all_events(&files[0])?;
            row::tell("T", begun.elapsed().as_secs_f64(), size(&files[0]), count, "", None);
        }
        "E" => {
            let (rows, sum) = extract::<false>(&files[0])?;
            row::tell("E", begun.elapsed().as_secs_f64(), size(&files[0]), rows, &format!("{:016x}", sum.mixed), None);
        }
        "P" => {
            let (rows, sum) = extract::<true>(&files[0])?;
            row::tell("P", begun.elapsed().as_secs_f64(), size(&files[0]), rows, &sum.plain.to_string(), None);
        }
        _ => {
            let mut join = Join::new();
            let mut lines = Rows::open(&files[0], row::OF_LINE.iter().map(|i| LINEITEM[*i].0))?;
            let mut orders = Rows::open(&files[1], row::OF_ORDER.iter().map(|i| ORDERS[*i].0))?;
            while !(lines.ended && orders.ended) {
                if !lines.ended {
                    lines.step(|r| row::line(|i| r.field(i).unwrap_or_default()).map(|l| join.line(l)))?;
                }
                if !orders.ended {
                    orders.step(|r| row::order(|i| r.field(i).unwrap_or_default()).map(|o| join.order(o)))?;
                }
            }
            row::tell("J", begun.elapsed().as_secs_f64(), size(&files[0]) + size(&files[1]), join.pairs, &join.sum.to_string(), join.first);
        }
    }
    Ok(())
}
