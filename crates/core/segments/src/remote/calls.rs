//! Calls of other nodes' managers, from Ruby.
//!
//! **Invariant.** A call's object holds it until Ruby has its result; dropped before, the call is left, and what was taken for it
//! comes back.

use super::{Call as Pending, Ended, Here, Numbers, Owner, Remote};
use crate::cell::Cell;
use crate::encode::{self, FILL, Large, Later};
use crate::keys::name_value;
use crate::leaf;
use crate::put::{OWNED, UPDATE, how};
use crate::state::{Made, made};
use crate::wait::{FILL_HELD, Shown, after, fail, kind, not_shared};
use kumi_segments::{
    Act, Ask, Back, Call, Done, Failure, INPUTS, Kind, OUTPUTS, Put, Refusal, RemoteSegment, Rule, Rules, Store, Stored, Time, Trouble,
};
use kumi_vm::*;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::sync::Arc;

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_link", 8, link),
    leaf("__seg_unlink", 0, unlink),
    leaf("__seg_rules", 1, rules),
    leaf("__seg_certificates", 3, certificates),
    leaf("__seg_peer", 1, peer),
    leaf("__seg_engine_name", 1, engine_name),
    leaf("__seg_engine_close", 1, engine_close),
    leaf("__seg_call_put", 7, call_put),
    leaf("__seg_call_put_some", 6, call_put_some),
    leaf("__seg_call_get", 4, call_get),
    leaf("__seg_ready", 3, ready),
    leaf("__seg_call_commit", 3, call_commit),
    leaf("__seg_call_give_back", 4, call_give_back),
    leaf("__seg_call_extend", 3, call_extend),
    leaf("__seg_call_about", 3, call_about),
    leaf("__seg_call_wait", 3, call_wait),
    leaf("__seg_call_leave", 1, call_leave),
    leaf("__seg_nodes", 0, nodes),
    leaf("__seg_address", 0, address),
    leaf("__seg_place", 2, place),
    leaf("__seg_topology", 4, topology),
    leaf("__seg_refused", 0, refused_connections),
    leaf("__seg_news", 0, super::member::next),
    leaf("__seg_encoder", 0, super::encoder::run),
];

/// The longest message, as `kumi_link::Limits` has it.
const MESSAGE_BYTES: usize = 64 << 20;

/// The longest name of a key, as `kumi_segments::NodeOptions` has it.
const KEY_BYTES: usize = 1024;

/// So many puts at most are begun by one native, of so many bytes.
const TOGETHER: usize = 32;
const TOGETHER_BYTES: usize = 16 << 10;

/// This node among others, if it is.
pub fn remote(cx: &mut Cx) -> Result<Arc<Remote>, Exit> {
    let found = cx.shared_state::<Here>().0.lock().clone();
    match found {
        Some(r) if r.is_forked() => Err(fail(cx, "Kumihimo::Segments::NotConnected", super::FORKED)),
        Some(r) => Ok(r),
        None => {
            let msg = "this program is no node of a cluster: start it by kumi node or kumi run --nodes, or call Kumihimo::Segments.listen";
            Err(fail(cx, "Kumihimo::Segments::NotConnected", msg))
        }
    }
}

/// The payload of an owner's proxy.
pub struct OwnerData(pub Owner);
impl Payload for OwnerData {
    fn shares(&self) -> bool {
        true
    }
    fn constant(&self) -> bool {
        true
    }
}

