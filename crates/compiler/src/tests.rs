//! The compiler, seen from its results: listings of small programs, every piece of
//! grammar, and (when `KUMI_RUBY_FILES` names a directory) every file below it.

use super::*;
use kumi_bytecode::{Catch, disassemble};
use std::collections::HashMap;

/// Interns into a list of its own; symbol 0 is the empty name.
struct Names {
    list: Vec<Vec<u8>>,
    index: HashMap<Vec<u8>, u32>,
}

impl Names {
    fn new() -> Names {
        Names { list: vec![Vec::new()], index: HashMap::from([(Vec::new(), 0)]) }
    }
}

impl CompileEnv for Names {
    fn intern(&mut self, name: &[u8]) -> Sym {
        if let Some(&i) = self.index.get(name) {
            return Sym(i);
        }
        self.list.push(name.to_vec());
        let i = self.list.len() as u32 - 1;
        self.index.insert(name.to_vec(), i);
        Sym(i)
    }
    fn name(&self, s: Sym) -> Vec<u8> {
        self.list.get(s.0 as usize).cloned().unwrap_or_default()
    }
    fn intrinsic(&self, name: &str) -> Option<u16> {
        (name == "__test" || name.starts_with("__walk_") || name.starts_with("__no_pattern")).then_some(7)
    }
}

fn listing(src: &str) -> String {
    let mut n = Names::new();
    match compile(src.as_bytes(), &Options::file("t.rb"), &mut n) {
        Ok(i) => {
            verify(&i, src);
            disassemble(&i, &|s| String::from_utf8_lossy(&n.name(s)).into_owned())
        }
        Err(e) => panic!("{src}\n{}", e.rendered),
    }
}

