//! Response fields by which servers, proxies and caches name themselves: of a sample of responses, to
//! tell whether the same ones answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tally_part::TallyPart;
use sixmark_document::untrusted;

/// The fields, in lower case (RFC 9110, 10.2.4, 7.6.3, 8.8.3, 8.4; RFC 9111, 5.2; the others are those
/// of usual caches).
pub const SERVER_FIELDS: [&str; 10] = [
    "server",
    "via",
    "x-cache",
    "x-served-by",
    "cf-cache-status",
    "cache-status",
    "x-powered-by",
    "cache-control",
    "etag",
    "content-encoding",
];

/// The number of responses of each worker and family that are read.
pub const SAMPLED: u64 = 32;
/// The longest value kept, in bytes: the rest of a longer one is cut off.
const LONGEST_VALUE: usize = 60;
/// The most values that a peer may count.
const MOST_VALUES: usize = 10_000;

/// The values of these fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WireFields", into = "WireFields")]
pub struct ServerFieldsTally {
    sampled: u64,
    values: BTreeMap<(usize, String), u64>,
}

/// The values of these fields in a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerFieldsResult {
    /// The number of responses that were read.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub sampled: u64,
    /// By the name of the field, in lower case: its values and the numbers of responses that had
    /// them, at most 60 bytes long; bytes other than letters, digits, spaces and `-._/:;,=+()"` are
    /// `?`.
    pub values: BTreeMap<String, BTreeMap<String, u64>>,
}

impl ServerFieldsTally {
    /// Returns true if another response is to be read.
    #[inline]
    pub fn wants_more(&self) -> bool {
        self.sampled < SAMPLED
    }

    /// Counts a response whose fields were read.
    pub fn count_response(&mut self) {
        self.sampled += 1;
    }

    /// Counts a field of a response, if it is one of these.
    pub fn note_field(&mut self, name: &[u8], value: &[u8]) {
        let Some(number) =
            SERVER_FIELDS.iter().position(|of| of.as_bytes().eq_ignore_ascii_case(name))
        else {
            return;
        };
        let shown = value.iter().take(LONGEST_VALUE).map(|byte| match byte {
            byte if is_plain(*byte) => char::from(*byte),
            _ => '?',
        });
        *self.values.entry((number, shown.collect())).or_default() += 1;
    }

    /// Returns the values for a document; `None` if no response was read.
    pub fn result(&self) -> Option<ServerFieldsResult> {
        let mut values: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for ((number, value), count) in &self.values {
            let of = values.entry(SERVER_FIELDS[*number].to_owned()).or_default();
            of.insert(value.clone(), *count);
        }
        (self.sampled > 0).then_some(ServerFieldsResult { sampled: self.sampled, values })
    }
}

/// Returns true for bytes of values that mean nothing to a terminal, to Markdown or to HTML.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" -._/:;,=+()\"".contains(&byte)
}

impl TallyPart for ServerFieldsTally {
    fn merge(&mut self, other: &ServerFieldsTally) {
        self.sampled.merge(&other.sampled);
        for (key, count) in &other.values {
            self.values.entry(key.clone()).or_default().merge(count);
        }
    }

    fn since(&self, earlier: &ServerFieldsTally) -> ServerFieldsTally {
        let more = |(key, count): (&(usize, String), &u64)| {
            let more = count.since(earlier.values.get(key).unwrap_or(&0));
            (more > 0).then(|| (key.clone(), more))
        };
        let values = self.values.iter().filter_map(more).collect();
        ServerFieldsTally { sampled: self.sampled.since(&earlier.sampled), values }
    }
}

/// The form in which it is sent: the number of responses, and of each value the number of its field,
/// the value and the number of responses.
#[derive(Serialize, Deserialize)]
struct WireFields(
    u64,
    #[serde(deserialize_with = "untrusted::short::<MOST_VALUES, _, _>")] Vec<(usize, String, u64)>,
);

impl From<ServerFieldsTally> for WireFields {
    fn from(of: ServerFieldsTally) -> WireFields {
        let wire = |((number, value), count)| (number, value, count);
        WireFields(of.sampled, of.values.into_iter().map(wire).collect())
    }
}

impl TryFrom<WireFields> for ServerFieldsTally {
    type Error = String;

    fn try_from(wire: WireFields) -> Result<ServerFieldsTally, String> {
        let mut values = BTreeMap::new();
        for (number, value, count) in wire.1 {
            let is_shown = value.len() <= LONGEST_VALUE && value.bytes().all(is_plain);
            if number >= SERVER_FIELDS.len() || !is_shown {
                return Err(format!("field {number} of a response has no such value"));
            }
            values.insert((number, value), count);
        }
        Ok(ServerFieldsTally { sampled: wire.0, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_values_of_its_fields_and_ignores_others() {
        let mut tally = ServerFieldsTally::default();
        for value in ["nginx", "nginx", "[a](b)"] {
            tally.note_field(b"Server", value.as_bytes());
            tally.note_field(b"Date", b"Sat, 28 Nov 2026 10:00:00 GMT");
            tally.count_response();
        }
        tally.note_field(b"ETAG", &[b'x'; 100]);
        let result = tally.result().unwrap();
        assert_eq!(result.sampled, 3);
        assert_eq!(
            result.values["server"],
            BTreeMap::from([("?a?(b)".into(), 1), ("nginx".into(), 2)])
        );
        assert_eq!(result.values["etag"].keys().next().unwrap().len(), 60);
        assert_eq!(result.values.len(), 2);
        assert_eq!(ServerFieldsTally::default().result(), None);
    }

    #[test]
    fn reads_a_sample_of_responses_only() {
        let mut tally = ServerFieldsTally::default();
        (0..SAMPLED).for_each(|_| tally.count_response());
        assert!(!tally.wants_more());
    }

    #[test]
    fn refuses_what_no_worker_sends() {
        let mut tally = ServerFieldsTally::default();
        tally.note_field(b"via", b"1.1 proxy");
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(serde_json::from_str::<ServerFieldsTally>(&text).unwrap(), tally);
        for bad in ["[1,[[10,\"x\",1]]]", "[1,[[0,\"\\u001b[1m\",1]]]", "[1,[[0,\"<b>\",1]]]"] {
            assert!(serde_json::from_str::<ServerFieldsTally>(bad).is_err(), "{bad}");
        }
        let long = format!("[1,[[0,\"{}\",1]]]", "x".repeat(61));
        assert!(serde_json::from_str::<ServerFieldsTally>(&long).is_err());
    }
}
