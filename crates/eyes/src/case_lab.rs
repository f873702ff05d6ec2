//! The network of a case, as the file of a lab: a client, a router, a name server, and a host for each pair of
//! addresses of the site.
//!
//! Addresses are those of documentation (RFC 3849, RFC 5737): the order of others would depend on their kind
//! (RFC 6724).

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use sixmark_units::family::Family;

use crate::eyes_case::{EyesCase, QuicFate, ServiceRecord, SiteAddressFate, SiteScheme};

/// The site's name.
pub const SITE: &str = "www.test";
/// The host in which the client runs.
pub const CLIENT: &str = "client";
/// The host that is the router.
pub const ROUTER: &str = "router";
/// The host of the name server.
pub const NAMES: &str = "names";
/// The delay of the client's link in each direction, in milliseconds.
const CLIENT_DELAY_MS: u32 = 2;
/// The commands that make the chain of the router's rules; what exists is left as it is.
const CHAIN: &str = "nft add table inet eyes\n\
     nft 'add chain inet eyes forward { type filter hook forward priority 0; }'\n";
/// The last parts of the site's addresses. A resolver that sorts by the common prefix with the client's
/// address leaves them in this order (RFC 6724, rule 9).
const LAST: [u8; 4] = [2, 4, 8, 16];

/// Returns the client's address.
pub fn client_address(family: Family) -> IpAddr {
    match family {
        Family::Ipv6 => Ipv6Addr::new(0x2001, 0xdb8, 9, 1, 0, 0, 0, 1).into(),
        Family::Ipv4 => Ipv4Addr::new(198, 51, 100, 1).into(),
    }
}

/// Returns the address of the name server, of IPv4: that of IPv6 is not asked.
pub fn names_address() -> IpAddr {
    names_address_of(Family::Ipv4)
}

/// Returns the address of the name server's host of a family.
pub fn names_address_of(family: Family) -> IpAddr {
    match family {
        Family::Ipv6 => Ipv6Addr::new(0x2001, 0xdb8, 9, 2, 0, 0, 0, 0x53).into(),
        Family::Ipv4 => Ipv4Addr::new(192, 0, 2, 53).into(),
    }
}

/// Returns the site's addresses of a family, each with its fate.
pub fn site_addresses(case: &EyesCase, family: Family) -> Vec<(IpAddr, SiteAddressFate)> {
    let fates = match family {
        Family::Ipv6 => case.ipv6,
        Family::Ipv4 => case.ipv4,
    };
    let address = |at: usize| -> IpAddr {
        let last = LAST[at];
        match family {
            Family::Ipv6 => {
                Ipv6Addr::new(0x2001, 0xdb8, 9, 16 + at as u16, 0, 0, 0, last.into()).into()
            }
            Family::Ipv4 => Ipv4Addr::new(203, 0, 113, 32 * at as u8 + last).into(),
        }
    };
    fates.iter().enumerate().map(|(at, fate)| (address(at), *fate)).collect()
}

/// The site, as the client finds it.
#[derive(Clone, Copy, Debug)]
pub enum ServedSite<'a> {
    /// Over plain HTTP.
    Plain,
    /// Over TLS and QUIC.
    Secure {
        /// Its certificate, in PEM.
        certificate: &'a str,
        /// The certificate's key, in PEM.
        key: &'a str,
    },
}

impl ServedSite<'_> {
    /// Returns how it is served.
    pub fn scheme(self) -> SiteScheme {
        match self {
            ServedSite::Plain => SiteScheme::Http,
            ServedSite::Secure { .. } => SiteScheme::Https,
        }
    }
}

/// Returns the addresses that the HTTPS record has as hints of a family, none of which the site has.
pub fn hinted_address(case: &EyesCase, family: Family) -> Option<IpAddr> {
    (case.record == ServiceRecord::HintsDeadAddresses).then(|| match family {
        Family::Ipv6 => Ipv6Addr::new(0x2001, 0xdb8, 9, 32, 0, 0, 0, 1).into(),
        Family::Ipv4 => Ipv4Addr::new(203, 0, 113, 201).into(),
    })
}

