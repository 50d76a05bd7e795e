//! Every rule of well-formedness by small documents: what is read as what, and what is refused, how and where.
//! Each is read in pieces of several sizes, which must agree.

mod common;

use common::{Outcome, read_all_ways};
use kumi_xml::{ErrorKind, ErrorKind::*, Limits, Options};

fn read(document: &str) -> Outcome {
    read_all_ways(document, document.as_bytes(), &Options::default())
}

/// The events without positions.
fn events(document: &str) -> Vec<String> {
    let (events, result) = read(document);
    assert_eq!(result, Ok(()), "{document}");
    events.iter().map(|e| e.split(" @").next().unwrap_or("").to_owned()).collect()
}

#[test]
fn accepted() {
    for document in [
        // [1] document, [22] prolog, [27] Misc
        "<a/>",
        "\n\n<a/>\n",
        "<?xml version='1.0'?><a/>",
        "<?xml version=\"1.0\" encoding='utf-8' standalone = 'no' ?>\n<a/>",
        "<?xml version='1.7'?><a/>",
        "<?xml-stylesheet href='x'?><!-- c --><a/><!-- d --><?e?> ",
        "\u{FEFF}<a/>",
        // [3] S, [40] STag, [42] ETag, [44] EmptyElemTag
        "<a  b = 'c'\n\td=\"e\" ></a\n>",
        "<a\n/>",
        // [4], [4a], [5] names of the 5th edition
        "<_:é·\u{300}\u{2040} xmlns:_='u'/>",
        "<\u{10000}\u{EFFFF}/>",
        "<a.-0_9/>",
        // [10] AttValue
        "<a b='\"' c=\"'\" d='>' e=']]>' f='&lt;&gt;&amp;&quot;&apos;'/>",
        // [14] CharData, [18] CDSect
        "<a>]] > ]>]] ></a>",
        "<a><![CDATA[]]></a>",
        "<a><![CDATA[<&]]]]>]]&gt;</a>",
        // [15] Comment, [16] PI
        "<a><!----><!-- - -><&--></a>",
        "<a><?b?><?b ?><?b ??><?b c ? > ?></a>",
        // [66] CharRef
        "<a>&#9;&#10;&#13;&#x10FFFF;&#0000000000000000000000065;</a>",
        // [28] doctypedecl, [75] ExternalID
        "<!DOCTYPE a><a/>",
        "<!DOCTYPE a SYSTEM 'x.dtd'><a/>",
        "<!DOCTYPE a PUBLIC \"-//A//B('?)\" \"x\" [ ] ><a/>",
        "<!DOCTYPE a [ <!-- ]> ' \" --> <?p ]> ' ?> ]><a/>",
        // [45] elementdecl, [46] to [51]
        "<!DOCTYPE a [<!ELEMENT a EMPTY><!ELEMENT b ANY><!ELEMENT c (#PCDATA)><!ELEMENT d ( #PCDATA | e|f )*><!ELEMENT g (#PCDATA)*>]><a/>",
        "<!DOCTYPE a [<!ELEMENT a (b)><!ELEMENT c ( b , c? , (d | e* | (f)+ )* )+ >]><a/>",
        // [52] AttlistDecl, [54] to [60]
        "<!DOCTYPE a [<!ATTLIST a><!ATTLIST a b CDATA #IMPLIED c ID #REQUIRED d IDREF #IMPLIED e IDREFS #IMPLIED>]><a c='x'/>",
        "<!DOCTYPE a [<!ATTLIST a b ENTITY #IMPLIED c ENTITIES #IMPLIED d NMTOKEN 'x' e NMTOKENS #FIXED 'x y' f (g|1 | -h) 'g'>]><a/>",
        "<!DOCTYPE a [<!NOTATION n SYSTEM 'x'><!ATTLIST a b NOTATION (n | m) #IMPLIED>]><a/>",
        // [70] EntityDecl, [82] NotationDecl
        "<!DOCTYPE a [<!ENTITY e 'x'><!ENTITY % p 'y'><!ENTITY f SYSTEM 'z'><!ENTITY g PUBLIC 'p' 'z' NDATA n>]><a>&e;</a>",
        "<!DOCTYPE a [<!NOTATION n PUBLIC 'p'><!NOTATION m PUBLIC 'p' 's' ><!NOTATION o SYSTEM 's'>]><a/>",
        // Declared but never referred to, an entity may hold anything.
        "<!DOCTYPE a [<!ENTITY e '<b>'><!ENTITY f '&undeclared;'>]><a/>",
        // 4.6: the five declared again.
        "<!DOCTYPE a [<!ENTITY lt '&#38;#60;'><!ENTITY gt '&#62;'><!ENTITY amp '&#38;#38;'><!ENTITY apos \"'\"><!ENTITY quot '&#34;'>]><a>&lt;</a>",
        // [28a], [31] references to parameter entities
        "<!DOCTYPE a [<!ENTITY % p '<!ENTITY e \"x\">'> %p; ]><a>&e;</a>",
        // 4.1: with such a reference an undeclared entity is a matter of validity.
        "<!DOCTYPE a [<!ENTITY % p ''>%p;]><a>&e;</a>",
        // Namespaces
        "<a xmlns:xml='http://www.w3.org/XML/1998/namespace' xml:lang='en'/>",
        "<a xmlns='u'><b xmlns=''/></a>",
        "<a xmlns:p='u' xmlns='u' b='' p:b=''/>",
    ] {
        let (_, result) = read(document);
        assert_eq!(result, Ok(()), "{document}");
    }
}

