//! Schemas that can't be bound are refused, with the reason.

use kumi_xml::schema::parse_path;
use kumi_xml::{ClassId, Field, FieldPath, NameTest, OuterWhat, Schema, SchemaBuilder};

fn refused(build: impl FnOnce(&mut SchemaBuilder, ClassId)) -> String {
    let mut b = Schema::builder();
    let class = b.class("C");
    b.root_document(class);
    build(&mut b, class);
    b.build().unwrap_err().to_string()
}

#[test]
fn ambiguous_classes() {
    assert_eq!(
        refused(|b, c| {
            b.field(c, Field::new("a"));
            b.field(c, Field::new("a").element("b"));
        }),
        "C, field 'a': there are two fields of this name"
    );
    assert_eq!(
        refused(|b, c| {
            b.field(c, Field::new("a"));
            b.field(c, Field::new("b").element("a"));
        }),
        "C, field 'b': the element 'a' is already that of field 'a'"
    );
    assert_eq!(
        refused(|b, c| {
            b.field(c, Field::new("a").attribute("x"));
            b.field(c, Field::new("b").attribute("x"));
        }),
        "C, field 'b': the attribute 'x' is already that of field 'a'"
    );
    assert_eq!(
        refused(|b, c| {
            b.field(c, Field::new("a").at(FieldPath::Text));
            b.field(c, Field::new("b").at(FieldPath::Text));
        }),
        "C, field 'b': another field has the element's text already"
    );
}

#[test]
fn impossible_fields() {
    let list = "only elements can form a list: an attribute, a text or an outer value stands once";
    assert_eq!(refused(|b, c| b.field(c, Field::new("a").attribute("a").many())), format!("C, field 'a': {list}"));
    assert_eq!(refused(|b, c| b.field(c, Field::new("a").class(c).attribute("a"))), "C, field 'a': only an element can be of a class");
    assert_eq!(refused(|b, c| b.field(c, Field::new("a").class(ClassId(9)))), "C, field 'a': it is of an unknown class");
    let outer = FieldPath::Outer { element: NameTest::local("x"), what: OuterWhat::Path { children: vec![], attribute: None } };
    assert_eq!(
        refused(|b, c| b.field(c, Field::new("a").at(outer))),
        "C, field 'a': an outer value is an attribute or a child of the enclosing element"
    );
    assert_eq!(
        refused(|b, c| b.field(c, Field::new("a").class(c))),
        "C must contain another of itself: make the field that leads back to it optional or a list"
    );
}

#[test]
fn roots() {
    let mut b = Schema::builder();
    b.class("C");
    assert_eq!(b.clone().build().unwrap_err().to_string(), "no root is given");
    b.root_document(ClassId(3));
    assert_eq!(b.build().unwrap_err().to_string(), "the root is of an unknown class");
}

#[test]
fn names_and_paths() {
    for name in ["", "{}", "{x", "a b", "p:a", "a/b", "@a", "{x}"] {
        assert!(NameTest::parse(name, &[]).is_err(), "{name:?}");
    }
    assert_eq!(NameTest::parse("{urn:a/b}c", &[]).unwrap(), NameTest::namespaced("urn:a/b", "c"));
    assert_eq!(NameTest::parse("p:*", &[("p", "urn:p")]).unwrap(), NameTest { local: None, namespace: Some("urn:p".into()) });
    for path in ["", "/", "//", "a//", "/a/", "///a", "/a[1]", "/p:a"] {
        assert!(parse_path(path, &[]).is_err(), "{path:?}");
    }
    assert_eq!(parse_path("/{urn:a/b}c//d", &[]).unwrap().len(), 2);
    assert!(parse_path(&"/a".repeat(64), &[]).is_err());
    for path in ["a", "a/@b/c", "", "/a", "a/"] {
        assert!(FieldPath::outer(path, &[]).is_err(), "{path:?}");
    }
}

#[test]
fn classes_know_whether_they_are_whole() {
    let mut b = Schema::builder();
    let (a, c, d) = (b.class("A"), b.class("C"), b.class("D"));
    b.field(a, Field::new("c").class(c));
    b.field(c, Field::new("d").class(d).optional());
    b.field(d, Field::new("x").many());
    let e = b.class("E");
    b.field(e, Field::new("e").class(e).optional());
    b.root_document(a);
    let schema = b.build().unwrap();
    assert_eq!(schema.classes().iter().map(|c| c.whole).collect::<Vec<_>>(), [false, false, false, true]);
}
