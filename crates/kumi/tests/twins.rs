//! A native that may hand over has a Ruby twin of the same name. What counts of arguments the native takes, the twin
//! takes too: else a call would be refused only because of what its arguments are.

use kumi_bytecode::Params;
use kumi_vm::*;
use std::collections::HashSet;

/// The least and the greatest count of positional arguments; `None`: any.
fn counts(p: &Params) -> (usize, Option<usize>) {
    let least = (p.req + p.post) as usize;
    (least, (!p.rest && !p.forward).then(|| least + p.opt_count() as usize))
}

#[test]
fn a_twin_takes_as_many_arguments_as_its_native() {
    let cx = Box::leak(kumi::assemble(Options::default()).unwrap());
    let (mut seen, mut wrong) = (0, Vec::new());
    for i in 0..cx.methods.len() {
        let m = cx.methods[i].clone();
        if m.native.is_none() {
            continue;
        }
        let Ok(Some(code)) = cx.method_code(i as u32) else { continue };
        seen += 1;
        let (least, most) = counts(&code.params);
        let native = (m.min as usize, (m.max >= 0).then_some(m.max as usize));
        // A keyword of the twin is the last argument of the native. A native that leaves some counts to its twin takes fewer.
        let keywords = !code.params.kw.is_empty() || code.params.kwrest;
        let fits = least <= native.0 && most.is_none_or(|n| native.1.is_some_and(|x| x <= n + keywords as usize));
        if !fits {
            let owner = cx.text(m.owner.val());
            wrong.push(format!("{owner} {}: native {native:?}, twin {:?}", cx.text(Value::sym(m.called)), (least, most)));
        }
    }
    assert!(seen > 250, "{seen} twins");
    assert!(wrong.is_empty(), "{} of {seen}\n{}", wrong.len(), wrong.join("\n"));
}

/// A later definition takes the earlier one's place without a word, and a second `def` in the prelude takes its native from a method.
#[test]
fn nothing_is_defined_twice() {
    let cx = Box::leak(kumi::assemble(Options::default()).unwrap());
    let mut twice = Vec::new();
    let mut seen = HashSet::new();
    for i in 0..cx.methods.len() {
        let (owner, name) = (cx.methods[i].owner, cx.methods[i].called);
        if !seen.insert((owner.val().bits(), name)) {
            twice.push(format!("{} {}", cx.class_name(owner), cx.sym_name(name)));
        }
    }
    let mut seen = HashSet::new();
    for (name, ..) in &cx.intrinsics {
        if !seen.insert(*name) {
            twice.push(format!("the intrinsic {name}"));
        }
    }
    assert!(twice.is_empty(), "{}", twice.join("\n"));
}
