//! Packets as an interface sends and receives them: a ring that kernel and program share
//! (packet(7), PACKET_RX_RING with TPACKET_V3), so that a packet costs no system call.

mod block;
mod filter;
mod map;

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::time::Duration;

pub use block::{Block, Frame, Frames};

use crate::{check_return, interface};
use map::RingMap;

/// A block is what the kernel hands over at once: so many bytes, a power of two of pages.
const BLOCK: u32 = 1 << 19;
/// So many of them are a mebibyte.
const BLOCKS_PER_MIB: u32 = (1 << 20) / BLOCK;
/// What the kernel wants to know of frames, though TPACKET_V3 packs them by their own length.
const FRAME: u32 = 1 << 11;
/// The kernel counts frames of a ring in 32 bits.
const MOST_MIB: u32 = 4_095;
/// A block that has something is handed over after so many milliseconds, full or not.
const RETIRE_MS: u32 = 10;

/// What a ring is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketRingSettings {
    /// So many bytes are kept of a packet.
    pub snap: u32,
    /// The interface is to take what is meant for others too.
    pub promiscuous: bool,
    /// How large the ring is, in MiB; 1 to 4,095. 16 hold some 60,000 packets of 192 bytes.
    pub mebibytes: u32,
    /// TCP, UDP and ICMP alone, to or from these ports, or from any where there are none; else all
    /// packets of whatever kind. Of interfaces without Ethernet headers always all.
    pub ports: Option<Vec<u16>>,
}

impl Default for PacketRingSettings {
    fn default() -> PacketRingSettings {
        PacketRingSettings { snap: 192, promiscuous: true, mebibytes: 16, ports: None }
    }
}

/// What packets of an interface begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// An Ethernet header.
    Ethernet,
    /// An IP header: tunnels have no other.
    Ip,
}

/// What the kernel has counted since the last time it was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that came to the ring, those dropped among them.
    pub packets: u64,
    /// Those that found the ring full.
    pub dropped: u64,
}

/// The packets of one interface, both ways, from the moment this exists.
///
/// Those of a loopback interface, which each pass twice, are seen once, as they come in.
#[derive(Debug)]
pub struct PacketRing {
    // Unmapped before the socket is closed.
    map: RingMap,
    socket: OwnedFd,
    next: usize,
    begin: Begin,
}

impl PacketRing {
    /// Captures on the interface of this name in the calling thread's network namespace. The ring may
    /// then be read in any thread.
    ///
    /// # Errors
    /// The right is missing (CAP_NET_RAW over the namespace), there is no such interface, it is down,
    /// its packets begin with something else than Ethernet or IP, or there is no room for the ring.
    pub fn open(name: &str, settings: &PacketRingSettings) -> io::Result<PacketRing> {
        let index = interface::index(name).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("there is no interface '{name}'"))
        })?;
        // Of no protocol: nothing comes before all is set.
        // SAFETY: socket takes no pointers.
        let fd = check_return(unsafe {
            libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0)
        })?;
        // SAFETY: the kernel has just given us this descriptor, nothing else owns it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let (begin, loopback) = kind(&socket, name, index)?;
        take(&socket, begin, settings)?;
        let blocks = settings.mebibytes.clamp(1, MOST_MIB) * BLOCKS_PER_MIB;
        share_ring(&socket, blocks)?;
        let map = RingMap::new(&socket, BLOCK as usize, blocks as usize)?;
        if loopback {
            set_option(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
        }
        if settings.promiscuous {
            see_all(&socket, index)?;
        }
        bind_packet_socket(&socket, index, libc::ETH_P_ALL as u16)?;
        interface_error(&socket)?;
        Ok(PacketRing { map, socket, next: 0, begin })
    }

    /// What its packets begin with.
    pub fn begin(&self) -> Begin {
        self.begin
    }

    /// The next block that the kernel has handed over; none where it has not yet. It goes back when
    /// dropped.
    pub fn block(&mut self) -> Option<Block<'_>> {
        let at = self.next;
        if !self.map.is_ours(at) {
            return None;
        }
        self.next = (at + 1) % self.map.blocks();
        Some(Block::new(&self.map, at))
    }

    /// Waits until there is a block, `other` is readable or closed, or so long at most.
    ///
    /// # Errors
    /// The interface has gone or went down.
    pub fn wait(&self, other: Option<BorrowedFd<'_>>, most: Duration) -> io::Result<()> {
        wait_for_packets(&[self], other, most).map_err(|(_, error)| error)
    }

    /// What has been counted since the last call, or since the beginning.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn counts(&self) -> io::Result<Counts> {
        // SAFETY: the struct is made of integers, for which all zeros is a valid value.
        let mut stats: libc::tpacket_stats_v3 = unsafe { std::mem::zeroed() };
        get(&self.socket, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut stats)?;
        Ok(Counts { packets: stats.tp_packets.into(), dropped: stats.tp_drops.into() })
    }
}

