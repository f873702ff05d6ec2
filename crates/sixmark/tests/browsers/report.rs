//! Reports in a real browser: Debian's chromium, spoken to by WebDriver.
//!
//! Without `chromium` and `chromedriver` these fail and name their packages;
//! `SIXMARK_SKIP=chromium` leaves them out. Screenshots and printed pages are kept in
//! `screenshots/` of the tests' own folder, `target/tmp`.

mod axe;
mod driver;
mod marionette;
mod page;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use driver::Browser;
use page::Page;
use serde_json::Value;
use sixmark_testkit::documents::{
    comparison, kept, open_run, real_run, search, study, traffic, vitals,
};
use sixmark_testkit::{sixmark, skipped};

/// A usual run's page is smaller.
const LARGEST_BYTES: u64 = 1_000_000;

/// The page that `sixmark report` makes of documents.
fn report(folder: &Path, name: &str, documents: &[&Value]) -> PathBuf {
    let numbered = documents.iter().enumerate();
    let files: Vec<PathBuf> =
        numbered.map(|(at, one)| kept(folder, &format!("{name}-{at}.json"), one)).collect();
    let page = folder.join(format!("{name}.html"));
    let words = files.iter().map(|file| file.to_str().unwrap());
    let arguments: Vec<&str> =
        ["report", "--html", page.to_str().unwrap()].into_iter().chain(words).collect();
    let output = sixmark(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    page
}

/// Calls `look` with each page, opened in one browser.
fn with_pages(documents: &[(&str, &[&Value])], look: impl Fn(&str, &Page<'_>)) {
    if skipped("chromium") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let browser = Browser::start();
    for (name, documents) in documents {
        let file = report(folder.path(), name, documents);
        let page = Page::open(&browser, &file);
        look(name, &page);
        page.assert_quiet();
    }
}

/// Returns the documents of each kind, with the name of its page.
fn all_documents() -> Vec<(&'static str, Vec<&'static Value>)> {
    static KINDS: LazyLock<Vec<Value>> =
        LazyLock::new(|| vec![comparison(), open_run(), study(), search(), vitals(), traffic()]);
    let names = ["comparison", "open-loop", "study", "search", "vitals", "traffic"];
    let one = names.into_iter().zip(KINDS.iter()).map(|(name, of)| (name, vec![of]));
    std::iter::once(("run", vec![real_run()])).chain(one).collect()
}

#[test]
fn reports_render_without_loading_any_resource() {
    let (one, compared, open, study) = (real_run(), comparison(), open_run(), study());
    let (search, vitals, traffic) = (search(), vitals(), traffic());
    let all = [one, &compared, &open, &study, &search, &vitals, &traffic];
    let documents: [(&str, &[&Value]); 8] = [
        ("run", &[one]),
        ("comparison", &[&compared]),
        ("open-loop", &[&open]),
        ("study", &[&study]),
        ("search", &[&search]),
        ("vitals", &[&vitals]),
        ("traffic", &[&traffic]),
        ("several", &all),
    ];
    with_pages(&documents, |name, page| {
        let size = std::fs::metadata(page.file()).unwrap().len();
        assert!(size < LARGEST_BYTES, "{name}: {size} bytes");
        page.assert_drawn();
        assert_eq!(page.number("performance.getEntriesByType('resource').length"), 0.0, "{name}");
        page.assert_well_formed();
    });
}

#[test]
fn charts_show_values_under_the_pointer_and_by_keys() {
    let (one, compared, study) = (real_run(), comparison(), study());
    let (search, vitals, traffic) = (search(), vitals(), traffic());
    let documents: [(&str, &[&Value]); 6] = [
        ("run", &[one]),
        ("comparison", &[&compared]),
        ("study", &[&study]),
        ("search", &[&search]),
        ("vitals", &[&vitals]),
        ("traffic", &[&traffic]),
    ];
    with_pages(&documents, |_, page| {
        page.assert_hover();
        page.assert_keys();
        page.assert_toggles();
    });
}

#[test]
fn tables_hold_the_figures_of_their_charts() {
    let (one, compared, study) = (real_run(), comparison(), study());
    let (search, vitals, traffic) = (search(), vitals(), traffic());
    let documents: [(&str, &[&Value]); 6] = [
        ("run", &[one]),
        ("comparison", &[&compared]),
        ("study", &[&study]),
        ("search", &[&search]),
        ("vitals", &[&vitals]),
        ("traffic", &[&traffic]),
    ];
    with_pages(&documents, |name, page| {
        let charts = page.number("document.querySelectorAll('figure.chart').length");
        assert!(charts >= 1.0, "{name}");
        page.assert_tables();
    });
}

#[test]
fn reports_render_on_phones_in_dark_mode_and_in_print() {
    let (one, compared, study) = (real_run(), comparison(), study());
    let (search, vitals, traffic) = (search(), vitals(), traffic());
    let all = [one, &compared, &study, &search, &vitals, &traffic];
    let documents: [(&str, &[&Value]); 7] = [
        ("run", &[one]),
        ("comparison", &[&compared]),
        ("study", &[&study]),
        ("search", &[&search]),
        ("vitals", &[&vitals]),
        ("traffic", &[&traffic]),
        ("several", &all),
    ];
    with_pages(&documents, |name, page| {
        page.keep(&format!("{name}-desktop.png"));
        page.assert_narrow();
        page.keep(&format!("{name}-phone.png"));
        page.wide();
        page.assert_dark();
        page.keep(&format!("{name}-dark.png"));
        page.light();
        page.assert_prints(&format!("{name}.pdf"));
        page.assert_drawn();
    });
}

/// A document may come from anybody: its words must stay words.
#[test]
fn reports_escape_hostile_text() {
    let evil = "</script></title><script>document.title='got in'</script>\
                <img src=x onerror=\"document.title='got in'\">'\"--><svg/onload=alert(1)>";
    let mut one = real_run().clone();
    one["plan"]["targets"][0]["url"] = evil.into();
    one["environment"]["cpu"] = evil.into();
    one["warnings"] = serde_json::json!([{"code": evil, "message": evil}]);
    let mut compared = comparison();
    compared["comparison"]["a"] = evil.into();
    compared["sides"]["a"]["name"] = evil.into();
    compared["gates"][0]["fail_if"] = evil.into();
    let mut sizes = study();
    sizes["figures"][0]["series"][0]["label"] = evil.into();
    sizes["figures"][0]["series"][0]["points"][0]["label"] = evil.into();
    sizes["title"] = evil.into();
    let all: [&Value; 3] = [&one, &compared, &sizes];
    with_pages(&[("hostile", &all)], |_, page| {
        page.assert_drawn();
        assert_eq!(page.number("document.querySelectorAll('img,svg[onload]').length"), 0.0);
        assert!(page.text("document.title").ends_with("sixmark"));
        let shown = page.text("document.querySelector('article h2').textContent");
        assert!(shown.contains(evil), "{shown}");
    });
}
