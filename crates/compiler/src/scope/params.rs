//! Parameters as written, in the order of their registers.

use crate::scope::{IT, Name};
use kumi_bytecode::ParamKind;
use ruby_prism::*;

/// One parameter: it owns a register of its frame.
#[derive(Clone, Debug)]
pub struct Param {
    pub kind: ParamKind,
    pub name: Name,
}

/// The parameters of a scope as written.
#[derive(Clone, Debug, Default)]
pub struct ParamList {
    pub list: Vec<Param>,
    pub excess_comma: bool,
    pub no_kw: bool,
    pub forward: bool,
    pub numbered: u8,
    pub it: bool,
}

/// Lists the parameters of a method, block or lambda in register order.
pub fn param_list(p: &ParametersNode<'_>) -> ParamList {
    let mut out = ParamList::default();
    let positional = |n: &Node<'_>, kind: ParamKind, list: &mut Vec<Param>| {
        let name = match n {
            Node::RequiredParameterNode { .. } => n.as_required_parameter_node().map(|r| r.name().as_slice().to_vec()).unwrap_or_default(),
            other => destructured(other.location().start()),
        };
        list.push(Param { kind, name });
    };
    for n in p.requireds().iter() {
        positional(&n, ParamKind::Req, &mut out.list);
    }
    for n in p.optionals().iter() {
        if let Some(o) = n.as_optional_parameter_node() {
            out.list.push(Param { kind: ParamKind::Opt, name: o.name().as_slice().to_vec() });
        }
    }
    let keyword_rest = p.keyword_rest();
    out.forward = matches!(keyword_rest, Some(Node::ForwardingParameterNode { .. }));
    match p.rest() {
        Some(n) => match n.as_rest_parameter_node() {
            Some(r) => {
                let name = r.name().map_or(b"*".to_vec(), |n| n.as_slice().to_vec());
                out.list.push(Param { kind: ParamKind::Rest, name });
            }
            None => out.excess_comma = true,
        },
        None if out.forward => out.list.push(Param { kind: ParamKind::Rest, name: b"*".to_vec() }),
        None => {}
    }
    for n in p.posts().iter() {
        positional(&n, ParamKind::Post, &mut out.list);
    }
    for n in p.keywords().iter() {
        if let Some(k) = n.as_required_keyword_parameter_node() {
            out.list.push(Param { kind: ParamKind::KwReq, name: k.name().as_slice().to_vec() });
        } else if let Some(k) = n.as_optional_keyword_parameter_node() {
            out.list.push(Param { kind: ParamKind::KwOpt, name: k.name().as_slice().to_vec() });
        }
    }
    match keyword_rest {
        Some(Node::NoKeywordsParameterNode { .. }) => out.no_kw = true,
        Some(ref n) => {
            let name = n.as_keyword_rest_parameter_node().and_then(|k| k.name()).map_or(b"**".to_vec(), |n| n.as_slice().to_vec());
            out.list.push(Param { kind: ParamKind::KwRest, name });
        }
        None => {}
    }
    match p.block().and_then(|b| b.as_block_parameter_node()) {
        Some(b) => {
            let name = b.name().map_or(b"&".to_vec(), |n| n.as_slice().to_vec());
            out.list.push(Param { kind: ParamKind::Block, name });
        }
        None if out.forward => out.list.push(Param { kind: ParamKind::Block, name: b"&".to_vec() }),
        None => {}
    }
    out
}

/// Parameters of a block or lambda (`|a, b|`, numbered, `it`).
pub fn block_param_list(p: Option<&Node<'_>>) -> ParamList {
    let mut out = ParamList::default();
    match p {
        Some(n @ Node::BlockParametersNode { .. }) => {
            if let Some(ps) = n.as_block_parameters_node().and_then(|b| b.parameters()) {
                out = param_list(&ps);
            }
        }
        Some(n @ Node::NumberedParametersNode { .. }) => {
            let max = n.as_numbered_parameters_node().map_or(0, |n| n.maximum());
            out.numbered = max;
            for i in 1..=max {
                out.list.push(Param { kind: ParamKind::Req, name: format!("_{i}").into_bytes() });
            }
        }
        Some(Node::ItParametersNode { .. }) => {
            out.it = true;
            out.list.push(Param { kind: ParamKind::Req, name: IT.to_vec() });
        }
        _ => {}
    }
    out
}

/// Hidden name of the parameter that is taken apart at `offset`.
pub fn destructured(offset: u32) -> Name {
    format!("\0m{offset}").into_bytes()
}
