//! `kumi-history [--lease SECONDS] [--recovery SECONDS] FILE...`: checks a history that is spread over files, and says what is wrong with it.
//! The status is 0 where nothing is, 1 where something is, and 2 where it cannot be read.

use kumi_history::{Options, Reader, check};
use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut recovery = None;
    let mut reader = Reader::default();
    let mut args = std::env::args().skip(1);
    let mut files = 0;
    while let Some(a) = args.next() {
        match &*a {
            "--lease" | "--recovery" => match args.next().and_then(|s| s.parse::<f64>().ok()).filter(|s| (0.0..1e6).contains(s)) {
                Some(s) if a == "--lease" => options.lease = (s * 1e9) as u64,
                Some(s) => recovery = Some((s * 1e9) as u64),
                None => return fail(&format!("{a} needs seconds")),
            },
            "-h" | "--help" => {
                println!("kumi-history [--lease SECONDS] [--recovery SECONDS] FILE...");
                return ExitCode::SUCCESS;
            }
            _ => {
                files += 1;
                let read =
                    File::open(&a).map_err(|e| e.to_string()).and_then(|f| reader.read(BufReader::new(f)).map_err(|e| e.to_string()));
                if let Err(why) = read {
                    return fail(&format!("{a}: {why}"));
                }
            }
        }
    }
    if files == 0 {
        return fail("name the files of a history");
    }
    options.recovery = recovery.unwrap_or(options.lease + 1_000_000_000);
    match reader.finish() {
        Ok(history) => {
            let report = check(&history, &options);
            println!("{report}");
            ExitCode::from(u8::from(!report.wrong.is_empty()))
        }
        Err(e) => fail(&e.to_string()),
    }
}

fn fail(why: &str) -> ExitCode {
    eprintln!("kumi-history: {why}");
    ExitCode::from(2)
}
