//! A folder of recordings: `NAME.recording` of each node.

use super::cluster::Cluster;
use super::{Replayed, read_text};
use kumi_simulate::Setting;
use kumi_simulate::recording::{As, Costs, Recording, join};
use std::path::Path;

/// No folder has more.
const MOST_FILES: usize = super::MOST_NODES as usize;
/// Nor are its files longer, together.
const LONGEST: u64 = 4 << 30;

/// More than anybody allocates.
const PLENTY: u64 = 1 << 50;

/// Reads a folder, and joins what is in it.
///
/// # Errors
/// What is wrong, with file and line.
pub fn read(folder: &Path, how: As, cluster: &Cluster) -> Result<Replayed, String> {
    let name = folder.display().to_string();
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{name}: {e}"))?;
    let files = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|x| x == kumi_record::ENDING));
    let mut files: Vec<_> = files.take(MOST_FILES + 1).collect();
    files.sort();
    if files.is_empty() || files.len() > MOST_FILES {
        let how_many = if files.is_empty() { "no".to_owned() } else { format!("more than {MOST_FILES}") };
        return Err(format!("{name}: there are {how_many} recordings (NAME.{})", kumi_record::ENDING));
    }
    let (mut all, mut bytes) = (Vec::new(), 0);
    for file in files {
        let file = file.display().to_string();
        let text = read_text(&file).map_err(|e| format!("{file}: {e}"))?;
        bytes += text.len() as u64;
        if bytes > LONGEST {
            return Err(format!("{name}: recordings of more than {} GB", LONGEST >> 30));
        }
        all.push(Recording::parse(&text).map_err(|e| format!("{file}:{}: {}", e.line, e.what))?);
    }
    let joined = join(&all, how).map_err(|e| format!("{name}: {e}"))?;
    let costs = Costs::of(&all);
    let mut base = Setting::recorded();
    costs.apply(&mut base);
    let mut setting = cluster.setting(base)?;
    if how == As::Recorded {
        // The trace alone says when nodes collect.
        (setting.heap, setting.limit) = (PLENTY, PLENTY);
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    let processor: u64 = all.iter().map(|r| r.processor).sum();
    let idle: u64 = all.iter().map(|r| r.idle).sum();
    let mut about = format!(
        "recorded: {:.4} s by the clock, {:.4} s of processors, {:.4} s idle; {} full collections of {:.2} ms and {} young ones of {:.2} ms, {:.1} MB live\n",
        seconds(joined.wall),
        seconds(processor),
        seconds(idle),
        costs.full,
        costs.full_time as f64 / costs.full.max(1) as f64 / 1e6,
        costs.young,
        costs.young_time as f64 / costs.young.max(1) as f64 / 1e6,
        costs.live / (1 << 20) as f64
    );
    let cut: Vec<&str> = all.iter().filter(|r| r.cut).map(|r| r.node.as_str()).collect();
    if !cut.is_empty() {
        about.push_str(&format!("The recordings of {} end before their programs did.\n", cut.join(", ")));
    }
    if joined.lost > 0 {
        about.push_str(&format!("{} messages came whose sending is not recorded: nobody waits for them.\n", joined.lost));
    }
    Ok(Replayed { name, trace: joined.trace, setting, about })
}