impl AsFd for PacketRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Waits until one of the rings has a block, `other` is readable or closed, or so long at most.
///
/// # Errors
/// The interface of the ring at that place has gone or went down, or the kernel refuses.
pub fn wait_for_packets(
    rings: &[&PacketRing],
    other: Option<BorrowedFd<'_>>,
    most: Duration,
) -> Result<(), (usize, io::Error)> {
    let watch = |fd: i32| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let sockets = rings.iter().map(|ring| ring.socket.as_raw_fd());
    let other = other.map(|other| other.as_raw_fd());
    let mut polls: Vec<libc::pollfd> = sockets.chain(other).map(watch).collect();
    let milliseconds = i32::try_from(most.as_millis()).unwrap_or(i32::MAX);
    let number = polls.len() as libc::nfds_t;
    // SAFETY: `polls` are so many valid pollfds that the call may write; all descriptors are open.
    match check_return(unsafe { libc::poll(polls.as_mut_ptr(), number, milliseconds) }) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(error) => Err((0, error)),
        Ok(_) => rings
            .iter()
            .enumerate()
            .filter(|(at, _)| polls[*at].revents & libc::POLLERR != 0)
            .try_for_each(|(at, ring)| interface_error(&ring.socket).map_err(|e| (at, e))),
    }
}

/// Says which packets are to come, and how much of each.
fn take(socket: &OwnedFd, begin: Begin, settings: &PacketRingSettings) -> io::Result<()> {
    let mut program = match (&settings.ports, begin) {
        (Some(ports), Begin::Ethernet) => filter::wanted(settings.snap, ports),
        _ => filter::accept_all(settings.snap),
    };
    // The kernel copies the program during the call.
    let len = program.len() as libc::c_ushort;
    let filter = libc::sock_fprog { len, filter: program.as_mut_ptr() };
    set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)
}

/// Asks for the ring.
fn share_ring(socket: &OwnedFd, blocks: u32) -> io::Result<()> {
    let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
    set_option(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
    let request = libc::tpacket_req3 {
        tp_block_size: BLOCK,
        tp_block_nr: blocks,
        tp_frame_size: FRAME,
        tp_frame_nr: BLOCK / FRAME * blocks,
        tp_retire_blk_tov: RETIRE_MS,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    set_option(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)
}

/// What an interface's packets begin with, and whether it is a loopback interface.
///
/// # Errors
/// They begin with something else: they would be read wrongly.
fn kind(socket: &OwnedFd, name: &str, index: u32) -> io::Result<(Begin, bool)> {
    // Bound to an interface, but to no protocol: the socket can tell its kind.
    bind_packet_socket(socket, index, 0)?;
    let mut own = packet_address(index, 0);
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    let to = (&raw mut own).cast();
    // SAFETY: `to` points at `length` bytes that the call may write.
    check_return(unsafe { libc::getsockname(socket.as_raw_fd(), to, &mut length) })?;
    match own.sll_hatype {
        libc::ARPHRD_LOOPBACK => Ok((Begin::Ethernet, true)),
        libc::ARPHRD_ETHER => Ok((Begin::Ethernet, false)),
        libc::ARPHRD_NONE | libc::ARPHRD_TUNNEL | libc::ARPHRD_TUNNEL6 | libc::ARPHRD_SIT => {
            Ok((Begin::Ip, false))
        }
        kind => {
            let line = format!(
                "'{name}' has packets that begin neither with Ethernet nor with IP (its kind is {kind}, ARPHRD_ in if_arp.h)"
            );
            Err(io::Error::new(io::ErrorKind::Unsupported, line))
        }
    }
}

/// Has the interface take what is meant for others too, while the socket is open.
fn see_all(socket: &OwnedFd, index: u32) -> io::Result<()> {
    let all = libc::packet_mreq {
        mr_ifindex: index as libc::c_int,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set_option(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &all)
}

fn bind_packet_socket(socket: &OwnedFd, index: u32, protocol: u16) -> io::Result<()> {
    let own = packet_address(index, protocol);
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `own` is an initialised address of `length` bytes.
    check_return(unsafe { libc::bind(socket.as_raw_fd(), (&raw const own).cast(), length) })
        .map(drop)
}

fn packet_address(index: u32, protocol: u16) -> libc::sockaddr_ll {
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: protocol.to_be(),
        sll_ifindex: index as libc::c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    }
}

/// An interface that is down, or has gone, leaves an error on the socket.
fn interface_error(socket: &OwnedFd) -> io::Result<()> {
    let mut error: libc::c_int = 0;
    get(socket, libc::SOL_SOCKET, libc::SO_ERROR, &mut error)?;
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

/// Sets an option; `T` is what the kernel expects it to be.
fn set_option<T>(socket: &OwnedFd, level: i32, option: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = (&raw const *value).cast();
    // SAFETY: `value` points at `length` bytes, which the call reads.
    check_return(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value, length) })
        .map(drop)
}

/// Gets an option that is made of integers alone.
fn get<T>(socket: &OwnedFd, level: i32, option: i32, value: &mut T) -> io::Result<()> {
    let mut length = size_of::<T>() as libc::socklen_t;
    let value = (&raw mut *value).cast();
    // SAFETY: `value` points at `length` bytes that the call may write, whatever it writes.
    check_return(unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, value, &mut length) })
        .map(drop)
}
