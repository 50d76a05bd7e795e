//! A wire: connections that share a rate. Invariant: a piece is sent no earlier than its last bit would have passed a wire of that rate
//! since the wire began, and as little later as the system's clock allows. Lateness of a sleep is made good by sending what is due
//! together; time in which no connection could take anything is lost, as on a real link, and is told as `idle_s`.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// What is sent at once, as in the paper.
pub const PIECE: usize = 4096;

/// A wire that sends nothing looks again this often.
const NAP: Duration = Duration::from_micros(100);

/// Mbps from given seconds on, beginning with the first at 0.
#[derive(Clone)]
pub struct Rates(Vec<(f64, f64)>);

impl Rates {
    /// `250` or `250,1.5:50,3:250`.
    pub fn parse(text: &str) -> Option<Rates> {
        let mut list = Vec::new();
        for (i, part) in text.split(',').enumerate() {
            let (from, rate) = if i == 0 { ("0", part) } else { part.split_once(':')? };
            let (from, rate) = (from.parse::<f64>().ok()?, rate.parse::<f64>().ok()?);
            if !(rate > 0.0 && from >= 0.0 && rate.is_finite() && from.is_finite()) {
                return None;
            }
            list.push((from, rate));
        }
        Some(Rates(list))
    }

    /// The second at which a wire has carried that many bytes.
    fn due(&self, bytes: u64) -> f64 {
        let mut left = bytes as f64 * 8.0;
        for (i, &(from, rate)) in self.0.iter().enumerate() {
            let until = self.0.get(i + 1).map_or(f64::INFINITY, |n| n.0);
            let room = (until - from).max(0.0) * rate * 1e6;
            if left <= room {
                return from + left / (rate * 1e6);
            }
            left -= room;
        }
        f64::INFINITY
    }
}

/// Silence of a connection once it has sent `at` bytes.
pub struct Stall {
    at: u64,
    length: Duration,
    until: Option<Instant>,
}

impl Stall {
    /// `BYTES:SECONDS`.
    pub fn parse(text: &str) -> Option<Stall> {
        let (at, length) = text.split_once(':')?;
        let length = length.parse::<f64>().ok().filter(|s| (0.0..3600.0).contains(s))?;
        Some(Stall { at: at.parse().ok()?, length: Duration::from_secs_f64(length), until: None })
    }
}

pub struct Document {
    pub name: String,
    pub file: File,
    pub stream: TcpStream,
    pub size: u64,
    /// Its share of the wire is its weight over that of all that have something to send.
    pub weight: f64,
    pub stall: Option<Stall>,
}

/// What became of a document. Times are nanoseconds of CLOCK_MONOTONIC, which clients on this machine read too.
pub struct Done {
    name: String,
    bytes: u64,
    whole: bool,
    first: u64,
    last: u64,
}

struct Sending {
    document: Document,
    piece: Vec<u8>,
    /// Of the piece: what of it has been taken.
    taken: usize,
    read: u64,
    sent: u64,
    first: u64,
    last: u64,
    /// Bytes over weight: the lowest goes next.
    turn: f64,
}

#[derive(Default)]
struct State {
    joining: Vec<Document>,
    running: bool,
    /// Requests that have come and are not done.
    open: usize,
    done: Vec<Done>,
    carried: u64,
    idle: f64,
    ideal: f64,
}

#[derive(Default)]
pub struct Wire {
    state: Mutex<State>,
    changed: Condvar,
}

/// Nanoseconds of CLOCK_MONOTONIC.
fn clock() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid place for a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// The thread's sleeps end when they should: the default slack is 50 us, a piece at 1000 Mbps is 33.
fn precise_sleeps() {
    // SAFETY: this option takes a number and touches no memory of ours.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong, 0 as libc::c_ulong, 0 as libc::c_ulong, 0 as libc::c_ulong) };
}

/// Bytes of a socket's send buffer that the reader's kernel has not taken yet.
fn unsent(stream: &TcpStream) -> usize {
    let mut n: libc::c_int = 0;
    // SAFETY: the descriptor is open as long as the stream, and `n` is a valid place for the answer.
    let ok = unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &mut n) };
    if ok == 0 { n.max(0) as usize } else { 0 }
}

/// Sends a document as fast as it is taken.
pub fn unpaced(stream: &mut TcpStream, file: &mut File, name: &str, size: u64) -> Done {
    let (mut sent, first) = (0, clock());
    let mut piece = vec![0; 1 << 18];
    while sent < size {
        match file.read(&mut piece) {
            Ok(n) if n > 0 && stream.write_all(&piece[..n]).is_ok() => sent += n as u64,
            _ => break,
        }
    }
    Done { name: name.to_string(), bytes: sent, whole: sent == size, first, last: clock() }
}

impl Wire {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A request has come that a `note` will end.
    pub fn open(&self) {
        self.state().open += 1;
    }

    pub fn note(&self, done: Done) {
        let mut s = self.state();
        s.done.push(done);
        s.open = s.open.saturating_sub(1);
        drop(s);
        self.changed.notify_all();
    }

