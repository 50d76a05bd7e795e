//! Schemas as Ruby classes declare them: a [`Binding`] is a schema with the class of each of its element classes.

use crate::doc::Shared;
use crate::{leaf, payload};
use kumi_vm::*;
use kumi_xml::schema::parse_path;
use kumi_xml::{Card, ClassId, Field, FieldPath, NameTest, Root, Schema};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::*};

pub static TABLE: &[NativeDef] = &[leaf("__xschema", 2, schema)];

/// A schema and its Ruby classes. The classes live as long as the Data cell that holds them, to which every document refers.
pub struct Binding {
    pub schema: Arc<Schema>,
    /// In the schema's order.
    classes: Vec<u64>,
    /// Where elements of each class stand, "[]" being the place of the number; empty when nowhere.
    ways: Vec<String>,
    /// They begin with [`ANY`], because the document's element may be called anything.
    unnamed: bool,
    /// The runtime's how many-th schema it is.
    number: u32,
    /// Which ordinals the open readings of lists have, by the class of their elements; the last: of texts.
    readings: Vec<AtomicU8>,
}

/// What an open reading is told apart by from others of elements of the same class: the lowest number that was free. A join
/// of a list with itself, or with another document of its class, so has two.
pub struct Ordinal {
    binding: Arc<Binding>,
    class: usize,
    /// Eight readings are told apart; the others share the last number, and have no bit.
    bit: u8,
}

impl Ordinal {
    pub fn new(binding: Arc<Binding>, class: Option<ClassId>) -> Ordinal {
        let class = class.map_or(binding.classes.len(), |c| c.index());
        let free = |taken: u8| taken | taken.wrapping_add(1);
        let bit = match binding.readings[class].fetch_update(Relaxed, Relaxed, |taken| Some(free(taken))) {
            Ok(taken) => free(taken) ^ taken,
            Err(_) => 0,
        };
        Ordinal { binding, class, bit }
    }
    /// A number for the reading's elements while so many of the inputs that are read beside it have ended. The
    /// same for all readings that are told apart by nothing.
    pub fn series(&self, ended: u32) -> u32 {
        let ordinal = self.bit.trailing_zeros().min(7);
        (self.binding.number & 0xfff) << 16 | (self.class as u32 & 0xff) << 8 | ordinal << 4 | ended.min(3)
    }
}

impl Drop for Ordinal {
    fn drop(&mut self) {
        self.binding.readings[self.class].fetch_and(!self.bit, Relaxed);
    }
}

/// How ways begin in documents whose element may be called anything.
const ANY: &str = "/*";

impl Binding {
    /// The Ruby class of a class.
    #[inline]
    pub fn class(&self, id: ClassId) -> Value {
        self.classes.get(id.index()).map_or(Value::NIL, |b| Value::from_bits(*b))
    }
    /// The class that a Ruby class is.
    pub fn id(&self, class: Value) -> Option<ClassId> {
        self.classes.iter().position(|b| *b == class.bits()).map(|i| ClassId(i as u32))
    }
    /// Where elements of a class stand, in a document whose element is called `root` as far as that is known.
    pub fn way(&self, id: ClassId, root: Option<&str>) -> String {
        let way = self.ways.get(id.index()).map_or("", |w| w);
        match (way.strip_prefix(ANY), root) {
            (Some(rest), Some(root)) if self.unnamed => format!("/{root}{rest}"),
            _ => way.to_string(),
        }
    }
    /// Field `slot` of a class.
    pub fn field(&self, id: ClassId, slot: usize) -> Option<&Field> {
        self.schema.classes().get(id.index())?.fields.get(slot)
    }
}

/// The cell's payload.
pub struct Holder(pub Arc<Binding>);

impl Payload for Holder {
    fn trace(&self, m: &mut Marker) {
        for b in &self.0.classes {
            m.mark(Value::from_bits(*b));
        }
    }
    fn bytes(&self) -> usize {
        256 + self.0.classes.len() * 256
    }
    fn shares(&self) -> bool {
        true
    }
}

/// The schema in a cell.
pub fn binding(cx: &mut Cx, v: Value) -> Result<Arc<Binding>, Exit> {
    Ok(payload::<Holder>(cx, &v, "a schema")?.0.clone())
}

/// `__xschema([[class, name, element, [[field, place, test, class index, cardinality], ...]], ...], path)`
fn schema(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = match build(cx, a) {
        Ok(Ok(made)) => made,
        Ok(Err(why)) => return Err(cx.arg_error(&why)),
        Err(x) => return Err(x),
    };
    for b in &made.classes {
        cx.heap.publish(Value::from_bits(*b));
    }
    let object = cx.k.object;
    Ok(cx.data(object, Holder(Arc::new(made))))
}