/// The instructions of the first body, blanks squeezed.
fn code(src: &str) -> Vec<String> {
    listing(src)
        .lines()
        .skip(1)
        .take_while(|l| !l.starts_with("=="))
        .filter(|l| l.len() > 10 && l.as_bytes()[5].is_ascii_digit())
        .map(|l| l[10..].split(" ; ").next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

fn method(src: &str) -> Arc<ISeq> {
    let mut n = Names::new();
    compile_method(src.as_bytes(), &Options::file("t.rb"), &mut n).unwrap()
}

#[test]
fn arithmetic_uses_registers_and_immediates() {
    assert_eq!(code("a = 1; a = a + 2; a - a"), ["Int R1 1", "AddI R1 R1 2", "Sub R2 R1 R1", "Ret R2"]);
}

#[test]
fn operands_are_copied_when_later_code_assigns_them() {
    assert_eq!(code("a = 1; a + (a = 2)"), ["Int R1 1", "Move R2 R1", "Int R1 2", "Move R3 R1", "Add R2 R2 R3", "Ret R2"]);
}

#[test]
fn the_last_of_several_values_goes_to_its_local_at_once() {
    assert_eq!(code("a = b = 1; a, b = b, a + b; nil")[3..], ["Move R3 R2", "Add R2 R1 R2", "Move R1 R3", "Nil R3", "Ret R3"]);
    assert_eq!(code("a = b = 1; a, a = 1, 2; nil")[3..], ["Int R3 1", "Int R4 2", "Move R1 R3", "Move R1 R4", "Nil R3", "Ret R3"]);
}

#[test]
fn fib_has_one_fused_branch() {
    let l = listing("def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)");
    assert!(l.contains("JLtI"), "{l}");
    assert!(l.contains("SubI"), "{l}");
    assert!(!l.contains("Jmp "), "{l}");
}

#[test]
fn while_tests_at_the_bottom() {
    assert_eq!(code("i = 0; while i < 10; i += 1; end; i"), ["Int R1 0", "Jmp 0004", "AddI R1 R1 1", "JLtI R1 10 true 0002", "Ret R1"]);
}

#[test]
fn calls_build_windows_above_the_temporaries() {
    assert_eq!(
        code("foo(1, bar)"),
        ["Move R8 R0", "Int R9 1", "Move R17 R0", "Send R10 R17 bar/0 fcall vcall", "Send R1 R8 foo/2 fcall", "Ret R1"]
    );
}

#[test]
fn captured_locals_live_in_the_environment() {
    let l = listing("x = 1; y = 2; [1].each { x += y }");
    assert!(l.contains("env x y"), "{l}");
    assert!(l.contains("EnvNew       2"), "{l}");
    assert!(l.contains("slot 0 up 0"), "{l}");
    let l = listing("x = 1; [1].each { |a| a }; x");
    assert!(!l.contains("EnvNew"), "{l}");
}

#[test]
fn binding_captures_every_local() {
    let l = listing("def m(a)\n b = 1\n [1].each { |c| binding }\nend");
    assert!(l.contains("env a b"), "{l}");
    assert!(l.contains("env c"), "{l}");
    assert!(l.contains("match Env"), "{l}");
}

#[test]
fn optional_parameters_have_entries() {
    let i = method("def m(a, b = a, c = b, *d, e, f:, g: f, **h, &i) = [a, b, c, d, e, f, g, h, i]");
    assert_eq!(i.params.opt.len(), 3);
    assert_eq!((i.params.req, i.params.post, i.params.rest, i.params.kwrest), (1, 1, true, true));
    assert_eq!(i.params.kw.len(), 2);
    assert!(i.params.block);
    let i = method("def m(a = 1) = -> { a }");
    assert!(i.has_env && i.params.opt.len() == 2);
}

#[test]
fn ensure_does_not_cover_itself() {
    let i = method("def m\n begin\n  return 1\n ensure\n  foo\n end\nend");
    let ensures: Vec<_> = i.handlers.iter().filter(|h| h.catch == Catch::Ensure).collect();
    assert!(!ensures.is_empty());
    let rets: Vec<u32> = (0..i.code.len() as u32).filter(|&p| i.insn(p as usize).op() == kumi_bytecode::Op::Ret).collect();
    assert!(rets.iter().all(|r| ensures.iter().all(|h| !(h.from <= *r && *r < h.to))));
}

#[test]
fn match_slot_is_found_from_blocks() {
    let l = listing("def m(s)\n s.each { |x| x =~ /a/; $1 }\nend");
    assert!(l.contains("Env { depth: 0, slot: 0 }"), "{l}");
    let l = listing("def m(s)\n s =~ /a/\n $~\nend");
    assert!(l.contains("match Reg"), "{l}");
}

#[test]
fn long_literals_need_few_registers() {
    let list: Vec<String> = (0..10_000).map(|i| i.to_string()).collect();
    let mut n = Names::new();
    let i = compile(format!("[{}]", list.join(",")).as_bytes(), &Options::file("t"), &mut n).unwrap();
    assert!(i.nregs < 300);
    let pairs: Vec<String> = (0..10_000).map(|i| format!("{i}=>{i}")).collect();
    let i = compile(format!("{{{}}}", pairs.join(",")).as_bytes(), &Options::file("t"), &mut n).unwrap();
    assert!(i.nregs < 300);
    let i = compile(format!("\"{}\"", "#{a}-".repeat(10_000)).as_bytes(), &Options::file("t"), &mut n).unwrap();
    assert!(i.nregs < 300);
    let i = compile(format!("f({})", list.join(",")).as_bytes(), &Options::file("t"), &mut n).unwrap();
    assert!(i.nregs < 300);
}

#[test]
fn far_jumps_are_compiled_again() {
    let body = "foo(1, 2, 3)\n".repeat(8_000);
    listing(&format!("a = 1\nif a < 2\n{body}end\nwhile a > 3\n{body}end"));
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    let run = |src: String| {
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn(move || {
                let mut n = Names::new();
                let _ = compile(src.as_bytes(), &Options::file("t"), &mut n);
            })
            .unwrap()
            .join()
            .unwrap();
    };
    run(format!("{}1{}", "[".repeat(9_000), "]".repeat(9_000)));
    run(format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000)));
    run(format!("a{}", " + 1".repeat(50_000)));
    run(format!("a{}", ".b".repeat(50_000)));
    run(format!("a{}", "[0]".repeat(50_000)));
    run(format!("a{}", " && b".repeat(50_000)));
    run(format!("a{}", "::B".repeat(50_000)));
    run(format!("a{}", " if b".repeat(50_000)));
    run(format!("a{}", " rescue b".repeat(50_000)));
    run(format!("{}1", "a = ".repeat(9_000)));
    run(format!("{}1{}", "foo { ".repeat(3_000), " }".repeat(3_000)));
    run(format!("case 1; in {}1{}; end", "[".repeat(5_000), "]".repeat(5_000)));
    run(format!("case 1; in 1{}; end", " | 1".repeat(50_000)));
    run(format!("!{}1", "!".repeat(20_000)));
}

