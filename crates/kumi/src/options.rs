//! The command line, as `ruby` reads it.

/// Where the program text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// `-e`, several of them joined by newlines.
    Text(String),
    /// A file; `-` or nothing: standard input.
    File(String),
    Stdin,
    /// `kumi irb`, with a file to take its lines from.
    Repl(Option<String>),
}

/// What to do instead of running a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    Version,
    Copyright,
    /// `-h` (short) or `--help`.
    Help {
        short: bool,
    },
}

/// Everything the command line says.
#[derive(Clone, Debug)]
pub struct Settings {
    pub program: Program,
    /// Standard input was named, by `-`.
    pub dash: bool,
    pub args: Vec<String>,
    pub instead: Option<Instead>,
    /// `-v`: print the version first.
    pub version_first: bool,
    /// `$VERBOSE` as 0 (nil), 1 (false), 2 (true).
    pub verbose: u8,
    /// Warning categories: (name, on).
    pub categories: Vec<(String, bool)>,
    pub debug: bool,
    pub check_only: bool,
    pub dump_insns: bool,
    /// Flags among `n`, `p`, `l`, `a`.
    pub loop_mode: String,
    /// `-F`
    pub field_separator: Option<String>,
    /// `-0`: octal number of the record separator; `Some(None)`: none (slurp), paragraph as 0.
    pub record_separator: Option<u32>,
    /// `-i`: in-place editing with this suffix.
    pub in_place: Option<String>,
    pub includes: Vec<String>,
    pub requires: Vec<String>,
    pub directory: Vec<String>,
    /// `-x`: skip to the `#!ruby` line; its folder.
    pub skip_to_shebang: bool,
    /// `-s`: switches behind the script become globals.
    pub script_switches: bool,
    /// `-S`: search the script in PATH.
    pub search_path: bool,
    pub external: Option<String>,
    pub internal: Option<String>,
    /// `internal` was set by RUBYOPT.
    pub internal_from_env: bool,
    /// `--encoding` of the source (`-K`).
    pub source_encoding: Option<String>,
    pub frozen_strings: Option<bool>,
    pub backtrace_limit: i64,
    /// `--disable=gems`
    pub no_gems: bool,
    /// `--disable=rubyopt`
    pub no_rubyopt: bool,
    pub color: Option<bool>,
    /// `--gc-log[=...]`, else `KUMI_GC_LOG`: as [`GcLog::parse`] reads it.
    pub gc_log: Option<String>,
    pub profile: Option<Profile>,
    /// `--profile-out`: the file a profile goes to; standard error otherwise.
    pub profile_out: Option<String>,
    /// `--profile-top`: lines of a profile that is shown as text.
    pub profile_top: usize,
}

/// `--profile`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Allocation by line.
    Alloc,
    /// What lives at the end, by class.
    Heap,
}

/// Where the collector's log goes, and whether nursery collections are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcLog {
    pub nurseries: bool,
    /// `None`: standard error.
    pub file: Option<String>,
}

impl GcLog {
    /// `""`, `1`, `node`: node collections to standard error; `all`: nursery collections too; `FILE`, `all,FILE`: to a file.
    /// `0`: no log.
    pub fn parse(text: &str) -> Option<GcLog> {
        let (level, file) = match text.split_once(',') {
            Some((l @ ("all" | "node"), f)) => (l, f),
            _ if matches!(text, "" | "1" | "node" | "all" | "0") => (text, ""),
            _ => ("node", text),
        };
        (level != "0").then(|| GcLog { nurseries: level == "all", file: Some(file.to_string()).filter(|f| !f.is_empty()) })
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            program: Program::Stdin,
            dash: false,
            args: Vec::new(),
            instead: None,
            version_first: false,
            verbose: 1,
            categories: Vec::new(),
            debug: false,
            check_only: false,
            dump_insns: false,
            loop_mode: String::new(),
            field_separator: None,
            record_separator: None,
            in_place: None,
            includes: Vec::new(),
            requires: Vec::new(),
            directory: Vec::new(),
            skip_to_shebang: false,
            script_switches: false,
            search_path: false,
            external: None,
            internal: None,
            internal_from_env: false,
            source_encoding: None,
            frozen_strings: None,
            backtrace_limit: -1,
            no_gems: false,
            no_rubyopt: false,
            color: None,
            gc_log: None,
            profile: None,
            profile_out: None,
            profile_top: 30,
        }
    }
}

