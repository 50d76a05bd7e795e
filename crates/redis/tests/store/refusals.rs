//! Servers that do not serve, or not well.

use crate::client::{Client, HANG, put, store, take, trouble};
use crate::server::{Server, folder, port};
use kumi_redis::{Certificates, Settings, Store};
use kumi_segments::{Call, Done, Put, Trouble};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

pub const ALL: &[(&str, fn())] = &[
    ("settings_that_lose_are_told", settings_that_lose_are_told),
    ("passwords_and_permissions", passwords_and_permissions),
    ("no_memory", no_memory),
    ("no_room_for_clients", no_room_for_clients),
    ("a_replica_is_refused", a_replica_is_refused),
    ("nobody_is_there", nobody_is_there),
    ("what_is_no_redis", what_is_no_redis),
    ("tls", tls),
];

fn settings_that_lose_are_told() {
    let worries = |options: &[&str]| {
        let s = Server::start(options);
        Store::open(&s.address(), Settings::default()).unwrap().wait_ready(HANG).unwrap()
    };
    assert_eq!(worries(&["--appendonly", "yes", "--appendfsync", "always"]), None);
    assert_eq!(worries(&["--appendonly", "yes"]).unwrap(), "appendfsync is everysec, not always");
    let found = worries(&["--maxmemory-policy", "allkeys-lru"]).unwrap();
    assert_eq!(found, "appendonly is no; maxmemory-policy is allkeys-lru, not noeviction");
}

fn no_room_for_clients() {
    let s = Server::start(&["--maxclients", "3"]);
    let others: Vec<UnixStream> = (0..3)
        .map(|_| {
            // The one who asked whether the server is there may be counted for a moment.
            let until = Instant::now() + HANG;
            loop {
                let mut c = UnixStream::connect(s.socket()).unwrap();
                let mut answer = [0; 7];
                if c.write_all(b"PING\r\n").is_ok() && c.read_exact(&mut answer).is_ok() && answer == *b"+PONG\r\n" {
                    return c;
                }
                assert!(Instant::now() < until);
            }
        })
        .collect();
    trouble(&s.address(), Settings::default(), "as many clients as it may have");
    let c = Client(Store::open(&s.address(), Settings::default()).unwrap());
    let b = c.begin(put("k", "v"));
    std::thread::sleep(Duration::from_millis(300));
    assert!(b.is_open(), "it waits for room");
    drop(others);
    assert_eq!(b.wait(), Ok(Done::Stored(Some(1))));
}

fn passwords_and_permissions() {
    let s = Server::start(&["--requirepass", "secret"]);
    let with = |user: &str, password: &str| Settings { login: Some((user.into(), password.into())), ..Settings::default() };
    trouble(&s.address(), Settings::default(), "password");
    let said = "it refuses the user or the password";
    assert_eq!(trouble(&s.address(), with("default", "wrong"), said), said);
    let c = Client::with(&format!("{}?password=secret", s.address()), Settings::default());
    assert_eq!(c.put("k", "v"), 1);
    drop(c);
    // A user who may use one namespace only, in scripts only.
    let acl = [
        "user ann on >pw ~jobs:* &jobs:* -@all +hello +auth +evalsha +script|load +subscribe +unsubscribe +ping +info +client|setname +select +@hash +@list +@sortedset +@string +pubsub|numsub +time +exists +pexpire +publish",
        "user bob on >pw ~* &* -@all +hello",
        "user default on nopass ~* &* +@all",
    ];
    let s = Server::start(&["--appendonly", "yes"]);
    for line in acl {
        let parts: Vec<&str> = line.split(' ').skip(1).collect();
        let reply = s.say(&[&["ACL", "SETUSER"], &parts[..]].concat());
        assert_eq!(reply, "+OK\r\n", "{line}");
    }
    let ann = |ns: &str| (format!("{}?namespace={ns}", s.address()), with("ann", "pw"));
    let (address, settings) = ann("jobs");
    let c = Client::with(&address, settings);
    assert_eq!((c.put("k", "v"), c.take("k")), (1, "v".into()));
    let (address, settings) = ann("other");
    trouble(&address, settings, "NOPERM");
    trouble(&s.address(), with("bob", "pw"), "NOPERM");
}

fn no_memory() {
    let s = Server::durable();
    let c = Client::new(&s.address());
    let big = kumi_segments::Store { value: vec![b'x'; 1 << 20].into(), ..store("k", "") };
    for _ in 0..4 {
        c.store(big.clone());
    }
    s.say(&["CONFIG", "SET", "maxmemory", "2mb"]);
    let r = c.call(Call::Put(Put { store: big, wait: true }));
    assert!(matches!(&r, Err(Trouble::Store(why)) if why.starts_with("OOM")), "{r:?}");
    // What takes makes room.
    let held = c.lease("k", 10_000);
    assert_eq!(c.commit(&[held.lease.unwrap()], vec![]), Ok(Done::Ok));
    for _ in 0..3 {
        c.take("k");
    }
    c.eventually("there is room", |c| c.call(put("k", "y")).is_ok());
    assert_eq!(c.size("k"), 1);
}

