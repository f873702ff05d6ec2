//! The store and the certificates.

use std::path::{Path, PathBuf};

use sixmark_sys::folder::{check_access, free_bytes};

use super::WantedStore;
use crate::facts::{StorageFacts, StoreFacts};

pub(super) fn examine_storage(store: Result<Option<WantedStore>, String>) -> StorageFacts {
    let store = match store {
        Ok(None) => StoreFacts::Nowhere,
        Ok(Some(wanted)) => find_store(wanted),
        Err(why) => StoreFacts::NoPlace(why),
    };
    StorageFacts { store, certificates: certificates() }
}

/// Returns the facts of a store. Nothing is made.
fn find_store(WantedStore { path, makes_folders }: WantedStore) -> StoreFacts {
    let place = nearest(&path);
    let exists = place == path;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let is_absent = folder.is_some_and(|folder| !folder.exists());
    let writable = if !exists && !place.is_dir() {
        Err("it is not a folder".to_owned())
    } else if is_absent && !makes_folders {
        Err("the folder below it is missing".to_owned())
    } else {
        check_access(&place).map_err(|error| error.to_string())
    };
    let free = free_bytes(&place).map_err(|error| error.to_string());
    StoreFacts::File { path, exists, place, writable, free }
}

/// Returns the file, or the nearest folder above it that exists.
fn nearest(path: &Path) -> PathBuf {
    let found = path.ancestors().find(|path| path.exists());
    match found {
        Some(found) if !found.as_os_str().is_empty() => found.to_owned(),
        _ if path.is_absolute() => PathBuf::from("/"),
        _ => PathBuf::from("."),
    }
}

fn certificates() -> Result<usize, String> {
    let found = rustls_native_certs::load_native_certs();
    match (found.certs.len(), found.errors.first()) {
        (0, Some(error)) => Err(error.to_string()),
        (count, _) => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_does_not_exist_is_judged_by_the_folder_above_it() {
        let folder = std::env::temp_dir();
        let of =
            |path: PathBuf, makes_folders| match find_store(WantedStore { path, makes_folders }) {
                StoreFacts::File { exists, place, writable, free, .. } => {
                    assert!(free.unwrap() > 0);
                    (exists, place, writable)
                }
                other => panic!("{other:?}"),
            };
        let path = folder.join("no-such-folder-of-sixmark/results.sqlite");
        assert_eq!(of(path.clone(), true), (false, folder.clone(), Ok(())));
        let missing = Err("the folder below it is missing".to_owned());
        assert_eq!(of(path, false), (false, folder, missing));
        let here = of("none-here.sqlite".into(), false);
        assert_eq!(here, (false, PathBuf::from("."), Ok(())));
        let program = std::env::current_exe().unwrap();
        let below_a_file = of(program.join("results.sqlite"), true);
        assert_eq!(below_a_file, (false, program, Err("it is not a folder".to_owned())));
    }
}
