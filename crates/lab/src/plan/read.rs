//! Parses a lab file.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use toml::de::DeTable;

use super::Lab;
use super::host::{CLAT_INTERFACE, LabHost, Nat44, host};
use super::link::{Bridge, LabLink, LabNode, bridge, link};
use super::number::number_addresses;
use super::responders::check_responders;
use super::small_links::check_small_links;
use super::translators::check_translators;
use super::variants::{Overlays, Variants};
use crate::plan::generated::{Generated, generated};
use crate::plan::services::{Service, Surroundings, services};
use sixmark_document::braces::is_name;
use sixmark_document::fields::{FileField, FileFields, FileMistake, FileText, Scalar};
use sixmark_units::family::Family;

/// The default seed.
const SEED: u64 = 1;

/// Parses a lab file with the chosen values of its variants. `file` is its name for error messages,
/// if it is read along with another file.
///
/// # Errors
/// Returns all errors in the order of their lines, including those in variants that were not
/// chosen.
pub fn parse_lab(
    text: &str,
    file: Option<&str>,
    chosen: &BTreeMap<String, String>,
) -> Result<Lab, Vec<FileMistake>> {
    let plain = with(text, file, &BTreeMap::new(), true)?;
    if chosen.is_empty() { Ok(plain) } else { with(text, file, chosen, false) }
}

fn with(
    text: &str,
    file: Option<&str>,
    chosen: &BTreeMap<String, String>,
    others_too: bool,
) -> Result<Lab, Vec<FileMistake>> {
    let book = FileText::new(text, file);
    let mut table = book.parse().map_err(|wrong| vec![wrong])?;
    let overlays = Overlays::take(&book, table.get_mut());
    let variants = Variants { allowed: overlays.allowed(), chosen: chosen.clone() };
    refuse_unknown(&book, &variants);
    overlays.lay(table.get_mut(), chosen);
    let lab = read_whole(&book, table.get_ref(), variants);
    let single: Vec<_> = if others_too { overlays.each().collect() } else { Vec::new() };
    for choice in single {
        book.extend(with(text, file, &choice, false).err().unwrap_or_default());
    }
    match (lab, book.into_wrongs()) {
        (Some(lab), wrongs) if wrongs.is_empty() => Ok(lab),
        (_, wrongs) => Err(wrongs),
    }
}

fn refuse_unknown(book: &FileText<'_>, variants: &Variants) {
    for (name, value) in &variants.chosen {
        match variants.allowed.get(name) {
            None => {
                let all: Vec<_> = variants.allowed.keys().map(String::as_str).collect();
                let line = if all.is_empty() {
                    "the lab has no variants".to_owned()
                } else {
                    format!("the lab can be varied in: {}", all.join(", "))
                };
                book.wrong_line(0, name, &line);
            }
            Some(values) if !values.contains(value) => {
                let line = format!("'{value}' is none of: {}", values.join(", "));
                book.wrong_line(0, name, &line);
            }
            Some(_) => {}
        }
    }
}

/// Returns true if a lab may have this name.
pub fn is_lab_name(text: &str) -> bool {
    is_name(text) && !text.contains('.')
}

fn read_whole(book: &FileText<'_>, table: &DeTable<'_>, variants: Variants) -> Option<Lab> {
    let mut fields = FileFields::new(book, "", 0, table);
    let name = fields.need("name").and_then(|field| {
        let fits = |text: &str| {
            if is_lab_name(text) {
                Ok(text.to_owned())
            } else {
                Err(format!(
                    "'{text}' is not a valid name: use lower-case letters, digits, - \
                 and _"
                ))
            }
        };
        field.parsed(fits)
    });
    let title = fields.text("title");
    let description = fields.text("description").unwrap_or_default();
    let seed = fields.take("seed").and_then(|field| field.whole(0, 1 << 53)).unwrap_or(SEED);
    let (hosts, bridges, links) = network(&mut fields)?;
    let mut lab = Lab {
        name: name.clone().unwrap_or_default(),
        title: title.or_else(|| name.clone()).unwrap_or_default(),
        description,
        hosts,
        bridges,
        links,
        names: BTreeMap::new(),
        texts: fields.table("texts").map_or(BTreeMap::new(), read_texts),
        services: Vec::new(),
        files: Vec::new(),
        variants,
        seed,
    };
    lab.names = fields.table("names").map_or(BTreeMap::new(), |fields| read_names(fields, &lab));
    (lab.services, lab.files) = around(&mut fields, &lab);
    fields.end();
    possible(book, &lab);
    name.map(|_| lab)
}

