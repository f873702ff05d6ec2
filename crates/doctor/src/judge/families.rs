//! Addresses and routes of both families.

use std::net::{IpAddr, Ipv6Addr};

use sixmark_units::family::Family;

use crate::facts::{Facts, FamilyFacts, InterfaceAddress};
use crate::finding::{CheckState, Finding, Mend, MendPlace};
use crate::purpose::Purpose;

/// Judges both families: whether they work at all, their addresses and their default routes.
pub(super) fn judge_families(facts: &Facts) -> Vec<Finding> {
    let of = |family: Family| {
        [judge_family(facts, family), judge_addresses(facts, family), judge_route(facts, family)]
    };
    Family::BOTH.into_iter().flat_map(of).collect()
}

fn loopback(family: Family) -> &'static str {
    match family {
        Family::Ipv6 => "::1",
        Family::Ipv4 => "127.0.0.1",
    }
}

fn judge_family(facts: &Facts, family: Family) -> Finding {
    let of = &facts.families[family];
    let (name, local) = (family.word(), loopback(family));
    let used = [Purpose::Run, Purpose::Compare];
    match &of.exchange {
        Ok(()) => Finding::new(
            name,
            CheckState::Ok,
            format!("a connection over {local} works"),
            format!("{family} can be loaded and compared."),
        ),
        Err(why) => {
            let (reasons, mend) = explain(facts, family);
            let reasons = if reasons.is_empty() {
                String::new()
            } else {
                format!("; {}", reasons.join("; "))
            };
            Finding::new(
                name,
                CheckState::Missing,
                format!("no connection over {local} ({why}){reasons}"),
                format!(
                    "Nothing can be measured over {family} here; `run` and `compare` refuse it. \
                     The other family can be measured alone (-{}).",
                    if family == Family::Ipv6 { "4" } else { "6" }
                ),
            )
            .mended(mend)
        }
    }
    .used_by(&used)
}

/// Returns why a family does not work, and what mends that in this order.
fn explain(facts: &Facts, family: Family) -> (Vec<String>, Vec<Mend>) {
    let of = &facts.families[family];
    let (mut reasons, mut mend) = (Vec::new(), Vec::new());
    if !of.is_supported {
        reasons.push(format!("the kernel has no {family}"));
        let advice = if facts.host.boots_without_ipv6 && family == Family::Ipv6 {
            "remove ipv6.disable=1 from the kernel's command line, and boot again"
        } else {
            "boot a kernel that has it"
        };
        mend.push(Mend::advice(facts.host.machine_place(), advice));
        return (reasons, mend);
    }
    let off = of.settings.iter().filter(|one| one.is_disabled).map(|one| one.interface.as_str());
    if let Some(interface) =
        off.clone().find(|name| *name == "all").or(off.clone().find(|name| *name == "lo"))
    {
        let name = format!("net.ipv6.conf.{interface}.disable_ipv6");
        reasons.push(format!("{name} is 1"));
        mend.push(facts.host.network_sysctl(&name, "0"));
    }
    if facts.loopback_up == Ok(false) {
        reasons.push("the interface lo is down".to_owned());
        mend.push(Mend::command(MendPlace::Root, "ip link set lo up"));
    } else if mend.is_empty() && of.has_loopback_address == Ok(false) {
        let address = match family {
            Family::Ipv6 => "::1/128",
            Family::Ipv4 => "127.0.0.1/8",
        };
        reasons.push(format!("lo has no address {address}"));
        mend.push(Mend::command(MendPlace::Root, format!("ip address add {address} dev lo")));
    }
    (reasons, mend)
}

/// The reach of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// One link.
    Link,
    /// The networks that know it (RFC 4193, RFC 1918).
    Private,
    /// The internet.
    Global,
}

fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V6(v6) if v6.is_unicast_link_local() => Reach::Link,
        IpAddr::V6(v6) if v6.is_unique_local() => Reach::Private,
        IpAddr::V6(v6) if v6 == Ipv6Addr::LOCALHOST => Reach::Link,
        IpAddr::V4(v4) if v4.is_link_local() || v4.is_loopback() => Reach::Link,
        IpAddr::V4(v4) if v4.is_private() => Reach::Private,
        _ => Reach::Global,
    }
}

