//! `/dynamic`: a page that costs the server CPU time for each request, as a small application
//! would. The work is the same for every request; its results depend on the query and headers.

use std::fmt::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hyper::Request;
use sixmark_units::family::Family;

/// The upper limit of the primes.
const LIMIT: usize = 1 << 16;
const ROWS: usize = 100;
/// The number of hash rounds per row.
const ROUNDS: usize = 200;

/// Renders the page for a request that came from `peer`.
pub(super) fn dynamic_page<B>(request: &Request<B>, peer: SocketAddr) -> String {
    let mut page = String::with_capacity(8 * 1024);
    write_head(&mut page, request, peer);
    headers(&mut page, request);
    primes(&mut page, seed(request));
    page.push_str("</body></html>\n");
    page
}

fn write_head<B>(page: &mut String, request: &Request<B>, peer: SocketAddr) {
    let (family, address) = (Family::of(peer.ip()), peer.ip().to_canonical());
    let query = escape(request.uri().query().unwrap_or(""));
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <title>sixmark origin</title></head><body>\n<h1>Dynamic page</h1>\n\
         <p>You are <code>{address}</code> port {port}, over {family}.</p>\n\
         <p>Query: <code>{query}</code></p>\n",
        port = peer.port(),
    );
}

fn headers<B>(page: &mut String, request: &Request<B>) {
    page.push_str("<table><tr><th>Header</th><th>Value</th></tr>\n");
    for (name, value) in request.headers() {
        let value = escape(&String::from_utf8_lossy(value.as_bytes()));
        let _ = writeln!(page, "<tr><td>{name}</td><td>{value}</td></tr>");
    }
    page.push_str("</table>\n");
}

fn primes(page: &mut String, seed: u64) {
    page.push_str("<table><tr><th>Prime</th><th>Hash</th></tr>\n");
    let primes = sieve();
    // The remainder is less than the number of primes. `max` only avoids a division by zero if
    // there were none.
    let start = (seed % primes.len().max(1) as u64) as usize;
    for prime in primes.iter().cycle().skip(start).take(ROWS) {
        let hash = (0..ROUNDS).fold(seed, |hash, _| fnv(hash, &prime.to_le_bytes()));
        let _ = writeln!(page, "<tr><td>{prime}</td><td>{hash:016x}</td></tr>");
    }
    page.push_str("</table>\n");
}

/// Returns the primes below `LIMIT`, computed with the sieve of Eratosthenes.
fn sieve() -> Vec<u32> {
    let mut composite = vec![false; LIMIT];
    let mut primes = Vec::new();
    for n in 2..LIMIT {
        if !composite[n] {
            primes.push(n as u32);
            (n * n..LIMIT).step_by(n).for_each(|multiple| composite[multiple] = true);
        }
    }
    primes
}

fn seed<B>(request: &Request<B>) -> u64 {
    let start = fnv(0xcbf2_9ce4_8422_2325, request.uri().query().unwrap_or("").as_bytes());
    request.headers().iter().fold(start, |seed, (name, value)| {
        fnv(fnv(seed, name.as_str().as_bytes()), value.as_bytes())
    })
}

/// Continues the 64-bit FNV-1a hash `hash` with these bytes.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Keeps this thread busy for `time`. The delay is accurate to a few microseconds, unlike that of a
/// timer.
pub(super) fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(target: &str, agent: &str, peer: &str) -> String {
        let request = Request::get(target).header("user-agent", agent).body(()).unwrap();
        dynamic_page(&request, peer.parse().unwrap())
    }

    #[test]
    fn the_sieve_finds_the_primes() {
        let primes = sieve();
        assert_eq!(primes[..5], [2, 3, 5, 7, 11]);
        // pi(65536), OEIS A007053.
        assert_eq!(primes.len(), 6542);
    }

    #[test]
    fn the_same_request_gives_the_same_page_and_another_gives_another() {
        let page = render("/dynamic?a=1", "x", "[::1]:7");
        assert_eq!(page, render("/dynamic?a=1", "x", "[::1]:7"));
        assert_ne!(page, render("/dynamic?a=2", "x", "[::1]:7"));
        assert_ne!(page, render("/dynamic?a=1", "y", "[::1]:7"));
    }

    #[test]
    fn the_page_tells_the_client_its_address_and_family() {
        for (peer, told) in [
            ("[2001:db8::7]:9", "<code>2001:db8::7</code> port 9, over IPv6."),
            ("192.0.2.7:9", "<code>192.0.2.7</code> port 9, over IPv4."),
            ("[::ffff:192.0.2.7]:9", "<code>192.0.2.7</code> port 9, over IPv4."),
        ] {
            assert!(render("/dynamic", "x", peer).contains(told), "{peer}");
        }
    }

    #[test]
    fn escapes_client_input_in_the_page() {
        let page = render("/dynamic?a&b", "<script>&\"", "[::1]:7");
        assert!(!page.contains("<script>"), "{page}");
        assert!(page.contains("&lt;script&gt;&amp;&quot;"), "{page}");
        assert!(page.contains("<code>a&amp;b</code>"), "{page}");
    }
}