const FEATURES: &[&str] = &[
    "gems",
    "gem",
    "error_highlight",
    "did_you_mean",
    "syntax_suggest",
    "rubyopt",
    "frozen-string-literal",
    "frozen_string_literal",
    "jit",
    "yjit",
    "rjit",
    "zjit",
    "all",
];

impl Settings {
    /// Reads the arguments behind the command's name.
    ///
    /// # Errors
    /// A message such as `invalid option -Z  (-h will show valid options)`.
    pub fn parse(argv: &[String]) -> Result<Settings, String> {
        Settings::default().parse_over(argv)
    }

    /// The same over what `RUBYOPT` has set.
    ///
    /// # Errors
    /// As [`Settings::parse`].
    pub fn parse_over(self, argv: &[String]) -> Result<Settings, String> {
        let mut s = self;
        let mut text: Option<String> = None;
        let mut i = 0;
        let mut ended = false;
        while let Some(a) = argv.get(i) {
            if a == "--" {
                i += 1;
                ended = true;
                break;
            }
            if !a.starts_with('-') || a == "-" {
                break;
            }
            i += 1;
            let mut rest = Rest { argv, i: &mut i };
            if let Some(long) = a.strip_prefix("--") {
                s.long(long, &mut rest)?;
            } else {
                s.short(&a[1..], &mut rest, &mut text, false)?;
            }
        }
        let _ = ended;
        let mut rest = argv.get(i..).unwrap_or_default().to_vec();
        s.program = match text {
            Some(t) => Program::Text(t),
            None if rest.is_empty() => Program::Stdin,
            None => match rest.remove(0).as_str() {
                "-" => {
                    s.dash = true;
                    Program::Stdin
                }
                f => Program::File(f.to_string()),
            },
        };
        s.args = rest;
        Ok(s)
    }

