//! `--vitals-from`: the source of the server's vitals, for a run or a comparison.

use std::os::fd::OwnedFd;
use std::path::Path;

use sixmark_lab::control_socket;
use sixmark_sys::command_error::CommandError;
use sixmark_vitals::engine::VitalsFrom;

/// Opens the source if it is a host of a lab. This must happen before the process enters a lab,
/// from whose hosts the lab's control socket can't be reached.
///
/// # Errors
/// There is no such host, or its counters can't be read.
pub fn host(text: Option<&str>, lab: Option<&str>) -> Result<Option<VitalsFrom>, CommandError> {
    let named = text.filter(|text| is_host(text));
    named.map(|text| VitalsFrom::find(text, |host| network_of(host, lab))).transpose()
}

/// Opens the source if it is a file or a URL. It is read from where the load is generated.
///
/// # Errors
/// It can't be read.
pub fn elsewhere(text: Option<&str>) -> Result<Option<VitalsFrom>, CommandError> {
    let named = text.filter(|text| !is_host(text));
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
