//! `kumi node` and `kumi run --nodes`: programs that are nodes of a cluster.
//!
//! Options come from switches, the environment and a file (`settings.rs`).
//!
//! **Invariant.** A node's options reach the library (`kumihimo/segments/node`) in variables of the environment, which it takes out
//! again before the program runs, so that no child of the program believes to be that node.

mod check;
pub mod cluster;
mod file;
mod settings;

use settings::{Given, Kind, Origin, SETTINGS, Settings};

const HELP: &str = "\
Usage: kumi node NAME [options] [FILE [arguments]]
       kumi node --config FILE [options] [FILE [arguments]]

Runs a program as a node of a cluster: it has its own data segments (Kumihimo::Segments.local), and those of the other
nodes by their names (Kumihimo::Segments[\"east\"]). Without FILE it only serves its segments, until it is stopped.

      --listen ADDR    where others reach it: host:port, or unix:/path. Several may be given. Without one: loopback,
                       any port
      --public ADDR    what others are told, when it is not the first --listen (behind a router, in a container)
      --join ADDR      a node that is there already. Several may be given; it may be this node's own address. The
                       program begins when one has answered. If none has for two seconds, that is said once, and the node
                       goes on trying
      --await N        run the program once there are N nodes
      --cert FILE      this node's certificate, --key FILE its key, --ca FILE the authority of all nodes (PEM). A node's
                       certificate names the node
      --insecure       listen without certificates where other machines reach it
      --drain SECONDS  how long code segments that run may go on after SIGTERM (5). A second signal ends it at once
      --hand-over NODES
                       give the segments of a node that is stopped to other nodes: the name of one, or names with a *.
                       Keys then stand where a group of these nodes looks for them, and move when one joins
      --web ADDR       serve a page about the node, with /metrics for Prometheus; /healthz and /readyz. Who has the token sees it:
                       --web-token SECRET, else one that is made and told
      --log-level L    what is told on standard error: info, warn, error or off (error; info without FILE)
      --log-format F   how: text, json, or auto, which is text on a terminal
      --gc-schedule S  when nodes collect, the same for all (docs/SCHEDULES.md): independent, synchronised,
                       adaptive-synchronised, adaptive-independent, staggered, forecast, measured, interruptible, combined
      --patience N     others may take N times longer than usual before they count as gone; the same for all nodes (1)
      --record DIR     write down in DIR/NAME.recording what this node does, for kumi simulate. It has one worker then
      --config FILE    read what is not said otherwise from a TOML file: each option without its dashes, name, program,
                       and [[allow]] for what other nodes may do. Name it before the program
      --name NAME      the node's name, when it does not come first
      --check          say what would be used, where it comes from, and what is wrong. Status 78 if anything is
  -e 'code'            the program's text
  -h, --help           this page

Options may stand in the environment, too, which comes before the file: KUMI_NODE_LISTEN, KUMI_NODE_JOIN (several with
commas between), KUMI_NODE_PUBLIC, KUMI_NODE_CERT, KUMI_NODE_KEY, KUMI_NODE_CA, KUMI_NODE_INSECURE, KUMI_NODE_AWAIT,
KUMI_NODE_DRAIN, KUMI_NODE_HAND_OVER, KUMI_NODE_WEB, KUMI_NODE_WEB_TOKEN, KUMI_NODE_LOG_LEVEL, KUMI_NODE_LOG_FORMAT,
KUMI_NODE_PATIENCE, KUMI_NODE_RECORD, KUMI_NODE_GC_SCHEDULE, KUMI_NODE_CONFIG.

Examples:
  kumi node east --listen 127.0.0.1:7000
  kumi node west --listen 127.0.0.1:7001 --join 127.0.0.1:7000 work.rb
  kumi node --config /etc/kumi/east.toml --check
  kumi run --nodes 3 work.rb
";

/// Set by `kumi run --nodes` for the library.
const TOGETHER: &str = "KUMI_NODE_TOGETHER";
/// Set for the library where there is no program.
const SERVES: &str = "KUMI_NODE_SERVES";
/// Where a recording goes.
const RECORD: &str = "KUMI_NODE_RECORD";
/// How many times longer than usual others may take.
const PATIENCE: &str = "KUMI_NODE_PATIENCE";
/// The configuration file.
const CONFIG: &str = "KUMI_NODE_CONFIG";

/// All variables of a node.
fn all_variables() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|s| s.variable).chain([TOGETHER, SERVES, CONFIG])
}

/// What the command line leaves to be done.
pub enum Command {
    /// The switches and arguments of the program, to be read as those of `kumi` itself.
    Program(Vec<String>),
    /// Nothing: exit with this status.
    Exit(i32),
}

