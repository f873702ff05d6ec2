//! One direction of a link.

use super::chance::{Chance, Lot};
use super::frame::Traffic;
use super::lane::Lane;
use super::turn::Turns;
use crate::impairment::{Effect, Impairment};
use crate::link_report::{FrameCounts, LinkDirection};
use sixmark_document::timing::Timing;
use sixmark_units::family::Family;

/// One direction of a link: takes frames as they come and releases each when it is due.
#[derive(Debug)]
pub struct Line {
    turns: Option<Turns>,
    effects: Vec<EffectLane>,
    /// The indices into `effects` for IPv6, IPv4 and other frames.
    way_of: [usize; 3],
    /// Reordered frames, once they have passed the rate limit.
    overtaking: Lane,
    offered: u64,
    counts: LinkDirection,
    lateness: Timing,
}

/// Frames to which the same effect applies. They keep their order, except those drawn to overtake.
#[derive(Debug)]
struct EffectLane {
    chance: Chance,
    lane: Lane,
}

/// What happened to a frame that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The frame arrives at once: the caller forwards it.
    Arrives,
    /// [`Line::pop`] returns the frame when it is due.
    Waits,
    /// The frame was lost or dropped.
    Gone,
}

/// The largest number of bytes under way for one effect: 10 Gbit/s for 200 ms.
const LARGEST: usize = 256 << 20;

impl Line {
    /// Creates a direction with this impairment. The same frames at the same times with the same
    /// seed have the same fate.
    pub fn new(impairment: &Impairment, seed: u64) -> Line {
        Line::with_room(impairment, seed, LARGEST)
    }

    pub(super) fn with_room(impairment: &Impairment, seed: u64, largest: usize) -> Line {
        let mut line = Line {
            turns: impairment.rate.as_ref().map(Turns::new),
            effects: Vec::new(),
            way_of: [0; 3],
            overtaking: Lane::new(largest),
            offered: 0,
            counts: LinkDirection::default(),
            lateness: Timing::default(),
        };
        let mut way = |effect: &Effect, stream: u64| {
            line.effects.push(EffectLane {
                chance: Chance::new(effect, seed, stream),
                lane: Lane::new(largest),
            });
            line.effects.len() - 1
        };
        let common = way(&impairment.common, 0);
        // A family without an effect of its own shares loss bursts and frame order with all other
        // frames.
        let mut of = |effect: &Effect, stream| {
            if *effect == impairment.common { common } else { way(effect, stream) }
        };
        let families = &impairment.families;
        line.way_of = [of(&families.ipv6, 1), of(&families.ipv4, 2), common];
        line
    }

    /// Offers a frame to the link. The frame is copied only if it has to wait.
    pub fn offer(&mut self, frame: &[u8], now_ns: u64) -> Fate {
        let traffic = Traffic::of(frame);
        self.offered += 1;
        let counts = frames_of(&mut self.counts, traffic);
        counts.offered += 1;
        counts.offered_bytes += frame.len() as u64;
        let left = match &mut self.turns {
            Some(turns) => turns.next(frame.len(), now_ns),
            None => Some(now_ns),
        };
        let Some(left) = left else {
            counts.dropped += 1;
            return Fate::Gone;
        };
        let way = self.way_of[slot(traffic)];
        match self.effects[way].chance.draw() {
            Lot::Lost => {
                counts.lost += 1;
                Fate::Gone
            }
            Lot::Overtakes => {
                counts.reordered += 1;
                self.hold(None, left, traffic, frame, now_ns)
            }
            Lot::Takes(ns) => self.hold(Some(way), left.saturating_add(ns), traffic, frame, now_ns),
        }
    }

    /// Returns when the next frame is due.
    pub fn next_due(&self) -> Option<u64> {
        self.lanes().filter_map(Lane::first).map(|held| held.due_ns).min()
    }

    /// Removes and returns the next frame if it is due by `now_ns`: the caller forwards it at once.
    /// Records how late it is.
    pub fn pop(&mut self, now_ns: u64) -> Option<(Traffic, &[u8])> {
        let first = |(at, lane): (usize, &Lane)| Some((*lane.first()?, at));
        let heads = self.lanes().enumerate().filter_map(first);
        let (held, at) = heads.min_by_key(|(held, _)| (held.due_ns, held.number))?;
        if held.due_ns > now_ns {
            return None;
        }
        self.lateness.record(now_ns - held.due_ns);
        self.arrives(held.traffic);
        let lane = match at.checked_sub(1) {
            Some(way) => &mut self.effects[way].lane,
            None => &mut self.overtaking,
        };
        lane.pop().map(|(held, frame)| (held.traffic, frame))
    }

    /// Counts a frame that arrived but was not taken because the interface at the other end is
    /// down.
    pub fn refused(&mut self, traffic: Traffic) {
        frames_of(&mut self.counts, traffic).refused += 1;
    }

    /// Returns the frame counts so far.
    pub fn counts(&self) -> &LinkDirection {
        &self.counts
    }

    /// Returns how much later than due frames were released, in nanoseconds. Frames that arrive at
    /// once are not included.
    pub fn lateness(&self) -> &Timing {
        &self.lateness
    }

    fn lanes(&self) -> impl Iterator<Item = &Lane> {
        std::iter::once(&self.overtaking).chain(self.effects.iter().map(|way| &way.lane))
    }

    fn hold(
        &mut self,
        way: Option<usize>,
        due_ns: u64,
        traffic: Traffic,
        frame: &[u8],
        now_ns: u64,
    ) -> Fate {
        let lane = match way {
            Some(way) => &mut self.effects[way].lane,
            None => &mut self.overtaking,
        };
        let due_ns = due_ns.max(lane.last_due_ns());
        if due_ns <= now_ns && lane.first().is_none() {
            self.arrives(traffic);
            return Fate::Arrives;
        }
        if lane.push(due_ns, self.offered, traffic, frame) {
            return Fate::Waits;
        }
        frames_of(&mut self.counts, traffic).overflowed += 1;
        Fate::Gone
    }

    fn arrives(&mut self, traffic: Traffic) {
        frames_of(&mut self.counts, traffic).arrived += 1;
    }
}

fn frames_of(counts: &mut LinkDirection, traffic: Traffic) -> &mut FrameCounts {
    match traffic {
        Traffic::Of(Family::Ipv6) => &mut counts.ipv6,
        Traffic::Of(Family::Ipv4) => &mut counts.ipv4,
        Traffic::Other => &mut counts.other,
    }
}

fn slot(traffic: Traffic) -> usize {
    match traffic {
        Traffic::Of(Family::Ipv6) => 0,
        Traffic::Of(Family::Ipv4) => 1,
        Traffic::Other => 2,
    }
}
