//! Packets as an interface sends and receives them: a ring that kernel and program share
//! (packet(7), PACKET_RX_RING with TPACKET_V3), so that a packet costs no system call.

mod block;
mod map;

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::time::Duration;

pub use block::{Block, Frame, Frames};

use crate::{check, interface};
use map::Map;

/// A block is what the kernel hands over at once: so many bytes, a power of two of pages.
const BLOCK: u32 = 1 << 19;
/// How many blocks there are: 16 MiB hold some 60,000 packets of 192 bytes.
const BLOCKS: u32 = 32;
/// What the kernel wants to know of frames, though TPACKET_V3 packs them by their own length.
const FRAME: u32 = 1 << 11;
/// A block that has something is handed over after so many milliseconds, full or not.
const RETIRE_MS: u32 = 10;

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
pub struct Ring {
    // Unmapped before the socket is closed.
    map: Map,
    socket: OwnedFd,
    next: usize,
}

impl Ring {
    /// Captures on the interface of this name in the calling thread's network namespace, whatever
    /// it is addressed to (promiscuous), the first `snap` bytes of each packet. The ring may then
    /// be read in any thread.
    ///
    /// # Errors
    /// The right is missing (CAP_NET_RAW over the namespace), there is no such interface, it is down, or
    /// it is no Ethernet.
    pub fn open(name: &str, snap: u32) -> io::Result<Ring> {
        let index = interface::index(name).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("there is no interface '{name}'"))
        })?;
        // Of no protocol: nothing comes before all is set.
        // SAFETY: socket takes no pointers.
        let fd = check(unsafe {
            libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0)
        })?;
        // SAFETY: the kernel has just given us this descriptor, nothing else owns it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        cut_at(&socket, snap)?;
        share(&socket)?;
        let map = Map::new(&socket, BLOCK as usize, BLOCKS as usize)?;
        if is_loopback(&socket, name, index)? {
            set(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
        }
        see_all(&socket, index)?;
        bind(&socket, index, libc::ETH_P_ALL as u16)?;
        interface_error(&socket)?;
        Ok(Ring { map, socket, next: 0 })
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
        let watch = |fd: i32| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // The kernel passes over what is below 0.
        let other = other.map_or(-1, |other| other.as_raw_fd());
        let mut polls = [watch(self.socket.as_raw_fd()), watch(other)];
        let milliseconds = i32::try_from(most.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: `polls` are two valid pollfds that the call may write; both descriptors are open.
        match check(unsafe { libc::poll(polls.as_mut_ptr(), 2, milliseconds) }) {
            Ok(_) if polls[0].revents & libc::POLLERR != 0 => interface_error(&self.socket),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
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

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A program of one instruction (classic BPF): keep so many bytes of whatever comes.
fn cut_at(socket: &OwnedFd, snap: u32) -> io::Result<()> {
    let code = (libc::BPF_RET | libc::BPF_K) as u16;
    let mut program = [libc::sock_filter { code, jt: 0, jf: 0, k: snap }];
    // The kernel copies the program during the call.
    let filter = libc::sock_fprog { len: 1, filter: program.as_mut_ptr() };
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)
}

/// Asks for the ring.
fn share(socket: &OwnedFd) -> io::Result<()> {
    let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
    set(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
    let request = libc::tpacket_req3 {
        tp_block_size: BLOCK,
        tp_block_nr: BLOCKS,
        tp_frame_size: FRAME,
        tp_frame_nr: BLOCK / FRAME * BLOCKS,
        tp_retire_blk_tov: RETIRE_MS,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    set(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)
}

/// Whether it is a loopback interface.
///
/// # Errors
/// It is neither that nor an Ethernet: its frames would be read wrongly.
fn is_loopback(socket: &OwnedFd, name: &str, index: u32) -> io::Result<bool> {
    // Bound to an interface, but to no protocol: the socket can tell its kind.
    bind(socket, index, 0)?;
    let mut own = address(index, 0);
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    let to = (&raw mut own).cast();
    // SAFETY: `to` points at `length` bytes that the call may write.
    check(unsafe { libc::getsockname(socket.as_raw_fd(), to, &mut length) })?;
    match own.sll_hatype {
        libc::ARPHRD_LOOPBACK => Ok(true),
        libc::ARPHRD_ETHER => Ok(false),
        kind => {
            let line = format!("'{name}' is no Ethernet (its kind is {kind}, ARPHRD_ in if_arp.h)");
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
    set(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &all)
}

fn bind(socket: &OwnedFd, index: u32, protocol: u16) -> io::Result<()> {
    let own = address(index, protocol);
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `own` is an initialised address of `length` bytes.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const own).cast(), length) }).map(drop)
}

fn address(index: u32, protocol: u16) -> libc::sockaddr_ll {
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
fn set<T>(socket: &OwnedFd, level: i32, option: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = (&raw const *value).cast();
    // SAFETY: `value` points at `length` bytes, which the call reads.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value, length) }).map(drop)
}

/// Gets an option that is made of integers alone.
fn get<T>(socket: &OwnedFd, level: i32, option: i32, value: &mut T) -> io::Result<()> {
    let mut length = size_of::<T>() as libc::socklen_t;
    let value = (&raw mut *value).cast();
    // SAFETY: `value` points at `length` bytes that the call may write, whatever it writes.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, value, &mut length) })
        .map(drop)
}

#[cfg(test)]
mod tests;
