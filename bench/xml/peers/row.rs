//! What every Rust peer does with the documents and their rows: the modes, decoding of the values, the checksums, and the symmetric
//! hash join. Included by each of them, so that only the parser differs.

use std::collections::HashMap;
use std::error::Error;
use std::time::Instant;

pub type Failure = Box<dyn Error>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Decimal,
    Date,
    Words,
}

use Kind::{Date, Decimal, Integer, Words};

pub const LINEITEM: [(&str, Kind); 16] = [
    ("L_ORDERKEY", Integer),
    ("L_PARTKEY", Integer),
    ("L_SUPPKEY", Integer),
    ("L_LINENUMBER", Integer),
    ("L_QUANTITY", Integer),
    ("L_EXTENDEDPRICE", Decimal),
    ("L_DISCOUNT", Decimal),
    ("L_TAX", Decimal),
    ("L_RETURNFLAG", Words),
    ("L_LINESTATUS", Words),
    ("L_SHIPDATE", Date),
    ("L_COMMITDATE", Date),
    ("L_RECEIPTDATE", Date),
    ("L_SHIPINSTRUCT", Words),
    ("L_SHIPMODE", Words),
    ("L_COMMENT", Words),
];

pub const ORDERS: [(&str, Kind); 9] = [
    ("O_ORDERKEY", Integer),
    ("O_CUSTKEY", Integer),
    ("O_ORDERSTATUS", Words),
    ("O_TOTALPRICE", Decimal),
    ("O_ORDERDATE", Date),
    ("O_ORDERPRIORITY", Words),
    ("O_CLERK", Words),
    ("O_SHIPPRIORITY", Integer),
    ("O_COMMENT", Words),
];

