//! Typed extraction of TPC-H lineitem: every row's 16 fields are decoded and mixed to a checksum.
//!
//! `extract FILE [rounds [piece [plain]]]`: a file with `<table><T><L_ORDERKEY>..</T>...</table>`, pushed in pieces of so many
//! bytes (65536); `plain` leaves all rows to the tokeniser.
//!
//! The checksum is the mixed one of the bench's peers, which also say what the fields are: for each row in document order and each
//! field, `v` is an integer as i64, a decimal times 100 as i64, a date in days since 1970-01-01, a text by 64-bit FNV-1a of its
//! bytes; `sum = (sum.rotate_left(5) ^ v).wrapping_mul(0x9E3779B97F4A7C15)`, from 0.

#[path = "../../../bench/xml/peers/row.rs"]
#[allow(dead_code)]
mod row;

use kumi_xml::schema::parse_path;
use kumi_xml::{Batch, BindOptions, Binder, Field, Item, Limit, Progress, RowView, Schema, value};
use row::{Failure, Kind, LINEITEM, Sum};
use std::fs::File;
use std::io::Read;
use std::time::Instant;

fn mix(sum: &mut Sum, row: RowView<'_>) -> Result<(), Failure> {
    for (i, (name, kind)) in LINEITEM.iter().enumerate() {
        let absent = || format!("no {name}");
        let v = match kind {
            Kind::Integer => match row.integer(i).ok_or_else(absent)?? {
                value::Integer::Small(n) => n,
                value::Integer::Big { .. } => return Err("an integer beyond 64 bits".into()),
            },
            Kind::Decimal => row.decimal(i).ok_or_else(absent)??.at_scale(2).ok_or("more than two decimals")?,
            Kind::Date => row.date(i).ok_or_else(absent)??.days(),
            Kind::Words => row::fnv(row.field(i).ok_or_else(absent)?) as i64,
        };
        sum.add::<false>(v);
    }
    Ok(())
}

fn extract(path: &str, piece: usize, options: BindOptions) -> Result<(u64, u64, u64), Failure> {
    let mut schema = Schema::builder();
    let line = schema.class("Lineitem");
    for (name, _) in LINEITEM {
        schema.field(line, Field::new(name));
    }
    schema.root_path(parse_path("/table/T", &[])?, line);
    let mut binder = Binder::new(schema.build()?, options);
    let mut file = File::open(path)?;
    let (mut piece, mut batch) = (vec![0; piece.max(1)], Batch::new());
    let (mut rows, mut sum) = (0, Sum::default());
    loop {
        match file.read(&mut piece)? {
            0 => binder.finish(),
            n => binder.feed(&piece[..n])?,
        }
        loop {
            batch.clear();
            let progress = binder.bind(&mut batch, Limit { rows: usize::MAX, bytes: 64 << 10 })?;
            for item in &batch.items {
                if let Item::Row { row, .. } = item {
                    rows += 1;
                    mix(&mut sum, batch.row(*row))?;
                }
            }
            match progress {
                Progress::Full => {}
                Progress::NeedInput => break,
                Progress::End => return Ok((rows, sum.mixed, binder.predicted())),
            }
        }
    }
}

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("usage: extract FILE [rounds [piece [plain]]]")?;
    let rounds: usize = words.next().map_or(Ok(5), |w| w.parse())?;
    let piece: usize = words.next().map_or(Ok(64 << 10), |w| w.parse())?;
    let predict = words.next().is_none();
    let size = std::fs::metadata(&path)?.len();
    for _ in 0..rounds {
        let begun = Instant::now();
        let (rows, sum, predicted) = extract(&path, piece, BindOptions { predict, ..BindOptions::default() })?;
        println!("{:7.1} MB/s  {rows} rows, {predicted} predicted  {sum:016x}", size as f64 / 1e6 / begun.elapsed().as_secs_f64());
    }
    Ok(())
}
