//! TLS to a server: its certificate is checked, with its name; ours is shown where one is given.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, Error, RootCertStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Paths of PEM files.
#[derive(Clone, Debug, Default)]
pub struct Certificates {
    /// Who signs the server's certificate. `None`: whom the system trusts.
    pub authority: Option<PathBuf>,
    /// Our certificate and its key.
    pub own: Option<(PathBuf, PathBuf)>,
}

pub(super) fn config(given: &Certificates) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    match &given.authority {
        Some(path) => {
            for c in chain(path)? {
                roots.add(c).map_err(|e| format!("{}: {e}", path.display()))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err("the system trusts no certificate authority: name one by authority:".into());
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(|e| e.to_string())?;
    let builder = builder.with_root_certificates(roots);
    let config = match &given.own {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = chain(certificate)?;
            let k = PrivateKeyDer::from_pem_file(key).map_err(|e| format!("{}: {e}", key.display()))?;
            builder.with_client_auth_cert(chain, k).map_err(|e| format!("{}: {e}", certificate.display()))?
        }
    };
    Ok(Arc::new(config))
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(|e| wrong(&e))?.collect();
    let all = all.map_err(|e| wrong(&e))?;
    if all.is_empty() { Err(wrong(&"no certificate is in it")) } else { Ok(all) }
}

pub(super) fn begin(config: &Arc<ClientConfig>, host: &str) -> Result<Box<ClientConnection>, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|_| format!("{host:?} can't stand in a certificate"))?;
    ClientConnection::new(config.clone(), name).map(Box::new).map_err(|e| explain(&e))
}

/// What went wrong, in words.
pub(super) fn explain(e: &Error) -> String {
    use CertificateError as C;
    match e {
        Error::InvalidCertificate(C::UnknownIssuer) => "the server's certificate is of no authority that is trusted here".into(),
        Error::InvalidCertificate(C::NotValidForName | C::NotValidForNameContext { .. }) => {
            "the server's certificate is for another name".into()
        }
        Error::InvalidCertificate(C::Expired | C::ExpiredContext { .. }) => "the server's certificate has expired".into(),
        Error::InvalidCertificate(other) => format!("the server's certificate is refused: {other}"),
        Error::InvalidMessage(_) => "the server does not speak TLS: redis:// is without".into(),
        Error::AlertReceived(alert) => format!("the server ended TLS: {alert:?}. Does it want a certificate?"),
        other => format!("TLS failed: {other}"),
    }
}
