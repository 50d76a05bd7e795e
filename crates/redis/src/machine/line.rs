//! A connection: how it begins, and whose reply the next one is.
//!
//! **Invariant.** For each command that was written there is one [`Tag`], in that order. What the server says by itself is marked as
//! such and has none, but the confirmations of subscriptions, which are replies in their place.

use super::{MS, Machine, Options, Step};
use crate::resp::{Command, Decoder, Reply, command};
use crate::script::{ALL, Script};
use bytes::Bytes;
use kumi_segments::{Time, Trouble};
use std::collections::VecDeque;

/// Why a connection is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// It may be otherwise with the next one.
    Passing(String),
    /// It will not, before somebody does something about it.
    Lasting(String),
}

impl Broken {
    /// Will it be so until somebody does something about it?
    pub fn lasts(&self) -> bool {
        matches!(self, Broken::Lasting(_))
    }
    /// In words.
    pub fn text(&self) -> &str {
        match self {
            Broken::Passing(t) | Broken::Lasting(t) => t,
        }
    }
}

/// What a machine tells besides ends of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// The store serves, on this connection for the first time. What its settings may lose, in words.
    Ready(Option<String>),
}

/// What a reply is to.
pub(super) enum Tag {
    Hello,
    Select,
    Info,
    Config,
    Load(Script),
    /// So many confirmations of channels.
    Subscribe(usize),
    Unsubscribe(usize),
    Ping,
    Tidy,
    Call(u64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Down,
    Greets,
    Ready,
}

pub(super) struct Line {
    state: State,
    decoder: Decoder,
    tags: VecDeque<Tag>,
    shas: [Bytes; ALL.len()],
    /// Commands for calls and subscriptions.
    written: u64,
    /// When the server was heard last, or took something.
    heard: Time,
    pinged: bool,
    /// The server knows a script's flags.
    flags: bool,
    worries: Vec<String>,
}

impl Default for Line {
    fn default() -> Line {
        Line {
            state: State::Down,
            decoder: Decoder::default(),
            tags: VecDeque::new(),
            shas: Default::default(),
            written: 0,
            heard: 0,
            pinged: false,
            flags: false,
            worries: Vec::new(),
        }
    }
}

/// A server that was not heard for so long is asked whether it is there.
const SILENCE: Time = 2000 * MS;
/// And one that owes a reply is given up after so long.
const DEAD: Time = 6000 * MS;

impl Line {
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }
    pub fn written(&self) -> u64 {
        self.written
    }
    pub fn wrote(&mut self) {
        self.written += 1;
    }
    /// A command was written, and its reply is to come.
    pub fn expect(&mut self, now: Time, tag: Tag) {
        if self.tags.is_empty() {
            self.heard = self.heard.max(now);
        }
        self.tags.push_back(tag);
    }
    /// A script's call, whose keys and arguments are to follow.
    pub fn eval<'a>(&self, out: &'a mut Vec<u8>, script: Script, keys: usize, args: usize) -> Command<'a> {
        let mut c = Command::new(out, 3 + keys + args);
        c.part(b"EVALSHA").part(&self.shas[script as usize]).number(keys as u64);
        c
    }
    pub fn next_deadline(&self) -> Option<Time> {
        match self.state {
            State::Down => None,
            _ if self.pinged || !self.tags.is_empty() => Some(self.heard.saturating_add(DEAD)),
            _ => Some(self.heard.saturating_add(SILENCE)),
        }
    }
    /// Asks whether the server is there.
    pub fn tick(&mut self, now: Time, out: &mut Vec<u8>) {
        if self.state == State::Ready && self.tags.is_empty() && self.heard.saturating_add(SILENCE) <= now {
            command(out, &[b"PING"]);
            self.pinged = true;
            self.expect(now, Tag::Ping);
        }
    }
    /// The server owes something for too long.
    pub fn is_dead(&self, now: Time) -> bool {
        self.state != State::Down && !self.tags.is_empty() && self.heard.saturating_add(DEAD) <= now
    }
    fn begin(&mut self, now: Time, options: &Options, out: &mut Vec<u8>) {
        let shas = std::mem::take(&mut self.shas);
        *self = Line { state: State::Greets, heard: now, shas, written: self.written, ..Line::default() };
        out.clear();
        match &options.login {
            Some((user, password)) => {
                command(out, &[b"HELLO", b"3", b"AUTH", user.as_bytes(), password.as_bytes(), b"SETNAME", options.name.as_bytes()]);
            }
            None => command(out, &[b"HELLO", b"3", b"SETNAME", options.name.as_bytes()]),
        }
        self.expect(now, Tag::Hello);
    }
    /// The server has said who it is.
    fn greeted(&mut self, now: Time, hello: &Reply, options: &Options, out: &mut Vec<u8>) -> Result<(), Broken> {
        let text = |name| hello.field(name).and_then(Reply::bytes).map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
        let version = text("version");
        let major: u32 = version.split('.').next().and_then(|v| v.parse().ok()).unwrap_or(0);
        if major < 6 {
            return Err(too_old(&version));
        }
        match &*text("mode") {
            "sentinel" => return Err(Broken::Lasting("this is a Sentinel, which has no data".into())),
            "cluster" => {
                return Err(Broken::Lasting("this is a server of a Redis Cluster, and one that has all data is needed".into()));
            }
            _ => {}
        }
        if text("role") != "master" {
            return Err(Broken::Passing("this is a replica, which can only be read: connect to its primary".into()));
        }
        self.flags = major >= 7;
        if options.database != 0 {
            command(out, &[b"SELECT", options.database.to_string().as_bytes()]);
            self.expect(now, Tag::Select);
        }
        command(out, &[b"INFO"]);
        self.expect(now, Tag::Info);
        for what in [&b"append*"[..], b"maxmemory-policy"] {
            command(out, &[b"CONFIG", b"GET", what]);
            self.expect(now, Tag::Config);
        }
        self.load(now, out);
        // That it may be heard at all.
        command(out, &[b"SUBSCRIBE", options.namespace.channel(b"").as_ref()]);
        self.expect(now, Tag::Subscribe(1));
        Ok(())
    }
    fn load(&mut self, now: Time, out: &mut Vec<u8>) {
        for script in ALL {
            command(out, &[b"SCRIPT", b"LOAD", script.text(self.flags).as_bytes()]);
            self.expect(now, Tag::Load(script));
        }
    }
    /// What may be lost in spite of what was acknowledged.
    fn look_at_info(&mut self, info: &Reply) {
        let text = info.bytes().map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
        let field = |name: &str| text.lines().find_map(|l| Some(l.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()));
        if field("aof_enabled").is_some_and(|v| v == "0") {
            self.worries.push("appendonly is no".into());
        }
        if field("connected_slaves").is_some_and(|v| v != "0") {
            self.worries.push("a replica gets writes later than they are acknowledged, so a fail-over loses the last ones".into());
        }
    }
    fn look_at_config(&mut self, config: &Reply) {
        let unknown = "appendfsync is not known, for this user may not read the server's settings";
        if matches!(config, Reply::Error(_)) && !self.worries.iter().any(|w| w == unknown) {
            self.worries.push(unknown.into());
        }
        let text = |name| config.field(name).and_then(Reply::bytes).map(|b| String::from_utf8_lossy(b).into_owned());
        let off = text("appendonly").is_some_and(|v| v == "no");
        match text("appendfsync") {
            Some(v) if v != "always" && !off => self.worries.push(format!("appendfsync is {v}, not always")),
            _ => {}
        }
        match text("maxmemory-policy") {
            Some(v) if v != "noeviction" => self.worries.push(format!("maxmemory-policy is {v}, not noeviction")),
            _ => {}
        }
    }
}

