//! `--vitals-from`: the source of the server's vitals, for a run or a comparison.

use std::os::fd::OwnedFd;
use std::path::Path;

use super::args::SessionArgs;
use sixmark_lab::control_socket;
use sixmark_sys::command_error::CommandError;
use sixmark_vitals::engine::VitalsFrom;

/// Opens the source if it is a host of a lab. This must happen before the process enters a lab,
/// from whose hosts the lab's control socket can't be reached.
pub(in crate::cli) fn host(args: &SessionArgs) -> Result<Option<VitalsFrom>, CommandError> {
    let named = args.vitals_from.as_deref().filter(|text| is_host(text));
    named.map(|text| VitalsFrom::find(text, |host| network_of(host, args.inside.lab()))).transpose()
}

/// Opens the source if it is a file or a URL. It is read from where the load is generated.
pub(in crate::cli) fn elsewhere(args: &SessionArgs) -> Result<Option<VitalsFrom>, CommandError> {
    let named = args.vitals_from.as_deref().filter(|text| !is_host(text));
    named.map(|text| VitalsFrom::find(text, |host| network_of(host, None))).transpose()
}

/// Returns the network namespace of `HOST` in the given lab, or of `LAB/HOST`.
fn network_of(host: &str, lab: Option<&str>) -> Result<OwnedFd, CommandError> {
    let (lab, name) = match host.split_once('/') {
        Some((lab, name)) => (Some(lab), name),
        None => (lab, host),
    };
    let namespaces = control_socket::ask_namespaces(&control_socket::choose(lab)?, name)?;
    Ok(namespaces.network)
}

fn is_host(text: &str) -> bool {
    text.starts_with("lab:") || (!text.contains("://") && !Path::new(text).exists())
}
