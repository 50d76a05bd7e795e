//! The scripts that the server runs: each does its step whole, or not at all.

/// A script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Script {
    /// Puts or updates.
    Put,
    /// Peeks and takes.
    Get,
    /// Ends leases and puts outputs.
    Commit,
    /// Gives a leased segment back.
    GiveBack,
    /// Leases last longer.
    Extend,
    /// Limits a queue.
    Limit,
    /// How a key stands.
    Stats,
    /// Names of keys.
    Names,
    /// A key is watched.
    Watch,
}

/// All of them, by their numbers.
pub const ALL: [Script; 9] = [
    Script::Put,
    Script::Get,
    Script::Commit,
    Script::GiveBack,
    Script::Extend,
    Script::Limit,
    Script::Stats,
    Script::Names,
    Script::Watch,
];

const PLAIN: &str = include_str!(concat!(env!("OUT_DIR"), "/plain.lua"));
const ROWS: &str = include_str!(concat!(env!("OUT_DIR"), "/rows.lua"));
const COMMON: &str = include_str!(concat!(env!("OUT_DIR"), "/common.lua"));
const DUE: &str = include_str!(concat!(env!("OUT_DIR"), "/due.lua"));

impl Script {
    fn body(self) -> &'static str {
        match self {
            Script::Put => include_str!(concat!(env!("OUT_DIR"), "/put.lua")),
            Script::Get => include_str!(concat!(env!("OUT_DIR"), "/get.lua")),
            Script::Commit => include_str!(concat!(env!("OUT_DIR"), "/commit.lua")),
            Script::GiveBack => include_str!(concat!(env!("OUT_DIR"), "/give_back.lua")),
            Script::Extend => include_str!(concat!(env!("OUT_DIR"), "/extend.lua")),
            Script::Limit => include_str!(concat!(env!("OUT_DIR"), "/limit.lua")),
            Script::Stats => include_str!(concat!(env!("OUT_DIR"), "/stats.lua")),
            Script::Names => include_str!(concat!(env!("OUT_DIR"), "/names.lua")),
            Script::Watch => include_str!(concat!(env!("OUT_DIR"), "/watch.lua")),
        }
    }
    /// Does it look whether it has been done before? A commit sees to that itself.
    fn has_row(self) -> bool {
        matches!(self, Script::Put | Script::GiveBack)
    }
    /// Its text. `flags`: the server knows them (from 7 on). Only a put is refused where memory is short: what takes makes room.
    /// `guarded`: the first key is there for the server alone.
    pub fn text(self, flags: bool, guarded: bool) -> String {
        let head = match (flags, self) {
            (false, _) => "",
            (true, Script::Put) => "#!lua\n",
            (true, _) => "#!lua flags=allow-oom\n",
        };
        let guard = if guarded { "table.remove(KEYS, 1)\n" } else { "" };
        let rows = if self.has_row() { ROWS } else { "" };
        // A commit does not look at what is due.
        let due = if self == Script::Commit { "" } else { DUE };
        // The plain case comes first: what the others need is made for them alone.
        let (plain, rest) = self.body().split_once("--REST\n").unwrap_or(("", self.body()));
        format!("{head}{guard}{PLAIN}{rows}{plain}\n{COMMON}{due}{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Script};

    #[test]
    fn the_plain_case_needs_nothing_of_the_others() {
        for script in ALL {
            let text = script.text(true, true);
            assert!(!text.contains("--REST"));
            let has_plain = matches!(script, Script::Put | Script::Get | Script::Commit);
            assert_eq!(script.body().contains("\n--REST\n"), has_plain, "{script:?}");
        }
    }
}
