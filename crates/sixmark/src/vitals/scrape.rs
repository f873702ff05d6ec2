//! A page of metrics fetched over HTTP.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use sixmark_core::plan::url::{Host, Scheme, Url};

use crate::Error;

/// How long the other side may take for each step.
const PATIENCE: Duration = Duration::from_secs(3);
/// The largest page that is read, bytes.
const LARGEST: u64 = 32 << 20;

/// Where a page is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) url: Url,
    addresses: Vec<SocketAddr>,
}

impl Place {
    /// Finds its addresses.
    ///
    /// # Errors
    /// It is not http://, or its name is unknown.
    pub(super) fn find(url: Url) -> Result<Place, Error> {
        if url.scheme != Scheme::Http {
            let line = format!("--vitals-from {url}: metrics are fetched over http:// alone");
            return Err(Error::Usage(line));
        }
        let addresses = match &url.host {
            Host::Address(address, _) => vec![SocketAddr::new(*address, url.port)],
            Host::Name(name) => (name.as_str(), url.port)
                .to_socket_addrs()
                .map_err(|error| {
                    Error::Measure(format!("--vitals-from {url}: can't resolve: {error}"))
                })?
                .collect(),
        };
        Ok(Place { addresses, url })
    }

    /// The page as it is now.
    ///
    /// # Errors
    /// Nobody answers, or not with a page: in a line.
    pub(super) fn fetch(&self) -> Result<String, String> {
        let mut failed = "it has no address".to_owned();
        for address in &self.addresses {
            match self.fetch_from(address) {
                Ok(page) => return Ok(page),
                Err(error) => failed = error.to_string(),
            }
        }
        Err(failed)
    }

    fn fetch_from(&self, address: &SocketAddr) -> io::Result<String> {
        let mut stream = TcpStream::connect_timeout(address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        // By HTTP/1.0, so that the answer comes in one piece and ends with the connection.
        let (path, authority) = (&self.url.path, self.url.authority());
        write!(
            stream,
            "GET {path} HTTP/1.0\r\nHost: {authority}\r\nAccept: text/plain\r\n\
             User-Agent: sixmark\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = Vec::new();
        stream.take(LARGEST).read_to_end(&mut answer)?;
        body(&answer)
    }
}

fn body(answer: &[u8]) -> io::Result<String> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut fields);
    let odd = |_| io::Error::other("what answers is no HTTP server");
    let httparse::Status::Complete(length) = head.parse(answer).map_err(odd)? else {
        return Err(io::Error::other("its answer was cut short"));
    };
    match head.code {
        Some(200) => {
            let body = answer.get(length..).unwrap_or_default();
            Ok(String::from_utf8_lossy(body).into_owned())
        }
        code => Err(io::Error::other(format!("it answers with status {}", code.unwrap_or(0)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_what_follows_a_good_head() {
        assert_eq!(body(b"HTTP/1.0 200 OK\r\nA: b\r\n\r\nup 1\n").unwrap(), "up 1\n");
        for (answer, why) in [
            (&b"HTTP/1.1 404 Not Found\r\n\r\n"[..], "404"),
            (b"HTTP/1.1 200", "cut short"),
            (b"SSH-2.0-x\r\n\r\n", "no HTTP"),
        ] {
            assert!(body(answer).unwrap_err().to_string().contains(why));
        }
    }
}
