//! Ruby texts without indentation, and without what their comments say: fewer bytes to keep, and to read.
//!
//! Invariant: the text has the same tokens on the same lines. A comment leaves its mark (`#`, `=begin`, `=end`): between a call and its next line's `.method` a comment keeps
//! them together, an empty line does not.

use ruby_prism::{CommentType, Location, Node, Visit, parse};
use std::ops::Range;

/// Words of comments that the parser heeds.
const HEEDED: &[&[u8]] = &[b"frozen_string_literal", b"frozen-string-literal", b"coding", b"shareable_constant_value", b"warn_indent"];

/// The text without them. One that does not parse stays as it is.
pub(crate) fn bare(source: &[u8]) -> Vec<u8> {
    let parsed = parse(source);
    if parsed.errors().next().is_some() {
        return source.to_vec();
    }
    let mut kept = Literals(Vec::new());
    kept.visit(&parsed.node());
    let data = parsed.data_loc().map_or(source.len(), |l| l.start() as usize);
    kept.0.push(data..source.len());
    // What goes: a place, and what comes there.
    let mut edits: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
    for c in parsed.comments() {
        let place = range(&c.location());
        let text = &source[place.clone()];
        if HEEDED.iter().any(|w| text.windows(w.len()).any(|t| t == *w)) {
            continue;
        }
        match c.type_() {
            CommentType::InlineComment => edits.push((place, b"#".to_vec())),
            CommentType::EmbDocComment => {
                kept.0.push(place.clone());
                edits.push((place, marks(text)));
            }
        }
    }
    let mut at = 0;
    for line in source.split_inclusive(|b| *b == b'\n') {
        let indent = line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        // At the beginning of a line they would be something else.
        let special = [&b"="[..], b"__END__"].iter().any(|w| line[indent..].starts_with(w));
        if indent > 0 && !special && !kept.0.iter().any(|l| l.start < at && at < l.end) {
            edits.push((at..at + indent, Vec::new()));
        }
        at += line.len();
    }
    edits.sort_by_key(|e| e.0.start);
    let mut out = Vec::with_capacity(source.len());
    at = 0;
    for (place, text) in edits {
        out.extend_from_slice(&source[at..place.start]);
        out.extend_from_slice(&text);
        at = place.end;
    }
    out.extend_from_slice(&source[at..]);
    out
}

fn range(l: &Location<'_>) -> Range<usize> {
    l.start() as usize..l.end() as usize
}

/// The lines of a comment between `=begin` and `=end`, without their words.
fn marks(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in text.split_inclusive(|b| *b == b'\n') {
        let mark = [&b"=begin"[..], b"=end"].into_iter().find(|m| line.starts_with(m));
        out.extend_from_slice(mark.unwrap_or_default());
        out.extend(line.ends_with(b"\n").then_some(b'\n'));
    }
    out
}

/// Where blanks at the beginning of a line belong to a value: from a literal's beginning to its end. A heredoc's end is its last line's.
struct Literals(Vec<Range<usize>>);

impl Literals {
    fn add(&mut self, node: &Node<'_>) {
        let closing = match node {
            Node::StringNode { .. } => node.as_string_node().and_then(|n| n.closing_loc()),
            Node::XStringNode { .. } => node.as_x_string_node().map(|n| n.closing_loc()),
            Node::SymbolNode { .. } => node.as_symbol_node().and_then(|n| n.closing_loc()),
            Node::RegularExpressionNode { .. } => node.as_regular_expression_node().map(|n| n.closing_loc()),
            Node::MatchLastLineNode { .. } => node.as_match_last_line_node().map(|n| n.closing_loc()),
            Node::InterpolatedStringNode { .. } => node.as_interpolated_string_node().and_then(|n| n.closing_loc()),
            Node::InterpolatedXStringNode { .. } => node.as_interpolated_x_string_node().map(|n| n.closing_loc()),
            Node::InterpolatedSymbolNode { .. } => node.as_interpolated_symbol_node().and_then(|n| n.closing_loc()),
            Node::InterpolatedRegularExpressionNode { .. } => node.as_interpolated_regular_expression_node().map(|n| n.closing_loc()),
            Node::InterpolatedMatchLastLineNode { .. } => node.as_interpolated_match_last_line_node().map(|n| n.closing_loc()),
            _ => return,
        };
        let mut place = range(&node.location());
        place.end = place.end.max(closing.map_or(0, |l| l.end() as usize));
        self.0.push(place);
    }
}

