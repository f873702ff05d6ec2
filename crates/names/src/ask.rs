//! Asking the name servers of resolv.conf(5) directly, to learn what each answers.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::thread;
use std::time::{Duration, Instant};

use sixmark_sys::interface::in_zone;
use sixmark_units::family::Family;

use crate::message::{DnsResponse, describe_rcode, encode_query, name_record_type, read_response};
use crate::sources::{NameServer, ResolverSettings};
use crate::transport::{exchange_datagrams, exchange_over_tcp, time_left};

/// The port of name servers.
pub const PORT: u16 = 53;

/// What name servers answer to the question for addresses of one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServersAnswer {
    /// There are addresses.
    Addresses(Vec<IpAddr>),
    /// The name exists, but has no address of the family. The text is what a server answered.
    NoAddress(String),
    /// The name does not exist. The text is what a server answered.
    NoSuchName(String),
    /// No server gave an answer to the question. The text says what each one did.
    Failed(String),
}

/// What one name server did.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ServerReply {
    Response(DnsResponse),
    Silent(Duration),
    /// No answer over TCP, to which a truncated answer referred.
    Truncated(String),
    Unreachable(String),
}

/// Asks all name servers at once for the addresses of `name`, for each full name that it may stand
/// for, until one has addresses or nobody answers.
pub fn ask_servers(settings: &ResolverSettings, name: &str, family: Family) -> ServersAnswer {
    let mut answer = None;
    let until = Instant::now() + settings.patience;
    for full in settings.full_names(name) {
        if time_left(until).is_none() {
            let within = settings.patience.as_secs();
            let why = format!("no answer about all domains of the search list within {within} s");
            return ServersAnswer::Failed(why);
        }
        match ask_for_name(settings, &full, family) {
            // Under one domain of the search list the name exists, under the next it may not.
            ServersAnswer::NoSuchName(said) => {
                answer.get_or_insert(ServersAnswer::NoSuchName(said));
            }
            // The name that exists is the one that is meant, as musl has it.
            other => return other,
        }
    }
    answer.unwrap_or_else(|| ServersAnswer::Failed("resolv.conf names no server".to_owned()))
}

fn ask_for_name(settings: &ResolverSettings, name: &str, family: Family) -> ServersAnswer {
    let id = RandomState::new().hash_one(name) as u16;
    let Some(query) = encode_query(id, name, family) else {
        return ServersAnswer::NoSuchName(format!("'{name}' can't be a name in DNS"));
    };
    let patience = settings.patience;
    let replies: Vec<ServerReply> = thread::scope(|scope| {
        let ask = |server| {
            let query = &query;
            scope.spawn(move || ask_server(server, query, family, patience))
        };
        let asked: Vec<_> = settings.servers.iter().map(ask).collect();
        let lost = || ServerReply::Unreachable("not asked".to_owned());
        asked.into_iter().map(|asked| asked.join().unwrap_or_else(|_| lost())).collect()
    });
    let named: Vec<(&NameServer, ServerReply)> = settings.servers.iter().zip(replies).collect();
    conclude(&named, name, family)
}

/// Returns what the replies say together: what a server knows comes before what others failed in.
fn conclude(replies: &[(&NameServer, ServerReply)], name: &str, family: Family) -> ServersAnswer {
    let response = |rcode: u8| {
        replies.iter().find_map(|(server, reply)| match reply {
            ServerReply::Response(found) if found.rcode == rcode => Some((server, found)),
            _ => None,
        })
    };
    let mut addresses: Vec<IpAddr> = Vec::new();
    for (_, reply) in replies {
        if let ServerReply::Response(found) = reply
            && addresses.is_empty()
        {
            addresses.clone_from(&found.addresses);
        }
    }
    if !addresses.is_empty() {
        return ServersAnswer::Addresses(addresses);
    }
    if let Some((server, _)) = response(0) {
        let kind = name_record_type(family);
        return ServersAnswer::NoAddress(format!("{server} has no {kind} record of {name}"));
    }
    if let Some((server, _)) = response(3) {
        return ServersAnswer::NoSuchName(format!("{server} answers NXDOMAIN"));
    }
    let said: Vec<String> = replies.iter().map(|(server, reply)| reply.of(server)).collect();
    ServersAnswer::Failed(said.join(", "))
}

