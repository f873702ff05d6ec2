//! The hosts that a page and a redirect name.

use std::collections::BTreeSet;
use std::thread;

use sixmark_http::redirect::{is_redirect, url_elsewhere};
use sixmark_http::url::{Host, Scheme, Url};
use sixmark_names::look_up;
use sixmark_units::family::Family;

use crate::observed::PageHost;
use crate::site_fetch::SiteFetch;

/// The most hosts of a page that are looked up.
const MOST_HOSTS: usize = 16;
/// The bytes before an attribute that are searched for the beginning of its tag.
const LONGEST_TAG: usize = 1_024;
/// The longest host that is looked up, in bytes: DNS carries no longer one.
const LONGEST_HOST: usize = 253;

/// Returns the URL of the site's root over plain HTTP, if its URL has the usual port of HTTPS.
pub(super) fn plain_url(url: &Url) -> Option<Url> {
    let is_usual = url.scheme == Scheme::Https && url.port == Scheme::Https.port();
    is_usual.then(|| Url {
        scheme: Scheme::Http,
        port: Scheme::Http.port(),
        path: "/".to_owned(),
        host: url.host.clone(),
    })
}

/// Returns the host to which the site redirects, if it is another one, with the families of its
/// addresses.
pub(super) fn redirect_host<'a>(
    url: &Url,
    mut fetches: impl Iterator<Item = &'a SiteFetch>,
) -> Option<PageHost> {
    let location = fetches.find_map(|fetch| {
        fetch.status.filter(|status| is_redirect(*status))?;
        fetch.location.clone()
    })?;
    let target = url_elsewhere(url, location.as_bytes())?;
    (target.host != url.host).then(|| look_up_host(&target.host))
}

fn look_up_host(host: &Host) -> PageHost {
    match host {
        Host::Address(address, _) => PageHost {
            host: address.to_string(),
            is_address: true,
            families: Some(vec![Family::of(*address)]),
        },
        Host::Name(name) => look_up_name(name),
    }
}

fn look_up_name(name: &str) -> PageHost {
    let found = look_up(name, &Family::BOTH);
    let has =
        |family: &Family| found.addresses().iter().any(|address| Family::of(*address) == *family);
    let is_known = Family::BOTH.into_iter().all(|family| found.failure(family).is_none());
    let families: Vec<Family> = Family::BOTH.into_iter().filter(has).collect();
    // A name that does not exist at all is the page's fault, over both families alike.
    let families = (is_known && !families.is_empty()).then_some(families);
    PageHost { host: name.to_owned(), is_address: false, families }
}

/// Returns the names that a page names beside its own, with the families of their addresses.
pub(super) fn page_hosts(url: &Url, page: &[u8]) -> Vec<PageHost> {
    let own = match &url.host {
        Host::Name(name) => name.trim_end_matches('.').to_ascii_lowercase(),
        Host::Address(..) => String::new(),
    };
    let names: Vec<String> =
        names_in(page).into_iter().filter(|name| *name != own).take(MOST_HOSTS).collect();
    thread::scope(|scope| {
        let asked: Vec<_> =
            names.iter().map(|name| scope.spawn(move || look_up_name(name))).collect();
        asked.into_iter().filter_map(|asked| asked.join().ok()).collect()
    })
}

/// Returns the names in absolute URLs within attributes that make a browser fetch something.
fn names_in(page: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(page);
    let mut names = BTreeSet::new();
    for attribute in ["src=", "href="] {
        for (at, _) in text.match_indices(attribute) {
            let value = text[at + attribute.len()..].trim_start_matches(['"', '\'']);
            let rest = ["https://", "http://", "//"].iter().find_map(|s| value.strip_prefix(s));
            let is_link = attribute == "href=" && !is_of_link(&text[..at]);
            if let Some(rest) = rest.filter(|_| !is_link) {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
                let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                let name = rest[..end].to_ascii_lowercase();
                if name.contains(|c: char| c.is_ascii_alphabetic())
                    && name.contains('.')
                    && name.len() <= LONGEST_HOST
                {
                    names.insert(name);
                }
            }
        }
    }
    names
}

/// Returns true if the tag that is open at the end of a text is `<link`, which is fetched, and not
/// `<a`, which a user may follow.
fn is_of_link(before: &str) -> bool {
    // A tag is short: a page of attributes alone must not take long.
    let near = &before.as_bytes()[before.len().saturating_sub(LONGEST_TAG)..];
    near.iter().rposition(|byte| *byte == b'<').is_some_and(|at| {
        near.get(at..at + 5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<link"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_hosts_that_a_browser_fetches_from() {
        let page = br#"<html><link rel="stylesheet" href="https://static.example.net/a.css">
            <script src="//cdn.example.org/x.js"></script><img src='http://img.example.com:8080/y.png'>
            <a href="https://elsewhere.example/">not fetched</a><img src="/own.png">
            <img src="https://192.0.2.1/z.png">"#;
        let names: Vec<String> = names_in(page).into_iter().collect();
        assert_eq!(names, ["cdn.example.org", "img.example.com", "static.example.net"]);
    }
}
