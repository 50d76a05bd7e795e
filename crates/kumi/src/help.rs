//! What `--help` and `-h` say.

const SHORT: &str = "\
Usage: kumi [options] [--] [FILE [arguments]]
       kumi irb [FILE]         run Ruby line by line: as it is typed, or as FILE has it
       kumi xml FILE           count, cut and convert XML (kumi xml --help)
       kumi run --nodes N FILE run a program on N nodes of this machine (kumi run --help)
       kumi node NAME [FILE]   run a program as a node of a cluster (kumi node --help)
       kumi top ADDRESS        look at a node: keys, rates, code segments (kumi top --help)
       kumi cert               certificates of nodes (kumi cert --help)
       kumi simulate TRACE     replay a cluster under schedules of collections (kumi simulate --help)

  -e 'code'       run this text; may be given several times
  -c              check syntax only
  -n              run the program once for each input line ($_)
  -p              like -n, and print $_ after each round
  -l              take line ends off input lines, put them on output
  -a              with -n or -p: split each line into $F
  -F pattern      what -a splits by
  -i[ext]         edit the files of ARGV in place (backup: ext)
  -0[octal]       record separator ($/); -00 paragraphs, -0777 whole files
  -I dir          folders for require, before all others
  -r library      require it before the program runs
  -w, -W[0|1|2]   warnings: all, none, some, all
  -W:category, -W:no-category
                  deprecated, experimental, performance, strict_unused_block
  -v              print the version, then warn as -w does
  -s              take switches behind FILE as globals
  -S              look for FILE in PATH
  -x[dir]         skip the text before the #!ruby line
  -C dir          change to dir first
  -E ex[:in]      external and internal encodings; -U: internal UTF-8
  -d              set $DEBUG
  -h, --help      this short page, the long one
";

const MORE: &str = concat!(
    "  --version, --copyright\n",
    "  --encoding ex[:in], --external-encoding ex, --internal-encoding in
  --enable feature, --disable feature
                  frozen-string-literal, gems, rubyopt (others are accepted, and do nothing)
  --dump insns    show the compiled program
  --backtrace-limit n
  --verbose, --debug
  --gc-log[=FILE] a line for each node collection (young, full) on standard error or in FILE;
                  --gc-log=all[,FILE]: for each nursery collection too. A line has the time since the start, the kind
                  and number, the cause, the worker, live bytes before and after, what was freed, and in milliseconds
                  the pause from request to resume, the time until all workers were stopped, and marking
  --profile=alloc bytes and objects allocated by Ruby line, and what became of them, shown at the end
  --profile=heap  what lives at the end, by class and by the line that allocated it
  --profile-out FILE
                  where a profile goes, standard error otherwise; as JSON when the name ends in .json
  --profile-top n lines shown (30)

Environment (docs/VARIABLES.md has all):
  KUMI_WORKERS    how many threads run at once; otherwise as many as the process has cores
  RUBYOPT         switches that stand before those of the command line
  RUBYLIB         folders for require, behind those of -I
  RUBY_THREAD_VM_STACK_SIZE
                  the most a thread's stack may grow to, in bytes; for fibers RUBY_FIBER_VM_STACK_SIZE
  RUBY_THREAD_VM_STACK_INITIAL_SIZE
                  what a stack begins with, in bytes
  KUMI_PRELUDE    folder with the built-in classes' Ruby sources, in place of those in the binary
  KUMI_LIB        folder with the standard library, in place of the one in the binary
  KUMI_HEAP_MAX   limit of live memory, such as 512M; otherwise what the machine, the control group and
                  ulimit -v leave
  KUMI_GC_LOG     as --gc-log: 1, all, FILE or all,FILE
  KUMI_GC         plain: young and full collections, each in one stop (so it is without the variable);
                  interruptible: full collections go in slices of a millisecond, between which the
                  program goes on; full: there are no others
  KUMI_GC_STRESS  n: collect garbage at every n-th safepoint
  KUMI_STACK_STRESS
                  n: move a stack at every n-th point where it could grow

Called by the name ruby, the command is a Ruby interpreter; called irb, a REPL.
"
);

/// The page of `kumi irb`.
const IRB: &str = "\
Usage: kumi irb [options] [FILE [arguments]]

Runs Ruby line by line, and shows each value: as it is typed, or as FILE has it. The command does the same under the name irb.
Where a text is not complete yet, another line is asked for. Ctrl-C gives a line up; exit or Ctrl-D ends.

  -r library      require it first
  -I dir          folders for require, before all others
  -w, -W0         warnings: all, none
  -h, --help      this page

kumi --help has the other options and the variables of the environment.
";

/// The page of `kumi irb`.
pub fn irb() -> &'static str {
    IRB
}

/// The text; the short form fits on one screen.
pub fn text(short: bool) -> String {
    if short { SHORT.to_string() } else { format!("{SHORT}{MORE}") }
}