/// Reads hosts, bridges and links, and assigns addresses.
fn network(fields: &mut FileFields<'_>) -> Option<(Vec<LabHost>, Vec<Bridge>, Vec<LabLink>)> {
    let mut rest = |name| fields.table(name).map_or(Vec::new(), |mut table| table.rest());
    let (of_hosts, of_bridges, of_links) = (rest("hosts"), rest("bridges"), rest("links"));
    if of_hosts.is_empty() {
        fields.wrong("a lab has hosts: [hosts.client]");
    }
    let hosts: Vec<LabHost> = of_hosts.iter().filter_map(host).collect();
    let bridges: Vec<Bridge> = of_bridges.iter().filter_map(bridge).collect();
    for field in of_bridges.iter().filter(|field| hosts.iter().any(|host| host.name == field.name))
    {
        field.wrong("is also the name of a host");
    }
    // Otherwise links to a host or bridge with an error would be reported as errors too.
    if hosts.len() < of_hosts.len() || bridges.len() < of_bridges.len() {
        return None;
    }
    let find = |name: &str| {
        let host = hosts.iter().position(|host| host.name == name).map(LabNode::Host);
        host.or_else(|| bridges.iter().position(|b| b.name == name).map(LabNode::Bridge))
    };
    let mut links: Vec<LabLink> = of_links.iter().filter_map(|field| link(field, &find)).collect();
    if links.len() < of_links.len() {
        return None;
    }
    interfaces(&of_links, &links);
    if let Err(why) = number_addresses(&mut links, &hosts) {
        fields.wrong(&why);
    }
    Some((hosts, bridges, links))
}