/// The payload of a call.
struct CallData {
    owner: Owner,
    call: Arc<Pending>,
    /// Which of the segments that it asks for are only looked at.
    peeks: Box<[bool]>,
    /// It takes something without a lease.
    takes: bool,
    /// The end of a key stays where it is.
    spares: Option<&'static Made>,
    /// What is done, and to which key: of several, to all of them.
    about: (&'static str, SmallVec<[u8; 32]>),
    /// None: nobody waits for it any more.
    numbers: Mutex<Numbers>,
}
impl CallData {
    /// What it has come to, if it may be used.
    fn ended(&self) -> Option<Ended> {
        let r = self.call.take()?;
        if let (Some(made), Ok(Done::Segments(s))) = (self.spares, &r) {
            if s.iter().any(|s| made.is_end(&s.value)) {
                // It is not used: it comes back to its place.
                std::mem::take(&mut *self.numbers.lock()).into_iter().for_each(|n| self.owner.leave(n));
                return Some(Ok(Done::Left(None)));
            }
        }
        let used = match self.numbers.lock().first() {
            Some(&n) if self.takes && matches!(r, Ok(Done::Segments(_))) => self.owner.used(n, &self.call),
            _ => true,
        };
        used.then_some(r)
    }
    /// Nobody wants what it comes to any more, or what it has come to.
    fn leave(&self) {
        let numbers = std::mem::take(&mut *self.numbers.lock());
        if numbers.is_empty() {
            return;
        }
        numbers.into_iter().for_each(|n| self.owner.leave(n));
        // No answer comes from here on: one that came before the owner was told is seen.
        if let Some(Ok(Done::Segments(segments))) = self.call.take() {
            give_back(self, &segments);
        }
    }
}
impl Payload for CallData {
    fn trace(&self, m: &mut Marker) {
        // Values of other owners are bytes, made into cells only when they are handed over.
        let _ = m;
    }
    fn shares(&self) -> bool {
        true
    }
}
impl Drop for CallData {
    fn drop(&mut self) {
        self.leave();
    }
}

pub fn strings(cx: &mut Cx, v: Value) -> Result<Vec<String>, Exit> {
    let list = crate::list(v);
    let mut all = Vec::new();
    for v in list {
        let Some(s) = v.as_str() else { return Err(cx.type_error("a list of Strings is needed")) };
        all.push(String::from_utf8_lossy(s.bytes()).into_owned());
    }
    Ok(all)
}
/// `__seg_link(name, listen, join, insecure, certificate, key, authority, public address)`: certificates are paths, or nil.
fn link(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let name = String::from_utf8_lossy(cx.arg_str(a, 0)?.bytes()).into_owned();
    let (listen, join) = (strings(cx, a[1])?, strings(cx, a[2])?);
    let path = |v: Value| v.as_str().map(|s| std::path::PathBuf::from(String::from_utf8_lossy(s.bytes()).into_owned()));
    let tls = match (path(a[4]), path(a[5]), path(a[6])) {
        (Some(certificate), Some(key), Some(authority)) => Some((certificate, key, authority)),
        _ => None,
    };
    let public = a[7].as_str().map(|s| String::from_utf8_lossy(s.bytes()).into_owned());
    let here = cx.shared_state::<Here>();
    if here.0.lock().is_some() {
        return Err(fail(cx, "Kumihimo::Segments::Error", "this program is a node already"));
    }
    let incarnation = made.shared.lock().node.incarnation();
    let started = super::host::options(name, incarnation, listen, join, a[3].truthy(), tls, public)
        .and_then(|options| Remote::start(cx, &made.shared, options));
    match started {
        Ok(r) => {
            // Without it the link's thread does all by itself.
            if let Some(service) = super::service::of(&r).filter(|s| cx.add_service(s.clone()).is_ok()) {
                let _ = r.service.set(service);
            }
            cx.heap.shared().set_gives_way(true);
            made.shared.lock().clients = Some(r.clone());
            *here.0.lock() = Some(r);
            Ok(Value::TRUE)
        }
        Err(e) => Err(fail(cx, "Kumihimo::Segments::LinkError", &e)),
    }
}
/// `__seg_rules([[node, keys, calls], ..])`: what other nodes may do here; none: everything.
fn rules(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let mut all = Vec::new();
    for v in crate::list(a[0]) {
        let parts = strings(cx, v)?;
        let [node, keys, calls] = &parts[..] else { return Err(cx.arg_error("a rule is node, keys and calls")) };
        let mut acts = Vec::new();
        for name in calls.split(',') {
            match Act::ALL.iter().find(|a| a.0 == name) {
                Some((_, act)) => acts.push(*act),
                None if name == "*" => acts.extend(Act::ALL.map(|a| a.1)),
                None => {
                    return Err(cx.arg_error(&format!("{name:?} is no call: they are {}, and * for all", Act::ALL.map(|a| a.0).join(", "))));
                }
            }
        }
        all.push(Rule { node: node.clone(), keys: keys.clone(), acts });
    }
    made.shared.lock().node.set_rules(Rules::new(all));
    Ok(Value::NIL)
}
/// `__seg_certificates(certificate, key, authority)`: new ones, for connections from now on.
fn certificates(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let remote = remote(cx)?;
    let mut paths = Vec::new();
    for i in 0..3 {
        paths.push(String::from_utf8_lossy(cx.arg_str(a, i)?.bytes()).into_owned());
    }
    let read = kumi_link::Tls::from_files(&paths[0], &paths[1], &paths[2]);
    match read.and_then(|tls| remote.link().map_or(Ok(()), |l| l.set_tls(tls))) {
        Ok(()) => Ok(Value::NIL),
        Err(e) => Err(fail(cx, "Kumihimo::Segments::LinkError", &e.to_string())),
    }
}
/// `__seg_unlink()`: says goodbye.
fn unlink(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let gone = cx.shared_state::<Here>().0.lock().take();
    made.shared.lock().clients = None;
    if let Some(service) = gone.as_ref().and_then(|r| r.service.get()) {
        cx.remove_service(service);
    }
    cx.heap.shared().set_gives_way(false);
    if let Some(r) = &gone {
        r.leave_cluster("this node has left the cluster".into());
    }
    Ok(Value::bool(gone.is_some()))
}
/// `__seg_peer(name)`: the proxy of a node's manager; nil: this node itself.
fn peer(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let remote = remote(cx)?;
    let name = String::from_utf8_lossy(cx.arg_str(a, 0)?.bytes()).into_owned();
    if *name == *remote.name {
        return Ok(Value::NIL);
    }
    let p = remote.peer(&name);
    Ok(proxy(cx, Owner::Node(remote, p)))
}
/// What the library calls an owner by.
pub fn proxy(cx: &mut Cx, owner: Owner) -> Value {
    cx.data(cx.k.object, OwnerData(owner))
}
/// `__seg_engine_name(proxy)`
fn engine_name(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match a[0].as_data::<OwnerData>() {
        Some(OwnerData(Owner::Engine(e))) => Ok(cx.str(e.name())),
        _ => Ok(Value::NIL),
    }
}
/// `__seg_engine_close(proxy)`: waits until all that was answered is safe.
fn engine_close(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    struct Closed;
    let Some(OwnerData(Owner::Engine(e))) = a[0].as_data::<OwnerData>() else { return Ok(Value::NIL) };
    if cx.detached::<Closed>().is_some() {
        return Ok(Value::NIL);
    }
    let e = e.clone();
    Err(cx.detach(VERY_LONG, a[0], move |_| {
        e.close();
        Closed
    }))
}
/// A key's name, which another node takes up to a length only.
pub fn name_of(cx: &mut Cx, v: Value) -> Result<Vec<u8>, Exit> {
    let name = match (v.as_str(), v.as_sym()) {
        (Some(s), _) => s.bytes().to_vec(),
        (_, Some(y)) => cx.syms.name(y).to_vec(),
        _ => {
            let found = cx.describe_type(v);
            return Err(cx.type_error(&format!("{found} is no key of another node: give a String or a Symbol")));
        }
    };
    if name.len() > KEY_BYTES {
        return Err(cx.arg_error(&format!("a key of another node has at most {KEY_BYTES} bytes, not {}", name.len())));
    }
    Ok(name)
}
fn ns(v: Value) -> Option<Time> {
    v.as_fix().and_then(|n| Time::try_from(n).ok())
}
/// Is an encoded value more than a message holds?
pub fn too_long(value: &Cell) -> bool {
    super::size_of(value) > MESSAGE_BYTES
}
/// The same; more than a message holds raises.
fn fitting(cx: &mut Cx, value: Cell) -> Result<Cell, Exit> {
    if too_long(&value) {
        let msg = format!("a value of more than {MESSAGE_BYTES} bytes does not travel: put it in parts");
        return Err(fail(cx, "Kumihimo::Segments::NotTransferable", &msg));
    }
    Ok(value)
}
fn store(cx: &mut Cx, key: Vec<u8>, value: Cell, bits: Value, delay: Value, ttl: Value) -> Result<Store<Cell>, Exit> {
    let (bits, trace) = how(bits);
    let value = fitting(cx, value.traced(trace))?;
    Ok(Store { key, update: bits & UPDATE != 0, value, owned: bits & OWNED != 0, delay: ns(delay), ttl: ns(ttl) })
}
pub fn begin(cx: &mut Cx, peer: Value, what: Call<Cell>) -> R {
    begin_until(cx, peer, what, None, None)
}
/// What a call does, and to which keys.
fn about(what: &Call<Cell>) -> (&'static str, SmallVec<[u8; 32]>) {
    let put = |s: &Store<Cell>| if s.update { "update" } else { "put" };
    let does = match what {
        Call::Put(p) => put(&p.store),
        Call::Get(ask) => ask.inputs.first().map_or("take", |i| if i.1 == Kind::Take { "take" } else { "peek" }),
        Call::Commit { outputs, .. } => outputs.first().map_or("put", put),
        Call::Limit(..) => "limit",
        _ => "stat",
    };
    let mut keys = SmallVec::new();
    what.keys(|k: &[u8]| {
        if keys.len() > 200 {
            return;
        }
        if !keys.is_empty() {
            keys.extend_from_slice(b", ");
        }
        keys.extend_from_slice(k);
    });
    (does, keys)
}
/// With an end: then it has been done, or has not and will not be.
fn begin_until(cx: &mut Cx, peer: Value, what: Call<Cell>, until: Option<u64>, spares: Option<&'static Made>) -> R {
    let owner = owner(cx, peer)?;
    let mut carries = false;
    what.each_value(|c| carries |= c.luggage().is_some());
    if carries {
        meet(cx, &owner)?;
    }
    let peeks = match &what {
        Call::Get(ask) => ask.inputs.iter().map(|i| i.1 == Kind::Peek).collect(),
        _ => Box::default(),
    };
    let takes = matches!(&what, Call::Get(ask) if ask.lease.is_none() && ask.inputs.iter().any(|i| i.1 == Kind::Take));
    // Somebody waits for what is asked for, and this worker may collect before it goes idle: only puts wait for others.
    let among = matches!(what, Call::Put(_)) && cx.others_are_ready();
    let call: Arc<Pending> = Arc::default();
    let data = CallData { owner, call, peeks, takes, spares, about: about(&what), numbers: Mutex::default() };
    let long = until.map(|t| t.saturating_sub(now_ns()));
    Ok(made_by(cx, data, |owner, call| Numbers::from_elem(owner.call(what, call, long, among), 1)))
}
/// References are about to go there.
fn meet(cx: &mut Cx, owner: &Owner) -> Result<(), Exit> {
    match owner {
        Owner::Node(remote, peer) => remote.guests().try_for_each(|g| g.meets(cx, &peer.name)),
        Owner::Engine(e) => {
            let msg = format!("{} keeps no references to objects: what it keeps outlives the nodes that the objects are on", e.name());
            Err(fail(cx, "Kumihimo::Segments::NotTransferable", &msg))
        }
    }
}
/// Whose proxy that is, if calls have a sense now.
fn owner(cx: &mut Cx, peer: Value) -> Result<Owner, Exit> {
    let Some(OwnerData(owner)) = peer.as_data::<OwnerData>() else { return Err(cx.type_error("no node")) };
    let owner = owner.clone();
    match owner.reachable() {
        Ok(()) => Ok(owner),
        Err(why) => Err(fail(cx, "Kumihimo::Segments::NotConnected", &why)),
    }
}
/// The object that holds a call, which `make` makes when it is there.
fn made_by(cx: &mut Cx, data: CallData, make: impl FnOnce(&Owner, &Arc<Pending>) -> Numbers) -> Value {
    let v = cx.data(cx.k.object, data);
    if let Some(d) = v.as_data::<CallData>() {
        let numbers = make(&d.owner, &d.call);
        *d.numbers.lock() = numbers;
    }
    v
}
/// `__seg_call_put(peer, key, value, bits, delay, ttl, wait)`: wait for room: for ever, not at all, or until then.
fn call_put(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let key = name_of(cx, a[1])?;
    let value = Cell::of(a[2]).encode_argument(cx)?;
    let store = store(cx, key, value, a[3], a[4], a[5])?;
    let until = a[6].as_fix().and_then(|t| u64::try_from(t).ok());
    begin_until(cx, a[0], Call::Put(Put { store, wait: a[6].truthy() }), until, None)
}
/// `__seg_call_put_some(peer, key, values, at, bits, large)`: puts of as many values from `at` on as go together, and keep the order in
/// which they are called: [call, how many, bytes, large]. `large`: those under way are such ones, or are not; nil: there are none. false:
/// they are awaited first, for what comes goes another way. nil: the first of them is copied beside the workers; it is put by itself.
/// 0: there is none at `at`.
fn call_put_some(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let key = name_of(cx, a[1])?;
    let owner = owner(cx, a[0])?;
    let at = cx.arg_i64(a, 3)?.max(0) as usize;
    let values = a[2].as_array().map_or(Vec::new(), |l| l.seen().part(at..at.saturating_add(TOGETHER)).to_vec());
    if values.is_empty() {
        return Ok(Value::fix(0));
    }
    let mut large = if a[5].is_nil() { None } else { Some(a[5].truthy()) };
    let (mut puts, mut bytes, mut carries) = (Vec::new(), 0, false);
    for v in values {
        let text = v.as_str().map_or(0, |s| s.bytes().len());
        if encode::is_copied_aside(v) || !puts.is_empty() && bytes + text > TOGETHER_BYTES {
            break;
        }
        let value = match Cell::of(v).encode(cx) {
            Ok(value) => value,
            Err(e) if puts.is_empty() => return Err(e),
            // It is raised again when it is the first.
            Err(_) => break,
        };
        let size = super::size_of(&value);
        // A store keeps the order of whatever it is called for.
        let is_large = super::is_large(size) && matches!(owner, Owner::Node(..));
        if !puts.is_empty() && bytes + size > TOGETHER_BYTES || *large.get_or_insert(is_large) != is_large {
            if puts.is_empty() {
                return Ok(Value::FALSE);
            }
            break;
        }
        bytes += size;
        carries |= value.luggage().is_some();
        let store = store(cx, key.clone(), value, a[4], Value::NIL, Value::NIL)?;
        puts.push(Call::Put(Put { store, wait: true }));
        if is_large {
            break;
        }
    }
    let Some(first) = puts.first() else { return Ok(Value::NIL) };
    if carries {
        meet(cx, &owner)?;
    }
    let call = Arc::new(Pending::of(puts.len()));
    let [many, bytes] = [puts.len(), bytes].map(|n| Value::fix(n as i64));
    let data = CallData { owner, call, peeks: Box::default(), takes: false, spares: None, about: about(first), numbers: Mutex::default() };
    let call = made_by(cx, data, |owner, call| owner.call_all(puts, call));
    Ok(cx.array(&[call, many, bytes, Value::bool(large == Some(true))]))
}
/// `__seg_call_get(peer, [[key, take, after], ..], lease, wait)`: lease: nanoseconds, or nil; true: none, and the end of a key stays.
fn call_get(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut inputs = Vec::new();
    for v in crate::list(a[1]) {
        let parts = crate::list(v);
        let at = |i: usize| parts.get(i).copied().unwrap_or(Value::NIL);
        inputs.push((name_of(cx, at(0))?, kind(at(1)), after(cx, at(2))?));
    }
    if inputs.len() > INPUTS {
        return Err(cx.arg_error(&format!("a code segment has at most {INPUTS} inputs of another node or a store, not {}", inputs.len())));
    }
    let spares = if a[2] == Value::TRUE { Some(made(cx)?) } else { None };
    begin_until(cx, a[0], Call::Get(Ask { inputs, lease: ns(a[2]), wait: a[3].truthy() }), None, spares)
}
/// A value that is ready to be sent.
struct Ready(Cell);
impl Payload for Ready {
    fn bytes(&self) -> usize {
        32 + super::size_of(&self.0)
    }
    fn shares(&self) -> bool {
        true
    }
}
/// A value that is to be sent, encoded.
fn encoded(cx: &mut Cx, v: Value) -> Result<Cell, Exit> {
    match v.as_data::<Ready>() {
        Some(ready) => Ok(ready.0.clone()),
        None => Cell::of(v).encode(cx),
    }
}
/// Bytes of an output in a message, at most.
fn size_of_output(key: &[u8], value: &Cell) -> usize {
    super::size_of(value) + key.len() + 32
}
/// Do so many outputs, of so many bytes, go to one owner together?
fn check_together(cx: &mut Cx, owner: Option<&Owner>, many: usize, bytes: usize) -> Result<(), Exit> {
    let most = match owner {
        Some(Owner::Node(..)) if many > OUTPUTS => OUTPUTS.to_string(),
        // A message has that much room beside the longest value.
        _ if bytes > MESSAGE_BYTES + (32 << 10) => format!("{MESSAGE_BYTES} bytes"),
        _ => return Ok(()),
    };
    let msg = format!("a run's outputs to one node are {most} at most: put them in several runs");
    Err(fail(cx, "Kumihimo::Segments::NotTransferable", &msg))
}
/// `__seg_ready(peer, [[key, value, ..], ..], held)`: the same outputs to one owner, with values that are ready to be sent. Raises what
/// their commit would, which ends leases under the keys `held`. nil: whoever it is.
fn ready(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let owner = if a[0].is_nil() { None } else { Some(owner(cx, a[0])?) };
    let (mut all, mut bytes, mut held, mut keys) = (Vec::new(), 0, Vec::new(), Vec::new());
    for v in crate::list(a[2]) {
        held.push(name_of(cx, v)?);
    }
    for v in crate::list(a[1]) {
        let mut parts = crate::list(v);
        let [key, value, ..] = &mut parts[..] else { continue };
        let name = name_of(cx, *key)?;
        let cell = encoded(cx, *value)?;
        let cell = fitting(cx, cell)?.to_send();
        if let Some(owner) = owner.as_ref().filter(|_| cell.luggage().is_some()) {
            meet(cx, owner)?;
        }
        bytes += size_of_output(&name, &cell);
        keys.push(name);
        *value = cx.data(cx.k.object, Ready(cell));
        all.push(cx.array(&parts));
    }
    check_together(cx, owner.as_ref(), all.len(), bytes)?;
    if let Some(Owner::Engine(e)) = &owner
        && let Some(why) = e.apart(&held, &keys)
    {
        return Err(store_error(cx, e.name(), &why));
    }
    Ok(cx.array_vec(all))
}
/// `__seg_call_commit(peer, leases, [[key, value, bits, delay, ttl], ..])`
fn call_commit(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut leases = Vec::new();
    for v in crate::list(a[1]) {
        leases.push(lease_of(cx, v)?);
    }
    let mut outputs = Vec::new();
    for v in crate::list(a[2]) {
        let parts = crate::list(v);
        let at = |i: usize| parts.get(i).copied().unwrap_or(Value::NIL);
        let (key, value) = (name_of(cx, at(0))?, encoded(cx, at(1))?);
        outputs.push(store(cx, key, value, at(2), at(3), at(4))?);
    }
    let owner = owner(cx, a[0])?;
    check_together(cx, Some(&owner), outputs.len(), outputs.iter().map(|o| size_of_output(&o.key, &o.value)).sum())?;
    begin(cx, a[0], Call::Commit { leases, outputs })
}
/// A lease's name, which is a String of Ruby's: it is a number of 64 bits.
fn lease_of(cx: &mut Cx, v: Value) -> Result<u64, Exit> {
    match v.as_str().and_then(|s| std::str::from_utf8(s.bytes()).ok()?.parse().ok()) {
        Some(n) => Ok(n),
        None => Err(cx.type_error("no lease")),
    }
}
/// `__seg_call_give_back(peer, lease, value, seen)`: the object that stands for nothing: as it was.
fn call_give_back(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let lease = lease_of(cx, a[1])?;
    let none = made(cx)?.none;
    let left = match (a[3].truthy(), a[2] == none) {
        (false, _) => Back::Unseen,
        (true, true) => Back::Same,
        (true, false) => {
            let cell = Cell::of(a[2]).encode(cx)?;
            Back::Changed(fitting(cx, cell)?)
        }
    };
    begin(cx, a[0], Call::GiveBack { lease, left })
}
/// `__seg_call_extend(peer, leases, nanoseconds)`: they last so long from now on, or the lease of one of them is over.
fn call_extend(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let mut leases = Vec::new();
    for v in a[1].as_array().map_or(Vec::new(), |l| l.seen().to_vec()) {
        leases.push(lease_of(cx, v)?);
    }
    begin(cx, a[0], Call::Extend { leases, long: ns(a[2]).unwrap_or(0) })
}
/// `__seg_call_about(peer, what, argument)`: "names" of [prefix, after, most], "stats" of a key, or the limit of [key, limit].
fn call_about(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let what = cx.arg_str(a, 1)?.bytes().to_vec();
    let call = match &*what {
        b"names" => {
            let parts = crate::list(a[2]);
            let at = |i: usize| parts.get(i).copied().unwrap_or(Value::NIL);
            let after = if at(1).is_nil() { None } else { Some(name_of(cx, at(1))?) };
            Call::Names { prefix: name_of(cx, at(0))?, after, most: u32::try_from(cx.arg_i64(&parts, 2)?).unwrap_or(1) }
        }
        b"stats" => Call::Stats(name_of(cx, a[2])?),
        _ => {
            let parts = crate::list(a[2]);
            let at = |i: usize| parts.get(i).copied().unwrap_or(Value::NIL);
            let limit = cx.arg_i64(&parts, 1)?;
            Call::Limit(name_of(cx, at(0))?, u64::try_from(limit).unwrap_or(0))
        }
    };
    begin(cx, a[0], call)
}
/// `__seg_call_wait(call, deadline, whole)`: what it comes to; the object that stands for nothing: it is not there, or not in time.
/// Where `whole` says so, segments are Arrays [index, value, owned, changed, deliveries, trace, lease]; where it is a Symbol, they are
/// inputs of a run, and each is told with what is the matter with it.
fn call_wait(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let none = made(cx)?.none;
    let Some(d) = a[0].as_data::<CallData>() else { return Ok(none) };
    let until = if a[1].is_nil() { u64::MAX } else { cx.arg_i64(a, 1)?.max(0) as u64 };
    let mut large = cx.detached::<Large>();
    if let Some(r) = come(cx, d, a[0], &mut large, a[2])? {
        let v = result(cx, d, r, a[2], none, large.as_mut());
        large.into_iter().for_each(|l| l.forget(cx));
        return v;
    }
    if d.numbers.lock().is_empty() || until != u64::MAX && now_ns() >= until {
        return Ok(none);
    }
    cx.from_outside();
    cx.expect_message();
    let waker = cx.waker();
    d.call.bell.set(waker);
    if !d.call.has_ended() {
        return Err(cx.park(until));
    }
    cx.no_wait();
    match come(cx, d, a[0], &mut large, a[2])? {
        Some(r) => result(cx, d, r, a[2], none, large.as_mut()),
        // It goes on, and tells of its end again.
        None => Err(cx.park(0)),
    }
}
/// What the call has come to. Of a large String the copy is made beside the workers first: until then nothing is used.
fn come(cx: &mut Cx, d: &CallData, call: Value, large: &mut Option<Large>, whole: Value) -> Result<Option<Ended>, Exit> {
    if large.is_none() && !d.peeks.is_empty() && !whole.truthy() {
        if let Some(bytes) = d.call.large() {
            return Err(cx.detach(VERY_LONG, call, move |_| Large::new(bytes)));
        }
    }
    Ok(d.ended())
}
fn result(cx: &mut Cx, d: &CallData, r: Ended, whole: Value, none: Value, large: Option<&mut Large>) -> R {
    if r.is_err() && d.numbers.lock().len() > 1 {
        // Others that it stands for may go on.
        d.leave();
    }
    d.numbers.lock().clear();
    match r {
        Ok(Done::Stored(Some(i))) => Ok(cx.uint(i)),
        Ok(Done::Stored(None) | Done::Ok) => Ok(Value::TRUE),
        Ok(Done::Nothing) => Ok(none),
        Ok(Done::Left(Some(Stored::At(i)))) => Ok(cx.uint(i)),
        Ok(Done::Left(_)) => Ok(d.spares.map_or(Value::NIL, |m| m.end)),
        Ok(Done::Names(names)) => {
            let names: Vec<Value> = names.iter().map(|n| name_value(cx, n)).collect();
            Ok(cx.array_vec(names))
        }
        Ok(Done::Stats(s)) => {
            let n = |n: usize| Value::fix(n as i64);
            let last = cx.uint(s.last_index);
            let limit = s.limit.map_or(Value::NIL, |l| n(l.get()));
            Ok(cx.array(&[n(s.segments), n(s.delayed), n(s.leased), n(s.waiting), n(s.waiting_puts), last, limit]))
        }
        Ok(Done::Events(events)) => {
            let (mut all, mut later) = (Vec::new(), Later::default());
            for e in events {
                all.push(crate::watch::event(cx, &e, &mut later)?);
            }
            let all = cx.array_vec(all);
            later.done(cx, FILL, all)
        }
        Ok(Done::Segments(segments)) if whole.is_sym() => {
            let mut later = Later::default();
            let all = segments.iter().zip(&d.peeks).map(|(s, peeked)| shown(s).input(cx, *peeked, &mut later)).collect();
            let all = cx.array_vec(all);
            later.done(cx, FILL_HELD, all)
        }
        Ok(Done::Segments(segments)) => {
            // What is held for a run came above: nothing here is under a lease.
            if segments.iter().zip(&d.peeks).any(|(s, peek)| *peek && s.owned) {
                return Err(not_shared(cx));
            }
            if !whole.truthy() {
                let Some(s) = segments.first() else { return Ok(Value::NIL) };
                let made = large.zip(s.value.bytes()).and_then(|(l, bytes)| l.take(cx, bytes, !s.owned));
                return made.map_or_else(|| s.value.hand_over_last(cx, s.owned), Ok);
            }
            let (mut all, mut later) = (Vec::new(), Later::default());
            for s in &segments {
                all.push(shown(s).parts(cx, &mut later)?);
            }
            let all = cx.array_vec(all);
            later.done(cx, FILL, all)
        }
        Err(Trouble::Failure(Failure::TimedOut)) => Ok(none),
        Err(e) => Err(trouble(cx, e, d)),
    }
}
/// Is this program no node any more?
fn has_left(cx: &mut Cx) -> bool {
    cx.shared_state::<Here>().0.lock().is_none()
}
fn trouble(cx: &mut Cx, e: Trouble, d: &CallData) -> Exit {
    let node = d.owner.to_string();
    let (class, msg) = match e {
        Trouble::Failure(Failure::Refused(r)) => return refused(cx, r, d),
        Trouble::Failure(Failure::Unknown) | Trouble::Lost(_) if matches!(d.owner, Owner::Node(..)) && has_left(cx) => {
            ("Kumihimo::Segments::NodeLost", format!("this node left before {node} had answered: the call may have been done or not"))
        }
        Trouble::Failure(Failure::TimedOut) => ("Kumihimo::Segments::TimeoutError", format!("{node} did not answer in time")),
        Trouble::Failure(Failure::Unknown) => {
            ("Kumihimo::Segments::NodeLost", format!("{node} was lost: the call may have been done or not"))
        }
        Trouble::Failure(Failure::Fenced) => {
            ("Kumihimo::Segments::NodeLost", format!("{node} serves a later start of this node, and this one no more"))
        }
        Trouble::NotConnected(why) => ("Kumihimo::Segments::NotConnected", format!("{node} is not there: {why}")),
        Trouble::Lost(why) => ("Kumihimo::Segments::NodeLost", format!("{node} was lost: {why}; the call may have been done or not")),
        Trouble::Store(why) => return store_error(cx, &node, &why),
    };
    fail(cx, class, &msg)
}
fn store_error(cx: &mut Cx, store: &str, why: &str) -> Exit {
    fail(cx, "Kumihimo::Segments::StoreError", &format!("{store}: {why}"))
}
/// Nobody gets what stands under a lease: it comes back.
fn give_back(d: &CallData, segments: &[RemoteSegment<Cell>]) {
    for lease in segments.iter().filter_map(|s| s.lease) {
        d.owner.call(Call::GiveBack { lease, left: Back::Unseen }, &Arc::default(), None, false);
    }
}
fn shown(s: &RemoteSegment<Cell>) -> Shown<'_> {
    Shown { index: s.index, value: &s.value, owned: s.owned, changed: s.changed, deliveries: s.deliveries, lease: s.lease }
}
fn refused(cx: &mut Cx, r: Refusal, d: &CallData) -> Exit {
    let node = d.owner.to_string();
    match r {
        Refusal::Full => fail(cx, "Kumihimo::Segments::Full", &format!("the queue is full on {node}")),
        Refusal::LeaseOver => {
            let msg = format!("the lease was over on {node}: somebody else may have the segment");
            fail(cx, "Kumihimo::Segments::LeaseOver", &msg)
        }
        Refusal::Stale { last } => {
            let msg =
                format!("that index was not given out by {node}: the last one of this key is {last}. It may be of an earlier incarnation");
            fail(cx, "Kumihimo::Segments::StaleIndex", &msg)
        }
        Refusal::Quota => fail(cx, "Kumihimo::Segments::Full", &format!("{node} keeps no more for this one")),
        Refusal::Leaving => {
            let msg = format!("{node} is about to leave the cluster, and begins nothing: nothing was done");
            fail(cx, "Kumihimo::Segments::NotConnected", &msg)
        }
        Refusal::Moved => fail(cx, "Kumihimo::Segments::Moved", &format!("the key is another node's now, and not that of {node}")),
        Refusal::NotAllowed => {
            let key = String::from_utf8_lossy(&d.about.1);
            let msg = format!("{node} does not allow this node to {} {key:?}: see [[allow]] in its configuration", d.about.0);
            fail(cx, "Kumihimo::Segments::NotAllowed", &msg)
        }
        Refusal::Bad => {
            let msg = format!("{node} refused the call: it makes no sense there, or the value can not travel");
            fail(cx, "Kumihimo::Segments::Error", &msg)
        }
    }
}
/// `__seg_call_leave(call)`: its answer is not wanted any more.
fn call_leave(_: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(d) = a[0].as_data::<CallData>() {
        d.leave();
    }
    Ok(Value::NIL)
}
/// `__seg_refused()`: the connections to others that failed last, and why.
fn refused_connections(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let all: Vec<Value> = remote(cx)?.refused().iter().map(|line| cx.str(line)).collect();
    Ok(cx.array_vec(all))
}
/// `__seg_nodes()`: the names of all members, this node's first.
fn nodes(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let remote = remote(cx)?;
    let mut names = vec![cx.str(&remote.name)];
    let members = remote.link().map(|l| l.members());
    let mut others: Vec<&str> = members.iter().flat_map(|m| m.iter()).map(|m| &**m.name()).collect();
    others.sort_unstable();
    for n in others.into_iter().filter(|n| **n != *remote.name) {
        names.push(cx.str(n));
    }
    Ok(cx.array_vec(names))
}
/// `__seg_address()`: where others reach this node.
fn address(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let remote = remote(cx)?;
    let address = remote.link().and_then(|l| l.listening().first().cloned()).unwrap_or_default();
    Ok(cx.str(&address))
}
/// `__seg_place(key, names)`: whose key it is.
fn place(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let key = name_of(cx, a[0])?;
    let names = strings(cx, a[1])?;
    match kumi_membership::place(&key, names.iter().map(String::as_str)) {
        Some(n) => Ok(cx.str(n)),
        None => Ok(Value::NIL),
    }
}
/// A topology that the program gives: [[node, [[link, node], ..]], ..]
fn given(cx: &mut Cx, map: Value) -> Result<kumi_membership::Given, Exit> {
    let mut nodes = std::collections::BTreeMap::new();
    for node in crate::list(map) {
        let parts = crate::list(node);
        let [name, links] = parts[..] else { continue };
        let mut own = std::collections::BTreeMap::new();
        for link in crate::list(links) {
            if let [label, to] = &strings(cx, link)?[..] {
                own.insert(label.as_str().into(), to.as_str().into());
            }
        }
        let name = name.as_str().map_or(Default::default(), |s| String::from_utf8_lossy(s.bytes()).into_owned());
        nodes.insert(name.as_str().into(), own);
    }
    kumi_membership::Given::new(nodes).map_err(|e| cx.arg_error(&e.to_string()))
}
/// `__seg_topology(kind, arity, names, me)`: [[link, node], ..]. The kind: a name, or the links that the program gives.
fn topology(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    use kumi_membership::Topology;
    let kind = a[0].as_str().map_or(Vec::new(), |s| s.bytes().to_vec());
    let arity = u16::try_from(cx.arg_i64(a, 1)?).unwrap_or(2);
    let names = strings(cx, a[2])?;
    let me = String::from_utf8_lossy(cx.arg_str(a, 3)?.bytes()).into_owned();
    let topology = match &*kind {
        b"ring" => Topology::Ring,
        b"line" => Topology::Line,
        b"star" => Topology::Star(None),
        b"tree" => Topology::Tree(arity),
        b"mesh" => Topology::Mesh,
        _ => Topology::Given(given(cx, a[0])?),
    };
    let names: Vec<kumi_membership::Name> = names.iter().map(|n| n.as_str().into()).collect();
    let links = topology.links(&names, &me);
    let mut all = Vec::new();
    for link in links.iter() {
        let pair = [cx.str(&link.label), cx.str(&link.to)];
        all.push(cx.array(&pair));
    }
    Ok(cx.array_vec(all))
}
