//! A host of a lab, as described by the lab file.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::advertises::{AdvertisementPlan, read_advertises};
use super::dhcp::{DhcpPlan, read_dhcp};
use sixmark_document::fields::{FileField, FileFields, Scalar};
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// The interface that leads packets of a host, or of those behind it, to the translator that is its CLAT.
pub const CLAT_INTERFACE: &str = "clat";

/// A host or a router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabHost {
    /// Its name.
    pub name: String,
    /// The label for display; the name by default.
    pub label: String,
    /// Whether it forwards packets.
    pub forwards: bool,
    /// The address families that it has; both by default.
    pub families: Vec<Family>,
    /// The family of which its programs have no stack: they can't open sockets of it.
    pub missing_stack: Option<Family>,
    /// Routes from the file, in addition to those derived from the links.
    pub routes: Vec<LabRoute>,
    /// The congestion control algorithm of its routes; the kernel's default if absent.
    pub congestion: Option<String>,
    /// The initial congestion window of its routes in segments; the kernel's default if absent.
    pub initial_window: Option<u32>,
    /// Kernel settings (sysctls) by their dotted names, such as `net.ipv4.tcp_mtu_probing`.
    pub sysctls: BTreeMap<String, String>,
    /// The offloads of its interfaces, unless the end of a link sets its own.
    pub offloads: OffloadPlan,
    /// Its BGP settings, if it is a BGP speaker.
    pub bgp: Option<Bgp>,
    /// Its translation of IPv4 addresses, if any.
    pub nat44: Option<Nat44>,
    /// Its translation between IPv6 and IPv4, if any.
    pub nat64: Option<Nat64>,
    /// Its translation of IPv4 for its own programs (464XLAT), if any.
    pub clat: Option<Clat>,
    /// Its Router Advertisements, if it sends any.
    pub advertises: Option<AdvertisementPlan>,
    /// Its DHCPv4 server, if it has one.
    pub dhcp: Option<DhcpPlan>,
    /// Its DNS64, if it is a name server that synthesises IPv6 addresses from IPv4 addresses.
    pub dns64: Option<Dns64>,
    /// Whether it is a name server for all names of the lab, with DNS64 or without.
    pub name_server: bool,
    /// The name of the host that it uses as name server. Without one, it has all names in its hosts
    /// file.
    pub resolver: Option<String>,
    /// Whether it reduces the maximum segment size of forwarded connections to fit the MTU of its
    /// routes (MSS clamping).
    pub clamp_mss: bool,
}

impl LabHost {
    /// Returns true if it is a router whose CLAT translates the IPv4 of other hosts: they share its address
    /// (RFC 6877, 6.1).
    pub fn is_clat_of_others(&self) -> bool {
        let is_masked = |nat: &Nat44| nat.masquerade.iter().any(|name| name == CLAT_INTERFACE);
        self.clat.is_some() && self.nat44.as_ref().is_some_and(is_masked)
    }

    /// Returns true if it answers queries for all names of the lab.
    pub fn is_name_server(&self) -> bool {
        self.name_server || self.dns64.is_some()
    }
}

/// A route from the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabRoute {
    /// The destination; `None` for the default route.
    pub to: Option<Net>,
    /// The address of the next router.
    pub via: IpAddr,
    /// Its line number in the file.
    pub line: usize,
}

/// The offloads of an interface. A field is `None` if the default is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffloadPlan {
    /// TCP segmentation offload (TSO) over IPv6.
    pub tso_ipv6: Option<bool>,
    /// TCP segmentation offload (TSO) over IPv4.
    pub tso_ipv4: Option<bool>,
    /// Generic segmentation offload (GSO): packets are segmented as late as possible.
    pub gso: Option<bool>,
    /// Generic receive offload (GRO): received packets are merged.
    pub gro: Option<bool>,
    /// Checksum offload.
    pub checksum: Option<bool>,
}

/// An offload that can be enabled or disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// See [`OffloadPlan`].
    TsoIpv6,
    /// See [`OffloadPlan`].
    TsoIpv4,
    /// See [`OffloadPlan`].
    Gso,
    /// See [`OffloadPlan`].
    Gro,
    /// See [`OffloadPlan`].
    Checksum,
}

/// The BGP settings of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bgp {
    /// The AS number.
    pub asn: u32,
}

/// Translation of IPv4 addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nat44 {
    /// The interfaces on which the source address of outgoing packets is replaced by the
    /// interface's address (masquerading).
    pub masquerade: Vec<String>,
    /// The ports that are forwarded to other hosts.
    pub forward: Vec<Forward>,
}