#[test]
fn syntax_errors_show_the_source() {
    let mut n = Names::new();
    let Err(e) = compile(b"foo(", &Options::file("t.rb"), &mut n) else { panic!("compiled") };
    assert!(e.rendered.starts_with("t.rb:1: syntax error"), "{}", e.rendered);
    assert!(e.rendered.contains("(SyntaxError)\n> 1 | foo(\n    |     ^ "), "{}", e.rendered);
    assert!(!e.messages.is_empty());
}

#[test]
fn intrinsics_only_in_system_mode() {
    let mut n = Names::new();
    let mut o = Options::file("p.rb");
    assert!(!listing("__test(1)").contains("Intrinsic"));
    o.system = true;
    let i = compile(b"__test(1, 2)", &o, &mut n).unwrap();
    assert!(disassemble(&i, &|_| String::new()).contains("#7 x2"));
    assert!(compile(b"__test(*a)", &o, &mut n).is_err());
    assert!(compile(b"__test(1) { }", &o, &mut n).is_err());
}

#[test]
fn eval_reaches_the_binding() {
    let mut n = Names::new();
    let x = n.intern(b"x");
    let y = n.intern(b"y");
    let outer = Arc::new(ScopeNames { names: vec![Sym(0), y], parent: None, match_slot: Some(0), params: Vec::new(), implicit: None });
    let inner = Arc::new(ScopeNames { names: vec![x], parent: Some(outer), match_slot: None, params: Vec::new(), implicit: None });
    let mut o = Options::file("(eval)");
    o.kind = Kind::Eval;
    o.scope = Some(inner);
    let i = compile(b"z = x + y; [1].each { y = z }; $1", &o, &mut n).unwrap();
    let l = disassemble(&i, &|s| String::from_utf8_lossy(&n.name(s)).into_owned());
    assert!(l.contains("env z"), "{l}");
    assert!(l.contains("slot 0 up 1"), "{l}");
    assert!(l.contains("slot 1 up 2"), "{l}");
    assert!(l.contains("match Env { depth: 2, slot: 0 }"), "{l}");
}

/// One snippet a line, each compiled on its own.
const GRAMMAR: &str = include_str!("tests_grammar.rb");

#[test]
fn every_piece_of_grammar_compiles() {
    for s in GRAMMAR.split("\n----\n") {
        let s = s.trim();
        if !s.is_empty() {
            listing(s);
        }
    }
}

