//! `kumi`: runs Ruby programs. Called `ruby` it behaves as that command, called `irb` as a REPL.

use kumi::options::{Instead, Program, Settings};
use kumi::{Identity, environment, help, repl, run};
use std::panic;

#[cfg(not(feature = "system-allocator"))]
#[global_allocator]
static ALLOCATOR: kumi::allocator::Allocator = kumi::allocator::Allocator;

/// Before the first allocation: memory of an arena is committed piece by piece. Committed at once it
/// becomes huge pages, and `kumi -e 1` 14 MB larger.
#[used]
#[unsafe(link_section = ".init_array")]
static SMALL_START: extern "C" fn() = {
    extern "C" fn lazily() {
        /// `mi_option_arena_eager_commit` of mimalloc 2 and 3.
        const ARENA_EAGER_COMMIT: libmimalloc_sys::mi_option_t = 4;
        // SAFETY: sets a number in a table; any time is right for it.
        unsafe { libmimalloc_sys::mi_option_set(ARENA_EAGER_COMMIT, 0) };
        // An arena is a gigabyte of address space, which `ulimit -v` may not grant to it and to all else.
        if let Some(most) = kumi_budget::address_space_limit() {
            /// `mi_option_arena_reserve`, in KiB.
            const ARENA_RESERVE: libmimalloc_sys::mi_option_t = 23;
            // SAFETY: as above.
            unsafe { libmimalloc_sys::mi_option_set(ARENA_RESERVE, (most / 16 / 1024).clamp(32 << 10, 1 << 20) as _) };
            kumi_budget::hold(most);
        }
    }
    lazily
};

/// Stack of the interpreter's thread (less where `ulimit -v` leaves little): reserved, not used up. Deep recursion of Ruby
/// methods lives on the task's own stack; this one is for the compiler and regular expressions.
const STACK: usize = 256 << 20;
/// Exit status when the runtime itself is at fault (EX_SOFTWARE).
const INTERNAL_ERROR: i32 = 70;

