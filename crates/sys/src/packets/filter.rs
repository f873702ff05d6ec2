//! Which packets the kernel puts into a ring (classic BPF), so that what nobody wants costs nobody's
//! time.

use libc::sock_filter;

const IPV6: u32 = 0x86dd;
const IPV4: u32 = 0x0800;
/// Tags of VLANs that the kernel has not taken out: what is behind them is not looked at.
const TAGS: [u32; 2] = [0x8100, 0x88a8];
const TCP: u32 = 6;
const UDP: u32 = 17;
const ICMP: u32 = 1;
const ICMPV6: u32 = 58;
/// What may stand before TCP in an IPv6 packet: hop-by-hop options, routing, a fragment, AH,
/// destination options.
const BEFORE: [u32; 5] = [0, 43, 44, 51, 60];
/// As many ports fit; with more of them, or none, those of all are taken.
const MOST_PORTS: usize = 32;

/// Where IP begins behind an Ethernet header.
const IP: u32 = 14;

/// Takes `snap` bytes of each packet that is TCP, UDP or ICMP over either family, to or from these
/// ports; what can't be told (fragments, extension headers, inner tags) is taken too.
pub(super) fn wanted(snap: u32, ports: &[u16]) -> Vec<sock_filter> {
    let ports = if ports.len() > MOST_PORTS { &[] } else { ports };
    let mut program = Program(vec![load_at(libc::BPF_H, 12)]);
    program.unless(IPV6, |of| of.ipv6(ports));
    program.unless(IPV4, |of| of.ipv4(ports));
    TAGS.into_iter().for_each(|tag| program.unless(tag, Program::take));
    program.0.push(return_bytes(0));
    // What is to be taken is marked until the length of what is kept is known.
    let taken = |one: &&mut sock_filter| one.code == return_bytes(1).code && one.k == 1;
    program.0.iter_mut().filter(taken).for_each(|one| one.k = snap);
    program.0
}

/// Takes so many bytes of whatever comes.
pub(super) fn accept_all(snap: u32) -> Vec<sock_filter> {
    vec![return_bytes(snap)]
}

struct Program(Vec<sock_filter>);

impl Program {
    fn take(&mut self) {
        self.0.push(return_bytes(1));
    }

    /// What `inner` adds is done where the accumulator is `value`, and passed over where it is not;
    /// it must end with a return in every way through it.
    fn unless(&mut self, value: u32, inner: impl FnOnce(&mut Program)) {
        let at = self.0.len();
        self.0.push(jump(libc::BPF_JEQ, value, 1, 0));
        self.0.push(return_bytes(0));
        inner(self);
        // A conditional jump reaches 255 instructions, this one any.
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
        // A fragment, the first included: others of its packet can't be told by their ports.
        self.0.push(load_at(libc::BPF_H, IP + 6));
        self.0.push(jump(libc::BPF_JSET, 0x3fff, 0, 1));
        self.take();
        // The length of IPv4's header goes to the index.
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

/// So many bytes at a place of the packet.
fn load_at(size: u32, at: u32) -> sock_filter {
    statement(libc::BPF_LD | size | libc::BPF_ABS, at)
}

/// Passes over `yes` or `no` instructions.
fn jump(test: u32, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | test | libc::BPF_K) as u16, jt: yes, jf: no, k }
}

/// Keeps so many bytes; 0: the packet is not taken.
fn return_bytes(bytes: u32) -> sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, bytes)
}
