//! Two network namespaces and a link between them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::{Command, Output};
use std::time::Instant;

use sixmark_lab::emulator::Emulator;
use sixmark_lab::impairment::Impairment;
use sixmark_sys::netns::NetNs;
use sixmark_sys::tap::Tap;
use sixmark_units::family::Family;

use crate::DEADLINE;

/// The name of the interface in both namespaces.
const INTERFACE: &str = "wire";

/// Two hosts, numbered 0 and 1, and the link that joins them.
#[derive(Debug)]
pub struct Pair {
    /// The namespaces of host 0 and host 1.
    pub hosts: [NetNs; 2],
    /// The emulator that carries frames between them.
    pub link: Emulator,
}

impl Pair {
    /// Creates a pair with both ends up and with addresses of both families.
    pub fn up(there: &Impairment, back: &Impairment, seed: u64) -> Pair {
        let pair = Pair::down(there, back, seed);
        [0, 1].into_iter().for_each(|host| pair.set_up(host));
        [0, 1].into_iter().for_each(|host| pair.introduce(host));
        [0, 1].into_iter().for_each(|host| pair.settle(host));
        pair
    }

    /// Waits until a host accepts packets for its IPv6 address. The kernel creates the local route
    /// some time after the interface is up and drops earlier packets.
    fn settle(&self, host: usize) {
        let own = format!("route get {}", address(host, Family::Ipv6));
        let end = Instant::now() + DEADLINE;
        while !self.try_ip(host, &own).stdout.starts_with(b"local") {
            assert!(Instant::now() < end, "{own} finds no route of host {host}");
        }
    }

    /// Adds a permanent neighbour entry for the other end. On a link with loss, a lost neighbour
    /// solicitation or ARP request would make the kernel drop the packets that wait for the reply,
    /// so that the link would carry fewer packets than were sent.
    fn introduce(&self, host: usize) {
        let other = 1 - host;
        for family in Family::BOTH {
            let (ip, mac) = (address(other, family), mac(other));
            self.ip(
                host,
                &format!("neigh replace {ip} lladdr {mac} dev {INTERFACE} nud permanent"),
            );
        }
    }

    /// Creates a pair with both ends down and without addresses.
    pub fn down(there: &Impairment, back: &Impairment, seed: u64) -> Pair {
        let hosts = [(); 2].map(|()| NetNs::create().expect("this needs root"));
        let tap = |host: &NetNs| host.within(|| Tap::create(INTERFACE)).unwrap();
        let [a, b] = [tap(&hosts[0]), tap(&hosts[1])];
        let link = Emulator::start("test", a, b, there, back, seed).unwrap();
        Pair { hosts, link }
    }

    /// Assigns the addresses of one end and brings it up.
    pub fn set_up(&self, host: usize) {
        for family in Family::BOTH {
            let (address, flags) = match family {
                Family::Ipv6 => (format!("{}/64", address(host, family)), " nodad"),
                Family::Ipv4 => (format!("{}/24", address(host, family)), ""),
            };
            self.ip(host, &format!("addr add {address} dev {INTERFACE}{flags}"));
        }
        self.ip(host, &format!("link set {INTERFACE} address {}", mac(host)));
        self.ip(host, "link set lo up");
        self.ip(host, &format!("link set {INTERFACE} up"));
    }

    /// Deletes the interface of one end.
    pub fn delete(&self, host: usize) {
        self.ip(host, &format!("link delete {INTERFACE}"));
    }

    /// Runs `work` in a host's namespace.
    pub fn within<T: Send>(&self, host: usize, work: impl FnOnce() -> io::Result<T> + Send) -> T {
        self.hosts[host].within(work).unwrap()
    }

    fn ip(&self, host: usize, words: &str) {
        let output = self.try_ip(host, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "ip {words}: {said}");
    }

    fn try_ip(&self, host: usize, words: &str) -> Output {
        self.within(host, || Command::new("ip").args(words.split(' ')).output())
    }
}

/// Returns a host's address.
pub fn address(host: usize, family: Family) -> IpAddr {
    let last = host as u16 + 1;
    match family {
        Family::Ipv6 => Ipv6Addr::new(0xfd00, 0x6446, 0, 0, 0, 0, 0, last).into(),
        Family::Ipv4 => Ipv4Addr::new(10, 64, 46, last as u8).into(),
    }
}

/// Returns a host's MAC address.
fn mac(host: usize) -> String {
    format!("02:00:00:00:64:{:02x}", host + 1)
}

/// Returns a host's address with port 0.
pub fn any(host: usize, family: Family) -> SocketAddr {
    SocketAddr::new(address(host, family), 0)
}
