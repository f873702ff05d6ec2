//! Studies of servers on other machines: what the user names, and what is found before the first cell.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::net::SocketAddr;

use sixmark_document::braces::is_name;
use sixmark_http::url::{Host, Url};
use sixmark_lab::plan::storage::server;
use sixmark_names::look_up;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::ethtool::Ethtool;
use sixmark_sys::interface::in_zone;
use sixmark_sys::route::interface_to;
use sixmark_units::family::Family;

use sixmark_design::spec::{Elsewhere, Study};
use sixmark_design::study_result::{At, StudyResult, UncontrolledPlace, UncontrolledSetting};

/// What the user says of a service that runs elsewhere: `[SERVICE=]TEXT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForService(Option<String>, String);

impl std::str::FromStr for ForService {
    type Err = String;

    fn from_str(text: &str) -> Result<ForService, String> {
        match text.split_once('=') {
            Some((service, rest)) if is_name(service) => {
                Ok(ForService(Some(service.to_owned()), rest.to_owned()))
            }
            _ => Ok(ForService(None, text.to_owned())),
        }
    }
}

/// A level that the user has set up on the machines: `FACTOR=LEVEL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetUpLevel(At);

impl std::str::FromStr for SetUpLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<SetUpLevel, String> {
        let (factor, level) = text.split_once('=').ok_or("write FACTOR=LEVEL")?;
        Ok(SetUpLevel(At { factor: factor.to_owned(), level: level.to_owned() }))
    }
}

/// The options of a study of servers on other machines.
#[derive(Clone, Debug, Default)]
pub struct ElsewhereOptions<'a> {
    /// The URLs of the servers, without path.
    pub targets: &'a [ForService],
    /// Where the processor time of their machines is read.
    pub vitals_from: &'a [ForService],
    /// The levels that are set up on the machines.
    pub levels: &'a [SetUpLevel],
    /// The document of the study, if it is resumed.
    pub before: Option<&'a StudyResult>,
}

/// Has the study load servers on other machines, if the options or the document of a study that is
/// resumed name any. Returns the services without a URL, with the reason why they are omitted.
///
/// # Errors
/// One line: a service, a factor or a level is unknown, or a level can't be established.
pub fn aim_study(
    study: &mut Study,
    options: &ElsewhereOptions<'_>,
) -> Result<Vec<(String, String)>, CommandError> {
    let usage = |option: &str| {
        let option = option.to_owned();
        move |why: String| CommandError::Usage(format!("{option}: {why}"))
    };
    let given = |all: &[ForService]| all.iter().map(|one| (one.0.clone(), one.1.clone())).collect();
    let mut elsewhere = Elsewhere::default();
    let targets = study.for_services(&given(options.targets)).map_err(usage("--target"))?;
    for (service, url) in targets {
        let url = without_path(&url).map_err(usage("--target"))?;
        elsewhere.urls.entry(service).or_default().push(url);
    }
    elsewhere.levels = options.levels.iter().map(|level| level.0.clone()).collect();
    if let Some(before) = options.before.filter(|before| !before.targets.is_empty()) {
        if elsewhere.urls.is_empty() {
            elsewhere.urls = before.targets.clone();
        }
        if elsewhere.levels.is_empty() {
            elsewhere.levels = levels_of(before);
        }
    }
    let vitals = study.for_services(&given(options.vitals_from)).map_err(usage("--vitals-from"))?;
    elsewhere.vitals = vitals.into_iter().collect();
    if elsewhere.urls.is_empty() {
        return without_target(study, elsewhere).map(|()| Vec::new());
    }
    study.aim(elsewhere).map_err(CommandError::Usage)
}

