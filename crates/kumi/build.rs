//! Packs prelude/*.rb with its index, and lib/**/*.rb, into the binary.

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
    let files = if seen.is_empty() { Vec::new() } else { kumi_prelude::read_dir_bare(&root.join("prelude"))? };
    std::fs::write(out.join("prelude.bin"), kumi_prelude::pack(&files))?;

    let mut lib = Vec::new();
    collect(&root.join("lib"), &mut lib);
    let mut library = Vec::new();
    for p in lib {
        library.push((p.strip_prefix(root.join("lib"))?.to_string_lossy().into_owned(), std::fs::read(&p)?));
    }
    library.sort();
    std::fs::write(out.join("library.bin"), kumi_prelude::pack_library(&library)?)?;
    Ok(())
}
