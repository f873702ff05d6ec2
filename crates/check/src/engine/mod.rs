//! Observing a site: its name, its addresses, and a few fetches from each of them.

mod collected;
mod delegation;
mod fetch;
mod hops;
mod hosts;
mod http3;
mod path_probes;
mod race;
mod resolver;
mod trust;

use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::net::{IpAddr, SocketAddr};
use std::thread;

use sixmark_http::url::{Host, Url};
use sixmark_names::ask::PORT;
use sixmark_names::look_up;
use sixmark_names::sources::{families_in_hosts, read_resolv_conf};
use sixmark_sys::interface::in_zone;
use sixmark_sys::route::way_to;
use sixmark_units::family::Family;
use sixmark_units::random::Random;

use crate::happy_eyeballs::PROFILES;
use crate::observed::{CheckedAddress, ResolverRecords, SiteObserved};
use crate::site_fetch::SiteFetch;
use crate::special_address::describe_special;
use crate::zone_servers::ZoneServers;
use fetch::{FetchedUrl, fetch};
pub use trust::TrustedRoots;

/// The most addresses of a site that are tried.
const MOST_ADDRESSES: usize = 12;
/// The most requests that are sent to a site, unless more are asked for.
const MOST_REQUESTS: u32 = 60;
/// How many of them are kept for races.
const RACE_REQUESTS: u32 = PROFILES.len() as u32 * race::MOST_ATTEMPTS;
/// After this many failures without a success an address is not tried again.
const GIVE_UP_AFTER: usize = 2;

/// How sites are checked.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// How often the site is fetched from each address.
    pub repeat: u32,
    /// True if the user asked for that many, however many requests that takes.
    pub is_repeat_given: bool,
    /// Whether to race for real, as each client does.
    pub races: bool,
    /// The resolvers that are asked; empty for those of the system, with its hosts file.
    pub resolvers: Vec<SocketAddr>,
    /// The fields that are added to requests.
    pub headers: Vec<(String, String)>,
    /// The certificates that are trusted.
    pub roots: TrustedRoots,
    /// The seed of the order of fetches.
    pub seed: u64,
}

/// Observes a site. It sends at most 60 requests to it unless a number of fetches was given.
pub fn observe_site(url: &Url, options: &CheckOptions) -> SiteObserved {
    let mut observed = look_up_site(url, options);
    let mut check = SiteChecker { url, options, searched: Vec::new(), requests: 0 };
    let skips: Vec<Family> = observed.no_route.keys().copied().collect();
    check.fetch_all(&mut observed.addresses, &skips);
    check.fetch_again(&mut observed.addresses);
    check.fetch_plain(&mut observed.addresses);
    check.probe_paths(&mut observed.addresses);
    check.count_hops(&mut observed.addresses);
    if observed.offers_http3() {
        check.fetch_http3(&mut observed.addresses);
    }
    if options.races {
        check.race(&mut observed);
    }
    observed.requests = check.requests;
    let fetches = || observed.addresses.iter().flat_map(|of| &of.fetches);
    observed.redirect = hosts::redirect_host(url, fetches());
    observed.page_hosts = hosts::page_hosts(url, &check.searched);
    observed
}

/// Returns what is known of the names and addresses of a site.
fn look_up_site(url: &Url, options: &CheckOptions) -> SiteObserved {
    let mut observed = SiteObserved::default();
    let mut addresses: Vec<IpAddr> = Vec::new();
    match &url.host {
        Host::Address(address, _) => addresses.push(*address),
        Host::Name(name) => {
            observed.name = Some(name.clone());
            let resolvers = resolvers_of(name, options);
            observed.resolvers = ask_resolvers(&resolvers, name);
            observed.zones = find_zones(&resolvers, name, &observed.resolvers);
            if options.resolvers.is_empty() {
                let found = look_up(name, &Family::BOTH);
                addresses = found.addresses();
                for (family, lookup) in found.families.iter() {
                    observed.unknown.extend(found.failure(family).map(|_| family));
                    if let Some(lookup) = lookup
                        && !addresses.iter().any(|address| Family::of(*address) == family)
                    {
                        observed.no_address.insert(family, lookup.answer.to_string());
                    }
                }
            } else {
                addresses = addresses_of(&observed.resolvers);
                observed.no_address = families_without(&addresses, &observed.resolvers);
                observed.unknown = families_unknown(&observed.resolvers);
            }
        }
    }
    observed.no_route = families_without_route(&addresses, url.port);
    let addresses = some_of_both(addresses);
    observed.addresses = addresses.into_iter().map(|of| checked_address(of, url.port)).collect();
    observed
}