impl<'pr> Visit<'pr> for Literals {
    fn visit_branch_node_enter(&mut self, node: Node<'pr>) {
        self.add(&node);
    }
    fn visit_leaf_node_enter(&mut self, node: Node<'pr>) {
        self.add(&node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{Hash, Hasher};
    use std::path::Path;

    #[track_caller]
    fn becomes(source: &str, expected: &str) {
        assert_eq!(String::from_utf8_lossy(&bare(source.as_bytes())), expected);
    }

    #[test]
    fn comments_leave_their_marks_and_lines() {
        becomes("# What it is.\nx = 1 # one\n  # more\ny = x", "#\nx = 1 #\n#\ny = x");
        becomes("a = [1]\n  # each\n  .map { 1 }\n", "a = [1]\n#\n.map { 1 }\n");
        becomes("1\n=begin about\n  it\n=end it is\n2\n", "1\n=begin\n\n=end\n2\n");
        becomes("# at the end", "#");
    }

    #[test]
    fn what_only_looks_like_a_comment_stays() {
        becomes("x = '# no' + \"# #{1 # yes\n}\" # yes\n", "x = '# no' + \"# #{1 #\n}\" #\n");
        becomes("x = <<~A # yes\n  # no\n  #{2 # yes\n  }\nA\n", "x = <<~A #\n  # no\n  #{2 #\n  }\nA\n");
        becomes("x = /a # no/ # yes\ny = %w[# no]\nz = ?#\n", "x = /a # no/ #\ny = %w[# no]\nz = ?#\n");
        becomes("x = 1 # yes\n__END__\n  # no\n", "x = 1 #\n__END__\n  # no\n");
    }

    #[test]
    fn comments_for_the_parser_stay() {
        becomes("# frozen_string_literal: true\n# else\nx\n", "# frozen_string_literal: true\n#\nx\n");
        becomes("# -*- coding: utf-8 -*-\n", "# -*- coding: utf-8 -*-\n");
    }

    #[test]
    fn blanks_of_values_stay() {
        becomes("  x =\n\t1\n", "x =\n1\n");
        becomes("  x = 'a\n  b' \\\n    'c'\n  y\n", "x = 'a\n  b' \\\n    'c'\ny\n");
        becomes("  f(<<~A, <<-B,\n    a\n    A\n   b\n  B\n    1)\n", "f(<<~A, <<-B,\n    a\n    A\n   b\n  B\n1)\n");
        becomes("  x = /a\n  b/x\n  y = %w[a\n    b]\n", "x = /a\n  b/x\ny = %w[a\nb]\n");
        becomes("  x = `a\n  b`\n  y = :\"a\n  b\"\n  z = \"\n  #{1}\n  \"\n", "x = `a\n  b`\ny = :\"a\n  b\"\nz = \"\n  #{1}\n  \"\n");
        becomes("x = y \\\n  =begin\n", "x = y \\\n  =begin\n");
    }

    #[test]
    fn a_text_that_does_not_parse_stays() {
        becomes("  x = ( # one\n", "  x = ( # one\n");
    }

    /// Nodes in order: their kinds, the lines they begin on, and what names, literals and leaves are.
    struct Tree<'s>(Vec<(u64, usize, Vec<u8>)>, &'s [u8]);

    impl Tree<'_> {
        fn of(source: &[u8]) -> Vec<(u64, usize, Vec<u8>)> {
            let parsed = parse(source);
            let mut tree = Tree(Vec::new(), source);
            tree.visit(&parsed.node());
            let data = parsed.data_loc().map(|l| l.as_slice().to_vec());
            tree.0.push((0, 0, data.unwrap_or_default()));
            tree.0
        }
        fn add(&mut self, node: &Node<'_>, text: &[u8]) {
            let mut kind = std::hash::DefaultHasher::new();
            std::mem::discriminant(node).hash(&mut kind);
            let line = self.1[..node.location().start() as usize].iter().filter(|b| **b == b'\n').count();
            self.0.push((kind.finish(), line, text.to_vec()));
        }
    }

    impl<'pr> Visit<'pr> for Tree<'_> {
        fn visit_branch_node_enter(&mut self, node: Node<'pr>) {
            let name = node.as_call_node().map(|c| c.name()).or(node.as_def_node().map(|d| d.name()));
            self.add(&node, name.map_or(&[][..], |n| n.as_slice()));
        }
        fn visit_leaf_node_enter(&mut self, node: Node<'pr>) {
            if let Some(s) = node.as_string_node() {
                self.add(&node, s.unescaped());
            } else {
                self.add(&node, node.location().as_slice());
            }
        }
    }

    #[test]
    fn the_prelude_and_the_library_say_the_same() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (mut folders, mut before, mut after) = (vec![root.join("prelude"), root.join("lib")], 0, 0);
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "rb") {
                    let source = std::fs::read(&path).unwrap();
                    let bare = bare(&source);
                    assert!(Tree::of(&source) == Tree::of(&bare), "{}", path.display());
                    (before, after) = (before + source.len(), after + bare.len());
                }
            }
        }
        assert!(after < before - before / 8, "{before} bytes became {after}");
    }
}
