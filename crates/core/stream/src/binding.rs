//! Schemas as Ruby classes declare them: a [`Binding`] is a schema with the class of each of its element classes.

use crate::{leaf, payload};
use kumi_vm::*;
use kumi_xml::schema::parse_path;
use kumi_xml::{Card, ClassId, Field, NameTest, Place, Root, Schema};
use std::sync::Arc;

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
    Ok(payload::<Holder>(cx, v, "a schema")?.0.clone())
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
    let rows = cx.arg_array(a, 0)?.as_slice().to_vec();
    let mut builder = Schema::builder();
    let mut classes = Vec::new();
    for row in &rows {
        let row = cx.arg_array(&[*row], 0)?.as_slice().to_vec();
        let [class, name, ..] = row[..] else { return Err(cx.arg_error("a class is four values")) };
        let class = cx.arg_class(&[class], 0)?;
        let name = cx.text(name);
        builder.class(&name);
        classes.push(class.val().bits());
    }
    for (i, row) in rows.iter().enumerate() {
        let row = cx.arg_array(&[*row], 0)?.as_slice().to_vec();
        let [_, name, element, fields] = row[..] else { return Err(cx.arg_error("a class is four values")) };
        let (id, name) = (ClassId(i as u32), cx.text(name));
        if !element.is_nil() {
            match NameTest::parse(&cx.text(element), &[]) {
                Ok(test) => builder.element(id, test),
                Err(e) => return Ok(Err(format!("{name}: {e}"))),
            }
        }
        for field in cx.arg_array(&[fields], 0)?.as_slice().to_vec() {
            let parts = cx.arg_array(&[field], 0)?.as_slice().to_vec();
            let [field, place, test, class, card] = parts[..] else { return Err(cx.arg_error("a field is five values")) };
            let (field, test) = (cx.text(field), cx.text(test));
            let place = match place.as_fix().unwrap_or(0) {
                0 => NameTest::parse(&test, &[]).map(Place::Element),
                1 => NameTest::parse(&test, &[]).map(Place::Attribute),
                2 => Ok(Place::Text),
                3 => Ok(Place::Content),
                _ => Place::outer(&test, &[]),
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
    Ok(Ok(Binding { schema, classes, ways, unnamed }))
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
            let (kumi_xml::Kind::Class(nested), Place::Element(test)) = (f.kind, &f.place) else { continue };
            if ways[nested.index()].is_empty() {
                ways[nested.index()] = format!("{above}/{}{}", name(test), if f.card == Card::Many { "[]" } else { "" });
                queue.push_back(nested);
            }
        }
    }
    ways
}