/// Where the client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientPlace {
    /// In a host of the lab.
    Lab,
    /// Beyond an interface of the machine, which leads to the lab's router.
    Outside,
}

/// Returns the router's address on the client's link, with the length of the prefix.
pub fn gateway(family: Family) -> (IpAddr, u8) {
    match family {
        Family::Ipv6 => (Ipv6Addr::new(0x2001, 0xdb8, 9, 1, 0, 0, 0, 0xff).into(), 64),
        Family::Ipv4 => (Ipv4Addr::new(198, 51, 100, 254).into(), 24),
    }
}

/// Returns the file of a case's lab.
pub fn lab_text(case: &EyesCase, site: ServedSite<'_>, place: ClientPlace) -> String {
    let by_family = Family::BOTH.map(|family| site_addresses(case, family));
    let hosts = by_family.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = format!(
        r#"name = "eyes"
[hosts.{ROUTER}]
forwards = true
[hosts.{NAMES}]
[links.{NAMES}]
between = ["router", "{NAMES}"]
at.router.addresses = ["2001:db8:9:2::ff/64", "192.0.2.254/24"]
at.{NAMES}.addresses = ["2001:db8:9:2::53/64", "192.0.2.53/24"]
"#
    );
    if place == ClientPlace::Lab {
        add_client(&mut text);
    }
    let mut rules = String::new();
    for at in 0..hosts {
        add_host(&mut text, at, &by_family, site);
    }
    for (address, fate) in by_family.iter().flatten() {
        add_rule(&mut rules, *address, *fate);
    }
    for hinted in Family::BOTH.into_iter().filter_map(|of| hinted_address(case, of)) {
        add_rule(&mut rules, hinted, SiteAddressFate::Silent);
    }
    add_quic_rule(&mut rules, case.quic);
    let _ = write!(
        text,
        "[services.router]\nhost = \"router\"\ncommand = [\"sh\", \"-e\", \"{{dir}}/rules\"]\n\
         ready = {{ line = \"ready\" }}\n[services.router.files]\nrules = '''\n{rules}echo ready\n\
         exec sleep infinity\n'''\n"
    );
    text
}

/// Adds the client's host and its link.
fn add_client(text: &mut String) {
    let listed = |address: fn(Family) -> IpAddr| {
        let of = |family| format!("\"{}/{}\"", address(family), gateway(family).1);
        Family::BOTH.map(of).join(", ")
    };
    let (own, of_router) = (listed(client_address), listed(|family| gateway(family).0));
    let _ = write!(
        text,
        "[hosts.{CLIENT}]\n[links.{CLIENT}]\nbetween = [\"{CLIENT}\", \"{ROUTER}\"]\n\
         delay = \"{CLIENT_DELAY_MS}ms\"\nat.{CLIENT}.addresses = [{own}]\n\
         at.{ROUTER}.addresses = [{of_router}]\n"
    );
}

/// Adds the host of the addresses with a number, its link with the delays of both, and its server.
fn add_host(
    text: &mut String,
    at: usize,
    by_family: &[Vec<(IpAddr, SiteAddressFate)>; 2],
    site: ServedSite<'_>,
) {
    let own = |family: usize| by_family[family].get(at).map(|of| of.1);
    let delay = |family: usize| match own(family) {
        Some(SiteAddressFate::Answers(ms)) => ms / 2,
        _ => 0,
    };
    let loss = |family: usize| match own(family) {
        Some(SiteAddressFate::Loses(percent)) => percent,
        _ => 0,
    };
    let addresses = [
        format!("\"2001:db8:9:{:x}::{:x}/64\"", 16 + at, LAST[at]),
        format!("\"203.0.113.{}/27\"", 32 * at + usize::from(LAST[at])),
    ];
    let impaired =
        |family| format!("{{ delay = \"{}ms\", loss = \"{}%\" }}", delay(family), loss(family));
    let (ipv6, ipv4) = (impaired(0), impaired(1));
    let _ = write!(
        text,
        "[hosts.site{at}]\n[links.site{at}]\nbetween = [\"router\", \"site{at}\"]\n\
         ipv6 = {ipv6}\nipv4 = {ipv4}\n\
         at.router.addresses = [\"2001:db8:9:{:x}::ff/64\", \"203.0.113.{}/27\"]\n\
         at.site{at}.addresses = [{}]\n",
        16 + at,
        32 * at + 30,
        addresses.join(", ")
    );
    add_server(text, at, by_family, site);
}

