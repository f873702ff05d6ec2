//! An interface of a section.

use crate::Link;

/// Options that define the unit and the origin of timestamps.
const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;

const PER_SECOND: u128 = 1_000_000_000;

/// An interface that packets of a section were captured on.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    /// `None` if the link type is not supported.
    pub(super) link: Option<Link>,
    pub(super) snap: u32,
    unit: Unit,
    offset_s: i64,
    /// The total number of lost packets from the statistics of the interface.
    pub(super) told: Option<u64>,
    /// The sum of losses reported by single packets.
    lost: Option<u64>,
}

/// The unit of timestamps.
#[derive(Clone, Copy, Debug)]
enum Unit {
    /// A number of nanoseconds.
    Nanoseconds(u64),
    /// A second divided by this number.
    Part(u128),
    /// A second halved this number of times.
    Halved(u32),
}

impl Interface {
    pub(super) fn new(link: Option<Link>, snap: u32) -> Interface {
        let unit = Unit::Nanoseconds(1_000);
        Interface { link, snap, unit, offset_s: 0, told: None, lost: None }
    }

    pub(super) fn option(&mut self, code: u16, value: &[u8], big_endian: bool) {
        match (code, value) {
            (RESOLUTION, [bits, ..]) => self.unit = Unit::of(*bits),
            (OFFSET, [..]) => {
                let Some(eight) = value.first_chunk().copied() else { return };
                let read = if big_endian { i64::from_be_bytes } else { i64::from_le_bytes };
                self.offset_s = read(eight);
            }
            _ => {}
        }
    }

    /// Adds the number of packets that one packet reports as lost before it.
    pub(super) fn lost_before(&mut self, packets: Option<u64>) {
        let both = self.lost.into_iter().chain(packets);
        self.lost = both.reduce(u64::saturating_add);
    }

    /// Returns the number of lost packets. The total from the statistics includes the losses
    /// reported by single packets.
    pub(super) fn dropped(&self) -> Option<u64> {
        self.told.or(self.lost)
    }

    /// Converts a timestamp to nanoseconds since 1970, rounded down and clamped to the range of
    /// `u64`.
    pub(super) fn at_ns(&self, units: u64) -> u64 {
        let since = self.unit.nanoseconds(units);
        if self.offset_s == 0 {
            return u64::try_from(since).unwrap_or(u64::MAX);
        }
        let since = i128::try_from(since).unwrap_or(i128::MAX);
        let offset = i128::from(self.offset_s) * PER_SECOND as i128;
        u64::try_from(since.saturating_add(offset).max(0)).unwrap_or(u64::MAX)
    }
}

impl Unit {
    fn of(resolution: u8) -> Unit {
        let power = u32::from(resolution & 0x7f);
        match (resolution & 0x80 != 0, power) {
            (true, _) => Unit::Halved(power),
            (false, 0..=9) => Unit::Nanoseconds(10_u64.pow(9 - power)),
            // A unit too small to represent makes every time zero.
            (false, _) => Unit::Part(10_u128.checked_pow(power).unwrap_or(u128::MAX)),
        }
    }

    fn nanoseconds(self, units: u64) -> u128 {
        let units = u128::from(units);
        match self {
            Unit::Nanoseconds(each) => units * u128::from(each),
            Unit::Part(of_second) => units * PER_SECOND / of_second,
            Unit::Halved(power) => (units * PER_SECOND) >> power,
        }
    }
}
