//! What is asked of the kernel: a submission for each thing that the driver wants.

use std::os::fd::{AsRawFd as _, RawFd};
use std::ptr::null_mut;

use io_uring::opcode::{
    AsyncCancel, AsyncCancel2, Close, FixedFdInstall, PollAdd, Recv, RecvMsgMulti, Send, SendMsg,
    SetSockOpt,
};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{CancelBuilder, Fd, Fixed};

use super::lent::Rest;
use super::mark::Operation;
use super::ring::Pool;
use super::socket::{FixedFile, UringSocket};
use crate::driver::Slot;
use crate::driver::datagram::CONTROL;

/// IORING_RECVSEND_POLL_FIRST: wait before the first try, which would come too early.
const POLL_FIRST: u16 = 1;
/// IORING_RECV_MULTISHOT.
const AGAIN_AND_AGAIN: u16 = 2;

/// The most that one submission sends.
const MOST: usize = 1 << 30;

/// How received datagrams are to be laid out: no address, and so much room for control messages.
struct Form(libc::msghdr);

// SAFETY: the pointers in it are null, and nobody writes to it.
unsafe impl Sync for Form {}

static FORM: Form = Form({
    // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_controllen = CONTROL as _;
    header
});

/// Makes closing a socket send a reset at once.
static RESET: libc::linger = libc::linger { l_onoff: 1, l_linger: 0 };

/// Builds an entry for the socket's descriptor or its place in the ring's table.
macro_rules! on {
    ($file:expr, $slot:expr, |$target:ident| $entry:expr) => {
        match $file {
            FixedFile::Open(fd) => {
                let $target = Fd(fd.as_raw_fd());
                $entry
            }
            FixedFile::Listed => {
                let $target = Fixed($slot);
                $entry
            }
        }
    };
}

/// Tell when the connection is established or has failed.
pub(super) fn connected(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let mark = socket.mark(slot, Operation::Connect);
    let entry = on!(file, slot, |target| PollAdd::new(target, libc::POLLOUT as u32));
    entry.build().user_data(mark)
}

/// Tell when the connection is broken.
pub(super) fn watch(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let mark = socket.mark(slot, Operation::Watch);
    let events = (libc::POLLERR | libc::POLLHUP) as u32;
    on!(file, slot, |target| PollAdd::new(target, events)).build().user_data(mark)
}

/// Open a descriptor for the file in the slot's place of the ring's table.
pub(super) fn install(socket: &UringSocket, slot: Slot) -> Entry {
    let mark = socket.mark(slot, Operation::Install);
    FixedFdInstall::new(Fixed(slot), 0).build().user_data(mark)
}

/// Receive what comes next into a buffer of the ring's choice; `again` and again, or once.
pub(super) fn receive_entry(
    socket: &UringSocket,
    slot: Slot,
    file: &FixedFile,
    again: bool,
) -> Entry {
    let mark = socket.mark(slot, Operation::Receive);
    let flags = if again { POLL_FIRST | AGAIN_AND_AGAIN } else { POLL_FIRST };
    let entry = on!(file, slot, |target| Recv::new(target, null_mut(), 0));
    let entry = entry.ioprio(flags).buf_group(Pool::Bytes as u16).build();
    entry.flags(Flags::BUFFER_SELECT).user_data(mark)
}

/// Receive the datagrams that come next, again and again, each time into a buffer of the ring's choice.
pub(super) fn hear(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let (mark, form) = (socket.mark(slot, Operation::Hear), &raw const FORM.0);
    let entry = on!(file, slot, |target| RecvMsgMulti::new(target, form, Pool::Datagrams as u16));
    entry.ioprio(POLL_FIRST).build().user_data(mark)
}

/// Tell when there is room to send.
pub(super) fn room(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let mark = socket.mark(slot, Operation::Room);
    let entry = on!(file, slot, |target| PollAdd::new(target, libc::POLLOUT as u32));
    entry.build().user_data(mark)
}

/// Drop up to `most` bytes that come: with MSG_TRUNC, TCP drops instead of writing (tcp(7)). Not
/// with MSG_WAITALL: as nothing is written, a second try would not know of the first and drop too
/// much.
pub(super) fn discard(socket: &UringSocket, slot: Slot, file: &FixedFile, most: u32) -> Entry {
    let mark = socket.mark(slot, Operation::Discard);
    let entry = on!(file, slot, |target| Recv::new(target, null_mut(), most));
    entry.flags(libc::MSG_TRUNC).build().user_data(mark)
}

