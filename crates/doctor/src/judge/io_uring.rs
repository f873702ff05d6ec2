//! io_uring.

use std::io::ErrorKind;

use crate::facts::{Facts, KernelRefusal, UringAbilities};
use crate::finding::{CheckState, Finding, Mend, MendPlace};
use crate::purpose::Purpose;

const NAME: &str = "io-uring";

/// Judges whether the io_uring driver works, and what it lacks.
pub(super) fn judge_uring(facts: &Facts) -> Finding {
    let finding = match (&facts.uring.driver, &facts.uring.exchange) {
        (Ok(abilities), Ok(())) => judge_abilities(facts, *abilities),
        (Ok(_), Err(why)) => Finding::new(
            NAME,
            CheckState::Missing,
            format!("the driver starts, but a connection over loopback fails: {why}"),
            "Use --driver epoll, which takes more CPU time per request.",
        ),
        (Err(refusal), _) => judge_refusal(facts, refusal),
    };
    finding.used_by(&[Purpose::Uring])
}

fn judge_abilities(facts: &Facts, has: UringAbilities) -> Finding {
    let basic = "the driver works (multishot receive, provided buffers, deferred task work)";
    let lacks = [
        (!has.has_table).then_some("no file table (since Linux 6.13)"),
        (!has.can_linger).then_some("no minimum wait (since Linux 6.12)"),
    ];
    let lacks: Vec<&str> = lacks.into_iter().flatten().collect();
    if lacks.is_empty() {
        let found = format!("{basic}, with file table and minimum wait");
        let means = "`run`, `compare` and `origin --turbo` use io_uring; connections that last are \
                     not counted as open files.";
        return Finding::new(NAME, CheckState::Ok, found, means);
    }
    let mut means = "io_uring is used.".to_owned();
    if !has.has_table {
        means += " Each connection counts as an open file.";
    }
    if !has.can_linger {
        means += " --linger works with --driver epoll only.";
    }
    let advice = format!("boot Linux 6.13 or newer; this is {}", facts.host.kernel);
    Finding::new(NAME, CheckState::Limited, format!("{basic}; {}", lacks.join(", ")), means)
        .mended([Mend::advice(facts.host.machine_place(), advice)])
}

fn judge_refusal(facts: &Facts, refusal: &KernelRefusal) -> Finding {
    let disabled = facts.uring.disabled.filter(|value| *value > 0);
    let seccomp = facts.host.seccomp == Ok(true);
    let mut found = format!("the driver can't start: {}", refusal.text);
    if let Some(value) = disabled {
        found += &format!("; kernel.io_uring_disabled is {value}");
    }
    if seccomp {
        found += "; a seccomp filter restricts this process";
    }
    let means = "`run` and `compare` use epoll, which takes more CPU time per request; `--driver \
                 uring` and `origin --turbo` don't work.";
    let finding = Finding::new(NAME, CheckState::Missing, found, means);
    let host = &facts.host;
    match (refusal.kind, host.engine()) {
        _ if disabled.is_some() => {
            finding.mended([host.machine_sysctl("kernel.io_uring_disabled", "0")])
        }
        // A filter may answer with either error.
        (ErrorKind::PermissionDenied | ErrorKind::Unsupported, Some(engine)) if seccomp => {
            finding.mended([host.start(engine, "--security-opt seccomp=unconfined")])
        }
        (ErrorKind::PermissionDenied | ErrorKind::Unsupported, None) if seccomp => {
            finding.mended([Mend::advice(
                MendPlace::Root,
                "start it without the filter (of a systemd unit: SystemCallFilter=, with \
                 io_uring_setup, io_uring_enter and io_uring_register added)",
            )])
        }
        (ErrorKind::OutOfMemory, Some(engine)) => {
            finding.mended([host.start(engine, "--ulimit memlock=-1:-1")])
        }
        (ErrorKind::OutOfMemory, None) => {
            finding.mended([Mend::command(MendPlace::Root, "prlimit --pid $$ --memlock=unlimited")])
        }
        (ErrorKind::Unsupported | ErrorKind::InvalidInput, _) => {
            let advice =
                format!("boot Linux 6.1 or newer with CONFIG_IO_URING; this is {}", host.kernel);
            finding.mended([Mend::advice(host.machine_place(), advice)])
        }
        _ => finding,
    }
}
