//! A line: how its connections begin, and whose reply the next one is.
//!
//! **Invariant.** For each command that was written there is one [`Tag`], in that order. What the server says by itself is marked as
//! such and has none, but the confirmations of subscriptions, which are replies in their place.
//!
//! A line has two connections to one server, which serve together or not at all: on one it calls, on the other it hears channels. A server
//! ends the connection of who hears channels once 32 MB are on their way to it, which values of calls may be.

use super::window::Window;
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
    /// Of this server.
    pub fn of(self, server: &str) -> Broken {
        match self {
            Broken::Passing(t) => Broken::Passing(format!("{server}: {t}")),
            Broken::Lasting(t) => Broken::Lasting(format!("{server}: {t}")),
        }
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
    /// This connection serves, for the first time.
    Serves,
    /// The store serves, by all of its servers. What their settings may lose, in words.
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
    /// Which nodes of the cluster have which slots.
    Slots,
    /// Something was written for the sake of it.
    Mark,
    /// So many replicas have what these calls have done.
    Wait(Vec<u64>),
    /// A call's, the slot that it is about, and whether it asks for segments.
    Call(u64, Option<u16>, bool),
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Down,
    Greets,
    Ready,
}

/// One of a line's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// For commands and their replies.
    Calls,
    /// For what is heard on channels.
    Channels,
}

impl Side {
    /// Both.
    pub const ALL: [Side; 2] = [Side::Calls, Side::Channels];
}

/// A connection, as its line has it.
#[derive(Default)]
pub(super) struct Wire {
    /// Bytes for the server.
    pub out: Vec<u8>,
    state: State,
    decoder: Decoder,
    tags: VecDeque<Tag>,
    /// When the server was heard last, or took something.
    heard: Time,
    pinged: bool,
}

pub(super) struct Line {
    /// The node of a cluster that it leads to; `None`: there is no cluster, or it leads nowhere any more.
    pub at: Option<(String, u16)>,
    pub calls: Wire,
    channels: Wire,
    /// Since when there are no connections.
    pub down: Option<Time>,
    /// What was wrong last.
    pub trouble: Option<Box<str>>,
    /// What the server's settings may lose.
    pub worries: Vec<String>,
    /// Calls that are done, and are to be asked after by the next `WAIT`. Is one under way?
    pub done: Vec<u64>,
    pub waits: bool,
    pub window: Window,
    shas: [Bytes; ALL.len()],
    /// Commands for calls.
    written: u64,
    /// The server knows a script's flags.
    flags: bool,
    /// What its scripts begin with is as a cluster needs it.
    guarded: bool,
}

impl Default for Line {
    fn default() -> Line {
        Line {
            at: None,
            calls: Wire::default(),
            channels: Wire::default(),
            down: Some(0),
            trouble: None,
            worries: Vec::new(),
            done: Vec::new(),
            waits: false,
            window: Window::default(),
            shas: Default::default(),
            written: 0,
            flags: false,
            guarded: false,
        }
    }
}

/// A server that was not heard for so long is asked whether it is there.
const SILENCE: Time = 2000 * MS;
/// And one that owes a reply is given up after so long.
const DEAD: Time = 6000 * MS;

impl Wire {
    fn begin(&mut self, now: Time, options: &Options) {
        *self = Wire { state: State::Greets, heard: now, ..Wire::default() };
        let name = options.name.as_bytes();
        match &options.login {
            Some((user, password)) => {
                command(&mut self.out, &[b"HELLO", b"3", b"AUTH", user.as_bytes(), password.as_bytes(), b"SETNAME", name]);
            }
            None => command(&mut self.out, &[b"HELLO", b"3", b"SETNAME", name]),
        }
        self.expect(now, Tag::Hello);
    }
    /// A command was written, and its reply is to come.
    fn expect(&mut self, now: Time, tag: Tag) {
        if self.tags.is_empty() {
            self.heard = self.heard.max(now);
        }
        self.tags.push_back(tag);
    }
    fn next_deadline(&self) -> Option<Time> {
        match self.state {
            State::Down => None,
            _ if self.pinged || !self.tags.is_empty() => Some(self.heard.saturating_add(DEAD)),
            _ => Some(self.heard.saturating_add(SILENCE)),
        }
    }
    fn tick(&mut self, now: Time) {
        if self.state == State::Ready && self.tags.is_empty() && self.heard.saturating_add(SILENCE) <= now {
            command(&mut self.out, &[b"PING"]);
            self.pinged = true;
            self.expect(now, Tag::Ping);
        }
    }
    fn is_dead(&self, now: Time) -> bool {
        self.state != State::Down && !self.tags.is_empty() && self.heard.saturating_add(DEAD) <= now
    }
}

