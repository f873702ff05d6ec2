//! Look-ups of names that failed for a family or found that it has no address, and how they are
//! described.

use sixmark_document::provenance::{Lookup, LookupFound};
use sixmark_units::family::Family;
use sixmark_units::quantity::counted;

/// The most failures that are named one by one.
const MOST_NAMED: usize = 3;

/// A look-up that failed for one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLookup {
    /// The name.
    pub host: String,
    /// The family whose addresses are not known.
    pub family: Family,
    /// What each name server did, in words.
    pub said: String,
}

/// Returns the look-ups that failed, each once, in their order.
pub fn failed_lookups(dns: &[Lookup]) -> Vec<FailedLookup> {
    let mut failed = Vec::new();
    for lookup in dns {
        let Some(by_family) = &lookup.by_family else { continue };
        let of = [(Family::Ipv6, &by_family.ipv6), (Family::Ipv4, &by_family.ipv4)];
        for (family, found) in of {
            let found = found.as_ref().filter(|found| found.found == LookupFound::Failed);
            let Some(found) = found else { continue };
            let said = found.said.clone().unwrap_or_else(|| "no reason given".to_owned());
            let one = FailedLookup { host: lookup.host.clone(), family, said };
            if !failed.contains(&one) {
                failed.push(one);
            }
        }
    }
    failed
}

/// Returns one line about look-ups that failed: `the look-up of IPv6 addresses of a.example failed
/// (192.0.2.1 answers SERVFAIL)`. `None` if there are none.
pub fn describe_failed_lookups(failed: &[FailedLookup]) -> Option<String> {
    let of = |one: &FailedLookup| {
        let FailedLookup { host, family, said } = one;
        format!("the look-up of {family} addresses of {host} failed ({said})")
    };
    let mut lines: Vec<String> = failed.iter().take(MOST_NAMED).map(of).collect();
    if let Some(more @ 1..) = failed.len().checked_sub(MOST_NAMED) {
        lines.push(format!("and {} failed", counted(more as u64, "other", "others")));
    }
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// Returns one line about the first name that was found to have no address of the family: `a.example
/// has no IPv6 address (192.0.2.1 answers NXDOMAIN)`. `None` if there is none.
pub fn describe_absence(dns: &[Lookup], family: Family) -> Option<String> {
    let absent = |lookup: &Lookup| {
        let by_family = lookup.by_family.as_ref()?;
        let found = match family {
            Family::Ipv6 => by_family.ipv6.as_ref()?,
            Family::Ipv4 => by_family.ipv4.as_ref()?,
        };
        matches!(found.found, LookupFound::NoAddress | LookupFound::NoSuchName).then(|| {
            let who = found.said.as_ref().map_or(String::new(), |said| format!(" ({said})"));
            format!("{} has no {family} address{who}", lookup.host)
        })
    };
    dns.iter().find_map(absent)
}

/// Returns the line about failed look-ups with what to do, for the end of a command that measured the rest.
pub fn explain_failed_lookups(dns: &[Lookup]) -> Option<String> {
    let failed = failed_lookups(dns);
    let described = describe_failed_lookups(&failed)?;
    let first = failed.first()?.family;
    let alone = if first == Family::Ipv6 { "-4" } else { "-6" };
    Some(format!(
        "{described}: not measured; give addresses with --resolve, or load {} alone with {alone}",
        first.other()
    ))
}

#[cfg(test)]
mod tests {
    use sixmark_document::provenance::{LookupByFamily, LookupOfFamily};

    use super::*;

    fn lookup(host: &str, ipv6: LookupFound) -> Lookup {
        let of =
            |found, said: &str| Some(LookupOfFamily { us: 1.0, found, said: Some(said.into()) });
        let by_family = LookupByFamily {
            ipv6: of(ipv6, "::1 answers SERVFAIL"),
            ipv4: of(LookupFound::NoSuchName, "::1 answers NXDOMAIN"),
        };
        Lookup { host: host.into(), us: 1.0, ipv6: 0, ipv4: 0, by_family: Some(by_family) }
    }

    #[test]
    fn describes_each_failed_lookup_once() {
        let before = Lookup { by_family: None, ..lookup("a.example", LookupFound::Failed) };
        let absent = lookup("b.example", LookupFound::NoAddress);
        assert_eq!(explain_failed_lookups(&[before.clone(), absent.clone()]), None);
        let failed = lookup("c.example", LookupFound::Failed);
        let all = [before, absent, failed.clone(), failed];
        assert_eq!(
            explain_failed_lookups(&all).unwrap(),
            "the look-up of IPv6 addresses of c.example failed (::1 answers SERVFAIL): not \
             measured; give addresses with --resolve, or load IPv4 alone with -4"
        );
    }

    #[test]
    fn names_the_first_failed_lookups_and_counts_the_others() {
        let all: Vec<Lookup> =
            (0..9).map(|n| lookup(&format!("h{n}.example"), LookupFound::Failed)).collect();
        let line = describe_failed_lookups(&failed_lookups(&all)).unwrap();
        assert!(line.contains("h2.example") && !line.contains("h3.example"), "{line}");
        assert!(line.ends_with("; and 6 others failed"), "{line}");
    }
}
