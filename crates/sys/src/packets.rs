//! Capture of the packets that an interface sends and receives. The kernel and the program share a
//! ring (packet(7), PACKET_RX_RING with TPACKET_V3), so that a packet costs no system call.

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

/// The size of a block, the unit that the kernel hands over, in bytes. It is a power of two of
/// pages.
const BLOCK: u32 = 1 << 19;
/// The number of blocks in one MiB.
const BLOCKS_PER_MIB: u32 = (1 << 20) / BLOCK;
/// The frame size of the request. The kernel requires it, although TPACKET_V3 packs frames by their
/// actual length.
const FRAME: u32 = 1 << 11;
/// The maximum size of a ring in MiB. The kernel counts the frames of a ring in 32 bits.
const MOST_MIB: u32 = 4_095;
/// The time in milliseconds after which a block with packets is handed over even if it is not full.
const RETIRE_MS: u32 = 10;

/// The settings of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketRingSettings {
    /// The number of bytes to keep of each packet.
    pub snap: u32,
    /// Whether the interface also receives packets for other hosts.
    pub promiscuous: bool,
    /// The size of the ring in MiB, from 1 to 4,095. A ring of 16 MiB holds about 60,000 packets of
    /// 192 bytes.
    pub mebibytes: u32,
    /// If present, TCP and UDP are captured only to or from these ports, or all if the list is
    /// empty, and of protocols other than these and ICMP only the first bytes. Packets behind tags
    /// and in tunnels are captured whatever their ports. If absent, packets of every kind are
    /// captured, as they always are on interfaces without Ethernet headers.
    pub ports: Option<Vec<u16>>,
}

impl Default for PacketRingSettings {
    fn default() -> PacketRingSettings {
        PacketRingSettings { snap: 192, promiscuous: true, mebibytes: 16, ports: None }
    }
}

/// The first header of an interface's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// An Ethernet header.
    Ethernet,
    /// An IP header, as on tunnels.
    Ip,
}

/// The kernel's counters since the last query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that reached the ring, including those dropped.
    pub packets: u64,
    /// Packets that were dropped because the ring was full.
    pub dropped: u64,
}

/// A capture of the packets of one interface in both directions, from the creation of this value.
///
/// On a loopback interface, which each packet passes twice, each is captured once, on receipt.
#[derive(Debug)]
pub struct PacketRing {
    // This is declared first because the ring must be unmapped before the socket is closed.
    map: RingMap,
    socket: OwnedFd,
    next: usize,
    begin: Begin,
}

impl PacketRing {
    /// Starts a capture on the interface of this name in the calling thread's network namespace.
    /// The ring may then be read by any thread.
    ///
    /// # Errors
    /// Returns an error if CAP_NET_RAW over the namespace is missing, if there is no such interface
    /// or it is down, if its packets begin with a header other than Ethernet or IP, or if there is
    /// no memory for the ring.
    pub fn open(name: &str, settings: &PacketRingSettings) -> io::Result<PacketRing> {
        let index = interface::index(name).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("there is no interface '{name}'"))
        })?;
        // With protocol 0 the socket receives nothing until it is fully configured.
        // SAFETY: socket takes no pointers.
        let fd = check_return(unsafe {
            libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0)
        })?;
        // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
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

    /// Returns the first header of the interface's packets.
    pub fn begin(&self) -> Begin {
        self.begin
    }

    /// Returns the next block that the kernel has handed over, or `None` if there is none yet. The
    /// block is returned to the kernel when it is dropped.
    pub fn block(&mut self) -> Option<Block<'_>> {
        let at = self.next;
        if !self.map.is_ours(at) {
            return None;
        }
        self.next = (at + 1) % self.map.blocks();
        Some(Block::new(&mut self.map, at))
    }

    /// Waits until a block is available or `other` is readable or closed, for at most `most`.
    ///
    /// # Errors
    /// Returns an error if the interface was removed or went down.
    pub fn wait(&self, other: Option<BorrowedFd<'_>>, most: Duration) -> io::Result<()> {
        wait_for_packets(&[self], other, most).map_err(|(_, error)| error)
    }

    /// Returns the counters since the last call, or since the start of the capture.
    ///
    /// # Errors
    /// Returns an error if the kernel does not report them.
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

/// Waits until one of the rings has a block or `other` is readable or closed, for at most `most`.
///
/// # Errors
/// Returns an error with the index of the ring whose interface was removed or went down. If the
/// wait itself failed, the index is 0.
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
    // SAFETY: `polls` points to `number` valid pollfds that the call may write. All descriptors are
    // open.
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

/// Attaches the filter that selects the packets and the number of bytes to keep.
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

/// Requests the ring.
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

/// Returns the first header of an interface's packets, and whether it is a loopback interface.
///
/// # Errors
/// Returns an error if the packets begin with another header, because they would be misinterpreted.
fn kind(socket: &OwnedFd, name: &str, index: u32) -> io::Result<(Begin, bool)> {
    // A socket that is bound to an interface, even without a protocol, reports the type of the
    // interface.
    bind_packet_socket(socket, index, 0)?;
    let mut own = packet_address(index, 0);
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    let to = (&raw mut own).cast();
    // SAFETY: `to` points to `length` bytes that the call may write.
    check_return(unsafe { libc::getsockname(socket.as_raw_fd(), to, &mut length) })?;
    match own.sll_hatype {
        libc::ARPHRD_LOOPBACK => Ok((Begin::Ethernet, true)),
        libc::ARPHRD_ETHER => Ok((Begin::Ethernet, false)),
        libc::ARPHRD_NONE | libc::ARPHRD_TUNNEL | libc::ARPHRD_TUNNEL6 | libc::ARPHRD_SIT => {
            Ok((Begin::Ip, false))
        }
        kind => {
            let line = format!(
                "the packets of '{name}' begin with neither an Ethernet nor an IP header (its type is {kind}, ARPHRD_ in if_arp.h)"
            );
            Err(io::Error::new(io::ErrorKind::Unsupported, line))
        }
    }
}

/// Puts the interface into promiscuous mode while the socket is open.
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

/// Returns the pending error of the socket, which is set if the interface was removed or is down.
fn interface_error(socket: &OwnedFd) -> io::Result<()> {
    let mut error: libc::c_int = 0;
    get(socket, libc::SOL_SOCKET, libc::SO_ERROR, &mut error)?;
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

/// Sets an option. `T` must be the type that the kernel expects.
fn set_option<T>(socket: &OwnedFd, level: i32, option: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = (&raw const *value).cast();
    // SAFETY: `value` points to `length` bytes, which the call reads.
    check_return(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value, length) })
        .map(drop)
}

/// Reads an option. `T` must consist of integers only.
fn get<T>(socket: &OwnedFd, level: i32, option: i32, value: &mut T) -> io::Result<()> {
    let mut length = size_of::<T>() as libc::socklen_t;
    let value = (&raw mut *value).cast();
    // SAFETY: `value` points to `length` bytes that the call may write, and any bytes are a valid
    // `T`.
    check_return(unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, value, &mut length) })
        .map(drop)
}
