//! The store, and the certificates that the system trusts.

use std::path::Path;

use sixmark_units::quantity::{bytes, write_count};

use crate::facts::{Facts, StoreFacts};
use crate::finding::{CheckState, Finding, Mend, MendPlace};
use crate::purpose::Purpose;

/// The free space below which results may soon not be stored.
const ROOM: u64 = 100_000_000;

/// Judges the files.
pub(super) fn judge_storage(facts: &Facts) -> Vec<Finding> {
    vec![judge_store(facts).used_by(&[Purpose::Store]), judge_certificates(facts)]
}

fn judge_store(facts: &Facts) -> Finding {
    const NAME: &str = "store";
    const LOST: &str = "`run`, `compare` and `study run` warn, and store no result.";
    let elsewhere = || {
        Mend::advice(
            MendPlace::Here,
            "name a file in a folder of yours with SIXMARK_STORE or --store",
        )
    };
    let (path, exists, place, writable, free) = match &facts.storage.store {
        StoreFacts::Nowhere => {
            let found = "none, as --store or SIXMARK_STORE wishes";
            return Finding::new(NAME, CheckState::Ok, found, "No result is stored.");
        }
        StoreFacts::NoPlace(why) => {
            return Finding::new(NAME, CheckState::Missing, why, LOST).mended([elsewhere()]);
        }
        StoreFacts::File { path, exists, place, writable, free } => {
            (path, *exists, place, writable, free)
        }
    };
    let shown = path.display();
    if let Err(why) = writable {
        let found = format!("{shown}: {} can't be written ({why})", place.display());
        return Finding::new(NAME, CheckState::Missing, found, LOST)
            .mended(mend_owner(facts, path, exists).into_iter().chain([elsewhere()]));
    }
    let state = if exists { "" } else { " (not made yet)" };
    match free {
        Err(why) => Finding::unknown(
            NAME,
            &format!("{shown}{state}: {why}"),
            "Its free space is not known.",
        ),
        Ok(free) => {
            let found = format!("{shown}{state}, {} free", bytes(*free as f64));
            if *free >= ROOM {
                Finding::new(NAME, CheckState::Ok, found, "Results are stored there.")
            } else {
                Finding::new(NAME, CheckState::Limited, found, "Few results fit there.")
                    .mended([elsewhere()])
            }
        }
    }
}

/// Returns the command that gives the store's file to this user. A folder above a file that does not
/// exist may be anyone's. Root needs no such command: to root, a file system that is read-only says
/// no.
fn mend_owner(facts: &Facts, path: &Path, exists: bool) -> Option<Mend> {
    let user = facts.host.user.as_ref().ok().filter(|user| exists && **user != 0)?;
    let path = super::quoted(&path.display().to_string());
    Some(Mend::command(MendPlace::Root, format!("chown {user} {path}")))
}

fn judge_certificates(facts: &Facts) -> Finding {
    const NAME: &str = "certificates";
    let finding = match &facts.storage.certificates {
        Ok(0) => Finding::new(
            NAME,
            CheckState::Missing,
            "this host trusts no certificates at all",
            "https:// needs --cacert FILE or --insecure.",
        )
        .mended([facts.host.install(&["ca-certificates"])]),
        Ok(count) => Finding::new(
            NAME,
            CheckState::Ok,
            format!("{} authorities are trusted", write_count(*count as u64)),
            "Certificates of servers are verified as other programs do.",
        ),
        Err(why) => Finding::new(
            NAME,
            CheckState::Missing,
            format!("the certificates of authorities can't be read: {why}"),
            "https:// needs --cacert FILE or --insecure.",
        )
        .mended([facts.host.install(&["ca-certificates"])]),
    };
    finding.used_by(&[Purpose::Https])
}
