//! Studies of servers on other machines, which the study does not start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::cells::{cells, check_cells};
use super::lab::{InLab, chosen};
use super::{Factor, ReadyCheck, Service, Study};
use crate::spec::PlannedCell;
use crate::study_result::{At, UncontrolledPlace, UncontrolledSetting};
use sixmark_clients::setting::is_of_lab;
use sixmark_lab::plan::{Lab, Switch, parse_lab};

/// What the user names in place of the programs that the study's services run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedServers {
    /// Programs, by the names of the services; empty unless [`Study::give`] was called.
    pub programs: BTreeMap<String, PathBuf>,
    /// Servers on other machines; `None` unless [`Study::aim`] was called.
    pub elsewhere: Option<Elsewhere>,
}

/// Where a study's servers are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elsewhere {
    /// The URLs of services without path, by the names of the services; of a study without services
    /// under the empty name.
    pub urls: BTreeMap<String, Vec<String>>,
    /// Where the processor time of a service's machine is read, as `--vitals-from` of `sixmark run`
    /// names it.
    pub vitals: BTreeMap<String, String>,
    /// The levels that the user has set up on the machines.
    pub levels: Vec<At>,
    /// The lab that the study is carried out without.
    pub lab: Option<InLab>,
}

/// How such a study differs from the published one, besides what its file says.
const ELSEWHERE: &str = "The servers are on other machines, which the user named and set up: what these \
                         texts say of one machine, of a lab and of the servers' programs does not \
                         apply.";

/// URLs or sources of vitals as they were given, each with the service if one was named.
pub type ForServices = Vec<(Option<String>, String)>;

impl Study {
    /// Returns which service each of these is for.
    ///
    /// # Errors
    /// Returns a message if a service is unknown or, where there are several, not named.
    pub fn for_services(&self, given: &ForServices) -> Result<Vec<(String, String)>, String> {
        let one = |(service, text): &(Option<String>, String)| {
            let name = match (service, self.services.as_slice()) {
                (Some(name), all) if all.iter().any(|one| one.name == *name) => name.clone(),
                (Some(name), _) => return Err(self.no_service(name)),
                (None, []) => String::new(),
                (None, [only]) => only.name.clone(),
                (None, all) => {
                    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
                    return Err(format!(
                        "expected SERVICE=URL, because the study has several services: {}",
                        names.join(", ")
                    ));
                }
            };
            Ok((name, text.clone()))
        };
        given.iter().map(one).collect()
    }

    /// Has the study load servers elsewhere, without a lab. Returns the services that have no URL, with
    /// the reason why they are omitted.
    ///
    /// # Errors
    /// Returns a message if a factor has levels that only a lab can set up, and the user does not say
    /// which of them are.
    pub fn aim(&mut self, mut elsewhere: Elsewhere) -> Result<Vec<(String, String)>, String> {
        self.keep_levels(&elsewhere.levels)?;
        if let Some(factor) = self.factors.iter().find(|factor| is_set_up_by_lab(factor)) {
            let is_named = elsewhere.levels.iter().any(|at| at.factor == factor.name);
            if !is_named {
                return Err(set_up_by_lab(factor));
            }
        }
        elsewhere.lab = self.lab.take();
        self.traffic = None;
        if let Some(urls) = elsewhere.urls.get("") {
            self.targets.clone_from(urls);
        }
        let mut without = Vec::new();
        for service in &mut self.services {
            match elsewhere.urls.get(&service.name) {
                Some(urls) => aim_service(service, urls),
                None => {
                    let why = format!("no target given: --target {}=URL", service.name);
                    without.push((service.name.clone(), why));
                }
            }
        }
        self.named.elsewhere = Some(elsewhere);
        if !self.differences.is_empty() {
            self.differences.push(ELSEWHERE.to_owned());
        }
        Ok(without)
    }

    /// Returns true if the study loads servers on other machines, which it does not start.
    pub fn is_elsewhere(&self) -> bool {
        self.named.elsewhere.as_ref().is_some_and(|elsewhere| !elsewhere.urls.is_empty())
    }

    /// Removes all other levels of the factors that these levels name.
    fn keep_levels(&mut self, kept: &[At]) -> Result<(), String> {
        for At { factor, level } in kept {
            let names = self.factors.iter().map(|one| one.name.as_str()).collect::<Vec<_>>();
            if !names.contains(&factor.as_str()) {
                let names = names.join(", ");
                return Err(format!(
                    "--level: the study has no factor '{factor}'; it has: {names}"
                ));
            }
            let levels = self.level_names(factor);
            if !levels.contains(&level.as_str()) {
                let levels = levels.join(", ");
                return Err(format!("--level: {factor} has no level '{level}'; it has: {levels}"));
            }
        }
        for factor in &mut self.factors {
            let is_kept =
                |name: &str| kept.iter().any(|at| at.factor == factor.name && at.level == name);
            if kept.iter().any(|at| at.factor == factor.name) {
                factor.levels.retain(|level| is_kept(&level.name));
            }
        }
        Ok(())
    }

    /// Checks the cells that remain, with the URLs that were given.
    ///
    /// # Errors
    /// Returns a message: a cell has no URL of its family, or its client can't load the URL.
    pub fn check_aim(&self) -> Result<(), String> {
        check_cells(self).map_err(|(_, why)| format!("with these targets a cell {why}"))
    }

