//! Scripts for the server as the command has them: without comments and indentation.

use std::path::Path;
use std::{env, fs};

fn main() {
    let from = Path::new("src/script");
    println!("cargo:rerun-if-changed={}", from.display());
    let to = env::var("OUT_DIR").unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "lua") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // What stands before this line is the plain case.
        let kept = text.lines().map(str::trim).filter(|l| !l.is_empty() && (!l.starts_with("--") || *l == "--REST"));
        let short: String = kept.flat_map(|l| [l, "\n"]).collect();
        fs::write(Path::new(&to).join(path.file_name().unwrap()), short).unwrap();
    }
}
