//! Where a store is: `redis://user:password@host:port/database?namespace=jobs`, `rediss://` with TLS, `unix:/path`;
//! `redis+sentinel://host:port,host:port/name` where Sentinels know, `redis+cluster://host:port,host:port` for a cluster that has these
//! nodes.

use crate::names::Namespace;
use std::fmt;
use std::path::PathBuf;

/// Where its server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A host, by name or number, and a port.
    Tcp(String, u16),
    /// A Unix socket.
    Unix(PathBuf),
    /// Where these say that the primary is.
    Sentinel(Sentinels),
    /// In a cluster. These of its nodes are asked for the others.
    Cluster(Vec<(String, u16)>),
}

/// Those who know where a primary is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentinels {
    /// Their hosts and ports.
    pub hosts: Vec<(String, u16)>,
    /// How they call the primary.
    pub name: String,
    /// Their own password.
    pub password: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Place::Tcp(host, port) => write!(f, "{host}:{port}"),
            Place::Unix(path) => write!(f, "{}", path.display()),
            Place::Sentinel(s) => {
                write_hosts(f, &s.hosts)?;
                write!(f, "/{}", s.name)
            }
            Place::Cluster(hosts) => write_hosts(f, hosts),
        }
    }
}

fn write_hosts(f: &mut fmt::Formatter<'_>, hosts: &[(String, u16)]) -> fmt::Result {
    for (n, (host, port)) in hosts.iter().enumerate() {
        write!(f, "{}{}", if n > 0 { "," } else { "" }, Place::Tcp(host.clone(), *port))?;
    }
    Ok(())
}

/// An address that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Where the server listens.
    pub place: Place,
    /// With TLS?
    pub tls: bool,
    /// User and password.
    pub login: Option<(String, String)>,
    /// The number of the database.
    pub database: u32,
    /// What keys begin with.
    pub namespace: Namespace,
    /// How it is called in the server's list of clients.
    pub client_name: Option<String>,
    /// So many replicas are to have what was acknowledged, and within so many milliseconds.
    pub replicas: u32,
    /// See `replicas`.
    pub copied_within: u64,
}

/// The longest that replicas may be waited for, in milliseconds: nothing else is heard of the server meanwhile.
const LONGEST: u64 = 5000;

/// What is wrong with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError(String);

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for AddressError {}

fn wrong<T>(why: impl Into<String>) -> Result<T, AddressError> {
    Err(AddressError(why.into()))
}

const FORMS: &str =
    "redis://host:6379, rediss://host:6379, redis+sentinel://host:26379/name, redis+cluster://host:6379 or unix:/path/redis.sock";

