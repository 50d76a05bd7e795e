//! Opening documents: what lib/kumihimo/xml/source.rb has found out about the source and checked of the options.

use crate::binding;
use crate::doc::{self, Doc, Shared};
use crate::list::list_value;
use crate::tree::{self, View};
use crate::{fail, leaf};
use kumi_core_system::io;
use kumi_flow::{Policy, Root};
use kumi_source::{Descriptor, Proxy, Source, Spec};
use kumi_vm::*;
use kumi_xml::{BindOptions, Limits};
use std::path::PathBuf;
use std::time::Duration;

pub static TABLE: &[NativeDef] = &[leaf("__xopen", 6, open), leaf("__xio_buffered", 1, buffered)];

/// What was asked for.
#[derive(Default)]
pub struct Settings {
    pub source: kumi_source::Options,
    pub bind: BindOptions,
    pub policy: Policy,
}

/// Options as `[[name, value], ...]`.
pub fn settings(cx: &mut Cx, v: Value) -> Result<Settings, Exit> {
    let mut s = Settings::default();
    for pair in cx.arg_array(&[v], 0)?.seen().to_vec() {
        let pair = cx.arg_array(&[pair], 0)?.seen().to_vec();
        let [name, value] = pair[..] else { continue };
        let name = name.as_sym().map_or(String::new(), |n| cx.sym_name(n));
        let number = value.as_fix().unwrap_or(0).max(0) as usize;
        let seconds = |cx: &mut Cx| Ok::<_, Exit>(Duration::from_secs_f64(cx.arg_f64(&[value], 0)?.clamp(0.0, 1e9)));
        let limits: &mut Limits = &mut s.bind.xml.limits;
        match &name[..] {
            "policy" => s.policy = [Policy::Adaptive, Policy::Paper, Policy::Small, Policy::Large][number.min(3)],
            "rows" => s.policy = Policy::Rows(number as u32),
            "headers" => {
                for pair in cx.arg_array(&[value], 0)?.seen().to_vec() {
                    if let [name, value] = cx.arg_array(&[pair], 0)?.seen().to_vec()[..] {
                        s.source.headers.push((cx.text(name), cx.text(value)));
                    }
                }
            }
            "encoding" => {
                let label = cx.text(value);
                match encoding_rs::Encoding::for_label(label.as_bytes()) {
                    Some(e) => s.bind.xml.encoding = Some(e),
                    None => return Err(cx.arg_error(&format!("encoding: {label:?} is unknown"))),
                }
            }
            "proxy" => {
                let url = cx.text(value);
                s.source.proxy = if url.is_empty() { Proxy::Direct } else { Proxy::Url(url) };
            }
            "lenient" => s.bind.lenient = value.truthy(),
            "decompress" => s.source.decompress = value.truthy(),
            "allow_downgrade" => s.source.allow_downgrade = value.truthy(),
            "connect_timeout" => s.source.connect_timeout = seconds(cx)?,
            "read_timeout" => s.source.read_timeout = seconds(cx)?,
            "timeout" => s.source.total_timeout = Some(seconds(cx)?),
            "backoff" => s.source.backoff = seconds(cx)?,
            "redirects" => s.source.redirects = number,
            "retries" => s.source.retries = number as u32,
            "max_ratio" => s.source.max_ratio = number as u64,
            "depth" => limits.depth = number,
            "name" => limits.name = number,
            "attributes" => limits.attributes = number,
            "tag_bytes" => limits.tag_bytes = number,
            "markup_bytes" => limits.markup_bytes = number,
            "doctype_bytes" => limits.doctype_bytes = number,
            "declarations" => limits.declarations = number,
            "entity_expansion" => limits.entity_expansion = number,
            "entity_depth" => limits.entity_depth = number,
            "namespaces" => limits.namespaces = number,
            "field" => s.bind.limits.field = number,
            "row" => s.bind.limits.row = number,
            "nesting" => s.bind.limits.nesting = number,
            _ => return Err(cx.arg_error(&format!("unknown option {name}"))),
        }
    }
    Ok(s)
}

/// `__xio_buffered(io)`: the bytes that it has read and not given, which are now ours.
fn buffered(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let io = io::reader(cx, a[0])?;
    let n = io.pending().len();
    let bytes = io.take(n);
    Ok(cx.str_enc(&bytes, EncIndex::BINARY))
}

/// `__xopen(schema, kind, source, bytes, name, options)`; kinds: 0 text, 1 path, 2 URL, 3 an IO, which has read `bytes` already,
/// 4 a feed. Gives the root element, or a native list.
fn open(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let binding = binding::binding(cx, a[0])?;
    let settings = settings(cx, a[5])?;
    let name = if a[4].is_nil() { None } else { Some(cx.text(a[4])) };
    let (mut keep, mut pushed) = (Value::NIL, false);
    let spec = match cx.arg_i64(a, 1)? {
        0 => Spec::Bytes(cx.arg_str(a, 2)?.bytes().into()),
        1 => {
            use std::os::unix::ffi::OsStringExt;
            Spec::Path(PathBuf::from(std::ffi::OsString::from_vec(cx.arg_path(a, 2)?.bytes().to_vec())))
        }
        2 => Spec::Url(cx.text(a[2])),
        3 => {
            keep = a[2];
            let fd = io::reader(cx, a[2])?.fd;
            let initial = cx.arg_str(a, 3)?.bytes().to_vec();
            Spec::Fd { fd: Descriptor::Borrowed(fd), initial, name }
        }
        _ => {
            (keep, pushed) = (a[2], true);
            Spec::Pushed
        }
    };
    let source = match Source::open(spec, settings.source) {
        Ok(s) => s,
        Err(e) => return Err(fail::source(cx, e)),
    };
    let name = source.name().to_string();
    let shared = cx.shared_state::<Shared>();
    let registry = shared.registry(cx);
    let document = registry.open(source, binding.schema.clone(), kumi_flow::Options { bind: settings.bind, policy: settings.policy });
    let object = cx.k.object;
    let origin = doc::origin(cx, binding.clone(), a[0], &name, document.producer.root().clone());
    cx.heap.publish(keep);
    let doc = cx.data(object, Doc::new(document.producer.clone(), origin, keep, pushed));
    shared.watch(cx);
    Ok(match document.root {
        Root::Node(node) => tree::view(cx, View::node(binding, doc, node)),
        Root::List(list) => list_value(cx, list, doc, binding),
    })
}
