//! quick-xml on the documents of the bench, with its usual checks (end tags' names) and a buffer of 64 KB.
//! See bench/xml/README.md for the modes.

#[path = "../../row.rs"]
mod row;

use std::fs::File;
use std::io::BufReader;

use quick_xml::Reader;
use quick_xml::events::Event;
use row::{Failure, Join, LINEITEM, ORDERS, Sum};

type Input = Reader<BufReader<File>>;

fn open(path: &str) -> Result<Input, Failure> {
    Ok(Reader::from_reader(BufReader::with_capacity(1 << 16, File::open(path)?)))
}

fn column_of_lineitem(name: &str) -> Option<usize> {
    Some(match name {
        "L_ORDERKEY" => 0,
        "L_PARTKEY" => 1,
        "L_SUPPKEY" => 2,
        "L_LINENUMBER" => 3,
        "L_QUANTITY" => 4,
        "L_EXTENDEDPRICE" => 5,
        "L_DISCOUNT" => 6,
        "L_TAX" => 7,
        "L_RETURNFLAG" => 8,
        "L_LINESTATUS" => 9,
        "L_SHIPDATE" => 10,
        "L_COMMITDATE" => 11,
        "L_RECEIPTDATE" => 12,
        "L_SHIPINSTRUCT" => 13,
        "L_SHIPMODE" => 14,
        "L_COMMENT" => 15,
        _ => return None,
    })
}

fn column_of_orders(name: &str) -> Option<usize> {
    ORDERS.iter().position(|c| c.0 == name)
}

fn text_of(reference: &quick_xml::events::BytesRef<'_>, out: &mut Vec<u8>) -> Result<(), Failure> {
    if let Some(c) = reference.resolve_char_ref()? {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        return Ok(());
    }
    let name = reference.xml10_content();
    let text = quick_xml::escape::resolve_xml_entity(&name).ok_or_else(|| format!("unknown entity {name}"))?;
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// The texts of a row's columns, one behind the other.
struct Fields<'a> {
    text: &'a [u8],
    ends: &'a [usize],
}

impl<'a> Fields<'a> {
    fn at(&self, i: usize) -> &'a [u8] {
        &self.text[if i == 0 { 0 } else { self.ends[i - 1] }..self.ends[i]]
    }
}

/// Reads rows for the join, the columns in `wanted` of each; a step is some 64 KB.
struct Rows {
    input: Input,
    buffer: Vec<u8>,
    find: fn(&str) -> Option<usize>,
    wanted: &'static [usize],
    text: Vec<u8>,
    ends: Vec<usize>,
    column: Option<usize>,
    ended: bool,
}

impl Rows {
    fn open(path: &str, find: fn(&str) -> Option<usize>, wanted: &'static [usize]) -> Result<Rows, Failure> {
        Ok(Rows { input: open(path)?, buffer: Vec::new(), find, wanted, text: Vec::new(), ends: Vec::new(), column: None, ended: false })
    }

    fn step(&mut self, mut row: impl FnMut(&Fields) -> Option<()>) -> Result<(), Failure> {
        let until = self.input.buffer_position() + (1 << 16);
        while !self.ended && self.input.buffer_position() < until {
            match self.input.read_event_into(&mut self.buffer)? {
                Event::Start(e) => self.column = (self.find)(e.name().as_ref()).filter(|c| self.wanted.contains(c)),
                Event::Text(e) if self.column.is_some() => self.text.extend_from_slice(e.xml10_content().as_bytes()),
                Event::GeneralRef(e) if self.column.is_some() => text_of(&e, &mut self.text)?,
                Event::End(e) => {
                    if self.column.take().is_some() {
                        self.ends.push(self.text.len());
                    } else if e.name().as_ref() == "T" {
                        if self.ends.len() != self.wanted.len() {
                            return Err("a row lacks a column".into());
                        }
                        row(&Fields { text: &self.text, ends: &self.ends }).ok_or("a value does not decode")?;
                        self.text.clear();
                        self.ends.clear();
                    }
                }
                Event::Eof => self.ended = true,
                _ => {}
            }
            self.buffer.clear();
        }
        Ok(())
    }
}

impl row::Rows for Rows {
    fn ended(&self) -> bool {
        self.ended
    }

    fn lines_to(&mut self, join: &mut Join) -> Result<(), Failure> {
        self.step(|f| row::line(|i| f.at(i)).map(|l| join.line(l)))
    }

    fn orders_to(&mut self, join: &mut Join) -> Result<(), Failure> {
        self.step(|f| row::order(|i| f.at(i)).map(|o| join.order(o)))
    }
}

struct Quick;

impl row::Peer for Quick {
    type Rows = Rows;

    fn events(path: &str) -> Result<u64, Failure> {
        let mut input = open(path)?;
        let (mut buffer, mut count) = (Vec::new(), 0);
        loop {
            match input.read_event_into(&mut buffer)? {
                Event::Eof => return Ok(count),
                Event::Empty(_) => count += 2,
                _ => count += 1,
            }
            buffer.clear();
        }
    }

    /// The values are summed as they come: the columns of a row stand in one order.
    fn extract<const PLAIN: bool>(path: &str) -> Result<(u64, Sum), Failure> {
        let mut input = open(path)?;
        let (mut buffer, mut text) = (Vec::new(), Vec::new());
        let (mut rows, mut sum, mut column) = (0, Sum::default(), None);
        loop {
            match input.read_event_into(&mut buffer)? {
                Event::Start(e) => {
                    column = column_of_lineitem(e.name().as_ref());
                    text.clear();
                }
                Event::Text(e) if column.is_some() => text.extend_from_slice(e.xml10_content().as_bytes()),
                Event::GeneralRef(e) if column.is_some() => text_of(&e, &mut text)?,
                Event::End(_) => match column.take() {
                    Some(i) => row::value::<PLAIN>(&mut sum, LINEITEM[i].1, &text).ok_or("a value does not decode")?,
                    None => rows += 1,
                },
                Event::Eof => return Ok((rows.max(1) - 1, sum)),
                _ => {}
            }
            buffer.clear();
        }
    }

    fn lines(path: &str) -> Result<Rows, Failure> {
        Rows::open(path, column_of_lineitem, &row::OF_LINE)
    }

    fn orders(path: &str) -> Result<Rows, Failure> {
        Rows::open(path, column_of_orders, &row::OF_ORDER)
    }
}

fn main() -> Result<(), Failure> {
    row::run::<Quick>("peer-quick")
}
