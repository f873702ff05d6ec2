//! A web server with a folder of its own, on the loopback addresses of both families.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sixmark_units::family::Family;
use tempfile::TempDir;

use crate::DEADLINE;
use crate::authority::Authority;
use crate::client::{Protocol, Wish, ask};
use crate::process::Process;

/// The size of `/4k` in bytes.
pub const SIZE: u64 = 4_096;
/// The size in bytes of `/ssi/page`, which includes `/4k` in its middle.
pub const PAGE: u64 = 3 * SIZE;
/// The number of attempts to start. A port that was free a moment ago may be taken, so that each
/// attempt chooses new ports.
const TRIES: u32 = 10;
/// The file with the certificate of the authority.
const AUTHORITY: &str = "authority.pem";

/// The properties of a kind of server.
pub struct ServerKind {
    /// Its Debian package.
    pub package: &'static str,
    /// The name that skips its tests in `SIXMARK_SKIP`.
    pub skip: &'static str,
    /// Its protocols in plain text.
    pub plain: &'static [Protocol],
    /// Its protocols over TLS and QUIC.
    pub secure: &'static [Protocol],
    /// Writes the configuration for a site. Returns the commands that start the server.
    pub prepare: fn(&ServerSite<'_>, &ServerSettings) -> Vec<Command>,
    /// The number in its log of the first request on a connection.
    pub first: u64,
    /// Whether its log reports the correct number of bytes of requests.
    pub counts_requests: bool,
}

/// The files and addresses of a server.
pub struct ServerSite<'a> {
    /// The folder of its configuration, certificates and logs. It serves the files in `www`.
    pub dir: &'a Path,
    /// Its addresses for plain text, IPv6 first.
    pub plain: [SocketAddr; 2],
    /// Its addresses for TLS and, if it supports it, HTTP/3, IPv6 first.
    pub secure: [SocketAddr; 2],
}

impl ServerSite<'_> {
    /// Returns the path of its certificate, a PEM file.
    pub fn certificate(&self) -> PathBuf {
        self.dir.join("certificate.pem")
    }

    /// Returns the path of the certificate's key, a PEM file.
    pub fn key(&self) -> PathBuf {
        self.dir.join("key.pem")
    }
}

/// The settings that a test may choose.
pub struct ServerSettings {
    /// The maximum number of requests on a connection.
    pub a_connection: u32,
}

impl Default for ServerSettings {
    fn default() -> ServerSettings {
        ServerSettings { a_connection: 1_000_000 }
    }
}

/// A running server. When this value is dropped, the server is stopped and its folder removed.
pub struct WebServer {
    processes: Vec<Process>,
    dir: TempDir,
    plain: [SocketAddr; 2],
    secure: [SocketAddr; 2],
    first: u64,
}

/// A server's log entry of one request.
pub struct LogLine {
    /// The client's address family.
    pub family: Family,
    /// Whether this is the first request on its connection.
    pub first: bool,
    /// The version of HTTP, for example `HTTP/1.1`.
    pub version: String,
    /// Whether the request was sent over TLS.
    pub secure: bool,
    /// The status code.
    pub status: u16,
    /// The size of the request in bytes, including head and framing.
    pub took: u64,
    /// The size of the response in bytes, including head and framing.
    pub gave: u64,
}

impl WebServer {
    /// Starts a server and waits until it answers over its protocols. Tries again with other ports
    /// if it does not start.
    pub fn start(kind: &ServerKind, settings: &ServerSettings) -> WebServer {
        // The server inherits the limit, which must allow thousands of connections.
        sixmark_sys::limit::raise_open_files(8_192).unwrap();
        let mut said = String::new();
        for _ in 0..TRIES {
            match WebServer::try_start(kind, settings) {
                Ok(server) => return server,
                Err(why) => said = why,
            }
        }
        panic!("{} did not start: {said}", kind.package)
    }

