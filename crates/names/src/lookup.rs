//! The look-up of a name: the system's resolver first, name servers where it has no address.

use std::fs::read_to_string;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use sixmark_sys::addresses::{SystemAnswer, look_up_addresses};
use sixmark_units::family::{Family, PerFamily};

use crate::ask::{ServersAnswer, ask_servers};
use crate::sources::{families_in_hosts, host_sources, read_resolv_conf};

/// How long the system's resolver may take. It asks three name servers of which two are dead within
/// 10 s, unless resolv.conf says otherwise.
const LIMIT: Duration = Duration::from_secs(15);
/// After how long name servers are asked beside a resolver that has no answer yet. A resolver whose
/// first name server is dead asks the second after 5 s.
const EARLY: Duration = Duration::from_secs(6);

/// What a look-up of one family found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FamilyAnswer {
    /// The addresses, each once, in the order of the resolver; at least one.
    Addresses(Vec<IpAddr>),
    /// The name exists and has no address of the family. The text says who answered so.
    NoAddress(String),
    /// The name does not exist. The text says who answered so.
    NoSuchName(String),
    /// Whether the name has an address of the family is not known. The text says what each name
    /// server answered, or for what the look-up waited.
    Failed(String),
}

/// The look-up of one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyLookup {
    /// What was found.
    pub answer: FamilyAnswer,
    /// How long it took.
    pub took: Duration,
}

/// The look-up of a name, by family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameLookup {
    /// The name.
    pub name: String,
    /// The families; `None` for one that was not asked for.
    pub families: PerFamily<Option<FamilyLookup>>,
    /// How long all took together. Families are asked at the same time.
    pub took: Duration,
}

impl NameLookup {
    /// Returns the addresses of all families, IPv6 first.
    pub fn addresses(&self) -> Vec<IpAddr> {
        let of = |family: Family| match &self.families[family] {
            Some(FamilyLookup { answer: FamilyAnswer::Addresses(found), .. }) => found.clone(),
            _ => Vec::new(),
        };
        Family::BOTH.into_iter().flat_map(of).collect()
    }

    /// Returns what failed for a family; `None` if it has an answer or was not asked for.
    pub fn failure(&self, family: Family) -> Option<&str> {
        match &self.families[family].as_ref()?.answer {
            FamilyAnswer::Failed(why) => Some(why),
            _ => None,
        }
    }

    /// Returns one line that says why no family has an address, without the name.
    pub fn describe_nothing(&self) -> String {
        let asked: Vec<(Family, &FamilyAnswer)> = Family::BOTH
            .into_iter()
            .filter_map(|family| Some((family, &self.families[family].as_ref()?.answer)))
            .collect();
        let unknown =
            |(_, answer): &(Family, &FamilyAnswer)| matches!(answer, FamilyAnswer::NoSuchName(_));
        if let [(_, FamilyAnswer::NoSuchName(who)), ..] = asked[..]
            && asked.iter().all(unknown)
        {
            return format!("no such name ({who})");
        }
        let mut lines: Vec<(Vec<String>, String)> = Vec::new();
        for (family, answer) in asked {
            let why = answer.to_string();
            match lines.iter_mut().find(|(_, known)| *known == why) {
                Some((families, _)) => families.push(family.to_string()),
                None => lines.push((vec![family.to_string()], why)),
            }
        }
        let line =
            |(families, why): &(Vec<String>, String)| format!("{}: {why}", families.join(" and "));
        lines.iter().map(line).collect::<Vec<_>>().join("; ")
    }
}

impl std::fmt::Display for FamilyAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FamilyAnswer::Addresses(found) => {
                let found: Vec<String> = found.iter().map(IpAddr::to_string).collect();
                f.write_str(&found.join(", "))
            }
            FamilyAnswer::NoAddress(who) => write!(f, "no address ({who})"),
            FamilyAnswer::NoSuchName(who) => write!(f, "no such name ({who})"),
            FamilyAnswer::Failed(why) => f.write_str(why),
        }
    }
}

/// Looks up the addresses of `name` of these families, all at the same time. It takes less than
/// 20 s, however long the system's resolver would wait.
pub fn look_up(name: &str, families: &[Family]) -> NameLookup {
    let begin = Instant::now();
    let found = thread::scope(|scope| {
        let start = |family: &Family| {
            let family = *family;
            (family, scope.spawn(move || look_up_family(name, family)))
        };
        let started: Vec<_> = families.iter().map(start).collect();
        let mut found = PerFamily::<Option<Found>>::default();
        for (family, looked_up) in started {
            found[family] = looked_up.join().ok();
        }
        found
    });
    let found = agree_on_name(name, found);
    let families = found.map(|found| found.map(|found| found.lookup));
    NameLookup { name: name.to_owned(), families, took: begin.elapsed() }
}

/// How long a look-up for any family waits for the second, after the first has addresses (RFC 8305,
/// section 3).
const SECOND_FAMILY: Duration = Duration::from_millis(50);