/// Returns the addresses, IPv6 first, but no more than are tried, and then as many of both families as
/// there are.
fn some_of_both(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let (ipv6, ipv4): (Vec<IpAddr>, Vec<IpAddr>) = addresses.iter().partition(|of| of.is_ipv6());
    let half = MOST_ADDRESSES / 2;
    let most6 = half.max(MOST_ADDRESSES.saturating_sub(ipv4.len()));
    let most4 = MOST_ADDRESSES - ipv6.len().min(most6);
    ipv6.into_iter().take(most6).chain(ipv4.into_iter().take(most4)).collect()
}

/// Returns why this machine can't reach any address of a family: it has no address or no route of that
/// family. Nothing is sent.
fn families_without_route(addresses: &[IpAddr], port: u16) -> BTreeMap<Family, String> {
    let why = |family: Family| {
        let mut of_family = addresses
            .iter()
            .filter(|of| Family::of(**of) == family)
            .map(|of| SocketAddr::new(*of, port));
        let first = of_family.next()?;
        let error = way_to(first).err()?;
        of_family.all(|of| way_to(of).is_err()).then(|| {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or(&text).to_owned();
            (family, format!("this machine has no way to addresses of {family} ({text})"))
        })
    };
    Family::BOTH.into_iter().filter_map(why).collect()
}

/// Returns the families about which no resolver answered.
fn families_unknown(resolvers: &[ResolverRecords]) -> Vec<Family> {
    let is_known = |family: &Family| {
        let kind = sixmark_names::message::name_record_type(*family);
        resolvers.iter().filter_map(|of| of.query(kind)).any(|query| !query.is_failure())
    };
    Family::BOTH.into_iter().filter(|family| !is_known(family)).collect()
}

fn checked_address(address: IpAddr, port: u16) -> CheckedAddress {
    CheckedAddress {
        address,
        family: Family::of(address),
        special: describe_special(address).map(str::to_owned),
        fetches: Vec::new(),
        plain: None,
        http3: None,
        probes: Vec::new(),
        hops: None,
        route_mtu: way_to(SocketAddr::new(address, port)).ok().and_then(|way| way.mtu),
    }
}

/// Returns the given resolvers, or those of the system unless its hosts file has the name.
fn resolvers_of(name: &str, options: &CheckOptions) -> Vec<SocketAddr> {
    if !options.resolvers.is_empty() {
        return options.resolvers.clone();
    }
    let read = |path: &str| read_to_string(path).unwrap_or_default();
    let in_hosts = families_in_hosts(&read("/etc/hosts"), name);
    if Family::BOTH.into_iter().any(|family| in_hosts[family]) {
        return Vec::new();
    }
    let settings = read_resolv_conf(&read("/etc/resolv.conf"));
    let at = settings.servers.iter();
    at.filter_map(|of| in_zone(of.address, of.zone.as_deref(), PORT).ok()).collect()
}

fn ask_resolvers(resolvers: &[SocketAddr], name: &str) -> Vec<ResolverRecords> {
    thread::scope(|scope| {
        let ask = |at: &SocketAddr| {
            let at = *at;
            scope.spawn(move || resolver::ask_resolver(at, name))
        };
        let asked: Vec<_> = resolvers.iter().map(ask).collect();
        asked.into_iter().filter_map(|asked| asked.join().ok()).collect()
    })
}

/// Finds the zones on the way to a name through the first resolver that answered.
fn find_zones(
    resolvers: &[SocketAddr],
    name: &str,
    records: &[ResolverRecords],
) -> Vec<ZoneServers> {
    let answered = |of: &ResolverRecords| of.queries.iter().any(|query| !query.is_failure());
    let first = resolvers.iter().zip(records).find(|(_, of)| answered(of));
    first.map_or(Vec::new(), |(at, of)| delegation::find_zones(*at, name, of))
}