/// Adds the server at the addresses with a number, unless none of them has one.
fn add_server(
    text: &mut String,
    at: usize,
    by_family: &[Vec<(IpAddr, SiteAddressFate)>; 2],
    site: ServedSite<'_>,
) {
    let port = site.scheme().port();
    let listens: Vec<String> = by_family
        .iter()
        .filter_map(|of| of.get(at))
        .filter(|of| of.1.has_server())
        .map(|(address, _)| SocketAddr::new(*address, port).to_string())
        .collect();
    if listens.is_empty() {
        return;
    }
    let scheme = site.scheme().name();
    let words: Vec<String> = listens.iter().map(|of| format!("\"--listen\", \"{of}\"")).collect();
    let urls: Vec<String> = listens.iter().map(|of| format!("\"{scheme}://{of}\"")).collect();
    let (secure, files) = match site {
        ServedSite::Plain => ("", String::new()),
        ServedSite::Secure { certificate, key } => (
            r#""--cert", "{dir}/certificate", "--key", "{dir}/key", "--http3", "#,
            format!(
                "[services.site{at}.files]\ncertificate = '''\n{certificate}'''\n\
                 key = '''\n{key}'''\n"
            ),
        ),
    };
    let _ = write!(
        text,
        "[services.site{at}]\nhost = \"site{at}\"\n\
         command = [\"{{sixmark}}\", \"origin\", {secure}{}]\nurls = [{}]\n{files}",
        words.join(", "),
        urls.join(", ")
    );
}

/// Adds what the router does with packets to an address.
fn add_rule(rules: &mut String, address: IpAddr, fate: SiteAddressFate) {
    let (option, prefix, family) = match address {
        IpAddr::V6(_) => ("-6", 128, "ip6"),
        IpAddr::V4(_) => ("-4", 32, "ip"),
    };
    let _ = match fate {
        SiteAddressFate::Silent => {
            writeln!(rules, "ip {option} route add blackhole {address}/{prefix}")
        }
        SiteAddressFate::Unreachable => {
            writeln!(rules, "ip {option} route add unreachable {address}/{prefix}")
        }
        SiteAddressFate::Stalls => writeln!(
            rules,
            "{CHAIN}\
             nft 'add rule inet eyes forward {family} daddr {address} tcp flags & psh == psh drop'"
        ),
        SiteAddressFate::Answers(_) | SiteAddressFate::Loses(_) | SiteAddressFate::Refuses => {
            Ok(())
        }
    };
}

/// Adds what the router does with packets of QUIC.
fn add_quic_rule(rules: &mut String, fate: QuicFate) {
    let port = SiteScheme::Https.port();
    let of = match fate {
        QuicFate::LikeTcp => return,
        QuicFate::SilentOverIpv6 => "meta nfproto ipv6 ",
        QuicFate::Silent => "",
    };
    let _ = writeln!(rules, "{CHAIN}nft add rule inet eyes forward {of}udp dport {port} drop");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::eyes_case::CASES;

    #[test]
    fn the_lab_of_each_case_is_without_a_mistake() {
        let secure = ServedSite::Secure { certificate: "a\n", key: "b\n" };
        for (case, site) in CASES.iter().flat_map(|of| [(of, ServedSite::Plain), (of, secure)]) {
            for place in [ClientPlace::Lab, ClientPlace::Outside] {
                let text = lab_text(case, site, place);
                let parsed = sixmark_lab::plan::parse_lab(&text, None, &BTreeMap::new());
                assert!(parsed.is_ok(), "{}: {:?}\n{text}", case.name, parsed.err());
            }
        }
    }
}