    /// Gives the wire a document to carry. The first one begins its time and says its rate.
    pub fn join(wire: &Arc<Wire>, rates: Rates, document: Document) {
        let mut state = wire.state();
        state.joining.push(document);
        if !state.running {
            state.running = true;
            let wire = wire.clone();
            std::thread::spawn(move || wire.run(&rates));
        }
    }

    /// What the wire did, once nothing is under way.
    pub fn log(&self, patience: Duration) -> String {
        let end = Instant::now() + patience;
        let mut s = self.state();
        while (s.running || s.open > 0) && Instant::now() < end {
            s = match self.changed.wait_timeout(s, Duration::from_millis(50)) {
                Ok((s, _)) => s,
                Err(e) => e.into_inner().0,
            };
        }
        let documents: Vec<String> = s
            .done
            .iter()
            .map(|d| {
                format!(
                    "{{\"name\":\"{}\",\"bytes\":{},\"whole\":{},\"first_ns\":{},\"last_ns\":{}}}",
                    d.name, d.bytes, d.whole, d.first, d.last
                )
            })
            .collect();
        let first = s.done.iter().map(|d| d.first).min().unwrap_or(0);
        let last = s.done.iter().map(|d| d.last).max().unwrap_or(0);
        format!(
            "{{\"ended\":{},\"first_ns\":{first},\"last_ns\":{last},\"wire_s\":{:.6},\"ideal_s\":{:.6},\"idle_s\":{:.6},\"documents\":[{}]}}\n",
            !s.running && s.open == 0,
            (last - first) as f64 / 1e9,
            s.ideal,
            s.idle,
            documents.join(",")
        )
    }

    fn run(&self, rates: &Rates) {
        precise_sleeps();
        let begin = Instant::now();
        let mut lost = Duration::ZERO;
        let mut carried = 0u64;
        let mut sending: Vec<Sending> = Vec::new();
        loop {
            {
                let mut s = self.state();
                for document in std::mem::take(&mut s.joining) {
                    // A newcomer has no claim on the time before it came.
                    let turn = sending.iter().map(|o| o.turn).fold(f64::INFINITY, f64::min);
                    let turn = if turn.is_finite() { turn } else { 0.0 };
                    if document.stream.set_nonblocking(true).is_err() {
                        s.open = s.open.saturating_sub(1);
                    } else {
                        sending.push(Sending { document, piece: Vec::new(), taken: 0, read: 0, sent: 0, first: 0, last: 0, turn });
                    }
                }
                s.carried = carried;
                s.idle = lost.as_secs_f64();
                s.ideal = rates.due(carried);
                if sending.is_empty() {
                    s.running = false;
                    drop(s);
                    self.changed.notify_all();
                    return;
                }
            }
            let due = begin + lost + Duration::from_secs_f64(rates.due(carried + PIECE as u64).min(1e9));
            let now = Instant::now();
            if due > now {
                std::thread::sleep(due - now);
            }
            let before = Instant::now();
            match self.send_one(&mut sending) {
                Some(n) => carried += n as u64,
                None if sending.is_empty() => {}
                None => {
                    std::thread::sleep(NAP);
                    lost += before.elapsed();
                }
            }
        }
    }

    /// Sends a piece of the connection whose turn it is, of those that can take one. None: nobody can now, or one has ended.
    fn send_one(&self, sending: &mut Vec<Sending>) -> Option<usize> {
        let mut order: Vec<usize> = (0..sending.len()).collect();
        order.sort_by(|a, b| sending[*a].turn.total_cmp(&sending[*b].turn));
        for i in order {
            match sending[i].send() {
                Ok(0) => {}
                Ok(n) => {
                    if sending[i].sent == sending[i].document.size {
                        let s = sending.swap_remove(i);
                        self.note(s.done());
                    }
                    return Some(n);
                }
                Err(_) => {
                    let s = sending.swap_remove(i);
                    self.note(s.done());
                    return None;
                }
            }
        }
        None
    }
}

impl Sending {
    fn done(self) -> Done {
        Done { whole: self.sent == self.document.size, name: self.document.name, bytes: self.sent, first: self.first, last: self.last }
    }

    /// Sends the next piece, or what is left of one. 0: not now.
    fn send(&mut self) -> io::Result<usize> {
        let d = &mut self.document;
        if let Some(stall) = d.stall.as_mut().filter(|s| self.sent >= s.at)
            && Instant::now() < *stall.until.get_or_insert_with(|| Instant::now() + stall.length)
        {
            return Ok(0);
        }
        // A link holds no more than its bandwidth-delay product; the kernel would take megabytes.
        if unsent(&d.stream) > 1 << 20 {
            return Ok(0);
        }
        if self.taken == self.piece.len() {
            let want = PIECE.min((d.size - self.read) as usize);
            self.piece.resize(want, 0);
            d.file.read_exact_at(&mut self.piece, self.read)?;
            self.read += want as u64;
            self.taken = 0;
        }
        match d.stream.write(&self.piece[self.taken..]) {
            Ok(0) => Err(ErrorKind::WriteZero.into()),
            Ok(n) => {
                let now = clock();
                if self.sent == 0 {
                    self.first = now;
                }
                self.last = now;
                self.taken += n;
                self.sent += n as u64;
                self.turn += n as f64 / d.weight;
                Ok(n)
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
            Err(e) => Err(e),
        }
    }
}
