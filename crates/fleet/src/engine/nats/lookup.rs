//! The addresses of a server's name, in the order in which they are tried.

use std::net::SocketAddr;
use std::time::Duration;

use sixmark_names::look_up_any;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::address::{NatsAddress, ServerHost};

/// How long a lookup may take. The system's resolver waits longer for servers that are silent, and
/// can't be interrupted: its thread is left to itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns the addresses of a server, IPv6 first, then families in turn (RFC 8305, section 4).
pub(super) async fn look_up(server: &NatsAddress) -> Result<Vec<SocketAddr>, String> {
    let name = match &server.host {
        ServerHost::Address(address) => return Ok(vec![SocketAddr::new(*address, server.port)]),
        ServerHost::Name(name) => name.clone(),
    };
    let ask = name.clone();
    let lookup = spawn_blocking(move || look_up_any(&ask));
    let failed = |why: &str| format!("can't find the addresses of {name} ({why})");
    match timeout(PATIENCE, lookup).await {
        Err(_) => Err(failed(&format!("no answer within {} s", PATIENCE.as_secs()))),
        Ok(Err(error)) => Err(failed(&error.to_string())),
        Ok(Ok(Err(why))) => Err(failed(&why)),
        Ok(Ok(Ok(found))) => {
            let found = found.into_iter().map(|address| SocketAddr::new(address, server.port));
            Ok(interleave(found.collect()))
        }
    }
}

/// Orders addresses: the first of IPv6, the first of IPv4, the second of IPv6 and so on, each once.
fn interleave(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let mut once: Vec<SocketAddr> = Vec::with_capacity(found.len());
    for address in found {
        if !once.contains(&address) {
            once.push(address);
        }
    }
    let (v6, v4): (Vec<_>, Vec<_>) = once.into_iter().partition(SocketAddr::is_ipv6);
    let longest = v6.len().max(v4.len());
    let turn = |at: usize| [v6.get(at).copied(), v4.get(at).copied()];
    (0..longest).flat_map(turn).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn interleaves_the_families_and_puts_ipv6_first() {
        for (found, ordered) in [
            (
                &["1.1.1.1:1", "1.1.1.2:1", "[::1]:1"][..],
                &["[::1]:1", "1.1.1.1:1", "1.1.1.2:1"][..],
            ),
            (&["[::1]:1", "[::2]:1", "[::1]:1"], &["[::1]:1", "[::2]:1"]),
            (
                &["[::1]:1", "[::2]:1", "1.1.1.1:1", "1.1.1.2:1"],
                &["[::1]:1", "1.1.1.1:1", "[::2]:1", "1.1.1.2:1"],
            ),
        ] {
            assert_eq!(interleave(addresses(found)), addresses(ordered));
        }
    }
}
