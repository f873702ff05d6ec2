//! The optional services that can't run here.

use sixmark_lab::service::probe::{failed_probe, missing_program};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::enclosure::Rights;

use super::program::{is_wanted, missing_engine};
use super::stage::temporary;
use sixmark_design::spec::Study;

/// Returns the optional services that can't run here, each with the reason in a clause. `rights` are
/// those of the enclosure of a study in a lab. Without `probing` no probe is run.
///
/// # Errors
/// A probe can't be run.
pub fn omissions(
    study: &Study,
    rights: Option<Rights>,
    probing: bool,
) -> Result<Vec<(String, String)>, CommandError> {
    let base = temporary(study, rights);
    let value = |name: &str| study.lab.as_ref().and_then(|lab| lab.lab.value(name));
    let mut all = Vec::new();
    for service in study.services.iter().filter(|service| service.optional.is_some()) {
        if !is_wanted(study, service) {
            continue;
        }
        let why = match missing_program(service) {
            _ if service.given && !study.named.programs.contains_key(&service.name) => {
                Some(format!("no program given: --server {}=PATH", service.name))
            }
            Some(why) => Some(why),
            None => missing_engine(study, service)?,
        };
        let why = match why {
            None if probing => failed_probe(service, &base, &value)?,
            why => why,
        };
        all.extend(why.map(|why| (service.name.clone(), why)));
    }
    Ok(all)
}
