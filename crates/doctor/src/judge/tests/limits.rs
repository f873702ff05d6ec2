//! Limits, processors, interfaces, programs, files.

use std::collections::BTreeSet;

use sixmark_sys::limit::OpenFilesLimits;

use super::machine::{interface, programs, user, with};
use super::outcome::{check_cases, find, outcome};
use crate::facts::{PortRange, StoreFacts};
use crate::finding::CheckState;
use crate::judge::judge;
use crate::purpose::Purpose;

#[test]
fn reports_limits_with_figures_and_commands() {
    let facts = with(|facts| {
        user(facts);
        facts.limits.open_files = Ok(OpenFilesLimits { soft: 256, hard: 512 });
        facts.limits.ports = Ok(PortRange { low: 40_000, high: 40_019, reserved: 0 });
        facts.limits.backlog = Ok(128);
    });
    let found = judge(&facts);
    let files = find(&found, "open-files");
    assert!(files.found.contains("soft limit 256, hard limit 512"), "{}", files.found);
    assert!(files.means.contains("At most 448 fit"), "{}", files.means);
    assert_eq!(files.prevents, [Purpose::Many]);
    assert_eq!(outcome(&facts, "open-files").1, ["prlimit --pid $$ --nofile=65536"]);
    let ports = outcome(&facts, "ports");
    let range = "sysctl -w net.ipv4.ip_local_port_range='1024 65535'".to_owned();
    assert_eq!(ports, (CheckState::Limited, vec![range]));
    let backlog = "sysctl -w net.core.somaxconn=4096".to_owned();
    assert_eq!(outcome(&facts, "backlog"), (CheckState::Limited, vec![backlog]));
    // With CAP_SYS_RESOURCE the hard limit is raised.
    let root = with(|facts| {
        facts.limits.open_files = Ok(OpenFilesLimits { soft: 256, hard: 512 });
    });
    assert_eq!(outcome(&root, "open-files"), (CheckState::Ok, vec![]));
}

#[test]
fn judges_processors_clock_and_memory() {
    const CLOCK: &str =
        "echo tsc >/sys/devices/system/clocksource/clocksource0/current_clocksource";
    check_cases(&[
        (
            |facts| {
                facts.kernel.clock_source = Ok("hpet".into());
                facts.kernel.clock_ns = 1_400.0;
            },
            "clock",
            CheckState::Limited,
            &[CLOCK],
        ),
        (
            |facts| facts.processors.governors = Ok(BTreeSet::from(["powersave".to_owned()])),
            "governor",
            CheckState::Limited,
            &["echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"],
        ),
        (
            |facts| facts.processors.governors = Err("none".into()),
            "governor",
            CheckState::Unknown,
            &[],
        ),
        (|facts| facts.processors.allowed = Ok(1), "cores", CheckState::Limited, &[]),
        (|facts| facts.processors.quota = Ok(Some(1.5)), "cores", CheckState::Limited, &[]),
        (|facts| facts.processors.steal = Ok(0.05), "steal", CheckState::Limited, &[]),
        (
            |facts| facts.limits.memory_limit = Ok(Some(256 << 20)),
            "memory",
            CheckState::Limited,
            &[],
        ),
    ]);
}

#[test]
fn reports_an_interface_with_offloads_for_one_family_only() {
    let facts = with(|facts| facts.interfaces = Ok(vec![interface(&["tx-tcp6-segmentation"])]));
    let command = "ethtool -K eth0 tx-tcp6-segmentation on".to_owned();
    assert_eq!(outcome(&facts, "offloads"), (CheckState::Limited, vec![command]));
    let finding = find(&judge(&facts), "offloads");
    assert!(finding.found.contains("eth0: TSO is off for IPv6 only"), "{}", finding.found);
    let both = with(|facts| {
        let off = interface(&["tx-tcp6-segmentation", "tx-tcp-segmentation"]);
        facts.interfaces = Ok(vec![off]);
    });
    assert_eq!(outcome(&both, "offloads").0, CheckState::Ok);
}

#[test]
fn suggests_one_install_command_per_group_of_missing_programs() {
    let facts = with(|facts| {
        facts.programs = programs(&["firefox", "chromium", "wrk", "bird", "ssh", "nats-server"]);
    });
    let installs = |packages: &str| vec![format!("apt-get install {packages}")];
    assert_eq!(outcome(&facts, "clients"), (CheckState::Limited, installs("wrk")));
    let browsers = installs("chromium firefox-esr");
    assert_eq!(outcome(&facts, "browsers"), (CheckState::Missing, browsers));
    assert_eq!(outcome(&facts, "study-programs"), (CheckState::Limited, installs("bird2")));
    assert_eq!(outcome(&facts, "ssh"), (CheckState::Missing, installs("openssh-client")));
    let nats = vec!["go install nats-server".to_owned()];
    assert_eq!(outcome(&facts, "nats-server"), (CheckState::Missing, nats));
    let finding = find(&judge(&facts), "study-programs");
    assert!(finding.means.contains("bird (towson)"), "{}", finding.means);
    assert_eq!(find(&judge(&facts), "nats-server").found, "there is no nats-server in PATH");
}

#[test]
fn reports_a_store_that_cannot_be_written() {
    let facts = with(|facts| {
        user(facts);
        facts.storage.store = StoreFacts::File {
            path: "/var/lib/six/results.sqlite".into(),
            exists: false,
            place: "/var/lib/six".into(),
            writable: Err("Permission denied (os error 13)".into()),
            free: Ok(1),
        };
    });
    assert_eq!(
        outcome(&facts, "store"),
        (CheckState::Missing, vec![]),
        "the folder may be anyone's"
    );
    assert_eq!(find(&judge(&facts), "store").prevents, [Purpose::Store]);
    let foreign = with(|facts| {
        user(facts);
        if let StoreFacts::File { writable, .. } = &mut facts.storage.store {
            *writable = Err("Permission denied (os error 13)".into());
        }
    });
    let command = "chown 1000 /home/a/results.sqlite".to_owned();
    assert_eq!(outcome(&foreign, "store"), (CheckState::Missing, vec![command]));
    let nowhere = with(|facts| facts.storage.store = StoreFacts::Nowhere);
    assert_eq!(outcome(&nowhere, "store").0, CheckState::Ok);
}
