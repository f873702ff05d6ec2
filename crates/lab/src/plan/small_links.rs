//! Links with an MTU below that which IPv6 needs.

use super::segment::segments;
use super::{Lab, LabLink, LabNode, LinkEnd};
use sixmark_units::family::Family;

/// The least MTU of a link that carries IPv6 (RFC 8200, 5). Below it the kernel removes IPv6 from an interface.
const LEAST_IPV6_MTU: u32 = 1280;

/// Checks that no link with IPv6 has a smaller MTU than IPv6 needs. Passes each mistake to `wrong`, with its key.
pub(super) fn check_small_links(lab: &Lab, wrong: &dyn Fn(&str, &str)) {
    for (number, link) in lab.links.iter().enumerate() {
        let least = link.ends.iter().map(|end| end.mtu).min();
        let Some(mtu) = least.filter(|&mtu| mtu < LEAST_IPV6_MTU) else { continue };
        if let Some(host) = host_with_ipv6(lab, number, link) {
            let line = format!(
                "{mtu} B is less than IPv6 needs, {LEAST_IPV6_MTU} B (RFC 8200, 5), and {host} has IPv6 there: use a \
                 larger MTU, or hosts with families = [\"ipv4\"]"
            );
            wrong(&format!("links.{}.mtu", link.name), &line);
        }
    }
}

/// Returns the name of a host with an IPv6 address on a link, or, if the link joins two bridges, in its segment.
fn host_with_ipv6<'a>(lab: &'a Lab, number: usize, link: &LabLink) -> Option<&'a str> {
    let at_end = |end: &LinkEnd| {
        let is_used = end.addresses.iter().any(|net| net.family() == Family::Ipv6);
        is_used.then(|| lab.node_name(end.node))
    };
    if link.ends.iter().any(|end| matches!(end.node, LabNode::Host(_))) {
        return link.ends.iter().find_map(at_end);
    }
    let segment = segments(&lab.links).into_iter().find(|of| of.links.contains(&number))?;
    segment.ends.iter().find_map(|&(link, end)| at_end(&lab.links.get(link)?.ends[end]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lab, told};

    fn link(hosts: &str, link: &str) -> String {
        format!("name = \"a\"\n[hosts]\n{hosts}\n[bridges]\nb = {{}}\nc = {{}}\n[links]\n{link}\n")
    }

    const ONE_OF_EACH: &str =
        "x = { families = [\"ipv4\"] }\ny = { families = [\"ipv4\"] }\nz = {}";

    #[test]
    fn links_of_hosts_with_ipv4_alone_may_be_smaller_than_ipv6_needs() {
        let small = link(ONE_OF_EACH, "l = { between = [\"x\", \"y\"], mtu = 576 }");
        assert_eq!(lab(&small).links[0].ends[0].mtu, 576);
        // Another link of the segment carries no IPv6.
        let behind =
            "l = { between = [\"x\", \"b\"], mtu = 1000 }\nm = [\"y\", \"b\"]\nn = [\"z\", \"b\"]";
        assert_eq!(lab(&link(ONE_OF_EACH, behind)).links[0].ends[1].mtu, 1000);
        told(&[(
            &link(ONE_OF_EACH, "l = { between = [\"x\", \"y\"], mtu = 575 }"),
            "links.l.mtu: 575 is not a whole number from 576",
        )]);
    }

    #[test]
    fn links_with_ipv6_are_refused_if_their_mtu_is_less_than_it_needs() {
        let line = "1000 B is less than IPv6 needs, 1280 B (RFC 8200, 5), and z has IPv6 there";
        let of_host = "l = { between = [\"x\", \"z\"], mtu = 1000 }";
        let at_bridge = "l = { between = [\"z\", \"b\"], at.b.mtu = 1000 }";
        let of_bridges = "l = { between = [\"b\", \"c\"], mtu = 1000 }\nm = [\"z\", \"c\"]";
        for text in [of_host, at_bridge, of_bridges] {
            told(&[(&link(ONE_OF_EACH, text), &format!("links.l.mtu: {line}"))]);
        }
    }
}
