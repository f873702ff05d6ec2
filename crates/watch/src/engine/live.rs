//! Watching the packets of interfaces.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::PacketSource;
use crate::watch_result::WatchResult;
use sixmark_document::provenance::Ended;
use sixmark_sys::packets::{self, PacketRing};
use sixmark_sys::{clock, interface};
use sixmark_wire::Span;

use super::assemble::{CaptureFacts, assemble};
use super::capture_state::{CaptureState, Clock};
use super::{WatchProgress, WatchSettings};
use crate::capture::taker::{Taken, Taker};
use crate::capture::unable;
use crate::capture::writer::CaptureWriter;
use sixmark_sys::command_error::CommandError;

/// The longest wait for packets, so that signals are noticed and the progress is shown in time.
const WAIT: Duration = Duration::from_millis(100);
/// The interval between two checks for packets that the kernel has not handed over yet, and how
/// long they may take to come.
const LOOK: Duration = Duration::from_millis(5);
const BROKEN: Duration = Duration::from_secs(2);
/// The interval at which [`live`] reports its progress.
const TELL: Duration = Duration::from_secs(1);

/// The interfaces to watch, and how.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    /// The interfaces; empty means all that are up and not part of another interface.
    pub interfaces: Vec<String>,
    /// How long to watch; none means until `stop` is set.
    pub duration: Option<Duration>,
    /// How long to go on after the end while connections are open, so that their ends are seen.
    pub settle: Duration,
    /// The number of bytes that are captured of each packet.
    pub snap: u32,
    /// The size of each interface's ring, in MiB.
    pub mebibytes: u32,
    /// Whether interfaces also receive frames addressed to others.
    pub promiscuous: bool,
    /// The file that packets are written to as well.
    pub file: Option<PathBuf>,
}

/// An interface that is being watched.
struct Watched {
    taker: Taker,
    clock: Clock,
    gone: bool,
}

/// Watches interfaces of the calling thread's network namespace until `stop` is set. `begun` is
/// called once all packets are captured, `see` every second.
///
/// # Errors
/// Returns an error if an interface can't be captured on, or if a file can't be opened.
pub fn live(
    place: &LiveSettings,
    settings: &WatchSettings,
    stop: &AtomicBool,
    begun: impl FnOnce(&[String]),
    mut see: impl FnMut(WatchProgress),
) -> Result<WatchResult, CommandError> {
    let mut all = open_interfaces(place, settings)?;
    let writer = place.file.as_deref().map(|path| file(path, place, &all)).transpose()?;
    let mut kept = PacketFile { writer, lost: Vec::new(), told: 0 };
    let mut state = CaptureState::new(settings, Some(clock::real()))?;
    let names: Vec<String> = all.iter().map(|one| one.taker.interface().to_owned()).collect();
    begun(&names);
    let (started, mut told, mut lost) = (Instant::now(), Instant::now(), Vec::new());
    let until = place.duration.map(|duration| started + duration);
    let is_over = || until.is_some_and(|until| Instant::now() >= until);
    while !stop.load(Ordering::Relaxed) && !is_over() && all.iter().any(|one| !one.gone) {
        let any = look(&mut all, &mut state, &mut kept)?;
        if told.elapsed() >= TELL {
            told = Instant::now();
            state.flush();
            let progress = state.progress(dropped(&mut all), clock::real());
            see(WatchProgress { lost_files: kept.newly_lost(&mut state), ..progress });
        }
        if !any {
            state.pass(clock::real());
            state.flush();
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            lost.extend(wait_for_packets(&mut all, left.map_or(WAIT, |left| left.min(WAIT))));
        }
    }
    // Without a duration, the signal is the regular end.
    let early = until.is_some() && !is_over() && stop.load(Ordering::Relaxed);
    settle(&mut all, &mut state, &mut kept, place.settle)?;
    let end_ns = clock::real();
    rest(&mut all, &mut state, &mut kept)?;
    let lost_files = kept.finish(&mut state);
    let facts = CaptureFacts {
        ended: if early { Ended::Interrupted } else { Ended::Complete },
        end_ns,
        clock_went_back: all.iter().map(|one| one.clock.went_back).sum(),
        untimed: 0,
        sources: all.iter().map(|one| source(one, place.snap)).collect(),
        lost,
        lost_files,
    };
    Ok(assemble(state, facts))
}

/// The file that packets are written to, if one was requested. A write error ends the file but not
/// the watch.
struct PacketFile {
    writer: Option<CaptureWriter>,
    /// Why files were lost, including the files of lines, and how many of these reasons have been
    /// reported.
    lost: Vec<String>,
    told: usize,
}

impl PacketFile {
    fn write(&mut self, packet: &Taken<'_>) {
        let written = self.writer.as_mut().map(|writer| writer.write(packet));
        self.note(written);
    }

    /// Writes the buffered packets. Returns why files were lost.
    fn finish(mut self, state: &mut CaptureState) -> Vec<String> {
        let written = self.writer.take().map(CaptureWriter::finish);
        self.note(written);
        self.lost.extend(state.lost_files());
        self.lost
    }

    fn note(&mut self, written: Option<Result<(), CommandError>>) {
        if let Some(Err(error)) = written {
            self.lost.push(error.to_string());
            self.writer = None;
        }
    }

    /// Returns why files were lost since the last call.
    fn newly_lost(&mut self, state: &mut CaptureState) -> Vec<String> {
        self.lost.extend(state.lost_files());
        let new = self.lost[self.told..].to_vec();
        self.told = self.lost.len();
        new
    }
}