    /// `RUBYOPT`: the switches that are allowed there.
    ///
    /// # Errors
    /// `invalid switch in RUBYOPT: -e (RuntimeError)`
    pub fn rubyopt(&mut self, text: &str) -> Result<(), String> {
        if self.no_rubyopt {
            return Ok(());
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
        let mut i = 0;
        while let Some(w) = words.get(i) {
            i += 1;
            let mut rest = Rest { argv: &words, i: &mut i };
            if let Some(long) = w.strip_prefix("--") {
                let name = long.split('=').next().unwrap_or("");
                if matches!(name, "version" | "help" | "copyright" | "dump" | "yydebug") {
                    return Err(format!("invalid switch in RUBYOPT: --{name} (RuntimeError)"));
                }
                self.long(long, &mut rest)?;
                continue;
            }
            let sw = w.strip_prefix('-').unwrap_or(w);
            let c = sw.chars().next().unwrap_or(' ');
            if !"EIdvwWrKUTC".contains(c) || c == 'C' {
                return Err(format!("invalid switch in RUBYOPT: -{c} (RuntimeError)"));
            }
            self.short(sw, &mut rest, &mut None, true)?;
        }
        self.internal_from_env = self.internal.is_some();
        Ok(())
    }

    fn long(&mut self, long: &str, rest: &mut Rest<'_>) -> Result<(), String> {
        let (name, value) = match long.split_once('=') {
            Some((n, v)) => (n, Some(v.to_string())),
            None => (long, None),
        };
        match name {
            "version" => self.instead = Some(Instead::Version),
            "copyright" => self.instead = Some(Instead::Copyright),
            "help" => self.instead = Some(Instead::Help { short: false }),
            "verbose" => self.verbose = 2,
            "debug" => {
                self.debug = true;
                self.verbose = 2;
            }
            "yydebug" | "debug-frozen-string-literal" | "jit" | "yjit" | "rjit" | "zjit" | "parser" | "crash-report" => {}
            _ if name.starts_with("yjit-") || name.starts_with("rjit-") || name.starts_with("zjit-") => {}
            "backtrace-limit" => {
                let v = value.map_or_else(|| rest.next("--backtrace-limit"), Ok)?;
                self.backtrace_limit = match v.parse::<i64>() {
                    Ok(n) if n >= -1 => n,
                    _ => return Err(format!("wrong limit for backtrace length ({v})")),
                };
            }
            "gc-log" => self.gc_log = Some(value.unwrap_or_default()),
            "profile" => {
                let v = value.map_or_else(|| rest.next("--profile"), Ok)?;
                self.profile = Some(match v.as_str() {
                    "alloc" => Profile::Alloc,
                    "heap" => Profile::Heap,
                    _ => return Err(format!("don't know how to profile '{v}',\nbut only [alloc, heap].")),
                });
            }
            "profile-out" => self.profile_out = Some(value.map_or_else(|| rest.next("--profile-out"), Ok)?),
            "profile-top" => {
                let v = value.map_or_else(|| rest.next("--profile-top"), Ok)?;
                self.profile_top = v.parse().map_err(|_| format!("wrong number of lines of a profile ({v})"))?;
            }
            "dump" => {
                let v = value.map_or_else(|| rest.next("--dump"), Ok)?;
                match v.as_str() {
                    "insns" | "i" | "insns_without_opt" => self.dump_insns = true,
                    "syntax" => self.check_only = true,
                    "version" => self.instead = Some(Instead::Version),
                    "copyright" => self.instead = Some(Instead::Copyright),
                    "usage" | "help" => self.instead = Some(Instead::Help { short: v == "usage" }),
                    _ => return Err(format!("don't know how to dump '{v}',\nbut only [version, copyright, usage, syntax, insns].")),
                }
            }
            "enable" | "disable" => {
                let v = value.map_or_else(|| rest.next(&format!("--{name}")), Ok)?;
                for f in v.split(',') {
                    self.feature(f, name == "enable")?;
                }
            }
            _ if name.starts_with("enable-") => self.feature(&name[7..], true)?,
            _ if name.starts_with("disable-") => self.feature(&name[8..], false)?,
            "encoding" => {
                let v = value.map_or_else(|| rest.next("--encoding"), Ok)?;
                self.encodings(&v, "--encoding")?;
            }
            "external-encoding" => {
                let v = value.map_or_else(|| rest.next("--external-encoding"), Ok)?;
                self.external = Some(v);
            }
            "internal-encoding" => {
                let v = value.map_or_else(|| rest.next("--internal-encoding"), Ok)?;
                self.internal = Some(v);
            }
            _ => return Err(format!("invalid option --{long}  (-h will show valid options) (RuntimeError)")),
        }
        Ok(())
    }

    fn feature(&mut self, f: &str, on: bool) -> Result<(), String> {
        if !FEATURES.iter().any(|x| x.starts_with(f)) {
            crate::say::err(format_args!("kumi: warning: unknown argument for --{}: '{f}'", if on { "enable" } else { "disable" }));
            return Ok(());
        }
        if f.starts_with("frozen") {
            self.frozen_strings = Some(on);
        }
        if (f == "rubyopt" || f == "all") && !on {
            self.no_rubyopt = true;
        }
        if matches!(f, "gem" | "gems" | "all") {
            self.no_gems = !on;
        }
        Ok(())
    }

    fn encodings(&mut self, v: &str, switch: &str) -> Result<(), String> {
        let mut parts = v.split(':');
        let (ex, int) = (parts.next().unwrap_or(""), parts.next());
        if let Some(third) = parts.next() {
            return Err(format!("extra argument for {switch}: {third} (RuntimeError)"));
        }
        if !ex.is_empty() {
            self.external = Some(ex.to_string());
        }
        match int.filter(|i| !i.is_empty()) {
            Some(i) => self.set_internal(i),
            None => Ok(()),
        }
    }

    /// Two switches of one command line may not disagree; those of RUBYOPT give way.
    fn set_internal(&mut self, name: &str) -> Result<(), String> {
        match &self.internal {
            Some(old) if !self.internal_from_env && !old.eq_ignore_ascii_case(name) => {
                Err(format!("default_internal already set to {old} (RuntimeError)"))
            }
            _ => {
                self.internal = Some(name.to_string());
                self.internal_from_env = false;
                Ok(())
            }
        }
    }

    /// A cluster such as `-lane`; the last switch may take the rest or the next word.
    fn short(&mut self, cluster: &str, rest: &mut Rest<'_>, text: &mut Option<String>, env: bool) -> Result<(), String> {
        let mut c = cluster;
        while let Some(ch) = c.chars().next() {
            c = &c[ch.len_utf8()..];
            match ch {
                'e' => {
                    let t = if c.is_empty() {
                        rest.next("-e").map_err(|_| "no code specified for -e (RuntimeError)".to_string())?
                    } else {
                        c.to_string()
                    };
                    let all = text.get_or_insert_with(String::new);
                    if !all.is_empty() {
                        all.push('\n');
                    }
                    all.push_str(&t);
                    return Ok(());
                }
                'c' => self.check_only = true,
                'n' | 'p' | 'l' | 'a' => {
                    if !self.loop_mode.contains(ch) {
                        self.loop_mode.push(ch);
                    }
                }
                'w' => self.verbose = 2,
                'v' => {
                    self.version_first = true;
                    self.verbose = 2;
                }
                'W' => return self.warnings(c, rest, text, env),
                'd' => {
                    self.debug = true;
                    self.verbose = 2;
                }
                's' => self.script_switches = true,
                'S' => self.search_path = true,
                'h' => self.instead = Some(Instead::Help { short: true }),
                'y' => {}
                'U' => self.set_internal("UTF-8")?,
                'K' => {
                    let k = c.chars().next().unwrap_or(' ');
                    c = &c[if c.is_empty() { 0 } else { k.len_utf8() }..];
                    let enc = match k {
                        'e' | 'E' => "EUC-JP",
                        's' | 'S' => "Windows-31J",
                        'u' | 'U' => "UTF-8",
                        'n' | 'N' | 'a' | 'A' => "ASCII-8BIT",
                        _ => continue,
                    };
                    self.external = Some(enc.into());
                    self.source_encoding = Some(enc.into());
                }
                'F' => {
                    self.field_separator = Some(c.to_string());
                    return Ok(());
                }
                'i' => {
                    self.in_place = Some(c.to_string());
                    return Ok(());
                }
                '0' => {
                    if let Some(h) = c.strip_prefix(['x', 'X']) {
                        let n = h.find(|x: char| !x.is_ascii_hexdigit()).unwrap_or(h.len());
                        self.record_separator = Some(u32::from_str_radix(&h[..n], 16).unwrap_or(0));
                        c = &h[n..];
                    } else {
                        let n = c.find(|x: char| !('0'..='7').contains(&x)).unwrap_or(c.len()).min(3);
                        // No digits: the NUL character; 00: paragraphs; 0777: the whole input.
                        self.record_separator = Some(if n == 0 {
                            0
                        } else {
                            match u32::from_str_radix(&c[..n], 8).unwrap_or(0) {
                                0 => PARAGRAPH,
                                n => n,
                            }
                        });
                        c = &c[n..];
                    }
                }
                'I' => {
                    let v = if c.is_empty() { rest.next("-I")? } else { c.to_string() };
                    self.includes.extend(v.split(':').filter(|p| !p.is_empty()).map(str::to_string));
                    return Ok(());
                }
                'r' => {
                    let v = if c.is_empty() { rest.next("-r")? } else { c.to_string() };
                    self.requires.push(v);
                    return Ok(());
                }
                'C' | 'X' => {
                    let v = if c.is_empty() { rest.next(&format!("-{ch}")).map_err(|_| "Can't chdir".to_string())? } else { c.to_string() };
                    self.directory.push(v);
                    return Ok(());
                }
                'x' => {
                    self.skip_to_shebang = true;
                    if !c.is_empty() {
                        self.directory.push(c.to_string());
                    }
                    return Ok(());
                }
                'E' => {
                    let v = if c.is_empty() {
                        rest.next("-E").map_err(|_| "missing argument for -E (RuntimeError)".to_string())?
                    } else {
                        c.to_string()
                    };
                    return self.encodings(&v, "-E");
                }
                'T' => {
                    let n = c.find(|x: char| !x.is_ascii_digit()).unwrap_or(c.len());
                    c = &c[n..];
                }
                // DOS line ends of a shebang line, and `-` in clusters.
                '\r' | '-' => {}
                _ => return Err(format!("invalid option -{ch}  (-h will show valid options) (RuntimeError)")),
            }
        }
        Ok(())
    }

    fn warnings(&mut self, c: &str, rest: &mut Rest<'_>, text: &mut Option<String>, env: bool) -> Result<(), String> {
        if let Some(cat) = c.strip_prefix(':') {
            let (name, on) = match cat.strip_prefix("no-") {
                Some(n) => (n, false),
                None => (cat, true),
            };
            match name {
                "deprecated" | "experimental" | "performance" | "strict_unused_block" => {
                    self.categories.push((name.into(), on));
                }
                _ => crate::say::err(format_args!("kumi: warning: unknown warning category: '{name}'")),
            }
            return Ok(());
        }
        let (level, c) = match c.chars().next() {
            Some(d @ '0'..='9') => (d as u8 - b'0', &c[1..]),
            _ => (2, c),
        };
        self.verbose = level.min(2);
        self.short(c, rest, text, env)
    }

    /// `-s`: takes leading switches off the arguments: (global name, value).
    ///
    /// `-xyz` is true, `-a-b=c` is the text c in `$a_b`.
    pub fn take_script_switches(&mut self) -> Vec<(String, Option<String>)> {
        let mut out = Vec::new();
        if !self.script_switches {
            return out;
        }
        while let Some(a) = self.args.first().cloned() {
            if a == "--" {
                self.args.remove(0);
                break;
            }
            let Some(sw) = a.strip_prefix('-').filter(|s| !s.is_empty()) else { break };
            self.args.remove(0);
            let (name, value) = match sw.split_once('=') {
                Some((n, v)) => (n, Some(v.to_string())),
                None => (sw, None),
            };
            out.push((format!("${}", name.replace('-', "_")), value));
        }
        out
    }
}

/// `-00`: records are paragraphs.
pub const PARAGRAPH: u32 = u32::MAX;

struct Rest<'a> {
    argv: &'a [String],
    i: &'a mut usize,
}

