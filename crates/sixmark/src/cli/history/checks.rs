//! `sixmark history checks`.

use sixmark_check::check_result::CheckResult;
use sixmark_check::sheet::over_time::{SiteHistory, SiteMoment, history_sheet};
use sixmark_sheet::{Sheet, html, terminal};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::Readers;
use sixmark_units::quantity::write_count;

use super::super::files::CommandFiles;
use super::super::keep::StoreArgs;
use super::super::out::{OutputPlace, complain, do_all};
use super::filter::FilterArgs;
use super::{open_store, print};
use crate::report::documents::Document;
use crate::report::headline::DocumentKind;
use crate::store::{Listed, Store};

/// Show the checks of sites over time.
///
/// For each site: what changed at its last check, and of each check the verdict, what differs, and the
/// median times over both families.
#[derive(Debug, clap::Args)]
pub(super) struct HistoryChecksArgs {
    #[command(flatten)]
    filter: FilterArgs,

    /// Write the report as one HTML page
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    html: Option<OutputPlace>,

    #[command(flatten)]
    store: StoreArgs,
}

/// Prints the report.
pub(super) fn main(args: HistoryChecksArgs) -> Result<(), CommandError> {
    let HistoryChecksArgs { filter, html: page, store: place } = args;
    CommandFiles::default().document("--html", page.as_ref()).store(&place).check()?;
    let Some(store) = open_store(&place)? else { return Err(super::nothing()) };
    let text = filter.target.clone();
    let found = store.list(&filter.filter(Some(DocumentKind::Check)))?;
    let sites = site_histories(&store, &found.entries, text.as_deref())?;
    if sites.is_empty() {
        return Err(CommandError::Usage("the store has no such check".to_owned()));
    }
    if found.more > 0 {
        let all = found.more + found.entries.len() as u64;
        complain(&format!("{} older not shown: use --limit {all}", write_count(found.more)));
    }
    let sheet = history_sheet(&sites);
    let printed = match page {
        Some(OutputPlace::Standard) => Ok(()),
        _ => print(&terminal::sheet_text(&sheet)),
    };
    // As private as the store that they are from.
    let written = page.map_or(Ok(()), |place| place.write_for(Readers::Owner, &page_of(sheet)));
    do_all([printed, written])
}

fn page_of(sheet: Sheet) -> String {
    html::html_page(&[sheet])
}

/// Returns the checks of each site, those of a site in the order of time. Sites without `text` in their
/// URLs, which share a document with others, are omitted.
fn site_histories(
    store: &Store,
    newest_first: &[Listed],
    text: Option<&str>,
) -> Result<Vec<SiteHistory>, CommandError> {
    let text = text.map(str::to_lowercase);
    let is_meant = |url: &str| text.as_ref().is_none_or(|of| url.to_lowercase().contains(of));
    let mut sites: Vec<SiteHistory> = Vec::new();
    for entry in newest_first.iter().rev() {
        let Some(result) = read_check(store, entry)? else { continue };
        // The store has the start in a uniform form, so that it can be read.
        let began = humantime::parse_rfc3339(&entry.headline.started).ok();
        let began = began.and_then(|at| at.duration_since(std::time::SystemTime::UNIX_EPOCH).ok());
        let began_s = began.map_or(0.0, |since| since.as_secs_f64());
        for site in result.sites.iter().filter(|site| is_meant(&site.url)) {
            let moment =
                SiteMoment::new(entry.id.to_string(), &entry.headline.started, began_s, site);
            match sites.iter_mut().find(|of| of.url == site.url) {
                Some(of) => of.checks.push(moment),
                None => sites.push(SiteHistory { url: site.url.clone(), checks: vec![moment] }),
            }
        }
    }
    Ok(sites)
}

/// Reads a check. `None`, after a warning, if this version can't read its document.
fn read_check(store: &Store, entry: &Listed) -> Result<Option<CheckResult>, CommandError> {
    match Document::parse(&store.document(entry.id)?) {
        Ok(Document::Check(result)) => Ok(Some(*result)),
        Ok(_) => Ok(None),
        Err(why) => {
            complain(&format!("warning: {} {why}; it is not shown", entry.id));
            Ok(None)
        }
    }
}
