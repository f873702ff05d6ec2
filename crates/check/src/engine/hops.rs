//! How many hops away an address is: the least hop limit with which a connection is established.
//!
//! It needs no privilege: a SYN whose hop limit is used up comes back as an ICMP error, or not at all.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use crate::observed::CheckedAddress;
use crate::site_fetch::{FetchPhase, SiteFetch};

/// The most hops that are tried.
const MOST_HOPS: u32 = 63;
/// How long one SYN has, beside the time that connections have taken: it is not sent again within it.
const PATIENCE: Duration = Duration::from_millis(400);
/// The longest time that connections may have taken for their hops to be counted: a SYN is sent again
/// after a second.
const MOST_CONNECT_US: f64 = 500_000.0;
/// How long counting may take.
const LIMIT: Duration = Duration::from_secs(3);
/// Connections over one family that take so much longer are worth counting hops for: this share,
const LEAST_SHARE: f64 = 0.1;
/// and this many microseconds.
const LEAST_US: f64 = 2_000.0;

/// Returns the shortest time that a connection to an address took, in microseconds.
pub(super) fn shortest_connect_us(of: &CheckedAddress) -> Option<f64> {
    let connected = of.fetches.iter().filter(|fetch| fetch.reached > FetchPhase::Connect);
    connected.map(|fetch: &SiteFetch| fetch.connect_us).min_by(f64::total_cmp)
}

/// Returns true if connections to one of two addresses take so much longer that hops tell something.
pub(super) fn is_longer(a_us: f64, b_us: f64) -> bool {
    let (less, more) = (a_us.min(b_us), a_us.max(b_us));
    more - less > LEAST_US && more > less * (1.0 + LEAST_SHARE)
}

/// Counts the hops to an address by bisection, with at most eight connections. `None` if it can't be counted
/// in time.
pub(super) fn count_hops(to: SocketAddr, connect_us: f64) -> Option<u32> {
    if connect_us > MOST_CONNECT_US {
        return None;
    }
    let patience = PATIENCE + Duration::from_nanos((connect_us * 1e3) as u64);
    let until = Instant::now() + LIMIT;
    // A connection with `high` hops is established, one with `low` is not.
    let (mut low, mut high) = (0, MOST_HOPS);
    if !is_within(to, high, patience)? {
        return None;
    }
    while high - low > 1 {
        if Instant::now() > until {
            return None;
        }
        let middle = u32::midpoint(low, high);
        match is_within(to, middle, patience)? {
            true => high = middle,
            false => low = middle,
        }
    }
    // A SYN that was lost would have looked like too few hops.
    let is_confirmed = low == 0 || !is_within(to, low, patience)?;
    is_confirmed.then_some(high)
}

/// Returns whether a connection with a hop limit is established; `None` if that can't be tried.
fn is_within(to: SocketAddr, hops: u32, patience: Duration) -> Option<bool> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP)).ok()?;
    match to {
        SocketAddr::V6(_) => socket.set_unicast_hops_v6(hops).ok()?,
        SocketAddr::V4(_) => socket.set_ttl_v4(hops).ok()?,
    }
    match socket.connect_timeout(&to.into(), patience) {
        Ok(()) => Some(true),
        Err(error) => match error.kind() {
            ErrorKind::TimedOut | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
                Some(false)
            }
            _ => None,
        },
    }
}
