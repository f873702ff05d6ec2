//! HdrHistogram's V2 log format: deflated, in base64, with values in nanoseconds.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// The number of significant decimal digits of a quantile.
pub(crate) const DIGITS: u8 = 3;
/// The largest duration that the hdrhistogram crate can store, in nanoseconds: about 146 years.
pub(crate) const MOST: u64 = 1 << 62;
/// The largest count that the format can state.
const MOST_COUNTED: u64 = i64::MAX as u64;
/// The largest decompressed histogram that is accepted, in bytes. Those of sixmark have at most
/// 375,000 counters of three digits, nearly all of them empty.
const LARGEST: u64 = 4 << 20;
/// The size of the decompressed header: cookie, length of the counts, offset, digits, lowest,
/// highest, ratio.
pub(crate) const HEAD: usize = 40;
/// The most significant digits that are accepted. More would take memory that no figure of sixmark
/// needs.
const MOST_DIGITS: u32 = 3;
/// The longest text that is accepted: what [`LARGEST`] takes if it can't be compressed.
const LONGEST: usize = 6 << 20;

/// Encodes values in ascending order, each with its count.
pub(crate) fn encode(recorded: impl Iterator<Item = (u64, u64)> + Clone) -> String {
    let mut bytes = Vec::new();
    match V2DeflateSerializer::new().serialize(&histogram(recorded), &mut bytes) {
        Ok(_) => STANDARD.encode(bytes),
        Err(error) => unreachable!("writing to memory does not fail: {error}"),
    }
}

/// Returns the same histogram in the form of the hdrhistogram crate, as large as its values need. A
/// value above the largest that the crate can count (2^62 ns) is counted as that; only the exact
/// maximum states it.
fn histogram(recorded: impl Iterator<Item = (u64, u64)> + Clone) -> Histogram<u64> {
    let room = recorded.clone().last().map_or(0, |(value, _)| value).clamp(2, MOST);
    let empty = Histogram::new_with_bounds(1, room, DIGITS);
    let mut histogram = empty.unwrap_or_else(|why| unreachable!("{room} is in bounds: {why}"));
    for (value, count) in recorded {
        let known = histogram.count_at(value.min(MOST));
        let count = count.min(MOST_COUNTED.saturating_sub(known));
        if histogram.record_n(value, count).is_err() {
            histogram.saturating_record_n(value, count);
        }
    }
    histogram
}

/// Decodes HdrHistogram's V2 encoding, compressed with deflate, in base64. The decompressed size
/// and the allocation are limited because documents may be untrusted.
pub(crate) fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("a histogram can’t be read: {why}");
    if text.len() > LONGEST {
        return Err(wrong(&format!("it has more than {LONGEST} characters")));
    }
    let bytes = STANDARD.decode(text).map_err(|error| wrong(&error))?;
    let deflated = bytes.get(8..).ok_or_else(|| wrong(&"it is cut short"))?;
    let mut plain = Vec::new();
    let mut inflated = ZlibDecoder::new(deflated).take(LARGEST);
    inflated.read_to_end(&mut plain).map_err(|error| wrong(&error))?;
    let number = |at: usize| {
        let four = plain.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.map_or(u32::MAX, u32::from_be_bytes)
    };
    if number(4) as usize > plain.len().saturating_sub(HEAD) || number(12) > MOST_DIGITS {
        return Err(wrong(&"it is not in the form that sixmark writes"));
    }
    let mut histogram =
        Deserializer::new().deserialize(&mut plain.as_slice()).map_err(|error| wrong(&error))?;
    histogram.auto(true);
    Ok(histogram)
}
