//! TPC-H tables as XML: `<table ID="lineitem">`, a `<T>` for each row, a child element for each column, no spaces but a line end
//! after each row. The same words give the same bytes everywhere.
//!
//! usage: xml-gen lineitem|orders SCALE [BYTES] > FILE
//!
//! With BYTES the document ends after the row that reaches that size, whatever the scale would still have.

use std::fmt::Display;
use std::io::{self, Write};

use tpchgen::generators::{LineItemGenerator, OrderGenerator};

/// Text collected in a piece before it is written.
const PIECE: usize = 1 << 20;

struct Table<W: Write> {
    out: W,
    text: String,
    written: u64,
    limit: u64,
}

impl<W: Write> Table<W> {
    fn column(&mut self, name: &str, value: impl Display) {
        use std::fmt::Write as _;
        let _ = write!(self.text, "<{name}>{value}</{name}>");
    }

    /// A column of free text, in which characters may have to be escaped.
    fn words(&mut self, name: &str, value: &str) {
        if value.contains(['&', '<', '>']) {
            self.column(name, value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
        } else {
            self.column(name, value);
        }
    }

    /// Ends a row; true when the document is as large as it was asked to be.
    fn row(&mut self) -> io::Result<bool> {
        self.text.push_str("</T>\n");
        if self.text.len() >= PIECE {
            self.flush()?;
        }
        Ok(self.written + self.text.len() as u64 >= self.limit)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.text.as_bytes())?;
        self.written += self.text.len() as u64;
        self.text.clear();
        Ok(())
    }
}

fn lineitem<W: Write>(t: &mut Table<W>, scale: f64) -> io::Result<()> {
    for r in LineItemGenerator::new(scale, 1, 1).iter() {
        t.text.push_str("<T>");
        t.column("L_ORDERKEY", r.l_orderkey);
        t.column("L_PARTKEY", r.l_partkey);
        t.column("L_SUPPKEY", r.l_suppkey);
        t.column("L_LINENUMBER", r.l_linenumber);
        t.column("L_QUANTITY", r.l_quantity);
        t.column("L_EXTENDEDPRICE", r.l_extendedprice);
        t.column("L_DISCOUNT", r.l_discount);
        t.column("L_TAX", r.l_tax);
        t.words("L_RETURNFLAG", r.l_returnflag);
        t.words("L_LINESTATUS", r.l_linestatus);
        t.column("L_SHIPDATE", r.l_shipdate);
        t.column("L_COMMITDATE", r.l_commitdate);
        t.column("L_RECEIPTDATE", r.l_receiptdate);
        t.words("L_SHIPINSTRUCT", r.l_shipinstruct);
        t.words("L_SHIPMODE", r.l_shipmode);
        t.words("L_COMMENT", r.l_comment);
        if t.row()? {
            break;
        }
    }
    Ok(())
}

fn orders<W: Write>(t: &mut Table<W>, scale: f64) -> io::Result<()> {
    for r in OrderGenerator::new(scale, 1, 1).iter() {
        t.text.push_str("<T>");
        t.column("O_ORDERKEY", r.o_orderkey);
        t.column("O_CUSTKEY", r.o_custkey);
        t.column("O_ORDERSTATUS", r.o_orderstatus);
        t.column("O_TOTALPRICE", r.o_totalprice);
        t.column("O_ORDERDATE", r.o_orderdate);
        t.words("O_ORDERPRIORITY", r.o_orderpriority);
        t.column("O_CLERK", r.o_clerk);
        t.column("O_SHIPPRIORITY", r.o_shippriority);
        t.words("O_COMMENT", r.o_comment);
        if t.row()? {
            break;
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let scale = words.get(1).and_then(|s| s.parse::<f64>().ok()).filter(|s| *s > 0.0);
    let limit = match words.get(2) {
        None => Some(u64::MAX),
        Some(s) => s.parse::<u64>().ok(),
    };
    let (Some(table @ ("lineitem" | "orders")), Some(scale), Some(limit)) = (words.first().map(String::as_str), scale, limit) else {
        eprintln!("usage: xml-gen lineitem|orders SCALE [BYTES] > FILE");
        std::process::exit(2);
    };
    let mut t = Table { out: io::stdout().lock(), text: format!("<table ID=\"{table}\">\n"), written: 0, limit };
    if table == "lineitem" {
        lineitem(&mut t, scale)?
    } else {
        orders(&mut t, scale)?
    }
    t.text.push_str("</table>\n");
    t.flush()
}
