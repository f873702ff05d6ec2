//! What a router tells the hosts of its networks over DHCPv4.

use std::time::Duration;

use sixmark_document::fields::FileFields;

/// The DHCPv4 server of a host (RFC 2131).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DhcpPlan {
    /// For how many seconds clients that can do without IPv4 should do so (IPv6-Only Preferred, RFC 8925); `None` if
    /// they should not.
    pub v6only_wait_s: Option<u32>,
}

/// Reads the table `dhcp` of a host.
pub(super) fn read_dhcp(mut fields: FileFields<'_>) -> Option<DhcpPlan> {
    let wait = fields.take("v6only-wait").map(|field| {
        let time = field.time()?;
        let fits = time.subsec_nanos() == 0 && time <= Duration::from_secs(u32::MAX.into());
        if !fits {
            field.wrong("is not a whole number of seconds below 2^32 (RFC 8925, 3.1)");
        }
        fits.then_some(time.as_secs() as u32)
    });
    fields.end();
    Some(DhcpPlan {
        v6only_wait_s: match wait {
            None => None,
            Some(wait) => Some(wait?),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lab, told};

    fn with(dhcp: &str) -> String {
        format!(
            "name = \"a\"\n[hosts]\nr = {{ forwards = true, dhcp = {{ {dhcp} }} }}\nc = {{}}\n\
             [links]\nl = [\"r\", \"c\"]\n"
        )
    }

    #[test]
    fn the_time_without_ipv4_is_in_whole_seconds() {
        let read = |text: &str| lab(&with(text)).hosts[0].dhcp.unwrap().v6only_wait_s;
        assert_eq!(read(""), None);
        assert_eq!(read("v6only-wait = \"30m\""), Some(1_800));
        assert_eq!(read("v6only-wait = \"4294967295s\""), Some(u32::MAX));
    }

    #[test]
    fn servers_that_can_not_serve_are_refused() {
        let wait = "hosts.r.dhcp.v6only-wait: is not a whole number of seconds below 2^32";
        told(&[
            (&with("v6only-wait = \"4294967296s\""), wait),
            (&with("v6only-wait = \"300ms\""), wait),
            (&with("v6only-wait = 300"), "hosts.r.dhcp.v6only-wait: "),
            (&with("").replace("forwards = true, ", ""), "hosts.r.dhcp: the server names itself"),
            (
                &with("").replace("forwards", "families = [\"ipv6\"], forwards"),
                "hosts.r.dhcp: the host has no IPv4 address",
            ),
            (&with("pool = 1"), "hosts.r.dhcp.pool: unknown key"),
        ]);
    }
}