/// Document, kind of error, line, column.
const REFUSED: &[(&str, ErrorKind, u64, u64)] = &[
    // [1] document
    ("", Structure, 1, 1),
    (" \n ", Structure, 2, 2),
    ("<!-- c -->", Structure, 1, 11),
    ("a", Structure, 1, 1),
    ("<a/>b", Structure, 1, 5),
    ("<a/><b/>", Structure, 1, 5),
    ("<a></a></a>", Structure, 1, 8),
    ("</a>", Structure, 1, 1),
    ("&lt;<a/>", Structure, 1, 1),
    ("<a/>&#32;", Structure, 1, 5),
    ("<![CDATA[]]><a/>", Structure, 1, 1),
    ("<a/><![CDATA[ ]]>", Structure, 1, 5),
    ("<a>", UnexpectedEnd, 1, 4),
    ("<a><b></b>", UnexpectedEnd, 1, 11),
    ("<a>\ntext", UnexpectedEnd, 2, 5),
    ("<a", UnexpectedEnd, 1, 3),
    ("<", UnexpectedEnd, 1, 2),
    ("<a b='c", UnexpectedEnd, 1, 8),
    ("<a></a", UnexpectedEnd, 1, 7),
    ("<a><!-- c --", UnexpectedEnd, 1, 13),
    ("<a><![CDATA[ ]]", UnexpectedEnd, 1, 16),
    ("<a><?p ?", UnexpectedEnd, 1, 9),
    ("<a>&am", UnexpectedEnd, 1, 7),
    ("<!DOCTYPE a [", UnexpectedEnd, 1, 14),
    // [2] Char
    ("<a>\u{1}</a>", Character, 1, 4),
    ("<a>é\u{FFFE}</a>", Character, 1, 5),
    ("<a b='\u{FFFF}'/>", Character, 1, 7),
    ("<a><!--\u{8}--></a>", Character, 1, 8),
    ("<a>\0</a>", Character, 1, 4),
    // [5] Name
    ("<1/>", Name, 1, 2),
    ("<-a/>", Name, 1, 2),
    ("< a/>", Name, 1, 2),
    ("<·/>", Name, 1, 2),
    ("<a×/>", Syntax, 1, 3),
    ("<a .b=''/>", Name, 1, 4),
    ("<a></ a>", Name, 1, 6),
    ("<a><? p?></a>", Name, 1, 6),
    // [39] element
    ("<a></b>", MismatchedTag, 1, 4),
    ("<a>\n <b></a></b>", MismatchedTag, 2, 5),
    ("<a></A>", MismatchedTag, 1, 4),
    ("<a></ab>", MismatchedTag, 1, 4),
    ("<ab></a>", MismatchedTag, 1, 5),
    // [40] to [44] tags
    ("<a b='c'd='e'/>", Syntax, 1, 9),
    ("<a b/>", Syntax, 1, 5),
    ("<a b 'c'/>", Syntax, 1, 6),
    ("<a / >", Syntax, 1, 5),
    ("<a b=c/>", AttributeValue, 1, 6),
    ("<a b=/>", AttributeValue, 1, 6),
    ("<a b='<'/>", AttributeValue, 1, 7),
    ("<a b='c>\n<b/>", AttributeValue, 2, 1),
    ("<a <b/>", Name, 1, 4),
    ("<a></a b='c'>", Syntax, 1, 8),
    ("<a></a/>", Syntax, 1, 7),
    ("<a b='' b=''/>", DuplicateAttribute, 1, 9),
    ("<a b='' c='' d='' e='' f='' g='' h='' i='' j='' c=''/>", DuplicateAttribute, 1, 49),
    // [14] CharData
    ("<a>]]></a>", Syntax, 1, 4),
    ("<a>x]]]]>y</a>", Syntax, 1, 7),
    // [15] Comment
    ("<a><!-- -- --></a>", Syntax, 1, 9),
    ("<a><!-- ---></a>", Syntax, 1, 9),
    ("<a><!-></a>", Syntax, 1, 4),
    ("<a><!--></a>", UnexpectedEnd, 1, 13),
    // [16] PI, [17] PITarget
    ("<a><?xml version='1.0'?></a>", Declaration, 1, 6),
    ("<?xmL ?><a/>", Declaration, 1, 3),
    (" <?xml version='1.0'?><a/>", Declaration, 1, 4),
    ("<a><?p/?></a>", Syntax, 1, 7),
    ("<a><?p></a>", Syntax, 1, 7),
    // [19] CDSect
    ("<a><![cdata[]]></a>", Syntax, 1, 4),
    ("<a><![CDATA []]></a>", Syntax, 1, 4),
    ("<a><!DOCTYPE a></a>", Syntax, 1, 4),
    // [23] to [26], [32], [80] declaration
    ("<?xml?><a/>", Syntax, 1, 6),
    ("<?xml ?><a/>", Declaration, 1, 7),
    ("<?xml encoding='UTF-8'?><a/>", Declaration, 1, 7),
    ("<?xml version='2.0'?><a/>", Declaration, 1, 16),
    ("<?xml version='1.'?><a/>", Declaration, 1, 16),
    ("<?xml version='1.0' ?", UnexpectedEnd, 1, 22),
    ("<?xml version='1.0' standalone='maybe'?><a/>", Declaration, 1, 33),
    ("<?xml version='1.0' standalone='yes' encoding='UTF-8'?><a/>", Declaration, 1, 38),
    ("<?xml version='1.0'encoding='UTF-8'?><a/>", Declaration, 1, 20),
    ("<?xml version='1.0' encoding='UTF 8'?><a/>", Encoding, 1, 1),
    ("<?xml version='1.0' encoding=''?><a/>", Encoding, 1, 1),
    ("<?xml version='1.0' encoding='UTF-16'?><a/>", Encoding, 1, 31),
    ("<?xml version='1.0' encoding='EBCDIC-X'?><a/>", Encoding, 1, 1),
    ("\u{FEFF}<?xml version='1.0' encoding='ISO-8859-1'?><a/>", Encoding, 1, 31),
    ("<?xml version='1.0' bogus='x'?><a/>", Declaration, 1, 21),
    // [66] to [68] references
    ("<a>&</a>", Reference, 1, 4),
    ("<a>& b</a>", Reference, 1, 4),
    ("<a>&b c;</a>", Reference, 1, 4),
    ("<a>&#;</a>", Reference, 1, 4),
    ("<a>&#x;</a>", Reference, 1, 4),
    ("<a>&#X41;</a>", Reference, 1, 4),
    ("<a>&#1a;</a>", Reference, 1, 4),
    ("<a>&#0;</a>", Reference, 1, 4),
    ("<a>&#xD800;</a>", Reference, 1, 4),
    ("<a>&#xFFFE;</a>", Reference, 1, 4),
    ("<a>&#x110000;</a>", Reference, 1, 4),
    ("<a>&#99999999999999999999;</a>", Reference, 1, 4),
    ("<a b='&'/>", Reference, 1, 7),
    ("<a b='&c'/>", Reference, 1, 7),
    ("<a>&undeclared;</a>", UndeclaredEntity, 1, 4),
    ("<a b='&undeclared;'/>", UndeclaredEntity, 1, 7),
    ("<?xml version='1.0' standalone='yes'?><!DOCTYPE a [<!ENTITY % p ''>%p;]><a>&e;</a>", UndeclaredEntity, 1, 76),
    // Entities: recursion, boundaries, what may be referred to
    ("<!DOCTYPE a [<!ENTITY e '&e;'>]><a>&e;</a>", RecursiveEntity, 1, 36),
    ("<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a b='&e;'/>", RecursiveEntity, 1, 56),
    ("<!DOCTYPE a [<!ENTITY % p '&#37;p;'>%p;]><a/>", RecursiveEntity, 1, 37),
    ("<!DOCTYPE a [<!ENTITY e '<b>'>]><a>&e;</b></a>", EntityBoundary, 1, 36),
    ("<!DOCTYPE a [<!ENTITY e '</b>'>]><a><b>&e;</a>", EntityBoundary, 1, 40),
    ("<!DOCTYPE a [<!ENTITY e '<b '>]><a>&e;/></a>", EntityBoundary, 1, 36),
    ("<!DOCTYPE a [<!ENTITY e '&#60;!--'>]><a>&e; --></a>", EntityBoundary, 1, 41),
    ("<!DOCTYPE a [<!ENTITY e '&#38;'>]><a>&e;lt;</a>", EntityBoundary, 1, 38),
    ("<!DOCTYPE a [<!ENTITY e '<'>]><a b='&e;'/>", AttributeValue, 1, 37),
    ("<!DOCTYPE a [<!ENTITY e ']]&#62;'>]><a>&e;</a>", Syntax, 1, 40),
    ("<!DOCTYPE a [<!ENTITY e SYSTEM 'x'>]><a>&e;</a>", ExternalEntity, 1, 41),
    ("<!DOCTYPE a [<!ENTITY e SYSTEM 'x'>]><a b='&e;'/>", ExternalEntity, 1, 44),
    ("<!DOCTYPE a SYSTEM 'x'><a>&e;</a>", ExternalEntity, 1, 27),
    ("<!DOCTYPE a [<!ENTITY e SYSTEM 'x' NDATA n>]><a>&e;</a>", Reference, 1, 49),
    ("<!DOCTYPE a [<!ENTITY % p '<!ENTITY e '>%p;'x'>]><a/>", EntityBoundary, 1, 41),
    ("<!DOCTYPE a [%p;]><a/>", UndeclaredEntity, 1, 14),
    ("<!DOCTYPE a [<!ENTITY % p '<![INCLUDE[]]>'>%p;]><a/>", Doctype, 1, 44),
    // [28] doctypedecl
    ("<!DOCTYPE><a/>", Syntax, 1, 10),
    ("<!DOCTYPE a[]><!DOCTYPE a><a/>", Structure, 1, 15),
    ("<a/><!DOCTYPE a>", Structure, 1, 5),
    ("<!doctype a><a/>", Syntax, 1, 1),
    ("<!DOCTYPE a b><a/>", Doctype, 1, 13),
    ("<!DOCTYPE a SYSTEM><a/>", Syntax, 1, 19),
    ("<!DOCTYPE a PUBLIC 'p'><a/>", Syntax, 1, 23),
    ("<!DOCTYPE a PUBLIC '{' 's'><a/>", Doctype, 1, 21),
    ("<!DOCTYPE a [ x ]><a/>", Doctype, 1, 15),
    ("<!DOCTYPE a [<a/>]><a/>", Doctype, 1, 14),
    ("<!DOCTYPE a [<![INCLUDE[]]>]><a/>", Doctype, 1, 14),
    ("<!DOCTYPE a [] b><a/>", Doctype, 1, 16),
    // [45] to [51] element declarations
    ("<!DOCTYPE a [<!ELEMENT a>]><a/>", Syntax, 1, 25),
    ("<!DOCTYPE a [<!ELEMENT a ()>]><a/>", Name, 1, 27),
    ("<!DOCTYPE a [<!ELEMENT a b>]><a/>", Syntax, 1, 26),
    ("<!DOCTYPE a [<!ELEMENT a (b,c|d)>]><a/>", Doctype, 1, 30),
    ("<!DOCTYPE a [<!ELEMENT a (b c)>]><a/>", Doctype, 1, 29),
    ("<!DOCTYPE a [<!ELEMENT a (b +)>]><a/>", Doctype, 1, 29),
    ("<!DOCTYPE a [<!ELEMENT a (b>]><a/>", Doctype, 1, 28),
    ("<!DOCTYPE a [<!ELEMENT a (b,)>]><a/>", Name, 1, 29),
    ("<!DOCTYPE a [<!ELEMENT a (#PCDATA|b)>]><a/>", Syntax, 1, 37),
    ("<!DOCTYPE a [<!ELEMENT a (#PCDATA,b)*>]><a/>", Syntax, 1, 34),
    ("<!DOCTYPE a [<!ELEMENT a (b|#PCDATA)*>]><a/>", Name, 1, 29),
    ("<!DOCTYPE a [<!ELEMENT a EMPTY x>]><a/>", Doctype, 1, 32),
    // [52] to [60] attribute declarations
    ("<!DOCTYPE a [<!ATTLIST>]><a/>", Syntax, 1, 23),
    ("<!DOCTYPE a [<!ATTLIST a b>]><a/>", Syntax, 1, 27),
    ("<!DOCTYPE a [<!ATTLIST a b TEXT ''>]><a/>", Doctype, 1, 28),
    ("<!DOCTYPE a [<!ATTLIST a b CDATA>]><a/>", Syntax, 1, 33),
    ("<!DOCTYPE a [<!ATTLIST a b CDATA #FIXED>]><a/>", Syntax, 1, 40),
    ("<!DOCTYPE a [<!ATTLIST a b CDATA #OTHER>]><a/>", Syntax, 1, 34),
    ("<!DOCTYPE a [<!ATTLIST a b CDATA '<'>]><a/>", AttributeValue, 1, 35),
    ("<!DOCTYPE a [<!ATTLIST a b CDATA '&e;'><!ENTITY e 'x'>]><a/>", UndeclaredEntity, 1, 35),
    ("<!DOCTYPE a [<!ATTLIST a b (c,d) 'c'>]><a/>", Doctype, 1, 30),
    ("<!DOCTYPE a [<!ATTLIST a b () 'c'>]><a/>", Name, 1, 29),
    ("<!DOCTYPE a [<!ATTLIST a b NOTATION(n) 'n'>]><a/>", Syntax, 1, 36),
    ("<!DOCTYPE a [<!ATTLIST a b CDATA ''c CDATA ''>]><a/>", Syntax, 1, 36),
    // [70] to [76], [82] entity and notation declarations
    ("<!DOCTYPE a [<!ENTITY e>]><a/>", Syntax, 1, 24),
    ("<!DOCTYPE a [<!ENTITY e x>]><a/>", Doctype, 1, 25),
    ("<!DOCTYPE a [<!ENTITY e '&'>]><a/>", Reference, 1, 26),
    ("<!DOCTYPE a [<!ENTITY e '&#0;'>]><a/>", Reference, 1, 26),
    ("<!DOCTYPE a [<!ENTITY e '%'>]><a/>", Doctype, 1, 26),
    ("<!DOCTYPE a [<!ENTITY % p ''><!ENTITY e '%p;'>]><a/>", Doctype, 1, 42),
    ("<!DOCTYPE a [<!ENTITY %p ''>]><a/>", Syntax, 1, 24),
    ("<!DOCTYPE a [<!ENTITY % p SYSTEM 's' NDATA n>]><a/>", Doctype, 1, 38),
    ("<!DOCTYPE a [<!ENTITY e SYSTEM 's' ndata n>]><a/>", Doctype, 1, 36),
    ("<!DOCTYPE a [<!ENTITY e SYSTEM 's'NDATA n>]><a/>", Syntax, 1, 35),
    ("<!DOCTYPE a [<!ENTITY lt '<'>]><a/>", Doctype, 1, 22),
    ("<!DOCTYPE a [<!ENTITY gt '<'>]><a/>", Doctype, 1, 22),
    ("<!DOCTYPE a [<!NOTATION n>]><a/>", Syntax, 1, 26),
    ("<!DOCTYPE a [<!NOTATION n 's'>]><a/>", Doctype, 1, 27),
    // Namespaces in XML
    ("<p:a/>", Namespace, 1, 2),
    ("<a p:b=''/>", Namespace, 1, 4),
    ("<a:b:c xmlns:a='u'/>", Namespace, 1, 2),
    ("<:a/>", Namespace, 1, 2),
    ("<a: xmlns:a='u'/>", Namespace, 1, 2),
    ("<a:1 xmlns:a='u'/>", Namespace, 1, 2),
    ("<a :b=''/>", Namespace, 1, 4),
    ("<a xmlns:b=''/>", Namespace, 1, 4),
    ("<a xmlns:='u'/>", Namespace, 1, 4),
    ("<a xmlns:xmlns='u'/>", Namespace, 1, 4),
    ("<a xmlns:xml='u'/>", Namespace, 1, 4),
    ("<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>", Namespace, 1, 4),
    ("<a xmlns='http://www.w3.org/2000/xmlns/'/>", Namespace, 1, 4),
    ("<xmlns:a/>", Namespace, 1, 2),
    ("<a><b xmlns:p='u'/><p:c/></a>", Namespace, 1, 21),
    ("<a xmlns:p='u' xmlns:q='u' p:b='' q:b=''/>", DuplicateAttribute, 1, 35),
    ("<?p:q?><a/>", Namespace, 1, 3),
    ("<!DOCTYPE a [<!ENTITY p:e ''>]><a/>", Namespace, 1, 23),
    ("<!DOCTYPE a [<!NOTATION p:n SYSTEM ''>]><a/>", Namespace, 1, 25),
];

