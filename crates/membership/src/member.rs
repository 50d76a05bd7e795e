//! A member: one life of a node.
//!
//! **Invariant.** A [`Member`] that exists is within the bounds of this file, whoever sent it. Two are equal if name, address and
//! incarnation are; what else they say of themselves rides along.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The longest name, in bytes.
pub const MAX_NAME: usize = 64;
/// The longest address, in bytes.
pub const MAX_ADDRESS: usize = 256;
/// The most bytes of everything else a member says of itself.
pub const MAX_EXTRAS: usize = 512;

/// A node's name.
pub type Name = Arc<str>;

/// What is wrong with a name, an address or an extra.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadMember {
    /// No name, one over 64 bytes, or one with a space, a control character or a mark.
    Name,
    /// Neither `host:port` nor a path from the root, over 256 bytes, or with a control character.
    Address,
    /// The extras are over 512 bytes in all, or not well formed.
    Extras,
}

impl fmt::Display for BadMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadMember::Name => "a node's name is 1 to 64 bytes of letters, digits and ASCII marks, without spaces",
            BadMember::Address => "a node's address is \"host:port\" or a path from the root, at most 256 bytes",
            BadMember::Extras => "what a node says of itself is at most 512 bytes",
        })
    }
}

impl std::error::Error for BadMember {}

/// One life of a node: its name, where it listens, and which life it is. Cheap to clone.
#[derive(Clone)]
pub struct Member(Arc<Parts>);

struct Parts {
    name: Name,
    key: Key,
    address: Arc<str>,
    incarnation: u64,
    /// Fields of a tag, two bytes of length, and as many bytes. Those that this version does not know ride along.
    extras: Box<[u8]>,
}

/// A name, filled up with zeros, which no name has. SWIM compares many of them, and gets each by value.
#[derive(Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct Key([u8; MAX_NAME]);

impl Key {
    fn of(name: &str) -> Key {
        let mut key = [0; MAX_NAME];
        key[..name.len()].copy_from_slice(name.as_bytes());
        Key(key)
    }
}

/// Tag of the web address in the extras.
const WEB: u8 = 1;
/// Tag of the number of cores in the extras: two bytes.
const CORES: u8 = 2;

impl Member {
    /// A member. `incarnation` is the time of the node's start in nanoseconds, so that a later life has a higher one.
    pub fn new(name: &str, address: &str, incarnation: u64) -> Result<Member, BadMember> {
        Member::with_extras(name, address, incarnation, &[])
    }

    /// May a node have this name?
    pub fn check_name(name: &str) -> Result<(), BadMember> {
        let fits = !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(|c| c.is_alphanumeric() || c.is_ascii_graphic());
        if fits { Ok(()) } else { Err(BadMember::Name) }
    }

    pub(crate) fn with_extras(name: &str, address: &str, incarnation: u64, extras: &[u8]) -> Result<Member, BadMember> {
        Member::check_name(name)?;
        check_address(address)?;
        if extras.len() > MAX_EXTRAS || !fields(extras).all(|f| f.is_some_and(|(tag, of)| fits(tag, of))) {
            return Err(BadMember::Extras);
        }
        Ok(Member(Arc::new(Parts { name: name.into(), key: Key::of(name), address: address.into(), incarnation, extras: extras.into() })))
    }

    /// Whoever listens at an address: only ever the receiver of an announcement.
    pub(crate) fn anyone(address: &str) -> Result<Member, BadMember> {
        check_address(address)?;
        Ok(Member(Arc::new(Parts { name: "".into(), key: Key::of(""), address: address.into(), incarnation: 0, extras: Box::default() })))
    }

    pub(crate) fn is_anyone(&self) -> bool {
        self.0.name.is_empty()
    }

    /// The same node with another incarnation.
    pub(crate) fn reborn(&self, incarnation: u64) -> Member {
        let p = &self.0;
        Member(Arc::new(Parts { name: p.name.clone(), key: p.key, address: p.address.clone(), incarnation, extras: p.extras.clone() }))
    }

    /// The same member with the address of its web page.
    pub fn with_web(&self, web: &str) -> Result<Member, BadMember> {
        self.with(WEB, web.as_bytes())
    }

    /// The same member with its number of cores.
    pub fn with_cores(&self, cores: u16) -> Result<Member, BadMember> {
        self.with(CORES, &cores.to_be_bytes())
    }

    fn with(&self, tag: u8, of: &[u8]) -> Result<Member, BadMember> {
        let mut extras = Vec::new();
        for (t, o) in fields(&self.0.extras).flatten().filter(|f| f.0 != tag).chain([(tag, of)]) {
            let len = u16::try_from(o.len()).map_err(|_| BadMember::Extras)?;
            extras.push(t);
            extras.extend(len.to_be_bytes());
            extras.extend(o);
        }
        Member::with_extras(&self.0.name, &self.0.address, self.0.incarnation, &extras)
    }

    /// The node's name: its key in the cluster.
    pub fn name(&self) -> &Name {
        &self.0.name
    }

