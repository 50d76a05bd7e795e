//! `kumi node` and `kumi run --nodes`: programs that are nodes of a cluster.
//!
//! **Invariant.** A node's options reach the library (`kumihimo/segments/node`) in variables of the environment, which it takes out
//! again before the program runs, so that no child of the program believes to be that node.

pub mod cluster;

const HELP: &str = "\
Usage: kumi node NAME [options] [FILE [arguments]]

Runs a program as a node of a cluster: it has its own data segments (Kumihimo::Segments.local), and those of the other
nodes by their names (Kumihimo::Segments[\"east\"]). Without FILE it only serves its segments, until it is stopped.

      --listen ADDR    where others reach it: host:port, or unix:/path. Several may be given. Without one: loopback,
                       any port
      --public ADDR    what others are told, when it is not the first --listen (behind a router, in a container)
      --join ADDR      a node that is there already. Several may be given; it may be this node's own address
      --await N        run the program once there are N nodes
      --cert FILE      this node's certificate, --key FILE its key, --ca FILE the authority of all nodes (PEM). A node's
                       certificate names the node
      --insecure       listen without certificates where other machines reach it
  -e 'code'            the program's text
  -h, --help           this page

Options may stand in the environment: KUMI_NODE_LISTEN, KUMI_NODE_JOIN (several with commas between), KUMI_NODE_PUBLIC,
KUMI_NODE_CERT, KUMI_NODE_KEY, KUMI_NODE_CA, KUMI_NODE_AWAIT.

Examples:
  kumi node east --listen 127.0.0.1:7000
  kumi node west --listen 127.0.0.1:7001 --join 127.0.0.1:7000 work.rb
  kumi run --nodes 3 work.rb
";

/// What a node is told by; the last one is of `kumi run --nodes`.
const VARIABLES: [&str; 10] = [
    "KUMI_NODE_NAME",
    "KUMI_NODE_LISTEN",
    "KUMI_NODE_PUBLIC",
    "KUMI_NODE_JOIN",
    "KUMI_NODE_AWAIT",
    "KUMI_NODE_CERT",
    "KUMI_NODE_KEY",
    "KUMI_NODE_CA",
    "KUMI_NODE_INSECURE",
    "KUMI_NODE_TOGETHER",
];

/// What the command line leaves to be done.
pub enum Command {
    /// The switches and arguments of the program, to be read as those of `kumi` itself.
    Program(Vec<String>),
    /// Nothing: exit with this status.
    Exit(i32),
}

/// Reads `kumi node ...`. The options go to the environment, before any thread is started.
pub fn parse(args: &[String]) -> Command {
    match read(args) {
        Ok(Some((vars, rest))) => {
            for (name, value) in vars {
                // SAFETY: the process has one thread so far.
                unsafe { std::env::set_var(name, value) };
            }
            Command::Program(rest)
        }
        Ok(None) => {
            print!("{HELP}");
            Command::Exit(0)
        }
        Err(m) => {
            eprintln!("kumi node: {m}\nkumi node --help tells more.");
            Command::Exit(2)
        }
    }
}

type Options = (Vec<(&'static str, String)>, Vec<String>);

fn read(args: &[String]) -> Result<Option<Options>, String> {
    let mut vars: Vec<(&'static str, String)> = Vec::new();
    let mut name = None;
    let mut rest = args.iter();
    let mut program = Vec::new();
    while let Some(a) = rest.next() {
        let (switch, joined) = match a.split_once('=') {
            Some((s, v)) if s.starts_with("--") => (s, Some(v.to_string())),
            _ => (a.as_str(), None),
        };
        let mut value = |what: &str| joined.clone().or_else(|| rest.next().cloned()).ok_or(format!("{switch} needs {what}"));
        match switch {
            "-h" | "--help" => return Ok(None),
            "--listen" => add(&mut vars, "KUMI_NODE_LISTEN", value("an address, such as 127.0.0.1:7000")?),
            "--join" => add(&mut vars, "KUMI_NODE_JOIN", value("the address of a node")?),
            "--public" => vars.push(("KUMI_NODE_PUBLIC", value("an address")?)),
            "--cert" => vars.push(("KUMI_NODE_CERT", value("a PEM file")?)),
            "--key" => vars.push(("KUMI_NODE_KEY", value("a PEM file")?)),
            "--ca" => vars.push(("KUMI_NODE_CA", value("a PEM file")?)),
            "--await" => {
                let n = value("a number of nodes")?;
                n.parse::<u32>().ok().filter(|n| *n > 0).ok_or(format!("--await needs a number of nodes, not {n:?}"))?;
                vars.push(("KUMI_NODE_AWAIT", n));
            }
            "--insecure" => vars.push(("KUMI_NODE_INSECURE", "1".into())),
            "-e" => {
                program.push(a.clone());
                program.extend(rest.by_ref().cloned());
            }
            s if s.starts_with('-') && s.len() > 1 && name.is_none() => return Err(format!("unknown option {s}")),
            _ if name.is_none() => name = Some(a.clone()),
            _ => {
                // What follows is the program's, its switches of kumi's own first.
                program.push(a.clone());
                program.extend(rest.by_ref().cloned());
            }
        }
    }
    let Some(name) = name else { return Err("a node needs a name: kumi node NAME".into()) };
    vars.push(("KUMI_NODE_NAME", name));
    let mut all = vec!["-rkumihimo/segments/node".to_string()];
    if program.is_empty() {
        program = vec!["-e".into(), "Kumihimo::Segments::Node.serve".into()];
    }
    all.extend(program);
    Ok(Some((vars, all)))
}

/// Several values of one variable stand with commas between.
fn add(vars: &mut Vec<(&'static str, String)>, name: &'static str, value: String) {
    match vars.iter_mut().find(|v| v.0 == name) {
        Some(v) => {
            v.1.push(',');
            v.1.push_str(&value);
        }
        None => vars.push((name, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(s: &str) -> Vec<String> {
        s.split(' ').map(str::to_string).collect()
    }

    #[test]
    fn options_go_to_variables_and_the_rest_to_the_program() {
        let (vars, rest) = read(&words("east --listen a:1 --listen=b:2 --join c:3 work.rb --join x")).unwrap().unwrap();
        assert_eq!(rest, words("-rkumihimo/segments/node work.rb --join x"));
        let of = |n: &str| vars.iter().find(|v| v.0 == n).map(|v| v.1.as_str());
        assert_eq!(of("KUMI_NODE_LISTEN"), Some("a:1,b:2"));
        assert_eq!(of("KUMI_NODE_JOIN"), Some("c:3"));
        assert_eq!(of("KUMI_NODE_NAME"), Some("east"));
        assert!(read(&words("--listen")).is_err());
        assert!(read(&words("east --await many")).is_err());
        assert!(read(&words("east -h")).unwrap().is_none());
    }
}
