//! Submission queue entries, one function for each operation of the driver.

use std::os::fd::{AsRawFd as _, RawFd};
use std::ptr::null_mut;

use io_uring::opcode::{
    AsyncCancel, AsyncCancel2, Close, FixedFdInstall, PollAdd, Recv, RecvMsgMulti, Send, SendMsg,
    SetSockOpt,
};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{CancelBuilder, Fd, Fixed};

use super::kernel_owned::Rest;
use super::mark::Operation;
use super::ring::Pool;
use super::socket::{FixedFile, UringSocket};
use crate::driver::Slot;
use crate::driver::datagram::CONTROL;

/// IORING_RECVSEND_POLL_FIRST: wait before the first attempt, which would be too early.
const POLL_FIRST: u16 = 1;
/// IORING_RECV_MULTISHOT.
const AGAIN_AND_AGAIN: u16 = 2;

/// The maximum number of bytes in one submission of a send.
const MOST: usize = 1 << 30;

/// The layout of datagrams, and of bytes received with timestamps: no address, and CONTROL bytes for control messages.
struct Form(libc::msghdr);

// SAFETY: its pointers are null and it is never written to.
unsafe impl Sync for Form {}

static FORM: Form = Form({
    // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_controllen = CONTROL as _;
    header
});

/// A linger option with which closing a socket sends a reset at once.
static RESET: libc::linger = libc::linger { l_onoff: 1, l_linger: 0 };

/// Builds an entry for the socket's descriptor or for its place in the ring's file table.
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

/// Reports when the connection is established or has failed.
pub(super) fn connected(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let mark = socket.mark(slot, Operation::Connect);
    let entry = on!(file, slot, |target| PollAdd::new(target, libc::POLLOUT as u32));
    entry.build().user_data(mark)
}

/// Reports when the connection is broken.
pub(super) fn watch(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let mark = socket.mark(slot, Operation::Watch);
    let events = (libc::POLLERR | libc::POLLHUP) as u32;
    on!(file, slot, |target| PollAdd::new(target, events)).build().user_data(mark)
}

/// Opens a descriptor for the file in the slot's place of the ring's table.
pub(super) fn install(socket: &UringSocket, slot: Slot) -> Entry {
    let mark = socket.mark(slot, Operation::Install);
    FixedFdInstall::new(Fixed(slot), 0).build().user_data(mark)
}

/// Receives into a buffer that the kernel selects from the group: repeatedly if `again` is set,
/// otherwise once.
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

/// Receives repeatedly with timestamps, each time into a buffer that the kernel selects from the
/// group.
pub(super) fn receive_stamped(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let (mark, form) = (socket.mark(slot, Operation::ReceiveStamped), &raw const FORM.0);
    let entry = on!(file, slot, |target| RecvMsgMulti::new(target, form, Pool::Bytes as u16));
    entry.ioprio(POLL_FIRST).build().user_data(mark)
}

/// Reports when there is something to receive, or when the connection is broken.
pub(super) fn readable(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let mark = socket.mark(slot, Operation::Readable);
    let events = (libc::POLLIN | libc::POLLRDHUP) as u32;
    on!(file, slot, |target| PollAdd::new(target, events)).build().user_data(mark)
}

/// Receives datagrams repeatedly, each time into a buffer that the kernel selects from the group.
pub(super) fn hear(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let (mark, form) = (socket.mark(slot, Operation::Hear), &raw const FORM.0);
    let entry = on!(file, slot, |target| RecvMsgMulti::new(target, form, Pool::Datagrams as u16));
    entry.ioprio(POLL_FIRST).build().user_data(mark)
}

/// Reports when there is room to send.
pub(super) fn room(socket: &UringSocket, slot: Slot, file: &FixedFile) -> Entry {
    let mark = socket.mark(slot, Operation::Room);
    let entry = on!(file, slot, |target| PollAdd::new(target, libc::POLLOUT as u32));
    entry.build().user_data(mark)
}