/// Returns the addresses that the resolvers know, IPv6 first, each once.
fn addresses_of(resolvers: &[ResolverRecords]) -> Vec<IpAddr> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for kind in ["AAAA", "A"] {
        let queries = resolvers.iter().filter_map(|of| of.query(kind));
        for address in queries.flat_map(|query| &query.records).filter_map(|text| text.parse().ok())
        {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
    }
    addresses
}

fn families_without(
    addresses: &[IpAddr],
    resolvers: &[ResolverRecords],
) -> BTreeMap<Family, String> {
    let none = |family: &Family| !addresses.iter().any(|of| Family::of(*of) == *family);
    let why = |family: Family| {
        let kind = sixmark_names::message::name_record_type(family);
        let said = resolvers
            .iter()
            .filter_map(|of| Some(format!("{}: {}", of.resolver, of.query(kind)?.describe())));
        (family, said.collect::<Vec<_>>().join("; "))
    };
    Family::BOTH.into_iter().filter(none).map(why).collect()
}

/// Fetches a site from its addresses.
struct SiteChecker<'a> {
    url: &'a Url,
    options: &'a CheckOptions,
    /// The beginning of the first page that arrived.
    searched: Vec<u8>,
    requests: u32,
}

impl SiteChecker<'_> {
    /// Fetches the site from each address in turn, in random order.
    fn fetch_all(&mut self, addresses: &mut [CheckedAddress], skips: &[Family]) {
        let mut random = Random::new(self.options.seed, 0);
        let mut rounds = self.options.repeat;
        if !self.options.is_repeat_given {
            // Each address also gets a request over plain HTTP, a large one, and one over HTTP/3.
            let count = addresses.len().max(1) as u32;
            let for_races = if self.options.races { RACE_REQUESTS } else { 0 };
            let most = MOST_REQUESTS - for_races;
            rounds = rounds.min((most / count).saturating_sub(3)).max(1);
        }
        for round in 0..rounds {
            let mut order: Vec<usize> = (0..addresses.len()).collect();
            for last in (1..order.len()).rev() {
                order.swap(last, random.below(last as u64 + 1) as usize);
            }
            for at in order {
                if !is_given_up(&addresses[at]) && !skips.contains(&addresses[at].family) {
                    let found = self.fetch(self.url, addresses[at].address);
                    addresses[at].fetches.push(SiteFetch { round, ..found });
                }
            }
        }
    }

    /// Fetches once more where the only try failed: one may be chance.
    fn fetch_again(&mut self, addresses: &mut [CheckedAddress]) {
        for of in addresses {
            if let [only] = &of.fetches[..]
                && !only.is_complete()
            {
                let found = self.fetch(self.url, of.address);
                of.fetches.push(SiteFetch { round: 1, ..found });
            }
        }
    }

    /// Fetches `/` over plain HTTP, if the site has the usual port of HTTPS.
    fn fetch_plain(&mut self, addresses: &mut [CheckedAddress]) {
        let Some(plain) = hosts::plain_url(self.url) else { return };
        for of in addresses.iter_mut().filter(|of| !of.fetches.is_empty() && !is_given_up(of)) {
            of.plain = Some(self.fetch(&plain, of.address));
        }
    }

    /// Counts the hops to one address of each family if connections over one of them take longer.
    fn count_hops(&self, addresses: &mut [CheckedAddress]) {
        let first = |family: Family| {
            let connect_us = |at: usize| Some((at, hops::shortest_connect_us(&addresses[at])?));
            let mut of_family = (0..addresses.len()).filter(|at| addresses[*at].family == family);
            of_family.find_map(connect_us)
        };
        let [Some((at6, us6)), Some((at4, us4))] = Family::BOTH.map(first) else { return };
        if !hops::is_longer(us6, us4) {
            return;
        }
        let places = [(at6, us6), (at4, us4)];
        let places = places
            .map(|(at, us)| (at, self.socket_address(addresses[at].address, self.url.port), us));
        thread::scope(|scope| {
            let begun =
                places.map(|(at, to, us)| (at, scope.spawn(move || hops::count_hops(to, us))));
            for (at, counted) in begun {
                addresses[at].hops = counted.join().unwrap_or_default();
            }
        });
    }

    /// Fetches the site over HTTP/3 from each address that answers otherwise, and once more where that fails
    /// and another address answers.
    fn fetch_http3(&mut self, addresses: &mut [CheckedAddress]) {
        let is_complete = |of: &CheckedAddress| of.fetches.iter().any(SiteFetch::is_complete);
        let all = (0..addresses.len()).filter(|at| is_complete(&addresses[*at])).collect();
        self.try_http3(addresses, all);
        let answers = |of: &CheckedAddress| of.http3.as_ref().is_some_and(SiteFetch::is_complete);
        if addresses.iter().any(answers) {
            let failed = |at: &usize| addresses[*at].http3.is_some() && !answers(&addresses[*at]);
            let again = (0..addresses.len()).filter(failed).collect();
            self.try_http3(addresses, again);
        }
    }

    /// Fetches over HTTP/3 from some addresses at the same time: where UDP is blocked each takes seconds.
    fn try_http3(&mut self, addresses: &mut [CheckedAddress], mut some: Vec<usize>) {
        some.truncate(self.requests_left() as usize);
        self.requests += some.len() as u32;
        let url = self.url;
        let what = FetchedUrl {
            url,
            method: "GET",
            headers: &self.options.headers,
            roots: &self.options.roots,
            probe: None,
            waits_longer: false,
        };
        let places =
            some.into_iter().map(|at| (at, self.socket_address(addresses[at].address, url.port)));
        let places: Vec<(usize, SocketAddr)> = places.collect();
        thread::scope(|scope| {
            let what = &what;
            let begun: Vec<_> = places
                .into_iter()
                .map(|(at, to)| (at, scope.spawn(move || http3::fetch_http3(what, to))))
                .collect();
            for (at, fetched) in begun {
                addresses[at].http3 = Some(fetched.join().unwrap_or_default());
            }
        });
    }

    /// Returns how many requests may still be sent.
    fn requests_left(&self) -> u32 {
        if self.options.is_repeat_given {
            return MOST_REQUESTS;
        }
        MOST_REQUESTS.saturating_sub(self.requests)
    }

    /// Races to the addresses as each client does, as long as there are connections left.
    fn race(&mut self, observed: &mut SiteObserved) {
        let port = self.url.port;
        let addresses = Family::BOTH.map(|family| {
            let of_family = observed.addresses.iter().filter(|of| of.family == family);
            of_family.map(|of| self.socket_address(of.address, port)).collect::<Vec<_>>()
        });
        for profile in PROFILES {
            let is_over = self.requests + race::MOST_ATTEMPTS > MOST_REQUESTS;
            if is_over && !self.options.is_repeat_given {
                return;
            }
            let raced = race::race_for_real(profile, &addresses);
            self.requests += raced.attempts;
            observed.races.push(raced);
        }
    }

    fn socket_address(&self, address: IpAddr, port: u16) -> SocketAddr {
        let zone = match &self.url.host {
            Host::Address(_, zone) => zone.as_deref(),
            Host::Name(_) => None,
        };
        in_zone(address, zone, port).unwrap_or_else(|_| SocketAddr::new(address, port))
    }

    fn fetch(&mut self, url: &Url, address: IpAddr) -> SiteFetch {
        self.requests += 1;
        let to = self.socket_address(address, url.port);
        // What the user adds, such as credentials, is not sent in plain text beside an https:// URL.
        let is_own = url.scheme == self.url.scheme;
        let headers = if is_own { &self.options.headers[..] } else { &[] };
        let roots = &self.options.roots;
        let found = fetch(
            &FetchedUrl { url, method: "GET", headers, roots, probe: None, waits_longer: false },
            to,
        );
        if self.searched.is_empty() && found.fetch.status == Some(200) {
            self.searched = found.searched;
        }
        found.fetch
    }
}

/// Returns true if an address failed so often that it is not tried again.
fn is_given_up(of: &CheckedAddress) -> bool {
    of.fetches.len() >= GIVE_UP_AFTER && !of.fetches.iter().any(SiteFetch::is_complete)
}