/// Reports interfaces of a node that have the same name.
fn interfaces(fields: &[sixmark_document::fields::FileField<'_>], links: &[LabLink]) {
    let mut taken = BTreeSet::new();
    for (field, link) in fields.iter().zip(links) {
        for end in &link.ends {
            if !taken.insert((end.node, end.interface.as_str())) {
                field.wrong(&format!(
                    "a second interface '{}': give one of them another name, at.HOST.name",
                    end.interface
                ));
            }
        }
    }
}

/// Reads the table of names. Each value is a host, an address, or a list of these.
fn read_names(mut fields: FileFields<'_>, lab: &Lab) -> BTreeMap<String, Vec<IpAddr>> {
    let mut found = BTreeMap::new();
    for field in fields.rest() {
        let texts =
            if field.is_list() { field.texts() } else { field.text().into_iter().collect() };
        let mut all = Vec::new();
        for text in texts {
            let of_host = |host| Family::BOTH.into_iter().filter_map(move |f| lab.address(host, f));
            match (lab.host(&text), text.parse()) {
                (Some(host), _) => all.extend(of_host(host)),
                (None, Ok(address)) => all.push(address),
                (None, Err(_)) => {
                    field.wrong(&format!("'{text}' is neither a host nor an address"))
                }
            }
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
        if field.name.is_empty() || !field.name.bytes().all(plain) {
            field.wrong("is not a valid host name");
        }
        found.insert(field.name.clone(), all);
    }
    found
}

/// Reads the texts for placeholders of services.
fn read_texts(mut fields: FileFields<'_>) -> BTreeMap<String, String> {
    let text = |field: FileField<'_>| {
        if !is_name(&field.name) {
            field.wrong("is not a valid name of a text: use lower-case letters, digits, - and _");
        }
        match field.scalar()? {
            Scalar::Text(text) => Some((field.name.clone(), text)),
            Scalar::Flag(flag) => Some((field.name.clone(), flag.to_string())),
        }
    };
    fields.rest().into_iter().filter_map(text).collect()
}

fn around(fields: &mut FileFields<'_>, lab: &Lab) -> (Vec<Service>, Vec<Generated>) {
    let hosts: Vec<String> = lab.hosts.iter().map(|host| host.name.clone()).collect();
    // A service may also run at a bridge, for example one with its own Ethernet interface.
    let bridges = lab.bridges.iter().map(|bridge| bridge.name.clone());
    let places = hosts.iter().cloned().chain(bridges).collect();
    let surroundings =
        Surroundings { names: lab.values().into_keys().collect(), hosts: Some(places) };
    let services = services(fields.table("services"), &surroundings);
    (services, generated(fields.tables("files"), &[]))
}

/// Checks conditions that involve several parts of the file.
fn possible(book: &FileText<'_>, lab: &Lab) {
    speakers(book, lab);
    black_holes(book, lab);
    check_small_links(lab, &|key, line| book.wrong_line(0, key, line));
    let daemons = lab.daemons();
    let taken = |service: &&Service| daemons.iter().any(|daemon| daemon.name == service.name);
    for service in lab.services.iter().filter(taken) {
        let place = format!("services.{}", service.name);
        book.wrong_line(
            0,
            &place,
            "a program that the lab itself starts has this name: use \
             another one",
        );
    }
    for (number, host) in lab.hosts.iter().enumerate() {
        let wrong = |key: &str, line: &str| {
            book.wrong_line(0, &format!("hosts.{}.{key}", host.name), line);
        };
        if host.resolver.as_ref().is_some_and(|name| !is_name_server(lab, name)) {
            wrong("resolver", "is not a name server: name a host with name-server or dns64");
        }
        if let Some(nat) = &host.nat44 {
            translation(lab, number, nat, &wrong);
        }
        check_translators(lab, host, &wrong);
        check_responders(lab, number, host, &wrong);
        for route in &host.routes {
            let near = |end: &super::LinkEnd| end.addresses.iter().any(|net| net.holds(route.via));
            if !lab.ends(number).any(near) {
                let line = format!("{} is in none of this host's networks", route.via);
                book.wrong_line(route.line, &format!("hosts.{}.routes", host.name), &line);
            }
        }
    }
}

/// Checks the BGP speakers: unique AS numbers, forwarding, no settings that bird cannot apply.
fn speakers(book: &FileText<'_>, lab: &Lab) {
    let mut seen = BTreeMap::new();
    for host in &lab.hosts {
        let Some(bgp) = host.bgp else { continue };
        let wrong = |key: &str, line: &str| {
            book.wrong_line(0, &format!("hosts.{}.{key}", host.name), line);
        };
        if let Some(first) = seen.insert(bgp.asn, &host.name) {
            let line = "each BGP speaker needs its own AS number: this one is also";
            wrong("bgp.asn", &format!("{line} {first}'s"));
        }
        if !host.forwards {
            wrong(
                "forwards",
                "a BGP speaker must forward packets, because it announces routes \
                 through itself: add forwards = true",
            );
        }
        if host.congestion.is_some() {
            wrong(
                "congestion",
                "bird creates the routes of a BGP speaker and can't set this for \
                 them: omit it",
            );
        }
    }
}

/// Reports bridges that are configured to drop "packet too big" messages. Only hosts can do that.
fn black_holes(book: &FileText<'_>, lab: &Lab) {
    for link in &lab.links {
        for (end, toward) in link.ends.iter().zip(&link.toward) {
            let at_bridge = matches!(end.node, LabNode::Bridge(_));
            let Some((family, _)) = toward.drops_too_big.iter().find(|(_, d)| at_bridge && **d)
            else {
                continue;
            };
            let line = format!(
                "only the host that sends such messages can drop them, and {} is a bridge: set it \
                 for the direction toward the bridge, or on another link",
                lab.node_name(end.node)
            );
            let place = format!("links.{}.{}.packet_too_big", link.name, family.word());
            book.wrong_line(0, &place, &line);
        }
    }
}

fn is_name_server(lab: &Lab, name: &str) -> bool {
    lab.host(name).and_then(|at| lab.hosts.get(at)).is_some_and(LabHost::is_name_server)
}

fn translation(lab: &Lab, host: usize, nat: &Nat44, wrong: &dyn Fn(&str, &str)) {
    let has_clat = lab.hosts.get(host).is_some_and(|of| of.clat.is_some());
    let interface = |name: &String| {
        lab.ends(host).any(|end| end.interface == *name) || has_clat && name == CLAT_INTERFACE
    };
    if let Some(name) = nat.masquerade.iter().find(|name| !interface(name)) {
        wrong("nat44.masquerade", &format!("it has no interface '{name}'"));
    }
    let address = |name: &str| lab.address(lab.host(name)?, Family::Ipv4);
    if let Some(forward) = nat.forward.iter().find(|forward| address(&forward.to).is_none()) {
        wrong("nat44.forward", &format!("'{}' is not a host with an IPv4 address", forward.to));
    }
    if !nat.forward.is_empty() && lab.address(host, Family::Ipv4).is_none() {
        wrong("nat44.forward", "the host has no IPv4 address to forward from");
    }
}