    /// Where it listens: `host:port`, or the path of a Unix socket.
    pub fn address(&self) -> &Arc<str> {
        &self.0.address
    }

    /// Which life of the node this is. A higher one replaces a lower one.
    pub fn incarnation(&self) -> u64 {
        self.0.incarnation
    }

    /// Address of its web page.
    pub fn web(&self) -> Option<&str> {
        self.field(WEB).and_then(|w| std::str::from_utf8(w).ok())
    }

    /// Its number of cores.
    pub fn cores(&self) -> Option<u16> {
        self.field(CORES).and_then(|c| c.try_into().ok()).map(u16::from_be_bytes)
    }

    fn field(&self, tag: u8) -> Option<&[u8]> {
        fields(&self.0.extras).flatten().find(|f| f.0 == tag).map(|f| f.1)
    }

    pub(crate) fn extras(&self) -> &[u8] {
        &self.0.extras
    }

    /// Which of two with one name is to stay: the higher incarnation; of equal ones the address decides, so that all nodes agree.
    pub(crate) fn rank(&self, other: &Member) -> Ordering {
        (self.0.incarnation, &self.0.address).cmp(&(other.0.incarnation, &other.0.address))
    }
}

pub(crate) fn check_address(address: &str) -> Result<(), BadMember> {
    let tcp = || address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    let good = address.len() <= MAX_ADDRESS && !address.chars().any(char::is_control) && (address.starts_with('/') || tcp());
    if good { Ok(()) } else { Err(BadMember::Address) }
}

fn fits(tag: u8, of: &[u8]) -> bool {
    match tag {
        WEB => std::str::from_utf8(of).is_ok_and(|w| !w.chars().any(char::is_control)),
        CORES => of.len() == 2,
        _ => true,
    }
}

/// The fields; a last `None` where they are not well formed.
fn fields(mut extras: &[u8]) -> impl Iterator<Item = Option<(u8, &[u8])>> {
    std::iter::from_fn(move || {
        let (head, rest) = match extras {
            [] => return None,
            [tag, a, b, rest @ ..] => ((*tag, u16::from_be_bytes([*a, *b]) as usize), rest),
            _ => {
                extras = &[];
                return Some(None);
            }
        };
        if rest.len() < head.1 {
            extras = &[];
            return Some(None);
        }
        let (of, next) = rest.split_at(head.1);
        extras = next;
        Some(Some((head.0, of)))
    })
}

impl PartialEq for Member {
    fn eq(&self, other: &Member) -> bool {
        let (a, b) = (&self.0, &other.0);
        Arc::ptr_eq(a, b) || a.incarnation == b.incarnation && a.name == b.name && a.address == b.address
    }
}

impl Eq for Member {}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})@{}", self.0.name, self.0.incarnation, self.0.address)
    }
}

impl foca::Identity for Member {
    type Addr = Key;

    fn renew(&self) -> Option<Member> {
        self.0.incarnation.checked_add(1).map(|i| self.reborn(i))
    }

    fn addr(&self) -> Key {
        self.0.key
    }

    fn win_addr_conflict(&self, adversary: &Member) -> bool {
        #[cfg(test)]
        {
            if crate::planted::is(crate::planted::Bug::IncarnationIgnored) {
                return false;
            }
        }
        self.rank(adversary).is_gt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_have_bounds() {
        for bad in ["", "a b", "a\n", "\u{202e}x", &"n".repeat(65)] {
            assert_eq!(Member::new(bad, "h:1", 0).unwrap_err(), BadMember::Name, "{bad:?}");
        }
        for bad in ["", "h", "h:", ":1", "h:70000", "h\n:1", "a/b", &format!("/{}", "p".repeat(256))] {
            assert_eq!(Member::new("a", bad, 0).unwrap_err(), BadMember::Address, "{bad:?}");
        }
        for good in ["127.0.0.1:7000", "[::1]:7000", "host.example:1", "/run/k umi.sock"] {
            assert_eq!(&**Member::new("fish-ä_1", good, 0).unwrap().address(), good);
        }
    }

    #[test]
    fn extras_ride_along() {
        let m = Member::new("a", "h:1", 7).unwrap().with_web("http://h:80/").unwrap().with_cores(8).unwrap();
        assert_eq!((m.web(), m.cores()), (Some("http://h:80/"), Some(8)));
        let m = m.with_cores(2).unwrap();
        assert_eq!((m.web(), m.cores()), (Some("http://h:80/"), Some(2)));
        let unknown = [m.extras(), &[99, 0, 1, 5]].concat();
        let n = Member::with_extras("a", "h:1", 7, &unknown).unwrap();
        assert_eq!((n.reborn(8).extras(), &n), (&unknown[..], &m));
        for bad in [&[1][..], &[1, 0, 2, 3], &[2, 0, 1, 0], &[1, 0, 1, 10], &[9; 600]] {
            assert_eq!(Member::with_extras("a", "h:1", 7, bad).unwrap_err(), BadMember::Extras, "{bad:?}");
        }
        assert_eq!(m.with_web(&"w".repeat(600)).unwrap_err(), BadMember::Extras);
    }
}