/// Reads `kumi node ...`. The options go to the environment, before any thread is started.
pub fn parse(args: &[String]) -> Command {
    let variable = |name: &str| std::env::var(name).ok();
    let mut read = match read(args, variable) {
        Ok(Some(read)) => read,
        Ok(None) => {
            crate::say::out(HELP);
            return Command::Exit(0);
        }
        Err(m) => {
            crate::say::err(format_args!("kumi node: {m}\nkumi node --help tells more."));
            return Command::Exit(2);
        }
    };
    let settings = &mut read.settings;
    check::check(settings);
    if read.checks {
        crate::say::out(check::page(settings));
    }
    for m in &settings.mistakes {
        crate::say::err(format_args!("kumi node: {m}"));
    }
    match (settings.mistakes.is_empty(), read.checks) {
        (false, _) => return Command::Exit(check::WRONG),
        (true, true) => return Command::Exit(0),
        (true, false) => {}
    }
    for name in SETTINGS.iter().map(|s| s.variable) {
        // What is empty counts as none.
        // SAFETY: the process has one thread so far.
        unsafe { std::env::remove_var(name) };
    }
    for (name, value) in settings.variables() {
        // SAFETY: as above.
        unsafe { std::env::set_var(name, value) };
    }
    // SAFETY: as above.
    unsafe { std::env::remove_var(CONFIG) };
    let mut all = vec!["-rkumihimo/segments/node".to_string()];
    match std::mem::take(&mut settings.program) {
        None => {
            // SAFETY: as above.
            unsafe { std::env::set_var(SERVES, "1") };
            all.extend(["-e".into(), "Kumihimo::Segments::Node.serve".into()]);
        }
        Some(program) => all.extend(program.values),
    }
    Command::Program(all)
}

/// What the command says of a switch of the program that `options` refuses: by its own words, since most are meant for it.
pub fn unknown(command: &str, refusal: &str) -> Option<String> {
    let word = refusal.strip_prefix("invalid option ")?.split_whitespace().next()?;
    let switch = word.split('=').next().unwrap_or(word);
    let name = switch.strip_prefix("--");
    let own = match command {
        "node" => name.is_some_and(|n| matches!(n, "config" | "check") || settings::find(n).is_some_and(|s| s.kind != Kind::Rules)),
        "run" => name.is_some_and(|n| matches!(n, "nodes" | "gc-schedule" | "patience" | "record")),
        _ => return None,
    };
    let more = if own { ": name it before the program" } else { "" };
    Some(format!("unknown option {switch}{more}"))
}

/// What the runtime is to know of the node that it is, if it is one: its patience, and whether it is recorded.
///
/// # Errors
/// The recording can't be made.
pub fn prepare(options: &mut kumi_vm::Options) -> Result<(), String> {
    let said = |name| std::env::var(name).ok().filter(|v| !v.is_empty());
    let Some(node) = said("KUMI_NODE_NAME") else { return Ok(()) };
    options.patience = said(PATIENCE).and_then(|p| p.parse().ok()).map_or(1, |p: u32| p.clamp(1, settings::MOST_PATIENT));
    let Some(folder) = said(RECORD) else { return Ok(()) };
    let recorder = kumi_record::Recorder::create(std::path::Path::new(&folder), &node);
    let recorder = recorder.map_err(|e| format!("{folder}: the recording can't be made: {e}"))?;
    // A worker is a clock; what marks belongs to it.
    (options.workers, options.gc_threads, options.recorder) = (Some(1), Some(1), Some(std::sync::Arc::new(recorder)));
    Ok(())
}

/// A command line that was read.
struct Read {
    settings: Settings,
    /// Nothing is to be run.
    checks: bool,
    /// A switch names the configuration file.
    configured: bool,
}

fn read(args: &[String], variable: impl Fn(&str) -> Option<String>) -> Result<Option<Read>, String> {
    let read = read_with(args, &variable, None)?;
    // A file that is named by a switch stands in the place of the variable's.
    match variable(CONFIG).filter(|f| !f.is_empty()) {
        Some(file) if read.as_ref().is_some_and(|r| r.settings.files.is_empty() && !r.configured) => {
            read_with(args, &variable, Some(&file)).and_then(named)
        }
        _ => named(read),
    }
}

/// A node has a name, unless there is something else to say.
fn named(read: Option<Read>) -> Result<Option<Read>, String> {
    match &read {
        Some(r) if r.settings.get("name").is_none() && !r.checks && r.settings.mistakes.is_empty() => {
            Err("a node needs a name: kumi node NAME".into())
        }
        _ => Ok(read),
    }
}

