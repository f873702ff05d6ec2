//! Arrivals at the times of a log or a recording.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

/// When each exchange of a replay is due, and which request it sends.
///
/// Documents contain only the number of entries, the time that they span, and the speed. A
/// timetable that was read from a document has no entries.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(from = "TimetableForm")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "TimetableForm"))]
pub struct Timetable {
    document: TimetableForm,
    /// The time of each entry, in nanoseconds from the start of the load and in ascending order,
    /// and the index of its request.
    at: Vec<u64>,
    request: Vec<u32>,
}

/// A timetable as in documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TimetableForm {
    /// The number of exchanges.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    entries: u64,
    /// The seconds from the first exchange to the last, as replayed.
    span_s: f64,
    /// The speed relative to the recording: 2 is twice as fast.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    speed: f64,
}

/// The speed of a replay relative to the recording: 2 is twice as fast.
pub type Speed = f64;

impl Timetable {
    /// Creates a replay at `speed`, which is above zero. Each entry is a time, in nanoseconds from
    /// an arbitrary origin, and the index of a request; entries may be in any order. The first one
    /// is due when the load starts.
    ///
    /// # Errors
    /// There are no entries, or the replay would last longer than 100 years.
    pub fn new(mut entries: Vec<(u64, u32)>, speed: Speed) -> Result<Timetable, String> {
        // The sort is stable: entries of the same time keep their order.
        entries.sort_by_key(|&(at, _)| at);
        let (Some(&(first, _)), Some(&(last, _))) = (entries.first(), entries.last()) else {
            return Err("there is nothing to replay".to_owned());
        };
        if (last - first) as f64 / speed > LONGEST_NS {
            return Err(TOO_LONG.to_owned());
        }
        let due = |&(at, _): &(u64, u32)| match speed {
            // Integer arithmetic loses no digits.
            1.0 => at - first,
            _ => ((at - first) as f64 / speed).round() as u64,
        };
        let at: Vec<u64> = entries.iter().map(due).collect();
        let span_s = at.last().map_or(0.0, |&last| last as f64 / 1e9);
        let document = TimetableForm { entries: at.len() as u64, span_s, speed };
        Ok(Timetable {
            document,
            at,
            request: entries.iter().map(|&(_, request)| request).collect(),
        })
    }

    /// Returns the number of exchanges.
    pub fn entries(&self) -> u64 {
        self.document.entries
    }

    /// Returns the seconds from the first exchange to the last.
    pub fn span_s(&self) -> f64 {
        self.document.span_s
    }

    /// Returns the speed.
    pub fn speed(&self) -> Speed {
        self.document.speed
    }

    /// Returns when entry number `number` (from 0) is due, in nanoseconds from the start of the
    /// load, and the index of its request; `None` if there is no such entry.
    pub fn get(&self, number: u64) -> Option<(u64, u32)> {
        let number = usize::try_from(number).ok()?;
        Some((*self.at.get(number)?, *self.request.get(number)?))
    }
}

/// The most entries of a timetable that another process sends.
const MOST_ENTRIES: usize = 50_000_000;

/// A timetable with all its entries, for another process that replays it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct WireTimetable {
    speed: Speed,
    /// The nanoseconds from the entry before, as replayed.
    gaps: Vec<u64>,
    /// The index of the request of each entry.
    requests: Vec<u32>,
}

impl Timetable {
    /// Returns the timetable with its entries as data.
    pub fn wire_form(&self) -> WireTimetable {
        let before = std::iter::once(&0).chain(&self.at);
        let gaps = self.at.iter().zip(before).map(|(at, before)| at - before).collect();
        WireTimetable { speed: self.speed(), gaps, requests: self.request.clone() }
    }
}

impl WireTimetable {
    /// Returns the timetable, whose entries refer to `requests` requests.
    ///
    /// # Errors
    /// It has no entries or too many, lasts too long, or refers to a request that there is not.
    pub fn timetable(self, requests: usize) -> Result<Timetable, String> {
        let WireTimetable { speed, gaps, requests: request } = self;
        let number = gaps.len();
        if number != request.len() || !(1..=MOST_ENTRIES).contains(&number) {
            return Err(format!("a timetable has {number} entries, not 1 to {MOST_ENTRIES}"));
        }
        if !(speed > 0.0 && speed.is_finite()) {
            return Err(format!("speed {speed} of a timetable is not a number above 0"));
        }
        if request.iter().any(|&request| request as usize >= requests) {
            return Err(format!("a timetable refers to a request beyond the {requests} there are"));
        }
        let mut now = 0_u64;
        let times = gaps.into_iter().map(|gap| {
            now = now.saturating_add(gap);
            now
        });
        let at: Vec<u64> = times.collect();
        if now as f64 > LONGEST_NS {
            return Err(TOO_LONG.to_owned());
        }
        let document = TimetableForm { entries: number as u64, span_s: now as f64 / 1e9, speed };
        Ok(Timetable { document, at, request })
    }
}

