//! Servers that speak another version of QUIC.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::thread::JoinHandle;

use sixmark_testkit::json;

/// QUIC version 2 (RFC 9369), which sixmark does not speak.
const OTHER: u32 = 0x6b33_43cf;
/// A datagram shorter than any of QUIC's.
const STOP: &[u8] = b"stop";

/// A server that answers all that begins a connection by naming the version that it would have.
struct Other {
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Other {
    fn start(own: IpAddr) -> Other {
        let socket = UdpSocket::bind((own, 0)).unwrap();
        let address = socket.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 2_048];
            loop {
                let (count, from) = socket.recv_from(&mut buffer).unwrap();
                if &buffer[..count] == STOP {
                    break;
                }
                socket.send_to(&negotiation(&buffer[..count]), from).unwrap();
            }
        });
        Other { address, thread: Some(thread) }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let own: IpAddr = match self.address.ip() {
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        };
        UdpSocket::bind((own, 0)).unwrap().send_to(STOP, self.address).unwrap();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A Version Negotiation packet (RFC 8999, 6): the connection IDs of the packet that it answers, the
/// other way round, and versions.
fn negotiation(packet: &[u8]) -> Vec<u8> {
    let length = usize::from(packet[5]);
    let (to, rest) = packet[6..].split_at(length);
    let (length, rest) = (usize::from(rest[0]), &rest[1..]);
    let from = &rest[..length];
    let mut answer = vec![0x80, 0, 0, 0, 0];
    for id in [from, to] {
        answer.push(id.len() as u8);
        answer.extend(id);
    }
    answer.extend(OTHER.to_be_bytes());
    answer
}

#[test]
fn counts_an_unsupported_quic_version_as_a_protocol_failure() {
    for driver in ["uring", "epoll"] {
        let servers = [Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()].map(Other::start);
        let urls = servers.each_ref().map(|server| format!("https://{}/", server.address));
        let args = ["--http3", "--insecure", "-n", "4", "-c", "1", "-t", "1", "--driver", driver];
        let result = json(&[&args[..], &urls.each_ref().map(String::as_str)].concat());
        for family in ["ipv6", "ipv4"] {
            let figures = &result["families"][family];
            assert_eq!(figures["outcomes"]["PROTOCOL"], 2, "{driver}, {family}: {figures:#}");
            assert_eq!(figures["failures"][0]["phase"], "tls");
            let quic = &figures["quic"];
            assert_eq!([&quic["mismatched"], &quic["connections"]], [2, 0], "{quic:#}");
            assert_eq!(quic["versions"], serde_json::json!({}));
        }
    }
}