/// A port that is forwarded to another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The port on the translating host.
    pub port: u16,
    /// The name of the destination host.
    pub to: String,
    /// The destination port.
    pub to_port: u16,
}

/// Translation between IPv6 and IPv4 (NAT64).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nat64 {
    /// The IPv6 prefix that represents IPv4 addresses, with a length of 96 bits.
    pub prefix: Net,
    /// The IPv4 addresses that represent IPv6 hosts.
    pub pool: Net,
    /// Those of them that always represent the same host, as those of servers (SIIT-DC, RFC 7755).
    pub maps: Vec<AddressMap>,
}

/// An IPv4 address that represents a host with IPv6 alone (RFC 7757).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressMap {
    /// The address, one of the pool.
    pub ipv4: Ipv4Addr,
    /// The name of the host.
    pub to: String,
}

/// The customer-side translator of 464XLAT (RFC 6877), in the host whose programs use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clat {
    /// The IPv6 prefix of the NAT64 beyond it, with a length of 96 bits.
    pub prefix: Net,
    /// The IPv6 prefix that represents the host's own IPv4 address, with a length of 96 bits.
    pub own: Net,
}

/// A name server that synthesises IPv6 addresses from IPv4 addresses (DNS64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dns64 {
    /// The IPv6 prefix of synthesised addresses, with a length of 96 bits.
    pub prefix: Net,
}

/// The default prefix of NAT64 and DNS64. The well-known prefix (RFC 6052, 2.1) must not represent
/// private addresses.
const PREFIX64: &str = "fd64::/96";
/// The default addresses that represent IPv6 hosts.
const POOL64: &str = "192.168.255.0/24";
/// The default prefix that represents the IPv4 address of a host with a CLAT.
const CLAT64: &str = "fd46::/96";

const WELL_KNOWN: IpAddr = IpAddr::V6(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0));

/// Reads a host from its table.
pub(super) fn host(field: &FileField<'_>) -> Option<LabHost> {
    super::names::check_name(field, "a host");
    let mut fields = field.fields()?;
    let label = fields.text("label").unwrap_or_else(|| field.name.clone());
    let flag = |fields: &mut FileFields<'_>, name| fields.take(name).and_then(|field| field.flag());
    let missing_stack = read_stacks(&mut fields);
    let families = read_families(&mut fields, missing_stack);
    let bgp = fields.table("bgp").and_then(bgp);
    let nat64 = fields.table("nat64").and_then(nat64);
    let clat = fields.table("clat").and_then(clat);
    let forwards = flag(&mut fields, "forwards");
    let translates = bgp.is_some() || nat64.is_some() || clat.is_some();
    let host = LabHost {
        name: field.name.clone(),
        label,
        families,
        missing_stack,
        routes: fields.tables("routes").into_iter().filter_map(route).collect(),
        congestion: fields.take("congestion").and_then(|field| read_word(&field)),
        initial_window: fields
            .take("initial-window")
            .and_then(|field| field.whole(1, 1000))
            .map(|window| window as u32),
        sysctls: fields.table("sysctls").map_or(BTreeMap::new(), sysctls),
        offloads: fields.table("offloads").map_or(OffloadPlan::default(), offloads),
        bgp,
        nat44: fields.table("nat44").map(nat44),
        nat64,
        clat,
        advertises: fields.table("advertises").and_then(read_advertises),
        dhcp: fields.table("dhcp").and_then(read_dhcp),
        dns64: fields.table("dns64").and_then(dns64),
        name_server: flag(&mut fields, "name-server").unwrap_or(false),
        resolver: fields.text("resolver"),
        clamp_mss: flag(&mut fields, "clamp-mss").unwrap_or(false),
        forwards: forwards.unwrap_or(translates),
    };
    let translates = host.nat44.is_some() || host.nat64.is_some() || host.clat.is_some();
    if translates && !host.forwards {
        fields.wrong("a host that translates addresses must forward packets: add forwards = true");
    }
    fields.end();
    Some(host)
}

/// Reads the families of a host. Without the stack of a family it has no addresses of it.
fn read_families(fields: &mut FileFields<'_>, missing_stack: Option<Family>) -> Vec<Family> {
    let Some(field) = fields.take("families") else {
        return Family::BOTH.into_iter().filter(|family| Some(*family) != missing_stack).collect();
    };
    let found = family_list(&field);
    if found.is_empty() {
        field.wrong("a host has at least one family: [\"ipv6\"], [\"ipv4\"], or both");
    }
    if let Some(family) = missing_stack.filter(|family| found.contains(family)) {
        field.wrong(&format!("a host without a stack of {family} (stacks) has no addresses of it"));
    }
    found
}

