//! The packet filter of a ring (classic BPF). The kernel does not copy packets that the filter
//! rejects.

use libc::sock_filter;

const IPV6: u32 = 0x86dd;
const IPV4: u32 = 0x0800;
/// The EtherTypes of headers before an IP packet that the kernel has not removed: VLAN tags, VN-Tag,
/// MPLS and PPPoE. The filter does not look behind them.
const TAGS: [u32; 8] = [0x8100, 0x88a8, 0x9100, 0x9200, 0x8926, 0x8847, 0x8848, 0x8864];
/// The lowest EtherType. A lower number is a length, behind which may be an EtherType (SNAP).
const LOWEST_TYPE: u32 = 0x600;
const TCP: u32 = 6;
const UDP: u32 = 17;
const ICMP: u32 = 1;
const ICMPV6: u32 = 58;
/// The protocols that carry packets: IPv4, IPv6 and GRE. The filter does not look into them.
const TUNNELS: [u32; 3] = [4, 41, 47];
/// The UDP ports of protocols that carry packets: GTP-U, VXLAN and Geneve.
const TUNNEL_PORTS: [u16; 4] = [2_152, 4_789, 8_472, 6_081];
/// The headers that may precede TCP in an IPv6 packet: hop-by-hop options, routing, fragment, AH,
/// destination options.
const BEFORE: [u32; 5] = [0, 43, 44, 51, 60];
/// The maximum number of ports in a filter. With more ports, or none, all ports are accepted.
const MOST_PORTS: usize = 32;

/// The offset of the IP header behind an Ethernet header.
const IP: u32 = 14;

/// The bytes that are kept of packets of other protocols: enough to see what they are.
const GLANCE: u32 = 96;
/// The placeholders for the bytes that are kept of packets, in full and at a glance.
const FULL_PLACE: u32 = 1;
const GLANCE_PLACE: u32 = 2;

/// Returns a filter that accepts `snap` bytes of each TCP, UDP or ICMP packet of either family, to
/// or from these ports. Packets that it cannot classify (fragments, extension headers, tags,
/// tunnels) are accepted too. Of packets of other protocols, it accepts the beginning.
pub(super) fn wanted(snap: u32, ports: &[u16]) -> Vec<sock_filter> {
    let ports = if ports.len() > MOST_PORTS { &[] } else { ports };
    let mut program = Program(vec![load_at(libc::BPF_H, 12)]);
    program.unless(IPV6, |of| of.ipv6(ports));
    program.unless(IPV4, |of| of.ipv4(ports));
    TAGS.into_iter().for_each(|tag| program.unless(tag, Program::take));
    program.0.push(jump(libc::BPF_JGE, LOWEST_TYPE, 1, 0));
    program.take();
    program.glance();
    let returns = return_bytes(0).code;
    for one in program.0.iter_mut().filter(|one| one.code == returns) {
        one.k = match one.k {
            FULL_PLACE => snap,
            GLANCE_PLACE => snap.min(GLANCE),
            _ => 0,
        };
    }
    program.0
}

/// Returns a filter that accepts `snap` bytes of every packet.
pub(super) fn accept_all(snap: u32) -> Vec<sock_filter> {
    vec![return_bytes(snap)]
}

struct Program(Vec<sock_filter>);

impl Program {
    fn take(&mut self) {
        self.0.push(return_bytes(FULL_PLACE));
    }

    fn glance(&mut self) {
        self.0.push(return_bytes(GLANCE_PLACE));
    }

    /// Adds the instructions of `inner`, to be executed if the accumulator equals `value` and
    /// skipped otherwise. Every path through `inner` must end with a return.
    fn unless(&mut self, value: u32, inner: impl FnOnce(&mut Program)) {
        let at = self.0.len();
        self.0.push(jump(libc::BPF_JEQ, value, 1, 0));
        self.0.push(return_bytes(0));
        inner(self);
        // A conditional jump reaches 255 instructions, an unconditional one any number.
        let over = (self.0.len() - at - 2) as u32;
        self.0[at + 1] = statement(libc::BPF_JMP | libc::BPF_JA, over);
    }

    fn ipv4(&mut self, ports: &[u16]) {
        self.0.push(load_at(libc::BPF_B, IP + 9));
        self.unless(ICMP, Program::take);
        self.unless(TCP, |of| of.ports4(ports));
        self.unless(UDP, |of| of.ports4(&or_tunnels(ports)));
        TUNNELS.into_iter().for_each(|tunnel| self.unless(tunnel, Program::take));
        self.glance();
    }

    fn ports4(&mut self, ports: &[u16]) {
        // Fragments are accepted, including the first one, because the others have no ports to
        // classify them by.
        self.0.push(load_at(libc::BPF_H, IP + 6));
        self.0.push(jump(libc::BPF_JSET, 0x3fff, 0, 1));
        self.take();
        // Loads the length of the IPv4 header into the index register.
        self.0.push(statement(libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH, IP));
        self.ports(ports, libc::BPF_IND, IP);
    }

    fn ipv6(&mut self, ports: &[u16]) {
        self.0.push(load_at(libc::BPF_B, IP + 6));
        self.unless(ICMPV6, Program::take);
        self.unless(TCP, |of| of.ports(ports, libc::BPF_ABS, IP + 40));
        self.unless(UDP, |of| of.ports(&or_tunnels(ports), libc::BPF_ABS, IP + 40));
        TUNNELS.into_iter().for_each(|tunnel| self.unless(tunnel, Program::take));
        BEFORE.into_iter().for_each(|header| self.unless(header, Program::take));
        self.glance();
    }

    fn ports(&mut self, ports: &[u16], mode: u32, at: u32) {
        if ports.is_empty() {
            return self.take();
        }
        for place in [at, at + 2] {
            self.0.push(statement(libc::BPF_LD | libc::BPF_H | mode, place));
            for port in ports {
                self.0.push(jump(libc::BPF_JEQ, u32::from(*port), 0, 1));
                self.take();
            }
        }
        self.0.push(return_bytes(0));
    }
}

/// Returns the ports of UDP to accept: these and those of tunnels, or none if all are accepted.
fn or_tunnels(ports: &[u16]) -> Vec<u16> {
    let tunnels = if ports.is_empty() { &[][..] } else { &TUNNEL_PORTS };
    [ports, tunnels].concat()
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Loads `size` bytes at an offset in the packet.
fn load_at(size: u32, at: u32) -> sock_filter {
    statement(libc::BPF_LD | size | libc::BPF_ABS, at)
}

/// Skips `yes` instructions if the test succeeds, otherwise `no`.
fn jump(test: u32, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | test | libc::BPF_K) as u16, jt: yes, jf: no, k }
}

/// Accepts the given number of bytes of the packet. 0 rejects it.
fn return_bytes(bytes: u32) -> sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, bytes)
}
