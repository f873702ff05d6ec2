//! `--vitals-from`: where the server's vitals are to be had, of a run and of a comparison.

use std::os::fd::OwnedFd;
use std::path::Path;

use super::args::SessionArgs;
use sixmark_lab::control_socket;
use sixmark_sys::command_error::CommandError;
use sixmark_vitals::engine::VitalsFrom;

/// The host of a lab, if that is what was named: to be asked for before this process goes into a lab,
/// whose hosts don't see the way in.
pub(in crate::cli) fn host(args: &SessionArgs) -> Result<Option<VitalsFrom>, CommandError> {
    let named = args.vitals_from.as_deref().filter(|text| is_host(text));
    named.map(|text| VitalsFrom::find(text, |host| network_of(host, args.inside.lab()))).transpose()
}

/// A file or a page: to be asked for where the load comes from.
pub(in crate::cli) fn elsewhere(args: &SessionArgs) -> Result<Option<VitalsFrom>, CommandError> {
    let named = args.vitals_from.as_deref().filter(|text| !is_host(text));
    named.map(|text| VitalsFrom::find(text, |host| network_of(host, None))).transpose()
}

/// The network of `HOST` in the lab, or of `LAB/HOST`.
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
