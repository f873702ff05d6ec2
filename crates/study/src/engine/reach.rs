//! Whether servers that the study does not start answer as its cells need.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use sixmark_http::url::Url;
use sixmark_lab::plan::storage::server;
use sixmark_sys::command_error::CommandError;
use sixmark_units::family::Family;

use super::elsewhere::addresses_of;
use super::files::wanted;
use sixmark_clients::client::Client;
use sixmark_design::spec::command_line::CellTarget;
use sixmark_design::spec::{PlannedCell, Study};

/// How long connecting may take, and then the head of the response.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest head of a response.
const HEAD: usize = 16 << 10;

/// A request of the cells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Probed {
    url: String,
    family: Option<Family>,
    /// Whether it is a GET over plain HTTP, so that its response can be checked.
    is_get: bool,
}

/// Checks that every URL of the cells is reached over each of its families, and that each generated
/// file is served with its size.
///
/// # Errors
/// One line that names every URL that does not answer as it must.
pub(super) fn check_reach(study: &Study, cells: &[PlannedCell<'_>]) -> Result<(), CommandError> {
    let files = wanted(study, cells)?;
    let sizes: BTreeMap<String, u64> =
        files.into_iter().map(|(name, (size, _))| (format!("/{name}"), size)).collect();
    let all: BTreeSet<Probed> = cells.iter().flat_map(|cell| of_cell(study, cell)).collect();
    let wrong = all.iter().filter_map(|one| one.lacks(&sizes));
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(CommandError::Measure(format!(
            "the servers elsewhere do not answer as the study needs: {}",
            wrong.join("; ")
        )))
    }
}

fn of_cell(study: &Study, cell: &PlannedCell<'_>) -> Vec<Probed> {
    let Ok(target) = CellTarget::new(study, cell, |name| study.likely_urls(name)) else {
        return Vec::new();
    };
    let sends = ["method", "body", "body-file"].iter().any(|key| cell.setting(key).is_some());
    let is_get = |url: &str| url.starts_with("http://") && cell.client() != Client::Fio && !sends;
    let probed = |url: String| Probed { is_get: is_get(&url), url, family: target.family };
    target.urls.clone().into_iter().map(probed).collect()
}

impl Probed {
    /// Returns what is wrong, in a clause; `None` if all is well.
    fn lacks(&self, sizes: &BTreeMap<String, u64>) -> Option<String> {
        let Ok(url) = server(&self.url) else {
            return Some(format!("'{}' is not a URL", self.url));
        };
        let asked = self.family.map_or(Family::BOTH.to_vec(), |only| vec![only]);
        let all = match addresses_of(&url, &asked) {
            Ok(all) => all,
            Err(why) => return Some(format!("{}: {why}", self.url)),
        };
        let families = Family::BOTH.into_iter().filter(|family| match self.family {
            Some(only) => only == *family,
            // A name has both; an address is of one.
            None => all.len() != 1 || Family::of(all[0].ip()) == *family,
        });
        families.into_iter().find_map(|family| {
            let Some(address) = all.iter().find(|one| Family::of(one.ip()) == family) else {
                return Some(format!("{} has no address of {family}", self.url));
            };
            self.lacks_at(&url, *address, sizes)
        })
    }

    fn lacks_at(
        &self,
        url: &Url,
        address: SocketAddr,
        sizes: &BTreeMap<String, u64>,
    ) -> Option<String> {
        let stream = match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => stream,
            Err(error) => return Some(format!("{} can't be reached: {error}", self.url)),
        };
        if !self.is_get {
            return None;
        }
        let path = url.path.split('?').next().unwrap_or_default();
        let wanted = sizes.get(path).copied();
        match ask(stream, url) {
            Err(error) => Some(format!("{} does not answer: {error}", self.url)),
            Ok((404, _)) => Some(format!("{} answers 404: serve it there", self.url)),
            Ok((status @ 400.., _)) if wanted.is_some() => {
                Some(format!("{} answers {status}", self.url))
            }
            Ok((_, Some(size))) if wanted.is_some_and(|wanted| wanted != size) => {
                let wanted = wanted.unwrap_or_default();
                Some(format!("{} has {size} bytes, the study's file {wanted}", self.url))
            }
            Ok(_) => None,
        }
    }
}

/// Sends a GET. Returns the status and the length of the content, if the head says it.
fn ask(mut stream: TcpStream, url: &Url) -> std::io::Result<(u16, Option<u64>)> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let deadline = Instant::now() + PATIENCE;
    let (path, host) = (&url.path, url.authority());
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let (mut head, mut piece) = (Vec::new(), [0; 2048]);
    while head.len() < HEAD && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        // A timeout of 0 would be none.
        let left = deadline.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut piece)? {
            0 => break,
            n => head.extend(piece.iter().take(n)),
        }
    }
    read_head(&String::from_utf8_lossy(&head))
        .ok_or_else(|| std::io::Error::other("its response is not one of HTTP/1.1"))
}

fn read_head(text: &str) -> Option<(u16, Option<u64>)> {
    let mut lines = text.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()?;
    let length = lines.take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Some((status, length))
}

#[cfg(test)]
mod tests {
    use super::read_head;

    #[test]
    fn reads_the_status_and_content_length_of_a_response_head() {
        let head = "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length: 12\r\n\r\nContent-Length: 3";
        assert_eq!(read_head(head), Some((200, Some(12))));
        assert_eq!(read_head("HTTP/1.0 404 No\r\n\r\n"), Some((404, None)));
        assert_eq!(read_head("SSH-2.0"), None);
    }
}
