//! The network of a case, as the file of a lab: a client, a router, a name server, and a host for each pair of
//! addresses of the site.
//!
//! Addresses are those of documentation (RFC 3849, RFC 5737): the order of others would depend on their kind
//! (RFC 6724).

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sixmark_units::family::Family;

use crate::eyes_case::{EyesCase, SiteAddressFate};

/// The site's name.
pub const SITE: &str = "www.test";
/// The site's port.
pub const SITE_PORT: u16 = 80;
/// The host in which the client runs.
pub const CLIENT: &str = "client";
/// The host of the name server.
pub const NAMES: &str = "names";
/// The delay of the client's link in each direction, in milliseconds.
const CLIENT_DELAY_MS: u32 = 2;
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
    Ipv4Addr::new(192, 0, 2, 53).into()
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

/// Returns the file of a case's lab.
pub fn lab_text(case: &EyesCase) -> String {
    let by_family = Family::BOTH.map(|family| site_addresses(case, family));
    let hosts = by_family.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = format!(
        r#"name = "eyes"
[hosts.{CLIENT}]
[hosts.router]
forwards = true
[hosts.{NAMES}]
[links.{CLIENT}]
between = ["{CLIENT}", "router"]
delay = "{CLIENT_DELAY_MS}ms"
at.{CLIENT}.addresses = ["2001:db8:9:1::1/64", "198.51.100.1/24"]
at.router.addresses = ["2001:db8:9:1::ff/64", "198.51.100.254/24"]
[links.{NAMES}]
between = ["router", "{NAMES}"]
at.router.addresses = ["2001:db8:9:2::ff/64", "192.0.2.254/24"]
at.{NAMES}.addresses = ["2001:db8:9:2::53/64", "192.0.2.53/24"]
"#
    );
    let mut rules = String::new();
    for at in 0..hosts {
        add_host(&mut text, at, &by_family);
    }
    for (address, fate) in by_family.iter().flatten() {
        add_rule(&mut rules, *address, *fate);
    }
    let _ = write!(
        text,
        "[services.router]\nhost = \"router\"\ncommand = [\"sh\", \"-e\", \"{{dir}}/rules\"]\n\
         ready = {{ line = \"ready\" }}\n[services.router.files]\nrules = '''\n{rules}echo ready\n\
         exec sleep infinity\n'''\n"
    );
    text
}

/// Adds the host of the addresses with a number, its link with the delays of both, and its server.
fn add_host(text: &mut String, at: usize, by_family: &[Vec<(IpAddr, SiteAddressFate)>; 2]) {
    let own = |family: usize| by_family[family].get(at).map(|of| of.1);
    let delay = |family: usize| match own(family) {
        Some(SiteAddressFate::Answers(ms)) => ms / 2,
        _ => 0,
    };
    let addresses = [
        format!("\"2001:db8:9:{:x}::{:x}/64\"", 16 + at, LAST[at]),
        format!("\"203.0.113.{}/27\"", 32 * at + usize::from(LAST[at])),
    ];
    let (ipv6, ipv4) = (delay(0), delay(1));
    let listens: Vec<String> = by_family
        .iter()
        .filter_map(|of| of.get(at))
        .filter(|of| matches!(of.1, SiteAddressFate::Answers(_) | SiteAddressFate::Stalls))
        .map(|(address, _)| match address {
            IpAddr::V6(address) => format!("[{address}]:{SITE_PORT}"),
            IpAddr::V4(address) => format!("{address}:{SITE_PORT}"),
        })
        .collect();
    let _ = write!(
        text,
        "[hosts.site{at}]\n[links.site{at}]\nbetween = [\"router\", \"site{at}\"]\n\
         ipv6 = {{ delay = \"{ipv6}ms\" }}\nipv4 = {{ delay = \"{ipv4}ms\" }}\n\
         at.router.addresses = [\"2001:db8:9:{:x}::ff/64\", \"203.0.113.{}/27\"]\n\
         at.site{at}.addresses = [{}]\n",
        16 + at,
        32 * at + 30,
        addresses.join(", ")
    );
    if !listens.is_empty() {
        let words: Vec<String> =
            listens.iter().map(|of| format!("\"--listen\", \"{of}\"")).collect();
        let urls: Vec<String> = listens.iter().map(|of| format!("\"http://{of}\"")).collect();
        let _ = write!(
            text,
            "[services.site{at}]\nhost = \"site{at}\"\n\
             command = [\"{{sixmark}}\", \"origin\", {}]\nurls = [{}]\n",
            words.join(", "),
            urls.join(", ")
        );
    }
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
            "nft add table inet eyes\n\
             nft 'add chain inet eyes forward {{ type filter hook forward priority 0; }}'\n\
             nft add rule inet eyes forward {family} daddr {address} tcp flags psh drop"
        ),
        SiteAddressFate::Answers(_) | SiteAddressFate::Refuses => Ok(()),
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::eyes_case::CASES;

    #[test]
    fn the_lab_of_each_case_is_without_a_mistake() {
        for case in &CASES {
            let text = lab_text(case);
            let parsed = sixmark_lab::plan::parse_lab(&text, None, &BTreeMap::new());
            assert!(parsed.is_ok(), "{}: {:?}\n{text}", case.name, parsed.err());
        }
    }
}
