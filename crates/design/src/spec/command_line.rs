//! The command line of a cell.

use super::Study;
use super::factors::OWN;
use crate::spec::PlannedCell;
use sixmark_clients::client::Client;
use sixmark_clients::setting::is_of_lab;
use sixmark_clients::setting::{Setting, SettingValue};
use sixmark_document::braces::{fill, names_in_braces};
use sixmark_http::url::{Host, Url};
use sixmark_lab::plan::storage::{is_ftp, server};
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_units::family::Family;

/// The target of a cell's requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellTarget {
    /// The URLs, without those of families that the cell does not load.
    pub urls: Vec<String>,
    /// The family, if the cell loads only one; `None` if it loads both.
    pub family: Option<Family>,
}

impl CellTarget {
    /// Returns the target of a cell. `urls` returns the URLs of a service, without path.
    ///
    /// # Errors
    /// Returns a message if the cell's path, server, family or URLs are missing or invalid.
    pub fn new(
        study: &Study,
        cell: &PlannedCell<'_>,
        urls: impl Fn(&str) -> Option<Vec<String>>,
    ) -> Result<CellTarget, String> {
        let own = cell.text("path").unwrap_or(&study.path);
        let path = fill(own, |name| cell.value(name));
        if let Some(name) = names_in_braces(&path).first() {
            return Err(format!("{{{name}}} in path '{own}' has no value in this cell"));
        }
        let (family, ratio) = families_of_cell(cell)?;
        let uses = |url: &String| {
            let of = server(url).ok().and_then(|url| match url.host {
                Host::Address(address, _) => Some(Family::of(address)),
                Host::Name(_) => None,
            });
            of.is_none_or(|of| family.is_none_or(|family| of == family) && ratio.uses(of))
        };
        let bases = match (cell.text("server"), study.services.as_slice()) {
            (_, []) => Some(study.targets.clone()),
            (Some(server), _) => urls(server),
            (None, [only]) => urls(&only.name),
            (None, _) => {
                let names: Vec<_> = study.services.iter().map(|s| s.name.as_str()).collect();
                return Err(format!("does not name a server: {}", names.join(", ")));
            }
        };
        let urls = bases.unwrap_or_default().into_iter();
        let urls = urls.map(|base| format!("{}{path}", base.trim_end_matches('/')));
        let urls: Vec<String> = urls.collect();
        for url in &urls {
            parse_url(cell.client(), url).map_err(|why| format!("'{url}': {why}"))?;
        }
        let urls: Vec<String> = urls.into_iter().filter(uses).collect();
        if urls.is_empty() {
            return Err("has no URL of the family that it loads".to_owned());
        }
        Ok(CellTarget { urls, family })
    }

    /// Returns the URL and the family, for a client that can load only one of each.
    ///
    /// # Errors
    /// Returns a message if the cell loads both families or has several URLs.
    pub fn single(&self) -> Result<(String, Family), String> {
        let Some(family) = self.family else {
            let why = "a client other than sixmark loads one family: make family a factor";
            return Err(why.to_owned());
        };
        match &self.urls[..] {
            [url] => Ok((url.clone(), family)),
            _ => Err("a client other than sixmark loads one URL of each family".to_owned()),
        }
    }
}

/// Parses a URL that this client can load.
fn parse_url(client: Client, url: &str) -> Result<Url, String> {
    match client {
        Client::Fio => server(url),
        Client::Curl | Client::Wget if is_ftp(url) => server(url),
        _ => url.parse(),
    }
}

/// Returns the family, if the cell loads only one, and the ratio of the families.
fn families_of_cell(cell: &PlannedCell<'_>) -> Result<(Option<Family>, PlanRatio), String> {
    let family = match cell.text("family") {
        Some("ipv6") => Some(Family::Ipv6),
        Some("ipv4") => Some(Family::Ipv4),
        _ => None,
    };
    if let Some(list) = cell.address_list() {
        return match (family, cell.text("ratio")) {
            (None, None) => Ok((None, list.ratio())),
            _ => Err("has an address list, which determines families and ratio: omit family and \
                      ratio"
                .to_owned()),
        };
    }
    let ratio = match cell.text("ratio") {
        Some(_) if family.is_some() => {
            return Err("has a ratio and one family: omit one of them".to_owned());
        }
        Some(ratio) => ratio.parse::<PlanRatio>().map_err(|why| format!("ratio: {why}"))?,
        None => PlanRatio::EVEN,
    };
    Ok((family, ratio))
}

/// Returns the arguments of `sixmark run` for a cell: its options, then its URLs, or the name of its
/// address list file.
pub fn words(
    study: &Study,
    cell: &PlannedCell<'_>,
    place: &CellTarget,
    list: Option<&str>,
    folder: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut words = options(study, cell, place, folder);
    match list {
        Some(list) => words.push(format!("--targets={list}")),
        None => words.extend(place.urls.iter().cloned()),
    }
    words
}

/// Returns the arguments of `sixmark run` for a cell, without its URLs. `folder` returns the
/// folders whose names, `www` and `here`, stand in braces in the values of options.
pub fn options(
    study: &Study,
    cell: &PlannedCell<'_>,
    place: &CellTarget,
    folder: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(place.family.map(|family| match family {
        Family::Ipv6 => "--ipv6".to_owned(),
        Family::Ipv4 => "--ipv4".to_owned(),
    }));
    for setting in cell.settings() {
        words.extend(option(study, setting, |name| folder(name).or_else(|| cell.value(name))));
    }
    let vitals = study.named.elsewhere.as_ref().map(|elsewhere| &elsewhere.vitals);
    let vitals = vitals.and_then(|all| all.get(study.server_of(cell).unwrap_or_default()));
    words.extend(vitals.map(|source| format!("--vitals-from={source}")));
    words
}

/// Returns the arguments for one setting. `value` returns the values of names in braces.
pub fn option(
    study: &Study,
    setting: &Setting,
    value: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let key = &setting.key;
    let word = |text: &String| format!("--{key}={}", fill(text, &value));
    match (key.as_str(), &setting.value) {
        ("concurrency", SettingValue::Text(number)) => vec![format!("--connections={number}")],
        ("protocol", SettingValue::Text(protocol)) => match protocol.as_str() {
            "http/1.0" => vec!["--http1.0".to_owned()],
            "http/2" => vec!["--http2".to_owned()],
            "h2c" => vec!["--http2-prior-knowledge".to_owned()],
            "http/3" => vec!["--http3".to_owned()],
            _ => Vec::new(),
        },
        (own, _) if OWN.contains(&own) || is_of_lab(own) || study.is_text(own) => Vec::new(),
        (_, SettingValue::Flag(true)) => vec![format!("--{key}")],
        (_, SettingValue::Flag(false)) => Vec::new(),
        (_, SettingValue::Text(text)) => vec![word(text)],
        (_, SettingValue::List(list)) => list.iter().map(word).collect(),
    }
}
