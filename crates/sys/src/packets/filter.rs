//! The packet filter of a ring (classic BPF). The kernel does not copy packets that the filter
//! rejects.

use libc::sock_filter;

const IPV6: u32 = 0x86dd;
const IPV4: u32 = 0x0800;
/// The TPIDs of VLAN tags that the kernel has not removed. The filter does not look behind them.
const TAGS: [u32; 2] = [0x8100, 0x88a8];
const TCP: u32 = 6;
const UDP: u32 = 17;
const ICMP: u32 = 1;
const ICMPV6: u32 = 58;
/// The headers that may precede TCP in an IPv6 packet: hop-by-hop options, routing, fragment, AH,
/// destination options.
const BEFORE: [u32; 5] = [0, 43, 44, 51, 60];
/// The maximum number of ports in a filter. With more ports, or none, all ports are accepted.
const MOST_PORTS: usize = 32;

/// The offset of the IP header behind an Ethernet header.
const IP: u32 = 14;

/// Returns a filter that accepts `snap` bytes of each TCP, UDP or ICMP packet of either family, to
/// or from these ports. Packets that it cannot classify (fragments, extension headers, inner tags)
/// are accepted too.
pub(super) fn wanted(snap: u32, ports: &[u16]) -> Vec<sock_filter> {
    let ports = if ports.len() > MOST_PORTS { &[] } else { ports };
    let mut program = Program(vec![load_at(libc::BPF_H, 12)]);
    program.unless(IPV6, |of| of.ipv6(ports));
    program.unless(IPV4, |of| of.ipv4(ports));
    TAGS.into_iter().for_each(|tag| program.unless(tag, Program::take));
    program.0.push(return_bytes(0));
    // Accepting returns have the placeholder 1 until here, where it is replaced by the number of
    // bytes to keep.
    let taken = |one: &&mut sock_filter| one.code == return_bytes(1).code && one.k == 1;
    program.0.iter_mut().filter(taken).for_each(|one| one.k = snap);
    program.0
}

/// Returns a filter that accepts `snap` bytes of every packet.
pub(super) fn accept_all(snap: u32) -> Vec<sock_filter> {
    vec![return_bytes(snap)]
}

struct Program(Vec<sock_filter>);

impl Program {
    fn take(&mut self) {
        self.0.push(return_bytes(1));
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
        for protocol in [TCP, UDP] {
            self.unless(protocol, |of| of.ports4(ports));
        }
        self.0.push(return_bytes(0));
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
        for protocol in [TCP, UDP] {
            self.unless(protocol, |of| of.ports(ports, libc::BPF_ABS, IP + 40));
        }
        BEFORE.into_iter().for_each(|header| self.unless(header, Program::take));
        self.0.push(return_bytes(0));
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
