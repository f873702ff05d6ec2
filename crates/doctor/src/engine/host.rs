//! The process and its system.

use std::path::Path;

use sixmark_sys::folder::check_access;

use super::files::text;
use crate::facts::HostFacts;
use crate::parse::{self, ContainerMarks};

pub(super) fn examine_host() -> HostFacts {
    let status = text("/proc/self/status");
    let of_status = status.as_deref().map_err(Clone::clone);
    let command_line = text("/proc/cmdline").unwrap_or_default();
    HostFacts {
        program: std::env::current_exe()
            .map_or_else(|_| "sixmark".to_owned(), |path| path.display().to_string()),
        user: of_status.clone().and_then(parse::effective_user),
        capabilities: of_status.clone().and_then(parse::capabilities),
        seccomp: of_status
            .and_then(|status| parse::status_field(status, "Seccomp"))
            .map(|mode| mode != "0"),
        container: container_marks().map(|marks| parse::container(&marks)),
        has_apt: text("/etc/os-release").is_ok_and(|release| parse::is_debian(&release)),
        kernel: text("/proc/sys/kernel/osrelease").unwrap_or_else(|why| why),
        boots_without_ipv6: command_line.split_whitespace().any(|word| word == "ipv6.disable=1"),
        writes_sysctls: check_access(Path::new("/proc/sys/net/ipv4/ip_local_port_range")).is_ok(),
    }
}

fn container_marks() -> Result<ContainerMarks, String> {
    let path = "/proc/self/ns/pid";
    let namespace = std::fs::read_link(path);
    let namespace = namespace.map_err(|error| format!("{path} can't be read: {error}"))?;
    Ok(ContainerMarks {
        namespace: namespace.display().to_string(),
        podman: text("/run/.containerenv").ok(),
        docker: Path::new("/.dockerenv").exists(),
        variable: std::env::var("container").ok(),
    })
}
