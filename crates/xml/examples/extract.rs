//! Typed extraction of TPC-H lineitem: every row's 16 fields are decoded and mixed to a checksum.
//!
//! `extract FILE [rounds [piece [plain]]]`: a file with `<table><T><L_ORDERKEY>..</T>...</table>`, pushed in pieces of so many
//! bytes (65536); `plain` leaves all rows to the tokeniser.
//!
//! The checksum, for comparison with other parsers: for each row in document order and each field in the order below,
//! `v` is an integer as i64, a decimal times 100 as i64, a date in days since 1970-01-01, a text by 64-bit FNV-1a of
//! its bytes; `sum = (sum.rotate_left(5) ^ v).wrapping_mul(0x9E3779B97F4A7C15)`, from 0.

use kumi_xml::schema::parse_path;
use kumi_xml::{Batch, BindOptions, Binder, Field, Item, Limit, Progress, RowView, Schema, value};
use std::fs::File;
use std::io::Read;
use std::time::Instant;

#[derive(Clone, Copy)]
enum Type {
    Integer,
    Decimal,
    Date,
    Text,
}
use Type::*;

const FIELDS: [(&str, Type); 16] = [
    ("L_ORDERKEY", Integer),
    ("L_PARTKEY", Integer),
    ("L_SUPPKEY", Integer),
    ("L_LINENUMBER", Integer),
    ("L_QUANTITY", Integer),
    ("L_EXTENDEDPRICE", Decimal),
    ("L_DISCOUNT", Decimal),
    ("L_TAX", Decimal),
    ("L_RETURNFLAG", Text),
    ("L_LINESTATUS", Text),
    ("L_SHIPDATE", Date),
    ("L_COMMITDATE", Date),
    ("L_RECEIPTDATE", Date),
    ("L_SHIPINSTRUCT", Text),
    ("L_SHIPMODE", Text),
    ("L_COMMENT", Text),
];

type Failure = Box<dyn std::error::Error>;

fn fnv(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ *b as u64).wrapping_mul(0x100_0000_01b3))
}

fn mix(sum: &mut u64, row: RowView<'_>) -> Result<(), Failure> {
    for (i, (name, kind)) in FIELDS.iter().enumerate() {
        let absent = || format!("no {name}");
        let v = match kind {
            Integer => match row.integer(i).ok_or_else(absent)?? {
                value::Integer::Small(n) => n as u64,
                value::Integer::Big { .. } => return Err("an integer beyond 64 bits".into()),
            },
            Decimal => row.decimal(i).ok_or_else(absent)??.at_scale(2).ok_or("more than two decimals")? as u64,
            Date => row.date(i).ok_or_else(absent)??.days() as u64,
            Text => fnv(row.field(i).ok_or_else(absent)?),
        };
        *sum = (sum.rotate_left(5) ^ v).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    Ok(())
}

fn extract(path: &str, piece: usize, options: BindOptions) -> Result<(u64, u64, u64), Failure> {
    let mut schema = Schema::builder();
    let line = schema.class("Lineitem");
    for (name, _) in FIELDS {
        schema.field(line, Field::new(name));
    }
    schema.root_path(parse_path("/table/T", &[])?, line);
    let mut binder = Binder::new(schema.build()?, options);
    let mut file = File::open(path)?;
    let (mut piece, mut batch) = (vec![0; piece.max(1)], Batch::new());
    let (mut rows, mut sum) = (0, 0);
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
                Progress::End => return Ok((rows, sum, binder.predicted())),
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
