//! Captures of real traffic, made in networks of their own: tcpdump beside the server, whole packets.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use sixmark_lab::impairment::{Effect, Impairment, Loss};
use sixmark_sys::netns::NetNs;
use sixmark_testkit::pair::{self, Pair};
use sixmark_testkit::process::{Process, program};
use sixmark_testkit::wraps::Wrap;
use sixmark_testkit::{DEADLINE, command, finish, signal};
use sixmark_units::family::{Family, PerFamily};
use sixmark_wire::pcap::{self, Format, HEADER, NextRecord, Record};
use tempfile::TempDir;

/// The last that is captured.
const MARK: &[u8] = b"this is the end of the capture";

/// A capture in a file.
pub(super) struct Made {
    pub(super) file: PathBuf,
    /// The servers' ports.
    pub(super) ports: Vec<u16>,
    /// The folder of the file, as long as it is needed.
    _dir: TempDir,
}

/// What joins client and server.
pub(super) enum Link {
    /// A cable between two namespaces, on which the kernel passes packets of up to 64 KiB.
    Cable { client: NetNs, server: NetNs },
    /// The emulator, packets as on a wire.
    Emulated(Pair),
    /// A router between them, with a smaller MTU on the client's side, where packets are captured.
    Routed { client: NetNs, server: NetNs, _router: NetNs },
}

impl Link {
    pub(super) fn cable() -> Link {
        let (client, server) = (host(), host());
        join(&client, "eth", &server, "eth");
        address(&client, "eth", 1, 1);
        address(&server, "eth", 1, 2);
        Link::Cable { client, server }
    }

    /// The same with segments cut up by whoever sends them.
    pub(super) fn plain() -> Link {
        let link = Link::cable();
        for host in [link.client(), link.server()] {
            ip(host, "link set eth gso_max_segs 1");
        }
        link
    }

    /// A tunnel over a cable, by the kernel's own VXLAN; what is captured is on the cable.
    pub(super) fn vxlan() -> Link {
        let (client, server) = (host(), host());
        join(&client, "eth", &server, "eth");
        for (host, own, other) in [(&client, 1, 2), (&server, 2, 1)] {
            ip(host, &format!("addr add 198.51.100.{own}/24 dev eth"));
            ip(host, "link set eth gso_max_segs 1 up");
            let ends = format!("local 198.51.100.{own} remote 198.51.100.{other}");
            ip(host, &format!("link add tunnel type vxlan id 42 dstport 4789 dev eth {ends}"));
            ip(host, "link set tunnel gso_max_segs 1");
            address(host, "tunnel", 1, own);
        }
        Link::Cable { client, server }
    }

    /// What goes either way may get lost, or come late.
    pub(super) fn bad(loss: f64, reorder: f64) -> Link {
        let loss = if loss > 0.0 { Loss::Random(loss) } else { Loss::None };
        let delay = std::time::Duration::from_millis(2);
        let effect = Effect { delay, loss, reorder, ..Effect::default() };
        let families = PerFamily::from_fn(|_| effect);
        let impaired = Impairment { common: effect, families, ..Impairment::default() };
        Link::Emulated(Pair::up(&impaired, &impaired, 6446))
    }

    pub(super) fn routed() -> Link {
        let (client, router, server) = (host(), host(), host());
        join(&client, "eth", &router, "near");
        join(&server, "eth", &router, "far");
        for (host, interface, net, last) in [
            (&client, "eth", 2, 1),
            (&router, "near", 2, 9),
            (&router, "far", 1, 9),
            (&server, "eth", 1, 2),
        ] {
            address(host, interface, net, last);
            ip(host, &format!("link set {interface} gso_max_segs 1"));
        }
        // The server lets routers fragment, who have something to fragment.
        ip(&client, "link set eth mtu 1300");
        ip(&router, "link set near mtu 1300");
        for (host, net) in [(&client, 2), (&server, 1)] {
            ip(host, &format!("route add default via 192.0.{net}.9"));
            ip(host, &format!("route add default via 2001:db8:{net}::9"));
        }
        set(&router, "net/ipv4/ip_forward", "1");
        set(&router, "net/ipv6/conf/all/forwarding", "1");
        set(&server, "net/ipv4/ip_no_pmtu_disc", "1");
        // What the client says it takes would else be what fits.
        set(&client, "net/ipv4/tcp_base_mss", "1460");
        ip(&client, "route change default via 192.0.2.9 advmss 1460");
        Link::Routed { client, server, _router: router }
    }

    pub(super) fn client(&self) -> &NetNs {
        match self {
            Link::Cable { client, .. } | Link::Routed { client, .. } => client,
            Link::Emulated(pair) => &pair.hosts[0],
        }
    }

