//! Whom to trust, and what to say when somebody is not to be trusted.

use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};
use std::sync::Arc;

/// Trusts the system's roots (or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`) and `extra`. Reads files, so it may block.
pub(crate) fn config(extra: &[Vec<u8>]) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    for der in extra {
        roots.add(CertificateDer::from(der.clone())).map_err(|e| format!("a certificate of extra_roots cannot be used: {e}"))?;
    }
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let because = found.errors.first().map(|e| format!(" ({e})")).unwrap_or_default();
        return Err(format!("no trusted root certificates were found{because}; SSL_CERT_FILE may name a file that holds some"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The error in terms of what can be done about it.
pub(crate) fn explain(host: &str, e: &Error) -> String {
    match e {
        Error::InvalidCertificate(c) => match c {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => format!("the certificate of {host} has expired ({c})"),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                format!("the certificate of {host} is not valid yet ({c})")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("the certificate is for another host than {host} ({c})")
            }
            CertificateError::UnknownIssuer => {
                format!("the certificate of {host} is issued by nobody who is trusted here; SSL_CERT_FILE may name further roots")
            }
            CertificateError::Revoked => format!("the certificate of {host} was revoked"),
            _ => format!("the certificate of {host} is not valid: {c}"),
        },
        Error::InvalidMessage(_) => format!("{host} does not speak TLS on this port ({e})"),
        Error::AlertReceived(_) => format!("{host} broke off the handshake: {e}"),
        _ => e.to_string(),
    }
}
