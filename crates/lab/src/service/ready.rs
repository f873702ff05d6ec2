//! Checks whether a service is ready.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use crate::plan::services::ReadyCheck;
use crate::plan::storage::server;
use sixmark_http::url::{Host, Url};
use sixmark_names::look_up_any;
use sixmark_sys::interface::in_zone;

/// The maximum time for one check of a URL.
const ANSWER: Duration = Duration::from_secs(2);

/// The parameters of a check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    /// The condition to check.
    pub(super) ready: &'a ReadyCheck,
    /// The URLs of the service, without a path.
    pub(super) urls: &'a [String],
    /// The log of the service.
    pub(super) log: &'a Path,
}

impl Look<'_> {
    /// Returns whether the service is ready, as seen from the calling thread's network.
    pub(super) fn is_ready(&self) -> bool {
        match self.ready {
            ReadyCheck::Line(line) => {
                let said = fs::read(self.log).unwrap_or_default();
                let said = String::from_utf8_lossy(&said);
                // The last line may be incomplete.
                said.rsplit_once('\n')
                    .is_some_and(|(whole, _)| whole.lines().any(|l| l.contains(line)))
            }
            _ => self.urls.iter().all(|url| self.answers(url)),
        }
    }

    fn answers(&self, url: &str) -> bool {
        // Services may speak other protocols than HTTP: only host and port of the URL matter.
        let Ok(url) = server(url) else { return true };
        match self.ready {
            ReadyCheck::Get(path) => get(&url, path).is_some_and(|status| status < 400),
            _ => connect(&url).is_some(),
        }
    }

    /// Returns a description of what a service that is not ready lacks.
    pub(super) fn lacks(&self) -> String {
        if let ReadyCheck::Line(line) = self.ready {
            return format!("it has not printed '{line}'");
        }
        let Some(url) = self.urls.iter().find(|url| !self.answers(url)) else {
            return "it is ready now".to_owned();
        };
        let ReadyCheck::Get(path) = self.ready else { return format!("{url} does not answer") };
        match server(url).ok().and_then(|url| get(&url, path)) {
            Some(status) => format!("{url}{path} answers {status}"),
            None => format!("{url}{path} does not answer"),
        }
    }
}

fn connect(url: &Url) -> Option<TcpStream> {
    let addresses: Vec<SocketAddr> = match &url.host {
        Host::Address(address, zone) => vec![in_zone(*address, zone.as_deref(), url.port).ok()?],
        Host::Name(name) => {
            let found = look_up_any(name).ok()?.into_iter();
            found.map(|address| SocketAddr::new(address, url.port)).collect()
        }
    };
    let open = |address: &SocketAddr| TcpStream::connect_timeout(address, ANSWER).ok();
    addresses.iter().find_map(open)
}

/// Returns the status code of the response to a GET request.
fn get(url: &Url, path: &str) -> Option<u16> {
    let mut stream = connect(url)?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", url.authority());
    stream.write_all(request.as_bytes()).ok()?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok()?;
    std::str::from_utf8(&head).ok()?.strip_prefix("HTTP/1.")?.get(2..)?.parse().ok()
}
