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

/// Writes a table: of each row these fields, as columns or words of these names.
macro_rules! write_rows {
    ($table:ident, $rows:expr, $($kind:ident $name:literal = $field:ident,)+) => {
        for row in $rows {
            $table.text.push_str("<T>");
            $($table.$kind($name, row.$field);)+
            if $table.row()? {
                break;
            }
        }
    };
}

fn lineitem<W: Write>(t: &mut Table<W>, scale: f64) -> io::Result<()> {
    let rows = LineItemGenerator::new(scale, 1, 1);
    write_rows! { t, rows.iter(),
        column "L_ORDERKEY" = l_orderkey,
        column "L_PARTKEY" = l_partkey,
        column "L_SUPPKEY" = l_suppkey,
        column "L_LINENUMBER" = l_linenumber,
        column "L_QUANTITY" = l_quantity,
        column "L_EXTENDEDPRICE" = l_extendedprice,
        column "L_DISCOUNT" = l_discount,
        column "L_TAX" = l_tax,
        words "L_RETURNFLAG" = l_returnflag,
        words "L_LINESTATUS" = l_linestatus,
        column "L_SHIPDATE" = l_shipdate,
        column "L_COMMITDATE" = l_commitdate,
        column "L_RECEIPTDATE" = l_receiptdate,
        words "L_SHIPINSTRUCT" = l_shipinstruct,
        words "L_SHIPMODE" = l_shipmode,
        words "L_COMMENT" = l_comment,
    }
    Ok(())
}

fn orders<W: Write>(t: &mut Table<W>, scale: f64) -> io::Result<()> {
    let rows = OrderGenerator::new(scale, 1, 1);
    write_rows! { t, rows.iter(),
        column "O_ORDERKEY" = o_orderkey,
        column "O_CUSTKEY" = o_custkey,
        column "O_ORDERSTATUS" = o_orderstatus,
        column "O_TOTALPRICE" = o_totalprice,
        column "O_ORDERDATE" = o_orderdate,
        words "O_ORDERPRIORITY" = o_orderpriority,
        column "O_CLERK" = o_clerk,
        column "O_SHIPPRIORITY" = o_shippriority,
        words "O_COMMENT" = o_comment,
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