/// Discards up to `most` received bytes: with MSG_TRUNC, TCP discards instead of copying (tcp(7)).
/// Without MSG_WAITALL: because nothing is copied, a retry would not account for the first attempt
/// and would discard too much.
pub(super) fn discard(socket: &UringSocket, slot: Slot, file: &FixedFile, most: u32) -> Entry {
    let mark = socket.mark(slot, Operation::Discard);
    let entry = on!(file, slot, |target| Recv::new(target, null_mut(), most));
    entry.flags(libc::MSG_TRUNC).build().user_data(mark)
}

/// Sends `bytes`, which must stay valid until the kernel has finished with them. A success posts no
/// completion.
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

/// Sends as many of `bytes` as fit at once. The kernel has finished with them when the entry has
/// been submitted. If all were sent, no completion is posted. Otherwise the completion contains the
/// number sent: MSG_WAITALL makes a partial send a failure, and MSG_DONTWAIT keeps the kernel from
/// waiting for room.
pub(super) fn pass(socket: &UringSocket, slot: Slot, file: &FixedFile, bytes: &[u8]) -> Entry {
    let mark = socket.mark(slot, Operation::Pass);
    let (start, length) = (bytes.as_ptr(), bytes.len() as u32);
    let entry = on!(file, slot, |target| Send::new(target, start, length));
    let entry = entry.flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL | libc::MSG_DONTWAIT).build();
    entry.flags(Flags::SKIP_SUCCESS).user_data(mark)
}

/// Sends as much of `rest` as the kernel accepts. The bytes must stay valid until the completion,
/// which contains the number sent. Head and body are sent by one entry: if two were linked, the
/// second would be executed later, perhaps on the slot's next connection.
pub(super) fn send(socket: &UringSocket, slot: Slot, file: &FixedFile, rest: &Rest<'_>) -> Entry {
    let mark = socket.mark(slot, Operation::Send);
    let flags = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;
    let entry = match *rest {
        Rest::Piece(bytes) => {
            let (start, length) = (bytes.as_ptr(), bytes.len().min(MOST) as u32);
            on!(file, slot, |target| Send::new(target, start, length)).flags(flags).build()
        }
        Rest::ScatterMessage(message) => {
            on!(file, slot, |target| SendMsg::new(target, message)).flags(flags as u32).build()
        }
    };
    entry.user_data(mark)
}

/// Cancels an operation that is still in progress.
pub(super) fn cancel(socket: &UringSocket, slot: Slot, operation: Operation) -> Entry {
    let what = socket.mark(slot, operation);
    quiet(AsyncCancel::new(what).build(), socket, slot)
}

/// Cancels all short requests that still wait for room. There may be several.
pub(super) fn cancel_kept(socket: &UringSocket, slot: Slot) -> Entry {
    let what = CancelBuilder::user_data(socket.mark(slot, Operation::SendKept)).all();
    quiet(AsyncCancel2::new(what).build(), socket, slot)
}

/// Closes a descriptor.
pub(super) fn close(socket: &UringSocket, slot: Slot, fd: RawFd) -> Entry {
    quiet(Close::new(Fd(fd)).build(), socket, slot)
}

/// Closes the file in the slot's place of the ring's table.
pub(super) fn close_listed(socket: &UringSocket, slot: Slot) -> Entry {
    quiet(Close::new(Fixed(slot)).build(), socket, slot)
}

/// Makes closing that file send a reset. The next entry must be the one that closes it: both are
/// executed immediately and in order. The entries are not linked, because linked ones are executed
/// later, when the place may contain its next file. If this fails, the close is orderly, which does
/// no harm.
pub(super) fn reset_listed(socket: &UringSocket, slot: Slot) -> Entry {
    let (level, name) = (libc::SOL_SOCKET as u32, libc::SO_LINGER as u32);
    let (value, size) = ((&raw const RESET).cast(), size_of::<libc::linger>() as u32);
    let entry = SetSockOpt::new(Fixed(slot), level, name, value, size).build();
    quiet(entry, socket, slot)
}

/// Marks an entry whose success posts no completion and whose outcome is ignored.
fn quiet(entry: Entry, socket: &UringSocket, slot: Slot) -> Entry {
    entry.flags(Flags::SKIP_SUCCESS).user_data(socket.mark(slot, Operation::Quiet))
}
