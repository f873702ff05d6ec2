//! Mixes of requests imported from a recording: a HAR file or an access log.
//!
//! Equal requests become one, whose weight is the number of occurrences.

mod access_log;
pub mod har;
mod when;

pub use access_log::{AccessLog, is_line as is_log_line};

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::plan::request::{Body, Request};
use crate::plan::requests::usual_name;
use crate::template::Template;

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
}

/// What was omitted, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Requests of methods other than GET and HEAD.
    pub methods: u64,
    /// Requests to other hosts, by host.
    pub hosts: BTreeMap<String, u64>,
    /// Lines or entries that could not be read.
    pub unreadable: u64,
    /// The number, from 1, of the first line or entry that could not be read, and why.
    pub first_unreadable: Option<(u64, String)>,
}

impl LeftOut {
    /// Returns the total number.
    pub fn count(&self) -> u64 {
        self.methods + self.unreadable + self.hosts.values().sum::<u64>()
    }

    fn unreadable(&mut self, number: u64, why: &str) {
        self.unreadable += 1;
        self.first_unreadable.get_or_insert_with(|| (number, why.to_owned()));
    }
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
    left_out: LeftOut,
}

impl Collector {
    fn new(wanted: &Wanted) -> Collector {
        Collector { wanted: wanted.clone(), ..Collector::default() }
    }

    /// Adds a request made at `at`. The error says that there are too many distinct requests.
    fn add(&mut self, recorded: Recorded, at: u64) -> Result<(), String> {
        if !self.wanted.unsafe_methods && !matches!(&*recorded.method, "GET" | "HEAD") {
            self.left_out.methods += 1;
            return Ok(());
        }
        let number = match self.known.get(&recorded) {
            Some(&number) => number,
            None => self.learn(recorded)?,
        };
        self.requests[number as usize].1 += 1;
        if self.wanted.times {
            self.times.push((at, number));
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

    fn finish(self) -> Imported {
        // Drops the index so that each request has a single owner.
        drop(self.known);
        let requests = self
            .requests
            .into_iter()
            .map(|(recorded, count)| request(Arc::unwrap_or_clone(recorded), count));
        Imported { requests: requests.collect(), times: self.times, left_out: self.left_out }
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

/// Returns a recorded target in a form that is valid in a request line: percent-encodes invalid
/// characters and removes a fragment.
fn clean(target: &[u8]) -> String {
    let target = target.split(|&byte| byte == b'#').next().unwrap_or_default();
    let mut clean = String::with_capacity(target.len());
    for &byte in target {
        match byte.is_ascii_graphic() {
            true => clean.push(byte.into()),
            false => clean.push_str(&format!("%{byte:02X}")),
        }
    }
    clean
}
