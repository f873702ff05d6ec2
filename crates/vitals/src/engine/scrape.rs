//! Fetching a page of metrics over HTTP.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use sixmark_http::url::{Host, Scheme, Url};

use sixmark_sys::command_error::CommandError;

/// How long fetching a page may take, from the connect to the last byte, over all its addresses
/// together.
const PATIENCE: Duration = Duration::from_secs(3);
/// The largest page that is accepted, bytes.
const LARGEST: usize = 32 << 20;
/// The number of bytes that are read at once.
const PIECE: usize = 64 << 10;

/// The URL of a page and its addresses.
#[derive(Clone, Debug)]
pub(super) struct PageAddress {
    pub(super) url: Url,
    addresses: Vec<SocketAddr>,
}

impl PageAddress {
    /// Resolves the URL's host.
    ///
    /// # Errors
    /// Returns an error if the URL is not http://, or if its host can't be resolved.
    pub(super) fn find(url: Url) -> Result<PageAddress, CommandError> {
        if url.scheme != Scheme::Http {
            let line = format!("--vitals-from {url}: metrics are fetched only over http://");
            return Err(CommandError::Usage(line));
        }
        let addresses = match &url.host {
            Host::Address(address, _) => vec![SocketAddr::new(*address, url.port)],
            Host::Name(name) => (name.as_str(), url.port)
                .to_socket_addrs()
                .map_err(|error| {
                    CommandError::Measure(format!("--vitals-from {url}: can't resolve: {error}"))
                })?
                .collect(),
        };
        Ok(PageAddress { addresses, url })
    }

    /// Fetches the page.
    ///
    /// # Errors
    /// Returns a one-line reason if no address returns a page.
    pub(super) fn fetch(&self) -> Result<String, String> {
        let until = Instant::now() + PATIENCE;
        let mut failed = "it has no address".to_owned();
        for address in &self.addresses {
            match self.fetch_from(address, until) {
                Ok(page) => return Ok(page),
                Err(error) => failed = error.to_string(),
            }
        }
        Err(failed)
    }

    fn fetch_from(&self, address: &SocketAddr, until: Instant) -> io::Result<String> {
        let mut stream = TcpStream::connect_timeout(address, time_left(until)?)?;
        stream.set_write_timeout(Some(time_left(until)?))?;
        // HTTP/1.0, so that the response is not chunked and ends with the connection.
        let (path, authority) = (&self.url.path, self.url.authority());
        let request = format!(
            "GET {path} HTTP/1.0\r\nHost: {authority}\r\nAccept: text/plain\r\n\
             User-Agent: sixmark\r\nConnection: close\r\n\r\n"
        );
        // The request is one segment: an exporter that reads only once would otherwise see a part
        // of it.
        stream.write_all(request.as_bytes())?;
        let (mut answer, mut piece) = (Vec::new(), vec![0; PIECE]);
        loop {
            stream.set_read_timeout(Some(time_left(until)?))?;
            match stream.read(&mut piece) {
                Ok(0) => return body(&answer),
                Ok(count) if answer.len() + count > LARGEST => {
                    return Err(io::Error::other("its page is larger than 32 MiB"));
                }
                Ok(count) => answer.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(late()),
                Err(error) => return Err(error),
            }
        }
    }
}

fn time_left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(late()) } else { Ok(left) }
}

fn late() -> io::Error {
    io::Error::other(format!("no complete page within {} s", PATIENCE.as_secs()))
}

fn body(answer: &[u8]) -> io::Result<String> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut fields);
    let odd = |_| io::Error::other("the answer is not HTTP");
    let httparse::Status::Complete(length) = head.parse(answer).map_err(odd)? else {
        return Err(io::Error::other("its answer was cut short"));
    };
    match head.code {
        Some(200) => {
            let body = answer.get(length..).unwrap_or_default();
            Ok(String::from_utf8_lossy(body).into_owned())
        }
        Some(421) => Err(io::Error::other(
            "it does not know this name (status 421): --prometheus-host adds one there",
        )),
        code => Err(io::Error::other(format!("it answers with status {}", code.unwrap_or(0)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that never ends and is sent one byte at a time.
    #[test]
    fn a_page_that_drips_ends_after_its_time() {
        let listener = std::net::TcpListener::bind("[::1]:0").unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        let place = PageAddress::find(url.parse().unwrap()).unwrap();
        let drip = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // Until the client has closed the connection.
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        assert_eq!(place.fetch().unwrap_err(), "no complete page within 3 s");
        drip.join().unwrap();
    }

    #[test]
    fn a_page_is_what_follows_a_good_head() {
        assert_eq!(body(b"HTTP/1.0 200 OK\r\nA: b\r\n\r\nup 1\n").unwrap(), "up 1\n");
        for (answer, why) in [
            (&b"HTTP/1.1 404 Not Found\r\n\r\n"[..], "404"),
            (b"HTTP/1.1 421 Misdirected Request\r\n\r\n", "--prometheus-host"),
            (b"HTTP/1.1 200", "cut short"),
            (b"SSH-2.0-x\r\n\r\n", "not HTTP"),
        ] {
            assert!(body(answer).unwrap_err().to_string().contains(why));
        }
    }
}
