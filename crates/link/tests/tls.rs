//! Mutual TLS: who is let in, and what the others are told.

mod common;

use common::*;
use kumi_link::{Options, Tls};
use rcgen::*;

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    fn pair(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    fn tls(&self, name: &str) -> Tls {
        let (cert, key) = self.pair(name, |_| {});
        Tls::from_pem(cert.as_bytes(), key.as_bytes(), self.pem.as_bytes()).unwrap()
    }
}

fn options(name: &str, tls: Tls, join: &[&Node1]) -> Options {
    Options { tls: Some(tls), join: join.iter().map(|n| n.address()).collect(), ..Options::new(name) }
}

#[test]
fn nodes_of_one_authority_talk() {
    let _dog = watchdog(300);
    let ca = Authority::new("ours");
    let east = Node1::start(options("east", ca.tls("east"), &[]));
    let west = Node1::start(options("west", ca.tls("west"), &[&east]));
    west.members(2);
    west.put("east", "n", "small");
    west.put("east", "n", vec![7; 3 << 20]);
    assert_eq!(west.take("east", "n"), "small");
    assert_eq!(west.take("east", "n"), vec![7; 3 << 20]);
    // Others reach it as well: TLS may listen anywhere.
    let far = Options { listen: vec!["0.0.0.0:0".into()], advertise: Some("127.0.0.1:1".into()), ..options("far", ca.tls("far"), &[]) };
    drop(Node1::start(far));
}

#[test]
fn certificates_change_while_it_runs() {
    let _dog = watchdog(300);
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let both = format!("{}{}", old.pem, new.pem);
    let of = |ca: &Authority, name: &str| {
        let (cert, key) = ca.pair(name, |_| {});
        Tls::from_pem(cert.as_bytes(), key.as_bytes(), both.as_bytes()).unwrap()
    };
    let east = Node1::start(options("east", of(&old, "east"), &[]));
    let west = Node1::start(options("west", of(&old, "west"), &[&east]));
    west.members(2);
    west.put("east", "n", "1");
    east.link.set_tls(of(&new, "east")).unwrap();
    // Who knows the new authority alone comes in now.
    let (cert, key) = new.pair("south", |_| {});
    let tls = Tls::from_pem(cert.as_bytes(), key.as_bytes(), new.pem.as_bytes()).unwrap();
    let south = Node1::start(options("south", tls, &[&east]));
    south.host.expect("connected east");
    // Connections from before go on.
    west.put("east", "n", "2");
    let said = east.link.set_tls(of(&new, "other")).unwrap_err().to_string();
    assert!(said.contains("not one of node east"), "{said}");
    let plain = Node1::named("plain", &[]);
    assert!(plain.link.set_tls(of(&new, "plain")).is_err());
}

#[test]
fn a_wrong_certificate_is_refused_and_both_hear_why() {
    let _dog = watchdog(300);
    let ca = Authority::new("ours");
    let east = Node1::start(options("east", ca.tls("east"), &[]));

    // Of another authority, which trusts ours.
    let other = Authority::new("theirs");
    let (cert, key) = other.pair("west", |_| {});
    let tls = Tls::from_pem(cert.as_bytes(), key.as_bytes(), ca.pem.as_bytes()).unwrap();
    let west = Node1::start(options("west", tls, &[&east]));
    let said = east.host.expect("refused 127.0.0.1");
    assert!(said.contains("not of an authority that is trusted here"), "{said}");
    let said = west.host.expect("refused");
    assert!(said.contains("this node's certificate"), "{said}");
    drop(west);

    // Of another authority, which does not trust ours.
    let west = Node1::start(options("west", other.tls("west"), &[&east]));
    west.host.expect("the peer's certificate is not of an authority that is trusted here");
    east.host.expect("this node's certificate is not of an authority that the peer trusts");
    drop(west);

    // Expired.
    let (cert, key) = ca.pair("west", |p| {
        p.not_before = date_time_ymd(2001, 1, 1);
        p.not_after = date_time_ymd(2002, 1, 1);
    });
    let tls = Tls::from_pem(cert.as_bytes(), key.as_bytes(), ca.pem.as_bytes()).unwrap();
    let west = Node1::start(options("west", tls, &[&east]));
    east.host.expect("the peer's certificate has expired");
    west.host.expect("this node's certificate has expired, says the peer");
    drop(west);

    // Without TLS at all.
    let west = Node1::named("west", &[&east]);
    east.host.expect("does not speak TLS");
    west.host.expect("TLS on both sides?");
    drop(west);

    // And the other way round.
    let plain = Node1::named("plain", &[]);
    let west = Node1::start(options("west", ca.tls("west"), &[&plain]));
    plain.host.expect("TLS on both sides?");
    west.host.expect("refused");
    drop(west);

    assert_eq!(east.link.members().len(), 1);
    // Nobody else was disturbed.
    let south = Node1::start(options("south", ca.tls("south"), &[&east]));
    south.members(2);
}