fn build(cx: &mut Cx, a: &[Value]) -> Result<Result<Binding, String>, Exit> {
    let rows = cx.arg_array(a, 0)?.seen().to_vec();
    let mut builder = Schema::builder();
    let mut classes = Vec::new();
    for row in &rows {
        let row = cx.arg_array(&[*row], 0)?.seen().to_vec();
        let [class, name, ..] = row[..] else { return Err(cx.arg_error("a class is four values")) };
        let class = cx.arg_class(&[class], 0)?;
        let name = cx.text(name);
        builder.class(&name);
        classes.push(class.val().bits());
    }
    for (i, row) in rows.iter().enumerate() {
        let row = cx.arg_array(&[*row], 0)?.seen().to_vec();
        let [_, name, element, fields] = row[..] else { return Err(cx.arg_error("a class is four values")) };
        let (id, name) = (ClassId(i as u32), cx.text(name));
        if !element.is_nil() {
            match NameTest::parse(&cx.text(element), &[]) {
                Ok(test) => builder.element(id, test),
                Err(e) => return Ok(Err(format!("{name}: {e}"))),
            }
        }
        for field in cx.arg_array(&[fields], 0)?.seen().to_vec() {
            let parts = cx.arg_array(&[field], 0)?.seen().to_vec();
            let [field, place, test, class, card] = parts[..] else { return Err(cx.arg_error("a field is five values")) };
            let (field, test) = (cx.text(field), cx.text(test));
            let place = match place.as_fix().unwrap_or(0) {
                0 => NameTest::parse(&test, &[]).map(FieldPath::Element),
                1 => NameTest::parse(&test, &[]).map(FieldPath::Attribute),
                2 => Ok(FieldPath::Text),
                3 => Ok(FieldPath::Content),
                _ => FieldPath::outer(&test, &[]),
            };
            let place = match place {
                Ok(place) => place,
                Err(e) => return Ok(Err(format!("{name}, field '{field}': {e}"))),
            };
            let mut f = Field::new(&field).at(place);
            if let Some(n) = class.as_fix() {
                f = f.class(ClassId(n as u32));
            }
            builder.field(
                id,
                match card.as_fix().unwrap_or(0) {
                    2 => f.many(),
                    1 => f.optional(),
                    _ => f,
                },
            );
        }
    }
    if a[1].is_nil() {
        builder.root_document(ClassId(0));
    } else {
        match parse_path(&cx.text(a[1]), &[]) {
            Ok(steps) => builder.root_path(steps, ClassId(0)),
            Err(e) => return Ok(Err(e.to_string())),
        }
    }
    let schema = match builder.build() {
        Ok(schema) => schema,
        Err(e) => return Ok(Err(e.to_string())),
    };
    let ways = ways(&schema);
    let unnamed = matches!(schema.root(), Root::Document(class) if schema.class(*class).element.is_none());
    let readings = (0..=classes.len()).map(|_| AtomicU8::new(0)).collect();
    Ok(Ok(Binding { schema, classes, ways, unnamed, number: cx.shared_state::<Shared>().number(), readings }))
}

/// Where each class is first found, walking down from the root.
fn ways(schema: &Schema) -> Vec<String> {
    let classes = schema.classes();
    let mut ways = vec![String::new(); classes.len()];
    let name = |test: &NameTest| test.local.as_deref().unwrap_or("*").to_string();
    let root = schema.root().class();
    let Some(first) = classes.get(root.index()) else { return ways };
    ways[root.index()] = match schema.row_path() {
        Some(path) => format!("{path}[]"),
        None => first.element.as_ref().map_or(ANY.to_string(), |test| format!("/{}", name(test))),
    };
    let mut queue = std::collections::VecDeque::from([root]);
    while let Some(id) = queue.pop_front() {
        let above = ways[id.index()].replace("[]", "");
        for f in &classes[id.index()].fields {
            let (kumi_xml::Kind::Class(nested), FieldPath::Element(test)) = (f.kind, &f.place) else { continue };
            if ways[nested.index()].is_empty() {
                ways[nested.index()] = format!("{above}/{}{}", name(test), if f.card == Card::Many { "[]" } else { "" });
                queue.push_back(nested);
            }
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumi_xml::Field;

    fn binding(number: u32) -> Arc<Binding> {
        let mut b = Schema::builder();
        let row = b.class("Row");
        b.field(row, Field::new("id"));
        b.root_path(parse_path("/t/row", &[]).unwrap(), row);
        let readings = (0..2).map(|_| AtomicU8::new(0)).collect();
        Arc::new(Binding { schema: b.build().unwrap(), classes: vec![0], ways: vec![String::new()], unnamed: false, number, readings })
    }

    #[test]
    fn open_readings_of_one_class_are_told_apart_and_later_ones_are_not_new() {
        let of = binding(1);
        let row = || Ordinal::new(of.clone(), Some(ClassId(0)));
        let (one, two) = (row(), row());
        let first = one.series(0);
        assert_ne!(first, two.series(0));
        assert_ne!(first, one.series(1));
        assert_ne!(first, Ordinal::new(of.clone(), None).series(0));
        assert_ne!(first, Ordinal::new(binding(2), Some(ClassId(0))).series(0));
        drop(one);
        let again = row();
        assert_eq!(again.series(0), first);
        // As many documents as there may be, one after the other or at once: eight numbers.
        let many: Vec<Ordinal> = (0..100).map(|_| row()).collect();
        let mut numbers: Vec<u32> = many.iter().chain([&again, &two]).map(|o| o.series(0)).collect();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), 8);
        drop((many, two, again));
        assert_eq!(row().series(0), first);
        assert_eq!(of.readings[0].load(Relaxed), 0);
    }
}