    pub(super) fn server(&self) -> &NetNs {
        match self {
            Link::Cable { server, .. } | Link::Routed { server, .. } => server,
            Link::Emulated(pair) => &pair.hosts[1],
        }
    }

    /// The server's addresses, IPv6 first.
    pub(super) fn addresses(&self) -> [String; 2] {
        match self {
            Link::Emulated(_) => Family::BOTH.map(|family| pair::address(1, family).to_string()),
            _ => ["2001:db8:1::2", "192.0.1.2"].map(str::to_owned),
        }
    }

    /// Where packets are captured, and on what.
    pub(super) fn vantage(&self) -> (&NetNs, &'static str) {
        match self {
            Link::Cable { server, .. } => (server, "eth"),
            Link::Emulated(pair) => (&pair.hosts[1], "wire"),
            Link::Routed { client, .. } => (client, "eth"),
        }
    }
}

pub(super) fn host() -> NetNs {
    let host = NetNs::create().expect("this needs root");
    ip(&host, "link set lo up");
    host
}

fn join(one: &NetNs, its: &str, other: &NetNs, others: &str) {
    let there = other.as_fd().as_raw_fd();
    let there = format!("/proc/{}/fd/{there}", std::process::id());
    ip(one, &format!("link add {its} type veth peer name {others} netns {there}"));
}

fn address(host: &NetNs, interface: &str, net: u32, last: u32) {
    ip(host, &format!("addr add 2001:db8:{net}::{last}/64 dev {interface} nodad"));
    ip(host, &format!("addr add 192.0.{net}.{last}/24 dev {interface}"));
    ip(host, &format!("link set {interface} up"));
}

pub(super) fn ip(host: &NetNs, words: &str) {
    let output = host.within(|| program("ip").args(words.split(' ')).output()).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {words}: {said}");
}

pub(super) fn set(host: &NetNs, name: &str, value: &str) {
    host.within(|| fs::write(Path::new("/proc/sys").join(name), value)).unwrap();
}

/// tcpdump where a link is looked at.
pub(super) struct Recording<'a> {
    link: &'a Link,
    tcpdump: Process,
    dir: TempDir,
}

impl<'a> Recording<'a> {
    pub(super) fn start(link: &'a Link) -> Recording<'a> {
        let (host, interface) = link.vantage();
        let dir = TempDir::new().unwrap();
        let mut command = program("tcpdump");
        // Not in immediate mode, in which each packet has 256 KiB of the buffer.
        command.args(["-i", interface, "-n", "-U", "-B", "65536"]);
        command.args(["--time-stamp-precision=nano", "-w", "-"]);
        command.stdout(Stdio::from(File::create(dir.path().join("capture")).unwrap()));
        let start = || Ok(Process::start(&mut command, dir.path(), "tcpdump", "tcpdump"));
        let mut tcpdump = host.within(start).unwrap();
        assert!(tcpdump.wait_until_it_says("listening on"), "{}", tcpdump.said());
        Recording { link, tcpdump, dir }
    }

    /// Ends it once all that passed by now is in the file.
    pub(super) fn finish(mut self, ports: Vec<u16>) -> Made {
        let file = self.dir.path().join("capture");
        // Of that which is lost on the way there must be enough.
        let to = (self.link.addresses()[0].clone(), 9);
        let send = || {
            let socket = UdpSocket::bind("[::]:0")?;
            socket.send_to(MARK, (to.0.as_str(), to.1)).map(drop)
        };
        let here = || fs::read(&file).unwrap().windows(MARK.len()).any(|bytes| bytes == MARK);
        let client = self.link.client();
        let came = self.tcpdump.wait_until(|| {
            client.within(send).unwrap();
            here()
        });
        self.tcpdump.stop("INT");
        let said = self.tcpdump.said();
        assert!(came && said.contains("\n0 packets dropped by kernel"), "{said}");
        Made { file, ports, _dir: self.dir }
    }
}

impl Made {
    /// The same without its first packets.
    pub(super) fn without_first(&self, packets: usize) -> Made {
        self.rewritten(|number, frame| if number < packets { vec![] } else { vec![frame.to_vec()] })
    }

    /// The same as it is in tags or in a tunnel, for which not every kernel has the means.
    pub(super) fn wrapped(&self, wrap: &Wrap) -> Made {
        self.rewritten(|_, frame| vec![wrap.frame(frame)])
    }

    /// All frames, with their times.
    pub(super) fn frames(&self) -> Vec<(u64, Vec<u8>)> {
        let all = fs::read(&self.file).unwrap();
        let format = Format::read(&all).unwrap();
        let (mut rest, mut frames) = (&all[HEADER..], Vec::new());
        while let NextRecord::Record(record, behind) = format.next(rest) {
            assert_eq!(record.length as usize, record.bytes.len(), "whole packets are captured");
            frames.push((record.at_ns, record.bytes.to_vec()));
            rest = behind;
        }
        assert!(rest.is_empty());
        frames
    }