fn read_with(args: &[String], variable: &impl Fn(&str) -> Option<String>, file: Option<&str>) -> Result<Option<Read>, String> {
    let mut settings = Settings::default();
    settings.read_environment(variable);
    if let Some(file) = file {
        file::read(file, &mut settings);
    }
    let mut configured = false;
    let mut checks = false;
    let mut rest = args.iter();
    let mut program = Vec::new();
    // The word that names it.
    let mut named: Option<&String> = None;
    while let Some(a) = rest.next() {
        let (switch, joined) = match a.split_once('=') {
            Some((s, v)) if s.starts_with("--") => (s, Some(v.to_string())),
            _ => (a.as_str(), None),
        };
        let mut value = |what: &str| joined.clone().or_else(|| rest.next().cloned()).ok_or(format!("{switch} needs {what}"));
        let setting = switch.strip_prefix("--").and_then(settings::find).filter(|s| s.kind != Kind::Rules);
        match (switch, setting) {
            ("-h" | "--help", _) => return Ok(None),
            ("--check", _) => checks = true,
            ("--config", _) => {
                if std::mem::replace(&mut configured, true) {
                    return Err("--config is given twice".into());
                }
                file::read(&value("a TOML file")?, &mut settings);
            }
            (_, Some(s)) => {
                if s.kind == Kind::Flag && joined.is_some() {
                    return Err(format!("{switch} takes no value: leave it out where it is not meant"));
                }
                let value = if s.kind == Kind::Flag { "1".to_owned() } else { value(s.wants)? };
                if s.kind == Kind::Count && value.parse::<u32>().ok().filter(|n| *n > 0).is_none() {
                    return Err(format!("{switch} needs {}, not {value:?}", s.wants));
                }
                if s.name == "name" && named.is_some_and(|n| *n != value) {
                    return Err(format!("a node has one name, not {} and {value}", named.map_or("", |n| n)));
                }
                settings.set(s, value, Origin::Switch(s.name));
            }
            ("-e", _) => {
                program.push(a.clone());
                program.extend(rest.by_ref().cloned());
            }
            (s, _) if s.starts_with('-') && s.len() > 1 && settings.get("name").is_none() => return Err(format!("unknown option {s}")),
            _ if settings.get("name").is_none() || named.is_none() && settings.one("name") == Some(a) => {
                if let Some(name) = settings::find("name") {
                    named = Some(a);
                    settings.set(name, a.clone(), Origin::Switch("name"));
                }
            }
            _ => {
                // What follows is the program's, its switches of kumi's own first.
                program.push(a.clone());
                program.extend(rest.by_ref().cloned());
            }
        }
    }
    if !program.is_empty() {
        settings.program = Some(Given { values: program, origin: Origin::Arguments });
    }
    Ok(Some(Read { settings, checks, configured }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(s: &str) -> Vec<String> {
        s.split(' ').map(str::to_string).collect()
    }
    fn nothing(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn options_go_to_variables_and_the_rest_to_the_program() {
        let r = read(&words("east --listen a:1 --listen=b:2 --join c:3 work.rb --join x"), nothing).unwrap().unwrap();
        assert_eq!(r.settings.program.as_ref().unwrap().values, words("work.rb --join x"));
        let vars = r.settings.variables();
        let of = |n: &str| vars.iter().find(|v| v.0 == n).map(|v| v.1.as_str());
        assert_eq!(of("KUMI_NODE_LISTEN"), Some("a:1,b:2"));
        assert_eq!(of("KUMI_NODE_JOIN"), Some("c:3"));
        assert_eq!(of("KUMI_NODE_NAME"), Some("east"));
        assert!(read(&words("--listen"), nothing).is_err());
        assert!(read(&words("east --await many"), nothing).is_err());
        assert!(read(&words("east -h"), nothing).unwrap().is_none());
    }

    #[test]
    fn a_program_may_be_called_as_its_node() {
        let r = read(&words("worker worker fast"), nothing).unwrap().unwrap();
        assert_eq!((r.settings.one("name"), r.settings.program.clone().unwrap().values), (Some("worker"), words("worker fast")));
        let named = |n: &str| (n == "KUMI_NODE_NAME").then(|| "worker".to_owned());
        let r = read(&words("worker worker"), named).unwrap().unwrap();
        assert_eq!(r.settings.program.unwrap().values, words("worker"));
    }

    #[test]
    fn flags_take_no_value() {
        assert!(read(&words("east --insecure=false"), nothing).is_err());
        assert!(read(&words("east --insecure"), nothing).unwrap().unwrap().settings.is("insecure"));
    }

    #[test]
    fn who_has_a_name_takes_the_first_word_for_the_program() {
        let r = read(&words("--name east work.rb fast"), nothing).unwrap().unwrap();
        assert_eq!((r.settings.one("name"), r.settings.program.clone().unwrap().values), (Some("east"), words("work.rb fast")));
    }
}
