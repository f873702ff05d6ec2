//! A web server with its own folder, listening on loopback of both families.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use sixmark_core::family::Family;
use tempfile::TempDir;

use super::process::Process;
use crate::support::DEADLINE;

/// How large `/4k` is.
pub(super) const SIZE: u64 = 4_096;
/// How large `/ssi/page` is, which has `/4k` in its middle.
pub(super) const PAGE: u64 = 3 * SIZE;
/// A port that was free a moment ago may be taken; another try then asks for another.
const TRIES: u32 = 10;

/// What tells one kind of server from another.
pub(super) struct Kind {
    /// Debian's package.
    pub(super) package: &'static str,
    /// What leaves its tests out.
    pub(super) skip: &'static str,
    /// Writes its configuration for a folder and addresses: how to start it.
    pub(super) prepare: fn(&Path, [SocketAddr; 2], &Settings) -> Command,
    /// The number that it gives in its log to the first request on a connection.
    pub(super) first: u64,
    /// Its log is right about the bytes of requests.
    pub(super) counts_requests: bool,
}

/// What a test may choose.
pub(super) struct Settings {
    /// Requests that a connection may carry.
    pub(super) a_connection: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { a_connection: 1_000_000 }
    }
}

/// A running server. It ends when dropped, then its folder goes.
pub(super) struct Server {
    process: Process,
    dir: TempDir,
    addresses: [SocketAddr; 2],
    first: u64,
}

/// What a server's log says of one request.
pub(super) struct Line {
    pub(super) family: Family,
    /// On a connection that had carried none.
    pub(super) first: bool,
    pub(super) status: u16,
    /// Bytes of the request and of the response, heads and framing included.
    pub(super) took: u64,
    pub(super) gave: u64,
}

impl Server {
    pub(super) fn start(kind: &Kind, settings: &Settings) -> Server {
        // The server inherits the limit: thousands of connections are to come.
        sixmark_sys::limit::raise_open_files(8_192).unwrap();
        let mut said = String::new();
        for _ in 0..TRIES {
            match Server::try_start(kind, settings) {
                Ok(server) => return server,
                Err(why) => said = why,
            }
        }
        panic!("{} did not start: {said}", kind.package)
    }

    fn try_start(kind: &Kind, settings: &Settings) -> Result<Server, String> {
        let dir = folder().unwrap();
        let addresses = free_addresses();
        let mut command = (kind.prepare)(dir.path(), addresses, settings);
        let mut process = Process::start(&mut command, dir.path(), kind.package, kind.skip);
        // The name tells that it is this server that answers, not another one on the port.
        let name = dir.path().display().to_string();
        let ready = || {
            let answers = |address| fetch(address, "/name").is_ok_and(|all| all.ends_with(&name));
            addresses.into_iter().all(answers)
        };
        if process.wait_until(ready) {
            Ok(Server { process, dir, addresses, first: kind.first })
        } else {
            let log = fs::read_to_string(dir.path().join("errors")).unwrap_or_default();
            Err(process.said() + &log)
        }
    }

    pub(super) fn address(&self, family: Family) -> SocketAddr {
        let mut both = self.addresses.into_iter();
        both.find(|address| Family::of(address.ip()) == family).unwrap()
    }

    /// The URLs of `path`, IPv6 first.
    pub(super) fn urls(&self, path: &str) -> [String; 2] {
        Family::BOTH.map(|family| format!("http://{}{path}", self.address(family)))
    }

    /// Ends the server and reads its log.
    pub(super) fn into_log(mut self) -> Vec<Line> {
        self.process.stop("TERM");
        let text = fs::read_to_string(self.dir.path().join("log")).unwrap();
        text.lines().filter_map(|line| parse(line, self.first)).collect()
    }
}

/// A folder that a server may read which gave up root's rights, with the files to serve in `www`.
fn folder() -> io::Result<TempDir> {
    let dir = TempDir::new()?;
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755))?;
    let www = dir.path().join("www");
    fs::create_dir_all(www.join("ssi"))?;
    fs::write(www.join("4k"), "x".repeat(SIZE as usize))?;
    let side = "p".repeat(SIZE as usize);
    fs::write(www.join("ssi/page"), format!("{side}<!--#include virtual=\"/4k\" -->{side}"))?;
    fs::write(www.join("name"), dir.path().display().to_string())?;
    Ok(dir)
}

fn free_addresses() -> [SocketAddr; 2] {
    let free = |host: &str| TcpListener::bind((host, 0)).unwrap();
    // Both are held until both are known, since one must not be given twice.
    ["::1", "127.0.0.1"].map(free).map(|listener| listener.local_addr().unwrap())
}

/// A whole response, head and content.
pub(super) fn fetch(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, DEADLINE)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.write_all(
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    Ok(String::from_utf8_lossy(&all).into_owned())
}

/// `PEER NUMBER STATUS TOOK GAVE PATH`; none where it is one that asked whether the server is there.
fn parse(line: &str, first: u64) -> Option<Line> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [peer, number, status, took, gave, path] = words[..] else { panic!("log line {line:?}") };
    let count = |word: &str| word.parse::<u64>().unwrap();
    (path != "/name").then(|| Line {
        family: Family::of(peer.parse::<IpAddr>().unwrap()),
        first: count(number) == first,
        status: status.parse().unwrap(),
        took: count(took),
        gave: count(gave),
    })
}