    /// Another file, of the frames that are made of each frame, with its number.
    pub(super) fn rewritten(&self, make: impl Fn(usize, &[u8]) -> Vec<Vec<u8>>) -> Made {
        let mut file = pcap::header(262_144, sixmark_wire::Link::Ethernet).to_vec();
        for (number, (at_ns, frame)) in self.frames().iter().enumerate() {
            for bytes in make(number, frame) {
                let record = Record { at_ns: *at_ns, length: bytes.len() as u32, bytes: &bytes };
                pcap::write_record(&record, &mut file);
            }
        }
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("capture");
        fs::write(&path, file).unwrap();
        Made { file: path, ports: self.ports.clone(), _dir: dir }
    }
}

/// sixmark's own server, in the network of its host.
pub(super) struct Origin {
    child: Child,
    /// IPv6 first.
    pub(super) addresses: Vec<SocketAddr>,
}

impl Origin {
    pub(super) fn start(link: &Link, more: &[&str]) -> Origin {
        let [v6, v4] = link.addresses();
        let (v6, v4) = (format!("[{v6}]:0"), format!("{v4}:0"));
        let words = ["origin", "--json", "--listen", &v6, "--listen", &v4];
        let mut command = command(&[&words[..], more].concat());
        let mut child = link.server().within(|| command.spawn()).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let addresses = told["addresses"].as_array().unwrap().iter();
        let of = |url: &str| url.split('/').nth(2).unwrap().parse().unwrap();
        let addresses = addresses.map(|address| of(address["url"].as_str().unwrap())).collect();
        Origin { child, addresses }
    }

    pub(super) fn ports(&self) -> Vec<u16> {
        let mut ports: Vec<u16> = self.addresses.iter().map(SocketAddr::port).collect();
        ports.dedup();
        ports
    }

    pub(super) fn urls(&self, path: &str) -> Vec<String> {
        self.addresses.iter().map(|address| format!("http://{address}{path}")).collect()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        signal(self.child.id(), "TERM");
        let _ = self.child.wait();
    }
}

/// Has the client load.
pub(super) fn load(link: &Link, words: &[&str], urls: &[String]) {
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let mut command = command(&[&["run", "-q", "--timeout", "60s"], words, &urls].concat());
    let output = finish(link.client().within(|| command.spawn()).unwrap());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{said}");
}

/// Has the client do something.
pub(super) fn client<T: Send>(link: &Link, work: impl FnOnce() -> std::io::Result<T> + Send) -> T {
    link.client().within(work).unwrap()
}

/// A connection that asks for something, and how it is left: closed, or open while this lives.
pub(super) fn ask(link: &Link, to: SocketAddr, path: &str, close: bool) -> TcpStream {
    let mut stream = client(link, || TcpStream::connect_timeout(&to, DEADLINE));
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    // In one segment: by the first four bytes alone tshark does not know HTTP on any port.
    let request = format!("GET {path} HTTP/1.1\r\nHost: sixmark.test\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut some = [0; 64];
    stream.read_exact(&mut some).unwrap();
    if close {
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
    stream
}

/// Has curl send its request in its SYN, if the kernel lets it.
pub(super) fn ask_in_syn(link: &Link, url: &str) {
    let mut curl = program("curl");
    curl.args(["-q", "-s", "--tcp-fastopen", "--http1.1", "-o", "/dev/null", url]);
    run(link, &mut curl);
}

/// Has curl fetch this over TLS, by a name.
pub(super) fn secure(link: &Link, name: &str, to: SocketAddr) {
    let mut curl = program("curl");
    let ip = to.ip();
    let ip = if to.is_ipv6() { format!("[{ip}]") } else { ip.to_string() };
    let port = to.port();
    curl.args(["-q", "-s", "-k", "--http1.1", "-o", "/dev/null", "--resolve"]);
    curl.arg(format!("{name}:{port}:{ip}")).arg(format!("https://{name}:{port}/bytes/5000"));
    run(link, &mut curl);
}

fn run(link: &Link, command: &mut Command) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = finish(link.client().within(|| command.spawn()).unwrap());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?} {said}", output.status);
}

/// Has the client send a datagram that does not fit a packet, to nobody.
pub(super) fn large_datagrams(link: &Link) {
    for address in link.addresses() {
        client(link, || {
            let any = if address.contains(':') { "[::]:0" } else { "0.0.0.0:0" };
            UdpSocket::bind(any)?.send_to(&[7; 4_000], (address.as_str(), 9)).map(drop)
        });
    }
}
