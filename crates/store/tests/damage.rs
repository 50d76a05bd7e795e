//! Files that are damaged, of something else, or not to be had: an error that names the file, and never a panic.

mod common;

use common::*;
use kumi_segments::Kind;
use kumi_store::Store;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

fn filled() -> Vec<u8> {
    let disk = Memory::default();
    let s = Store::open_on(Arc::new(disk.clone()), "good.db").unwrap();
    for n in 0..200 {
        s.ask(put(["a", "b", "c"][n % 3], format!("{n}:{}", "v".repeat(n * 17)))).unwrap();
    }
    for _ in 0..20 {
        s.ask(take("a")).unwrap();
    }
    drop(s);
    disk.bytes()
}

/// Opens it and reads everything. `Err`: the message.
fn read(bytes: Vec<u8>) -> Result<Vec<String>, String> {
    let s = Store::open_on(Arc::new(Memory::of(bytes)), "bad.db").map_err(|e| e.to_string())?;
    let mut found = Vec::new();
    for key in ["a", "b", "c"] {
        let mut after = Some(0);
        while let Some(index) = after {
            after = match s.ask(get(key, Kind::Peek, Some(index), false, false)) {
                Ok(kumi_segments::Done::Segments(l)) => {
                    found.push(String::from_utf8_lossy(&l[0].value).into_owned());
                    Some(l[0].index)
                }
                Ok(_) => None,
                Err(e) => return Err(format!("bad.db: {e:?}")),
            };
        }
    }
    Ok(found)
}

#[test]
fn a_flipped_bit_is_found_or_of_no_account() {
    let good = filled();
    let expected = read(good.clone()).unwrap();
    let mut chance = Chance(7);
    let mut found = 0;
    for n in 0..600 {
        let mut bad = good.clone();
        // The head is looked at most.
        let at = if n < 200 { n } else { chance.below(bad.len() as u64) as usize };
        bad[at] ^= 1 << chance.below(8);
        match read(bad) {
            Ok(values) => assert_eq!(values, expected, "byte {at}"),
            Err(e) => {
                assert!(e.starts_with("bad.db: "), "{e}");
                found += 1;
            }
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn what_is_cut_short_or_longer_or_garbage_is_told() {
    let good = filled();
    let expected = read(good.clone()).unwrap();
    let mut chance = Chance(11);
    for n in 0..200 {
        let mut bad = good.clone();
        match n % 4 {
            0 => bad.truncate(1 + chance.below(good.len() as u64 - 1) as usize),
            1 => bad.extend(vec![chance.next() as u8; 1 + chance.below(70_000) as usize]),
            2 => {
                let at = chance.below(bad.len() as u64) as usize;
                let end = (at + 1 + chance.below(9000) as usize).min(bad.len());
                bad[at..end].iter_mut().for_each(|b| *b = chance.next() as u8);
            }
            _ => bad = (0..chance.below(9000) + 1).map(|_| chance.next() as u8).collect(),
        }
        match read(bad) {
            // What is behind the file's own length is of no account, nor is a page that nothing refers to.
            Ok(values) => assert_eq!(values, expected, "{n}"),
            Err(e) => assert!(e.starts_with("bad.db: "), "{e}"),
        }
    }
}

#[test]
fn files_of_something_else_are_told() {
    let dir = folder("damage");
    let open = |path: &Path| Store::open(path).err().map(|e| e.to_string()).unwrap_or_default();
    let text = dir.join("notes.txt");
    std::fs::write(&text, "remember the milk").unwrap();
    assert!(open(&text).ends_with("notes.txt: this is a file of something else, and no store of segments"), "{}", open(&text));
    assert_eq!(std::fs::read_to_string(&text).unwrap(), "remember the milk");
    assert!(open(&dir).ends_with("is no file: a store of segments is one"));
    assert!(open(&dir.join("none/jobs.db")).contains("none/jobs.db can't be opened"));
    // Another program's database.
    let other = dir.join("other.db");
    let db = redb::Database::create(&other).unwrap();
    let txn = db.begin_write().unwrap();
    txn.open_table(redb::TableDefinition::<u64, u64>::new("numbers")).unwrap().insert(1, 1).unwrap();
    txn.commit().unwrap();
    drop(db);
    assert!(open(&other).ends_with("other.db: this is a database of something else, and no store of segments"), "{}", open(&other));
    // Of a later version.
    let later = dir.join("later.db");
    drop(Store::open(&later).unwrap());
    let db = redb::Database::create(&later).unwrap();
    let txn = db.begin_write().unwrap();
    txn.open_table(redb::TableDefinition::<&str, u64>::new("segments")).unwrap().insert("version", 7).unwrap();
    txn.commit().unwrap();
    drop(db);
    assert!(open(&later).ends_with("later.db: this is a store of version 7, and this program reads version 1"), "{}", open(&later));
    // An empty file is as good as none.
    let empty = dir.join("empty.db");
    std::fs::write(&empty, "").unwrap();
    assert_eq!(stored(Store::open(&empty).unwrap().ask(put("k", "1"))), 1);
    assert_eq!(value(Store::open(&empty).unwrap().ask(peek("k"))), Some("1".into()));
    // Where nothing may be written.
    let closed = dir.join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(closed.join("probe"), "").is_err() {
        assert!(open(&closed.join("jobs.db")).contains("closed/jobs.db can't be opened"));
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
