//! What changed since the earlier checks that the store has.

use sixmark_check::changed_since::{comparable_site, compare_since};
use sixmark_check::check_result::CheckResult;
use sixmark_check::site_since::SiteSince;

use crate::cli::out::complain;
use crate::report::documents::Document;
use crate::store::{Id, Store};
use sixmark_sys::command_error::CommandError;

/// The most earlier checks of a site that are searched for one with the same options.
const MOST_SEARCHED: u32 = 50;

/// Puts into the document what changed at each site since its last check with the same options. What
/// can't be read is no reason to fail: a warning says so.
pub(super) fn compare_with_earlier(store: &Store, result: &mut CheckResult) {
    for at in 0..result.sites.len() {
        match changes_of_site(store, result, at) {
            Ok(since) => result.sites[at].since = since,
            Err(error) => {
                let url = &result.sites[at].url;
                complain(&format!("warning: what changed at {url} is not known: {error}"));
            }
        }
    }
}

/// Compares a site with the newest check that began before this one and has its URL and options.
fn changes_of_site(
    store: &Store,
    result: &CheckResult,
    at: usize,
) -> Result<Option<SiteSince>, CommandError> {
    let now = &result.sites[at];
    let Some(asked) = &result.asked else { return Ok(None) };
    for id in store.earlier_checks(&now.url, &result.started, MOST_SEARCHED)? {
        let Some(earlier) = read_check(store, id)? else { continue };
        if let Some(site) = comparable_site(&earlier, &now.url, asked) {
            return Ok(Some(compare_since(&earlier.started, site, now)));
        }
    }
    Ok(None)
}

/// Reads a check. `None`, after a warning, if this version can't read its document.
fn read_check(store: &Store, id: Id) -> Result<Option<CheckResult>, CommandError> {
    match Document::parse(&store.document(id)?) {
        Ok(Document::Check(result)) => Ok(Some(*result)),
        Ok(_) => Ok(None),
        Err(why) => {
            complain(&format!("warning: {id} {why}; it is not compared with"));
            Ok(None)
        }
    }
}