/// Looks up the addresses of `name` for a peer of which any address will do, IPv6 first. A family
/// that fails or is late does not delay the other.
///
/// # Errors
/// Returns one line, without the name, if neither family has an address.
pub fn look_up_any(name: &str) -> Result<Vec<IpAddr>, String> {
    let begin = Instant::now();
    let (done, all_done) = channel();
    for family in Family::BOTH {
        let (name, done) = (name.to_owned(), done.clone());
        thread::spawn(move || done.send((family, look_up_family(&name, family))).ok());
    }
    drop(done);
    let mut found = PerFamily::<Option<Found>>::default();
    let mut until = None::<Instant>;
    while found.iter().any(|(_, of)| of.is_none()) {
        let next = match until {
            None => all_done.recv().ok(),
            Some(until) => {
                all_done.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
            }
        };
        let Some((family, of)) = next else { break };
        if matches!(of.lookup.answer, FamilyAnswer::Addresses(_)) {
            until = Some(Instant::now() + SECOND_FAMILY);
        }
        found[family] = Some(of);
    }
    let families = found.map(|found| found.map(|found| found.lookup));
    let lookup = NameLookup { name: name.to_owned(), families, took: begin.elapsed() };
    let addresses = lookup.addresses();
    if addresses.is_empty() { Err(lookup.describe_nothing()) } else { Ok(addresses) }
}

/// A look-up of one family, with the full name under which addresses were found.
struct Found {
    lookup: FamilyLookup,
    canonical: Option<String>,
}

fn look_up_family(name: &str, family: Family) -> Found {
    let begin = Instant::now();
    let (answer, canonical) = find_answer(name, family, begin);
    Found { lookup: FamilyLookup { answer, took: begin.elapsed() }, canonical }
}

fn find_answer(name: &str, family: Family, begin: Instant) -> (FamilyAnswer, Option<String>) {
    if only_in_hosts(name, family) {
        let who = format!("/etc/hosts has only {}", family.other());
        return (FamilyAnswer::NoAddress(who), None);
    }
    let system = ask_system(name, family);
    let (answer, mut servers) = match system.recv_timeout(EARLY) {
        Err(RecvTimeoutError::Timeout) => {
            let servers = explain(name, family);
            let left = match &servers {
                Some(ServersAnswer::Addresses(_)) => Duration::ZERO,
                _ => LIMIT.saturating_sub(begin.elapsed()),
            };
            (system.recv_timeout(left).ok(), servers)
        }
        answered => (answered.ok(), None),
    };
    let answer = match answer {
        Some(SystemAnswer::Addresses { addresses, canonical }) => {
            return (FamilyAnswer::Addresses(addresses), canonical);
        }
        Some(SystemAnswer::NoAddress) => FamilyAnswer::NoAddress("the system's resolver".into()),
        Some(SystemAnswer::NoSuchName) => FamilyAnswer::NoSuchName("the system's resolver".into()),
        Some(SystemAnswer::Failed(why)) => FamilyAnswer::Failed(why),
        None => {
            let seconds = begin.elapsed().as_secs();
            FamilyAnswer::Failed(format!("the system's resolver has no answer within {seconds} s"))
        }
    };
    if servers.is_none() {
        servers = explain(name, family);
    }
    (settle(answer, servers), None)
}

/// Returns what holds, if the system's resolver has no address.
fn settle(system: FamilyAnswer, servers: Option<ServersAnswer>) -> FamilyAnswer {
    match (system, servers) {
        (system, None) => system,
        (_, Some(ServersAnswer::Addresses(found))) => FamilyAnswer::Addresses(found),
        (_, Some(ServersAnswer::NoAddress(who))) => FamilyAnswer::NoAddress(who),
        (_, Some(ServersAnswer::NoSuchName(who))) => FamilyAnswer::NoSuchName(who),
        // It has learnt this from an answer, maybe of another source.
        (FamilyAnswer::NoAddress(who), Some(ServersAnswer::Failed(_))) => {
            FamilyAnswer::NoAddress(who)
        }
        (_, Some(ServersAnswer::Failed(why))) => FamilyAnswer::Failed(why),
    }
}

/// Starts the system's resolver in a thread, which is left to itself if it takes too long.
fn ask_system(name: &str, family: Family) -> Receiver<SystemAnswer> {
    let (answer, answered) = channel();
    let name = name.to_owned();
    thread::spawn(move || answer.send(look_up_addresses(&name, family)).ok());
    answered
}

/// Reports whether hosts(5) has addresses of the name, of the other family alone. That settles it:
/// resolvers ask DNS only about names which are not in that file.
fn only_in_hosts(name: &str, family: Family) -> bool {
    let found = families_in_hosts(&read_to_string("/etc/hosts").unwrap_or_default(), name);
    found[family.other()] && !found[family] && sources().iter().any(|source| source == "files")
}

