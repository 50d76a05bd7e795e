//! Mutual TLS: whoever has a certificate of the cluster's authority is let in, under the name that the certificate gives it.
//!
//! **Invariant.** A chain is verified in the handshake, on both sides; the name after it, once the peer has said who it is. Nothing but
//! the handshake's frames is handled before. TLS 1.3 only, and no session is resumed: a certificate is looked at in each connection.

mod verify;

use crate::error::LinkError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{CertificateError, ClientConfig, Error, RootCertStore, ServerConfig};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A node's certificate and key, and the authority whose certificates are let in.
#[derive(Clone)]
pub struct Tls {
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
    /// Its own first, then those between it and the authority's.
    chain: Vec<CertificateDer<'static>>,
    verify: Arc<verify::Chain>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Of three files in PEM: the node's certificate with those between it and the authority's, its key, the authorities.
    ///
    /// # Errors
    /// Which file can't be read or used, and why.
    pub fn from_files(cert: impl AsRef<Path>, key: impl AsRef<Path>, authorities: impl AsRef<Path>) -> Result<Tls, LinkError> {
        let read = |path: &Path| std::fs::read(path).map_err(|e| LinkError::File(path.display().to_string(), e));
        let (cert, key, authorities) = (cert.as_ref(), key.as_ref(), authorities.as_ref());
        let named = |e| match e {
            LinkError::Certificate(why) => LinkError::Certificate(format!(
                "{why} (certificate {}, key {}, authorities {})",
                cert.display(),
                key.display(),
                authorities.display()
            )),
            other => other,
        };
        Tls::from_pem(&read(cert)?, &read(key)?, &read(authorities)?).map_err(named)
    }

    /// Of the same as bytes.
    ///
    /// # Errors
    /// What can't be used, and why.
    pub fn from_pem(cert: &[u8], key: &[u8], authorities: &[u8]) -> Result<Tls, LinkError> {
        let wrong = |what: &str, e: &dyn fmt::Display| LinkError::Certificate(format!("{what}: {e}"));
        let chain = |pem: &[u8], what: &str| -> Result<Vec<CertificateDer<'static>>, LinkError> {
            let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
            let all = all.map_err(|e| wrong(what, &e))?;
            if all.is_empty() { Err(LinkError::Certificate(format!("{what}: no certificate is in it"))) } else { Ok(all) }
        };
        let certs = chain(cert, "the node's certificate")?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|e| wrong("the node's key", &e))?;
        let mut roots = RootCertStore::empty();
        for root in chain(authorities, "the authorities")? {
            roots.add(root).map_err(|e| wrong("the authorities", &e))?;
        }
        let (roots, provider) = (Arc::new(roots), Arc::new(rustls::crypto::ring::default_provider()));
        let (own, verify) = (certs.clone(), Arc::new(verify::Chain { roots: roots.clone(), provider: provider.clone() }));
        let clients = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone()).build();
        let clients = clients.map_err(|e| wrong("the authorities", &e))?;
        let versions = &[&rustls::version::TLS13];
        let server = ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions);
        let server = server.map_err(|e| wrong("TLS", &e))?.with_client_cert_verifier(clients);
        let mut server =
            server.with_single_cert(certs.clone(), key.clone_key()).map_err(|e| wrong("the node's certificate and key", &e))?;
        server.send_tls13_tickets = 0;
        let client = ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions);
        let client = client.map_err(|e| wrong("TLS", &e))?.dangerous();
        let client = client.with_custom_certificate_verifier(verify.clone());
        let mut client = client.with_client_auth_cert(certs, key).map_err(|e| wrong("the node's certificate and key", &e))?;
        client.resumption = rustls::client::Resumption::disabled();
        client.enable_sni = false;
        Ok(Tls { server: Arc::new(server), client: Arc::new(client), chain: own, verify })
    }

    /// Whether the certificate is one of this node's name.
    ///
    /// # Errors
    /// It is another's, or the name can't stand in a certificate.
    pub fn check_own(&self, name: &str) -> Result<(), LinkError> {
        let own = self.chain.first().map_or(Ok(()), |own| check_name(own, name));
        own.map_err(|e| LinkError::Certificate(format!("the node's own certificate: {e}")))
    }

    /// Whether others with the same authorities let it in now.
    ///
    /// # Errors
    /// No authority here has signed it, or its time is not now.
    pub fn check_signed(&self) -> Result<(), LinkError> {
        let [own, between @ ..] = &self.chain[..] else { return Ok(()) };
        let why = |e: Error| explain(&e).replace("the peer's certificate", "others would refuse it: it");
        self.verify
            .check(own, between, UnixTime::now())
            .map_err(|e| LinkError::Certificate(format!("the node's own certificate: {}", why(e))))
    }

    pub(crate) fn accept(&self) -> Result<rustls::Connection, Error> {
        Ok(rustls::ServerConnection::new(self.server.clone())?.into())
    }

    pub(crate) fn call(&self) -> Result<rustls::Connection, Error> {
        // The name is looked at once the peer has said it.
        let nobody = ServerName::try_from("node.invalid").map_err(|_| Error::General("a name".into()))?;
        Ok(rustls::ClientConnection::new(self.client.clone(), nobody)?.into())
    }
}

/// Whether a peer's certificate names it.
pub(crate) fn check_peer(tls: &rustls::Connection, name: &str) -> Result<(), String> {
    match tls.peer_certificates().and_then(|c| c.first()) {
        Some(cert) => check_name(cert, name),
        None => Err("the peer showed no certificate".to_owned()),
    }
}

fn check_name(cert: &CertificateDer<'_>, name: &str) -> Result<(), String> {
    let server = ServerName::try_from(name).map_err(|_| {
        format!("{name:?} can't stand in a certificate: with TLS a node's name is one of the DNS (letters, digits, - and .)")
    })?;
    let parsed = ParsedCertificate::try_from(cert).map_err(|e| explain(&e))?;
    rustls::client::verify_server_name(&parsed, &server)
        .map_err(|_| format!("the certificate is not one of node {name}: \"{name}\" is none of its DNS names (subjectAltName)"))
}

/// What went wrong, and on which side.
pub(crate) fn explain(e: &Error) -> String {
    use rustls::AlertDescription as Alert;
    match e {
        Error::InvalidCertificate(e) => {
            let what = match e {
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired",
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "is not valid yet: are the clocks right?",
                CertificateError::UnknownIssuer => "is not of an authority that is trusted here",
                CertificateError::BadSignature => "has a wrong signature",
                CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                    "is not for both sides of a connection (serverAuth and clientAuth)"
                }
                other => return format!("the peer's certificate is refused: {other}"),
            };
            format!("the peer's certificate {what}")
        }
        Error::NoCertificatesPresented => "the peer showed no certificate".to_owned(),
        Error::AlertReceived(alert) => {
            let what = match alert {
                Alert::CertificateExpired => "has expired, says the peer",
                Alert::UnknownCA => "is not of an authority that the peer trusts",
                Alert::CertificateRequired => "is missing, says the peer",
                Alert::BadCertificate | Alert::CertificateUnknown | Alert::UnsupportedCertificate => "is refused by the peer",
                other => return format!("the peer ended TLS: {other:?}"),
            };
            format!("this node's certificate {what}")
        }
        Error::InvalidMessage(_) => "the peer does not speak TLS: has it certificates, too?".to_owned(),
        other => format!("TLS failed: {other}"),
    }
}
