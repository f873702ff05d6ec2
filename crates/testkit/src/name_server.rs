//! A name server whose answers the name in the question prescribes, in a network of its own.
//!
//! The first label with a hyphen says what there is for A, then for AAAA: `ok-servfail.example` has
//! an IPv4 address, and the server fails when it is asked for IPv6 addresses. A name with the label
//! `h3` has an HTTPS record that offers HTTP/3.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::thread;

use sixmark_sys::mount::{MountNs, bind_mount};
use sixmark_sys::netns::NetNs;

/// The files of the system's resolver within a network of its own.
#[derive(Clone, Copy, Debug)]
pub struct ResolverFiles<'a> {
    /// `/etc/resolv.conf`.
    pub resolv_conf: &'a str,
    /// `/etc/hosts`.
    pub hosts: &'a str,
    /// The addresses at whose port 53 the name server is.
    pub servers: &'a [&'a str],
}

impl Default for ResolverFiles<'_> {
    /// One server, which has a second to answer. Its name is in no file.
    fn default() -> Self {
        ResolverFiles {
            resolv_conf: "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
            hosts: "127.0.0.1 localhost\n::1 localhost\n",
            servers: &["127.0.0.1:53"],
        }
    }
}

/// Runs `work` in a network that has only loopback and the name server, with these files. It needs
/// root.
pub fn within_names<T: Send>(files: &ResolverFiles<'_>, work: impl FnOnce() -> T + Send) -> T {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        ("hosts", files.hosts),
        ("resolv.conf", files.resolv_conf),
        ("nsswitch.conf", "hosts: files dns\n"),
    ];
    let mounts = MountNs::create(|| {
        for (name, text) in texts {
            let (from, at) = (folder.path().join(name), Path::new("/etc").join(name));
            fs::write(&from, text)?;
            // A machine that has no such file gets an empty one, which is what it amounts to.
            fs::OpenOptions::new().append(true).create(true).open(&at)?;
            bind_mount(&from, &at)?;
        }
        Ok(())
    });
    let mounts = mounts.expect("this needs root");
    let network = NetNs::create().expect("this needs root");
    let inside = || {
        mounts.enter()?;
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
        assert!(up.is_ok_and(|status| status.success()), "this needs root and ip");
        files.servers.iter().for_each(|at| serve_names(at.parse().unwrap()));
        Ok(work())
    };
    network.within(inside).unwrap()
}

/// Answers datagrams on loopback, at a free port, until the process ends, and returns the address. It
/// needs no privilege.
pub fn serve_loopback_names() -> SocketAddr {
    let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = datagrams.local_addr().unwrap();
    answer_datagrams(datagrams);
    at
}

fn answer_datagrams(datagrams: UdpSocket) {
    thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, from)) = datagrams.recv_from(&mut query) {
            if let Some(response) = answer(&query[..length], false) {
                datagrams.send_to(&response, from).ok();
            }
        }
    });
}

/// Answers at this address until the process ends.
fn serve_names(at: SocketAddr) {
    let (datagrams, listener) = (UdpSocket::bind(at).unwrap(), TcpListener::bind(at).unwrap());
    answer_datagrams(datagrams);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // A client that leaves early does not end the others'.
            answer_over_tcp(&mut stream).ok();
        }
    });
}

fn answer_over_tcp(stream: &mut TcpStream) -> io::Result<()> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut query = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut query)?;
    let Some(response) = answer(&query, true) else { return Ok(()) };
    let length = (response.len() as u16).to_be_bytes();
    stream.write_all(&[&length, &response[..]].concat())
}

/// The type of HTTPS records (RFC 9460).
const HTTPS: u16 = 65;

/// Returns a response with an HTTPS record that offers HTTP/3.
fn https_record(query: &[u8], question: &[u8]) -> Vec<u8> {
    let mut response = query[..2].to_vec();
    response.extend([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    response.extend(question);
    // Priority 1, the name itself, and alpn=h3.
    let data = [0, 1, 0, 0, 1, 0, 3, 2, b'h', b'3'];
    response.extend([0xc0, 12, 0, HTTPS as u8, 0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
    response.extend(data);
    response
}

/// Returns the response; `None` for silence.
fn answer(query: &[u8], over_tcp: bool) -> Option<Vec<u8>> {
    let (mut labels, mut at) = (Vec::new(), 12);
    while query[at] > 0 {
        let end = at + 1 + usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..end]).to_lowercase());
        at = end;
    }
    let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
    if kind == HTTPS && labels.iter().any(|label| label == "h3") {
        return Some(https_record(query, &query[12..at + 5]));
    }
    let what = match (labels.iter().find_map(|label| label.split_once('-')), kind) {
        (Some((of_a, _)), 1) => of_a,
        (Some((_, of_aaaa)), 28) => of_aaaa,
        (Some(_), _) => "nodata",
        (None, _) => "nxdomain",
    };
    let cut = what == "truncated" && !over_tcp;
    let (rcode, records) = match what {
        "ok" => (0, 1),
        // More than a datagram of 512 bytes holds, and none in the one that is cut.
        "truncated" => (0, if over_tcp { 60 } else { 0 }),
        "nodata" => (0, 0),
        "formerr" => (1, 0),
        "servfail" => (2, 0),
        "refused" => (5, 0),
        "silent" => return None,
        _ => (3, 0),
    };
    let mut response = query[..2].to_vec();
    response.extend([if cut { 0x83 } else { 0x81 }, 0x80 | rcode, 0, 1, 0, records, 0, 0, 0, 0]);
    response.extend(&query[12..at + 5]);
    let address = match kind {
        1 => Ipv4Addr::LOCALHOST.octets().to_vec(),
        _ => Ipv6Addr::LOCALHOST.octets().to_vec(),
    };
    for _ in 0..records {
        response.extend([0xc0, 12, 0, kind as u8, 0, 1, 0, 0, 0, 60, 0, address.len() as u8]);
        response.extend(&address);
    }
    Some(response)
}
