//! Whether a node could start so: what is wrong beyond a single value, and the page of `kumi node --check`.

use super::settings::{Kind, SETTINGS, Settings};
use kumi_link::{Address, Link, Tls};
use std::net::IpAddr;

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
    let told = match Tls::from_files(&cert, &key, &ca) {
        Err(e) => Some(e.to_string()),
        Ok(tls) => settings.one("name").and_then(|name| tls.check_own(name).err()).map(|e| e.to_string()),
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
    let shown = |value: &str| value.trim_end().replace('\t', " ").replace('\n', "; ");
    for s in SETTINGS {
        let (value, from) = match settings.get(s.name) {
            Some(_) if s.kind == Kind::Flag && !settings.is(s.name) => ("no".to_owned(), String::new()),
            Some(g) if s.kind == Kind::Flag => ("yes".to_owned(), g.origin.to_string()),
            // It is a secret.
            Some(g) if s.name == "web-token" => ("given".to_owned(), g.origin.to_string()),
            Some(g) => (shown(&g.values.join(", ")), g.origin.to_string()),
            None if s.name == "name" => ("none".to_owned(), String::new()),
            None => (s.default.to_owned(), String::new()),
        };
        out.push_str(format!("  {:<10} {value:<32} {from}", s.name).trim_end());
        out.push('\n');
    }
    if !settings.program.is_empty() {
        out.push_str(&format!("  {:<10} {}\n", "program", settings.program.join(" ")));
    }
    out
}