/// Reads which stacks the host has. Returns the family that is missing.
fn read_stacks(fields: &mut FileFields<'_>) -> Option<Family> {
    let field = fields.take("stacks")?;
    let found = family_list(&field);
    if found.is_empty() {
        field.wrong("a host has at least one stack: [\"ipv6\"], [\"ipv4\"], or both");
    }
    Family::BOTH.into_iter().find(|family| !found.contains(family)).filter(|_| !found.is_empty())
}

fn family_list(field: &FileField<'_>) -> Vec<Family> {
    let words = Family::BOTH.map(|family| (family.word(), family));
    field.items().iter().filter_map(|item| item.one_of(&words)).collect()
}

fn route(mut fields: FileFields<'_>) -> Option<LabRoute> {
    let to = fields.need("to").map(|field| (field.line(), field.parsed(destination)));
    let via = fields.need("via").and_then(|field| {
        field.parsed(|text| text.parse().map_err(|_| format!("'{text}' is not an address")))
    });
    fields.end();
    let (line, to) = to?;
    Some(LabRoute { to: to?, via: via?, line })
}

fn destination(text: &str) -> Result<Option<Net>, String> {
    if text == "default" { Ok(None) } else { text.parse().map(Some) }
}

/// Reads a name for the kernel: up to 15 letters, digits, `-` and `_`.
fn read_word(field: &FileField<'_>) -> Option<String> {
    let fits = |text: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        if !text.is_empty() && text.len() < 16 && text.bytes().all(plain) {
            Ok(text.to_owned())
        } else {
            Err(format!("'{text}' is not a name that the kernel can have"))
        }
    };
    field.parsed(fits)
}

fn sysctls(mut fields: FileFields<'_>) -> BTreeMap<String, String> {
    let one = |field: FileField<'_>| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/');
        let fits = field.name.starts_with("net.") && field.name.bytes().all(plain);
        if !fits || field.name.contains("..") {
            field.wrong("a host can set only network settings: net.ipv4.…, net.ipv6.…");
        }
        let value = match field.scalar()? {
            Scalar::Text(text) => text,
            Scalar::Flag(flag) => u8::from(flag).to_string(),
        };
        Some((field.name.clone(), value))
    };
    fields.rest().into_iter().filter_map(one).collect()
}

/// Reads a table of offloads. `tso` is a flag, or a table with a flag for each family.
pub(super) fn offloads(mut fields: FileFields<'_>) -> OffloadPlan {
    let mut found = OffloadPlan::default();
    if let Some(field) = fields.take("tso") {
        (found.tso_ipv6, found.tso_ipv4) = by_family(&field);
    }
    let mut flag = |name| fields.take(name).and_then(|field| field.flag());
    (found.gso, found.gro, found.checksum) = (flag("gso"), flag("gro"), flag("checksum"));
    fields.end();
    found
}

fn by_family(field: &FileField<'_>) -> (Option<bool>, Option<bool>) {
    if !field.is_table() {
        let flag = field.flag();
        return (flag, flag);
    }
    let Some(mut fields) = field.fields() else { return (None, None) };
    let mut flag = |name| fields.take(name).and_then(|field| field.flag());
    let both = (flag("ipv6"), flag("ipv4"));
    fields.end();
    both
}

impl OffloadPlan {
    /// Returns these offloads, overridden by those that `other` sets.
    #[must_use]
    pub fn with(self, other: OffloadPlan) -> OffloadPlan {
        OffloadPlan {
            tso_ipv6: other.tso_ipv6.or(self.tso_ipv6),
            tso_ipv4: other.tso_ipv4.or(self.tso_ipv4),
            gso: other.gso.or(self.gso),
            gro: other.gro.or(self.gro),
            checksum: other.checksum.or(self.checksum),
        }
    }

    /// Returns the offloads to enable or disable.
    pub fn switches(&self) -> impl Iterator<Item = (Switch, bool)> {
        let all = [
            (Switch::TsoIpv6, self.tso_ipv6),
            (Switch::TsoIpv4, self.tso_ipv4),
            (Switch::Gso, self.gso),
            (Switch::Gro, self.gro),
            (Switch::Checksum, self.checksum),
        ];
        all.into_iter().filter_map(|(switch, on)| Some((switch, on?)))
    }
}

