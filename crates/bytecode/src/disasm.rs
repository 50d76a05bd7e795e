//! Readable listings of compiled code (`kumi --dump=insns`).

use crate::{ISeq, Lit, site};
use crate::{Insn, NO_REG, Op};
use kumi_heap::Sym;
use std::fmt::Write;

/// Lists `iseq` and everything nested in it. `name` gives a symbol's text.
pub fn disassemble(iseq: &ISeq, name: &dyn Fn(Sym) -> String) -> String {
    let mut out = String::new();
    list(iseq, name, &mut out, 0);
    out
}

fn list(i: &ISeq, name: &dyn Fn(Sym) -> String, out: &mut String, depth: usize) {
    if depth > 200 {
        return;
    }
    let blocks = if i.block_depth > 0 { format!(" block {}", i.block_depth) } else { String::new() };
    let _ = writeln!(out, "== {:?} {}{blocks} ({}:{}) registers {}", i.kind, i.label, i.path, i.line, i.nregs);
    if !i.env_names.is_empty() {
        let names: Vec<String> = i.env_names.iter().map(|&s| if s.0 == 0 { "-".into() } else { name(s) }).collect();
        let _ = writeln!(out, "   env {}", names.join(" "));
    }
    if let Some(m) = i.match_slot {
        let _ = writeln!(out, "   match {m:?}");
    }
    let p = &i.params;
    if !p.names.is_empty() {
        let names: Vec<String> = p.names.iter().map(|n| n.map_or("-".into(), name)).collect();
        let _ = writeln!(
            out,
            "   params {} (req {} opt {:?}{} post {} kw {}{}{})",
            names.join(" "),
            p.req,
            p.opt,
            if p.rest { " rest" } else { "" },
            p.post,
            p.kw.len(),
            if p.kwrest { " kwrest" } else { "" },
            if p.block { " block" } else { "" },
        );
    }
    let mut pc = 0usize;
    let mut line = 0;
    while pc < i.code.len() {
        let insn = i.insn(pc);
        let l = i.line_at(pc as u32);
        let mark = if l != line { format!("{l:>4}") } else { "    ".into() };
        line = l;
        let plain = insn.original();
        let mut text = instruction(i, plain, pc, name);
        if plain != insn {
            text += " ; born outside";
        } else if let Ok(k) = i.births.binary_search_by_key(&(pc as u32), |b| b.made) {
            let b = &i.births[k];
            let place = if b.place == crate::Stored::Shared { "shared" } else { "field" };
            let _ = write!(text, " ; {place} by {:04}", b.stored);
        }
        let _ = writeln!(out, "{mark} {pc:04} {text}");
        pc += 1 + insn.op().cached() as usize;
    }
    for h in &i.handlers {
        let _ = writeln!(out, "   {:?} {:04}..{:04} -> {:04} R{}", h.catch, h.from, h.to, h.target, h.reg);
    }
    for c in &i.children {
        list(c, name, out, depth + 1);
    }
}

fn lit(l: &Lit, name: &dyn Fn(Sym) -> String) -> String {
    match l {
        Lit::Int(i) => i.to_string(),
        Lit::Big(n) => n.to_string(),
        Lit::Float(f) => format!("{f:?}"),
        Lit::Rational(a, b) => format!("({a}/{b})"),
        Lit::Imaginary(l) => format!("{}i", lit(l, name)),
        Lit::Str(b, _) => format!("{:?}", String::from_utf8_lossy(b)),
        Lit::FrozenStr(b, _) => format!("{:?}.freeze", String::from_utf8_lossy(b)),
        Lit::Sym(s) => format!(":{}", name(*s)),
        Lit::Regex(b, o, _) => format!("/{}/{o}", String::from_utf8_lossy(b)),
        Lit::Range(a, b, x) => format!("({}{}{})", lit(a, name), if *x { "..." } else { ".." }, lit(b, name)),
        Lit::Nil => "nil".into(),
        Lit::True => "true".into(),
        Lit::False => "false".into(),
    }
}

fn call(i: &ISeq, c: usize, name: &dyn Fn(Sym) -> String) -> String {
    let Some(s) = i.sites.get(c) else { return "?".into() };
    let mut t = format!("{}/{}", name(s.mid), s.argc);
    for k in s.kw.iter() {
        let _ = write!(t, " {}:", name(*k));
    }
    let flags: &[(u16, &str)] = &[
        (site::FCALL, "fcall"),
        (site::VCALL, "vcall"),
        (site::SELF, "self"),
        (site::SPLAT, "splat"),
        (site::KWSPLAT, "kwsplat"),
        (site::BLOCK_ARG, "&"),
        (site::ASSIGN, "assign"),
        (site::ZSUPER, "zsuper"),
        (site::KW_ANON, "kwanon"),
        (site::IN_BLOCK, "inblock"),
        (site::PASSED, "passed"),
    ];
    for (bit, n) in flags {
        if s.flags & bit != 0 {
            let _ = write!(t, " {n}");
        }
    }
    if let Some(b) = s.block {
        let _ = write!(t, " block#{b}");
    }
    t
}