/// Send `bytes`, which must stay where they are until the kernel is done with them; without a word
/// about it where all went well.
pub(super) fn send_quietly(
    socket: &UringSocket,
    slot: Slot,
    file: &FixedFile,
    bytes: &[u8],
) -> Entry {
    let mark = socket.mark(slot, Operation::SendKept);
    let (start, length) = (bytes.as_ptr(), bytes.len() as u32);
    let entry = on!(file, slot, |target| Send::new(target, start, length));
    let entry = entry.flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL).build();
    entry.flags(Flags::SKIP_SUCCESS).user_data(mark)
}

/// Send `bytes` at once, as many as there is room for, and be done with them when the submission is
/// made; without a word about it where that was all of them. Where it was not, the number is told as
/// of a failure: MSG_WAITALL makes less than all a failure, and MSG_DONTWAIT keeps the kernel from
/// waiting for room.
pub(super) fn pass(socket: &UringSocket, slot: Slot, file: &FixedFile, bytes: &[u8]) -> Entry {
    let mark = socket.mark(slot, Operation::Pass);
    let (start, length) = (bytes.as_ptr(), bytes.len() as u32);
    let entry = on!(file, slot, |target| Send::new(target, start, length));
    let entry = entry.flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL | libc::MSG_DONTWAIT).build();
    entry.flags(Flags::SKIP_SUCCESS).user_data(mark)
}

/// Send `rest`, as much of it as the kernel takes; what it names must stay where it is until the
/// kernel tells how much that was. Head and body go in one: were they linked, the second would be sent
/// later, perhaps on the slot's next connection.
pub(super) fn send(socket: &UringSocket, slot: Slot, file: &FixedFile, rest: &Rest<'_>) -> Entry {
    let mark = socket.mark(slot, Operation::Send);
    let flags = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;
    let entry = match *rest {
        Rest::Piece(bytes) => {
            let (start, length) = (bytes.as_ptr(), bytes.len().min(MOST) as u32);
            on!(file, slot, |target| Send::new(target, start, length)).flags(flags).build()
        }
        Rest::Letter(letter) => {
            on!(file, slot, |target| SendMsg::new(target, letter)).flags(flags as u32).build()
        }
    };
    entry.user_data(mark)
}

/// Take back what was asked for, if that still waits.
pub(super) fn cancel(socket: &UringSocket, slot: Slot, operation: Operation) -> Entry {
    let what = socket.mark(slot, operation);
    quiet(AsyncCancel::new(what).build(), socket, slot)
}

/// Take back all small requests that still wait for room: there may be several.
pub(super) fn cancel_kept(socket: &UringSocket, slot: Slot) -> Entry {
    let what = CancelBuilder::user_data(socket.mark(slot, Operation::SendKept)).all();
    quiet(AsyncCancel2::new(what).build(), socket, slot)
}

/// Close a descriptor.
pub(super) fn close(socket: &UringSocket, slot: Slot, fd: RawFd) -> Entry {
    quiet(Close::new(Fd(fd)).build(), socket, slot)
}

/// Close the file in the slot's place of the ring's table.
pub(super) fn close_listed(socket: &UringSocket, slot: Slot) -> Entry {
    quiet(Close::new(Fixed(slot)).build(), socket, slot)
}

/// Make closing that file send a reset. The next entry must be the one that closes it; both are
/// carried out at once and in order. Not linked: what is linked is carried out later, when the place
/// may have its next file. Where this fails, an orderly end is no worse for anyone.
pub(super) fn reset_listed(socket: &UringSocket, slot: Slot) -> Entry {
    let (level, name) = (libc::SOL_SOCKET as u32, libc::SO_LINGER as u32);
    let (value, size) = ((&raw const RESET).cast(), size_of::<libc::linger>() as u32);
    let entry = SetSockOpt::new(Fixed(slot), level, name, value, size).build();
    quiet(entry, socket, slot)
}

/// An entry of which only the effect matters.
fn quiet(entry: Entry, socket: &UringSocket, slot: Slot) -> Entry {
    entry.flags(Flags::SKIP_SUCCESS).user_data(socket.mark(slot, Operation::Quiet))
}
