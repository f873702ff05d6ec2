//! The thread of an emulated link.

use std::io::{self, ErrorKind, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::emulation::{Fate, Line, Traffic};
use crate::link_report::Scheduling;
use sixmark_sys::{clock, poll, port::Port, schedule};

use super::timer_slack::{Rest, TimerSlack};
use super::{Orders, Snapshot};

/// Forwards frames between the two ends.
pub(super) struct Forwarder {
    pub(super) ends: [Port; 2],
    /// The lines from the first end and from the second.
    pub(super) lines: [Line; 2],
    /// True if either direction is impaired, so that frames have to be on time.
    pub(super) timed: bool,
    pub(super) orders: Arc<Orders>,
    pub(super) woken: UnixStream,
    pub(super) sender: Sender<Snapshot>,
}

/// The largest packet of a TAP device, with its Ethernet header and two VLAN tags.
const LARGEST_FRAME: usize = 65_535 + 22;
/// The number of frames read from one end before the other end is served.
const BATCH: usize = 64;
/// The same for a link on which frames may fall due meanwhile.
const TIMED_BATCH: usize = 4;
/// The middle of the SCHED_FIFO priorities, which the kernel's interrupt threads use as well.
const PRIORITY: u8 = 50;

impl Forwarder {
    /// Forwards frames until told to stop.
    pub(super) fn run(mut self) {
        let scheduling = self.scheduling();
        let mut frame = vec![0; LARGEST_FRAME];
        let mut slack = TimerSlack::new();
        let mut answered = 0;
        let mut ended = None;
        while !self.orders.stop.load(Ordering::Acquire) {
            let asked = self.orders.asked.load(Ordering::Acquire);
            while answered < asked {
                answered += 1;
                self.answer(scheduling, ended.clone());
            }
            // After an end has failed, the thread still answers requests for reports.
            let done = match ended {
                None => self.work(&mut frame, &mut slack),
                Some(_) => poll::readable([self.woken.as_fd()], None).map(|_| self.drain()),
            };
            ended = ended.or(done.err().map(|error| error.to_string()));
        }
    }

    /// Sets the scheduling of the thread. Only a timed link benefits from a real-time priority. A
    /// plain link would preempt its sender at every frame and slow it down.
    fn scheduling(&self) -> Scheduling {
        clock::wake_precisely();
        if self.timed && schedule::at_once(PRIORITY).is_ok() {
            Scheduling::Fifo
        } else {
            Scheduling::Other
        }
    }

    /// Performs one iteration: reads frames, delivers those that are due, or rests.
    fn work(&mut self, frame: &mut [u8], slack: &mut TimerSlack) -> io::Result<()> {
        let mut moved = false;
        for from in [0, 1] {
            moved |= self.read(from, frame)?;
            moved |= self.deliver()?;
        }
        if moved { Ok(()) } else { self.rest(slack) }
    }

    /// Reads a batch of frames from one end. Returns whether there were any.
    fn read(&mut self, from: usize, frame: &mut [u8]) -> io::Result<bool> {
        let batch = if self.timed { TIMED_BATCH } else { BATCH };
        for read in 0..batch {
            let length = match self.ends[from].read(frame) {
                Ok(length) => length,
                Err(error) if is_none(&error) => return Ok(read > 0),
                Err(error) => return Err(error),
            };
            let frame = &frame[..length];
            if self.lines[from].offer(frame, clock::now()) == Fate::Arrives {
                let taken = write_frame(&self.ends[1 - from], frame)?;
                if !taken {
                    self.lines[from].refused(Traffic::of(frame));
                }
            }
        }
        Ok(true)
    }

    /// Delivers frames that are due, in order of their due times. The number is limited, so that
    /// reading continues. Returns whether there were any.
    fn deliver(&mut self) -> io::Result<bool> {
        for delivered in 0..2 * TIMED_BATCH {
            let due = |from: usize| Some((self.lines[from].next_due()?, from));
            let Some((_, from)) = [0, 1].into_iter().filter_map(due).min() else {
                return Ok(delivered > 0);
            };
            let line = &mut self.lines[from];
            let Some((traffic, frame)) = line.pop(clock::now()) else { return Ok(delivered > 0) };
            if !write_frame(&self.ends[1 - from], frame)? {
                line.refused(traffic);
            }
        }
        Ok(true)
    }

    /// Rests until a frame arrives or is due.
    fn rest(&mut self, slack: &mut TimerSlack) -> io::Result<()> {
        let due = self.lines.iter().filter_map(Line::next_due).min();
        let began = clock::now();
        match slack.rest(due, began) {
            Rest::Awake => Ok(()),
            Rest::Idle => self.sleep(None).map(drop),
            Rest::Sleep(time) => {
                if !self.sleep(Some(time))? {
                    let slept = clock::now().saturating_sub(began);
                    slack.overslept(slept.saturating_sub(time.as_nanos() as u64));
                }
                Ok(())
            }
        }
    }

    /// Sleeps for at most `most`. Returns whether a descriptor became readable.
    fn sleep(&mut self, most: Option<Duration>) -> io::Result<bool> {
        let [a, b] = self.ends.each_ref().map(Port::as_fd);
        let found = poll::readable([a, b, self.woken.as_fd()], most)?;
        if found[2] {
            self.drain();
        }
        Ok(found.contains(&true))
    }

    /// Discards the bytes that woke the thread.
    fn drain(&mut self) {
        let _ = (&self.woken).read(&mut [0; 64]);
    }

    fn answer(&self, scheduling: Scheduling, ended: Option<String>) {
        let [a, b] = &self.lines;
        let snapshot = Snapshot {
            counts: [*a.counts(), *b.counts()],
            lateness: [a.lateness().clone(), b.lateness().clone()],
            scheduling,
            ended,
        };
        // The receiver is dropped only when the thread is about to be stopped.
        let _ = self.sender.send(snapshot);
    }
}

/// Returns whether an error means that there is nothing to read at the moment. EIO is the error of
/// a device that is down.
fn is_none(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
        || error.raw_os_error() == Some(libc::EIO)
}

/// Writes a frame and returns whether the device accepted it. Fails only if the device has been
/// removed.
fn write_frame(to: &Port, frame: &[u8]) -> io::Result<bool> {
    match to.write(frame) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EBADFD) => Err(error),
        Err(_) => Ok(false),
    }
}