fn reg(r: usize) -> String {
    if r == NO_REG as usize { "-".into() } else { format!("R{r}") }
}

fn instruction(i: &ISeq, n: Insn, pc: usize, name: &dyn Fn(Sym) -> String) -> String {
    let op = n.op();
    let (a, b, c, x) = (n.a(), n.b(), n.c(), n.x());
    let sym = |k: usize| i.syms.get(k).map_or("?".to_string(), |&s| name(s));
    let next = pc as i64 + 1 + op.cached() as i64;
    let rest = match op {
        Op::Nop => String::new(),
        Op::Move | Op::Neg | Op::Not | Op::ToS | Op::Intern | Op::ToAry | Op::AliasMethod | Op::ArrPush | Op::ArrCat | Op::HashMerge => {
            format!("R{a} R{b}")
        }
        Op::Nil
        | Op::True
        | Op::False
        | Op::Undef
        | Op::Ret
        | Op::Break
        | Op::RetHome
        | Op::BlockProc
        | Op::BlockRaw
        | Op::BlockGiven
        | Op::Raise
        | Op::ErrGet
        | Op::ErrSet
        | Op::MatchSet
        | Op::UndefMethod => format!("R{a}"),
        Op::Int => format!("R{a} {}", n.bc()),
        Op::Lit | Op::Str => {
            format!("R{a} {}", i.lits.get(n.bc() as usize).map_or("?".into(), |l| lit(l, name)))
        }
        Op::EnvNew => format!("{a}"),
        Op::EnvGet | Op::EnvSet => format!("R{a} slot {b} up {c}"),
        Op::IvarGet | Op::IvarSet | Op::CvarGet | Op::CvarSet | Op::GlobalGet | Op::GlobalSet | Op::ConstGet | Op::ConstTop => {
            format!("R{a} {}", sym(n.bc() as usize))
        }
        Op::ConstAt | Op::ConstSet => format!("R{a} {} {}", reg(b), sym(c)),
        Op::AddI | Op::SubI => format!("R{a} R{b} {}", n.sc()),
        Op::Jmp => format!("{:04}", next + n.bc() as i64),
        Op::JmpIf | Op::JmpUnless | Op::JmpNil | Op::JmpSet => format!("R{a} {:04}", next + n.bc() as i64),
        Op::JLt | Op::JLe | Op::JGt | Op::JGe | Op::JEq => {
            format!("R{a} R{b} {} {:04}", x != 0, next + n.sc() as i64)
        }
        Op::JLtI | Op::JLeI | Op::JGtI | Op::JGeI | Op::JEqI | Op::JNeI => {
            format!("R{a} {} {} {:04}", n.sb(), x != 0, next + n.sc() as i64)
        }
        Op::Send | Op::Super | Op::Yield => format!("R{a} R{b} {}", call(i, c, name)),
        Op::Intrinsic => format!("R{a} R{b} #{c} x{x}"),
        Op::DefMethod => format!("R{a} {} child#{b}", sym(c)),
        Op::DefSingleton => format!("R{a} {} child#{b}", sym(c)),
        Op::ClassDef => {
            let body = i.bodies.get(c);
            format!("R{a} R{b} kind {x} {}", body.map_or("?".into(), |d| format!("{} child#{}", name(d.name), d.child)))
        }
        Op::AliasGlobal => format!("{} {}", sym(b), sym(c)),
        Op::Array | Op::Hash | Op::Concat => format!("R{a} R{b} x{c}"),
        Op::Regex => format!("R{a} R{b} x{c} flags {x}"),
        Op::Splat => format!("R{a} R{b}{}", if x != 0 { " copy" } else { "" }),
        Op::Range => format!("R{a} R{b} R{c}{}", if x != 0 { " exclusive" } else { "" }),
        Op::Closure => format!("R{a} child#{b}{}", if x != 0 { " lambda" } else { "" }),
        Op::ArrAt => format!("R{a} R{b} [{c}]"),
        Op::ArrRest => format!("R{a} R{b} [{c}..-{}]", x as u32 + 1),
        Op::ArrPost => format!("R{a} R{b} {x} of {} after {}", c & 255, c >> 8),
        Op::Defined => format!("R{a} kind {x} {} {c}", reg(b)),
        Op::OnceGet => format!("R{a} once {b} {:04}", next + n.sc() as i64),
        Op::OnceSet => format!("R{a} once {b}"),
        Op::NthRef => format!("R{a} ${}", n.bc()),
        Op::BackRef => format!("R{a} {x}"),
        _ => format!("R{a} R{b} R{c}"),
    };
    format!("{:<12} {rest}", op.name()).trim_end().to_string()
}
