//! Fetching a page of metrics over HTTP.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use sixmark_http::http1::request::{Manner, encode_request};
use sixmark_http::http1::{Complete, Http1Violation, KnownHead, ResponseReader, ResponseVisitor};
use sixmark_http::url::{Host, Scheme, Url};
use sixmark_names::look_up_any;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::interface::in_zone;

/// How long fetching a page may take, from the connect to the last byte, over all its addresses
/// together.
const PATIENCE: Duration = Duration::from_secs(3);
/// The largest answer that is accepted, with its head and framing, bytes.
const LARGEST: usize = 8 << 20;
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
    /// Returns an error if the URL is not http://, if its host can't be resolved, or if this host
    /// has no interface of that zone.
    pub(super) fn find(url: Url) -> Result<PageAddress, CommandError> {
        if url.scheme != Scheme::Http {
            let line = format!("--vitals-from {url}: metrics are fetched only over http://");
            return Err(CommandError::Usage(line));
        }
        let addresses = match &url.host {
            Host::Address(address, zone) => {
                let found = in_zone(*address, zone.as_deref(), url.port);
                let wrong = |why| CommandError::Usage(format!("--vitals-from {url}: {why}"));
                vec![found.map_err(wrong)?]
            }
            Host::Name(name) => {
                let found = look_up_any(name).map_err(|why| {
                    CommandError::Measure(format!("--vitals-from {url}: can't resolve: {why}"))
                })?;
                found.into_iter().map(|address| SocketAddr::new(address, url.port)).collect()
            }
        };
        Ok(PageAddress { addresses, url })
    }

    /// Returns the addresses from which the page is fetched.
    pub(super) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
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
        // The request is one segment: an exporter that reads only once would otherwise see a part
        // of it.
        stream.write_all(&self.request())?;
        let (mut page, mut piece) = (PageReader::default(), vec![0; PIECE]);
        loop {
            stream.set_read_timeout(Some(time_left(until)?))?;
            let done = match stream.read(&mut piece) {
                Ok(0) => Some(page.end()?),
                Ok(count) => page.read(&piece[..count])?,
                Err(error) if error.kind() == ErrorKind::Interrupted => None,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(late()),
                Err(error) => return Err(error),
            };
            if let Some(page) = done {
                return Ok(page);
            }
        }
    }

    fn request(&self) -> Vec<u8> {
        let accept = [("Accept".to_owned(), "text/plain".to_owned())];
        let last = Manner { old: false, last: true };
        encode_request("GET", &self.url.path, &self.url.authority(), &accept, None, last)
    }
}

/// Reads the answer with the page.
#[derive(Debug, Default)]
struct PageReader {
    reader: ResponseReader,
    known: KnownHead,
    received: usize,
    content: PageContent,
}

/// The content read so far.
#[derive(Debug, Default)]
struct PageContent(Vec<u8>);

impl ResponseVisitor for PageContent {
    fn field(&mut self, _: &[u8], _: &[u8]) {}

    fn content(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

impl PageReader {
    /// Reads the next bytes. Returns the page if they complete it.
    fn read(&mut self, bytes: &[u8]) -> io::Result<Option<String>> {
        self.received = self.received.saturating_add(bytes.len());
        if self.received > LARGEST {
            return Err(io::Error::other("its page is larger than 8 MiB"));
        }
        let fed = self.reader.feed_seeing(bytes, &mut self.known, &mut self.content);
        let fed = fed.map_err(|violation| io::Error::other(what_is_odd(violation)))?;
        fed.complete.map(|complete| self.page(complete)).transpose()
    }

    /// Returns the page, after the server has ended the connection.
    fn end(&mut self) -> io::Result<String> {
        let short = |_| io::Error::other("its answer was cut short");
        let complete = self.reader.finish().map_err(short)?;
        self.page(complete)
    }

    fn page(&self, complete: Complete) -> io::Result<String> {
        match complete.status {
            200 => Ok(String::from_utf8_lossy(&self.content.0).into_owned()),
            421 => Err(io::Error::other(
                "it does not know this name (status 421): --prometheus-host adds one there",
            )),
            status => Err(io::Error::other(format!("it answers with status {status}"))),
        }
    }
}

fn what_is_odd(violation: Http1Violation) -> String {
    match violation {
        Http1Violation::NotHttp => "the answer is not HTTP".to_owned(),
        other => format!("its answer is not valid HTTP: {other}"),
    }
}

fn time_left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(late()) } else { Ok(left) }
}