fn judge_addresses(facts: &Facts, family: Family) -> Finding {
    let of = &facts.families[family];
    let name = format!("{}-addresses", family.word());
    let used = [Purpose::Internet];
    let addresses = match &of.addresses {
        Ok(addresses) => addresses,
        Err(why) => {
            let means = format!("Whether {family} reaches other networks is not known.");
            return Finding::unknown(&name, why, means).used_by(&used);
        }
    };
    let found = describe_addresses(addresses);
    let best = addresses.iter().map(|of| reach(of.address)).max();
    let (state, means) = match (best, family) {
        (None, _) => (
            CheckState::Missing,
            format!("Over {family}, only this machine and labs can be loaded."),
        ),
        (Some(Reach::Link), _) => (
            CheckState::Missing,
            format!("Over {family}, only this machine, its links and labs can be loaded."),
        ),
        (Some(Reach::Private), Family::Ipv6) => (
            CheckState::Limited,
            "Unique local addresses (RFC 4193) reach only networks that route them. Addresses of \
             the internet are reached through a translator, if at all."
                .to_owned(),
        ),
        (Some(Reach::Private), Family::Ipv4) => (
            CheckState::Ok,
            "A private address (RFC 1918): packets to the internet pass a translator (NAT)."
                .to_owned(),
        ),
        (Some(Reach::Global), _) => {
            (CheckState::Ok, format!("{family} has an address that other networks reach."))
        }
    };
    let mend = if state == CheckState::Ok { Vec::new() } else { mend_reach(facts, family) };
    Finding::new(&name, state, found, means).used_by(&used).mended(mend)
}

fn describe_addresses(addresses: &[InterfaceAddress]) -> String {
    /// The most that are named.
    const MOST: usize = 4;
    let all = addresses.iter().map(|of| format!("{} ({})", of.address, of.interface));
    let mut words: Vec<String> = all.take(MOST).collect();
    if addresses.len() > MOST {
        words.push(format!("and {} more", addresses.len() - MOST));
    }
    if words.is_empty() {
        "no interface but loopback has an address".to_owned()
    } else {
        words.join(", ")
    }
}

fn judge_route(facts: &Facts, family: Family) -> Finding {
    let of = &facts.families[family];
    let name = format!("{}-route", family.word());
    let finding = match &of.route {
        Ok(route) => {
            let interface = route.interface.as_deref().unwrap_or("an interface");
            let mtu = route.mtu.map_or(String::new(), |mtu| format!(", MTU {mtu}"));
            Finding::new(
                &name,
                CheckState::Ok,
                format!("to the internet by {interface} from {}{mtu}", route.source),
                format!("Servers in other networks can be loaded over {family}."),
            )
        }
        Err(why) => Finding::new(
            &name,
            CheckState::Missing,
            format!("no route to the internet ({why})"),
            format!(
                "Servers in other networks can't be loaded over {family}; this machine's own \
                 networks and labs can."
            ),
        )
        .mended(mend_route(facts, family)),
    };
    finding.used_by(&[Purpose::Internet])
}

/// Returns what gives a family a route. What gives it an address usually gives it a route too.
fn mend_route(facts: &Facts, family: Family) -> Vec<Mend> {
    let addresses = facts.families[family].addresses.as_ref();
    let is_isolated =
        addresses.is_ok_and(|all| all.iter().all(|of| reach(of.address) == Reach::Link));
    if is_isolated && facts.families[family].exchange.is_ok() {
        let advice = format!("first mend the check `{}-addresses`", family.word());
        vec![Mend::advice(MendPlace::Here, advice)]
    } else {
        mend_reach(facts, family)
    }
}

/// Returns what gives a family an address and a route.
fn mend_reach(facts: &Facts, family: Family) -> Vec<Mend> {
    let of = &facts.families[family];
    if of.exchange.is_err() {
        let advice = format!("first mend the check `{}`", family.word());
        return vec![Mend::advice(MendPlace::Here, advice)];
    }
    if family == Family::Ipv6 {
        let mend = mend_settings(facts, of);
        if !mend.is_empty() {
            return mend;
        }
    }
    let six = family == Family::Ipv6;
    if let Some(engine) = facts.host.engine() {
        let network = if six { "--ipv6 sixmark" } else { "sixmark" };
        let make = Mend::command(MendPlace::Host, format!("{engine} network create {network}"));
        return vec![make, facts.host.start(engine, "--network sixmark")];
    }
    let advice = if six {
        "the network must announce a prefix and a router (router advertisements), or an \
             administrator must add them (`ip -6 address add`, `ip -6 route add default via`); \
             labs have IPv6 of their own wherever they can be built"
    } else {
        "the network must offer an address and a router (DHCP), or an administrator must add \
             them (`ip address add`, `ip route add default via`)"
    };
    vec![Mend::advice(MendPlace::Root, advice)]
}

/// Returns the settings that keep interfaces from getting addresses and routes of IPv6.
fn mend_settings(facts: &Facts, of: &FamilyFacts) -> Vec<Mend> {
    let interfaces =
        of.settings.iter().filter(|one| !["all", "default", "lo"].contains(&&*one.interface));
    let mut found = Vec::new();
    for one in interfaces {
        let name = |setting: &str| format!("net.ipv6.conf.{}.{setting}", one.interface);
        if one.is_disabled {
            found.push(facts.host.network_sysctl(&name("disable_ipv6"), "0"));
        }
        // With 1, a router's advertisements are ignored by what forwards packets itself.
        if one.accept_ra == 0 || one.accept_ra == 1 && one.forwards {
            let advice = format!(
                "{} ignores router advertisements; it helps if the network announces a prefix",
                one.interface
            );
            found.push(facts.host.network_sysctl(&name("accept_ra"), "2").saying(advice));
        }
    }
    found
}