/// Takes over what the user says of servers that the study finds or starts itself.
fn without_target(study: &mut Study, elsewhere: Elsewhere) -> Result<(), CommandError> {
    let wrong = |line: &str| Err(CommandError::Usage(line.to_owned()));
    if !elsewhere.levels.is_empty() {
        return wrong("--level: names what is set up on other machines: add --target");
    }
    if !elsewhere.vitals.is_empty() && study.lab.is_some() {
        return wrong(
            "--vitals-from: in a lab the study measures the CPU time of its services itself: omit \
             the option, or add --target",
        );
    }
    study.named.elsewhere = Some(elsewhere).filter(|elsewhere| !elsewhere.vitals.is_empty());
    Ok(())
}

/// Returns the levels of all factors of a study.
fn levels_of(before: &StudyResult) -> Vec<At> {
    let of = |factor: &sixmark_design::study_result::FactorResult| {
        let name = factor.name.clone();
        let levels = factor.levels.clone().into_iter();
        levels.map(move |level| At { factor: name.clone(), level }).collect::<Vec<_>>()
    };
    before.factors.iter().flat_map(of).collect()
}

/// Checks the URL of a server. Returns it without the `/` at its end.
fn without_path(text: &str) -> Result<String, String> {
    let url = server(text).map_err(|why| format!("'{text}': {why}"))?;
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    if rest.trim_end_matches('/').contains('/') || url.path.contains('?') {
        Err(format!("'{text}': omit the path, the study has its own"))
    } else {
        Ok(text.trim_end_matches('/').to_owned())
    }
}

/// Returns what the lab would have set, with what is found on this machine.
pub(super) fn found_here(study: &Study) -> Vec<UncontrolledSetting> {
    let interfaces = interfaces(study);
    let mut all = study.uncontrolled();
    for setting in all.iter_mut().filter(|one| one.place == UncontrolledPlace::Client) {
        setting.found = if setting.name.contains('.') {
            kernel_setting(&setting.name)
        } else {
            offload(&setting.name, &interfaces)
        };
    }
    all
}

/// Returns the interfaces over which the study's targets are reached.
fn interfaces(study: &Study) -> BTreeSet<String> {
    let services = study.services.iter().flat_map(|service| &service.urls);
    let urls = services.chain(&study.targets).filter_map(|url| server(url).ok());
    // What failed is reported where the servers are tried.
    let addresses = urls.flat_map(|url| addresses_of(&url, &Family::BOTH).unwrap_or_default());
    addresses.filter_map(|address| interface_to(address).ok()).collect()
}

/// Returns the addresses of a URL's host, of these families if it is a name; none if it has none.
///
/// # Errors
/// Returns a clause if the look-up of one of the families failed, or if this host has no interface
/// of the address's zone.
pub(super) fn addresses_of(url: &Url, families: &[Family]) -> Result<Vec<SocketAddr>, String> {
    let name = match &url.host {
        Host::Address(address, zone) => {
            return in_zone(*address, zone.as_deref(), url.port).map(|address| vec![address]);
        }
        Host::Name(name) => name,
    };
    let found = look_up(name, families);
    let failed = |family: &Family| Some((*family, found.failure(*family)?));
    if let Some((family, why)) = families.iter().find_map(failed) {
        return Err(format!("the look-up of {family} addresses of {name} failed ({why})"));
    }
    let addresses = found.addresses().into_iter();
    Ok(addresses.map(|address| SocketAddr::new(address, url.port)).collect())
}

fn kernel_setting(name: &str) -> Option<String> {
    let text = read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns whether a feature is on; `None` if no interface has it, or if they differ.
fn offload(name: &str, interfaces: &BTreeSet<String>) -> Option<String> {
    let tool = Ethtool::open().ok()?;
    let state = |interface: &String| {
        let features = tool.features(interface).ok()?;
        features.into_iter().find(|feature| feature.name == name).map(|feature| feature.on)
    };
    let states: BTreeSet<bool> = interfaces.iter().filter_map(state).collect();
    match states.iter().collect::<Vec<_>>()[..] {
        [true] => Some("on".to_owned()),
        [false] => Some("off".to_owned()),
        _ => None,
    }
}
