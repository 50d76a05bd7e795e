//! Noise: token soups and damaged programs go through the compiler without a panic.
//! The seed is fixed, so that a failure can be repeated.

use kumi_compiler::Options;
use kumi_vm::Cx;

/// xorshift: good enough for noise, the same everywhere.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

const TOKENS: &[&str] = &[
    "def ",
    "end ",
    "class ",
    "module ",
    "if ",
    "unless ",
    "while ",
    "until ",
    "do ",
    "begin ",
    "rescue ",
    "ensure ",
    "case ",
    "when ",
    "in ",
    "then ",
    "return ",
    "break ",
    "next ",
    "redo ",
    "retry ",
    "yield ",
    "super ",
    "self ",
    "nil ",
    "->",
    "=>",
    "&.",
    "::",
    "..",
    "...",
    "**",
    "*",
    "&",
    "|",
    "||=",
    "&&=",
    "+=",
    "=",
    "==",
    "=~",
    "!",
    "?",
    ":",
    ";",
    "\n",
    ",",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "#{",
    "%w[",
    "%i(",
    "/",
    "<<~A\n",
    "A\n",
    "@x",
    "@@y",
    "$z",
    "$1",
    "$~",
    "X",
    "a",
    "b",
    "_1",
    "it",
    "foo",
    "bar?",
    "baz!",
    ":s",
    "1",
    "2.5",
    "3r",
    "4i",
    "0x1f",
    "?c",
    "__FILE__",
    "__method__",
    "alias ",
    "undef ",
    "defined?(",
    "BEGIN{",
    "END{",
    "not ",
    "and ",
    "or ",
    "for ",
    "x:",
    "**nil",
    "...)",
    "\\",
    "=begin\n",
    "__END__\n",
    "\u{e9}",
    "\u{0}",
];

fn compile(cx: &mut Cx, src: &[u8]) {
    let mut o = Options::file("noise.rb");
    let _ = kumi_compiler::compile_full(src, &o, cx);
    o.system = true;
    let _ = kumi_compiler::compile_method(src, &o, cx);
}

#[test]
fn token_soups_compile_or_are_refused() {
    let mut cx = Cx::new(Default::default());
    let mut d = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let n = 1 + d.below(40);
        let src: String = (0..n).map(|_| TOKENS[d.below(TOKENS.len())]).collect();
        compile(&mut cx, src.as_bytes());
    }
}

#[test]
fn damaged_programs_compile_or_are_refused() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lang");
    let mut sources: Vec<Vec<u8>> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "rb"))
        .map(|p| std::fs::read(p).unwrap())
        .collect();
    sources.sort();
    let mut cx = Cx::new(Default::default());
    let mut d = Dice(0x2545_f491_4f6c_dd1d);
    for round in 0..40 {
        for s in &sources {
            let mut s = s.clone();
            for _ in 0..1 + round % 6 {
                if s.is_empty() {
                    break;
                }
                let at = d.below(s.len());
                match d.below(5) {
                    0 => {
                        let to = (at + 1 + d.below(20)).min(s.len());
                        s.drain(at..to);
                    }
                    1 => s.splice(at..at, TOKENS[d.below(TOKENS.len())].bytes()).for_each(drop),
                    2 => s[at] = d.next() as u8,
                    3 => s.truncate(at.max(1)),
                    _ => {
                        let from = d.below(s.len());
                        let part = s[from..(from + 30).min(s.len())].to_vec();
                        s.splice(at..at, part).for_each(drop);
                    }
                }
            }
            compile(&mut cx, &s);
        }
    }
}

#[test]
fn deep_nesting_is_refused_or_compiled() {
    // As deep as the command's own stack allows.
    let t = std::thread::Builder::new().stack_size(256 << 20).spawn(|| {
        let mut cx = Cx::new(Default::default());
        for (open, close) in [
            ("(", ")"),
            ("[", "]"),
            ("{a: ", "}"),
            ("-> {", "}"),
            ("if x\n", "\nend"),
            ("!", ""),
            ("a.b(", ")"),
            ("\"#{", "}\""),
            ("def m\n", "\nend"),
        ] {
            for n in [10, 500, 5000] {
                let src = format!("{}1{}", open.repeat(n), close.repeat(n));
                compile(&mut cx, src.as_bytes());
            }
        }
        let long = "a + ".repeat(20_000) + "1";
        compile(&mut cx, long.as_bytes());
    });
    t.unwrap().join().unwrap();
}
