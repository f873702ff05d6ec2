//! A client that runs in its host of the lab, until it is ended with all that it started.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use sixmark_lab::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::last_line::keep_last_line;
use sixmark_sys::packets::PacketRing;
use sixmark_sys::process::{Running, kill_processes_in, processes_in};

use crate::client_end::ClientEnd;
use crate::packet_reader::PacketReader;

use super::{AFTERWARDS, EyesOptions, LOOK, cannot, take_frames, time_afterwards};

/// How long packets are watched after the last process of a client has ended: what it sent is captured by then.
const SETTLE: Duration = Duration::from_millis(60);
/// How long the client has to end after SIGTERM.
const END: Duration = Duration::from_secs(2);
/// How long the last line of a client may take after its last process has ended.
const LAST_LINE: Duration = Duration::from_millis(500);

/// Starts a client in its host and watches its packets. Returns how it ended; `None` if it was stopped.
///
/// # Errors
/// Returns an error if the client can't be started, watched, or ended.
pub(super) fn watch_command(
    host: &Host,
    command: &mut Command,
    ring: &mut PacketRing,
    reader: &mut PacketReader,
    options: &EyesOptions<'_>,
) -> Result<Option<ClientEnd>, CommandError> {
    let cannot_start = |error| cannot("the client can't be started", error);
    let (errors, writer) = io::pipe().map_err(cannot_start)?;
    let last_line = keep_last_line(errors).map_err(cannot_start)?;
    command.stderr(writer);
    let mut running = host.start(command, None).map_err(cannot_start)?;
    // The command holds an end of the pipe, which must be the client's alone.
    command.stderr(Stdio::null());
    let is_stopped = watch(&mut running, host, ring, reader, options)
        .map_err(|error| cannot("the client can't be watched", error))?;
    let end = end_client(&mut running, host)
        .map_err(|error| cannot("the client can't be ended", error))?;
    let last_line = last_line.recv_timeout(LAST_LINE).ok().flatten();
    Ok((!is_stopped).then_some(ClientEnd { last_line, ..end }))
}

/// Watches a client until all of it has ended, until some time after its content arrived, or until its time is
/// over. Returns true if it was stopped.
fn watch(
    running: &mut Running,
    host: &Host,
    ring: &mut PacketRing,
    reader: &mut PacketReader,
    options: &EyesOptions<'_>,
) -> io::Result<bool> {
    let mut until = Instant::now() + options.patience + AFTERWARDS;
    let (mut is_over, mut is_gone) = (false, false);
    while Instant::now() < until {
        if options.stop.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let has_ended = running.has_ended(LOOK)?;
        if has_ended {
            // What is left to be seen are packets, of processes that it left too.
            ring.wait(None, LOOK)?;
        }
        take_frames(ring, reader);
        if has_ended && !is_gone && processes_in(host.net())?.is_empty() {
            is_gone = true;
            reader.end_watch(SystemTime::now());
            until = until.min(Instant::now() + SETTLE);
        }
        if !is_over && reader.trace().content_ms().is_some() {
            is_over = true;
            until = until.min(Instant::now() + time_afterwards(reader.trace()));
        }
    }
    if !is_gone {
        reader.end_watch(SystemTime::now());
    }
    Ok(false)
}

/// Ends a client and all processes that it left in its host. Returns how it ended, without its last line.
fn end_client(running: &mut Running, host: &Host) -> io::Result<ClientEnd> {
    let has_ended = running.has_ended(Duration::ZERO)?;
    let left = if has_ended { processes_in(host.net())?.len() as u32 } else { 0 };
    let exit = running.stop(END)?;
    kill_processes_in(host.net())?;
    let by_itself = has_ended.then_some(exit.status);
    Ok(ClientEnd {
        status: by_itself.and_then(|of| of.code()),
        signal: by_itself.and_then(|of| of.signal()),
        processes_left: left,
        last_line: None,
    })
}