#[test]
fn a_node_has_the_name_that_its_certificate_gives_it() {
    let _dog = watchdog(300);
    let ca = Authority::new("ours");
    let said = Node1::try_start(options("east", ca.tls("west"), &[])).err().unwrap().to_string();
    assert!(said.contains("not one of node east"), "{said}");
    let said = Node1::try_start(options("ä", ca.tls("east"), &[])).err().unwrap().to_string();
    assert!(said.contains("DNS"), "{said}");

    // One that lies: its certificate is good, and another's.
    let east = Node1::start(options("east", ca.tls("east"), &[]));
    liar::call(&east.address(), &ca.pair("west", |_| {}), &ca.pem, "south");
    let said = east.host.expect("refused south");
    assert!(said.contains("not one of node south"), "{said}");
}

#[test]
fn files_that_are_none_are_named() {
    let ca = Authority::new("ours");
    let (cert, key) = ca.pair("east", |_| {});
    let (_, other) = ca.pair("east", |_| {});
    let said = |c: &str, k: &str, a: &str| Tls::from_pem(c.as_bytes(), k.as_bytes(), a.as_bytes()).unwrap_err().to_string();
    for (text, part) in [
        (said("", &key, &ca.pem), "the node's certificate: no certificate"),
        (said(&cert, "", &ca.pem), "the node's key"),
        (said(&cert, &key, ""), "the authorities: no certificate"),
        (said(&cert, &other, &ca.pem), "the node's certificate and key"),
        (Tls::from_files("/nowhere/cert.pem", "k", "a").unwrap_err().to_string(), "/nowhere/cert.pem"),
    ] {
        assert!(text.contains(part), "{text}");
    }
}

mod liar {
    //! A node that says another name than its certificate does.
    use kumi_wire::{Connection, Hello, Role};
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use std::io::{IoSlice, Read, Write};
    use std::sync::Arc;

    pub fn call(address: &str, (cert, key): &(String, String), ca: &str, name: &str) {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).unwrap()).unwrap();
        let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let certs = vec![CertificateDer::from_pem_slice(cert.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let config = config.with_root_certificates(roots).with_client_auth_cert(certs, key).unwrap();
        let mut tls = rustls::ClientConnection::new(Arc::new(config), "east".try_into().unwrap()).unwrap();
        let mut socket = std::net::TcpStream::connect(address).unwrap();
        let mut stream = rustls::Stream::new(&mut tls, &mut socket);
        let mut wire = Connection::new(Role::Caller, Hello::new(name, 1), Default::default()).unwrap();
        let mut slices = [IoSlice::new(&[]); 4];
        let n = wire.transmit(&mut slices);
        let bytes: Vec<u8> = slices[..n].iter().flat_map(|s| s.iter()).copied().collect();
        stream.write_all(&bytes).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    }
}
