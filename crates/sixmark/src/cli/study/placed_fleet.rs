//! The fleet of a study: `--hosts` and `--fleet`, also for hosts of the lab that the study builds.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_clients::client::Client;
use sixmark_design::spec::cells::cells;
use sixmark_design::spec::instruments::Instrument;
use sixmark_design::spec::lab::{InLab, chosen};
use sixmark_design::spec::{PlannedCell, Study};
use sixmark_fleet::hosts::{HostList, HostName};
use sixmark_lab::Up;
use sixmark_lab::plan::{Lab, parse_lab};
use sixmark_run::Generators;
use sixmark_study::engine::StudyFleet;
use sixmark_sys::command_error::CommandError;

use crate::cli::fleet::args::FleetArgs;
use crate::cli::inside::InsideArgs;

/// The fleet that the options name.
#[derive(Debug)]
struct PlacedFleet(FleetArgs);

impl StudyFleet for PlacedFleet {
    fn places(&self) -> Vec<String> {
        let hosts = self.0.hosts.iter().flat_map(HostList::hosts).map(|(host, _)| host.to_string());
        hosts.chain(self.0.fleet.iter().map(ToString::to_string)).collect()
    }

    fn take(
        &self,
        lab: Option<&Up>,
        stop: &AtomicBool,
    ) -> Result<Arc<dyn Generators>, CommandError> {
        let taken = match lab {
            Some(lab) => self.0.take_in(lab, stop)?,
            None => self.0.take(&InsideArgs::default(), stop)?,
        };
        taken.ok_or_else(|| CommandError::Usage("the options name no fleet".to_owned()))
    }
}

/// Returns the fleet that the options name for a study; `None` if they name none.
///
/// # Errors
/// One line: the study can't have it.
pub(super) fn fleet_for(
    args: &FleetArgs,
    study: &Study,
) -> Result<Option<Arc<dyn StudyFleet>>, CommandError> {
    if !args.is_given() {
        return Ok(None);
    }
    check(args, study).map_err(CommandError::Usage)?;
    Ok(Some(Arc::new(PlacedFleet(args.clone()))))
}

fn check(args: &FleetArgs, study: &Study) -> Result<(), String> {
    let option = if args.hosts.is_some() { "--hosts" } else { "--fleet" };
    if !cells(study).iter().any(|cell| cell.client() == Client::Sixmark) {
        return Err(format!(
            "{option}: no cell of this study is loaded by sixmark itself; omit the option"
        ));
    }
    if study.instruments.contains(&Instrument::Kernel) {
        return Err(format!(
            "{option}: the study's kernel instrument would not measure the agents' kernels; remove \
             it from `instruments`, or omit the option"
        ));
    }
    let Some(lab) = &study.lab else { return Ok(()) };
    let example = example(&lab.lab);
    let Some(hosts) = &args.hosts else {
        return Err(format!(
            "--fleet: no way leads out of the study's lab; name hosts of it instead: {example}"
        ));
    };
    let labs = labs(study, lab);
    hosts.hosts().iter().try_for_each(|(host, _)| check_host(host, lab, &labs))
}

fn check_host(host: &HostName, lab: &InLab, labs: &[Lab]) -> Result<(), String> {
    let own = &lab.lab.name;
    let name = match host {
        HostName::Ssh(_) => {
            let example = example(&lab.lab);
            return Err(format!(
                "--hosts: no way leads out of the study's lab to {host}; name hosts of the lab: \
                 {example}"
            ));
        }
        HostName::Lab { lab: Some(other), .. } if other != own => {
            return Err(format!(
                "--hosts: {host} is in another lab than the study, which builds '{own}' itself; \
                 name hosts of that: lab:HOST"
            ));
        }
        HostName::Lab { host, .. } => host,
    };
    match labs.iter().find(|lab| lab.hosts.iter().all(|host| host.name != *name)) {
        None => Ok(()),
        Some(lab) => {
            let names: Vec<&str> = lab.hosts.iter().map(|host| host.name.as_str()).collect();
            Err(format!(
                "--hosts: the study's lab has no host '{name}'; it has: {}",
                names.join(", ")
            ))
        }
    }
}

/// Returns every lab that the study builds.
fn labs(study: &Study, lab: &InLab) -> Vec<Lab> {
    let variants = |cell: &PlannedCell<'_>| chosen(&cell.settings());
    let all: BTreeSet<_> = cells(study).iter().map(variants).collect();
    // A file with mistakes is refused when the study is read.
    all.iter().filter_map(|variants| parse_lab(&lab.text, Some(&lab.file), variants).ok()).collect()
}

fn example(lab: &Lab) -> String {
    let names: Vec<String> =
        lab.hosts.iter().take(2).map(|host| format!("lab:{}", host.name)).collect();
    format!("--hosts {}", names.join(","))
}