impl Line {
    /// One that leads there, without a connection.
    pub fn to(at: Option<(String, u16)>, now: Time) -> Line {
        Line { at, down: Some(now), ..Line::default() }
    }
    pub fn is_ready(&self) -> bool {
        self.calls.state == State::Ready && self.channels.state == State::Ready
    }
    pub fn output(&mut self, side: Side) -> &mut Vec<u8> {
        &mut self.wire(side).out
    }
    fn wire(&mut self, side: Side) -> &mut Wire {
        match side {
            Side::Calls => &mut self.calls,
            Side::Channels => &mut self.channels,
        }
    }
    pub fn written(&self) -> u64 {
        self.written
    }
    pub fn wrote(&mut self) {
        self.written += 1;
    }
    /// A command was written for calls, and its reply is to come.
    pub fn expect(&mut self, now: Time, tag: Tag) {
        self.calls.expect(now, tag);
    }
    /// A script's call, whose keys and arguments are to follow. `guard`: the first of its keys.
    pub fn eval(&mut self, script: Script, guard: Option<&str>, keys: usize, args: usize) -> Command<'_> {
        let keys = keys + usize::from(guard.is_some());
        let mut c = Command::new(&mut self.calls.out, 3 + keys + args);
        c.part(b"EVALSHA").part(&self.shas[script as usize]).number(keys as u64);
        if let Some(g) = guard {
            c.part(g.as_bytes());
        }
        c
    }
    pub fn next_deadline(&self) -> Option<Time> {
        [&self.calls, &self.channels].into_iter().filter_map(Wire::next_deadline).min()
    }
    /// Asks whether the server is there.
    pub fn tick(&mut self, now: Time) {
        Side::ALL.into_iter().for_each(|side| self.wire(side).tick(now));
    }
    /// The server owes something for too long.
    pub fn is_dead(&self, now: Time) -> bool {
        self.calls.is_dead(now) || self.channels.is_dead(now)
    }
    fn begin(&mut self, side: Side, now: Time, options: &Options) {
        if side == Side::Calls {
            let Line { at, down, trouble, shas, written, window, .. } = std::mem::take(self);
            *self = Line { at, down, trouble, shas, written, window, guarded: options.cluster, ..Line::default() };
        }
        self.wire(side).begin(now, options);
    }
    /// The server has said who it is.
    fn greeted(&mut self, now: Time, hello: &Reply, options: &Options) -> Result<(), Broken> {
        let text = |name| hello.field(name).and_then(Reply::bytes).map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
        let version = text("version");
        let major: u32 = version.split('.').next().and_then(|v| v.parse().ok()).unwrap_or(0);
        if major < 6 {
            return Err(too_old(&version));
        }
        match (&*text("mode"), options.cluster) {
            ("sentinel", _) => return Err(Broken::Lasting("this is a Sentinel, which has no data".into())),
            ("cluster", false) => {
                return Err(Broken::Lasting("this is a node of a Redis Cluster, which is named by redis+cluster://host:port".into()));
            }
            ("cluster", true) | (_, false) => {}
            (_, true) => return Err(no_cluster()),
        }
        if text("role") != "master" {
            return Err(Broken::Passing("this is a replica, which can only be read: connect to its primary".into()));
        }
        self.flags = major >= 7;
        if options.database != 0 {
            command(&mut self.calls.out, &[b"SELECT", options.database.to_string().as_bytes()]);
            self.expect(now, Tag::Select);
        }
        command(&mut self.calls.out, &[b"INFO"]);
        self.expect(now, Tag::Info);
        for what in [&b"append*"[..], b"maxmemory-policy"] {
            command(&mut self.calls.out, &[b"CONFIG", b"GET", what]);
            self.expect(now, Tag::Config);
        }
        self.load(now);
        Ok(())
    }
    /// It has said so to who is to hear channels. That they may be heard at all is found out by one of them.
    fn hears(&mut self, now: Time, options: &Options) {
        command(&mut self.channels.out, &[b"SUBSCRIBE", options.namespace.channel(b"").as_ref()]);
        self.channels.expect(now, Tag::Subscribe(1));
    }
    fn load(&mut self, now: Time) {
        for script in ALL {
            command(&mut self.calls.out, &[b"SCRIPT", b"LOAD", script.text(self.flags, self.guarded).as_bytes()]);
            self.expect(now, Tag::Load(script));
        }
    }
    /// What may be lost in spite of what was acknowledged.
    fn look_at_info(&mut self, info: &Reply, replicas: u32) {
        let text = info.bytes().map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
        let field = |name: &str| text.lines().find_map(|l| Some(l.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()));
        if field("aof_enabled").is_some_and(|v| v == "0") {
            self.worries.push("appendonly is no".into());
        }
        let there = field("connected_slaves").and_then(|v| v.parse::<u32>().ok()).unwrap_or(0);
        if there < replicas {
            self.worries.push(format!("wait_replicas is {replicas}, and {there} are there"));
        } else if there > 0 && replicas == 0 {
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

pub(super) fn no_cluster() -> Broken {
    Broken::Lasting("this server is no node of a Redis Cluster: it is named by redis://host:port".into())
}

fn too_old(version: &str) -> Broken {
    let version = if version.is_empty() { "older than 6" } else { version };
    Broken::Lasting(format!("the server is Redis {version}: 6 or later is needed, or Valkey"))
}

/// What an error means for the connection. `None`: nothing, it is the call's.
pub(super) fn broken_by(error: &[u8]) -> Option<Broken> {
    let text = || String::from_utf8_lossy(error).into_owned();
    let code = error.split(|b| *b == b' ').next().unwrap_or_default();
    match code {
        b"ERR" if error.starts_with(b"ERR max number of clients") => {
            Some(Broken::Passing("it has as many clients as it may have (its setting maxclients)".into()))
        }
        b"LOADING" | b"MASTERDOWN" | b"CLUSTERDOWN" | b"TRYAGAIN" | b"BUSY" => Some(Broken::Passing(text())),
        b"READONLY" => Some(Broken::Passing("this is a replica now, which can only be read: a fail-over is going on".into())),
        b"NOAUTH" => Some(Broken::Lasting("it wants a password: redis://:PASSWORD@host, or redis://USER:PASSWORD@host".into())),
        b"WRONGPASS" => Some(Broken::Lasting("it refuses the user or the password".into())),
        _ => None,
    }
}

impl<T> Machine<T> {
    /// There is a connection, on which nothing was said yet: the one for calls first.
    pub fn connected(&mut self, line: usize, side: Side, now: Time) {
        self.lines[line].begin(side, now, &self.options);
    }
    /// One of them is not there, or not any more: the other one is to be closed. Calls wait for others until their patience is over; if it will
    /// be no better, they end.
    pub fn disconnected(&mut self, line: usize, now: Time, why: &Broken) {
        let l = &mut self.lines[line];
        (l.calls, l.channels) = Default::default();
        l.done.clear();
        l.waits = false;
        l.down.get_or_insert(now);
        l.trouble = Some(why.text().into());
        let mut parked = Vec::new();
        for (name, p) in self.calls.iter_mut().filter(|(_, p)| p.line.map(usize::from) == Some(line)) {
            p.again |= p.first_sent.is_some();
            p.done = None;
            match &mut p.step {
                Step::Sent => {
                    p.step = Step::Queued;
                    parked.push(*name);
                }
                Step::Confirms(_, _, sent @ true) => {
                    *sent = false;
                    parked.push(*name);
                }
                Step::Confirms(..) | Step::Queued | Step::Waits(_) => {}
            }
        }
        self.subscriptions_are_cut(line);
        self.tidy.forget();
        self.line_is_lost(now, line, &parked);
        self.window_is_shut(line, now);
        if let Broken::Lasting(_) = why {
            self.give_up_all(now, Some(line));
        }
    }
    /// The server has taken some of what had waited for it to do so: it lives.
    pub fn progress(&mut self, line: usize, side: Side, now: Time) {
        self.lines[line].wire(side).heard = now;
    }
    /// The server has said something.
    ///
    /// # Errors
    /// The connections are to be closed, and [`disconnected`](Self::disconnected) told of it.
    pub fn received(&mut self, line: usize, side: Side, now: Time, bytes: &[u8], news: &mut Vec<News>) -> Result<(), Broken> {
        let w = self.lines[line].wire(side);
        w.heard = now;
        w.pinged = false;
        w.decoder.feed(bytes);
        loop {
            match self.lines[line].wire(side).decoder.next() {
                Ok(Some(reply)) => {
                    self.reply(line, side, now, reply, news)?;
                    self.see_ready(line, now, news);
                }
                Ok(None) => return Ok(()),
                Err(e) => return Err(Broken::Passing(format!("this is no Redis: {e}"))),
            }
        }
    }
    /// Does anybody wait for what comes on the line's channels?
    pub fn listens(&self, line: usize) -> bool {
        !self.keys.is_empty() || !self.watched.is_empty() || !self.lines[line].channels.tags.is_empty()
    }
    /// Is the connection to be closed, because nothing is heard of the server?
    pub fn is_dead(&self, line: usize, now: Time) -> bool {
        self.lines[line].is_dead(now)
    }
    fn reply(&mut self, line: usize, side: Side, now: Time, reply: Reply, news: &mut Vec<News>) -> Result<(), Broken> {
        if let Reply::Push(parts) = &reply {
            let kind = parts.first().and_then(Reply::bytes).map_or(&b""[..], |b| &b[..]);
            match (kind, &parts[1..]) {
                (b"message", [Reply::Text(channel), Reply::Text(payload)]) => {
                    if !self.heard_event(channel, payload) {
                        self.heard_message(now, channel, payload);
                    }
                }
                (b"subscribe", [Reply::Text(channel), ..]) => {
                    self.confirmed(line, true);
                    self.hears_key(line, now, channel);
                    self.hears_watched(line, now, channel);
                }
                (b"unsubscribe", _) => self.confirmed(line, false),
                _ => {}
            }
            return Ok(());
        }
        let Some(tag) = self.lines[line].wire(side).tags.pop_front() else {
            return Err(Broken::Passing("it says what nobody has asked for".into()));
        };
        if let Reply::Error(e) = &reply {
            match tag {
                Tag::Call(name, slot, asks) if self.is_elsewhere(e) => {
                    if asks {
                        self.got_reply(line, now, 0);
                    }
                    self.not_done(line, now, name, slot, e);
                    return Ok(());
                }
                Tag::Tidy if self.is_elsewhere(e) => return Ok(()),
                _ => {}
            }
            // A put that others stand before; a server's own refusal of that name is a cluster's.
            let early = matches!(tag, Tag::Call(..)) && e.starts_with(b"TRYAGAIN");
            if let Some(t) = broken_by(e).filter(|_| !early) {
                if let Tag::Call(..) = tag {
                    self.lines[line].calls.tags.push_front(tag);
                }
                return Err(t);
            }
        }
        let l = &mut self.lines[line];
        match (tag, reply) {
            (Tag::Hello, Reply::Error(e)) if e.starts_with(b"ERR unknown command") => Err(too_old("")),
            (Tag::Hello, Reply::Error(e)) => Err(refuses(&e)),
            (Tag::Hello, _) if side == Side::Channels => {
                l.hears(now, &self.options);
                Ok(())
            }
            (Tag::Hello, r) => l.greeted(now, &r, &self.options),
            (Tag::Select | Tag::Load(_) | Tag::Subscribe(_) | Tag::Unsubscribe(_), Reply::Error(e)) => Err(refuses(&e)),
            (Tag::Load(script), r) => {
                l.shas[script as usize] = r.bytes().cloned().unwrap_or_default();
                Ok(())
            }
            (Tag::Mark, Reply::Error(e)) => Err(Broken::Passing(String::from_utf8_lossy(&e).into_owned())),
            (Tag::Mark, _) => Ok(()),
            (Tag::Wait(names), r) => {
                self.copied(line, now, &names, &r);
                Ok(())
            }
            // Some may not ask.
            (Tag::Info, r) => {
                l.look_at_info(&r, self.options.replicas);
                Ok(())
            }
            (Tag::Config, r) => {
                l.look_at_config(&r);
                Ok(())
            }
            (Tag::Call(name, slot, asks), r) => {
                let bytes = r.list().iter().filter_map(Reply::bytes).map(|b| b.len()).sum();
                self.answered(now, name, r);
                self.slot_answered(now, name, slot);
                if asks {
                    self.got_reply(line, now, bytes);
                }
                Ok(())
            }
            (Tag::Slots, r) => {
                self.slots_told(line, now, &r, news);
                Ok(())
            }
            (Tag::Select | Tag::Ping | Tag::Tidy, _) => Ok(()),
            (Tag::Subscribe(_) | Tag::Unsubscribe(_), _) => Err(Broken::Passing("it mixes up its replies".into())),
        }
    }
    /// A connection has been greeted when nothing is owed to it any more.
    fn see_ready(&mut self, line: usize, now: Time, news: &mut Vec<News>) {
        let l = &mut self.lines[line];
        let before = l.is_ready();
        for side in Side::ALL {
            let w = l.wire(side);
            if w.state == State::Greets && w.tags.is_empty() {
                w.state = State::Ready;
            }
        }
        if l.is_ready() && !before {
            self.ready(line, now, news);
        }
    }
    fn confirmed(&mut self, line: usize, subscribes: bool) {
        let tags = &mut self.lines[line].channels.tags;
        let done = match tags.front_mut() {
            Some(Tag::Subscribe(n)) if subscribes => n,
            Some(Tag::Unsubscribe(n)) if !subscribes => n,
            // It is told by itself that it hears no more, and is not asked about it.
            _ => return,
        };
        *done = done.saturating_sub(1);
        if *done == 0 {
            tags.pop_front();
        }
    }
    fn ready(&mut self, line: usize, now: Time, news: &mut Vec<News>) {
        let l = &mut self.lines[line];
        l.down = None;
        l.trouble = None;
        self.table_kept = None;
        self.sweep_at = now.saturating_add(1000 * MS);
        news.push(News::Serves);
        if self.cluster.is_some() {
            self.node_is_ready(line, now, news);
        } else {
            let worries = std::mem::take(&mut self.lines[line].worries);
            news.push(News::Ready((!worries.is_empty()).then(|| worries.join("; "))));
            let queued: Vec<u64> = self.calls.iter().filter(|(_, p)| !matches!(p.step, Step::Waits(_))).map(|x| *x.0).collect();
            queued.into_iter().for_each(|name| self.send_again(now, name));
        }
        self.look_again(line, now);
        self.watch_again(line, now);
    }
    /// There is a connection for it.
    pub(super) fn send_again(&mut self, now: Time, name: u64) {
        if self.goes_again(now, name) {
            self.send(now, name);
        }
    }
    /// False: the call has ended. One that was sent too long ago may have been forgotten by the store.
    pub(super) fn goes_again(&mut self, now: Time, name: u64) -> bool {
        let old = |p: &super::Pending<T>| p.first_sent.is_some_and(|at| at.saturating_add(super::FORGOTTEN) <= now);
        if self.calls.get(&name).is_some_and(old) {
            self.end(name, Err(Trouble::Lost("it was away for too long".into())));
        }
        self.calls.contains_key(&name)
    }
    /// The server has forgotten the scripts.
    pub(super) fn load_scripts(&mut self, line: usize, now: Time) {
        self.lines[line].load(now);
    }
    pub(super) fn write_subscribe(&mut self, line: usize, now: Time, channels: &[Bytes]) {
        self.lines[line].write_channels(now, b"SUBSCRIBE", channels);
    }
    pub(super) fn write_unsubscribe(&mut self, line: usize, now: Time, channels: &[Bytes]) {
        self.lines[line].write_channels(now, b"UNSUBSCRIBE", channels);
    }
}

impl Line {
    fn write_channels(&mut self, now: Time, what: &[u8], channels: &[Bytes]) {
        for some in channels.chunks(500) {
            let mut c = Command::new(&mut self.channels.out, 1 + some.len());
            c.part(what);
            some.iter().for_each(|ch| {
                c.part(ch);
            });
            let tag = if what == b"SUBSCRIBE" { Tag::Subscribe(some.len()) } else { Tag::Unsubscribe(some.len()) };
            self.channels.expect(now, tag);
        }
    }
}

pub(super) fn refuses(error: &[u8]) -> Broken {
    Broken::Lasting(format!("it refuses: {}", String::from_utf8_lossy(error)))
}
