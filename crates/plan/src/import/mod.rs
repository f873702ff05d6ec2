//! Mixes of requests imported from a recording: a HAR file or an access log.
//!
//! Equal requests become one, whose weight is the number of occurrences. A line or an entry that can't
//! be sent is omitted and counted by its reason; it never makes the others unreadable.

mod access_log;
pub mod har;
mod left_out;
mod target;
mod when;

pub use access_log::{AccessLog, LOG_FORMATS, LogFormat, detect_log_format, is_container_line};
pub use left_out::{Altered, LeftOut, OneReason, Reasons};

use std::collections::HashMap;
use std::sync::Arc;

use crate::plan::request::{Body, Request};
use crate::plan::requests::usual_name;
use crate::template::Template;
use when::RecordedTime;

/// What to import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Whether to import methods other than GET and HEAD. Repeating them may change data on the
    /// server.
    pub unsafe_methods: bool,
    /// Whether to import the time of each request.
    pub times: bool,
}

/// The imported requests, and what was omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Distinct requests, in the order of their first occurrence.
    pub requests: Vec<Request>,
    /// The time of each request, in nanoseconds since the start of 1970, with the index of the
    /// request; empty unless requested.
    pub times: Vec<(u64, u32)>,
    /// What was omitted.
    pub left_out: LeftOut,
    /// What is not sent as it was recorded.
    pub altered: Altered,
}

/// A request as recorded. Equal ones are counted as one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Recorded {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

/// Collects and counts equal requests.
#[derive(Debug, Default)]
struct Collector {
    wanted: Wanted,
    known: HashMap<Arc<Recorded>, u32>,
    requests: Vec<(Arc<Recorded>, u64)>,
    times: Vec<(u64, u32)>,
    /// The indices of the times without a zone.
    without_zone: Vec<usize>,
    /// The zone of the first time that has one.
    zone: Option<i64>,
    left_out: LeftOut,
    altered: Altered,
}

impl Collector {
    fn new(wanted: &Wanted) -> Collector {
        Collector { wanted: wanted.clone(), ..Collector::default() }
    }

    /// Returns whether requests of this method are imported. Counts those that are not.
    fn takes(&mut self, method: &str) -> bool {
        let takes = self.wanted.unsafe_methods || matches!(method, "GET" | "HEAD");
        self.left_out.methods += u64::from(!takes);
        takes
    }

    /// Adds a request made at `time`. The error says that there are too many distinct requests.
    fn add(&mut self, recorded: Recorded, time: RecordedTime) -> Result<(), String> {
        let number = match self.known.get(&recorded) {
            Some(&number) => number,
            None => self.learn(recorded)?,
        };
        self.requests[number as usize].1 += 1;
        if self.wanted.times {
            match time.zone {
                Some(zone) => self.zone = self.zone.or(Some(zone)),
                None => self.without_zone.push(self.times.len()),
            }
            self.times.push((time.at, number));
        }
        Ok(())
    }

    fn learn(&mut self, recorded: Recorded) -> Result<u32, String> {
        let number = u32::try_from(self.requests.len())
            .map_err(|_| "there are too many different requests".to_owned())?;
        let recorded = Arc::new(recorded);
        self.known.insert(Arc::clone(&recorded), number);
        self.requests.push((recorded, 0));
        Ok(number)
    }

    fn finish(mut self) -> Imported {
        // Drops the index so that each request has a single owner.
        drop(self.known);
        let zone = self.zone.unwrap_or(0);
        for &at in &self.without_zone {
            self.times[at].0 = when::in_zone(self.times[at].0, zone);
        }
        let altered =
            Altered { without_zone: self.without_zone.len() as u64, zone, ..self.altered };
        let requests = self
            .requests
            .into_iter()
            .map(|(recorded, count)| request(Arc::unwrap_or_clone(recorded), count));
        let (times, left_out) = (self.times, self.left_out);
        Imported { requests: requests.collect(), times, left_out, altered }
    }
}

fn request(recorded: Recorded, count: u64) -> Request {
    let Recorded { method, path, headers, body } = recorded;
    let path = Some(Template::constant(path));
    let headers = headers.into_iter().map(|(name, value)| (name, Template::constant(value)));
    Request {
        name: usual_name(&method, path.as_ref()),
        headers: headers.collect(),
        body: body.map(|body| Body::Constant(Arc::new(body))),
        weight: count as f64,
        path,
        ..Request::plain(&method)
    }
}