    /// Returns what the study's lab would have set for its cells; empty unless it is carried out
    /// without its lab.
    pub fn uncontrolled(&self) -> Vec<UncontrolledSetting> {
        let Some(lab) = self.named.elsewhere.as_ref().and_then(|elsewhere| elsewhere.lab.as_ref())
        else {
            return Vec::new();
        };
        let mut all: Vec<(UncontrolledSetting, BTreeSet<At>)> = Vec::new();
        let planned = cells(self);
        let mut count: BTreeMap<(String, String, &str), usize> = BTreeMap::new();
        for cell in &planned {
            for wanted in of_cell(cell, lab, self.server_of(cell)) {
                let key = (wanted.name.clone(), wanted.wanted.clone(), wanted.place.word());
                *count.entry(key).or_default() += 1;
                let levels = levels_of_lab(cell);
                match all.iter_mut().find(|(known, _)| *known == wanted) {
                    Some((_, known)) => known.extend(levels),
                    None => all.push((wanted, levels.into_iter().collect())),
                }
            }
        }
        let with_levels = |(mut setting, levels): (UncontrolledSetting, BTreeSet<At>)| {
            let key = (setting.name.clone(), setting.wanted.clone(), setting.place.word());
            if count.get(&key) != Some(&planned.len()) {
                setting.levels = levels.into_iter().collect();
            }
            setting
        };
        all.into_iter().map(with_levels).collect()
    }
}

fn is_set_up_by_lab(factor: &Factor) -> bool {
    factor.levels.iter().flat_map(|level| &level.settings).any(|setting| is_of_lab(&setting.key))
}

fn set_up_by_lab(factor: &Factor) -> String {
    let names: Vec<&str> = factor.levels.iter().map(|level| level.name.as_str()).collect();
    format!(
        "--target: the levels of {} ({}) are set up by the study's lab: set one up on the machines, and name it \
         with --level {}=LEVEL",
        factor.name,
        names.join(", "),
        factor.name
    )
}

/// Has a service be one that runs elsewhere.
fn aim_service(service: &mut Service, urls: &[String]) {
    service.urls = urls.to_vec();
    service.command = Vec::new();
    service.files.clear();
    // Whether it answers as it must is checked for each path.
    service.ready = ReadyCheck::Connect;
    (service.host, service.optional) = (None, None);
    (service.on_demand, service.given) = (false, false);
}

/// Returns the levels of a cell that the lab would set up.
fn levels_of_lab(cell: &PlannedCell<'_>) -> Vec<At> {
    let of_lab = cell
        .levels
        .iter()
        .filter(|(_, level)| level.settings.iter().any(|setting| is_of_lab(&setting.key)));
    let at = |(factor, level): &(&str, &super::Level)| At {
        factor: (*factor).to_owned(),
        level: level.name.clone(),
    };
    of_lab.map(at).collect()
}

/// Returns what the lab would have set for a cell.
fn of_cell(cell: &PlannedCell<'_>, lab: &InLab, server: Option<&str>) -> Vec<UncontrolledSetting> {
    let setting = |place, name: &str, wanted: &str| UncontrolledSetting {
        place,
        name: name.to_owned(),
        wanted: wanted.to_owned(),
        levels: Vec::new(),
        found: None,
    };
    let variants = chosen(&cell.settings());
    let of_network = |name: &str, value: &str| setting(UncontrolledPlace::Network, name, value);
    let mut all: Vec<UncontrolledSetting> =
        variants.iter().map(|(name, value)| of_network(&format!("lab-{name}"), value)).collect();
    let traffic = cell.text("traffic").filter(|mix| !mix.is_empty());
    all.extend(traffic.map(|mix| of_network("traffic", mix)));
    let capture = lab.capture.as_ref().map(|at| format!("{} of {}", at.interface, at.at));
    all.extend(capture.map(|at| of_network("capture", &at)));
    // A file with mistakes is refused when the study is read.
    let Ok(plan) = parse_lab(&lab.text, Some(&lab.file), &variants) else { return all };
    let service = plan.services.iter().find(|service| Some(service.name.as_str()) == server);
    let ends = [
        (UncontrolledPlace::Client, cell.text("from")),
        (UncontrolledPlace::Server, service.and_then(|service| service.host.as_deref())),
    ];
    for (place, host) in ends {
        let Some(at) = host.and_then(|name| plan.host(name)) else { continue };
        all.extend(
            of_host(&plan, at).into_iter().map(|(name, value)| setting(place, &name, &value)),
        );
    }
    all
}

/// Returns the kernel settings and offloads of a host, by their names.
fn of_host(plan: &Lab, at: usize) -> BTreeMap<String, String> {
    let Some(host) = plan.hosts.get(at) else { return BTreeMap::new() };
    let mut all = host.sysctls.clone();
    let congestion = host.congestion.iter();
    all.extend(congestion.map(|name| ("net.ipv4.tcp_congestion_control".into(), name.clone())));
    let of_ends = plan
        .ends(at)
        .flat_map(|end| host.offloads.with(end.offloads).switches().collect::<Vec<_>>());
    let word = |on| if on { "on" } else { "off" };
    all.extend(of_ends.map(|(switch, on)| (feature(switch).to_owned(), word(on).to_owned())));
    all
}

/// Returns the kernel's name of the feature that shows whether an offload is on.
fn feature(switch: Switch) -> &'static str {
    match switch {
        Switch::TsoIpv6 => "tx-tcp6-segmentation",
        Switch::TsoIpv4 => "tx-tcp-segmentation",
        Switch::Gso => "tx-generic-segmentation",
        Switch::Gro => "rx-gro",
        Switch::Checksum => "rx-checksum",
    }
}