#[test]
fn all_files_below_a_directory() {
    let Ok(dirs) = std::env::var("KUMI_RUBY_FILES") else {
        println!("KUMI_RUBY_FILES is not set: nothing to compile");
        return;
    };
    let mut stack: Vec<std::path::PathBuf> = dirs.split(':').map(Into::into).collect();
    let mut files = Vec::new();
    while let Some(d) = stack.pop() {
        for e in std::fs::read_dir(&d).into_iter().flatten().flatten() {
            let p = e.path();
            match e.file_type() {
                Ok(t) if t.is_dir() => stack.push(p),
                Ok(t) if t.is_file() && p.extension().is_some_and(|x| x == "rb") => files.push(p),
                _ => {}
            }
        }
    }
    let total = files.len();
    let failed = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(move || {
            let mut n = Names::new();
            let mut failed = Vec::new();
            for f in files {
                let Ok(src) = std::fs::read(&f) else { continue };
                match compile(&src, &Options::file(&f.to_string_lossy()), &mut n) {
                    Ok(i) => {
                        verify(&i, &f.to_string_lossy());
                        disassemble(&i, &|_| String::new());
                    }
                    Err(e) => failed.push(format!("{}: {:?}", f.display(), e.messages.first())),
                }
            }
            failed
        })
        .unwrap()
        .join()
        .expect("the compiler panicked");
    println!("{total} files, {} refused", failed.len());
    for f in failed {
        println!("{f}");
    }
}

/// Structural soundness: indices in range, jumps to instruction starts, no fall off the end.
fn verify(i: &ISeq, path: &str) {
    use kumi_bytecode::{HEADER, Op};
    let mut starts = vec![false; i.code.len() + 1];
    let mut pc = 0;
    let mut last = None;
    while pc < i.code.len() {
        starts[pc] = true;
        let n = i.insn(pc);
        last = Some(n.op());
        pc += 1 + n.op().cached() as usize;
    }
    assert_eq!(pc, i.code.len());
    assert!(
        matches!(last, Some(Op::Ret | Op::Raise | Op::Jmp | Op::Break | Op::RetHome)),
        "{path}: {} falls off its end after {last:?}",
        i.label
    );
    let reg = |r: usize| assert!(r < i.nregs as usize, "{path}: register {r} of {} in {}", i.nregs, i.label);
    let sym = |s: usize| assert!(s < i.syms.len(), "{path}: name {s}");
    let mut pc = 0;
    while pc < i.code.len() {
        let n = i.insn(pc);
        let next = pc as i64 + 1 + n.op().cached() as i64;
        let land = |off: i64| {
            let t = next + off;
            assert!(t >= 0 && (t as usize) < i.code.len() && starts[t as usize], "{path}: jump from {pc} to {t}");
        };
        let (a, b, c) = (n.a(), n.b(), n.c());
        match n.op() {
            Op::Nop | Op::EnvNew => {}
            Op::Nil
            | Op::True
            | Op::False
            | Op::Undef
            | Op::Int
            | Op::Ret
            | Op::Break
            | Op::RetHome
            | Op::ErrGet
            | Op::ErrSet
            | Op::MatchSet
            | Op::Raise
            | Op::BlockProc
            | Op::BlockRaw
            | Op::BlockGiven
            | Op::EnvGet
            | Op::EnvSet
            | Op::UndefMethod
            | Op::NthRef
            | Op::BackRef => reg(a),
            Op::Lit | Op::Str => {
                reg(a);
                assert!((n.bc() as usize) < i.lits.len());
            }
            Op::IvarGet | Op::IvarSet | Op::CvarGet | Op::CvarSet | Op::GlobalGet | Op::GlobalSet | Op::ConstGet | Op::ConstTop => {
                reg(a);
                sym(n.bc() as usize);
            }
            Op::ConstAt => {
                reg(a);
                reg(b);
                sym(c);
            }
            Op::ConstSet => {
                reg(a);
                sym(c);
            }
            Op::Jmp => land(n.bc() as i64),
            Op::JmpIf | Op::JmpUnless | Op::JmpNil | Op::JmpSet => {
                reg(a);
                land(n.bc() as i64);
            }
            Op::JLt | Op::JLe | Op::JGt | Op::JGe | Op::JEq => {
                reg(a);
                reg(b);
                land(n.sc() as i64);
            }
            Op::JLtI | Op::JLeI | Op::JGtI | Op::JGeI | Op::JEqI | Op::JNeI => {
                reg(a);
                land(n.sc() as i64);
            }
            Op::Send | Op::Super | Op::Yield => {
                reg(a);
                assert!(b > HEADER as usize, "{path}: window at {b}");
                let s = &i.sites[c];
                let mut args = s.argc as usize + s.kw.len();
                args += (s.flags & kumi_bytecode::site::KWSPLAT != 0) as usize;
                args += (s.flags & kumi_bytecode::site::BLOCK_ARG != 0) as usize;
                assert!(s.flags & kumi_bytecode::site::SPLAT == 0 || s.argc == 1);
                assert!(s.flags & kumi_bytecode::site::KWSPLAT == 0 || s.kw.is_empty());
                reg(b + args);
                if let Some(bl) = s.block {
                    assert!((bl as usize) < i.children.len());
                }
            }
            Op::DefMethod | Op::DefSingleton => {
                reg(a);
                assert!(b < i.children.len());
                sym(c);
            }
            Op::ClassDef => {
                reg(a);
                reg(b + 1);
                assert!((i.bodies[c].child as usize) < i.children.len());
            }
            Op::Closure => {
                reg(a);
                assert!(b < i.children.len());
            }
            Op::AliasGlobal => {
                sym(b);
                sym(c);
            }
            Op::Array | Op::Hash | Op::Concat | Op::Regex => {
                reg(a);
                if c > 0 {
                    reg(b + c - 1);
                }
            }
            Op::OnceGet => {
                assert!(b < i.once.len());
                land(n.sc() as i64);
            }
            Op::OnceSet => assert!(b < i.once.len()),
            Op::Defined => reg(a),
            Op::Move
            | Op::AddI
            | Op::SubI
            | Op::Neg
            | Op::Not
            | Op::ToS
            | Op::Intern
            | Op::ToAry
            | Op::ArrAt
            | Op::ArrRest
            | Op::ArrPost
            | Op::AliasMethod
            | Op::ArrPush
            | Op::ArrCat
            | Op::HashMerge
            | Op::Splat => {
                reg(a);
                reg(b);
            }
            Op::Intrinsic => {
                reg(a);
                reg((b + n.x() as usize).saturating_sub(1));
            }
            _ => {
                reg(a);
                reg(b);
                reg(c);
            }
        }
        pc += 1 + n.op().cached() as usize;
    }
    for h in &i.handlers {
        assert!(h.from < h.to && starts[h.from as usize] && starts[h.to as usize] && starts[h.target as usize]);
        reg(h.reg as usize);
        assert!(!(h.from <= h.target && h.target < h.to), "{path}: handler covers itself");
    }
    for &o in &i.params.opt {
        assert!(starts[o as usize]);
    }
    for c in &i.children {
        verify(c, path);
    }
}

