//! Servers whose most recent result was a failure.
//!
//! When a server fails, its connections are lost, and every endpoint has a way: a new connection.
//! The family that is behind the ratio would then get all the exchanges owed to it as failing
//! attempts, and a failure of the server would look like one of that family. So no owed exchanges
//! are sent to a server in doubt. New ones are drawn at the ratio, and those owed wait for a
//! response.

use sixmark_units::family::Family;

use crate::prepare::PreparedLoad;

/// The servers in doubt.
#[derive(Debug)]
pub(super) struct Doubt {
    /// The number of the server of each endpoint.
    servers: Vec<usize>,
    in_doubt: Vec<bool>,
    count: usize,
}

impl Doubt {
    /// Creates the state without any doubt. A target that has both families is a server. All
    /// targets with only one family count as one server together, since a pair of URLs, one for
    /// each family, may name the same server.
    pub(super) fn new(prepared: &PreparedLoad) -> Doubt {
        let all = &prepared.endpoints;
        let targets = all.iter().map(|endpoint| endpoint.target + 1).max().unwrap_or(0);
        let has = |target, family: Family| {
            all.iter().any(|endpoint| endpoint.target == target && endpoint.family == family)
        };
        let whole: Vec<bool> =
            (0..targets).map(|target| Family::BOTH.into_iter().all(|f| has(target, f))).collect();
        let server = |target: usize| if whole[target] { target } else { targets };
        let servers = all.iter().map(|endpoint| server(endpoint.target)).collect();
        Doubt { servers, in_doubt: vec![false; targets + 1], count: 0 }
    }

    /// Records that an exchange with this endpoint failed.
    pub(super) fn note_failure(&mut self, endpoint: usize) {
        let before = std::mem::replace(&mut self.in_doubt[self.servers[endpoint]], true);
        self.count += usize::from(!before);
    }

    /// Records a complete response from this endpoint.
    #[inline]
    pub(super) fn note_answer(&mut self, endpoint: usize) {
        // Usually, no server is in doubt.
        if self.count > 0 {
            let before = std::mem::replace(&mut self.in_doubt[self.servers[endpoint]], false);
            self.count -= usize::from(before);
        }
    }

    /// Returns true if the server of this endpoint is in doubt.
    pub(super) fn is_about(&self, endpoint: usize) -> bool {
        self.count > 0 && self.in_doubt[self.servers[endpoint]]
    }
}