impl ServerReply {
    /// Returns in words what this server did.
    fn of(&self, server: &NameServer) -> String {
        match self {
            ServerReply::Response(found) => {
                format!("{server} answers {}", describe_rcode(found.rcode))
            }
            ServerReply::Silent(after) => {
                format!("no answer from {server} within {} s", after.as_secs())
            }
            ServerReply::Truncated(why) => {
                format!("{server} gives a truncated answer, and none over TCP ({why})")
            }
            ServerReply::Unreachable(why) => format!("{server} can't be asked ({why})"),
        }
    }
}

impl fmt::Display for NameServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.zone {
            Some(zone) => write!(f, "{}%{zone}", self.address),
            None => self.address.fmt(f),
        }
    }
}

fn ask_server(
    server: &NameServer,
    query: &[u8],
    family: Family,
    patience: Duration,
) -> ServerReply {
    let unreachable = |error: &io::Error| ServerReply::Unreachable(describe_error(error));
    let at = match in_zone(server.address, server.zone.as_deref(), PORT) {
        Ok(at) => at,
        Err(why) => return ServerReply::Unreachable(why),
    };
    let read = |message: &[u8]| read_response(message, query, family);
    match exchange_datagrams(at, query, patience, read) {
        Ok(Some(found)) if found.truncated => match exchange_over_tcp(at, query, patience, read) {
            Ok(found) => ServerReply::Response(found),
            Err(error) => ServerReply::Truncated(describe_error(&error)),
        },
        Ok(Some(found)) => ServerReply::Response(found),
        Ok(None) => ServerReply::Silent(patience),
        Err(error) => unreachable(&error),
    }
}

/// Describes an error of a query in the words of the field, without the number of the operating system.
pub fn describe_error(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "nothing listens at its port 53".to_owned(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "no answer in time".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(address: &str) -> NameServer {
        NameServer { address: address.parse().unwrap(), zone: None }
    }

    fn response(rcode: u8, addresses: &[&str]) -> ServerReply {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        ServerReply::Response(DnsResponse { rcode, truncated: false, addresses })
    }

    #[test]
    fn prefers_the_answer_of_one_server_over_failures_of_others() {
        let servers = [server("192.0.2.1"), server("2001:db8::1"), server("192.0.2.3")];
        let silent = || ServerReply::Silent(Duration::from_secs(5));
        let of = |replies: [ServerReply; 3]| {
            conclude(&servers.iter().zip(replies).collect::<Vec<_>>(), "a.example", Family::Ipv6)
        };
        let found = of([response(2, &[]), response(3, &[]), response(0, &["::1"])]);
        assert_eq!(found, ServersAnswer::Addresses(vec!["::1".parse().unwrap()]));
        let none = of([response(2, &[]), response(0, &[]), silent()]);
        let text = "2001:db8::1 has no AAAA record of a.example".to_owned();
        assert_eq!(none, ServersAnswer::NoAddress(text));
        let unknown = of([response(5, &[]), silent(), response(3, &[])]);
        assert_eq!(unknown, ServersAnswer::NoSuchName("192.0.2.3 answers NXDOMAIN".to_owned()));
        let failed = of([response(5, &[]), silent(), response(2, &[])]);
        let text = "192.0.2.1 answers REFUSED, no answer from 2001:db8::1 within 5 s, 192.0.2.3 \
                    answers SERVFAIL";
        assert_eq!(failed, ServersAnswer::Failed(text.to_owned()));
    }
}
