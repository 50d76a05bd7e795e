//! Serves files over loopback HTTP as a wire of a given rate would bring them.
//!
//! usage: xml-server FOLDER [PORT]
//!
//! Prints `PORT` when it listens, and ends when its standard input does. What a request wants stands in its query:
//!
//! ```text
//! GET /lineitem.xml                            as fast as the reader takes it
//! GET /lineitem.xml?wire=a&rate=250            250 Mbps, shared with all other connections of wire `a`
//! GET /lineitem.xml?wire=a&rate=250,1.5:50     from 1.5 s after the wire's beginning on 50 Mbps
//! GET /lineitem.xml?wire=a&rate=250&share=size the wire is shared by sizes, so that all documents end together
//! GET /orders.xml?wire=b&rate=21&stall=1000000:2   sends nothing for 2 s once it has sent 1,000,000 bytes
//! GET /log?wire=a                              what wire `a` did, as JSON; waits until its connections are done
//! ```
//!
//! A rate is 10^6 bits a second of document bytes. Without `share`, connections of a wire that have something left to send take turns
//! with pieces of 4 KB, as equal connections through one link do.

mod wire;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wire::{Document, Rates, Stall, Wire};

type Wires = Arc<Mutex<HashMap<String, Arc<Wire>>>>;

struct Request {
    path: String,
    query: HashMap<String, String>,
}

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let Some(folder) = words.next().map(PathBuf::from) else {
        eprintln!("usage: xml-server FOLDER [PORT]");
        std::process::exit(2);
    };
    let port = words.next().and_then(|p| p.parse::<u16>().ok()).unwrap_or(0);
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("{}", listener.local_addr()?.port());
    io::stdout().flush()?;
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(0);
    });
    let wires = Wires::default();
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let (folder, wires) = (folder.clone(), wires.clone());
        std::thread::spawn(move || {
            // A client that went away has had its answer.
            let _ = answer(stream, &folder, &wires);
        });
    }
    Ok(())
}

/// Reads a request's head. None: it makes no sense.
fn request(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|w| w == b"\r\n\r\n") {
        let n = stream.read(&mut piece)?;
        if n == 0 || head.len() > 65_536 {
            return Ok(None);
        }
        head.extend_from_slice(&piece[..n]);
    }
    let line = String::from_utf8_lossy(&head).lines().next().unwrap_or("").to_string();
    let Some(target) = line.strip_prefix("GET ").and_then(|l| l.split(' ').next()) else { return Ok(None) };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let query = query.split('&').filter_map(|p| p.split_once('=')).map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Ok(Some(Request { path: path.trim_start_matches('/').to_string(), query }))
}

fn answer(mut stream: TcpStream, folder: &Path, wires: &Wires) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let Some(r) = request(&mut stream)? else { return short(&mut stream, "400 Bad Request", "") };
    let name = r.query.get("wire").cloned().unwrap_or_default();
    if r.path == "log" {
        let wire = wires.lock().unwrap_or_else(|e| e.into_inner()).remove(&name);
        return match wire {
            Some(w) => short(&mut stream, "200 OK", &w.log(Duration::from_secs(120))),
            None => short(&mut stream, "404 Not Found", "no such wire\n"),
        };
    }
    if r.path.is_empty() || r.path.contains('/') || r.path.starts_with('.') {
        return short(&mut stream, "404 Not Found", "no such document\n");
    }
    let Ok(mut file) = File::open(folder.join(&r.path)) else { return short(&mut stream, "404 Not Found", "no such document\n") };
    let size = file.metadata()?.len();
    let wire = wires.lock().unwrap_or_else(|e| e.into_inner()).entry(name).or_default().clone();
    let rates = match r.query.get("rate").map(|r| Rates::parse(r)) {
        Some(None) => return short(&mut stream, "400 Bad Request", "a rate is no such thing\n"),
        other => other.flatten(),
    };
    wire.open();
    // What goes wrong with this write goes wrong with the next one, which notes it.
    let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n");
    let Some(rates) = rates else {
        wire.note(wire::unpaced(&mut stream, &mut file, &r.path, size));
        return Ok(());
    };
    let document = Document {
        name: r.path,
        file,
        stream,
        size,
        weight: if r.query.get("share").is_some_and(|s| s == "size") { size as f64 } else { 1.0 },
        stall: r.query.get("stall").and_then(|s| Stall::parse(s)),
    };
    Wire::join(&wire, rates, document);
    Ok(())
}

fn short(stream: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