fn too_old(version: &str) -> Broken {
    let version = if version.is_empty() { "older than 6" } else { version };
    Broken::Lasting(format!("the server is Redis {version}: 6 or later is needed, or Valkey"))
}

/// What an error means for the connection. `None`: nothing, it is the call's.
fn broken_by(error: &[u8]) -> Option<Broken> {
    let text = || String::from_utf8_lossy(error).into_owned();
    let code = error.split(|b| *b == b' ').next().unwrap_or_default();
    match code {
        b"LOADING" | b"MASTERDOWN" | b"CLUSTERDOWN" | b"TRYAGAIN" | b"BUSY" => Some(Broken::Passing(text())),
        b"READONLY" => Some(Broken::Passing("this is a replica now, which can only be read: a fail-over is going on".into())),
        b"NOAUTH" => Some(Broken::Lasting("it wants a password: redis://:PASSWORD@host, or redis://USER:PASSWORD@host".into())),
        b"WRONGPASS" => Some(Broken::Lasting("it refuses the user or the password".into())),
        _ => None,
    }
}

impl<T> Machine<T> {
    /// There is a connection, on which nothing was said yet.
    pub fn connected(&mut self, now: Time) {
        self.line.begin(now, &self.options, &mut self.out);
    }
    /// There is none, or none any more. Calls wait for another until their patience is over; if it will be no better, they end.
    pub fn disconnected(&mut self, now: Time, why: &Broken) {
        self.line.state = State::Down;
        self.line.tags.clear();
        self.out.clear();
        self.down.get_or_insert(now);
        self.trouble = Some(why.text().into());
        for p in self.calls.values_mut() {
            p.again |= p.first_sent.is_some();
            match &mut p.step {
                Step::Sent => p.step = Step::Queued,
                Step::Confirms(_, _, sent) => *sent = false,
                Step::Queued | Step::Waits(_) => {}
            }
            p.poked = None;
        }
        self.lines_are_cut();
        self.tidy.forget();
        if let Broken::Lasting(_) = why {
            self.give_up_all(now);
        }
    }
    /// The server has taken some of what had waited for it to do so: it lives.
    pub fn progress(&mut self, now: Time) {
        self.line.heard = now;
    }
    /// The server has said something.
    ///
    /// # Errors
    /// The connection is to be closed, and [`disconnected`](Self::disconnected) told of it.
    pub fn received(&mut self, now: Time, bytes: &[u8], news: &mut Vec<News>) -> Result<(), Broken> {
        self.line.heard = now;
        self.line.pinged = false;
        self.line.decoder.feed(bytes);
        loop {
            match self.line.decoder.next() {
                Ok(Some(reply)) => self.reply(now, reply, news)?,
                Ok(None) => return Ok(()),
                Err(e) => return Err(Broken::Passing(format!("this is no Redis: {e}"))),
            }
        }
    }
    /// Is the connection to be closed, because nothing is heard of the server?
    pub fn is_dead(&self, now: Time) -> bool {
        self.line.is_dead(now)
    }
    fn reply(&mut self, now: Time, reply: Reply, news: &mut Vec<News>) -> Result<(), Broken> {
        if let Reply::Push(parts) = &reply {
            let kind = parts.first().and_then(Reply::bytes).map_or(&b""[..], |b| &b[..]);
            match (kind, &parts[1..]) {
                (b"message", [Reply::Text(channel), Reply::Text(payload)]) => {
                    if !self.heard_event(channel, payload) {
                        self.heard_message(now, channel, payload);
                    }
                }
                (b"subscribe", _) => self.confirmed(now, true, news),
                (b"unsubscribe", _) => self.confirmed(now, false, news),
                _ => {}
            }
            return Ok(());
        }
        let Some(tag) = self.line.tags.pop_front() else {
            return Err(Broken::Passing("it says what nobody has asked for".into()));
        };
        if let Reply::Error(e) = &reply {
            if let Some(t) = broken_by(e) {
                if let Tag::Call(name) = tag {
                    self.line.tags.push_front(Tag::Call(name));
                }
                return Err(t);
            }
        }
        match (tag, reply) {
            (Tag::Hello, Reply::Error(e)) if e.starts_with(b"ERR unknown command") => Err(too_old("")),
            (Tag::Hello, Reply::Error(e)) => Err(refuses(&e)),
            (Tag::Hello, r) => self.line.greeted(now, &r, &self.options, &mut self.out),
            (Tag::Select | Tag::Load(_) | Tag::Subscribe(_) | Tag::Unsubscribe(_), Reply::Error(e)) => Err(refuses(&e)),
            (Tag::Load(script), r) => {
                self.line.shas[script as usize] = r.bytes().cloned().unwrap_or_default();
                Ok(())
            }
            // Some may not ask.
            (Tag::Info, r) => {
                self.line.look_at_info(&r);
                Ok(())
            }
            (Tag::Config, r) => {
                self.line.look_at_config(&r);
                Ok(())
            }
            (Tag::Call(name), r) => {
                self.answered(now, name, r);
                Ok(())
            }
            (Tag::Select | Tag::Ping | Tag::Tidy, _) => Ok(()),
            (Tag::Subscribe(_) | Tag::Unsubscribe(_), _) => Err(Broken::Passing("it mixes up its replies".into())),
        }
    }
    fn confirmed(&mut self, now: Time, subscribes: bool, news: &mut Vec<News>) {
        let done = match self.line.tags.front_mut() {
            Some(Tag::Subscribe(n)) if subscribes => n,
            Some(Tag::Unsubscribe(n)) if !subscribes => n,
            // It is told by itself that it hears no more, and is not asked about it.
            _ => return,
        };
        *done = done.saturating_sub(1);
        if *done > 0 {
            return;
        }
        self.line.tags.pop_front();
        if self.line.state == State::Greets {
            self.ready(now, news);
        }
    }
    fn ready(&mut self, now: Time, news: &mut Vec<News>) {
        self.line.state = State::Ready;
        self.down = None;
        self.trouble = None;
        self.table_kept = None;
        self.sweep_at = now.saturating_add(1000 * MS);
        let worries = std::mem::take(&mut self.line.worries);
        news.push(News::Ready((!worries.is_empty()).then(|| worries.join("; "))));
        let old = |p: &super::Pending<T>| p.first_sent.is_some_and(|at| at.saturating_add(super::FORGOTTEN) <= now);
        let queued: Vec<u64> = self.calls.iter().filter(|(_, p)| !matches!(p.step, Step::Waits(_))).map(|x| *x.0).collect();
        for name in queued {
            if self.calls.get(&name).is_some_and(old) {
                self.end(name, Err(Trouble::Lost("it was away for too long".into())));
            } else {
                self.send(now, name);
            }
        }
        self.look_again(now);
        self.watch_again(now);
    }
    /// The server has forgotten the scripts.
    pub(super) fn load_scripts(&mut self, now: Time) {
        self.line.load(now, &mut self.out);
    }
    pub(super) fn write_subscribe(&mut self, now: Time, channels: &[Bytes]) {
        for some in channels.chunks(500) {
            let mut c = Command::new(&mut self.out, 1 + some.len());
            c.part(b"SUBSCRIBE");
            some.iter().for_each(|ch| {
                c.part(ch);
            });
            self.line.wrote();
            self.line.expect(now, Tag::Subscribe(some.len()));
        }
    }
    pub(super) fn write_unsubscribe(&mut self, now: Time, channels: &[Bytes]) {
        for some in channels.chunks(500) {
            let mut c = Command::new(&mut self.out, 1 + some.len());
            c.part(b"UNSUBSCRIBE");
            some.iter().for_each(|ch| {
                c.part(ch);
            });
            self.line.expect(now, Tag::Unsubscribe(some.len()));
        }
    }
}

fn refuses(error: &[u8]) -> Broken {
    Broken::Lasting(format!("it refuses: {}", String::from_utf8_lossy(error)))
}