/// Asks the name servers; `None` if DNS is no source of host names here.
fn explain(name: &str, family: Family) -> Option<ServersAnswer> {
    let asks = |source: &String| source == "dns" || source == "resolve";
    let settings = read_to_string("/etc/resolv.conf").unwrap_or_default();
    sources().iter().any(asks).then(|| ask_servers(&read_resolv_conf(&settings), name, family))
}

/// Returns the sources of host names. musl has no others than these.
fn sources() -> Vec<String> {
    let text = match cfg!(target_env = "musl") {
        true => String::new(),
        false => read_to_string("/etc/nsswitch.conf").unwrap_or_default(),
    };
    host_sources(&text)
}

/// Keeps the addresses of one host. A short name is completed by the search list until a family has
/// addresses, and if each family is looked up by itself, these may be of two hosts: the first in the
/// list is meant, as when both are asked for together.
fn agree_on_name(name: &str, mut found: PerFamily<Option<Found>>) -> PerFamily<Option<Found>> {
    let full = |family: Family| found[family].as_ref()?.canonical.as_deref();
    let (Some(v6), Some(v4)) = (full(Family::Ipv6), full(Family::Ipv4)) else { return found };
    let settings = read_resolv_conf(&read_to_string("/etc/resolv.conf").unwrap_or_default());
    let place = |canonical: &str| {
        let names = settings.full_names(name);
        names.iter().position(|full| full.eq_ignore_ascii_case(canonical))
    };
    let (Some(place6), Some(place4)) = (place(v6), place(v4)) else { return found };
    let (meant, other) = match place6.cmp(&place4) {
        std::cmp::Ordering::Equal => return found,
        std::cmp::Ordering::Less => (v6.to_owned(), Family::Ipv4),
        std::cmp::Ordering::Greater => (v4.to_owned(), Family::Ipv6),
    };
    if let Some(found) = &mut found[other] {
        let who = format!("the name stands for {meant}, which has no {other} address");
        found.lookup.answer = FamilyAnswer::NoAddress(who);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_failed_lookups_from_absent_names() {
        let who = || "192.0.2.1 answers NXDOMAIN".to_owned();
        let system = || "the system's resolver".to_owned();
        let failed = |why: &str| FamilyAnswer::Failed(why.to_owned());
        let servfail = || Some(ServersAnswer::Failed("192.0.2.1 answers SERVFAIL".to_owned()));
        for (from_system, from_servers, holds) in [
            (FamilyAnswer::NoSuchName(system()), None, FamilyAnswer::NoSuchName(system())),
            // What glibc says of FORMERR.
            (FamilyAnswer::NoSuchName(system()), servfail(), failed("192.0.2.1 answers SERVFAIL")),
            (failed("try again"), servfail(), failed("192.0.2.1 answers SERVFAIL")),
            (failed("try again"), None, failed("try again")),
            (FamilyAnswer::NoAddress(system()), servfail(), FamilyAnswer::NoAddress(system())),
            (
                failed("try again"),
                Some(ServersAnswer::NoSuchName(who())),
                FamilyAnswer::NoSuchName(who()),
            ),
            // What older versions of musl say of an answer that is cut short.
            (
                FamilyAnswer::NoSuchName(system()),
                Some(ServersAnswer::Addresses(vec!["::1".parse().unwrap()])),
                FamilyAnswer::Addresses(vec!["::1".parse().unwrap()]),
            ),
        ] {
            assert_eq!(settle(from_system, from_servers), holds);
        }
    }

    #[test]
    fn only_families_that_are_asked_for_are_looked_up() {
        for family in Family::BOTH {
            let found = look_up("localhost", &[family]);
            assert!(found.families[family.other()].is_none());
            assert!(found.addresses().iter().all(|address| Family::of(*address) == family));
        }
    }

    #[test]
    fn looks_up_a_peer_in_any_family() {
        assert!(look_up_any("localhost").unwrap().iter().all(IpAddr::is_loopback));
    }

    #[test]
    fn describes_families_together_if_their_answers_agree() {
        let lookup = |answer| Some(FamilyLookup { answer, took: Duration::ZERO });
        let of = |ipv6, ipv4| {
            let families = PerFamily { ipv6: lookup(ipv6), ipv4: lookup(ipv4) };
            NameLookup { name: "a".to_owned(), families, took: Duration::ZERO }.describe_nothing()
        };
        let unknown = || FamilyAnswer::NoSuchName("::1 answers NXDOMAIN".to_owned());
        let failed = || FamilyAnswer::Failed("::1 answers SERVFAIL".to_owned());
        assert_eq!(of(unknown(), unknown()), "no such name (::1 answers NXDOMAIN)");
        assert_eq!(of(failed(), failed()), "IPv6 and IPv4: ::1 answers SERVFAIL");
        assert_eq!(
            of(failed(), unknown()),
            "IPv6: ::1 answers SERVFAIL; IPv4: no such name (::1 answers NXDOMAIN)"
        );
    }
}