#[test]
fn refused() {
    let mut wrong = Vec::new();
    for &(document, kind, line, column) in REFUSED {
        match read(document).1 {
            Err((k, p, _)) if (k, p.line, p.column) == (kind, line, column) => {}
            other => wrong.push(format!("{document:?}: {kind:?} {line}:{column} expected, not {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_error_stays() {
    let mut tokenizer = kumi_xml::Tokenizer::new(Options::default());
    tokenizer.feed(b"<a></b>").unwrap();
    tokenizer.finish();
    assert!(tokenizer.next().is_ok());
    let error = tokenizer.next().unwrap_err();
    assert_eq!(error.to_string(), "the end tag </b> where </a> was expected (line 1, column 4)");
    assert_eq!(tokenizer.next().unwrap_err(), error);
    assert_eq!(tokenizer.feed(b"x").unwrap_err(), error);
}

#[test]
fn text_is_one_node_up_to_markup() {
    let document = "<!DOCTYPE a [<!ENTITY e 'x<b>y</b>&amp;z'>]><a>1&lt;2&#51;&e;4<![CDATA[<5>]]>6</a>";
    assert_eq!(
        events(document)[1..],
        ["<a {}", "text \"1<23x\"", "<b {}", "text \"y\"", "</b {}", "text \"&z4\"", "text \"<5>\" cdata", "text \"6\"", "</a {}"]
    );
}

#[test]
fn line_ends_are_one_character() {
    let (events, result) = read("<a>\r\n1\r2\n\r3</a>\r\n<!");
    assert_eq!(events[1], "text \"\\n1\\n2\\n\\n3\" @line 1, column 4 3 depth 1");
    assert!(events[2].starts_with("</a {} @line 5, column 2"), "{}", events[2]);
    assert_eq!(result.map_err(|e| (e.0, e.1.line, e.1.column)), Err((UnexpectedEnd, 6, 3)));
    // In references they stay what they are.
    assert_eq!(events_of_text("<a>&#13;&#10;</a>"), "\r\n");
}

fn events_of_text(document: &str) -> String {
    let mut tokenizer = kumi_xml::Tokenizer::new(Options::default());
    tokenizer.feed(document.as_bytes()).unwrap();
    tokenizer.finish();
    let mut text = String::new();
    while let Some(event) = tokenizer.next().unwrap() {
        if let kumi_xml::Event::Text(piece) = event {
            text += piece;
        }
    }
    text
}

#[test]
fn values_are_normalised() {
    let document = "<!DOCTYPE a [<!ENTITY e ' x\n'><!ATTLIST a t NMTOKENS #IMPLIED d CDATA 'd&e;' f NMTOKEN ' g '>]>\
                    <a c='  1\t2\n3&#10;&e; ' t=' 1\t\n 2&#32; '/>";
    assert_eq!(events(document)[1], "<a {} c{}=\"  1 2 3\\n x  \" t{}=\"1 2\" d{}=\"d x \"* f{}=\"g\"*");
}

#[test]
fn names_have_namespaces() {
    let document = "<a xmlns='u' xmlns:p='v' b='' p:b='' xml:lang=''><p:c xmlns:p='w'/><p:c xmlns=''><d/></p:c></a>";
    let xmlns = "http://www.w3.org/2000/xmlns/";
    assert_eq!(
        events(document),
        [
            format!(
                "<a {{u}} xmlns{{{xmlns}}}=\"u\" xmlns:p{{{xmlns}}}=\"v\" b{{}}=\"\" p:b{{v}}=\"\" xml:lang{{http://www.w3.org/XML/1998/namespace}}=\"\""
            ),
            format!("<p:c {{w}} xmlns:p{{{xmlns}}}=\"w\""),
            "</p:c {w}".to_owned(),
            format!("<p:c {{v}} xmlns{{{xmlns}}}=\"\""),
            "<d {}".to_owned(),
            "</d {}".to_owned(),
            "</p:c {v}".to_owned(),
            "</a {u}".to_owned(),
        ]
    );
    // Without them a colon is a letter.
    let options = Options { namespaces: false, ..Options::default() };
    let (events, result) = read_all_ways("no namespaces", b"<:a::b c:='' xmlns:xmlns='x'></:a::b>", &options);
    assert_eq!((events.len(), result), (2, Ok(())));
}

#[test]
fn long_text_comes_in_pieces() {
    let options = Options { limits: Limits { text_piece: 8, ..Limits::default() }, ..Options::default() };
    let document = "<a>1234567ñ9&amp;bcdefghij<![CDATA[12345678]]>x</a>";
    let (events, _) = read_all_ways("pieces", document.as_bytes(), &options);
    let texts: Vec<&str> = events.iter().filter_map(|e| e.strip_prefix("text ")).map(|e| e.split(" @").next().unwrap_or("")).collect();
    assert_eq!(texts, ["\"1234567\"", "\"ñ9&bcde\"", "\"fghij\"", "\"12345678\" cdata", "\"x\""]);
}

/// Only an XML declaration says the encoding: an instruction whose name begins so says nothing.
#[test]
fn an_instruction_declares_no_encoding() {
    for document in [
        "<?xml-stylesheet href='x' encoding='ISO-8859-1'?><a>\u{e9}</a>",
        "<?xml-model encoding='no-such-thing'?><a>\u{e9}</a>",
        "<?xmlx version='1.0' encoding='UTF-16'?><a>\u{e9}</a>",
    ] {
        assert_eq!(events(document)[2], "text \"\u{e9}\"", "{document}");
    }
}

#[test]
fn encodings() {
    let read = |bytes: &[u8], encoding| read_all_ways("encoding", bytes, &Options { encoding, ..Options::default() });
    let text = |bytes: &[u8], encoding| {
        let (events, result) = read(bytes, encoding);
        assert_eq!(result, Ok(()), "{bytes:?}");
        events.iter().find_map(|e| e.strip_prefix("text ").map(|t| t.split(" @").next().unwrap_or("").to_owned())).unwrap_or_default()
    };
    let wide =
        |s: &str, big: bool| -> Vec<u8> { s.encode_utf16().flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect() };
    for big in [true, false] {
        assert_eq!(text(&wide("\u{FEFF}<a>é\u{10000}</a>", big), None), "\"é\u{10000}\"");
        assert_eq!(text(&wide("\u{FEFF}<?xml version='1.0' encoding='UTF-16'?><a>é</a>", big), None), "\"é\"");
        assert_eq!(text(&wide("<?xml version='1.0' encoding='UTF-16'?><a>é</a>", big), None), "\"é\"");
        let conflict = read(&wide("\u{FEFF}<?xml version='1.0' encoding='UTF-8'?><a/>", big), None).1;
        assert_eq!(conflict.map_err(|e| e.0), Err(Encoding));
        // Half a surrogate pair, half a unit.
        let mut broken = wide("\u{FEFF}<a>x", big);
        broken.extend(wide("\u{10000}", big).into_iter().take(2));
        broken.extend(wide("</a>", big));
        assert_eq!(read(&broken, None).1.map_err(|e| (e.0, e.1.column)), Err((Encoding, 5)));
        let mut odd = wide("\u{FEFF}<a/>", big);
        odd.push(b' ');
        assert_eq!(read(&odd, None).1.map_err(|e| e.0), Err(Encoding));
    }
    assert_eq!(text(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9\x85</a>", None), format!("{:?}", "é\u{85}"));
    assert_eq!(text(b"<?xml version='1.0' encoding='windows-1252'?><a>\x80</a>", None), "\"€\"");
    assert_eq!(text(b"<?xml version='1.0' encoding='Shift_JIS'?><a>\x82\xA0</a>", None), "\"あ\"");
    let ascii = read(b"<?xml version='1.0' encoding='US-ASCII'?><a>\xE9</a>", None).1;
    assert_eq!(ascii.map_err(|e| (e.0, e.1.column)), Err((Encoding, 45)));
    // The transport wins over the declaration, the mark over both.
    assert_eq!(text(b"<?xml version='1.0' encoding='UTF-8'?><a>\x80</a>", Some(encoding_rs::WINDOWS_1252)), "\"€\"");
    assert_eq!(text("\u{FEFF}<a>é</a>".as_bytes(), Some(encoding_rs::WINDOWS_1252)), "\"é\"");
    // Malformed UTF-8, each where it begins.
    for (bytes, column) in [
        (&b"<a>\xFF</a>"[..], 4),
        (b"<a>\xC3\xA9\xC3(</a>", 5),
        (b"<a>\xC0\x80</a>", 4),
        (b"<a>\xED\xA0\x80</a>", 4),
        (b"<a>\xF4\x90\x80\x80</a>", 4),
        (b"<a>x\xE3\x81", 5),
        (b"<\xC3", 2),
        (b"<a \xC3='b'/>", 4),
    ] {
        assert_eq!(read(bytes, None).1.map_err(|e| (e.0, e.1.column)), Err((Encoding, column)), "{bytes:?}");
    }
    for bytes in [&b"\xFF\xFE\0\0<\0\0\0"[..], b"\0\0\xFE\xFF", b"\x4C\x6F\xA7\x94\x93"] {
        assert_eq!(read(bytes, None).1.map_err(|e| e.0), Err(Encoding), "{bytes:?}");
    }
}

#[test]
fn skipping_checks_what_it_passes() {
    let document = b"<a><b c='d'><c/>text<![CDATA[x]]><b>&amp;</b></b><d/></a>";
    for size in [1, 3, document.len()] {
        let mut tokenizer = kumi_xml::Tokenizer::new(Options::default());
        let mut names = Vec::new();
        let mut skipping = false;
        for piece in document.chunks(size).map(Some).chain([None]) {
            match piece {
                Some(piece) => tokenizer.feed(piece).unwrap(),
                None => tokenizer.finish(),
            }
            loop {
                if skipping && !tokenizer.skip().unwrap() {
                    break;
                }
                skipping = false;
                match tokenizer.next().unwrap() {
                    None => break,
                    Some(kumi_xml::Event::Start(start)) => {
                        skipping = start.name().raw() == "b" || start.name().raw() == "d";
                        names.push(start.name().raw().to_owned());
                    }
                    Some(kumi_xml::Event::End(name)) => names.push(format!("/{}", name.raw())),
                    Some(other) => panic!("{other:?}"),
                }
            }
        }
        assert_eq!(names, ["a", "b", "d", "/a"], "{size}");
    }
    let mut tokenizer = kumi_xml::Tokenizer::new(Options::default());
    tokenizer.feed(b"<a><b><c></b></a>").unwrap();
    tokenizer.next().unwrap();
    assert_eq!(tokenizer.skip().unwrap_err().kind, MismatchedTag);
}

#[test]
fn looking_ahead_and_accepting() {
    let mut tokenizer = kumi_xml::Tokenizer::new(Options::default());
    tokenizer.feed("<a>\n<b>x</b>é&amp;<b>".as_bytes()).unwrap();
    assert_eq!(tokenizer.lookahead().bytes(), b"");
    tokenizer.next().unwrap();
    let look = tokenizer.lookahead();
    assert_eq!(look.bytes(), "\n<b>x</b>é&amp;<b>".as_bytes());
    assert_eq!([0, 2, 6, 100].map(|from| look.stop(from)), [1, 5, 11, look.bytes().len()]);
    assert_eq!(tokenizer.position_ahead(1).line, 2);
    tokenizer.accept("\n<b>x</b>".len());
    match tokenizer.next().unwrap() {
        Some(kumi_xml::Event::Text("é&")) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!((tokenizer.position().line, tokenizer.position().column), (2, 9));
}