impl Address {
    /// Reads one. What it names may be given besides, which counts more.
    ///
    /// # Errors
    /// What is wrong with it. Passwords are not shown.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        let (scheme, rest) = match text.split_once(':') {
            Some(("redis+unix", rest)) => ("unix", rest),
            Some((s @ ("redis" | "rediss" | "valkey" | "valkeys" | "unix"), rest)) => (s, rest),
            Some((s, rest)) if matches!(s.split_once('+'), Some(("redis" | "rediss" | "valkey" | "valkeys", "sentinel" | "cluster"))) => {
                (s, rest)
            }
            _ => return wrong(format!("a store's address is {FORMS}")),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut found = Address {
            place: Place::Unix(PathBuf::new()),
            tls: matches!(scheme.split('+').next(), Some("rediss" | "valkeys")),
            login: None,
            database: 0,
            namespace: namespace("kumi")?,
            client_name: None,
            replicas: 0,
            copied_within: 1000,
        };
        if scheme == "unix" {
            let path = decode(rest.strip_prefix("//").unwrap_or(rest))?;
            if !path.starts_with('/') || path.contains('\0') {
                return wrong("a Unix socket's path begins with /");
            }
            found.place = Place::Unix(path.into());
        } else {
            let Some(rest) = rest.strip_prefix("//") else { return wrong(format!("a store's address is {FORMS}")) };
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let (login, host) = match authority.rsplit_once('@') {
                Some((login, host)) => (Some(login), host),
                None => (None, authority),
            };
            found.login = login.map(read_login).transpose()?.flatten();
            if scheme.ends_with("sentinel") {
                let hosts = host.split(',').map(|h| read_host(h, "26379")).collect::<Result<_, _>>()?;
                let name = decode(path)?;
                if name.is_empty() {
                    return wrong("Sentinels are asked for a primary by its name: redis+sentinel://host:26379/name");
                }
                found.place = Place::Sentinel(Sentinels { hosts, name, password: None });
            } else if scheme.ends_with("cluster") {
                let hosts = host.split(',').map(|h| read_host(h, "6379")).collect::<Result<_, _>>()?;
                found.place = Place::Cluster(hosts);
                found.database = if path.is_empty() { 0 } else { database(path)? };
            } else {
                let (host, port) = read_host(host, "6379")?;
                found.place = Place::Tcp(host, port);
                found.database = if path.is_empty() { 0 } else { database(path)? };
            }
        }
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value)?;
            match name {
                "namespace" => found.namespace = namespace(&value)?,
                "wait_replicas" => {
                    let replicas = value.parse().ok().filter(|n| *n <= 100);
                    found.replicas = replicas.ok_or(AddressError("wait_replicas is a number, 100 at most".into()))?;
                }
                "wait_ms" => {
                    let ms = value.parse().ok().filter(|n| (1..=LONGEST).contains(n));
                    found.copied_within = ms.ok_or(AddressError(format!("wait_ms is from 1 to {LONGEST}")))?;
                }
                "client_name" => found.client_name = Some(value),
                "db" => found.database = database(&value)?,
                "password" => found.login = Some((found.login.map_or("default".into(), |l| l.0), value)),
                "sentinel_password" => match &mut found.place {
                    Place::Sentinel(s) => s.password = Some(value),
                    _ => return wrong("sentinel_password belongs to redis+sentinel://"),
                },
                "user" => found.login = Some((value, found.login.map_or(String::new(), |l| l.1))),
                other => {
                    return wrong(format!(
                        "{other:?} is no part of a store's address: namespace, client_name, db, user, password, wait_replicas and wait_ms are"
                    ));
                }
            }
        }
        if found.database != 0 && matches!(found.place, Place::Cluster(_)) {
            return wrong("a cluster has one database, 0: namespace= keeps programs apart");
        }
        match &found.client_name {
            Some(n) if n.is_empty() || !n.bytes().all(|b| b.is_ascii_graphic()) => {
                wrong("a client's name has letters, digits and signs only")
            }
            _ => Ok(found),
        }
    }
}

impl fmt::Display for Address {
    /// Without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Unix(path) => write!(f, "unix:{}", path.display())?,
            place => {
                let s = if self.tls { "s" } else { "" };
                let kind = match place {
                    Place::Sentinel(_) => "+sentinel",
                    Place::Cluster(_) => "+cluster",
                    _ => "",
                };
                write!(f, "redis{s}{kind}://{place}")?;
            }
        }
        if self.database != 0 {
            write!(f, "{}{}", if matches!(self.place, Place::Tcp(..)) { "/" } else { "?db=" }, self.database)?;
        }
        Ok(())
    }
}

fn namespace(name: &str) -> Result<Namespace, AddressError> {
    Namespace::new(name)
        .ok_or_else(|| AddressError(format!("{name:?} is no namespace: it has letters, digits, -, _ and ., from 1 to 64 of them")))
}

fn database(text: &str) -> Result<u32, AddressError> {
    text.parse().map_err(|_| AddressError(format!("{text:?} is no database: a number is")))
}

fn read_login(text: &str) -> Result<Option<(String, String)>, AddressError> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let (user, password) = (decode(user)?, decode(password)?);
    if user.is_empty() && password.is_empty() {
        return Ok(None);
    }
    Ok(Some((if user.is_empty() { "default".into() } else { user }, password)))
}

