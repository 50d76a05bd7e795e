//! Whether a node could start so: what is wrong beyond a single value, and the page of `kumi node --check`.

use super::settings::{Kind, Origin, SETTINGS, Settings};
use crate::options;
use kumi_link::{Address, Link, Tls};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Exit status of a configuration that can't be used (EX_CONFIG).
pub const WRONG: i32 = 78;

/// Adds what is wrong.
pub fn check(settings: &mut Settings) {
    for s in SETTINGS {
        let Some(given) = settings.get(s.name).cloned() else { continue };
        for value in &given.values {
            let why = match s.kind {
                Kind::Text | Kind::File if value.is_empty() => Some(format!("{} is empty: it is {}", s.name, s.wants)),
                Kind::Address | Kind::Addresses => Address::parse(value).err().map(|e| e.to_string()),
                Kind::Count => match value.parse::<u32>() {
                    Ok(1..) => None,
                    _ => Some(format!("{} is {} from 1 on, not {value:?}", s.name, s.wants)),
                },
                Kind::Seconds => match value.parse::<f64>() {
                    Ok(n) if (0.0..=86_400.0).contains(&n) => None,
                    _ => Some(format!("{} is {} from 0 to 86400, not {value:?}", s.name, s.wants)),
                },
                Kind::Word(words) if !words.contains(&value.as_str()) => {
                    Some(format!("{} is one of {}, not {value:?}", s.name, words.join(", ")))
                }
                _ if s.name == "name" => Link::check_name(value).err().map(|e| e.to_string()),
                _ => None,
            };
            if let Some(why) = why {
                settings.wrong(&given.origin, why);
            }
        }
    }
    certificates(settings);
    reach(settings);
    pages(settings);
    program(settings);
    settings.sort_mistakes();
}

/// Why a file can't be read.
fn unreadable(file: &Path) -> Option<String> {
    let open = |m: std::fs::Metadata| match m.is_dir() {
        true => Err(std::io::ErrorKind::IsADirectory.into()),
        // What is no plain file, such as a pipe, is read once.
        false if !m.is_file() => Ok(()),
        false => std::fs::File::open(file).map(drop),
    };
    let why = std::fs::metadata(file).and_then(open).err()?.to_string();
    Some(why.split(" (os error").next().unwrap_or(&why).to_owned())
}

/// The program's file, if it can't be read, and why.
pub fn lost_program(words: &[String]) -> Option<(String, String)> {
    // What is wrong with its switches is told by who runs it.
    let read = options::Settings::parse(words).ok()?;
    let options::Program::File(file) = read.program else { return None };
    if read.search_path || read.instead.is_some() {
        return None;
    }
    let folder: PathBuf = read.directory.iter().collect();
    let why = unreadable(&folder.join(&file))?;
    Some((file, why))
}

/// Is there the program?
fn program(settings: &mut Settings) {
    let Some(given) = settings.program.clone() else { return };
    let Some((file, why)) = lost_program(&given.values) else { return };
    match given.origin {
        Origin::Arguments => settings.wrong(&Origin::File(file), format!("the program can't be read: {why}")),
        line => settings.wrong(&line, format!("{file} can't be read: {why}")),
    }
}

/// Is there a page, and is its token one?
fn pages(settings: &mut Settings) {
    if let Some(web) = settings.get("web").cloned() {
        if !matches!(web.values.first().map(|v| Address::parse(v)), Some(Ok(Address::Tcp(..)) | Err(_))) {
            settings.wrong(&web.origin, "pages are served at host:port");
        }
    }
    if let Some(token) = settings.get("web-token").cloned() {
        let plain = |t: &String| t.len() >= 8 && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !token.values.iter().all(plain) {
            settings.wrong(&token.origin, "a token is 8 letters and digits or more");
        }
    }
}

fn certificates(settings: &mut Settings) {
    let names = ["cert", "key", "ca"];
    let given: Vec<_> = names.iter().filter_map(|n| settings.get(n).cloned()).collect();
    let Some(first) = given.first() else { return };
    if given.len() < names.len() {
        let missing: Vec<String> = names.iter().filter(|n| settings.get(n).is_none()).map(|n| format!("--{n}")).collect();
        return settings.wrong(&first.origin, format!("--cert, --key and --ca belong together: there is no {}", missing.join(" and no ")));
    }
    let [cert, key, ca] = names.map(|n| settings.one(n).unwrap_or("").to_owned());
    let missing: Vec<_> = given
        .iter()
        .filter_map(|g| Some((&g.origin, g.values.first()?)))
        .filter_map(|(at, f)| Some((at, f, unreadable(Path::new(f))?)))
        .collect();
    for (at, file, why) in &missing {
        settings.wrong(at, format!("{file} can't be read: {why}"));
    }
    if !missing.is_empty() {
        return;
    }
    let told = match Tls::from_files(&cert, &key, &ca) {
        Err(e) => Some(e.to_string()),
        Ok(tls) => {
            let named = settings.one("name").map_or(Ok(()), |name| tls.check_own(name));
            named.and_then(|()| tls.check_signed()).err().map(|e| e.to_string())
        }
    };
    if let Some(why) = told {
        settings.wrong(&first.origin, why);
    }
}

/// Can others reach it, and only those that may?
fn reach(settings: &mut Settings) {
    let Some(listen) = settings.get("listen").cloned() else { return };
    let certified = ["cert", "key", "ca"].iter().all(|n| settings.get(n).is_some());
    let open = !certified && !settings.is("insecure");
    for (i, value) in listen.values.iter().enumerate() {
        let Ok(Address::Tcp(host, _)) = Address::parse(value) else { continue };
        let Ok(ip) = host.parse::<IpAddr>() else { continue };
        if open && !ip.to_canonical().is_loopback() {
            let say = "other machines reach this address, and there are no certificates: give cert, key and ca (kumi cert makes them), or say insecure";
            settings.wrong(&listen.origin, format!("{value}: {say}"));
        }
        if i == 0 && ip.is_unspecified() && settings.get("public").is_none() {
            settings.wrong(&listen.origin, format!("{value} is no address to reach a node at: say which one is by public"));
        }
    }
}

/// The page: what would be used, where it comes from, and each mistake.
pub fn page(settings: &Settings) -> String {
    let mut out = String::new();
    let mut row = |name: &str, value: &str, from: &str| {
        out.push_str(format!("  {name:<11} {value:<32} {from}").trim_end());
        out.push('\n');
    };
    let shown = |value: &str| value.trim_end().replace('\t', " ").replace('\n', "; ");
    for s in SETTINGS {
        let (value, from) = match settings.get(s.name) {
            _ if let Some(place) = settings.refused(s.name) => ("has mistakes".to_owned(), place.to_string()),
            Some(_) if s.kind == Kind::Flag && !settings.is(s.name) => ("no".to_owned(), String::new()),
            Some(g) if s.kind == Kind::Flag => ("yes".to_owned(), g.origin.to_string()),
            // It is a secret.
            Some(g) if s.name == "web-token" => ("given".to_owned(), g.origin.to_string()),
            Some(g) => (shown(&g.values.join(", ")), g.origin.to_string()),
            None if s.name == "name" => ("none".to_owned(), String::new()),
            None => (s.default.to_owned(), String::new()),
        };
        row(s.name, &value, &from);
    }
    match (settings.refused("program"), &settings.program) {
        (Some(place), None) => row("program", "has mistakes", &place.to_string()),
        (_, Some(g)) => row("program", &g.values.join(" "), &g.origin.to_string()),
        (None, None) => row("program", "none: the node only serves", ""),
    }
    out
}
