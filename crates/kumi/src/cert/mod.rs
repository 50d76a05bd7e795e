//! `kumi cert`: the certificates by which nodes know each other, and the small authority that signs them.
//!
//! **Invariant.** A private key is in a file that its owner alone may read, from its first byte on. A file is there whole or not at all:
//! it is written beside its place and moved there. Nothing that exists is replaced but by `rotate`.

mod days;
mod make;
mod read;

use days::Days;
use make::Names;
use std::path::Path;

const HELP: &str = "\
Usage: kumi cert authority DIR [--days N]
       kumi cert node DIR NAME [--address ADDR] [--days N]
       kumi cert list DIR
       kumi cert rotate DIR [NAME ...] [--within N] [--days N]
       kumi cert rotate DIR --authority [--days N]

Certificates for nodes that prove to each other who they are (kumi node --cert --key --ca). DIR is the folder of an
authority: ca.key stays there; every node gets ca.pem, and its own NAME.pem and NAME.key.

  authority       make the authority (3650 days)
  node            make a node's certificate and key (365 days). NAME is the node's name, of letters, digits, - and .
  list            show certificates and until when they are good
  rotate          make certificates and keys anew: those of the nodes that are named, else all; ca.pem stays. With
                  --authority the authority's own: ca.pem has the old one, too, until it is rotated again, so nodes of
                  both talk to each other. Nodes take new files at SIGHUP

      --address ADDR   another name or an IP address of the node. Several may be given
      --days N         how long a certificate is good
      --within N       rotate only those that end within N days
  -h, --help           this page
";

/// `kumi cert ...`: the exit status.
pub fn main(args: &[String]) -> i32 {
    match run(args) {
        Ok(text) => {
            crate::say::out(text);
            0
        }
        Err(Failed::Usage(m)) => {
            crate::say::err(format_args!("kumi cert: {m}\nkumi cert --help tells more."));
            2
        }
        Err(Failed::Work(m)) => {
            crate::say::err(format_args!("kumi cert: {m}"));
            1
        }
    }
}

enum Failed {
    Usage(String),
    Work(String),
}

/// What the command line says.
#[derive(Default)]
struct Asked {
    words: Vec<String>,
    addresses: Vec<String>,
    days: Option<i64>,
    within: Option<i64>,
    authority: bool,
}

fn run(args: &[String]) -> Result<String, Failed> {
    let mut a = Asked::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (switch, joined) = match arg.split_once('=') {
            Some((s, v)) if s.starts_with("--") => (s, Some(v.to_owned())),
            _ => (arg.as_str(), None),
        };
        let mut value = || joined.clone().or_else(|| rest.next().cloned()).ok_or(Failed::Usage(format!("{switch} needs a value")));
        let number = |v: String, least: i64| {
            let n = v.parse::<i64>().ok().filter(|n| (least..=36_500).contains(n));
            n.ok_or(Failed::Usage(format!("{switch} needs a number of days from {least} to 36500, not {v:?}")))
        };
        match switch {
            "-h" | "--help" => return Ok(HELP.to_owned()),
            "--days" => a.days = Some(number(value()?, 1)?),
            "--within" => a.within = Some(number(value()?, 0)?),
            "--address" => a.addresses.push(value()?),
            "--authority" => a.authority = true,
            s if s.starts_with('-') => return Err(Failed::Usage(format!("unknown option {s}"))),
            _ => a.words.push(arg.clone()),
        }
    }
    let words: Vec<&str> = a.words.iter().map(String::as_str).collect();
    match words[..] {
        ["authority", dir] => authority(Path::new(dir), &a),
        ["node", dir, name] => node(Path::new(dir), name, &a),
        ["list", dir] => list(Path::new(dir)),
        ["rotate", dir] if a.authority => rotate_authority(Path::new(dir), &a),
        ["rotate", _, ..] if a.authority => {
            Err(Failed::Usage("--authority makes the authority alone anew: no node is named beside it".into()))
        }
        ["rotate", dir, ref names @ ..] => rotate(Path::new(dir), names, &a),
        [what @ ("authority" | "list"), ..] => Err(Failed::Usage(format!("{what} needs a folder, and takes nothing else"))),
        ["node", ..] => Err(Failed::Usage("node needs a folder and a node's name, and takes nothing else".into())),
        ["rotate"] => Err(Failed::Usage("rotate needs a folder".into())),
        [] => Err(Failed::Usage("say authority, node, list or rotate".into())),
        [other, ..] => Err(Failed::Usage(format!("{other:?} is none of authority, node, list and rotate"))),
    }
}

const AUTHORITY_DAYS: i64 = 3650;
const NODE_DAYS: i64 = 365;

fn work<T, E: std::fmt::Display>(what: impl std::fmt::Display, r: Result<T, E>) -> Result<T, Failed> {
    r.map_err(|e| Failed::Work(format!("{what}: {e}")))
}

fn authority(dir: &Path, a: &Asked) -> Result<String, Failed> {
    work(dir.display(), make::folder(dir))?;
    absent(&dir.join("ca.pem"))?;
    absent(&dir.join("ca.key"))?;
    let (cert, key) = work("the authority", make::authority(Days::from_now(a.days.unwrap_or(AUTHORITY_DAYS))))?;
    work(dir.display(), make::save(dir, "ca", &cert, &key))?;
    Ok(format!("{0}/ca.pem  for every node\n{0}/ca.key  stays here: who has it makes nodes\n", dir.display()))
}

