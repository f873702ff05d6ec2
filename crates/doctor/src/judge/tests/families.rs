//! Families, their addresses and routes.

use sixmark_units::family::Family;

use super::machine::{podman, with};
use super::outcome::{check_cases, find};
use crate::doctor_result::{Required, judge_purposes};
use crate::facts::{Facts, InterfaceAddress};
use crate::finding::CheckState;
use crate::judge::judge;
use crate::purpose::Purpose;

fn fail(facts: &mut Facts, family: Family) {
    facts.families[family].exchange = Err("listen: Cannot assign requested address".into());
}

fn disable(facts: &mut Facts, interface: &str) {
    let settings = &mut facts.families.ipv6.settings;
    settings.iter_mut().find(|of| of.interface == interface).unwrap().is_disabled = true;
}

#[test]
fn suggests_one_command_that_enables_a_disabled_family() {
    check_cases(&[
        (
            |facts| {
                fail(facts, Family::Ipv6);
                disable(facts, "lo");
                disable(facts, "all");
            },
            "ipv6",
            CheckState::Missing,
            &["sysctl -w net.ipv6.conf.all.disable_ipv6=0"],
        ),
        (
            |facts| {
                fail(facts, Family::Ipv6);
                disable(facts, "lo");
            },
            "ipv6",
            CheckState::Missing,
            &["sysctl -w net.ipv6.conf.lo.disable_ipv6=0"],
        ),
        (
            |facts| {
                podman(facts);
                fail(facts, Family::Ipv6);
                disable(facts, "all");
            },
            "ipv6",
            CheckState::Missing,
            &["podman run --sysctl net.ipv6.conf.all.disable_ipv6=0 IMAGE"],
        ),
        (
            |facts| {
                fail(facts, Family::Ipv4);
                facts.loopback_up = Ok(false);
            },
            "ipv4",
            CheckState::Missing,
            &["ip link set lo up"],
        ),
        (
            |facts| {
                fail(facts, Family::Ipv6);
                facts.families.ipv6.has_loopback_address = Ok(false);
            },
            "ipv6",
            CheckState::Missing,
            &["ip address add ::1/128 dev lo"],
        ),
    ]);
}

#[test]
fn advises_booting_with_ipv6_if_the_kernel_disables_it() {
    let facts = with(|facts| {
        fail(facts, Family::Ipv6);
        facts.families.ipv6.is_supported = false;
        facts.host.boots_without_ipv6 = true;
    });
    let found = judge(&facts);
    let finding = find(&found, "ipv6");
    assert_eq!((finding.state, finding.mend.len()), (CheckState::Missing, 1));
    let advice = finding.mend[0].advice.clone().unwrap();
    assert!(advice.contains("remove ipv6.disable=1"), "{advice}");
    let unmet = Required::unmet(
        &[Required::Purpose(Purpose::Run), Required::Purpose(Purpose::Lab)],
        &judge_purposes(&found),
        &found,
    );
    assert_eq!(unmet, ["run"]);
}

fn address(facts: &mut Facts, address: &str) {
    let address = address.parse().unwrap();
    let addresses = vec![InterfaceAddress { interface: "eth0".into(), address }];
    facts.families[Family::of(address)].addresses = Ok(addresses);
}

#[test]
fn judges_addresses_by_their_scope() {
    check_cases(&[
        (|facts| address(facts, "fe80::1"), "ipv6-addresses", CheckState::Missing, &[]),
        (|facts| address(facts, "fd00::2"), "ipv6-addresses", CheckState::Limited, &[]),
        (|facts| address(facts, "10.0.0.2"), "ipv4-addresses", CheckState::Ok, &[]),
        (|facts| address(facts, "169.254.1.1"), "ipv4-addresses", CheckState::Missing, &[]),
        (
            |facts| facts.families.ipv6.addresses = Err("no /proc".into()),
            "ipv6-addresses",
            CheckState::Unknown,
            &[],
        ),
    ]);
}

#[test]
fn suggests_the_setting_that_restores_a_missing_route() {
    const NONE: &str = "Network is unreachable (os error 101)";
    check_cases(&[
        (
            |facts| facts.families.ipv6.route = Err(NONE.into()),
            "ipv6-route",
            CheckState::Missing,
            &[],
        ),
        (
            |facts| {
                facts.families.ipv6.route = Err(NONE.into());
                facts.families.ipv6.settings[1].forwards = true;
            },
            "ipv6-route",
            CheckState::Missing,
            &["sysctl -w net.ipv6.conf.eth0.accept_ra=2"],
        ),
        (
            |facts| {
                facts.families.ipv6.route = Err(NONE.into());
                disable(facts, "eth0");
            },
            "ipv6-route",
            CheckState::Missing,
            &["sysctl -w net.ipv6.conf.eth0.disable_ipv6=0"],
        ),
        (
            |facts| {
                podman(facts);
                facts.families.ipv6.route = Err(NONE.into());
            },
            "ipv6-route",
            CheckState::Missing,
            &["podman network create --ipv6 sixmark", "podman run --network sixmark IMAGE"],
        ),
    ]);
    let found = judge(&with(|facts| facts.families.ipv6.route = Err(NONE.into())));
    let purposes = judge_purposes(&found);
    let is_prevented =
        |of: Purpose| purposes.iter().any(|one| one.name == of && one.state == CheckState::Missing);
    assert!(is_prevented(Purpose::Internet) && !is_prevented(Purpose::Run));
}
