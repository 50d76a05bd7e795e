//! kumi-xml on the documents of the bench, pushed in pieces of 64 KB, with all its checks.
//! See bench/xml/README.md for the modes.

#[path = "../../row.rs"]
#[allow(dead_code)]
mod row;

use std::fs::File;
use std::io::Read;

use kumi_xml::{Batch, BindOptions, Binder, Field, Item, Limit, Options, Progress, RowView, Schema, Tokenizer, schema};
use row::{Failure, Join, Kind, LINEITEM, ORDERS, Sum};

const PIECE: usize = 1 << 16;

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
    sum.add::<PLAIN>(v);
    Some(())
}

impl row::Rows for Rows {
    fn ended(&self) -> bool {
        self.ended
    }

    fn lines_to(&mut self, join: &mut Join) -> Result<(), Failure> {
        self.step(|r| row::line(|i| r.field(i).unwrap_or_default()).map(|l| join.line(l)))
    }

    fn orders_to(&mut self, join: &mut Join) -> Result<(), Failure> {
        self.step(|r| row::order(|i| r.field(i).unwrap_or_default()).map(|o| join.order(o)))
    }
}

struct Own;

impl row::Peer for Own {
    type Rows = Rows;

    fn events(path: &str) -> Result<u64, Failure> {
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

    fn lines(path: &str) -> Result<Rows, Failure> {
        Rows::open(path, row::OF_LINE.iter().map(|i| LINEITEM[*i].0))
    }

    fn orders(path: &str) -> Result<Rows, Failure> {
        Rows::open(path, row::OF_ORDER.iter().map(|i| ORDERS[*i].0))
    }
}

fn main() -> Result<(), Failure> {
    row::run::<Own>("peer-own")
}