fn a_replica_is_refused() {
    let s = Server::durable();
    let r = Server::start(&["--replicaof", "127.0.0.1 1", "--appendonly", "no"]);
    trouble(&r.address(), Settings::default(), "replica");
    // A primary that becomes one is left, and calls wait for it to be one again.
    let settings = Settings { patience: Some(Duration::from_secs(10)), ..Settings::default() };
    let c = Client::with(&s.address(), settings);
    assert_eq!(c.put("k", "1"), 1);
    s.say(&["REPLICAOF", "127.0.0.1", "1"]);
    let b = c.begin(put("k", "2"));
    std::thread::sleep(Duration::from_millis(300));
    assert!(b.is_open());
    s.say(&["REPLICAOF", "NO", "ONE"]);
    assert_eq!(b.wait(), Ok(Done::Stored(Some(2))));
}

fn nobody_is_there() {
    trouble("redis://127.0.0.1:1", Settings::default(), "no server listens there");
    trouble("unix:/nowhere/at/all", Settings::default(), "no server listens there");
    assert!(Store::open("http://x", Settings::default()).is_err());
    // To find that out may take any time.
    let nowhere = Store::open("redis://no-such-host.invalid:1", Settings::default()).unwrap();
    assert!(!nowhere.wait_ready(Duration::from_secs(2)).unwrap_err().is_empty());
}

/// Says this to whoever connects, whatever they ask.
fn impostor(folder: &Path, name: &str, says: &'static [u8]) -> String {
    let path = folder.join(name);
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for c in listener.incoming() {
            let Ok(mut c) = c else { return };
            let mut asked = [0; 4096];
            let _ = c.read(&mut asked);
            let _ = c.write_all(says);
            std::thread::spawn(move || while matches!(c.read(&mut [0; 4096]), Ok(n) if n > 0) {});
        }
    });
    format!("unix:{}", path.display())
}

fn what_is_no_redis() {
    let folder = folder("impostors");
    let deep: &'static [u8] = Vec::leak(b"*1\r\n".repeat(100_000));
    let cases: &[(&str, &[u8], &str)] = &[
        ("http", b"HTTP/1.1 400 Bad Request\r\n\r\n", "no Redis"),
        ("old", b"-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n", "6 or later"),
        ("five", b"%2\r\n$7\r\nversion\r\n$5\r\n5.0.9\r\n$4\r\nrole\r\n$6\r\nmaster\r\n", "Redis 5.0.9"),
        ("sentinel", b"%3\r\n$7\r\nversion\r\n$5\r\n7.0.9\r\n$4\r\nmode\r\n$8\r\nsentinel\r\n$4\r\nrole\r\n$6\r\nmaster\r\n", "Sentinel"),
        ("deep", deep, "no Redis"),
        ("more", b"+OK\r\n+OK\r\n+OK\r\n", "6 or later"),
    ];
    for (name, says, expected) in cases {
        trouble(&impostor(&folder, name, says), Settings::default(), expected);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

fn tls() {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    let folder = folder("tls");
    let authority = |name: &str| {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let cert = params.self_signed(&key).unwrap();
        std::fs::write(folder.join(format!("{name}.pem")), cert.pem()).unwrap();
        Issuer::new(params, key)
    };
    let (ca, _other) = (authority("ca"), authority("other"));
    let sign = |file: &str, names: &[&str]| {
        let key = KeyPair::generate().unwrap();
        let cert = CertificateParams::new(names.iter().map(|n| n.to_string()).collect::<Vec<_>>()).unwrap().signed_by(&key, &ca).unwrap();
        std::fs::write(folder.join(format!("{file}.pem")), cert.pem()).unwrap();
        std::fs::write(folder.join(format!("{file}.key")), key.serialize_pem()).unwrap();
    };
    sign("server", &["localhost"]);
    sign("client", &["client"]);
    let port = port();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (cert, key, root, port_text) = (path("server.pem"), path("server.key"), path("ca.pem"), port.to_string());
    let options = ["--port", "0", "--tls-port", &port_text, "--tls-cert-file", &cert, "--tls-key-file", &key, "--tls-ca-cert-file", &root];
    let s = Server::start(&options);
    let settings = |authority: &str, own: bool| Settings {
        certificates: Certificates {
            authority: Some(folder.join(authority)),
            own: own.then(|| (folder.join("client.pem"), folder.join("client.key"))),
        },
        ..Settings::default()
    };
    let address = format!("rediss://localhost:{port}");
    let c = Client::with(&address, settings("ca.pem", true));
    assert_eq!((c.put("k", &"v".repeat(1_000_000)), c.take("k").len()), (1, 1_000_000));
    let b = c.begin(take("k"));
    c.put("k", "w");
    assert!(b.wait().is_ok());
    // Another authority; no certificate of our own.
    trouble(&address, settings("other.pem", true), "no authority that is trusted");
    trouble(&address, settings("ca.pem", false), "certificate");
    trouble(&format!("rediss://127.0.0.1:{port}"), settings("ca.pem", true), "another name");
    assert!(!trouble(&format!("redis://localhost:{port}"), Settings::default(), "").is_empty());
    assert!(Store::open(&address, settings("server.key", true)).is_err());
    drop(s);
    let _ = std::fs::remove_dir_all(&folder);
}
