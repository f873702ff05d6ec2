//! The facts of a machine, to be changed.

use std::collections::BTreeSet;
use std::time::Duration;

use sixmark_lab::plan::tc::KernelShapers;
use sixmark_lab::trial::TrialOutcome;
use sixmark_sys::enclosure::Rights;
use sixmark_sys::limit::OpenFilesLimits;
use sixmark_units::family::{Family, PerFamily};

use crate::facts::*;

const ALL_CAPABILITIES: u64 = 0x1ff_ffff_ffff;
/// A machine on which everything is as sixmark needs it.
pub(super) fn good() -> Facts {
    Facts {
        host: good_host(),
        families: PerFamily::from_fn(good_family),
        loopback_up: Ok(true),
        namespaces: good_namespaces(),
        uring: UringFacts {
            driver: Ok(UringAbilities { has_table: true, can_linger: true }),
            exchange: Ok(()),
            disabled: Some(0),
        },
        kernel: good_kernel(),
        limits: LimitFacts {
            open_files: Ok(OpenFilesLimits { soft: 1_024, hard: 1_048_576 }),
            most_open_files: Ok(1_048_576),
            ports: Ok(PortRange { low: 32_768, high: 60_999, reserved: 0 }),
            backlog: Ok(4_096),
            memory: Ok(MemoryFacts { total: 16 << 30, available: 8 << 30 }),
            memory_limit: Ok(None),
        },
        processors: good_processors(),
        interfaces: Ok(vec![interface(&[])]),
        programs: programs(&[]),
        storage: StorageFacts {
            store: StoreFacts::File {
                path: "/home/a/results.sqlite".into(),
                exists: true,
                place: "/home/a/results.sqlite".into(),
                writable: Ok(()),
                free: Ok(50_000_000_000),
            },
            certificates: Ok(140),
        },
    }
}

fn good_host() -> HostFacts {
    HostFacts {
        program: "/usr/bin/sixmark".into(),
        user: Ok(0),
        capabilities: Ok(CapabilityFacts {
            effective: ALL_CAPABILITIES,
            bounding: ALL_CAPABILITIES,
            no_new: false,
        }),
        seccomp: Ok(false),
        container: Ok(None),
        has_apt: true,
        kernel: "6.18.1".into(),
        boots_without_ipv6: false,
        writes_sysctls: true,
    }
}

fn good_namespaces() -> NamespaceFacts {
    let took = Duration::from_millis(80);
    NamespaceFacts {
        trial: Ok(TrialOutcome::Built {
            rights: Rights::Root,
            took,
            shapers: Ok(KernelShapers { netem: true, limits: true }),
        }),
        userns_clone: Some(1),
        apparmor_restricts: Some(0),
        max_user: Some(96_365),
        max_net: Some(96_365),
    }
}

fn good_kernel() -> KernelFacts {
    KernelFacts {
        timestamps: Ok(0),
        capture: Ok(()),
        realtime: Ok(()),
        clock_source: Ok("tsc".into()),
        clock_sources: Ok(vec!["tsc".into(), "hpet".into()]),
        clock_ns: 25.0,
        congestion: Ok("cubic".into()),
        congestions: Ok(vec!["reno".into(), "cubic".into()]),
    }
}

fn good_processors() -> ProcessorFacts {
    ProcessorFacts {
        online: Ok(8),
        allowed: Ok(8),
        quota: Ok(None),
        governors: Ok(BTreeSet::from(["performance".to_owned()])),
        boosts: Some(true),
        smt: Ok(false),
        is_virtual: Ok(false),
        steal: Ok(0.0),
    }
}

fn good_family(family: Family) -> FamilyFacts {
    let address = match family {
        Family::Ipv6 => "2001:db8::2",
        Family::Ipv4 => "198.51.100.2",
    };
    let address = address.parse().unwrap();
    let settings = ["all", "eth0", "lo"].map(|interface| Ipv6Settings {
        interface: interface.into(),
        is_disabled: false,
        accept_ra: 1,
        forwards: false,
    });
    FamilyFacts {
        exchange: Ok(()),
        is_supported: true,
        has_loopback_address: Ok(true),
        addresses: Ok(vec![InterfaceAddress { interface: "eth0".into(), address }]),
        route: Ok(RouteFacts { source: address, interface: Some("eth0".into()), mtu: Some(1_500) }),
        settings: if family == Family::Ipv6 { settings.into() } else { Vec::new() },
    }
}

/// An interface all of whose features are on but for these.
pub(super) fn interface(off: &[&str]) -> InterfaceFacts {
    let names = [
        "tx-checksum-ipv4",
        "tx-checksum-ipv6",
        "tx-tcp-segmentation",
        "tx-tcp6-segmentation",
        "tx-generic-segmentation",
        "rx-gro",
    ];
    let feature =
        |name: &str| FeatureFacts { name: name.to_owned(), on: !off.contains(&name), open: true };
    InterfaceFacts { name: "eth0".into(), features: Ok(names.map(feature).into()) }
}

/// Programs, of which these are missing.
pub(super) fn programs(missing: &[&str]) -> ProgramFacts {
    let of = |name: &str, package: &str, study: &str| ProgramFact {
        name: name.to_owned(),
        package: Some(package.to_owned()),
        path: (!missing.contains(&name)).then(|| format!("/usr/bin/{name}").into()),
        studies: BTreeSet::from([study.to_owned()]),
    };
    ProgramFacts {
        clients: vec![of("curl", "curl", ""), of("wrk", "wrk", "")],
        browsers: vec![of("chromium", "chromium", ""), of("firefox", "firefox-esr", "")],
        studies: vec![of("bird", "bird2", "towson"), of("nginx", "nginx", "anma")],
        ssh: Some(of("ssh", "openssh-client", "")),
        nats_server: Some(if missing.contains(&"nats-server") {
            Err("there is no nats-server in PATH; sixmark needs 2.14 or later: x".into())
        } else {
            Ok("/usr/bin/nats-server".into())
        }),
        install_nats_server: "go install nats-server".into(),
    }
}

/// The machine after a change.
pub(super) fn with(change: impl FnOnce(&mut Facts)) -> Facts {
    let mut facts = good();
    change(&mut facts);
    facts
}

pub(super) fn podman(facts: &mut Facts) {
    facts.host.container = Ok(Some("podman".into()));
    facts.host.seccomp = Ok(true);
    facts.host.writes_sysctls = false;
    let capabilities = CapabilityFacts { effective: 0, bounding: 0, no_new: false };
    facts.host.capabilities = Ok(capabilities);
}

pub(super) fn user(facts: &mut Facts) {
    facts.host.user = Ok(1_000);
    let capabilities = CapabilityFacts { effective: 0, bounding: ALL_CAPABILITIES, no_new: false };
    facts.host.capabilities = Ok(capabilities);
}
