//! Servers whose most recent result was a failure.
//!
//! When a server fails, its connections are lost, and every endpoint has a way: a new connection.
//! The family that is behind the ratio would then get all the exchanges of its deficit as failing
//! attempts, and a failure of the server would look like one of that family. So no exchanges of a
//! deficit are sent to a suspect server. New ones are drawn at the ratio, and those of the deficit
//! wait for a response.

use sixmark_units::family::Family;

use crate::prepare::PreparedLoad;

/// The servers whose most recent result was a failure.
#[derive(Debug)]
pub(super) struct SuspectServers {
    /// The number of the server of each endpoint.
    servers: Vec<usize>,
    suspected: Vec<bool>,
    count: usize,
}

impl SuspectServers {
    /// Creates the state without any suspect server. A target that has both families is a server.
    /// All targets with only one family count as one server together, since a pair of URLs, one for
    /// each family, may name the same server.
    pub(super) fn new(prepared: &PreparedLoad) -> SuspectServers {
        let all = &prepared.endpoints;
        let targets = all.iter().map(|endpoint| endpoint.target + 1).max().unwrap_or(0);
        let has = |target, family: Family| {
            all.iter().any(|endpoint| endpoint.target == target && endpoint.family == family)
        };
        let whole: Vec<bool> =
            (0..targets).map(|target| Family::BOTH.into_iter().all(|f| has(target, f))).collect();
        let server = |target: usize| if whole[target] { target } else { targets };
        let servers = all.iter().map(|endpoint| server(endpoint.target)).collect();
        SuspectServers { servers, suspected: vec![false; targets + 1], count: 0 }
    }

    /// Records that an exchange with this endpoint failed.
    pub(super) fn note_failure(&mut self, endpoint: usize) {
        let before = std::mem::replace(&mut self.suspected[self.servers[endpoint]], true);
        self.count += usize::from(!before);
    }

    /// Records a complete response from this endpoint.
    #[inline]
    pub(super) fn note_answer(&mut self, endpoint: usize) {
        // Usually, no server is suspect.
        if self.count > 0 {
            let before = std::mem::replace(&mut self.suspected[self.servers[endpoint]], false);
            self.count -= usize::from(before);
        }
    }

    /// Returns true if the server of this endpoint is suspect.
    pub(super) fn includes(&self, endpoint: usize) -> bool {
        self.count > 0 && self.suspected[self.servers[endpoint]]
    }
}