    fn try_start(kind: &ServerKind, settings: &ServerSettings) -> Result<WebServer, String> {
        let dir = folder().unwrap();
        let authority = certify(dir.path());
        let [a, b, c, d] = free_addresses();
        let site = ServerSite { dir: dir.path(), plain: [a, b], secure: [c, d] };
        let start =
            |command: &mut Command| Process::start(command, site.dir, kind.package, kind.skip);
        let mut processes: Vec<Process> =
            (kind.prepare)(&site, settings).iter_mut().map(start).collect();
        // The content of `/name` shows that it is this server that answers, not another one on the
        // port.
        let name = dir.path().display().to_string();
        let answers = |protocol, address, authority| {
            let answer = ask(protocol, address, authority, Wish("GET", "/name", b""));
            answer.is_ok_and(|answer| answer.body == name.as_bytes())
        };
        let ready = || {
            let plain = |&protocol| site.plain.iter().all(|&at| answers(protocol, at, None));
            let secure =
                |&protocol| site.secure.iter().all(|&at| answers(protocol, at, Some(&authority)));
            kind.plain.iter().take(1).all(plain) && kind.secure.iter().take(1).all(secure)
        };
        let (plain, secure) = (site.plain, site.secure);
        if Process::wait_for_all(&mut processes, ready) {
            Ok(WebServer { processes, dir, plain, secure, first: kind.first })
        } else {
            let log = fs::read_to_string(dir.path().join("errors")).unwrap_or_default();
            Err(processes.iter().map(Process::said).collect::<String>() + &log)
        }
    }

    /// Returns its address for plain text.
    pub fn address(&self, family: Family) -> SocketAddr {
        of_family(self.plain, family)
    }

    /// Returns its address for TLS and QUIC.
    pub fn secure_address(&self, family: Family) -> SocketAddr {
        of_family(self.secure, family)
    }

    /// Returns the URLs of `path` over TLS, IPv6 first.
    pub fn secure_urls(&self, path: &str) -> [String; 2] {
        Family::BOTH.map(|family| format!("https://{}{path}", self.secure_address(family)))
    }

    /// Returns the path of the certificate of the authority that signed its own, a PEM file.
    pub fn authority(&self) -> PathBuf {
        self.dir.path().join(AUTHORITY)
    }

    /// Returns the URLs of `path`, IPv6 first.
    pub fn urls(&self, path: &str) -> [String; 2] {
        Family::BOTH.map(|family| format!("http://{}{path}", self.address(family)))
    }

    /// Stops the server and parses its log.
    pub fn into_log(self) -> Vec<LogLine> {
        let first = self.first;
        self.into_text().lines().filter_map(|line| parse(line, first)).collect()
    }

    /// Stops the server and returns the text of its log.
    pub fn into_text(mut self) -> String {
        self.processes.iter_mut().for_each(|process| process.stop("TERM"));
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// Returns the path of a file in its folder.
    pub fn file(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }
}

/// Creates a folder with the files to serve in `www`. It is readable for a server that has dropped
/// root's privileges.
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

/// Writes a certificate signed by a new authority to `dir`. Returns the authority's certificate.
fn certify(dir: &Path) -> String {
    let authority = Authority::create();
    let own = authority.issue(&["localhost", "sixmark.test", "::1", "127.0.0.1"]);
    let texts =
        [("certificate.pem", &own.certificate), ("key.pem", &own.key), (AUTHORITY, &authority.pem)];
    texts.into_iter().for_each(|(name, text)| fs::write(dir.join(name), text).unwrap());
    authority.pem
}

fn of_family(both: [SocketAddr; 2], family: Family) -> SocketAddr {
    both.into_iter().find(|address| Family::of(address.ip()) == family).unwrap()
}

fn free_addresses() -> [SocketAddr; 4] {
    let free = |host: &str| TcpListener::bind((host, 0)).unwrap();
    // All sockets stay open until all ports are known, so that no port is returned twice.
    let held = ["::1", "127.0.0.1", "::1", "127.0.0.1"].map(free);
    held.map(|listener| listener.local_addr().unwrap())
}

/// Fetches a complete response, head and content.
pub fn fetch(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, DEADLINE)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.write_all(
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    Ok(String::from_utf8_lossy(&all).into_owned())
}

/// Parses a log line of the form `PEER NUMBER STATUS TOOK GAVE VERSION TLS PATH`. Returns `None`
/// for a request that checked whether the server is ready.
fn parse(line: &str, first: u64) -> Option<LogLine> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [peer, number, status, took, gave, version, tls, path] = words[..] else {
        panic!("log line {line:?}")
    };
    let count = |word: &str| word.parse::<u64>().unwrap();
    (path != "/name").then(|| LogLine {
        family: Family::of(peer.parse::<IpAddr>().unwrap()),
        first: count(number) == first,
        version: version.to_owned(),
        secure: tls != "-",
        status: status.parse().unwrap(),
        took: count(took),
        gave: count(gave),
    })
}