impl Rest<'_> {
    fn next(&mut self, switch: &str) -> Result<String, String> {
        let v = self.argv.get(*self.i).cloned().ok_or_else(|| format!("missing argument for {switch} (RuntimeError)"))?;
        *self.i += 1;
        Ok(v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Settings {
        let v: Vec<String> = words.split(' ').map(str::to_string).collect();
        Settings::parse(&v).unwrap()
    }

    #[test]
    fn clusters_and_values() {
        let s = parse("-lane p -F, -I a:b -rset -W0 f.rb x -y");
        assert_eq!(s.loop_mode, "lan");
        assert_eq!(s.program, Program::Text("p".into()));
        assert_eq!((s.field_separator.as_deref(), s.verbose), (Some(","), 0));
        assert_eq!(s.includes, ["a", "b"]);
        assert_eq!(s.requires, ["set"]);
        assert_eq!(s.args, ["f.rb", "x", "-y"]);
        let s = parse("-W:no-deprecated --disable=gems --enable frozen-string-literal f.rb --x");
        assert_eq!(s.program, Program::File("f.rb".into()));
        assert_eq!(s.frozen_strings, Some(true));
        assert_eq!(s.args, ["--x"]);
        assert_eq!(parse("-00 -").record_separator, Some(PARAGRAPH));
        assert_eq!(parse("-0777").record_separator, Some(0o777));
        assert_eq!(parse("-0").record_separator, Some(0));
    }

    #[test]
    fn logs_and_profiles() {
        let log = |t: &str| GcLog::parse(t).map(|l| (l.nurseries, l.file));
        assert_eq!((log(""), log("0"), log("all")), (Some((false, None)), None, Some((true, None))));
        assert_eq!((log("x.log"), log("all,x.log")), (Some((false, Some("x.log".into()))), Some((true, Some("x.log".into())))));
        assert_eq!(log("a,b"), Some((false, Some("a,b".into()))));
        let s = parse("--gc-log --profile=alloc --profile-out x.json --profile-top=5 f.rb");
        assert_eq!((s.gc_log.as_deref(), s.profile, s.profile_top), (Some(""), Some(Profile::Alloc), 5));
        assert_eq!(s.profile_out.as_deref(), Some("x.json"));
        assert!(Settings::parse(&["--profile=x".into()]).is_err() && Settings::parse(&["--profile-top=x".into()]).is_err());
    }

    #[test]
    fn script_switches() {
        let mut s = parse("-s f.rb -abc --long-name=5 -- -z");
        assert_eq!(s.take_script_switches(), [("$abc".to_string(), None), ("$_long_name".to_string(), Some("5".to_string()))]);
        assert_eq!(s.args, ["-z"]);
    }

    #[test]
    fn unknown_switches_are_refused() {
        assert!(Settings::parse(&["-Z".into()]).unwrap_err().starts_with("invalid option -Z"));
        assert!(Settings::parse(&["--nope".into()]).is_err());
        assert!(Settings::default().rubyopt("-e x").is_err());
        assert!(Settings::default().rubyopt("-w -rset -Ifoo").is_ok());
    }
}