fn late() -> io::Error {
    io::Error::other(format!("no complete page within {} s", PATIENCE.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that never ends and is sent one byte at a time.
    #[test]
    fn gives_up_a_slowly_sent_page_after_the_timeout() {
        let listener = std::net::TcpListener::bind("[::1]:0").unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        let place = PageAddress::find(url.parse().unwrap()).unwrap();
        let drip = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            // Until the client has closed the connection.
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        assert_eq!(place.fetch().unwrap_err(), "no complete page within 3 s");
        drip.join().unwrap();
    }

    /// Reads an answer byte by byte, after which the connection ends.
    fn read(answer: &[u8]) -> io::Result<String> {
        let mut page = PageReader::default();
        for byte in answer {
            if let Some(page) = page.read(&[*byte])? {
                return Ok(page);
            }
        }
        page.end()
    }

    #[test]
    fn reads_the_page_of_a_valid_response_and_rejects_others() {
        for answer in [
            "HTTP/1.0 200 OK\r\nA: b\r\n\r\nup 1\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nup 1\nmore",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n3\r\n 1\n\r\n0\r\n\r\n",
            "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nup 1\n",
        ] {
            assert_eq!(read(answer.as_bytes()).unwrap(), "up 1\n", "{answer:?}");
        }
        for (answer, why) in [
            (&b"HTTP/1.1 404 Not Found\r\n\r\n"[..], "404"),
            (b"HTTP/1.1 421 Misdirected Request\r\n\r\n", "--prometheus-host"),
            (b"HTTP/1.1 200", "cut short"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nup", "cut short"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nup", "invalid Content-Length"),
            (b"SSH-2.0-x\r\n\r\n", "not HTTP"),
            (b"", "cut short"),
        ] {
            let said = read(answer).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn stops_reading_a_response_that_is_too_large() {
        let mut page = PageReader::default();
        page.read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        // One byte of content in each chunk: the framing counts as well.
        let chunks = b"1\r\nx\r\n".repeat(1 << 20);
        let failed = (0..100).find_map(|_| page.read(&chunks).err()).unwrap();
        assert_eq!(failed.to_string(), "its page is larger than 8 MiB");
        assert!(page.content.0.len() < LARGEST);
    }

    /// The server asks for HTTP/1.1 with a Host and keeps its connections open.
    #[test]
    fn completes_a_page_before_the_connection_closes() {
        for page in [
            "Content-Length: 5\r\n\r\nup 1\n",
            "Transfer-Encoding: chunked\r\n\r\n5\r\nup 1\n\r\n0\r\n\r\n",
        ] {
            let listener = std::net::TcpListener::bind("[::1]:0").unwrap();
            let at = listener.local_addr().unwrap();
            let url = format!("http://{at}/metrics?x=y");
            let place = PageAddress::find(url.parse().unwrap()).unwrap();
            let serve = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = vec![0; 4_096];
                let length = stream.read(&mut request).unwrap();
                write!(stream, "HTTP/1.1 200 OK\r\n{page}").unwrap();
                // Until the client has closed the connection.
                while stream.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
                String::from_utf8(request[..length].to_vec()).unwrap()
            });
            assert_eq!(place.fetch().unwrap(), "up 1\n");
            let request = serve.join().unwrap();
            let head = format!("GET /metrics?x=y HTTP/1.1\r\nHost: {at}\r\n");
            assert!(request.starts_with(&head), "{request}");
            assert!(request.contains("\r\nConnection: close\r\n"), "{request}");
        }
    }
}