fn read_host(text: &str, usual: &str) -> Result<(String, u16), AddressError> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (text, usual),
    };
    let Ok(port) = port.parse() else { return wrong("a port is a number up to 65535") };
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let host = bare.unwrap_or(host);
    if host.is_empty() || host.contains(['/', '[', ']', ' ', '\0']) || host.contains(':') && bare.is_none() {
        return wrong("a host is a name or a number; an IPv6 address stands in brackets");
    }
    Ok((host.to_owned(), port))
}

/// `%xx` are bytes.
fn decode(text: &str) -> Result<String, AddressError> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        if b != b'%' {
            out.push(b);
            continue;
        }
        let hex = [bytes.next(), bytes.next()].map(|d| d.and_then(|d| char::from(d).to_digit(16)));
        let [Some(high), Some(low)] = hex else { return wrong("after % there are two digits from 0 to f") };
        out.push((high * 16 + low) as u8);
    }
    String::from_utf8(out).map_err(|_| AddressError("what stands after % is no UTF-8".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let a = Address::parse("rediss://ann:p%40ss@db.example:7000/3?namespace=jobs&client_name=web").unwrap();
        assert_eq!(a.place, Place::Tcp("db.example".into(), 7000));
        assert_eq!((a.tls, a.database), (true, 3));
        assert_eq!(a.login, Some(("ann".into(), "p@ss".into())));
        assert_eq!(a.namespace, Namespace::new("jobs").unwrap());
        assert_eq!(a.client_name.as_deref(), Some("web"));
        assert_eq!(a.to_string(), "rediss://db.example:7000/3");
        assert_eq!(Address::parse("redis://:secret@h").unwrap().login, Some(("default".into(), "secret".into())));
        assert_eq!(Address::parse("redis://[::1]").unwrap().place, Place::Tcp("::1".into(), 6379));
        let s = Address::parse("redis+sentinel://:pw@a:1,b/main?db=2&sentinel_password=x").unwrap();
        assert_eq!(s.to_string(), "redis+sentinel://a:1,b:26379/main?db=2");
        assert!(matches!(&s.place, Place::Sentinel(s) if s.password.as_deref() == Some("x")));
        let c = Address::parse("valkeys+cluster://ann:pw@a:1,[::1]/0?namespace=jobs").unwrap();
        assert_eq!((c.to_string(), c.tls, c.login.is_some()), ("rediss+cluster://a:1,[::1]:6379".into(), true, true));
        assert!(!Address::parse("redis+cluster://a").unwrap().tls);
        let w = Address::parse("redis://a?wait_replicas=2&wait_ms=300").unwrap();
        assert_eq!((w.replicas, w.copied_within), (2, 300));
        for text in ["unix:/run/r.sock?db=2", "redis+unix:///run/r.sock?db=2", "unix:///run/r.sock?db=2"] {
            assert_eq!(Address::parse(text).unwrap().to_string(), "unix:/run/r.sock?db=2", "{text}");
        }
    }

    #[test]
    fn what_is_none_is_refused_without_its_password() {
        for text in [
            "",
            "host",
            "http://x",
            "redis:x",
            "redis://",
            "redis://u:secret@h:x",
            "redis://h/x",
            "redis://a b",
            "unix:run",
            "redis://h?x=1",
            "redis://h?namespace=a:b",
            "redis://h?namespace=",
            "redis://%zz:secret@h",
            "redis://h?client_name=a%20b",
            "redis+sentinel://h",
            "redis+cluster://h,",
            "redis+cluster://h/1",
            "redis+cluster://u:secret@h?db=1",
            "unix+cluster:/x",
            "redis://h?wait_replicas=x",
            "redis://h?wait_ms=0",
            "redis://h?wait_ms=60000",
            "redis+cluster://h?sentinel_password=x",
            "redis://h?sentinel_password=x",
        ] {
            let e = Address::parse(text).expect_err(text);
            assert!(!e.to_string().contains("secret"), "{e}");
        }
    }
}
