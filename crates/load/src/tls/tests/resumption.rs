use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::Ticketer;
use sixmark_plan::plan::tls::{Millionths, PlanTls, TlsVersion};
use sixmark_tally::tls::Facts;

use super::support::{Authority, IPV4, IPV6, Talk, client, only};
use crate::tls::Client;

fn server(authority: &Authority) -> Arc<ServerConfig> {
    let mut config = authority.server();
    config.ticketer = Ticketer::new().unwrap();
    Arc::new(config)
}

fn handshake(client: &mut Client, endpoint: usize, server: &Arc<ServerConfig>) -> Facts {
    let mut talk = Talk::new(client, endpoint, server);
    talk.settle().unwrap();
    // By the end of requests and responses, TLS 1.3 has received its tickets.
    talk.say(b"hello");
    talk.settle().unwrap();
    talk.facts()
}

#[test]
fn a_share_of_handshakes_resumes_evenly_for_each_family() {
    let authority = Authority::new();
    let server = server(&authority);
    for version in [TlsVersion::V12, TlsVersion::V13] {
        for (share, expected) in [(0.0, 0), (0.2, 4), (0.8, 16), (1.0, 20)] {
            let resume = Millionths::try_from(share).unwrap();
            let tls = only(version, PlanTls { resume, ..authority.trusted() });
            let mut client = client(tls);
            for endpoint in [IPV6, IPV4] {
                let all: Vec<_> =
                    (0..20).map(|_| handshake(&mut client, endpoint, &server)).collect();
                let resumed = all.iter().filter(|facts| facts.resumed).count();
                // The first session has nothing to resume, even if it is drawn for that.
                let first = usize::from(share > 0.5);
                assert_eq!(resumed, expected - first, "{share}");
                assert!(!all[0].resumed);
                assert!(all.iter().all(|facts| facts.offered == facts.resumed));
                assert!(all.iter().all(|facts| facts.certificate == all[0].certificate));
            }
        }
    }
}

#[test]
fn does_not_share_sessions_between_families() {
    let authority = Authority::new();
    let server = server(&authority);
    for version in [TlsVersion::V12, TlsVersion::V13] {
        let tls = only(version, PlanTls { resume: Millionths::ALL, ..authority.trusted() });
        let mut client = client(tls);
        assert!(!handshake(&mut client, IPV6, &server).resumed);
        assert!(!handshake(&mut client, IPV4, &server).resumed);
        assert!(handshake(&mut client, IPV6, &server).resumed);
        assert!(handshake(&mut client, IPV4, &server).resumed);
    }
}

#[test]
fn completes_a_full_handshake_if_the_server_rejects_the_ticket() {
    let authority = Authority::new();
    let (one, other) = (server(&authority), server(&authority));
    let tls = PlanTls { resume: Millionths::ALL, ..authority.trusted() };
    let mut client = client(tls);
    handshake(&mut client, IPV6, &one);
    let facts = handshake(&mut client, IPV6, &other);
    assert_eq!((facts.offered, facts.resumed), (true, false));
}

/// A ticket that is used twice would show an observer that it is the same client.
#[test]
fn a_ticket_of_tls_1_3_is_used_once() {
    let authority = Authority::new();
    let mut config = authority.server();
    config.ticketer = Ticketer::new().unwrap();
    config.send_tls13_tickets = 1;
    let server = Arc::new(config);
    let mut client = client(PlanTls { resume: Millionths::ALL, ..authority.trusted() });
    handshake(&mut client, IPV6, &server);
    // Two at once, but only one ticket.
    let mut both = [IPV6, IPV6].map(|endpoint| Talk::new(&mut client, endpoint, &server));
    both.iter_mut().for_each(|talk| talk.settle().unwrap());
    let resumed = both.map(|mut talk| talk.facts().resumed);
    assert_eq!(resumed, [true, false]);
}
