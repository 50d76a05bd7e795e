//! Certificates and keys, by `rcgen`.

use super::days::Days;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, Error, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SanType, date_time_ymd,
};
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// What an authority is called: the certificates that it signs name it so.
const AUTHORITY: &str = "kumi cluster";

/// A node's name, and what else its certificate names.
pub struct Names {
    pub node: String,
    others: Vec<SanType>,
}

impl Names {
    pub fn new(node: &str, others: &[String]) -> Result<Names, String> {
        let plain = |n: &str| n.split('.').all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
        if node == "ca" || !plain(node) || node.len() > 63 {
            return Err(format!("{node:?} is no node's name that a certificate can have: letters, digits, - and ., and not ca"));
        }
        let other = |text: &String| match text.parse::<IpAddr>() {
            Ok(ip) => Ok(SanType::IpAddress(ip)),
            Err(_) if plain(text) => dns(text),
            Err(_) => Err(format!("{text:?} is neither a name nor an IP address")),
        };
        Ok(Names { node: node.to_owned(), others: others.iter().map(other).collect::<Result<_, String>>()? })
    }
}

fn dns(name: &str) -> Result<SanType, String> {
    name.try_into().map(SanType::DnsName).map_err(|e| format!("{name:?}: {e}"))
}

fn params(name: &str, until: Days) -> CertificateParams {
    let mut p = CertificateParams::default();
    let mut called = DistinguishedName::new();
    called.push(DnType::CommonName, name);
    p.distinguished_name = called;
    let date = |d: Days| {
        let (y, m, d) = d.date();
        date_time_ymd(y, m, d)
    };
    // Clocks apart by less than a day are no matter.
    let from = Days::from_now(-1).min(until);
    (p.not_before, p.not_after) = (date(from), date(until));
    p
}

fn of_authority(until: Days) -> CertificateParams {
    let mut p = params(AUTHORITY, until);
    p.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    p.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    p
}

/// An authority: its certificate and key in PEM.
pub fn authority(until: Days) -> Result<(String, String), Error> {
    let key = KeyPair::generate()?;
    let cert = of_authority(until).self_signed(&key)?;
    Ok((cert.pem(), key.serialize_pem()))
}

/// A node's certificate and key in PEM, signed by the authority with this key.
pub fn node(names: &Names, until: Days, ca_key: &str) -> Result<(String, String), Error> {
    let issuer = Issuer::new(of_authority(until), KeyPair::from_pem(ca_key)?);
    let mut p = params(&names.node, until);
    let own = SanType::DnsName(names.node.as_str().try_into()?);
    p.subject_alt_names = std::iter::once(own).chain(names.others.iter().cloned()).collect();
    p.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    p.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    p.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    Ok((p.signed_by(&key, &issuer)?.pem(), key.serialize_pem()))
}

/// Makes the folder, for its owner alone.
pub fn folder(dir: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Both files, the key first: a certificate without its key is of no use.
pub fn save(dir: &Path, name: &str, cert: &str, key: &str) -> std::io::Result<()> {
    put(dir, &format!("{name}.key"), key, 0o600)?;
    put(dir, &format!("{name}.pem"), cert, 0o644)
}

fn put(dir: &Path, name: &str, text: &str, mode: u32) -> std::io::Result<()> {
    let beside = dir.join(format!(".{name}.{}", std::process::id()));
    let written = (|| {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, dir.join(name))
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}