fn bgp(mut fields: FileFields<'_>) -> Option<Bgp> {
    let asn = fields.need("asn").and_then(|field| field.whole(1, u64::from(u32::MAX) - 1));
    fields.end();
    Some(Bgp { asn: asn? as u32 })
}

fn nat44(mut fields: FileFields<'_>) -> Nat44 {
    let masquerade = fields.texts("masquerade");
    let forward = fields.tables("forward").into_iter().filter_map(forward).collect();
    fields.end();
    Nat44 { masquerade, forward }
}

fn forward(mut fields: FileFields<'_>) -> Option<Forward> {
    let port = |field: FileField<'_>| field.whole(1, 65_535).map(|port| port as u16);
    let from = fields.need("port").and_then(port);
    let to = fields.need("to").and_then(|field| field.text());
    let to_port = fields.take("to-port").map(port);
    fields.end();
    let from = from?;
    Some(Forward { port: from, to: to?, to_port: to_port.unwrap_or(Some(from))? })
}

fn nat64(mut fields: FileFields<'_>) -> Option<Nat64> {
    let prefix = net(&mut fields, "prefix", PREFIX64, Family::Ipv6);
    let pool = net(&mut fields, "pool", POOL64, Family::Ipv4);
    if prefix.is_some_and(|net| net.address == WELL_KNOWN) {
        fields.wrong(
            "64:ff9b::/96 must not stand for private addresses (RFC 6052, 3.1): use another prefix",
        );
    }
    let maps: Vec<AddressMap> =
        fields.tables("maps").into_iter().filter_map(|map| address_map(map, pool)).collect();
    fields.end();
    Some(Nat64 { prefix: prefix?, pool: pool?, maps })
}

/// Returns the translator's own address, the first of the pool. It is the source of ICMP errors and is not
/// assigned to any host.
pub(super) fn own_address(pool: Net) -> IpAddr {
    match pool.prefix().address {
        IpAddr::V4(first) => IpAddr::V4(Ipv4Addr::from(u32::from(first) + 1)),
        other => other,
    }
}

/// Reads an address of the pool that represents a host. The first one is the translator's own.
fn address_map(mut fields: FileFields<'_>, pool: Option<Net>) -> Option<AddressMap> {
    let in_pool = |text: &str| -> Result<Ipv4Addr, String> {
        let address: Ipv4Addr =
            text.parse().map_err(|_| format!("'{text}' is not an IPv4 address"))?;
        let Some(pool) = pool else { return Ok(address) };
        let own = own_address(pool);
        if pool.holds(address.into()) && IpAddr::V4(address) != own {
            Ok(address)
        } else {
            Err(format!(
                "'{text}' is not an address of the pool {pool} other than {own}, the translator's own"
            ))
        }
    };
    let ipv4 = fields.need("ipv4").and_then(|field| field.parsed(in_pool));
    let to = fields.need("to").and_then(|field| field.text());
    fields.end();
    Some(AddressMap { ipv4: ipv4?, to: to? })
}

fn clat(mut fields: FileFields<'_>) -> Option<Clat> {
    let prefix = net(&mut fields, "prefix", PREFIX64, Family::Ipv6);
    let own = net(&mut fields, "own", CLAT64, Family::Ipv6);
    fields.end();
    Some(Clat { prefix: prefix?, own: own? })
}

fn dns64(mut fields: FileFields<'_>) -> Option<Dns64> {
    let prefix = net(&mut fields, "prefix", PREFIX64, Family::Ipv6);
    fields.end();
    Some(Dns64 { prefix: prefix? })
}

/// Reads a prefix of a family. An IPv6 prefix must have a length of 96 bits, which leaves room for
/// an IPv4 address; an IPv4 prefix may have at most 30 bits.
fn net(
    fields: &mut FileFields<'_>,
    name: &'static str,
    usual: &str,
    family: Family,
) -> Option<Net> {
    let read = |text: &str| -> Result<Net, String> {
        let net: Net = text.parse()?;
        let fits = match family {
            Family::Ipv6 => net.length == 96,
            Family::Ipv4 => net.length <= 30,
        };
        let wanted =
            if family == Family::Ipv6 { "of IPv6 with /96" } else { "of IPv4, /30 or less" };
        if net.family() == family && fits {
            Ok(net.prefix())
        } else {
            Err(format!("'{text}' is not a prefix {wanted}"))
        }
    };
    match fields.take(name) {
        Some(field) => field.parsed(read),
        None => read(usual).ok(),
    }
}
