//! Packs prelude/*.rb with its index, and lib/**/*.rb, into the binary.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", dir.display());
    let Ok(list) = std::fs::read_dir(dir) else { return };
    for p in list.filter_map(|e| e.ok().map(|e| e.path())) {
        if p.is_dir() {
            collect(&p, out);
        } else if p.extension().is_some_and(|e| e == "rb") {
            println!("cargo::rerun-if-changed={}", p.display());
            out.push(p);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);

    let mut seen = Vec::new();
    collect(&root.join("prelude"), &mut seen);
    let files = if seen.is_empty() { Vec::new() } else { kumi_prelude::read_dir(&root.join("prelude"))? };
    std::fs::write(out.join("prelude.bin"), kumi_prelude::pack(&files))?;

    let mut lib = Vec::new();
    collect(&root.join("lib"), &mut lib);
    lib.sort();
    let mut table = String::from("&[\n");
    for p in lib {
        let rel = p.strip_prefix(root.join("lib"))?;
        writeln!(table, "    ({:?}, include_bytes!({:?}).as_slice()),", rel.to_string_lossy(), p.to_string_lossy())?;
    }
    table.push(']');
    std::fs::write(out.join("lib.rs"), table)?;
    Ok(())
}