/// Listing lines that say where something is certainly born.
fn births(src: &str) -> Vec<String> {
    let text = listing(src);
    let marked = text.lines().filter(|l| l.contains(" ; "));
    marked.map(|l| l[5..].split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn what_a_block_certainly_stores_is_known() {
    assert_eq!(births("$a = [1]"), ["0001 Array R1 R2 x1 ; shared by 0002"]);
    assert_eq!(births("A = {}"), ["0000 Hash R1 R1 x0 ; shared by 0001"]);
    assert_eq!(births("@a = 'x'"), ["0000 Str R1 \"x\" ; field by 0001"]);
    assert_eq!(births("@a = $b = ''"), ["0000 Str R1 \"\" ; shared by 0001"]);
    assert_eq!(births("$a = [['x']]").len(), 3);
    // Only calls named `new` make something, as far as is known.
    assert_eq!(births("@a = Foo.new").len(), 1);
    assert_eq!(births("@a = foo"), [""; 0]);
}

#[test]
fn what_may_go_elsewhere_is_not_certain() {
    assert_eq!(births("x = []; $a = x if y"), [""; 0]);
    assert_eq!(births("x = []; x = 1; $a = x"), [""; 0]);
    assert_eq!(births("$a = (y ? [] : 1)"), [""; 0]);
    assert_eq!(births("begin; x = []; rescue; ensure; $a = x; end"), [""; 0]);
    assert_eq!(births("x = []; y(x)"), [""; 0]);
}
