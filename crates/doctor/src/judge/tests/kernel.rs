//! Namespaces, io_uring, rights.

use libc::EPERM;
use sixmark_lab::plan::tc::KernelShapers;
use sixmark_lab::trial::TrialOutcome;

use super::machine::{podman, user, with};
use super::outcome::{check_cases, find, outcome};
use crate::facts::{CapabilityFacts, Facts, KernelRefusal, UringAbilities};
use crate::finding::{CheckState, MendPlace};
use crate::judge::judge;
use crate::purpose::Purpose;

fn refuse(facts: &mut Facts, errno: i32) {
    let what = "make namespaces".to_owned();
    facts.namespaces.trial = Ok(TrialOutcome::Refused { what, errno: Some(errno) });
}

#[test]
fn suggests_the_setting_that_permits_namespaces() {
    check_cases(&[
        (
            |facts| {
                user(facts);
                refuse(facts, EPERM);
                facts.namespaces.userns_clone = Some(0);
            },
            "namespaces",
            CheckState::Missing,
            &["sysctl -w kernel.unprivileged_userns_clone=1"],
        ),
        (
            |facts| {
                user(facts);
                refuse(facts, libc::EACCES);
                facts.namespaces.apparmor_restricts = Some(1);
            },
            "namespaces",
            CheckState::Missing,
            &["sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"],
        ),
        (
            |facts| {
                user(facts);
                refuse(facts, libc::ENOSPC);
                facts.namespaces.max_user = Some(0);
                facts.namespaces.max_net = Some(0);
            },
            "namespaces",
            CheckState::Missing,
            &[
                "sysctl -w user.max_user_namespaces=10000",
                "sysctl -w user.max_net_namespaces=10000",
            ],
        ),
        (
            |facts| {
                podman(facts);
                refuse(facts, EPERM);
            },
            "namespaces",
            CheckState::Missing,
            &["podman run --privileged IMAGE"],
        ),
        (
            |facts| facts.namespaces.trial = Err("there are 3".into()),
            "namespaces",
            CheckState::Unknown,
            &[],
        ),
    ]);
    let found = judge(&with(|facts| refuse(facts, EPERM)));
    assert!(
        found.iter().all(|finding| finding.name != "lab-links"),
        "there was no lab to try it in"
    );
    let finding = find(&found, "namespaces");
    assert!(finding.found.contains("Operation not permitted"), "{}", finding.found);
    assert_eq!(finding.prevents, [Purpose::Lab]);
}

fn shape(facts: &mut Facts, netem: bool, limits: bool) {
    let Ok(TrialOutcome::Built { shapers, .. }) = &mut facts.namespaces.trial else { return };
    *shapers = Ok(KernelShapers { netem, limits });
}

#[test]
fn names_missing_kernel_options_and_what_the_emulator_replaces() {
    for (netem, limits, does, options) in [
        (false, true, "emulator delays frames: ", &["NET_SCH_NETEM"][..]),
        (true, false, "emulator limits rates: ", &["NET_SCH_TBF", "NET_ACT_MIRRED"]),
        (false, false, "emulator delays frames and limits", &["NET_SCH_NETEM", "NET_CLS_U32"]),
    ] {
        let found = judge(&with(|facts| shape(facts, netem, limits)));
        let finding = find(&found, "lab-links");
        assert_eq!(finding.state, CheckState::Limited);
        assert!(finding.found.contains(does), "{}", finding.found);
        let advice = finding.mend[0].advice.as_deref().unwrap();
        assert!(options.iter().all(|option| advice.contains(option)), "{advice}");
        assert_eq!(advice.contains("NETEM"), !netem, "{advice}");
        assert_eq!(advice.contains("MIRRED"), !limits, "{advice}");
    }
}

fn forbid_uring(facts: &mut Facts, errno: i32) {
    let error = std::io::Error::from_raw_os_error(errno);
    facts.uring.driver = Err(KernelRefusal { text: error.to_string(), kind: error.kind() });
}

#[test]
fn suggests_the_setting_that_permits_io_uring() {
    check_cases(&[
        (
            |facts| {
                forbid_uring(facts, EPERM);
                facts.uring.disabled = Some(2);
            },
            "io-uring",
            CheckState::Missing,
            &["sysctl -w kernel.io_uring_disabled=0"],
        ),
        (
            |facts| {
                podman(facts);
                forbid_uring(facts, libc::ENOSYS);
            },
            "io-uring",
            CheckState::Missing,
            &["podman run --security-opt seccomp=unconfined IMAGE"],
        ),
        (
            |facts| {
                forbid_uring(facts, EPERM);
                facts.host.seccomp = Ok(true);
            },
            "io-uring",
            CheckState::Missing,
            &[],
        ),
        (|facts| forbid_uring(facts, libc::EINVAL), "io-uring", CheckState::Missing, &[]),
        (
            |facts| {
                facts.uring.driver = Ok(UringAbilities { has_table: false, can_linger: true });
            },
            "io-uring",
            CheckState::Limited,
            &[],
        ),
    ]);
    let facts = with(|facts| {
        podman(facts);
        forbid_uring(facts, EPERM);
        facts.uring.disabled = Some(1);
    });
    let finding = find(&judge(&facts), "io-uring");
    assert_eq!(finding.mend[0].place, MendPlace::Host);
    assert!(finding.found.contains("kernel.io_uring_disabled is 1"), "{}", finding.found);
}

#[test]
fn suggests_rights_for_the_program_or_the_container() {
    let denied = |facts: &mut Facts| {
        let text = "Operation not permitted (os error 1)".to_owned();
        let refused = KernelRefusal { text, kind: std::io::ErrorKind::PermissionDenied };
        facts.kernel.capture = Err(refused.clone());
        facts.kernel.realtime = Err(refused);
    };
    let facts = with(|facts| {
        user(facts);
        denied(facts);
    });
    let setcap = "setcap cap_net_raw=ep /usr/bin/sixmark".to_owned();
    assert_eq!(outcome(&facts, "capture"), (CheckState::Missing, vec![setcap]));
    let prlimit = "prlimit --pid $$ --rtprio=50".to_owned();
    assert_eq!(outcome(&facts, "realtime"), (CheckState::Limited, vec![prlimit]));
    let both = "setcap cap_net_raw,cap_net_bind_service=ep /usr/bin/sixmark".to_owned();
    assert_eq!(outcome(&facts, "capabilities"), (CheckState::Limited, vec![both]));
    let contained = with(|facts| {
        podman(facts);
        denied(facts);
    });
    let added = "podman run --cap-add NET_RAW IMAGE".to_owned();
    assert_eq!(outcome(&contained, "capture"), (CheckState::Missing, vec![added]));
    let other_user = with(|facts| {
        podman(facts);
        facts.host.user = Ok(65_532);
        denied(facts);
    });
    let added = "podman run --user 0 --cap-add NET_RAW IMAGE".to_owned();
    assert_eq!(outcome(&other_user, "capture").1, [added]);
    // A file's capabilities are cut by the bounding set.
    let bounded = with(|facts| {
        user(facts);
        denied(facts);
        facts.host.capabilities = Ok(CapabilityFacts::default());
    });
    assert_eq!(outcome(&bounded, "capture"), (CheckState::Missing, vec![]));
}
