//! Which of a server's addresses is used: the first that greets, as RFC 8305 orders the attempts.
//!
//! async-nats tries addresses one after another in the order of the system's resolver, each for
//! seconds. A family whose packets are lost would therefore delay each connection. This race opens
//! a connection to each address in turn, 250 ms apart, and reads the greeting that a NATS server
//! sends unasked, so that an address at which only a handshake of TCP succeeds does not win either.
//! async-nats then connects to the address that won. That is one more connection for each session,
//! since a socket can't be handed over to it.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout};

use super::address::NatsAddress;
use super::greeting::Greeting;
use super::lookup::look_up;
use crate::engine::transport::TransportError;

/// The time after which the next address is tried as well (RFC 8305, section 5).
const DELAY: Duration = Duration::from_millis(250);
/// How long one address may take to greet.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest greeting that is read, in bytes; nats-server's has less than one thousand.
const LONGEST: u64 = 64 << 10;

/// Returns the address that greeted first, and its greeting.
pub(super) async fn find_server(
    server: &NatsAddress,
) -> Result<(SocketAddr, Greeting), TransportError> {
    let silent = |why: String| TransportError::Silent(format!("no NATS server at {server}: {why}"));
    let addresses = look_up(server).await.map_err(silent)?;
    race(&addresses).await.map_err(|failures| silent(failures.join("; ")))
}

async fn race(addresses: &[SocketAddr]) -> Result<(SocketAddr, Greeting), Vec<String>> {
    let mut waiting = addresses.iter().copied();
    let mut attempts = FuturesUnordered::new();
    let mut failures = Vec::new();
    let mut next_at = Instant::now();
    loop {
        if attempts.is_empty() || Instant::now() >= next_at {
            match waiting.next() {
                Some(address) => attempts.push(greet(address)),
                None if attempts.is_empty() => return Err(failures),
                None => {}
            }
            next_at = Instant::now() + DELAY;
        }
        tokio::select! {
            Some(ended) = attempts.next() => match ended {
                Ok(found) => return Ok(found),
                Err(failure) => {
                    failures.push(failure);
                    next_at = Instant::now();
                }
            },
            () = sleep_until(next_at), if waiting.len() > 0 => {}
        }
    }
}

async fn greet(address: SocketAddr) -> Result<(SocketAddr, Greeting), String> {
    match timeout(PATIENCE, read_greeting(address)).await {
        Ok(Ok(greeting)) => Ok((address, greeting)),
        Ok(Err(why)) => Err(format!("{address}: {why}")),
        Err(_) => Err(format!("{address}: no greeting within {} s", PATIENCE.as_secs())),
    }
}

async fn read_greeting(address: SocketAddr) -> Result<Greeting, String> {
    let stream = TcpStream::connect(address).await.map_err(|error| describe(&error))?;
    let mut line = String::new();
    let mut reader = BufReader::new(stream.take(LONGEST));
    reader.read_line(&mut line).await.map_err(|error| describe(&error))?;
    Greeting::read(line.trim_end()).ok_or_else(|| "what listens there is not NATS".to_owned())
}

/// The text of an error of a socket, without its number.
fn describe(error: &std::io::Error) -> String {
    let text = error.to_string();
    let mut letters = text.split(" (os error").next().unwrap_or_default().chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    /// A listener that greets each connection, or never says a word.
    fn listen(address: &str, greeting: Option<&'static str>) -> SocketAddr {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // The other side may have gone.
                let _ = stream.write_all(greeting.unwrap_or_default().as_bytes());
                open.extend(greeting.is_none().then_some(stream));
            }
        });
        address
    }

    fn refusing(address: &str) -> SocketAddr {
        TcpListener::bind(address).unwrap().local_addr().unwrap()
    }

    #[test]
    fn an_address_that_is_silent_does_not_hold_up_the_next() {
        const GREETING: &str = "INFO {\"version\":\"2.14.0\"}\r\n";
        for [silent, good] in [["[::1]:0", "127.0.0.1:0"], ["127.0.0.1:0", "[::1]:0"]] {
            let (silent, good) = (listen(silent, None), listen(good, Some(GREETING)));
            let (winner, greeting) = run(race(&[silent, good])).unwrap();
            assert_eq!((winner, greeting.version.as_str()), (good, "2.14.0"));
        }
    }

    #[test]
    fn reports_the_failure_of_each_address() {
        let [v6, v4] = [refusing("[::1]:0"), listen("127.0.0.1:0", Some("220 mail\r\n"))];
        let failures = run(race(&[v6, v4])).unwrap_err();
        assert_eq!(
            failures,
            [format!("{v6}: connection refused"), format!("{v4}: what listens there is not NATS")]
        );
    }
}