fn absent(path: &Path) -> Result<(), Failed> {
    match path.symlink_metadata() {
        Ok(_) => Err(Failed::Work(format!("{} is there already: kumi cert rotate makes it anew", path.display()))),
        Err(_) => Ok(()),
    }
}

fn node(dir: &Path, name: &str, a: &Asked) -> Result<String, Failed> {
    let names = Names::new(name, &a.addresses).map_err(Failed::Usage)?;
    absent(&dir.join(format!("{name}.pem")))?;
    absent(&dir.join(format!("{name}.key")))?;
    sign(dir, &names, a.days)?;
    Ok(format!("{0}/{name}.pem  {0}/{name}.key  for node {name}, with {0}/ca.pem\n", dir.display()))
}

fn sign(dir: &Path, names: &Names, days: Option<i64>) -> Result<(), Failed> {
    let ca = read(&dir.join("ca.key")).map_err(|e| Failed::Work(format!("{e}: kumi cert authority {} makes one", dir.display())))?;
    let until = Days::from_now(days.unwrap_or(NODE_DAYS));
    let (cert, key) = work(&names.node, make::node(names, until, &ca))?;
    work(dir.display(), make::save(dir, &names.node, &cert, &key))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Names of the nodes in a folder.
fn nodes(dir: &Path) -> Result<Vec<String>, Failed> {
    let all = work(dir.display(), std::fs::read_dir(dir))?;
    let mut names: Vec<String> =
        all.flatten().filter_map(|e| Some(e.file_name().to_str()?.strip_suffix(".pem")?.to_owned())).filter(|n| n != "ca").collect();
    names.sort();
    Ok(names)
}

fn certificate(dir: &Path, name: &str) -> Result<read::Seen, Failed> {
    let path = dir.join(format!("{name}.pem"));
    let text = read(&path).map_err(Failed::Work)?;
    read::certificate(&text).ok_or_else(|| Failed::Work(format!("{}: it is no certificate", path.display())))
}

fn list(dir: &Path) -> Result<String, Failed> {
    let today = Days::from_now(0);
    let mut out = String::new();
    let ca = certificate(dir, "ca")?;
    let row = |name: &str, seen: &read::Seen, what: &str| {
        let left = seen.until.since(today);
        let state = if left < 0 { "has ended".to_owned() } else { format!("{left} days left") };
        format!("{name:<16} {}  {state:<16} {what}", seen.until).trim_end().to_owned() + "\n"
    };
    out.push_str(&row("ca", &ca, "the authority"));
    for name in nodes(dir)? {
        out.push_str(&match certificate(dir, &name) {
            Ok(seen) => row(&name, &seen, &seen.names.join(", ")),
            Err(Failed::Work(m) | Failed::Usage(m)) => format!("{name:<16} {m}\n"),
        });
    }
    Ok(out)
}

fn rotate(dir: &Path, names: &[&str], a: &Asked) -> Result<String, Failed> {
    let all = nodes(dir)?;
    if let Some(n) = names.iter().find(|n| !all.iter().any(|a| a == **n)) {
        return Err(Failed::Work(format!("{}/{n}.pem is not there: kumi cert node makes it", dir.display())));
    }
    let today = Days::from_now(0);
    let mut out = String::new();
    // All are read before one is made.
    let chosen = all.iter().filter(|n| names.is_empty() || names.contains(&n.as_str()));
    let seen: Vec<_> = chosen.map(|name| Ok((name, certificate(dir, name)?))).collect::<Result<_, Failed>>()?;
    for (name, seen) in seen {
        if a.within.is_some_and(|w| seen.until.since(today) > w) {
            continue;
        }
        let others: Vec<String> = seen.names.into_iter().filter(|n| n != name).chain(a.addresses.iter().cloned()).collect();
        let names = Names::new(name, &others).map_err(Failed::Work)?;
        sign(dir, &names, a.days)?;
        out.push_str(&format!("{0}/{name}.pem  {0}/{name}.key  are new: give them to node {name}, then SIGHUP\n", dir.display()));
    }
    if out.is_empty() {
        out.push_str(match a.within {
            Some(_) => "no certificate ends so soon: all stay as they are\n",
            None => "there is no node's certificate in this folder\n",
        });
    }
    Ok(out)
}

fn rotate_authority(dir: &Path, a: &Asked) -> Result<String, Failed> {
    let old = read(&dir.join("ca.pem")).map_err(Failed::Work)?;
    let last = read::first(&old).ok_or_else(|| Failed::Work(format!("{}/ca.pem: it is no certificate", dir.display())))?;
    let today = Days::from_now(0);
    if certificate(dir, "ca").is_ok_and(|seen| a.within.is_some_and(|w| seen.until.since(today) > w)) {
        return Ok("the authority does not end so soon: it stays as it is\n".to_owned());
    }
    let (cert, key) = work("the authority", make::authority(Days::from_now(a.days.unwrap_or(AUTHORITY_DAYS))))?;
    work(dir.display(), make::save(dir, "ca", &format!("{cert}{last}"), &key))?;
    Ok(format!(
        "{0}/ca.pem has the new authority and the last one: give it to every node, then SIGHUP;\nthen kumi cert rotate {0}, which signs by the new one\n",
        dir.display()
    ))
}
