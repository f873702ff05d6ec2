//! A host of a lab, as its file describes it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use sixmark_document::fields::{FileField, FileFields, Scalar};
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// A host or a router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabHost {
    /// Its name.
    pub name: String,
    /// What people call it; its name where the file says nothing else.
    pub label: String,
    /// Passes on what is meant for others.
    pub forwards: bool,
    /// The families that it has; both without a word.
    pub families: Vec<Family>,
    /// Routes that the file says, beside those that follow from the links.
    pub routes: Vec<LabRoute>,
    /// The congestion control of its routes; the kernel's own where none.
    pub congestion: Option<String>,
    /// The initial congestion window of its routes, segments; the kernel's own where none.
    pub initial_window: Option<u32>,
    /// Settings of its kernel, by name, with dots: `net.ipv4.tcp_mtu_probing`.
    pub sysctls: BTreeMap<String, String>,
    /// What its interfaces leave to the next, unless a link's end says otherwise.
    pub offloads: OffloadPlan,
    /// It is a BGP speaker.
    pub bgp: Option<Bgp>,
    /// It translates addresses of IPv4.
    pub nat44: Option<Nat44>,
    /// It translates between IPv6 and IPv4.
    pub nat64: Option<Nat64>,
    /// It is a name server that makes IPv6 addresses of IPv4 ones.
    pub dns64: Option<Dns64>,
    /// The host that it asks for names; without one it has them in a file.
    pub resolver: Option<String>,
    /// The largest segment that it lets pass is made to fit the next link (MSS clamping).
    pub clamp_mss: bool,
}

/// A route that a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabRoute {
    /// Where to; none for everything.
    pub to: Option<Net>,
    /// The next router.
    pub via: IpAddr,
    /// The line it stands at.
    pub line: usize,
}

/// What an interface leaves to the next: as it is where none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffloadPlan {
    /// Cutting TCP's segments over IPv6.
    pub tso_ipv6: Option<bool>,
    /// Cutting TCP's segments over IPv4.
    pub tso_ipv4: Option<bool>,
    /// Cutting what is sent, as late as can be.
    pub gso: Option<bool>,
    /// Joining what is received.
    pub gro: Option<bool>,
    /// Checksums.
    pub checksum: Option<bool>,
}

/// One thing that can be left to an interface, or not.
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

/// A BGP speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bgp {
    /// The number of its autonomous system.
    pub asn: u32,
}

/// Translation of addresses of IPv4.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nat44 {
    /// Interfaces behind which its own address is seen of all others.
    pub masquerade: Vec<String>,
    /// Ports of its own that lead to others.
    pub forward: Vec<Forward>,
}

/// A port that leads to another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The port.
    pub port: u16,
    /// The host that it leads to.
    pub to: String,
    /// The port there.
    pub to_port: u16,
}

/// Translation between IPv6 and IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nat64 {
    /// Behind which prefix IPv4 is seen, 96 bits.
    pub prefix: Net,
    /// The addresses that IPv6 hosts are seen as.
    pub pool: Net,
}

/// A name server that makes IPv6 addresses of IPv4 ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dns64 {
    /// The prefix that it puts before them, 96 bits.
    pub prefix: Net,
}

/// The prefix of translated addresses without a word. Not the well-known one (RFC 6052, 2.1), which
/// must not stand for private addresses.
const PREFIX64: &str = "fd64::/96";
/// The addresses that IPv6 hosts are seen as without a word.
const POOL64: &str = "192.168.255.0/24";

const WELL_KNOWN: IpAddr = IpAddr::V6(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0));

/// The host of a table.
pub(super) fn host(field: &FileField<'_>) -> Option<LabHost> {
    super::names::check_name(field, "a host");
    let mut fields = field.fields()?;
    let label = fields.text("label").unwrap_or_else(|| field.name.clone());
    let flag = |fields: &mut FileFields<'_>, name| fields.take(name).and_then(|field| field.flag());
    let bgp = fields.table("bgp").and_then(bgp);
    let nat64 = fields.table("nat64").and_then(nat64);
    let forwards = flag(&mut fields, "forwards");
    let translates = bgp.is_some() || nat64.is_some();
    let host = LabHost {
        name: field.name.clone(),
        label,
        families: read_families(&mut fields),
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
        dns64: fields.table("dns64").and_then(dns64),
        resolver: fields.text("resolver"),
        clamp_mss: flag(&mut fields, "clamp-mss").unwrap_or(false),
        forwards: forwards.unwrap_or(translates),
    };
    if (host.nat44.is_some() || host.nat64.is_some()) && !host.forwards {
        fields.wrong("a host that translates addresses must forward packets: add forwards = true");
    }
    fields.end();
    Some(host)
}

fn read_families(fields: &mut FileFields<'_>) -> Vec<Family> {
    let Some(field) = fields.take("families") else { return Family::BOTH.to_vec() };
    let words = Family::BOTH.map(|family| (family.word(), family));
    let found: Vec<Family> = field.items().iter().filter_map(|item| item.one_of(&words)).collect();
    if found.is_empty() {
        field.wrong("a host has at least one family: [\"ipv6\"], [\"ipv4\"], or both");
    }
    found
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

/// A word of a kernel's or a program's: letters, digits, `-` and `_`.
fn read_word(field: &FileField<'_>) -> Option<String> {
    let fits = |text: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        match !text.is_empty() && text.len() < 16 && text.bytes().all(plain) {
            true => Ok(text.to_owned()),
            false => Err(format!("'{text}' is not a name that the kernel can have")),
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

/// What a table says of offloads; `tso` is a flag or one for each family.
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
    /// The same, with what `other` says in the place of what this does.
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

    /// What is to be switched.
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
    fields.end();
    Some(Nat64 { prefix: prefix?, pool: pool? })
}

fn dns64(mut fields: FileFields<'_>) -> Option<Dns64> {
    let prefix = net(&mut fields, "prefix", PREFIX64, Family::Ipv6);
    fields.end();
    Some(Dns64 { prefix: prefix? })
}

/// A prefix of a family: of IPv6 with the 96 bits that leave room for an IPv4 address.
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
        match net.family() == family && fits {
            true => Ok(net.prefix()),
            false => Err(format!("'{text}' is not a prefix {wanted}")),
        }
    };
    match fields.take(name) {
        Some(field) => field.parsed(read),
        None => read(usual).ok(),
    }
}