fn open_interfaces(
    place: &LiveSettings,
    settings: &WatchSettings,
) -> Result<Vec<Watched>, CommandError> {
    let named = !place.interfaces.is_empty();
    let names = if named { place.interfaces.clone() } else { usual()? };
    let how = packets::PacketRingSettings {
        snap: place.snap,
        promiscuous: place.promiscuous,
        mebibytes: place.mebibytes,
        ports: Some(settings.ports.clone()),
    };
    let one = |name: &String| match PacketRing::open(name, &how) {
        // An interface of an unsupported link type is an error only if the user named it.
        Err(error) if !named && error.kind() == std::io::ErrorKind::Unsupported => None,
        Err(error) => Some(Err(unable(name, &error))),
        Ok(ring) => {
            let (taker, clock) = (Taker::new(ring, name.clone()), Clock::default());
            Some(Ok(Watched { taker, clock, gone: false }))
        }
    };
    let all: Vec<Watched> = names.iter().filter_map(one).collect::<Result<_, CommandError>>()?;
    if all.is_empty() {
        Err(CommandError::Measure("no interface is up; name one with -i".into()))
    } else {
        Ok(all)
    }
}

/// Returns the interfaces that are up, without the ports of bridges, the members of bonds and the
/// interfaces of VLANs. Their packets pass the bridge, the bond or the interface below too, on
/// which tags are read, and would be counted twice.
fn usual() -> Result<Vec<String>, CommandError> {
    let unable = |error| CommandError::Measure(format!("can't list the interfaces: {error}"));
    let is_part = |name: &String| {
        let place = Path::new("/sys/class/net").join(name);
        let kind = std::fs::read_to_string(place.join("uevent")).unwrap_or_default();
        place.join("master").exists() || kind.lines().any(|line| line == "DEVTYPE=vlan")
    };
    Ok(interface::up().map_err(unable)?.into_iter().filter(|name| !is_part(name)).collect())
}

/// Creates the file for packets. A file has one link type.
fn file(path: &Path, place: &LiveSettings, all: &[Watched]) -> Result<CaptureWriter, CommandError> {
    let mut links = all.iter().map(|one| one.taker.link());
    let Some(link) = links.next().filter(|first| links.all(|link| link == *first)) else {
        let line = "-w can write packets of only one link type; choose interfaces of one type with \
                    -i";
        return Err(CommandError::Usage(line.into()));
    };
    CaptureWriter::create(path.to_owned(), place.snap, link)
}

/// Processes the available packets. Returns false if there were none.
fn look(
    all: &mut [Watched],
    state: &mut CaptureState,
    kept: &mut PacketFile,
) -> Result<bool, CommandError> {
    let mut any = false;
    for Watched { taker, clock, .. } in all {
        any |= taker.look(|packet| {
            let frame = Span::new(packet.bytes, packet.length as usize);
            state.packet(clock, Some(packet.link), packet.at_ns, frame);
            kept.write(&packet);
            Ok(())
        })?;
    }
    Ok(any)
}

/// Waits for packets. Returns the name of an interface that has disappeared.
fn wait_for_packets(all: &mut [Watched], most: Duration) -> Option<String> {
    let there: Vec<usize> = (0..all.len()).filter(|at| !all[*at].gone).collect();
    let rings: Vec<&PacketRing> = there.iter().map(|at| all[*at].taker.ring()).collect();
    let (at, error) = packets::wait_for_packets(&rings, None, most).err()?;
    let lost = &mut all[there[at]];
    lost.gone = true;
    Some(format!("{}: {error}", lost.taker.interface()))
}

fn dropped(all: &mut [Watched]) -> u64 {
    // Drops that can't be read now are counted at the end.
    all.iter_mut().for_each(|one| drop(one.taker.count()));
    all.iter().map(|one| one.taker.dropped()).sum()
}

/// Processes packets until all connections are over, for at most `most`.
fn settle(
    all: &mut [Watched],
    state: &mut CaptureState,
    kept: &mut PacketFile,
    most: Duration,
) -> Result<(), CommandError> {
    let begun = Instant::now();
    while begun.elapsed() < most {
        for one in all.iter_mut() {
            one.taker.count()?;
        }
        let any = look(all, state, kept)?;
        // Before the kernel has handed over all packets, connections may still begin.
        if all.iter().all(|one| one.taker.is_through()) && state.is_over() {
            return Ok(());
        }
        if !any {
            wait_for_packets(all, LOOK);
        }
    }
    Ok(())
}

/// Processes the packets from before the end that the kernel still has. This includes interfaces
/// that have disappeared: the kernel hands over their last block when its timeout expires.
fn rest(
    all: &mut [Watched],
    state: &mut CaptureState,
    kept: &mut PacketFile,
) -> Result<(), CommandError> {
    for one in all.iter_mut() {
        one.taker.count()?;
    }
    let begun = Instant::now();
    loop {
        look(all, state, kept)?;
        let through = all.iter().all(|one| one.taker.is_through());
        if through || begun.elapsed() > BROKEN {
            return Ok(());
        }
        wait_for_packets(all, LOOK);
    }
}

fn source(of: &Watched, snap: u32) -> PacketSource {
    PacketSource {
        name: of.taker.interface().to_owned(),
        kind: "interface".to_owned(),
        link: of.taker.link().word().to_owned(),
        snap,
        packets: of.taker.packets(),
        dropped: Some(of.taker.dropped()),
        whole: true,
    }
}
