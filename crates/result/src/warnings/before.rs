//! Warnings that are known before a run.

use std::io;
use std::net::SocketAddr;

use crate::failed_lookup::{FailedLookup, describe_failed_lookups};
use sixmark_document::provenance::Warning;
use sixmark_http::url::Url;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_units::family::Family;
use sixmark_units::quantity::write_count;

use sixmark_document::provenance::warning;
use sixmark_units::quantity::counted;

/// Warns that local ports may not suffice.
pub fn few_ports(family: Family, needed: u64, ports: u64) -> Warning {
    let (needed, ports) = (write_count(needed), write_count(ports));
    warning(
        "few_ports",
        format!(
            "{family} may need {needed} local ports but has {ports}; give more addresses with \
             --source, widen net.ipv4.ip_local_port_range, or use --close rst"
        ),
    )
}

/// Remarks that the kernel refuses io_uring, and what a run over epoll costs. The costs are those of
/// docs/benchmarks.md (keep-alive, server turbo): requests per CPU-second of a client, both families.
pub fn no_io_uring(error: &io::Error) -> Warning {
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; a container allows it with --security-opt seccomp=unconfined"
        }
        _ => "",
    };
    let message = format!(
        "io_uring can't be used here ({error}){hint}: this run uses epoll, with which a request \
         costs the client up to 15 % more CPU time"
    );
    warning("no_io_uring", message)
}

/// Warns that this host has no route to some addresses of a family, of which the first is given.
pub fn unroutable(
    family: Family,
    (to, error): (SocketAddr, &io::Error),
    addresses: usize,
) -> Warning {
    let more = match addresses - 1 {
        0 => String::new(),
        others => {
            format!(", nor to {}", counted(others as u64, "other address", "other addresses"))
        }
    };
    let message = format!(
        "this host can't send to {to} over {family} ({error}){more}: exchanges with this address \
         fail and are counted by address"
    );
    warning("unroutable", message)
}

/// Warns that only one family is loaded, though the user did not ask for that.
pub fn single_family(missing: Family) -> Warning {
    let message = format!("the targets have no {missing} address: nothing to compare with");
    warning("single_family", message)
}

/// Warns that look-ups failed, so that addresses of the targets are missing from the load.
pub fn lookup_failed(failed: &[FailedLookup]) -> Option<Warning> {
    let described = describe_failed_lookups(failed)?;
    let message = format!("{described}: addresses of this family are missing from the load");
    Some(warning("lookup_failed", message))
}

/// Remarks that fewer threads are used than were asked for.
pub fn threads_limited(asked: u32, used: u32, connections: u32) -> Warning {
    let threads = counted(u64::from(used), "thread is", "threads are");
    let message = format!(
        "-t {asked} is more than -c {connections} allows: {threads} used, so that each has a \
         connection of each family"
    );
    warning("threads_limited", message)
}

/// Remarks that a target was written without a scheme.
pub fn scheme_assumed(target: &str, url: &Url) -> Warning {
    warning("scheme_assumed", format!("'{target}' has no scheme; {url} is used"))
}

/// Remarks that `--insecure` was given although no target uses TLS.
pub fn insecure_unused() -> Warning {
    let message = "--insecure has no effect: no target is https://";
    warning("insecure_unused", message.to_owned())
}

/// Warns that `count` targets have no address of a family that is used.
pub fn left_out(count: usize, ratio: PlanRatio) -> Option<Warning> {
    let targets = if count == 1 { "1 target has".into() } else { format!("{count} targets have") };
    let message = format!("{targets} no address that a ratio of {ratio} uses: not loaded");
    (count > 0).then(|| warning("left_out", message))
}