/// A decimal integer; None: it is none, or too long.
pub fn integer(text: &[u8]) -> Option<i64> {
    let (minus, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut n = 0i64;
    for d in digits {
        if !d.is_ascii_digit() {
            return None;
        }
        n = n * 10 + i64::from(d - b'0');
    }
    Some(if minus { -n } else { n })
}

/// A number with two digits behind the point, times 100.
pub fn cents(text: &[u8]) -> Option<i64> {
    let (minus, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let [whole @ .., b'.', a, b] = text else { return None };
    if !(a.is_ascii_digit() && b.is_ascii_digit()) {
        return None;
    }
    let n = integer(whole)?.checked_mul(100)? + i64::from(a - b'0') * 10 + i64::from(b - b'0');
    Some(if minus { -n } else { n })
}

/// Days from 1970-01-01 to a `YYYY-MM-DD`.
pub fn days(text: &[u8]) -> Option<i64> {
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = text else { return None };
    if [y0, y1, y2, y3, m0, m1, d0, d1].iter().any(|c| !c.is_ascii_digit()) {
        return None;
    }
    let n = |c: u8| i64::from(c - b'0');
    let (mut y, m, d) = (n(y0) * 1000 + n(y1) * 100 + n(y2) * 10 + n(y3), n(m0) * 10 + n(m1), n(d0) * 10 + n(d1));
    if !(1..=12).contains(&m) || !(1..=31).contains(&d) {
        return None;
    }
    if m <= 2 {
        y -= 1;
    }
    let of_era = y % 400;
    let of_year = (153 * (if m > 2 { m - 3 } else { m + 9 }) + 2) / 5 + d - 1;
    Some(y / 400 * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// 64-bit FNV-1a.
pub fn fnv(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Both checksums: `mixed` depends on every bit and on the order, `plain` is a sum that slower languages can afford.
#[derive(Clone, Copy, Default)]
pub struct Sum {
    pub mixed: u64,
    pub plain: i64,
}

impl Sum {
    /// Adds a decoded value to one of them.
    #[inline]
    pub fn add<const PLAIN: bool>(&mut self, v: i64) {
        if PLAIN {
            self.plain = self.plain.wrapping_add(v);
        } else {
            self.mixed = (self.mixed.rotate_left(5) ^ v as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }
}

/// What a value adds. `None` in a value that does not decode.
#[inline]
pub fn value<const PLAIN: bool>(sum: &mut Sum, kind: Kind, text: &[u8]) -> Option<()> {
    let v = match kind {
        Integer => integer(text)?,
        Decimal => cents(text)?,
        Date => days(text)?,
        Words if PLAIN => text.len() as i64,
        Words => fnv(text) as i64,
    };
    sum.add::<PLAIN>(v);
    Some(())
}

/// What the join keeps of a row of lineitem.
pub struct Line {
    pub orderkey: i64,
    pub linenumber: i32,
    pub quantity: i32,
    pub price: i64,
    pub shipdate: i32,
    pub shipmode: Box<str>,
}

/// What it keeps of a row of orders.
pub struct Order {
    pub orderkey: i64,
    pub custkey: i64,
    pub price: i64,
    pub date: i32,
    pub priority: Box<str>,
}

/// The columns that a `Line` has, and those of an `Order`, in the order in which `line` and `order` want them.
pub const OF_LINE: [usize; 6] = [0, 3, 4, 5, 10, 14];
pub const OF_ORDER: [usize; 5] = [0, 1, 3, 4, 5];

pub fn line<'a>(field: impl Fn(usize) -> &'a [u8]) -> Option<Line> {
    Some(Line {
        orderkey: integer(field(0))?,
        linenumber: i32::try_from(integer(field(1))?).ok()?,
        quantity: i32::try_from(integer(field(2))?).ok()?,
        price: cents(field(3))?,
        shipdate: i32::try_from(days(field(4))?).ok()?,
        shipmode: std::str::from_utf8(field(5)).ok()?.into(),
    })
}

pub fn order<'a>(field: impl Fn(usize) -> &'a [u8]) -> Option<Order> {
    Some(Order {
        orderkey: integer(field(0))?,
        custkey: integer(field(1))?,
        price: cents(field(2))?,
        date: i32::try_from(days(field(3))?).ok()?,
        priority: std::str::from_utf8(field(4)).ok()?.into(),
    })
}

/// A symmetric hash join on the order key, both sides kept to the end.
pub struct Join {
    lines: HashMap<i64, Vec<Line>>,
    orders: HashMap<i64, Vec<Order>>,
    begun: Instant,
    pub first: Option<f64>,
    pub pairs: u64,
    pub sum: i64,
}

impl Join {
    pub fn new() -> Join {
        Join { lines: HashMap::new(), orders: HashMap::new(), begun: Instant::now(), first: None, pairs: 0, sum: 0 }
    }

    pub fn line(&mut self, line: Line) {
        if let Some(list) = self.orders.get(&line.orderkey) {
            for order in list {
                pair(&line, order, self.begun, &mut self.first, &mut self.pairs, &mut self.sum);
            }
        }
        self.lines.entry(line.orderkey).or_default().push(line);
    }

    pub fn order(&mut self, order: Order) {
        if let Some(list) = self.lines.get(&order.orderkey) {
            for line in list {
                pair(line, &order, self.begun, &mut self.first, &mut self.pairs, &mut self.sum);
            }
        }
        self.orders.entry(order.orderkey).or_default().push(order);
    }
}

fn pair(l: &Line, o: &Order, begun: Instant, first: &mut Option<f64>, pairs: &mut u64, sum: &mut i64) {
    first.get_or_insert_with(|| begun.elapsed().as_secs_f64());
    *pairs += 1;
    *sum = sum.wrapping_add(
        l.orderkey
            + 3 * i64::from(l.linenumber)
            + 5 * i64::from(l.quantity)
            + 7 * l.price
            + 11 * i64::from(l.shipdate)
            + 13 * l.shipmode.len() as i64
            + 17 * o.custkey
            + 19 * o.price
            + 23 * i64::from(o.date)
            + 29 * o.priority.len() as i64,
    );
}

/// The highest resident memory of this process.
fn peak() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// The line that the driver reads.
fn tell(mode: &str, seconds: f64, bytes: u64, count: u64, sum: &str, first: Option<f64>) {
    let first = first.map_or("null".to_string(), |f| format!("{f:.9}"));
    println!(
        "{{\"mode\":\"{mode}\",\"s\":{seconds:.9},\"bytes\":{bytes},\"count\":{count},\"sum\":\"{sum}\",\"first_s\":{first},\"peak\":{}}}",
        peak()
    );
}

/// A parser, as the modes want it.
pub trait Peer {
    /// The rows that a join reads.
    type Rows: Rows;
    /// How many events a document has.
    fn events(path: &str) -> Result<u64, Failure>;
    /// All values of lineitem's rows, added to one of the sums; and the number of rows.
    fn extract<const PLAIN: bool>(path: &str) -> Result<(u64, Sum), Failure>;
    /// The columns `OF_LINE` of lineitem's rows.
    fn lines(path: &str) -> Result<Self::Rows, Failure>;
    /// The columns `OF_ORDER` of the rows of orders.
    fn orders(path: &str) -> Result<Self::Rows, Failure>;
}

/// A document that is read some 64 KB at a time, so that two take turns.
pub trait Rows {
    fn ended(&self) -> bool;
    /// Reads on, and gives what is complete with it to the join.
    fn lines_to(&mut self, join: &mut Join) -> Result<(), Failure>;
    fn orders_to(&mut self, join: &mut Join) -> Result<(), Failure>;
}

/// What a peer's `main` does: the mode that the command line names.
pub fn run<P: Peer>(name: &str) -> Result<(), Failure> {
    let (mode, files) = words(name);
    let begun = Instant::now();
    let (count, sum, first) = match mode.as_str() {
        "T" => (P::events(&files[0])?, String::new(), None),
        "E" => {
            let (rows, sum) = P::extract::<false>(&files[0])?;
            (rows, format!("{:016x}", sum.mixed), None)
        }
        "P" => {
            let (rows, sum) = P::extract::<true>(&files[0])?;
            (rows, sum.plain.to_string(), None)
        }
        _ => {
            let mut join = Join::new();
            let (mut lines, mut orders) = (P::lines(&files[0])?, P::orders(&files[1])?);
            while !(lines.ended() && orders.ended()) {
                if !lines.ended() {
                    lines.lines_to(&mut join)?;
                }
                if !orders.ended() {
                    orders.orders_to(&mut join)?;
                }
            }
            (join.pairs, join.sum.to_string(), join.first)
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    let bytes = files.iter().filter_map(|f| std::fs::metadata(f).ok()).map(|m| m.len()).sum();
    tell(&mode, seconds, bytes, count, &sum, first);
    Ok(())
}

/// The words of the command line: a mode and its files, else what to say.
fn words(name: &str) -> (String, Vec<String>) {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let files = match words.first().map(String::as_str) {
        Some("T" | "E" | "P") => 1,
        Some("J") => 2,
        _ => usize::MAX,
    };
    if words.len() != files.saturating_add(1) {
        eprintln!("usage: {name} T FILE | E LINEITEM | P LINEITEM | J LINEITEM ORDERS");
        std::process::exit(2);
    }
    (words[0].clone(), words[1..].to_vec())
}