/// The longest replay, in nanoseconds: 100 years. Times on the clock of a longer one might not fit
/// into 64 bits.
const LONGEST_NS: f64 = 100.0 * 365.0 * 24.0 * 3600.0 * 1e9;

const TOO_LONG: &str = "the replay would last longer than 100 years";

impl From<TimetableForm> for Timetable {
    fn from(document: TimetableForm) -> Timetable {
        Timetable { document, at: Vec::new(), request: Vec::new() }
    }
}

/// Implemented by hand because serde's `into` would copy the entries first.
impl Serialize for Timetable {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.document.serialize(to)
    }
}

/// Omits the entries, of which there may be millions.
impl fmt::Debug for Timetable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.document, f)
    }
}

/// Serialization of an optional shared timetable. serde supports `Arc` only with a feature that
/// would enable it for all types.
pub(super) mod shared {
    use serde::{Deserializer, Serializer};

    use super::{Arc, Deserialize as _, Serialize as _, Timetable};

    pub(crate) fn serialize<S: Serializer>(
        table: &Option<Arc<Timetable>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        table.as_deref().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<Timetable>>, D::Error> {
        Option::<Timetable>::deserialize(from).map(|table| table.map(Arc::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_entries_by_time_relative_to_the_first() {
        let entries = vec![(1_500, 1), (1_000, 0), (3_000, 2), (1_500, 3)];
        let table = Timetable::new(entries.clone(), 1.0).unwrap();
        let all: Vec<_> = (0..5).map_while(|number| table.get(number)).collect();
        assert_eq!(all, [(0, 0), (500, 1), (500, 3), (2_000, 2)]);
        let fast = Timetable::new(entries, 2.0).unwrap();
        assert_eq!((fast.get(3), fast.entries(), fast.span_s()), (Some((1_000, 2)), 4, 1e-6));
        assert!(Timetable::new(Vec::new(), 1.0).is_err());
        assert!(Timetable::new(vec![(0, 0), (u64::MAX, 0)], 0.01).is_err());
    }

    #[test]
    fn transfers_a_timetable_without_loss_and_rejects_invalid_ones() {
        let entries = vec![(1_000, 0), (1_001, 2), (1_001, 1), (9_007_199_254_740_993, 0)];
        for speed in [1.0, 3.0, 0.7] {
            let table = Timetable::new(entries.clone(), speed).unwrap();
            let text = serde_json::to_string(&table.wire_form()).unwrap();
            let read: WireTimetable = serde_json::from_str(&text).unwrap();
            assert_eq!(read.timetable(3).unwrap(), table);
        }
        for (wrong, part) in [
            (r#"{"speed":1,"gaps":[],"requests":[]}"#, "0 entries"),
            (r#"{"speed":1,"gaps":[0],"requests":[0,0]}"#, "1 entries"),
            (r#"{"speed":1,"gaps":[0],"requests":[3]}"#, "beyond the 3"),
            (r#"{"speed":0,"gaps":[0],"requests":[0]}"#, "speed 0"),
            (r#"{"speed":1,"gaps":[0,18446744073709551615,9],"requests":[0,0,0]}"#, "100 years"),
        ] {
            let read: WireTimetable = serde_json::from_str(wrong).unwrap();
            assert!(read.timetable(3).unwrap_err().contains(part), "{wrong}");
        }
    }

    #[test]
    fn serializes_a_timetable_as_a_summary_of_its_entries() {
        let table = Timetable::new(vec![(0, 0), (2_000_000_000, 0)], 0.5).unwrap();
        let written = serde_json::to_value(&table).unwrap();
        assert_eq!(written, serde_json::json!({"entries": 2, "span_s": 4.0, "speed": 0.5}));
        let read: Timetable = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), written);
    }
}
