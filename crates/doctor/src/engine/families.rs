//! Addresses, routes and interfaces.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use sixmark_sys::driver::Epoll;
use sixmark_sys::ethtool::Ethtool;
use sixmark_sys::{interface, route};
use sixmark_units::family::{Family, PerFamily};

use super::exchange::exchange;
use super::files;
use crate::facts::{
    FamilyFacts, FeatureFacts, InterfaceAddress, InterfaceFacts, Ipv6Settings, Reading, RouteFacts,
};

/// Addresses of the internet, one of each family: a root server of the DNS. Only the routes to them
/// are looked up; nothing is sent.
const FAR: PerFamily<IpAddr> = PerFamily {
    ipv6: IpAddr::V6(Ipv6Addr::new(0x2001, 0x503, 0xba3e, 0, 0, 0, 2, 0x30)),
    ipv4: IpAddr::V4(Ipv4Addr::new(198, 41, 0, 4)),
};
/// The loopback interface.
const LOOPBACK: &str = "lo";
/// The settings of IPv6, a folder for each interface.
const SETTINGS: &str = "/proc/sys/net/ipv6/conf";

pub(super) fn examine_families() -> PerFamily<FamilyFacts> {
    PerFamily::from_fn(|family| FamilyFacts {
        exchange: connect(family),
        is_supported: is_supported(family),
        has_loopback_address: has_loopback_address(family),
        addresses: addresses(family),
        route: far_route(family),
        settings: if family == Family::Ipv6 { settings() } else { Vec::new() },
    })
}

fn connect(family: Family) -> Result<(), String> {
    let mut driver = Epoll::new().map_err(|error| format!("epoll: {error}"))?;
    exchange(&mut driver, family)
}

/// Returns false if the kernel makes no sockets of the family.
fn is_supported(family: Family) -> bool {
    let any: IpAddr = match family {
        Family::Ipv6 => Ipv6Addr::UNSPECIFIED.into(),
        Family::Ipv4 => Ipv4Addr::UNSPECIFIED.into(),
    };
    match TcpListener::bind(SocketAddr::new(any, 0)) {
        Err(error) => error.raw_os_error() != Some(libc::EAFNOSUPPORT),
        Ok(_) => true,
    }
}

fn has_loopback_address(family: Family) -> Reading<bool> {
    let all = interface::addresses_of_interface(LOOPBACK).map_err(|error| unread(&error))?;
    Ok(all.iter().any(|address| Family::of(address.ip()) == family && address.ip().is_loopback()))
}

fn addresses(family: Family) -> Reading<Vec<InterfaceAddress>> {
    let mut found = Vec::new();
    for name in others()? {
        let all = interface::addresses_of_interface(&name).map_err(|error| unread(&error))?;
        let of_family = all.into_iter().map(|address| address.ip());
        let of_family = of_family.filter(|address| Family::of(*address) == family);
        found
            .extend(of_family.map(|address| InterfaceAddress { interface: name.clone(), address }));
    }
    Ok(found)
}

/// Returns the names of the interfaces that are up, but for loopback.
fn others() -> Reading<Vec<String>> {
    let mut names = interface::up().map_err(|error| unread(&error))?;
    names.retain(|name| name != LOOPBACK);
    Ok(names)
}

fn unread(error: &io::Error) -> String {
    format!("the interfaces can't be listed: {error}")
}

fn far_route(family: Family) -> Result<RouteFacts, String> {
    let to = SocketAddr::new(FAR[family], 80);
    let found = route::way_to(to).map_err(|error| error.to_string())?;
    let interface = route::interface_to(to).ok();
    Ok(RouteFacts { source: found.source, interface, mtu: found.mtu })
}

fn settings() -> Vec<Ipv6Settings> {
    let folders = fs::read_dir(SETTINGS).into_iter().flatten().flatten();
    let of = |name: String| {
        let number = |setting: &str| files::number(&format!("{SETTINGS}/{name}/{setting}"));
        Some(Ipv6Settings {
            is_disabled: number("disable_ipv6").ok()? > 0,
            accept_ra: u8::try_from(number("accept_ra").ok()?).unwrap_or(u8::MAX),
            forwards: number("forwarding").ok()? > 0,
            interface: name,
        })
    };
    let up = interface::up().unwrap_or_default();
    let is_used = |name: &String| ["all", LOOPBACK].contains(&name.as_str()) || up.contains(name);
    let names = folders.map(|folder| folder.file_name().to_string_lossy().into_owned());
    let mut found: Vec<Ipv6Settings> = names.filter(is_used).filter_map(of).collect();
    found.sort_by(|one, other| one.interface.cmp(&other.interface));
    found
}

pub(super) fn is_loopback_up() -> Reading<bool> {
    let names = interface::up().map_err(|error| unread(&error))?;
    Ok(names.iter().any(|name| name == LOOPBACK))
}

pub(super) fn examine_interfaces() -> Reading<Vec<InterfaceFacts>> {
    let tool = Ethtool::open().map_err(|error| format!("ethtool: {error}"))?;
    let of = |name: String| {
        let features = tool.features(&name).map_err(|error| error.to_string());
        let features = features.map(|all| {
            let of = |one: sixmark_sys::ethtool::Feature| FeatureFacts {
                name: one.name,
                on: one.on,
                open: one.open,
            };
            all.into_iter().map(of).collect()
        });
        InterfaceFacts { name, features }
    };
    Ok(others()?.into_iter().map(of).collect())
}