fn main() {
    let mut argv: Vec<String> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let me = if argv.is_empty() { String::new() } else { argv.remove(0) };
    let me = std::path::Path::new(&me).file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());

    // The command's first word, where its switches go on as those of a program.
    let mut of = None;
    if me != "ruby" && me != "irb" && argv.first().is_some_and(|a| a == "xml") {
        std::process::exit(kumi::xml::main(&argv[1..]));
    }
    if me != "ruby" && me != "irb" {
        match argv.first().map(String::as_str) {
            Some("node") => match kumi::node::parse(&argv[1..]) {
                kumi::node::Command::Program(rest) => (argv, of) = (rest, Some("node")),
                kumi::node::Command::Exit(status) => std::process::exit(status),
            },
            Some("run") => match kumi::node::cluster::main(&argv[1..]) {
                kumi::node::cluster::Run::Alone(rest) => (argv, of) = (rest, Some("run")),
                kumi::node::cluster::Run::Done(status) => std::process::exit(status),
            },
            Some("top") => {
                let program = ["-W0", "-e", "require 'kumihimo/top'; exit Kumihimo::Top.main(ARGV)", "--"];
                argv.splice(..1, program.map(String::from));
            }
            Some("cert") => std::process::exit(kumi::cert::main(&argv[1..])),
            Some("simulate") => std::process::exit(kumi::simulate::main(&argv[1..])),
            _ => {}
        }
    }
    let as_irb = me == "irb" || (me != "ruby" && argv.first().is_some_and(|a| a == "irb"));
    if as_irb && me != "irb" {
        of = Some("irb");
        argv.remove(0);
    }
    let mut settings = Settings::default();
    let refuses = |a: &str| a.contains("rubyopt") || a.ends_with("all");
    // The program's own arguments say nothing to this command.
    let own = Settings::default().parse_over(&argv).map_or(argv.len(), |s| argv.len() - s.args.len().min(argv.len()));
    let off = argv[..own].iter().enumerate().any(|(i, a)| match a.strip_prefix("--disable") {
        Some("") => argv.get(i + 1).is_some_and(|feature| refuses(feature)),
        Some(feature) => refuses(feature),
        None => false,
    });
    let env = if off { None } else { std::env::var("RUBYOPT").ok() };
    // What RUBYOPT requires and includes stands behind what the command line does.
    let parsed = env.map_or(Ok(()), |opt| settings.rubyopt(&opt)).and_then(|()| {
        let (requires, includes) = (std::mem::take(&mut settings.requires), std::mem::take(&mut settings.includes));
        let mut s = settings.parse_over(&argv)?;
        s.requires.extend(requires);
        s.includes.extend(includes);
        Ok(s)
    });
    let mut settings = match parsed {
        Ok(s) => s,
        Err(m) => {
            if let Some((of, m)) = of.zip(of.and_then(|of| kumi::node::unknown(of, &m))) {
                kumi::say::err(format_args!("kumi {of}: {m}\nkumi {of} --help tells more."));
                std::process::exit(2);
            }
            kumi::say::err(format_args!("{}: {m}", of.map_or_else(|| me.clone(), |of| format!("{me} {of}"))));
            std::process::exit(1);
        }
    };
    match settings.instead {
        Some(Instead::Version) => return kumi::say::out(format_args!("{}\n", Identity::description())),
        Some(Instead::Copyright) => return kumi::say::out(format_args!("{}\n", Identity::COPYRIGHT)),
        Some(Instead::Help { .. }) if as_irb => return kumi::say::out(help::irb()),
        Some(Instead::Help { short }) => return kumi::say::out(help::text(short)),
        None => {}
    }
    if settings.version_first {
        kumi::say::out(format_args!("{}\n", Identity::description()));
        // `-v` alone; `-v -` reads a program.
        if settings.program == Program::Stdin && !settings.dash && !as_irb {
            return;
        }
    }
    if settings.verbose > 0 {
        environment::complaints().iter().for_each(kumi::say::err);
    }
    if as_irb {
        settings.program = Program::Repl(match settings.program {
            Program::File(path) => Some(path),
            _ => None,
        });
    }
    std::process::exit(on_a_deep_stack(settings));
}

fn on_a_deep_stack(settings: Settings) -> i32 {
    panic::set_hook(Box::new(|info| {
        if kumi_budget::is_refusal(info.payload()) {
            return;
        }
        kumi::say::err(format_args!("kumi: {}. This is a bug in kumi, please report it.", kumi_vm::fault::note(info)));
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            let calls = std::backtrace::Backtrace::force_capture().to_string();
            kumi::say::err(format_args!("{calls}"));
            if !calls.contains("kumi") {
                kumi::say::err(
                    "kumi: the calls have no names, since this command was built without symbols. docs/HACKING.md says how to keep them.",
                );
            }
        }
    }));
    let space = kumi_budget::address_space_limit();
    if space.is_some() {
        kumi_budget::share_arena();
    }
    let stack = space.map_or(STACK, |most| STACK.min(most / 8).max(8 << 20));
    // Signals are for the interpreter's thread, whose waits they end: this one only waits for it to end.
    let held = kumi_core_system::hold();
    let process = std::process::id();
    let thread = std::thread::Builder::new().name("main".into()).stack_size(stack).spawn(move || {
        drop(held);
        let status = panic::catch_unwind(panic::AssertUnwindSafe(|| match settings.program {
            Program::Repl(_) => repl::run(settings),
            _ => run::run(settings),
        }))
        .unwrap_or(INTERNAL_ERROR);
        if std::process::id() != process {
            // The child of a fork: nobody joins this thread there.
            std::process::exit(status);
        }
        status
    });
    match thread.map(|t| t.join()) {
        Ok(Ok(status)) => status,
        Ok(Err(_)) => INTERNAL_ERROR,
        Err(e) => {
            kumi::say::err(format_args!("kumi: cannot start the interpreter's thread: {e}"));
            INTERNAL_ERROR
        }
    }
}
